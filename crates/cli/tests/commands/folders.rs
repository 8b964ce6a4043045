//! Folders and logs that are given to `analyze`, `report` and `compare`: good, odd and bad.

use crate::commands::found::read_text;
use crate::support::Scratch;

/// A small simulated run in `name`.
fn run(scratch: &Scratch, name: &str) {
    let done = scratch.run(&["run", "--out", name, "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

const LOG: &str =
    "# link_bytes_per_s: 3938000000\nt_s,read_mb_per_s,temp_c\n0,3000,45\n1,3000,46\n2,3000,47\n3,3000,48\n";

#[test]
fn what_is_no_run_is_told_apart_and_refused() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    std::fs::create_dir(scratch.path("empty")).expect("a scratch folder");
    std::fs::write(scratch.path("noise.bin"), [0, 159, 146, 150]).expect("a scratch file");
    let manifest = read_text(&scratch.path("r/manifest.json"));
    let with_manifest = |name: &str, manifest: &str| {
        std::fs::create_dir(scratch.path(name)).expect("a scratch folder");
        std::fs::write(scratch.path(name).join("manifest.json"), manifest).expect("a scratch file");
    };
    with_manifest("newer", &manifest.replacen("\"schema\": 2", "\"schema\": 3", 1));
    with_manifest("half", &manifest[..manifest.len() / 2]);
    let cases = [
        ("empty", "is not a run folder"),
        ("newer", "update heatsoak"),
        ("half", "damaged"),
        ("nowhere", "cannot read nowhere"),
        ("noise.bin", "not text"),
    ];
    for (input, told) in cases {
        for command in ["analyze", "report"] {
            let done = scratch.run(&[command, input]);
            assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{command} {input}");
            assert!(done.stderr.starts_with("error: ") && done.stderr.contains(told), "{}", done.stderr);
        }
    }
}

/// Goal: a folder that lost its end reads up to there, whichever table it hit.
#[test]
fn a_folder_cut_short_is_analyzed_up_to_the_cut() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    std::fs::remove_file(scratch.path("r/telemetry.parquet")).expect("a table");
    std::fs::remove_file(scratch.path("r/smart.parquet")).expect("a table");
    let done = scratch.run(&["analyze", "r", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let told: serde_json::Value = serde_json::from_str(&done.stdout).expect("findings");
    assert!(told["segments"][0]["temp_start_k"].is_null(), "{told}");
    let lost =
        told["caveats"].as_array().expect("a list").iter().filter(|caveat| caveat["kind"] == "damaged");
    let lost: Vec<_> = lost.filter_map(|caveat| caveat["text"].as_str()).collect();
    assert!(
        lost.len() == 2 && lost[0].starts_with("telemetry.parquet is missing from the run folder"),
        "{told}"
    );
    let table = std::fs::read(scratch.path("r/io.parquet")).expect("a table");
    std::fs::write(scratch.path("r/io.parquet"), &table[..table.len() / 2]).expect("a scratch file");
    let done = scratch.run(&["analyze", "r"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("io.parquet") && done.stderr.contains("damaged"), "{}", done.stderr);
}

/// Goal: a record from before there were checksums is read as it was. Method: one of schema 1, made from one of today.
#[test]
fn records_of_schema_1_are_read() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    let before = scratch.run(&["analyze", "r", "--json"]);
    let path = scratch.path("r/manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_str(&read_text(&path)).expect("JSON");
    let members = manifest.as_object_mut().expect("an object");
    assert!(members.remove("seal").is_some() && members.remove("crc32c").is_some());
    members.insert("schema".to_owned(), 1.into());
    std::fs::write(&path, manifest.to_string()).expect("a scratch file");
    let after = scratch.run(&["analyze", "r", "--json"]);
    assert_eq!((after.code, &after.stdout), (Some(0), &before.stdout), "{}", after.stderr);
    // Its tables have no checksum; a torn one is still an error and no panic.
    let table = std::fs::read(scratch.path("r/io.parquet")).expect("a table");
    for page in 0..table.len() / 512 {
        let mut torn = table.clone();
        torn[page * 512..(page + 1) * 512].fill(0xff);
        std::fs::write(scratch.path("r/io.parquet"), torn).expect("a scratch file");
        if page % 8 == 0 {
            let done = scratch.run(&["analyze", "r"]);
            assert!(matches!(done.code, Some(0 | 2)) && !done.stderr.contains("panicked"), "{}", done.stderr);
        }
    }
}

/// Goal: an edited manifest is read, and said to be one.
#[test]
fn an_edited_manifest_is_told() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    let path = scratch.path("r/manifest.json");
    std::fs::write(&path, read_text(&path).replacen("Simulated SSD1", "Another drive", 1)).expect("a file");
    let done = scratch.run(&["analyze", "r"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("manifest.json was edited or is damaged"), "{}", done.stdout);
}

/// Goal: no command takes a run for whole whose speeds are gone or whose manifest was edited, and none fits one without
/// speeds. Method: a finished run without `io.parquet`, and one with a byte of its manifest changed; each command that
/// takes a run folder.
#[test]
fn what_is_missing_of_a_run_is_said_by_every_command() {
    let scratch = Scratch::new();
    for name in ["library/lost", "library/edited", "whole"] {
        run(&scratch, name);
    }
    std::fs::remove_file(scratch.path("library/lost/io.parquet")).expect("a table");
    let path = scratch.path("library/edited/manifest.json");
    std::fs::write(&path, read_text(&path).replacen("Simulated SSD1", "Simulated SSD2", 1)).expect("a file");
    let missing = "io.parquet is missing from the run folder of a finished run";
    let edited = "manifest.json was edited or is damaged";
    let said = |args: &[&str], code: i32, text: &str| {
        let done = scratch.run(args);
        assert_eq!(done.code, Some(code), "{args:?}: {done:?}");
        // Lines are broken where the terminal ends.
        let all = format!("{} {}", done.stdout, done.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(text), "{args:?}: {done:?}");
        done
    };
    for args in [&["fit"][..], &["predict"], &["recommend", "--goal", "fastest"]] {
        let done = said(&[args, &["library/lost"]].concat(), 2, missing);
        assert!(done.stdout.is_empty() && done.stderr.contains("restore the file from a copy"), "{done:?}");
    }
    let done = said(&["fit", "library/edited", "whole"], 0, edited);
    assert!(
        done.stderr.contains("warning: library/edited: ") && !done.stderr.contains("whole: "),
        "{done:?}"
    );
    for (run, text) in [("library/lost", missing), ("library/edited", edited)] {
        said(&["export", run, "--format", "csv", "--out", "-"], 0, text);
        said(&["compare", "whole", run], 0, &format!("Caution, run B: {text}"));
        said(&["report", run], 0, text);
        said(&["analyze", run], 0, text);
        said(&["analyze", run, "--explain"], 0, text);
    }
    let runs = said(&["runs", "library"], 0, "io.parquet missing; ").stdout;
    assert!(runs.contains("manifest edited or damaged; "), "{runs}");
    assert!(!said(&["runs", "whole"], 0, "whole").stdout.contains("missing"));
}

/// Goal: a library that is only to be read is listed all the same, and a report that cannot be written names where it can.
/// Method: folders lie where the files would.
#[test]
fn what_cannot_be_written_hides_no_list_and_is_written_elsewhere() {
    let scratch = Scratch::new();
    run(&scratch, "library/r");
    let long =
        "library/2026-11-27T19-00-00-a-name-that-is-longer-than-any-terminal-of-eighty-columns-is-wide/r";
    std::fs::create_dir_all(scratch.path(long).parent().expect("a folder")).expect("a scratch folder");
    run(&scratch, long);
    std::fs::create_dir_all(scratch.path("library/index.html/in-use")).expect("a scratch folder");
    let done = scratch.run(&["runs", "library"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("library/r") && !done.stdout.contains("Page:"), "{done:?}");
    assert!(done.stdout.contains(long), "a name is in one line where it is not read on a terminal: {done:?}");
    let told = "the list was not written as a page to library/index.html: Is a directory";
    assert!(done.stderr.contains(told), "{done:?}");
    std::fs::remove_file(scratch.path("library/r/report.html")).expect("a report");
    for (name, form) in [("report.html", None), ("report.svg", Some("--svg"))] {
        std::fs::create_dir_all(scratch.path("library/r").join(name).join("in-use"))
            .expect("a scratch folder");
        let arguments: Vec<&str> = ["report", "library/r"].into_iter().chain(form).collect();
        let done = scratch.run(&arguments);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(&format!("`heatsoak report library/r --out {name}`")), "{done:?}");
        assert!(!done.stderr.contains("room"), "{done:?}");
    }
}

const POWER_PLAN: &str = "[telemetry]\npower = { csv = \"fifo\" }\n\
    [[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\nduration = \"100ms\"\n";

/// Goal: what cannot be read to an end is refused at once; a pipe that somebody writes to is read.
#[test]
fn a_fifo_or_a_device_is_refused_and_standard_input_is_read() {
    let scratch = Scratch::new();
    let fifo = scratch.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo of coreutils");
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(scratch.path("socket")).expect("a socket");
    for (input, told) in [("fifo", "a FIFO"), ("socket", "a socket"), ("/dev/zero", "a device")] {
        for command in ["analyze", "report", "compare"] {
            let inputs =
                if command == "compare" { vec![command, input, input] } else { vec![command, input] };
            let done = scratch.run(&inputs);
            assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{command} {input}");
            assert!(done.stderr.contains(told) && done.stderr.contains("analyze -"), "{}", done.stderr);
        }
    }
    std::fs::write(scratch.path("p.toml"), POWER_PLAN).expect("a scratch file");
    for (args, what) in [
        (&["run", "fifo", "--drive", "null:", "--out", "x"][..], "a FIFO"),
        (&["run", "/dev/zero", "--drive", "null:", "--out", "x"], "a device"),
        (&["run", "quick", "--drive", "twin:./fifo", "--out", "x"], "a FIFO"),
        (&["run", "p.toml", "--drive", "null:", "--out", "x"], "a FIFO"),
        (&["vssd", "--profile", "./fifo"], "a FIFO"),
        (&["vssd", "--dhchap-secret-file", "fifo"], "a FIFO"),
    ] {
        let done = scratch.run(args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(what), "{args:?}: {}", done.stderr);
        assert!(!scratch.path("x").exists(), "{args:?}: nothing was begun");
    }
    std::fs::create_dir(scratch.path("run")).expect("a scratch folder");
    std::fs::rename(&fifo, scratch.path("run/manifest.json")).expect("a rename");
    assert_eq!(scratch.run(&["analyze", "run"]).code, Some(2));
    std::fs::write(scratch.path("log.csv"), LOG).expect("a scratch file");
    for input in ["-", "/dev/stdin", "/dev/fd/0"] {
        let mut command = scratch.command(&["analyze", input]);
        let mut cat = std::process::Command::new("cat")
            .arg(scratch.path("log.csv"))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("cat of coreutils");
        let done = command.stdin(cat.stdout.take().expect("a pipe")).output().expect("the binary runs");
        cat.wait().expect("cat ends");
        assert!(done.status.success(), "{input}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn several_inputs_are_one_document_and_one_bad_input_does_not_hide_the_others() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    std::fs::write(scratch.path("log.csv"), LOG).expect("a scratch file");
    let done = scratch.run(&["analyze", "r", "log.csv", "--json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let told: serde_json::Value = serde_json::from_str(&done.stdout).expect("one JSON document");
    let sources: Vec<_> =
        told["results"].as_array().expect("a list").iter().map(|r| r["source"].clone()).collect();
    assert_eq!(sources, ["r", "log.csv"]);
    assert_eq!(told["results"][0]["findings"]["schema"], 2);

    let done = scratch.run(&["analyze", "r", "missing.csv", "log.csv", "--json"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("missing.csv"), "{}", done.stderr);
    let told: serde_json::Value = serde_json::from_str(&done.stdout).expect("one JSON document");
    assert_eq!(told["results"].as_array().map(Vec::len), Some(2));
}

#[test]
fn text_has_sentences_and_a_table_and_says_simulated() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    let done = scratch.run(&["analyze", "r"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    assert!(done.stdout.starts_with("r  [SIMULATED"), "{}", done.stdout);
    // Sentences, a row a segment, caveats: their words are tested where they are made.
    for part in ["What happened\n", "\nWhy\n", "from 3.00 GB/s to 2.40 GB/s (80 %)", "\nFROM ", "Caveats\n- "]
    {
        assert!(done.stdout.contains(part), "{part:?} is not in {}", done.stdout);
    }
    let rows =
        |load: &str| done.stdout.lines().filter(|line| line.contains(&format!(" s  {load}  "))).count();
    assert_eq!((rows("Writes"), rows("Reads")), (1, 2), "{}", done.stdout);
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
}

#[test]
fn a_report_is_made_again_the_same() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    let before = read_text(&scratch.path("r/report.html"));
    std::fs::remove_file(scratch.path("r/report.html")).expect("a report");
    let done = scratch.run(&["report", "r"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "r/report.html\n"));
    assert!(before == read_text(&scratch.path("r/report.html")), "it differs");
    let stdout = scratch.run(&["report", "r", "--out", "-"]);
    assert!(stdout.stdout.trim_end() == before.trim_end(), "stdout differs from the file");
    let done = scratch.run(&["report", "r", "--svg", "--out", "chart.svg"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "chart.svg\n"));
    assert!(read_text(&scratch.path("chart.svg")).contains("<svg"));
}

#[test]
fn a_log_gets_a_report_where_it_is_told_to_and_nowhere_else() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("log.csv"), LOG).expect("a scratch file");
    let done = scratch.run(&["report", "log.csv"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("--out"), "{}", done.stderr);
    let done = scratch.run(&["report", "log.csv", "-o", "log.html"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "log.html\n"));
    assert!(read_text(&scratch.path("log.html")).contains("<html"));
}

/// Goal: a report opens from disk without a network. Method: no attribute or style of it names another place.
#[test]
fn a_report_loads_nothing() {
    let scratch = Scratch::new();
    run(&scratch, "r");
    let html = read_text(&scratch.path("r/report.html"));
    for loader in
        ["src=\"", "src='", "href=\"", "href='", "url(", "@import", "fetch(", "XMLHttpRequest", "import("]
    {
        for (at, _) in html.match_indices(loader) {
            let rest = &html[at + loader.len()..];
            let is_inside = rest.starts_with('#') || rest.starts_with("data:");
            assert!(is_inside, "{loader}{}", rest.chars().take(60).collect::<String>());
        }
    }
}

#[test]
fn runs_are_compared_in_a_table_and_a_page() {
    let scratch = Scratch::new();
    run(&scratch, "a");
    let done = scratch.run(&["run", "--out", "b", "--tmt1", "70C", "--tmt2", "80C", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let done = scratch.run(&["compare", "a", "b", "--out", "both.html"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    assert!(done.stdout.contains("both.html"), "{}", done.stdout);
    assert!(read_text(&scratch.path("both.html")).contains("SIMULATED"));
    for part in ["2 runs compared", "SIMULATED", "TMT1 70 °C", "relay"] {
        assert!(done.stdout.contains(part), "{part:?} is not in {}", done.stdout);
    }
    assert_eq!(scratch.run(&["compare", "a"]).code, Some(2));
}
