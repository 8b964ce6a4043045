//! Files that are damaged, empty, of another type or of other columns: right, or refused by name with exit 1.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use crate::support::{Folder, text};

#[test]
fn what_cannot_be_read_is_refused_by_name_and_the_rest_is_right() {
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 96 --every 60s --span 2h --hot 0.3 --seed 21 --files 3").good();
    folder.run("scan fleet/rows --out good").good();
    let good = folder.bytes("fleet/rows/rows-00000.parquet");
    fs::write(folder.path("fleet/rows/cut.parquet"), &good[..good.len() / 2]).expect("a file");
    folder.write("fleet/rows/empty.parquet", "");
    folder.write("fleet/rows/empty.csv", "");
    folder.write("fleet/rows/other.csv", "a,b\n1,2\n");
    folder.write("fleet/rows/typed.csv", "ts,serial,temp_c\n2026-01-01T00:00:00Z,X1,warm\n");
    // Bytes that only decoding finds: the header of the first page, the footer whole.
    let mut spoilt = good.clone();
    spoilt[4..64].fill(0xff);
    fs::write(folder.path("fleet/rows/spoilt.parquet"), &spoilt).expect("a file");
    folder.write("fleet/rows/README.txt", "about these rows");
    // A socket for what opening would wait on; a link to nothing, and one that leads in a circle.
    let socket = UnixListener::bind(folder.path("fleet/rows/pipe.csv")).expect("a socket");
    symlink("nothing", folder.path("fleet/rows/link.csv")).expect("a link");
    symlink(".", folder.path("fleet/rows/circle")).expect("a link");
    let done = folder.run("scan fleet/rows --out bad");
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    let refused: Vec<String> =
        folder.table("bad/refused.parquet").iter().map(|row| text(row, "path")).collect();
    drop(socket);
    let names = [
        "cut.parquet",
        "empty.csv",
        "empty.parquet",
        "link.csv",
        "other.csv",
        "pipe.csv",
        "spoilt.parquet",
        "typed.csv",
    ];
    assert_eq!(refused, names.map(|name| format!("fleet/rows/{name}")));
    for name in names {
        assert!(done.stderr.contains(name), "{name}: {}", done.stderr);
    }
    assert!(folder.bytes("bad/drives.parquet") == folder.bytes("good/drives.parquet"));
    assert_eq!(folder.json("bad/findings.json")["files_left_out"], 2);
}

#[test]
fn nothing_readable_is_an_error() {
    let folder = Folder::new();
    folder.write("rows/a.csv", "a,b\n1,2\n");
    for line in ["scan rows --out scan", "check rows", "sql nothing rows"] {
        let done = folder.run(line);
        assert_eq!(done.code, Some(2), "{line}");
        assert!(done.stderr.contains("rows/a.csv") && done.stderr.contains("map.toml"), "{}", done.stderr);
    }
    let done = folder.run("scan nowhere --out scan");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("nowhere"), "{}", done.stderr);
    let done = folder.run("scan gs://bucket/rows --out scan");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("s3://BUCKET/PREFIX is known"), "{}", done.stderr);
    assert!(!folder.path("scan").exists(), "nothing half-written");
}

#[test]
fn columns_come_and_go_and_change_their_type() {
    let folder = Folder::new();
    let line =
        |minute: i64, serial: &str, rest: &str| format!("2026-01-01T00:{minute:02}:00Z,{serial},M,{rest}\n");
    let mut old = String::from("ts,serial,model,temp_c\n");
    let mut new = String::from("model,serial,ts,tmt1_s,temp_c\n");
    for minute in 0..5 {
        old += &line(minute, " A1 ", "40");
        new += &format!("M,A1,2026-01-01T00:{:02}:00Z,{},41.5\n", minute + 5, minute * 10);
    }
    folder.write("rows/1.csv", &old);
    folder.write("rows/2.csv", &new);
    folder.run("scan rows --out scan --cadence 60s").good();
    let drives = folder.table("scan/drives.parquet");
    assert_eq!(drives.len(), 1, "blanks around a serial number are no part of it");
    assert_eq!(crate::support::number(&drives[0], "rows"), 10.0);
    assert_eq!(crate::support::number(&drives[0], "tmt1_s"), 40.0);
    assert_eq!(text(&drives[0], "verdict"), "throttled");
}

#[test]
fn a_wrong_command_line_is_exit_2_with_a_sentence() {
    let folder = Folder::new();
    for (line, said) in [
        ("scan rows", "--out"),
        ("scan rows --out s --memory 12", "2GiB"),
        ("scan rows --out s --cadence often", "60s"),
        ("gen --out g --every never", "never"),
        ("gen --out g --hot 2", "share"),
        ("scam rows", "scan"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code, Some(2), "{line}: {}", done.stdout);
        assert!(done.stderr.contains(said), "{line}: {}", done.stderr);
    }
    let help = folder.run("scan --help");
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("thresholds.parquet"));
}
