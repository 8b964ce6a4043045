//! `heatsoak fit`, `predict`, `recommend`: the way from a run to advice, and what is refused on it.

use serde_json::Value;

use crate::support::Scratch;

fn json(scratch: &Scratch, args: &[&str]) -> Value {
    let done = scratch.run(args);
    assert_eq!(done.code, Some(0), "{args:?}: {}", done.stderr);
    serde_json::from_str(&done.stdout).expect("one document")
}

/// A simulated drive, ten minutes at a low TMT1.
fn run(scratch: &Scratch) {
    let args = [
        "run",
        "thermal-id-quick",
        "--tmt1",
        "60C",
        "--tmt2",
        "85C",
        "--out",
        "run",
        "--quiet",
        "--no-report",
    ];
    let done = scratch.run(&args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

/// Goal: scripts find the fields that are promised, at every step of the way.
#[test]
fn a_run_becomes_a_drive_that_is_asked() {
    let scratch = Scratch::new();
    run(&scratch);
    let fitted = json(&scratch, &["fit", "run", "--out", "drive.toml", "--ambient", "30C", "--json"]);
    assert_eq!((&fitted["schema"], &fitted["simulated"]), (&1.into(), &true.into()));
    for parameter in fitted["parameters"].as_array().expect("a list") {
        let number = |name: &str| parameter[name].as_f64().unwrap_or_else(|| panic!("{name} of {parameter}"));
        assert!(number("low") <= number("value") && number("value") <= number("high"), "{parameter}");
        assert!(["name", "unit", "from"].iter().all(|name| parameter[name].is_string()), "{parameter}");
    }
    let open = fitted["left_open"].as_array().expect("a list");
    assert!(open.iter().any(|open| open["what"] == "heavy throttling"), "{open:?}");
    for open in open {
        assert!(["what", "why", "plan"].iter().all(|name| open[name].is_string()), "{open}");
    }
    let forecast = json(&scratch, &["predict", "drive.toml", "--tmt1", "65C", "--ambient", "35C", "--json"]);
    let names: Vec<_> =
        forecast["phases"].as_array().expect("a list").iter().map(|phase| &phase["name"]).collect();
    assert_eq!(names, ["write", "read"], "hctm-read is the plan where none is named");
    for name in ["mean_bytes_per_s", "peak_k", "time_to_throttle_s", "throttled_share"] {
        let range = &forecast["phases"][1][name];
        assert!(["value", "low", "high"].iter().all(|part| range[part].is_number()), "{name}: {range}");
    }
    assert_eq!(forecast["phases"][1]["op"], "read");
    // A run is as good as the profile made from it.
    let of_run = json(&scratch, &["predict", "run", "hctm-write", "--rate", "1GB/s", "--json"]);
    let speed = of_run["phases"][0]["mean_bytes_per_s"]["value"].as_f64().expect("a speed");
    assert!(speed <= 1.001e9, "{speed}");
    let advice =
        json(&scratch, &["recommend", "drive.toml", "--goal", "fastest", "--below", "70C", "--json"]);
    assert!(advice["verdict"].as_str().is_some_and(|text| text.contains("heatsoak hctm")), "{advice}");
    let best = &advice["choices"][0];
    assert!(best["settings"]["tmt1_k"].is_u64() && best["predicted"]["phases"].is_array(), "{best}");
    assert!(best["command"].as_str().is_some_and(|text| text.contains("--tmt1")), "{best}");
    for phase in best["predicted"]["phases"].as_array().expect("a list") {
        assert!(phase["peak_k"]["high"].as_f64().is_some_and(|peak| peak < 343.15), "{phase}");
    }
    // Where the limit does not hold as things are, cooling has a size; a relay that costs most of the speed is named, with the choice
    // that still reaches it or as what to avoid.
    let cooling = &advice["cooling"];
    assert!(cooling.is_null() || cooling["is_sized"].is_boolean(), "{advice}");
    let avoid = advice["avoid"].as_array().expect("a list");
    let named = |of: &Value| of["why"].as_str().is_some_and(|why| why.contains("% of full speed"));
    assert!(avoid.iter().chain([best]).any(named), "{advice}");
    assert!(
        fitted["next"]["plan"].as_str().is_some_and(|plan| plan.starts_with("heatsoak run ")),
        "{fitted}"
    );
    // What was fitted is a twin, and a virtual SSD's profile, as any other.
    let args = ["run", "quick", "--drive", "twin:drive.toml", "--out", "again", "--quiet", "--no-report"];
    assert_eq!(scratch.run(&args).code, Some(0));
}

/// Goal: what no run shows of a load is open, with the command that shows it; what follows it is open too. Method: loads
/// that end the write cache, and random reads, asked of a run that stays within the cache.
#[test]
fn loads_that_no_run_shows_are_open() {
    let scratch = Scratch::new();
    run(&scratch);
    json(&scratch, &["fit", "run", "--out", "drive.toml", "--json"]);
    let kinds = |forecast: &Value| {
        let caveats = forecast["caveats"].as_array().expect("a list").clone();
        let text = |caveat: &Value| format!("{}: {}", caveat["kind"], caveat["text"]);
        caveats.iter().map(text).collect::<Vec<_>>().join("\n")
    };
    let full = json(&scratch, &["predict", "drive.toml", "full-span", "--json"]);
    let open = |phase: &Value| {
        let values = ["mean_bytes_per_s", "peak_k", "time_to_throttle_s", "throttled_share", "duration_s"];
        values.iter().all(|name| phase[name].is_null())
    };
    assert!(open(&full["phases"][0]), "{full}");
    let told = kinds(&full);
    assert!(told.contains("cache_unknown") && told.contains("has 100 GB"), "{told}");
    assert!(told.contains("`heatsoak run full-span --drive DRIVE`") && !told.contains("hottest"), "{told}");
    let quick = json(&scratch, &["predict", "drive.toml", "quick", "--json"]);
    assert!(!open(&quick["phases"][0]) && open(&quick["phases"][1]), "{quick}");
    let told = kinds(&quick);
    assert!(told.contains("other_load") && told.contains("`heatsoak run quick --drive DRIVE`"), "{told}");
    let plan = "[[phase]]\nop = \"randwrite\"\nblock_size = \"4KiB\"\nduration = \"1m\"\n\n\
                [[phase]]\nop = \"read\"\nblock_size = \"1MiB\"\nduration = \"1m\"\n";
    std::fs::write(scratch.path("after.toml"), plan).expect("written");
    std::fs::write(scratch.path("job.fio"), "[a]\nrw=read\nbs=128k\nruntime=60\ntime_based\n")
        .expect("written");
    let shallow = json(&scratch, &["predict", "drive.toml", "job.fio", "--json"]);
    assert!(open(&shallow["phases"][0]), "one I/O at a time: {shallow}");
    let after = json(&scratch, &["predict", "drive.toml", "after.toml", "--json"]);
    assert!(open(&after["phases"][1]), "it begins at no temperature that is known: {after}");
    assert!(kinds(&after).contains("as warm as that leaves the drive: read"), "{after}");
    let advice = scratch.run(&["recommend", "drive.toml", "full-span", "--goal", "fastest"]);
    assert_eq!(advice.code, Some(1), "{advice:?}");
    assert!(advice.stdout.starts_with("No advice. Not known: write."), "{advice:?}");
    // A lap of reads ends where the drive does: that of the run, which the fitted one is as large as.
    let plan = "[[phase]]\nop = \"read\"\nblock_size = \"1MiB\"\nlaps = 1\n";
    std::fs::write(scratch.path("lap.toml"), plan).expect("written");
    let lap = json(&scratch, &["predict", "drive.toml", "lap.toml", "--json"]);
    let range =
        |name: &str| lap["phases"][0][name]["value"].as_f64().unwrap_or_else(|| panic!("{name}: {lap}"));
    let moved = range("mean_bytes_per_s") * range("duration_s");
    let ssd1 = physics::Profile::builtin("ssd1").expect("built in").identity.capacity_bytes;
    assert!((moved / ssd1 as f64 - 1.0).abs() < 0.02, "{lap}");
    let drive = std::fs::read_to_string(scratch.path("drive.toml")).expect("a profile");
    assert!(drive.contains(&format!("capacity_bytes = {ssd1}")), "as large as what was measured");
}

/// Goal: what is named to undo an advice is what the drive had before the run, and has again. Method: a run that set a low
/// TMT1 for itself.
#[test]
fn advice_is_undone_to_what_stood_before_the_run() {
    let scratch = Scratch::new();
    run(&scratch);
    // 70 °C breaks the limit, as it does with `govern`, and as nothing throttles outside of the run, that settings does.
    let advice = json(&scratch, &["recommend", "run", "--goal", "fastest", "--below", "70C", "--json"]);
    let best = &advice["choices"][0];
    assert!(best["command"].as_str().is_some_and(|text| text.contains("--tmt1")), "{advice}");
    assert_eq!(best["undo"], "heatsoak hctm DRIVE --tmt1 0C --tmt2 85C", "{advice}");
    let outside = "the settings outside of the runs (TMT1 0 °C, TMT2 85 °C)";
    assert_eq!(advice["compared_with"], outside, "{advice}");
    let why = best["why"].as_str().expect("a sentence");
    assert!(why.starts_with("speed -") && why.contains(&format!(" over {outside}")), "{why}");
    let phases = best["predicted"]["phases"].as_array().expect("a list");
    let hottest_k = phases.iter().filter_map(|phase| phase["peak_k"]["high"].as_f64()).fold(0.0, f64::max);
    assert!(hottest_k < 343.0, "{hottest_k} K");
    let verdict = advice["verdict"].as_str().expect("a sentence");
    assert!(
        verdict.starts_with("Set TMT1 to ") && verdict.contains("C`."),
        "a command ends where it ends: {verdict}"
    );
}

/// Goal: the end of a write cache that a run showed is in a forecast, and is no heat.
#[test]
fn the_end_of_a_known_cache_is_no_throttling() {
    let scratch = Scratch::new();
    run(&scratch);
    let done = scratch.run(&["run", "full-span", "--out", "full", "-q", "--no-report"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = scratch.run(&["fit", "run", "full", "--out", "drive.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let full = json(&scratch, &["predict", "drive.toml", "full-span", "--json"]);
    let write = &full["phases"][0];
    let mean = write["mean_bytes_per_s"]["value"].as_f64().expect("a speed");
    assert!((mean / 5.36e8 - 1.0).abs() < 0.05, "{full}");
    assert!(write["time_to_throttle_s"].is_null(), "{full}");
    assert!(write["throttled_share"]["value"].as_f64().is_some_and(|share| share < 0.01), "{full}");
}

/// Goal: a threshold that no run shows act leaves open what comes after it, and says when the drive is there.
#[test]
fn a_threshold_that_no_run_shows_is_told_with_its_time() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "--out", "first", "-q", "--no-report"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = scratch.run(&["fit", "first", "-o", "drive.toml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = scratch.run(&["predict", "drive.toml", "--tmt1", "65C", "--ambient", "40C"]);
    let told = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("No fitted run shows what TMT1 does at 65 °C. Phase write reaches 65 °C after about "),
        "{told}"
    );
    assert!(
        told.contains("s, at 1.60 GB/s until then. `heatsoak run thermal-id --drive DRIVE --tmt1 65C`"),
        "{told}"
    );
    assert!(!told.contains("The hottest they were"), "one reason: {told}");
}

/// Goal: each number of a fit has a name of its own, and is one that a run shows. Method: two runs of ssd1 of which one was
/// throttled at TMT1, the other by firmware while it read.
#[test]
fn speeds_while_throttled_are_named_by_their_threshold() {
    let scratch = Scratch::new();
    run(&scratch);
    let done = scratch.run(&["run", "--out", "first", "-q", "--no-report"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let fitted = json(&scratch, &["fit", "run", "first", "--json"]);
    let parameters = fitted["parameters"].as_array().expect("a list");
    let mut names: Vec<&str> = parameters.iter().filter_map(|one| one["name"].as_str()).collect();
    let throttled = "read speed while throttled by firmware";
    assert!(
        names.contains(&throttled) && names.contains(&"write speed while throttled at TMT1"),
        "{names:?}"
    );
    let unseen = "write speed while throttled by firmware";
    assert!(!names.contains(&unseen), "no run shows it: {names:?}");
    assert!(
        fitted["left_open"].as_array().expect("a list").iter().any(|open| open["what"] == unseen),
        "{fitted}"
    );
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}

/// Goal: people read that it is simulated, predicted, and what stays open.
#[test]
fn run_with_fit_does_it_at_once() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "hctm-read", "--fit", "--out", "run", "--no-report", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(scratch.path("run/twin.toml").is_file(), "{}", done.stderr);
    assert!(done.stderr.contains("Left open") && done.stderr.contains("heatsoak predict run/twin.toml"));
    let told = scratch.run(&["predict", "run/twin.toml"]);
    assert!(told.stdout.contains("Predicted by simulation, not measured"), "{}", told.stdout);
    let told = scratch.run(&["fit", "run"]);
    assert!(told.stdout.contains("[simulated]") && told.stdout.contains("K per GB/s"), "{}", told.stdout);
}

/// Goal: a fit stands beside its run, a forecast has its course, a sweep its map, and all say that they are simulated.
#[test]
fn fits_forecasts_and_sweeps_are_drawn() {
    let scratch = Scratch::new();
    run(&scratch);
    let fitted = scratch.run(&["fit", "run", "-o", "drive.toml", "--report", "fit.html"]);
    assert_eq!(fitted.code, Some(0), "{}", fitted.stderr);
    assert!(fitted.stdout.contains("heat model misses the readings by"), "{}", fitted.stdout);
    // What a fit says of the policy stands beside the verdict's.
    let analyzed = scratch.run(&["analyze", "run"]).stdout.replace("\n", " ");
    assert!(
        analyzed.contains("Second opinion, from throttling models fitted to this run: a relay"),
        "{analyzed}"
    );
    assert!(analyzed.contains("It agrees."), "{analyzed}");
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).expect("a file that was made");
    let page = read("fit.html");
    for part in ["SIMULATED", "Does it fit?", "speed, measured", "speed, simulated", "Residuals", "Left open"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(scratch.run(&["predict", "drive.toml", "-o", "course.html"]).code, Some(0));
    let page = read("course.html");
    assert!(page.contains("SIMULATED") && page.contains("speed, 95 %"), "the course has its band");
    let args = ["predict", "drive.toml", "--tmt1", "55C,60C,65C", "--airflow", "1,2", "-o", "map.svg"];
    let swept = scratch.run(&args);
    assert_eq!(swept.code, Some(0), "{}", swept.stderr);
    assert_eq!(swept.stdout.lines().filter(|line| line.contains(" · ")).count(), 7, "{}", swept.stdout);
    assert!(
        read("map.svg").contains("Mean speed under load (GB/s)") && read("map.svg").contains("SIMULATED")
    );
    // It ran at 60 °C: 50 °C is far below what was seen to act.
    let args = ["predict", "drive.toml", "--tmt1", "50C,60C", "-o", "low.svg"];
    assert_eq!(scratch.run(&args).code, Some(0));
    assert!(read("low.svg").contains("* beyond what was seen") && !read("map.svg").contains("* beyond"));
    assert_eq!(scratch.run(&["predict", "drive.toml", "-o", "course.png"]).code, Some(0));
    assert!(std::fs::read(scratch.path("course.png")).expect("a picture").starts_with(b"\x89PNG"));
    let cells = json(&scratch, &["predict", "drive.toml", "--tmt1", "55C,60C,65C", "--json"]);
    assert_eq!(cells["axes"][0]["option"], "tmt1");
    let speeds: Vec<f64> = cells["cells"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|cell| cell["phases"][1]["mean_bytes_per_s"]["value"].as_f64().expect("a speed"))
        .collect();
    assert!(speeds.len() == 3 && speeds.windows(2).all(|pair| pair[0] < pair[1]), "{speeds:?}");
    // How full it was, no run says.
    let full = json(&scratch, &["predict", "drive.toml", "--fill", "90", "--json"]);
    assert_eq!(full["phases"][0]["mean_bytes_per_s"], Value::Null);
}

/// Goal: what a fit leaves open is answered by the command that it names, typed as it stands. Method: each is run on the same
/// simulated drive, and its run is fitted beside the first: ten minutes of a relay with two more power states that serve I/O,
/// and a default run of SSD1, whose reads begin hot and whose firmware throttles.
#[test]
fn commands_of_what_is_left_open_answer_it() {
    let scratch = Scratch::new();
    let state = |cap: &str, operational: bool| {
        format!(
            "[[power_state]]\nmax_power_w = 2.5\noperational = {operational}\nread_cap_bytes_per_s = {cap}\n\
             write_cap_bytes_per_s = 0.8e9\n\n"
        )
    };
    let states = format!("{}{}{}[media]", state("2.0e9", true), state("1.2e9", true), state("1.2e9", false));
    let relay = scratch.run(&["profiles", "relay"]).stdout.replacen("[media]", &states, 1);
    std::fs::write(scratch.path("relay.toml"), relay).expect("a file");
    for (number, drive, plan, expected) in [
        (1, "twin:relay.toml", "thermal-id-quick", "thermal-id-quick --drive DRIVE --sweep power-state=1,2"),
        (2, "twin:ssd1", "hctm-read", "thermal-id --drive DRIVE --tmt1 off --tmt2 "),
    ] {
        let first = format!("first-{number}");
        let ran = |typed: &[&str], out: &str| {
            let ran = scratch.run(&[typed, &["--out", out, "--quiet", "--no-report"]].concat());
            // 3: the thermal limit ended it, which shows what was asked as well.
            assert!(matches!(ran.code, Some(0 | 3)), "{typed:?}: {}", ran.stderr);
        };
        ran(&["run", plan, "--drive", drive], &first);
        let open = |inputs: &[&str]| {
            let fitted = json(&scratch, &[&["fit"], inputs, &["--json"]].concat());
            let all = fitted["left_open"].as_array().expect("a list").clone();
            let text = |open: &Value, name: &str| open[name].as_str().expect("a text").to_owned();
            all.iter().map(|open| [text(open, "what"), text(open, "plan")]).collect::<Vec<_>>()
        };
        let before = open(&[&first]);
        assert!(before.iter().any(|[_, command]| command.contains(expected)), "{before:?}");
        let mut made: Vec<&str> = Vec::new();
        for [what, command] in &before {
            let typed = command.replace("DRIVE", drive);
            let typed: Vec<&str> = typed.split(' ').skip(1).collect();
            let at = made.iter().position(|made| made == command).unwrap_or(made.len());
            let out = format!("open-{number}-{at}");
            if at == made.len() {
                made.push(command);
                ran(&typed, &out);
            }
            // A fan is not typed.
            let typed_is_enough = !what.starts_with("share of the resistance");
            let after = open(&[&first, &out]);
            assert!(!typed_is_enough || after.iter().all(|[other, _]| other != what), "{command}: {after:?}");
        }
    }
    // One state that serves I/O is no open question, and one that serves none has no forecast.
    let fitted = json(&scratch, &["fit", "first-2", "--json"]);
    assert!(!fitted["left_open"].to_string().contains("power state"), "{fitted}");
    let told = scratch.run(&["predict", "first-1", "--power-state", "3"]).stdout;
    assert!(told.contains("Power state 3 serves no I/O on this drive: those that do are 0, 1, 2."), "{told}");
    let told = scratch.run(&["predict", "first-1", "--power-state", "2"]).stdout.replace("\n    ", " ");
    assert!(told.contains("`heatsoak run thermal-id-quick --drive DRIVE --power-state 2`"), "{told}");
    ran_in_state(&scratch);
}

/// The run that a forecast in another state names is one of it.
fn ran_in_state(scratch: &Scratch) {
    let run = ["run", "thermal-id-quick", "--drive", "twin:relay.toml", "--power-state", "2"];
    let done = scratch.run(&[&run[..], &["--out", "state-2", "--quiet", "--no-report"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    // Named last, and still not what a forecast is about that names no state.
    let speed = |args: &[&str]| {
        let of = json(scratch, &[&["predict", "first-1", "state-2", "quick"], args, &["--json"]].concat());
        of["phases"][0]["mean_bytes_per_s"]["value"].as_f64().expect("a speed")
    };
    let [full, held] = [speed(&[]), speed(&["--power-state", "2"])];
    assert!((full / 3e9 - 1.0).abs() < 0.05 && (held / 1.2e9 - 1.0).abs() < 0.05, "{full} {held}");
}

/// What cannot be answered is said, with its reason and what to do; wrong usage ends with 2.
#[test]
fn what_cannot_be_asked_is_refused_in_a_sentence() {
    let scratch = Scratch::new();
    run(&scratch);
    assert_eq!(scratch.run(&["fit", "run", "-o", "drive.toml"]).code, Some(0));
    std::fs::write(scratch.path("still.csv"), "t_s,read_mb_per_s,temp_c\n0,0,40\n1,0,40\n").expect("a file");
    let profile = scratch.run(&["profiles", "ssd1"]).stdout;
    std::fs::write(scratch.path("plain.toml"), profile).expect("a file");
    for (args, part) in [
        (&["fit", "nothing"][..], "nothing"),
        (&["fit", "still.csv"], "30 and more"),
        (&["predict", "hctm-read"], "is a plan, not a drive"),
        (&["predict", "plain.toml"], "no [fit] table"),
        (&["predict", "drive.toml", "run"], "at once"),
        (&["predict", "drive.toml", "--tmt1", "80C", "--tmt2", "60C"], "is not below"),
        (&["predict", "drive.toml", "--heatsink", "0"], "0.01 to 1000"),
        (&["recommend", "drive.toml"], "--goal"),
        (&["recommend", "drive.toml", "--goal", "fastest", "--airflow", "1,2"], "name one"),
        (&["predict", "drive.toml", "-o", "chart.pdf"], "none of .html"),
        (
            &["predict", "drive.toml", "--airflow", "1,2", "--tmt1", "60C,61C", "--rate", "1GB/s,2GB/s"],
            "two options",
        ),
    ] {
        let done = scratch.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{args:?}: {}", done.stderr);
    }
    // No number for what the run cannot tell: other power states were not run.
    let forecast = json(&scratch, &["predict", "drive.toml", "--power-state", "3", "--json"]);
    assert_eq!(forecast["phases"][0]["mean_bytes_per_s"], Value::Null);
    let caveats = forecast["caveats"].as_array().expect("a list");
    assert!(caveats.iter().any(|caveat| caveat["kind"] == "power_state_unknown"), "{forecast}");
    // Nothing stays that cool.
    let done = scratch.run(&["recommend", "drive.toml", "--goal", "coolest", "--below", "20C"]);
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
}

/// Goal: the first page says what to do, with the command to do it and the one to undo it, or says that no setting helps.
/// Method: SSD1, whose firmware throttles reads as it comes, and whose TMT1 of 60 °C costs most of the speed.
#[test]
fn a_throttled_run_says_what_to_do() {
    let scratch = Scratch::new();
    let shown = |args: &[&str]| {
        let done = scratch.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {}", done.stderr);
        let answer = done.stdout.split_once("What to do\n").map(|(_, rest)| rest.to_owned());
        answer.unwrap_or_default().split("\n\n").next().unwrap_or_default().replace("\n ", "")
    };
    let firmware = shown(&["run", "--out", "firmware", "--quiet"]);
    assert!(firmware.contains("Settings: no other TMT1, TMT2 or rate limit"), "{firmware}");
    assert!(firmware.contains("air 10 K cooler: reads "), "{firmware}");
    let page = std::fs::read_to_string(scratch.path("firmware/report.html")).expect("a page");
    assert!(page.contains("simulations of a drive fitted to this run alone"));
    assert!(
        page.contains("<code>heatsoak fit firmware -o drive.toml</code>"),
        "a command is copied as it is"
    );
    let low = ["run", "--tmt1", "60C", "--tmt2", "70C", "--out", "low", "--quiet", "--no-report"];
    for answer in [shown(&low), shown(&["analyze", "low"])] {
        assert!(answer.contains("`heatsoak hctm DRIVE --tmt1 "), "{answer}");
        assert!(answer.contains("To undo: `heatsoak hctm DRIVE --tmt1 0C --tmt2 85C`"), "{answer}");
        assert!(answer.contains("unless a firmware threshold above the 60 °C of this run"), "{answer}");
    }
    // Runs that never cooled down do not tell machines apart.
    assert!(!scratch.run(&["analyze", "low"]).stdout.contains("Second opinion"));
    // Nothing was slow: nothing is fitted, and nothing foretold.
    let cool = shown(&["run", "quick", "--out", "cool", "--quiet", "--no-report"]);
    assert!(!cool.contains("simulations"), "{cool}");
}

/// Goal: advice never leads a drive whose warning temperature is not known to where load stops by itself, and what the log
/// does not say is neither called off nor put back. Method: a log with TMT1 alone, throttled at it.
#[test]
fn advice_stays_below_where_load_stops_and_undoes_only_what_is_known() {
    let scratch = Scratch::new();
    let mut log = "t_s,write_mb_per_s,temp_c,tmt1_c,tmt1_transitions\n".to_owned();
    for t in 0..600 {
        let (speed, count) = if t < 300 { (2000, 0) } else { (800, 1) };
        log += &format!("{t},{speed},{},75,{count}\n", (40 + t / 8).min(75));
    }
    std::fs::write(scratch.path("l.csv"), log).expect("a scratch file");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for args in [&["analyze", "l.csv"][..], &["recommend", "l.csv", "--goal", "fastest"]] {
        let done = scratch.run(args);
        assert!(matches!(done.code, Some(0 | 1)), "{done:?}");
        let told = words(&done.stdout);
        for value in told.split("--tmt").skip(1) {
            let degrees = value.split_once(' ').and_then(|(_, rest)| rest.split_once('C'));
            let degrees: Option<i32> = degrees.and_then(|(degrees, _)| degrees.parse().ok());
            assert!(degrees.is_none_or(|degrees| degrees <= 80), "{told}");
        }
        assert!(!told.contains("--tmt2 off") && !told.contains("TMT2 is disabled"), "{told}");
    }
    let told = words(&scratch.run(&["analyze", "l.csv"]).stdout);
    assert!(told.contains("TMT2 was not recorded and is taken as disabled"), "{told}");
}
