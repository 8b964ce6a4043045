//! `heatsoak watch` and `heatsoak exporter` on simulated drives and on the disk under a file: what they leave behind.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Scratch, schema};

/// The part of a watch's folder, where there is one.
fn parts(scratch: &Scratch, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(scratch.path(dir)).expect("a folder of a watch");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Goal: throttling of a twin whose truth is known is told, and the record is one that every command reads.
#[test]
fn a_twin_is_watched_and_its_throttling_told() {
    let scratch = Scratch::new();
    let done = scratch.run(&["watch", "twin:ssd1", "--for", "28m", "--out", "w", "--plain"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let told: Vec<&str> = done.stdout.lines().filter(|line| line.contains("throttling by")).collect();
    assert!(
        told.iter().any(|line| line.contains("firmware threshold") && line.contains("(simulated)")),
        "{told:?}"
    );
    assert!(done.stdout.lines().filter(|line| line.contains("queue")).all(|line| line.contains("simulated")));
    assert!(!scratch.path("w/live.json").exists(), "the present is over");
    let analyzed = scratch.run(&["analyze", "w", "--json"]);
    assert_eq!(analyzed.code, Some(0), "{}", analyzed.stderr);
    let findings: Value = serde_json::from_str(&analyzed.stdout).expect("JSON");
    assert_eq!(findings["policy"]["class"], "vendor", "{findings:#}");
    // Its work comes in laps, with pauses and loads of another size and queue: less asked is not less given.
    let labels: Vec<&Value> =
        findings["segments"].as_array().expect("segments").iter().map(|segment| &segment["label"]).collect();
    assert!(labels.iter().all(|label| **label != "unknown" && **label != "dip"), "{labels:?}");
    let full: Vec<&str> = ["read", "write"]
        .into_iter()
        .filter(|op| {
            let segments = findings["segments"].as_array().expect("segments");
            segments.iter().any(|segment| segment["op"] == **op && segment["label"] == "full_speed")
        })
        .collect();
    assert_eq!(full, ["read", "write"], "{findings:#}");
    assert_eq!(
        scratch.run(&["watch", "twin:ssd1", "--for", "5m", "--out", "w", "--plain"]).code,
        Some(0),
        "gone on with"
    );
    assert_eq!(parts(&scratch, "w").len(), 2);
    assert_eq!(scratch.run(&["compare", "w"]).code, Some(0));
    assert_eq!(scratch.run(&["report", &format!("w/{}", parts(&scratch, "w")[0])]).code, Some(0));
}

/// Goal: a line a second is a document, and a document is as its schema has it.
#[test]
fn lines_of_json_are_documents() {
    let scratch = Scratch::new();
    let done = scratch.run(&["watch", "twin:ssd1", "twin:ssd2", "--for", "20s", "--no-record", "--json"]);
    assert_eq!((done.code, done.stdout.lines().count()), (Some(0), 20), "{}", done.stderr);
    for line in done.stdout.lines() {
        let document: Value = serde_json::from_str(line).expect("a document");
        schema::must_fit("watch", &document);
        assert_eq!(document["drives"].as_array().map(Vec::len), Some(2));
        assert_eq!(document["drives"][0]["simulated"], true);
    }
    assert!(!scratch.path("runs").exists());
}

#[test]
fn what_cannot_be_watched_is_refused_in_a_sentence() {
    let scratch = Scratch::new();
    for (drives, told) in [
        (&["null:"][..], "there is no drive behind it"),
        (&["/dev/nvme77n1"], "no drive of this system"),
        (&["twin:nosuch"], "nosuch"),
        (&["nonsense"], "nonsense"),
    ] {
        let done = scratch.run(&[&["watch", "--no-record", "--plain"], drives].concat());
        assert_eq!(done.code, Some(2), "{drives:?}");
        assert!(done.stderr.contains(told), "{}", done.stderr);
    }
    fs::create_dir(scratch.path("mine")).expect("a folder");
    fs::write(scratch.path("mine/letter.txt"), "dear").expect("space");
    let done = scratch.run(&["watch", "twin:ssd1", "--out", "mine"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("no watch wrote it"), "{}", done.stderr);
    let everywhere = format!("{0}.{0}.{0}.{0}:0", 0);
    let done = scratch.run(&["exporter", "twin:ssd1", "--listen", &everywhere]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("--allow-network"), "{}", done.stderr);
    let done = scratch.run(&["exporter", "twin:ssd1", "--textfile", "x.txt"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains(".prom"), "{}", done.stderr);
}

/// Goal: a real disk is read without root and without a write to it: the file that names it is not made.
#[test]
fn the_disk_under_a_file_is_watched_and_the_file_not_made() {
    let scratch = Scratch::new();
    let file = format!("file:{}", scratch.path("never-made.bin").display());
    let done = scratch.run(&["watch", &file, "--for", "2s", "--no-record", "--json"]);
    assert!(!scratch.path("never-made.bin").exists());
    if done.code == Some(2) {
        assert!(
            done.stderr.contains("without a block device") || done.stderr.contains("several disks"),
            "{}",
            done.stderr
        );
        eprintln!("not run: no disk under {file}");
        return;
    }
    let last: Value = serde_json::from_str(done.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["drives"][0]["simulated"], false);
    assert!(last["drives"][0]["age_s"].is_number(), "{last}");
}

/// Goal: what node_exporter and Prometheus are given passes Prometheus' own checker.
#[test]
fn metrics_pass_promtool() {
    let scratch = Scratch::new();
    let args = ["exporter", "twin:ssd1", "twin:ssd2", "--textfile", "heatsoak.prom", "--for", "10m"];
    let done = scratch.run(&args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let page = fs::read(scratch.path("heatsoak.prom")).expect("the metrics");
    let text = String::from_utf8_lossy(&page);
    assert!(
        text.contains("heatsoak_drive_up{drive=\"twin:ssd1\"} 1") && text.contains("simulated=\"true\""),
        "{text}"
    );
    assert!(text.contains("heatsoak_slow{drive=\"twin:ssd1\",cause=\"hidden\"}"), "{text}");
    let promtool = std::env::var("HEATSOAK_PROMTOOL").unwrap_or_else(|_| "promtool".to_owned());
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let referee = |args: &[&str], input: &[u8]| {
        let mut command = Command::new(&promtool);
        command
            .args(args)
            .current_dir(examples.join("prometheus"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().ok()?;
        child.stdin.take().expect("a pipe").write_all(input).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(())
    };
    if referee(&["check", "metrics"], &page).is_none() {
        eprintln!("not run: no promtool (Debian: prometheus; or HEATSOAK_PROMTOOL=PATH)");
        return;
    }
    referee(&["check", "rules", "../examples/heatsoak.rules.yml"], &[]).expect("it ran before");
    referee(&["test", "rules", "heatsoak.test.yml"], &[]).expect("it ran before");
}

/// Goal: metrics over HTTP, and nothing else: other hosts, methods and paths are refused.
#[test]
fn metrics_are_served_on_loopback_to_who_names_it() {
    let scratch = Scratch::new();
    let mut child = scratch
        .command(&["exporter", "twin:ssd1", "--listen", "127.0.0.1:0", "--no-serial"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stderr = std::io::BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut line).expect("a line");
    let address = line.trim().trim_start_matches("metrics: http://").trim_end_matches("/metrics").to_owned();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let get = |path: &str, host: &str| {
        ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    // The first page is made after the first second of the loop.
    let page =
        std::iter::repeat_with(|| get("/metrics", &address)).find(|page| page.contains("heatsoak_drive_up"));
    let page = page.expect("a page");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("text/plain; version=0.0.4"), "{page}");
    assert!(!page.contains("serial="), "{page}");
    assert!(get("/metrics", "evil.example").starts_with("HTTP/1.1 421"));
    assert!(get("/../etc/passwd", &address).starts_with("HTTP/1.1 404"));
    let post = format!(
        "POST /metrics HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    assert!(ask(&post).starts_with("HTTP/1.1 405"));
    child.kill().expect("ours");
    child.wait().expect("it ends");
}
