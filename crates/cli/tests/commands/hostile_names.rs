//! Names that try to steer the terminal, through every command that shows names.
//!
//! Goal: no control character, no C1 and nothing that reorders text reaches stdout or stderr, except the colours of the
//! tool itself. Colours are forced: where there is no terminal, the printer drops escape sequences, which would hide a leak.

use std::process::Command;

use crate::support::{Done, Scratch};

/// Title, clipboard, clear, C1 CSI, carriage return, right-to-left override, isolate, backspace, DEL.
const NAME: &str = "e\u{1b}]0;t\u{7}\u{1b}]52;c;eA==\u{1b}\\\u{1b}[2J\u{9b}31m\r\u{202e}\u{2066}\u{8}\u{7f}l";

fn run(scratch: &Scratch, args: &[&str]) -> Done {
    let mut command: Command = scratch.command(args);
    let done = command.env("CLICOLOR_FORCE", "1").output().expect("the binary runs").into();
    check(args, &done);
    done
}

/// Nothing hidden is in it but colours, and the name is there written out, or not at all.
fn check(args: &[&str], done: &Done) {
    for text in [&done.stdout, &done.stderr] {
        let mut plain = String::new();
        for (index, part) in text.split("\u{1b}[").enumerate() {
            let colour = part.split_once('m').filter(|(codes, _)| {
                index > 0 && codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')
            });
            assert!(index == 0 || colour.is_some(), "{args:?}: {text:?}");
            plain.push_str(colour.map_or(part, |(_, rest)| rest));
        }
        assert!(!plain.contains(measure::is_hidden), "{args:?}: {plain:?}");
    }
}

/// As TOML and JSON write a string that holds anything.
fn quoted() -> String {
    NAME.chars()
        .map(|c| {
            if c.is_ascii_graphic() && c != '\\' { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }
        })
        .collect()
}

#[test]
fn names_do_not_steer_the_terminal() {
    let scratch = Scratch::new();
    let profile = scratch.run(&["profiles", "ssd1"]).stdout;
    let profile: String = profile
        .lines()
        .map(|line| {
            match ["name = ", "description = "].iter().find(|key| line.starts_with(**key)) {
                // Model, serial number and firmware are refused where they are not printable ASCII.
                Some(key) => format!("{key}\"{}\"\n", quoted()),
                None => format!("{line}\n"),
            }
        })
        .collect();
    std::fs::write(scratch.path("d.toml"), profile).expect("a scratch file");
    let plan = format!(
        "description = \"{0}\"\n[[phase]]\nname = \"{0}\"\nop = 'read'\nduration = '20s'\nblock_size = '1MiB'\n",
        quoted()
    );
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    let evil = run(&scratch, &["run", "p.toml", "--drive", "twin:d.toml", "--out", "evil"]);
    let done = run(&scratch, &["run", "p.toml", "--drive", "twin:ssd1", "--out", "r"]);
    assert_eq!((evil.code, done.code), (Some(0), Some(0)), "{} {}", evil.stderr, done.stderr);
    run(&scratch, &["inspect", "twin:d.toml"]);
    run(&scratch, &["inspect", "twin:d.toml", "--json"]);
    // A record may name anything, whoever made it.
    let manifest = std::fs::read_to_string(scratch.path("r/manifest.json")).expect("a manifest");
    let manifest = manifest.replace("Simulated SSD1", &quoted()).replace("TWIN-SSD1", &quoted());
    std::fs::write(scratch.path("r/manifest.json"), manifest).expect("a scratch file");
    std::fs::rename(scratch.path("r"), scratch.path(NAME)).expect("a rename");
    std::fs::write(scratch.path(&format!("{NAME}.csv")), "t_s,read_mb_per_s\n0,1\n1,1\n").expect("a file");
    std::fs::write(scratch.path(&format!("{NAME}.bad")), format!("t_s,{NAME}\n")).expect("a scratch file");
    let (log, bad) = (format!("{NAME}.csv"), format!("{NAME}.bad"));
    for args in [
        vec!["analyze", NAME],
        vec!["analyze", NAME, "--json"],
        vec!["analyze", NAME, "--explain"],
        vec!["analyze", NAME, &log, &bad],
        vec!["analyze", "--join", &log, &bad],
        vec!["compare", NAME, &log, "--out", "c.html"],
        vec!["report", NAME],
        vec!["report", NAME, "--out", "-"],
        vec!["report", NAME, "--svg", "--out", "-"],
        vec!["report", &log],
        vec![NAME],
        vec!["run", NAME],
        vec!["run", "--drive", NAME],
        vec!["run", "--drive", &bad],
        vec!["run", &bad],
        vec!["run", "--tmt1", NAME],
        vec!["run", "--out", NAME],
        vec!["plans", NAME],
        vec!["profiles", NAME],
        vec!["inspect", NAME],
        vec!["list", NAME],
        vec!["hctm", NAME],
        vec!["hctm", "twin:d.toml"],
        vec!["power-state", "twin:d.toml"],
        vec!["temp-threshold", "twin:d.toml"],
        vec!["restore", NAME],
        vec!["vssd", "--profile", NAME],
    ] {
        run(&scratch, &args);
    }
    for page in ["c.html", &format!("{NAME}/report.html")] {
        let page = std::fs::read_to_string(scratch.path(page)).expect("a page");
        assert!(!page.contains(measure::is_hidden), "a page");
    }
}
