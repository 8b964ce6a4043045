//! Help, completions and what is generated from the command line's definition.

use std::path::Path;

use crate::commands::found::{files, read_text};
use crate::support::Scratch;

/// The commands that a user sees.
const COMMANDS: &[&str] = &[
    "run",
    "analyze",
    "report",
    "compare",
    "export",
    "fit",
    "predict",
    "recommend",
    "runs",
    "fleet",
    "validate",
    "vssd",
    "watch",
    "govern",
    "exporter",
    "serve",
    "fetch",
    "remote",
    "list",
    "meter",
    "inspect",
    "hctm",
    "power-state",
    "temp-threshold",
    "trim",
    "restore",
    "plans",
    "profiles",
    "completions",
];

#[test]
fn help_is_as_a_stranger_sees_it() {
    let scratch = Scratch::new();
    let help = scratch.run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("help", help.stdout);
    for command in COMMANDS {
        let help = scratch.run(&[*command, "--help"]);
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
        insta::assert_snapshot!(format!("help-{command}"), help.stdout);
    }
}

/// Goal: without `heatsoak-fleet` beside it or in PATH, `fleet` says how to get it.
#[test]
fn fleet_without_its_program_says_how_to_get_it() {
    let scratch = Scratch::new();
    // A copy where nothing is beside it.
    let alone = scratch.path("heatsoak");
    std::fs::copy(env!("CARGO_BIN_EXE_heatsoak"), &alone).expect("the tool can be copied");
    let done = std::process::Command::new(&alone)
        .args(["fleet", "scan", "rows", "--out", "scan"])
        .env("PATH", scratch.path(""))
        .output()
        .expect("it starts");
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("heatsoak-fleet") && said.contains("fleet/Cargo.toml"), "{said}");
    assert!(said.contains("`heatsoak fleet scan rows --out scan`"), "{said}");
}

#[test]
fn wrong_usage_exits_with_2_and_names_the_nearest() {
    let done = Scratch::new().run(&["lits"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("'list'"), "{}", done.stderr);
    let done = Scratch::new().run(&["list", "--jsn"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("--json"), "{}", done.stderr);
}

/// Goal: man pages, completions and reference name every command that exists, and no hidden one.
#[test]
fn documents_are_generated_for_every_command() {
    let scratch = Scratch::new();
    let done = scratch.run(&["generate", "out"]);
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (Some(0), "", ""));
    let mut expected: Vec<String> = COMMANDS.iter().map(|name| format!("man/heatsoak-{name}.1")).collect();
    expected.extend(
        ["cli.md", "completions/_heatsoak", "completions/heatsoak.bash", "completions/heatsoak.fish"]
            .map(str::to_owned),
    );
    expected.push("man/heatsoak.1".to_owned());
    expected.sort();
    assert_eq!(files(&scratch.path("out")), expected);
    let reference = std::fs::read_to_string(scratch.path("out/cli.md")).expect("the reference");
    for command in COMMANDS {
        assert!(reference.contains(&format!("## heatsoak {command}\n")), "{command} is not in cli.md");
        let help = scratch.run(&[command, "--help"]).stdout;
        let usage = help.lines().find(|line| line.starts_with("Usage:")).expect("a usage line");
        assert!(reference.contains(usage), "{usage} is not in cli.md");
    }
    assert!(!reference.contains("generate DIR"), "hidden commands stay hidden");
}

/// Goal: the documents in the tree are those of today's command line.
#[test]
fn docs_cli_is_what_the_tool_writes() {
    let (scratch, docs) = (Scratch::new(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli"));
    assert_eq!(scratch.run(&["generate", "out"]).code, Some(0));
    let written = files(&scratch.path("out"));
    assert_eq!(files(&docs), written, "delete what the tool no longer writes");
    let stale = |name: &&String| read_text(&docs.join(name)) != read_text(&scratch.path("out").join(name));
    let stale: Vec<_> = written.iter().filter(stale).collect();
    assert!(stale.is_empty(), "stale: {stale:?}; `cargo run -- generate docs/cli` writes them anew");
}

#[test]
fn completions_are_those_of_the_shell() {
    let done = Scratch::new().run(&["completions", "zsh"]);
    assert_eq!(done.code, Some(0));
    assert!(done.stdout.starts_with("#compdef heatsoak"), "{}", done.stdout);
}
