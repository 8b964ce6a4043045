//! Jobs of fio beside each other, in other reports than one of each direction, and in documents of other programs.
//! The reports are composed here, with the keys that fio writes.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(name: &str, text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes(name, text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn read(text: &str) -> Trace {
    tried("run.json", text).expect(text)
}

/// A job that moved bytes for so many seconds, of `direction`.
fn job(name: &str, options: &str, direction: &str, bytes: u64, seconds: f64) -> String {
    let ms = seconds * 1e3;
    format!(
        r#"{{"jobname":"{name}","groupid":0,"error":0,"elapsed":61,"job options":{{{options}}},"{direction}":{{"io_bytes":{bytes},"io_kbytes":{},"runtime":{ms}}}}}"#,
        bytes / 1024
    )
}

fn report_at(unix_s: u64, key: &str, jobs: &[String]) -> String {
    format!(
        "{{\"fio version\":\"fio-3.28\",\"timestamp\":{unix_s},\"global options\":{{\"direct\":\"1\"}},\"{key}\":[{}]}}",
        jobs.join(",")
    )
}

fn report(jobs: &[String]) -> String {
    report_at(1_795_340_460, "jobs", jobs)
}

fn moved(trace: &Trace, op: SegmentOp) -> f64 {
    trace
        .speeds
        .iter()
        .filter(|series| series.op == op)
        .flat_map(|series| &series.intervals)
        .map(|i| i.bytes)
        .sum()
}

fn speeds(trace: &Trace) -> Vec<f64> {
    let all = trace.speeds.iter().flat_map(|series| &series.intervals);
    all.map(|one| (one.bytes_per_s() / 1e6).round()).collect()
}

/// Goal: what is reported of all directions together (`unified_rw_reporting=1`) is of those that the job has.
#[test]
fn directions_that_are_reported_together_are_told_by_the_job() {
    use SegmentOp::{Read, Trim, Write};
    for (rw, op) in
        [("read", Read), ("randread", Read), ("write", Write), ("randwrite:8", Write), ("trim", Trim)]
    {
        for options in [format!("\"rw\":\"{rw}\""), format!("\"readwrite\":\"{rw}\",\"bs\":\"64k\"")] {
            let trace = read(&report(&[job("w", &options, "mixed", 60_000_000_000, 60.0)]));
            assert_eq!((moved(&trace, op), trace.speeds.len()), (6e10, 1), "{rw}");
        }
    }
    for (mix, reads) in [("", 0.5), (",\"rwmixread\":\"70\"", 0.7), (",\"rwmixwrite\":\"90\"", 0.1)] {
        let trace =
            read(&report(&[job("m", &format!("\"rw\":\"randrw\"{mix}"), "mixed", 10_000_000_000, 10.0)]));
        assert!((moved(&trace, Read) - reads * 1e10).abs() < 1.0, "{mix}");
        assert!((moved(&trace, Write) - (1.0 - reads) * 1e10).abs() < 1.0, "{mix}");
        assert!(trace.notes.iter().any(|note| note.contains("rwmixread")), "{:?}", trace.notes);
    }
    for options in ["", "\"rw\":\"rw\",\"bs\":\"4k,64k\"", "\"rw\":\"trimwrite\""] {
        let why =
            tried("run.json", &report(&[job("m", options, "mixed", 1 << 30, 10.0)])).expect_err(options);
        assert!(why.contains("without unified_rw_reporting"), "{why}");
    }
    // Each and together.
    let both = job("w", "\"rw\":\"write\"", "write", 1 << 30, 10.0);
    let both =
        both.replace("\"write\":{\"io", "\"mixed\":{\"io_bytes\":5,\"runtime\":10000},\"write\":{\"io");
    assert_eq!(moved(&read(&report(&[both])), Write), f64::from(1 << 30));
}

/// Goal: a job that ends before the others is no drop. Method: jobs of one speed whose ends lie apart, as one state and as many.
#[test]
fn jobs_that_end_a_little_apart_are_no_course() {
    for ends in [[120.0, 120.0, 120.0, 117.0], [61.0, 60.5, 60.0, 62.0], [300.0, 290.0, 295.0, 299.0]] {
        let jobs = |now_s: f64| -> Vec<String> {
            let one = |end_s: &f64| {
                let s = end_s.min(now_s);
                job("seq", "\"rw\":\"write\",\"numjobs\":\"4\"", "write", (2.5e8 * s) as u64, s)
            };
            ends.iter().map(one).collect()
        };
        let first = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let trace = read(&report(&jobs(1e9)));
        assert_eq!((speeds(&trace), trace.phases.len()), (vec![1000.0], 1), "{ends:?}");
        assert!(
            (trace.end_s() - first).abs() < 0.3 && trace.notes.iter().any(|note| note.contains("left out"))
        );
        let states: String = (1..=31)
            .map(|n| {
                let s = f64::from(n) * 10.0;
                report_at(1_795_340_400 + n as u64 * 10, "jobs", &jobs(s)) + "\n"
            })
            .collect();
        assert!(speeds(&read(&states)).iter().all(|speed| *speed == 1000.0), "{:?}", speeds(&read(&states)));
    }
}

/// Goal: a job with `startdelay` begins so long after fio does: loads overlap where they did, and rests stay rests. fio 3.33
/// itself wrote the first of these numbers.
#[test]
fn a_delayed_job_begins_when_it_did() {
    let delayed = |delay: &str| format!("\"rw\":\"write\",\"startdelay\":\"{delay}\"");
    let write = "\"rw\":\"write\"";
    let spans = |trace: &Trace| -> Vec<(String, f64, f64)> {
        let tenths = |s: f64| (10.0 * s).round() / 10.0;
        trace.phases.iter().map(|one| (one.name.clone(), tenths(one.start_s), tenths(one.end_s))).collect()
    };
    let jobs =
        [job("a", write, "write", 209_715_200, 10.0), job("b", &delayed("6"), "write", 167_903_232, 4.0)];
    let both = read(&report(&jobs).replace("\"elapsed\":61", "\"elapsed\":11"));
    assert_eq!(spans(&both), [("a".to_owned(), 0.0, 6.0), ("a + b".to_owned(), 6.0, 10.0)]);
    assert_eq!(speeds(&both)[..2], [21.0, 63.0]);
    for delay in ["20", "20s", "20000ms"] {
        let jobs = [
            job("a", write, "write", 1_000_000_000, 10.0),
            job("b", &delayed(delay), "write", 2_000_000_000, 10.0),
        ];
        let apart = read(&report(&jobs).replace("\"elapsed\":61", "\"elapsed\":30"));
        assert_eq!(spans(&apart), [("a".to_owned(), 0.0, 10.0), ("b".to_owned(), 20.0, 30.0)], "{delay}");
        assert_eq!(moved(&apart, SegmentOp::Write), 3e9, "{delay}");
    }
}

/// Goal: the same of logs, without fio's JSON and beside it, in which a group may be one job.
#[test]
fn logs_that_end_a_little_apart_are_no_course() {
    let log = |end: u32| -> String { (1..=end).map(|s| format!("{s}000, 244140, 1, 0, 0\n")).collect() };
    let read = |ends: [u32; 4], json: &str| -> Trace {
        let logs = ends.map(log);
        let names = ["seq_bw.1.log", "seq_bw.2.log", "seq_bw.3.log", "seq_bw.4.log", "seq.json"];
        let texts = [&logs[0], &logs[1], &logs[2], &logs[3], json];
        let files = names.into_iter().zip(texts).filter(|(_, text)| !text.is_empty());
        let files = files.map(|(name, text)| LogFile::from_bytes(name, text.as_bytes())).collect();
        import(files, &ImportOptions::default()).expect("a run")
    };
    let group = report(&[job("seq", "\"rw\":\"write\",\"numjobs\":\"4\"", "write", 118_000_000_000, 120.0)]);
    for (ends, seconds) in [([120, 120, 117, 120], 117), ([112, 112, 112, 120], 112), ([60, 61, 62, 63], 60)]
    {
        for json in ["", &group] {
            let trace = read(ends, json);
            let speeds = speeds(&trace);
            assert_eq!((speeds.len(), trace.phases.len()), (seconds, 1), "{ends:?} {json}");
            assert!(speeds.iter().all(|speed| *speed == 1000.0), "{ends:?}: {speeds:?}");
        }
    }
    assert_eq!(speeds(&read([120; 4], "")).len(), 120);
    // Half of the time has half of the jobs.
    let trace = read([60, 60, 120, 120], "");
    let told: Vec<(&str, f64)> = trace.phases.iter().map(|one| (one.name.as_str(), one.end_s)).collect();
    assert_eq!(told, [("seq, 4 jobs", 60.0), ("seq, 2 jobs", 120.0)]);
    assert_eq!(
        (speeds(&trace)[0], speeds(&trace)[119], trace.speeds[0].intervals[60].phase),
        (1000.0, 500.0, 1)
    );
}

/// Goal: where half of the time has other jobs than the rest, that is another load.
#[test]
fn stretches_of_other_jobs_are_other_phases() {
    let jobs = [
        job("a", "\"rw\":\"write\"", "write", 60_000_000_000, 60.0),
        job("b", "\"rw\":\"read\"", "read", 60_000_000_000, 120.0),
    ];
    let trace = read(&report(&jobs));
    let told: Vec<(&str, SegmentOp)> = trace.phases.iter().map(|one| (one.name.as_str(), one.op)).collect();
    assert_eq!(told, [("a + b", SegmentOp::Mixed), ("b", SegmentOp::Read)]);
    // Ends all over the time are one load.
    let jobs: Vec<String> =
        (1..=20).map(|n| job("s", "\"rw\":\"write\"", "write", 100_000_000 * n, 5.0 * n as f64)).collect();
    let trace = read(&report(&jobs));
    assert_eq!((trace.phases.len(), trace.phases[0].what.as_str()), (1, "rw=write, in 20 jobs"));
    assert!((moved(&trace, SegmentOp::Write) - 21e9).abs() < 1e6);
}

/// Goal: a direction whose first or last window is missing makes no ramp. Method: windows that are not equal, as fio writes them.
#[test]
fn a_direction_that_is_logged_a_window_late_is_no_ramp() {
    for (window, jitter) in [(1000, 3), (500, 9), (1000, 0), (250, 40)] {
        for (late, early) in [(1, 0), (0, 1), (1, 1), (2, 0)] {
            let mut t = 0;
            let rows: String = (0..40)
                .map(|n| {
                    t += window + (n * 7 + 3) % (jitter + 1);
                    let write = if n < late || n >= 40 - early {
                        String::new()
                    } else {
                        format!("{t}, 102400, 1, 0\n")
                    };
                    format!("{t}, 102400, 0, 0\n{write}")
                })
                .collect();
            let trace = tried("mix_bw.1.log", &rows).expect("a log");
            let own: Vec<f64> = speeds(&trace);
            assert!(
                own.iter().all(|speed| (103.0..107.0).contains(speed)),
                "{window} {late} {early}: {own:?}"
            );
            let range = |n: usize| {
                let all = &trace.speeds[n].intervals;
                (all.first().map(|one| one.start_s), all.last().map(|one| (1e6 * one.end_s()).round()))
            };
            assert_eq!(range(0), range(1), "{window} {jitter} {late} {early}");
            assert_eq!(trace.phases.len(), 1);
        }
    }
    // A short load before another one is no late window.
    let row = |n: u32| format!("{n}000, 1000, {}, 0\n", u32::from(n <= 2));
    let trace = tried("mix_bw.1.log", &(1..60).map(row).collect::<String>()).expect("a log");
    assert!(moved(&trace, SegmentOp::Write) > 1.9 * 1_024_000.0);
    // Writing that begins later begins later.
    let rows: String = (1..60)
        .map(|n| {
            format!(
                "{n}000, 1000, 0, 0\n{}",
                if n > 20 { format!("{n}000, 1000, 1, 0\n") } else { String::new() }
            )
        })
        .collect();
    let trace = tried("mix_bw.1.log", &rows).expect("a log");
    assert!(moved(&trace, SegmentOp::Read) > 58.0 * 1_024_000.0);
}

/// Goal: reports of fio in a document of another program are read, each as a run, wherever in it they stand.
#[test]
fn reports_in_other_documents_are_runs() {
    let run = |n: u64| {
        report_at(
            1_795_340_460 + 70 * n,
            "jobs",
            &[job("w", "\"rw\":\"write\"", "write", 60_000_000_000, 60.0)],
        )
    };
    let list = format!(
        "[{}]",
        (0..3).map(|n| format!("{{\"qd\":{n},\"result\":{}}}", run(n))).collect::<Vec<_>>().join(",\n")
    );
    let trace = read(&list);
    assert_eq!((trace.phases.len(), speeds(&trace)), (3, vec![1000.0; 3]));
    assert_eq!((trace.phases[1].start_s, trace.phases[2].start_s), (70.0, 140.0));
    let inventory: Vec<String> = (0..4000).map(|n| format!("{{\"id\":{n},\"text\":\"{{[\\\"\"}}")).collect();
    let behind = format!("{{\"inventory\":[\n{}],\n\"fio\":{}}}", inventory.join(",\n"), run(0));
    assert!(behind.len() > 100_000);
    assert_eq!(speeds(&read(&behind)), [1000.0]);
    // States of one run that a program put into a list are one run.
    let state = |n: u64| {
        report_at(
            1_795_340_400 + n,
            "jobs",
            &[job("w", "\"rw\":\"write\"", "write", n * 1_000_000_000, n as f64)],
        )
    };
    let states = format!("[{}]", (1..9).map(state).collect::<Vec<_>>().join(","));
    let trace = read(&states);
    assert_eq!((trace.phases.len(), speeds(&trace)), (1, vec![1000.0; 8]));
    // JSON of something else is named as that, however long it is.
    let other = format!("{{\"inventory\":[\n{}]}}", inventory.join(",\n"));
    let why = tried("run.json", &other).expect_err("no log");
    assert!(why.contains("it is JSON, but not of fio") && !why.contains("cut short"), "{why}");
}

#[test]
fn what_all_clients_did_is_read_where_nothing_else_is() {
    let all = job("All clients", "", "write", 10_000_000_000, 10.0);
    let one = |host: &str| {
        job("w", "\"rw\":\"write\"", "write", 5_000_000_000, 10.0)
            .replace("\"groupid\"", &format!("\"hostname\":\"{host}\",\"groupid\""))
    };
    assert_eq!(
        speeds(&read(&report_at(1_795_340_460, "client_stats", std::slice::from_ref(&all)))),
        [1000.0]
    );
    let trace = read(&report_at(1_795_340_460, "client_stats", &[one("a"), one("b"), all]));
    assert_eq!((speeds(&trace), trace.phases[0].what.as_str()), (vec![1000.0], "rw=write, in 2 jobs"));
}
