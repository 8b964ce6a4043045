//! Errors that name what to type, tables that keep to the terminal, the library of runs, completions.

use crate::support::Scratch;

/// Goal: a mistake is answered with what to type. Method: each mistake of the issue, and what has to be in the answer.
#[test]
fn errors_name_what_to_type() {
    let scratch = Scratch::new();
    let any = ["0"; 4].join(".");
    let any_port = format!("{any}:0");
    let with_port =
        format!("write {any}:4420; other machines reach that address, which needs --allow-network");
    for (typed, answer) in [
        (vec!["vssd", "--listen", &any], with_port.as_str()),
        (vec!["vssd", "--listen", "::1"], "write [::1]:4420"),
        (vec!["vssd", "--listen", &any_port], "--allow-network"),
        (vec!["run", "--tmt1", "70"], "write for example 70C"),
        (vec!["run", "--interval", "100"], "write for example 100s"),
        (vec!["run", "--seed", "abc"], "\"abc\" is not a whole number from 0 on"),
        (vec!["run", "twin:ssd1"], "write --drive twin:ssd1"),
        (vec!["run", "/dev/nvme0n1"], "write --drive /dev/nvme0n1"),
        (vec!["run", "--drive", "twin:ssd3"], "did you mean `ssd1` or `ssd2`? `heatsoak profiles` lists all"),
    ] {
        let done = scratch.run(&typed);
        assert_eq!(done.code, Some(2), "{typed:?}: {done:?}");
        assert!(done.stderr.contains(answer), "{typed:?}: {}", done.stderr);
        assert!(done.stderr.lines().all(|line| line.len() < 250), "{typed:?}: {}", done.stderr);
    }
    let help = scratch.run(&["help", "run"]);
    assert_eq!((help.code, help.stdout), (Some(0), scratch.run(&["run", "--help"]).stdout));
}

#[test]
fn lists_keep_to_80_columns_where_no_terminal_says_otherwise() {
    let scratch = Scratch::new();
    for typed in [
        vec!["list"],
        vec!["inspect", "twin:ssd2"],
        vec!["plans"],
        vec!["profiles"],
        vec!["hctm", "twin:ssd1"],
        vec!["power-state", "twin:ssd1"],
        vec!["temp-threshold", "twin:ssd1"],
    ] {
        let done = scratch.run(&typed);
        assert_eq!(done.code, Some(0), "{done:?}");
        let widest = done.stdout.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 80, "{typed:?}: {widest} columns in\n{}", done.stdout);
    }
    let hctm = scratch.run(&["hctm", "twin:ssd1"]).stdout.replace('\n', " ");
    assert!(hctm.contains("0 °C (273 K)") && hctm.contains("off (raw 0) disables one"), "{hctm}");
}

/// Goal: the library lists what is there, links to its reports, and deletes nothing unasked.
#[test]
fn the_library_lists_runs_and_links_their_reports() {
    let scratch = Scratch::new();
    for name in ["lib/10-b", "lib/2-a"] {
        assert_eq!(scratch.run(&["run", "quick", "--out", name, "-q"]).code, Some(0));
    }
    std::fs::write(scratch.path("lib/notes.txt"), "mine").expect("a scratch file");
    let done = scratch.run(&["runs", "lib"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let place = |name: &str| done.stdout.find(name).unwrap_or_else(|| panic!("{name}: {}", done.stdout));
    assert!(place("lib/2-a") < place("lib/10-b") && done.stdout.contains("no throttling"));
    let page = std::fs::read_to_string(scratch.path("lib/index.html")).expect("a page");
    assert!(page.contains("href=\"./2-a/report.html\"") && page.contains("SIMULATED"));
    let json = scratch.run(&["runs", "lib", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(2));
    let prune = scratch.run(&["runs", "lib", "--prune"]);
    assert_eq!(prune.code, Some(2), "nobody can be asked");
    assert!(scratch.path("lib/2-a/manifest.json").is_file());
    assert_eq!(scratch.run(&["runs", "missing"]).code, Some(2));
}

/// A mistake of each kind.
const MISTAKES: &[&str] = &[
    "run nosuchplan",
    "run quikc",
    "run twin:ssd1",
    "run bad.toml",
    "run bad.fio",
    "run --drive nosuch",
    "run --drive twin:ssd3",
    "run --drive file:missing.img",
    "run --drive nvme-tcp://127.0.0.1",
    "run --tmt1 65",
    "run --tmt1 90C --tmt2 80C",
    "run --tmt1 65C --drive null:",
    "run --interval 100",
    "run --seed abc",
    "run --sweep tmt",
    "run --sweep moon=1,2",
    "run --sweep rate=1GB",
    "run --power scpi:",
    "run --power nosuch:x",
    "run --baseline 3",
    "run --on",
    "analyze",
    "analyze missing",
    "analyze words.txt",
    "analyze empty.csv",
    "analyze unknown.csv",
    "analyze --explain unknown.csv",
    "report missing",
    "compare",
    "compare missing",
    "inspect nosuch",
    "list extra",
    "hctm",
    "hctm null: --tmt1 65C",
    "hctm twin:ssd1 --tmt1 95C",
    "power-state twin:ssd1 9",
    "trim",
    "trim twin:ssd1",
    "watch",
    "watch twin:nosuch",
    "serve missing",
    "vssd --profile nosuch",
    "vssd --listen here",
    "fit missing",
    "fit words.txt",
    "predict missing",
    "recommend missing --goal best",
    "runs missing",
    "export missing --format xml",
    "restore nosuch",
    "meter nosuch:x",
    "validate Z9",
    "plans nosuch",
    "profiles nosuch",
    "fetch",
    "frobnicate",
];

/// Goal: a reviewer reads how mistakes are answered in one sitting. Method: a mistake of each kind, and all answers in one
/// snapshot; each exits with 2, and none is a panic.
#[test]
fn answers_to_mistakes_are_one_page() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("words.txt"), "the quick brown fox\n").expect("a scratch file");
    std::fs::write(scratch.path("empty.csv"), "").expect("a scratch file");
    std::fs::write(scratch.path("unknown.csv"), "a,b\n1,2\n").expect("a scratch file");
    std::fs::write(scratch.path("bad.toml"), "[[phase]]\nname = \"w\"\nop = \"wirte\"\n")
        .expect("a scratch file");
    std::fs::write(scratch.path("bad.fio"), "[j]\nrw=write\nioengine=rbd\n").expect("a scratch file");
    let answers: Vec<String> = MISTAKES
        .iter()
        .map(|typed| {
            let done = scratch.run(&typed.split(' ').collect::<Vec<_>>());
            assert!(!done.stderr.contains("panicked"), "{typed}: {}", done.stderr);
            assert_eq!(done.code, Some(2), "{typed}: {}", done.stderr);
            format!("$ heatsoak {typed}\n{}", done.stderr)
        })
        .collect();
    insta::assert_snapshot!("answers-to-mistakes", answers.join("\n"));
}
