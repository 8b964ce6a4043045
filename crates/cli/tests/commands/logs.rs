//! Logs of other tools given to `analyze`: joined, shifted, forced, asked for, and refereed by fio itself.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use crate::support::Scratch;

/// A log of fio on a wall clock and a folder of timed readings of the same minutes.
fn load_and_readings(scratch: &Scratch) {
    let row = |t: u64| format!("{}, 1000000, 0, 0, 0\n", 1_795_246_000_000 + 1000 * t);
    let log: String = (1..=120).map(row).collect();
    std::fs::write(scratch.path("x_bw.1.log"), log).expect("a scratch file");
    std::fs::create_dir(scratch.path("smart")).expect("a scratch folder");
    for i in 0..13u64 {
        let text = format!("{{\"temperature\": {}, \"avail_spare\": 100}}\n", 310 + i);
        let name = format!("smart/{}.json", 1_795_246_000 + 10 * i);
        std::fs::write(scratch.path(&name), text).expect("a scratch file");
    }
}

fn findings(scratch: &Scratch, args: &[&str]) -> serde_json::Value {
    let done = scratch.run(&[&["analyze", "--json"], args].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("one JSON document")
}

#[test]
fn files_and_folders_are_joined_on_one_clock() {
    let scratch = Scratch::new();
    load_and_readings(&scratch);
    let told = findings(&scratch, &["--join", "x_bw.1.log", "smart"]);
    assert_eq!(told["segments"][0]["temp_start_k"], 310.0, "{told}");
    let told = findings(&scratch, &["--join", "x_bw.1.log", "smart", "--offset", "smart=+60s"]);
    // The first reading is a minute late now: at the start of the load there is none.
    assert_ne!(told["segments"][0]["temp_start_k"], 310.0, "{told}");
    // A folder alone is a run of its files.
    let told = findings(&scratch, &["smart"]);
    assert_eq!(told["segments"], serde_json::json!([]));
    // Without --join each is a run of its own.
    let told = findings(&scratch, &["x_bw.1.log", "smart"]);
    assert_eq!(told["results"].as_array().map(Vec::len), Some(2));
    let done = scratch.run(&["analyze", "--join", "x_bw.1.log", "smart"]);
    assert!(done.stdout.contains("Fine print:"), "{}", done.stdout);
}

/// Goal: who names two snapshots of a drive is told how to see what happened between them, and nobody else is.
#[test]
fn snapshots_of_one_drive_are_offered_to_be_joined() {
    let scratch = Scratch::new();
    let reading = |name: &str, serial: &str, day: u64| {
        let text = format!(
            "{{\"smartctl\": {{}}, \"serial_number\": {serial:?}, \"local_time\": {{\"time_t\": {}}}, \
             \"temperature\": {{\"current\": 40}}, \"power_on_time\": {{\"hours\": {}}}}}\n",
            1_795_246_000 + 86_400 * day,
            1000 + 24 * day
        );
        std::fs::write(scratch.path(name), text).expect("a scratch file");
    };
    reading("a.json", "S1", 0);
    reading("b.json", "S1", 7);
    reading("other.json", "S2", 7);
    let said = |args: &[&str]| {
        let done = scratch.run(&[&["analyze"], args].concat());
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(said(&["a.json", "b.json"]).ends_with(
        "Readings of one drive, as far as they tell: `heatsoak analyze --join a.json b.json` shows what it counted between them."
    ));
    assert!(said(&["--join", "a.json", "b.json"]).contains("168 h apart: 168 h powered on"));
    for args in [
        &["a.json", "other.json"][..],
        &["a.json"],
        &["--join", "a.json", "b.json"],
        &["--json", "a.json", "b.json"],
    ] {
        assert!(!said(args).contains("Readings of one drive"), "{args:?}");
    }
}

#[test]
fn what_has_to_be_decided_is_asked_for_and_exits_with_2() {
    let scratch = Scratch::new();
    load_and_readings(&scratch);
    std::fs::write(scratch.path("any.log"), "1000, 5, 0, 0\n2000, 5, 0, 0\n").expect("a scratch file");
    std::fs::write(scratch.path("t.csv"), "t_s,temp_c\n0,40\n1,40\n").expect("a scratch file");
    for (args, told) in [
        (&["any.log"][..], "--format fio-bw-log"),
        (&["--join", "x_bw.1.log", "t.csv"], "--offset t.csv=+0s"),
        (&["--join", "x_bw.1.log", "smart", "--offset", "smrt=+1s"], "--offset names it"),
        (&["--join", "x_bw.1.log", "smart", "--offset", "smart=1"], "such as smart/=+3.5s"),
        (&["any.log", "--format", "fio"], "fio-bw-log"),
    ] {
        let done = scratch.run(&[&["analyze"], args].concat());
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.stderr.contains(told), "{args:?}: {}", done.stderr);
    }
    let told = findings(&scratch, &["any.log", "--format", "fio-bw-log"]);
    assert_eq!(told["segments"][0]["mean_bytes_per_s"], 5.0 * 1024.0);
}

#[test]
fn jobs_that_were_not_named_are_missed() {
    let scratch = Scratch::new();
    load_and_readings(&scratch);
    std::fs::copy(scratch.path("x_bw.1.log"), scratch.path("x_bw.2.log")).expect("a scratch file");
    let has_caveat = |told: &serde_json::Value| {
        told["caveats"].as_array().expect("caveats").iter().any(|caveat| caveat["kind"] == "other_jobs")
    };
    assert!(has_caveat(&findings(&scratch, &["x_bw.1.log"])));
    let both = findings(&scratch, &["--join", "x_bw.1.log", "x_bw.2.log"]);
    assert!(!has_caveat(&both));
    assert_eq!(both["segments"][0]["mean_bytes_per_s"], 2.0 * 1_024_000_000.0);
}

/// Goal: what fio writes and what it reports is the same to us. Method: fio 3.x runs two jobs with a row an I/O and the
/// columns that can be had, in a scratch folder; the sum of the logs is compared with its JSON, to the byte.
#[test]
fn fio_itself_reports_what_its_logs_add_up_to() {
    let scratch = Scratch::new();
    if let Err(error) = Command::new("fio").arg("--version").output() {
        let why = format!("fio cannot be run ({error}), so nobody has refereed its logs; install fio");
        assert!(std::env::var_os("CI").is_none(), "{why}");
        // Past the test runner's capture: a referee that is missing has to be seen.
        let _ = writeln!(std::io::stderr(), "NOT RUN: fio_itself_reports_what_its_logs_add_up_to: {why}");
        return;
    }
    let job = [
        "--name=j",
        "--filename=t.bin",
        "--size=4M",
        "--rw=write",
        "--bs=64k",
        "--numjobs=2",
        "--ioengine=psync",
    ];
    let logs = ["--write_bw_log=j", "--write_lat_log=j", "--log_offset=1", "--log_prio=1"];
    let out = ["--output-format=json", "--output=j.json"];
    let ran = Command::new("fio")
        .args(job)
        .args(logs)
        .args(out)
        .current_dir(scratch.path("."))
        .output()
        .expect("fio runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    std::fs::remove_file(scratch.path("t.bin")).expect("what fio wrote");
    let done = scratch.run(&["analyze", "."]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("add up to 8 MiB written, fio's own total is 8 MiB (+0.00 %)"), "{}", done.stdout);
}

/// Goal: a log with a column for each operation tells of what was done, and not of 0 B/s beside it.
#[test]
fn what_was_not_done_has_no_row() {
    let scratch = Scratch::new();
    let rows: String = (0..120)
        .map(|t| {
            let (read, write) = if t < 60 { (0_u64, 2_000_000_000_u64) } else { (3_000_000_000, 0) };
            format!("{t},{read},{write},{}\n", 40 + t / 10)
        })
        .collect();
    std::fs::write(
        scratch.path("both.csv"),
        format!("t_s,read_bytes_per_s,write_bytes_per_s,temp_c\n{rows}"),
    )
    .expect("a scratch file");
    let done = scratch.run(&["analyze", "both.csv"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("2.00 GB/s") && done.stdout.contains("3.00 GB/s"), "{}", done.stdout);
    assert!(!done.stdout.contains(" 0 B/s"), "{}", done.stdout);
}

/// Goal: whoever names collectd's folder of a host learns how to name what lies in it. Method: that folder, and as the refusal says.
#[test]
fn a_folder_of_folders_with_logs_says_how_to_name_them() {
    let scratch = Scratch::new();
    for (folder, name, values) in [
        (
            "disk-nvme0n1",
            "disk_octets-2026-11-22",
            "epoch,read,write\n1795340400.25,0,1000\n1795340410.25,0,2000\n1795340420.25,0,3000\n",
        ),
        (
            "sensors-nvme-pci-0100",
            "temperature-temp1-2026-11-22",
            "epoch,value\n1795340400.25,40\n1795340410.25,41\n1795340420.25,42\n",
        ),
    ] {
        std::fs::create_dir_all(scratch.path(&format!("host/{folder}"))).expect("a folder");
        std::fs::write(scratch.path(&format!("host/{folder}/{name}")), values).expect("a scratch file");
    }
    let refused = scratch.run(&["analyze", "host"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("as one run with --join host/*/*"), "{}", refused.stderr);
    let (disk, sensor) = (
        "host/disk-nvme0n1/disk_octets-2026-11-22",
        "host/sensors-nvme-pci-0100/temperature-temp1-2026-11-22",
    );
    let done = scratch.run(&["analyze", "--join", disk, sensor]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

/// A log of writes on a drive of two parts in a room, which falls to a share of its speed at `on_c` for good.
fn writes_in_a_room(scratch: &Scratch, name: &str, room_c: f64, on_c: f64, left: f64) {
    let (mut fast_k, mut slow_k, mut share) = (0.0, 0.0, 1.0);
    let mut text = String::from("t_s,write_mb_per_s,temp_c\n");
    for second in 0..1200 {
        let kelvin = room_c + 5.0 + fast_k + slow_k;
        if kelvin >= on_c {
            share = left;
        }
        fast_k += (32.0 * share - fast_k) / 40.0;
        slow_k += (32.0 * share - slow_k) / 260.0;
        if second % 2 == 0 {
            writeln!(text, "{second},{:.0},{kelvin:.0}", 480.0 * share).expect("a text");
        }
    }
    std::fs::write(scratch.path(name), text).expect("a scratch file");
}

/// Goal: what runs of one drive show together agrees with what is said of each. Method: writes that fall at one temperature in three rooms,
/// after other times: alone a full cache looks the same.
#[test]
fn runs_of_one_drive_are_summed_up_as_they_are_told() {
    for (rooms_c, on_c, left) in [
        ([20.0, 30.0, 40.0], 78.0, 0.62),
        ([22.0, 31.0, 43.0], 81.0, 0.66),
        ([16.0, 27.0, 37.0], 73.0, 0.6),
        ([19.0, 29.0, 41.0], 76.0, 0.7),
        ([24.0, 34.0, 46.0], 84.0, 0.64),
    ] {
        let scratch = Scratch::new();
        let names = ["cool.csv", "warm.csv", "hot.csv"];
        for (name, room_c) in names.iter().zip(rooms_c) {
            writes_in_a_room(&scratch, name, room_c, on_c, left);
        }
        let told = findings(&scratch, &[&["--one-drive"], &names[..]].concat());
        let joint = &told["joint_policies"][0];
        let threshold_k = joint["machines"][0]["threshold_k"].as_f64();
        assert!(threshold_k.is_some_and(|k| (k - 273.0 - on_c).abs() <= 1.5), "{on_c} °C: {joint}");
        assert_ne!(joint["class"], "undetermined", "{on_c} °C: {joint}");
        let of_runs = told["results"].as_array().expect("runs");
        let heat = |run: &&serde_json::Value| run["findings"]["events"][0]["kind"] == "throttle_onset";
        assert_eq!(of_runs.iter().filter(heat).count(), 3, "{on_c} °C: {told}");
        // What they settle together is open in none of them.
        for findings in of_runs.iter().map(|run| &run["findings"]) {
            let open = findings["caveats"].to_string().contains("policy_undetermined");
            let class = &findings["policy"]["class"];
            assert_eq!(open, class == "undetermined", "{on_c} °C: {class}, {}", findings["caveats"]);
        }
    }
}
