//! iostat, sar and sadf as their versions, options and locales write them. Tables are composed here in the form that the
//! sources of sysstat (iostat.c, pr_stats.c, sadf_misc.c) and its own expected outputs have.

use import::{ImportOptions, LogFile, import};
use trace::caveat::Caveat;
use trace::{SegmentOp, Trace};

const BANNER: &str = "Linux 6.12.0 (host) \t11/22/26 \t_x86_64_\t(2 CPU)\n\n";
const KIB: f64 = 1024.0;

fn tried(text: &str, options: &ImportOptions) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.txt", text.as_bytes())], options).map_err(|error| error.to_string())
}

fn read(text: &str) -> Trace {
    tried(text, &ImportOptions::default()).expect(text)
}

fn refused(text: &str) -> String {
    tried(text, &ImportOptions::default()).expect_err(text)
}

/// Starts in seconds and speeds in bytes per second.
fn of(trace: &Trace, op: SegmentOp) -> Vec<(f64, f64)> {
    let series = trace.speeds.iter().find(|series| series.op == op).expect("a series");
    series.intervals.iter().map(|interval| (interval.start_s, interval.bytes_per_s())).collect()
}

fn written(trace: &Trace) -> Vec<f64> {
    of(trace, SegmentOp::Write).into_iter().map(|(_, speed)| speed).collect()
}

#[test]
fn the_device_may_stand_last() {
    let header = "      tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util DEV";
    let row =
        |time: &str, speed: &str| format!("{time} 6.40 1.60 {speed} 0.00 0.50 0.00 1.00 0.32 nvme0n1\n");
    for [a, b, c] in [
        ["13:20:09", "13:20:10", "13:20:11"],
        ["01:20:09 PM", "01:20:10 PM", "01:20:11 PM"],
        ["CET 01:20:09 م", "CET 01:20:10 م", "CET 01:20:11 م"],
        ["01:20:09 अपराह्न IST", "01:20:10 अपराह्न IST", "01:20:11 अपराह्न IST"],
        ["۱۳:۲۰:۰۹", "۱۳:۲۰:۱۰", "۱۳:۲۰:۱۱"],
    ] {
        let text = format!(
            "{BANNER}{a} {header}\n{}\n{b} {header}\n{}Average: 6.40 1.60 9.00 0.00 0.50 0.00 1.00 0.32 nvme0n1\n",
            row(b, "100.00"),
            row(c, "200.00")
        );
        let trace = read(&text);
        assert_eq!((trace.name.as_str(), written(&trace)), ("nvme0n1", vec![100.0 * KIB, 200.0 * KIB]));
        // The closing rows in another language, a comment and a restart are no rows.
        let other = text
            .replace("Average:", "Durchschn.:")
            .replace(&format!("\n{b} {header}"), &format!("{b}  COM note\n{b} {header}"));
        assert_eq!(written(&read(&other)), written(&trace));
    }
}

/// `iostat -xh`: several tables a report, numbers with units, the device last; as text that users publish has it.
#[test]
fn human_numbers_are_read_with_their_units() {
    let report = |second: u32, write: &str| {
        format!(
            "11/22/26 09:44:0{second}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           2.9%    0.0%    3.5%   10.5%    0.0%   83.1%\n\n\
             \x20    r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n    0.00      0.0k     0.00   0.0%    0.00     0.0k sda\n\n\
             \x20    w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n 2062.00     {write}     0.00   0.0%    0.48    22.5k sda\n\n\
             \x20    f/s f_await  aqu-sz  %util Device\n  576.00    1.30    1.73 100.0% sda\n\n"
        )
    };
    let text = format!(
        "{BANNER}{}{}{}{}",
        report(1, "9.9G"),
        report(2, "617.4M"),
        report(3, "1.5G"),
        report(4, "512B")
    );
    let trace = read(&text);
    assert_eq!(written(&trace), [617.4 * KIB * KIB, 1.5 * KIB * KIB * KIB, 512.0]);
    assert!(trace.notes.iter().any(|note| note.contains("rounded")), "{:?}", trace.notes);
}

/// `iostat -h` before 11.5.1: a long name has a line of its own.
#[test]
fn a_device_on_a_line_of_its_own_belongs_to_the_next() {
    let report = |second: u32, write: u32| {
        format!(
            "11/22/26 09:44:0{second}\nDevice:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\nnvme0n1\n                  1.00         0.00         {write}.00          0          0\n\n"
        )
    };
    let trace = read(&format!("{BANNER}{}{}{}", report(1, 9), report(2, 10), report(3, 20)));
    assert_eq!(written(&trace), [10.0 * KIB, 20.0 * KIB]);
}

fn iostat(banner: &str, times: &[&str]) -> String {
    let report = |time: &&str| {
        format!(
            "{time}\nDevice             tps    kB_read/s    kB_wrtn/s\nsda               1.00         0.00       100.00\n\n"
        )
    };
    format!("{banner}{}", times.iter().map(report).collect::<String>())
}

#[test]
fn times_of_iostat_are_those_of_any_locale_and_go_over_midnight() {
    for times in [
        ["Time: 11:58:00 PM", "Time: 11:59:00 PM", "Time: 12:00:00 AM", "Time: 12:01:00 AM"],
        ["Time: 11:58 PM", "Time: 11:59 PM", "Time: 12:00 AM", "Time: 12:01 AM"],
        ["Time: 23:58:00", "Time: 23:59:00", "Time: 00:00:00", "Time: 00:01:00"],
        [
            "11/22/2026 11:58:00 PM",
            "11/22/2026 11:59:00 PM",
            "11/23/2026 12:00:00 AM",
            "11/23/2026 12:01:00 AM",
        ],
        ["22/11/26 23:58:00", "22/11/26 23:59:00", "23/11/26 00:00:00", "23/11/26 00:01:00"],
        ["03/04/2026 23:58:00", "03/04/2026 23:59:00", "04/04/2026 00:00:00", "04/04/2026 00:01:00"],
        ["12/11/2026 23:58:00", "12/11/2026 23:59:00", "13/11/2026 00:00:00", "13/11/2026 00:01:00"],
        ["22.11.2026 23:58:00", "22.11.2026 23:59:00", "23.11.2026 00:00:00", "23.11.2026 00:01:00"],
        ["22-11-2026 23:58:00", "22-11-2026 23:59:00", "23-11-2026 00:00:00", "23-11-2026 00:01:00"],
        [
            "2026-11-22T23:58:00+0100",
            "2026-11-22T23:59:00+0100",
            "2026-11-23T00:00:00+0100",
            "2026-11-23T00:01:00+0100",
        ],
        [
            "2026年11月22日 23时58分00秒",
            "2026年11月22日 23时59分00秒",
            "2026年11月23日 00时00分00秒",
            "2026年11月23日 00时01分00秒",
        ],
    ] {
        let trace = read(&iostat(BANNER, &times));
        let starts: Vec<f64> = of(&trace, SegmentOp::Write).into_iter().map(|(start_s, _)| start_s).collect();
        assert_eq!(starts, [0.0, 60.0, 120.0], "{times:?}");
    }
}

#[test]
fn times_without_seconds_need_the_interval() {
    let text = iostat(BANNER, &["Time: 11:58 PM"; 4]);
    assert!(refused(&text).contains("--every 1s"), "{}", refused(&text));
    let spaced = ImportOptions { every_s: Some(10.0), ..ImportOptions::default() };
    assert_eq!(written(&tried(&text, &spaced).expect("spaced reports")).len(), 3);
}

#[test]
fn one_report_is_no_series() {
    for text in
        [iostat(BANNER, &["11/22/26 09:44:02"]), iostat(BANNER, &[""]), iostat(BANNER, &[""]).repeat(3)]
    {
        assert!(refused(&text).contains("only the first report of iostat"), "{}", refused(&text));
    }
    let json =
        r#"{"sysstat": {"hosts": [{"statistics": [{"disk": [{"disk_device": "sda", "wkB/s": 5.0}]}]}]}}"#;
    assert!(refused(json).contains("only the first report of iostat"), "{}", refused(json));
    // Of two recordings, each has a first report.
    let two = iostat(BANNER, &["11/22/26 09:44:02", "11/22/26 09:44:03", "11/22/26 09:44:04"])
        .repeat(2)
        .replacen("09:44:0", "08:44:0", 3);
    assert_eq!(written(&read(&two)).len(), 4);
}

fn sar(date: &str, times: [&str; 3]) -> String {
    let banner = BANNER.replace("11/22/26", date);
    let rows: String = times.iter().map(|time| format!("{time} sda 1.00 0.00 100.00 0.00\n")).collect();
    format!("{banner}23:50:00          DEV       tps     rkB/s     wkB/s     dkB/s\n{rows}\n")
}

#[test]
fn dates_of_sar_are_those_of_any_locale() {
    let times = ["23:58:00", "23:59:00", "00:00:00"];
    let from_s = |date: &str| {
        let log = sar(date, times);
        // 2026-11-22 23:58:00, local, as HWiNFO tells it.
        let other = "Date,Time,\"Drive Temperature [°C]\",\r\n22.11.2026,23:58:00.000,40,\r\n22.11.2026,23:59:00.000,41,\r\n";
        let files = vec![
            LogFile::from_bytes("log.txt", log.as_bytes()),
            LogFile::from_bytes("t.csv", other.as_bytes()),
        ];
        let trace = import(files, &ImportOptions::default()).map_err(|error| error.to_string()).expect(date);
        of(&trace, SegmentOp::Write)[0].0 - trace.temperatures[0].kelvin.points()[0].t.as_secs_f64()
    };
    for date in ["11/22/26", "11/22/2026", "22/11/2026", "22/11/26", "22.11.2026", "2026-11-22", "22-11-2026"]
    {
        assert_eq!(from_s(date), -60.0, "{date}");
    }
    // Days one after the other: the second banner names the next.
    let days = sar("03/04/2026", ["23:57:00", "23:58:00", "23:59:00"])
        + &sar("04/04/2026", ["00:00:00", "00:01:00", "00:02:00"]);
    let trace = read(&days);
    assert_eq!(of(&trace, SegmentOp::Write).last().map(|(start_s, _)| *start_s), Some(300.0));
}

#[test]
fn drives_behind_much_else_are_found() {
    let mut text = BANNER.to_owned();
    text.push_str(
        "00:00:01        CPU      %usr     %nice      %sys   %iowait    %steal      %irq     %idle\n",
    );
    (0..2000).for_each(|_| {
        text.push_str(
            "00:10:01        all      1.37      0.00      1.72      0.15      0.00      0.00     96.76\n",
        )
    });
    assert!(text.len() > 100_000);
    let none = refused(&text);
    assert!(none.contains("without drives"), "{none}");
    text.push_str("\n00:00:01  DEV tps rkB/s wkB/s\n00:10:01 sda 1.00 0.00 100.00\n00:20:01 sda 1.00 0.00 200.00\n00:30");
    let trace = read(&text);
    assert_eq!(written(&trace), [100.0 * KIB, 200.0 * KIB]);
    assert!(matches!(trace.caveats[0], Caveat::Truncated { .. }), "{:?}", trace.caveats);
}

#[test]
fn tables_of_sadf_are_read() {
    let database = "# hostname;interval;timestamp;CPU;%user\nhost;1;2026-11-22 08:44:01 UTC;-1;0.01\n\
        # hostname;interval;timestamp;DEV;tps;rd_sec/s;wr_sec/s;avgrq-sz;avgqu-sz;await;svctm;%util\n\
        host;-1;2026-11-22 08:44:01 UTC;LINUX-RESTART\t(8 CPU)\n\
        host;1;2026-11-22 08:44:02 UTC;dev259-0;0.36;0.56;100;11.45;0.00;2.12;1.99;0.07\n\
        host;1;2026-11-22 08:44:03 UTC;dev259-0;0,36;0,56;200,5;11,45;0,00;2,12;1,99;0,07\n";
    let pairs = "host\t1\t2026-11-22 08:44:02 UTC\tall\t%user\t0.65\nhost\t1\t2026-11-22 08:44:02 UTC\tdev259-0\ttps\t0.00\n\
        host\t1\t2026-11-22 08:44:02 UTC\tdev259-0\twr_sec/s\t100\nhost\t1\t1795337043\tdev259-0\twr_sec/s\t200.5\n";
    for text in [database, pairs] {
        let trace = read(text);
        assert_eq!((trace.name.as_str(), written(&trace)), ("dev259-0", vec![51_200.0, 102_656.0]));
    }
    assert!(
        refused("# hostname;interval;timestamp;CPU;%user\nhost;1;2026-11-22 08:44:01 UTC;-1;0.01\n")
            .contains("without drives")
    );
}

/// A log that was cut at its beginning, as `tail` and rotated files are: the first line with the date is gone, and perhaps
/// the header of the first table.
#[test]
fn a_log_without_its_beginning_is_read() {
    let header = "         DEV       tps     rkB/s     wkB/s     %util";
    let row =
        |s: u32, speed: u32| format!("12:00:0{s} AM   nvme0n1      5.00      0.00   {speed}.00      1.00\n");
    for begin in [format!("12:00:01 AM{header}\n"), row(1, 9), "\n".to_owned()] {
        let tables: String = (2..6).map(|s| format!("{}\n12:00:0{s} AM{header}\n", row(s, 100))).collect();
        let text = format!("{begin}{tables}");
        let first = usize::from(begin.contains("DEV"));
        assert_eq!(written(&read(&text)), vec![100.0 * KIB; 3 + first], "{text}");
    }
    // Many tables of other things before that of drives.
    let cpu = "12:00:01 AM     CPU     %user     %idle\n12:00:02 AM     all      1.00     99.00\n\n";
    let text = format!("{cpu}12:00:01 AM{header}\n{}{}", row(2, 100), row(3, 100));
    assert_eq!(written(&read(&text)).len(), 2);
}

#[test]
fn the_sum_of_a_group_is_no_drive() {
    let report = |s: u32| {
        format!(
            "11/22/2026 09:40:0{s}\nDevice tps kB_read/s kB_wrtn/s\nsda 10.00 0.00 100.00\n ALL 10.00 0.00 100.00\n\n"
        )
    };
    let trace = read(&format!("{BANNER}{}", (0..5).map(report).collect::<String>()));
    assert_eq!((trace.name.as_str(), written(&trace).len()), ("sda", 4));
}

/// `iostat -x 1 | ts`: a time in any of its formats before each line, and more of them than are looked at to tell the format.
#[test]
fn times_that_ts_puts_before_each_line_are_those_of_the_reports() {
    let header = "Device            r/s     rkB/s     w/s     wkB/s  %util";
    type Time = fn(u32) -> String;
    let formats: [Time; 7] = [
        |s| format!("Nov 22 09:{:02}:{:02}", 40 + s / 60, s % 60),
        |s| format!("09:{:02}:{:02}", 40 + s / 60, s % 60),
        |s| format!("{}", 1_795_340_400 + s),
        |s| format!("{}.250000", 1_795_340_400 + s),
        |s| format!("2026-11-22T09:{:02}:{:02}+0000", 40 + s / 60, s % 60),
        |s| format!("2026-11-22 09:{:02}:{:02},", 40 + s / 60, s % 60),
        |s| format!("[2026-11-22 09:{:02}:{:02}]", 40 + s / 60, s % 60),
    ];
    for time in formats {
        let report = |s: u32| {
            let now = time(s);
            format!("{now} {header}\n{now} nvme0n1 0.00 0.00 9.00 {}.00 9.00\n{now} \n", 100 + s)
        };
        let reports: String = (0..900).map(report).collect();
        for banner in [format!("{} {}", time(0), BANNER.trim()), String::new()] {
            let trace = read(&format!("{banner}\n{reports}"));
            let speeds = written(&trace);
            assert_eq!(
                (speeds.len(), speeds[0], speeds[898]),
                (899, 101.0 * KIB, 999.0 * KIB),
                "{}",
                time(0)
            );
        }
    }
}

/// A drive that is reached on two ways is counted on each and as a whole.
#[test]
fn a_path_of_a_drive_is_no_other_drive() {
    let row = |s: u32| {
        format!(
            "11/22/26 09:40:{s:02}\nDevice r/s rkB/s w/s wkB/s %util\nnvme0c0n1 0.00 0.00 9.00 100.00 9.00\nnvme0n1 0.00 0.00 9.00 100.00 9.00\n\n"
        )
    };
    let trace = read(&format!("{BANNER}{}", (0..9).map(row).collect::<String>()));
    assert_eq!((trace.name.as_str(), written(&trace).len()), ("nvme0n1", 8));
}

#[test]
fn all_drives_in_a_row_of_sadf_are_told_apart() {
    let row =
        |s: u32| format!("h;1;2026-11-22 10:00:0{s} UTC;2;nvme0n1;10.0;0.00;100.00;0.00;sda;1;0;0.5;0\n");
    let text = format!(
        "# hostname;interval;timestamp;DEV[...];tps[...];rkB/s[...];wkB/s[...];dkB/s[...]\n{}",
        (0..9).map(row).collect::<String>()
    );
    let trace = read(&text);
    assert_eq!((trace.name.as_str(), written(&trace)), ("nvme0n1", vec![100.0 * KIB; 9]));
}

#[test]
fn a_sum_of_reading_and_writing_is_refused_as_that() {
    let row = |s: u32| {
        format!(
            "11/22/26 09:40:{s:02}\nDevice tps kB/s rqm/s await areq-sz aqu-sz %util\nnvme0n1 9.00 900.00 0.00 1.00 128.00 1.0 9.00\n\n"
        )
    };
    let why = refused(&format!("{BANNER}{}", (0..9).map(row).collect::<String>()));
    assert!(why.contains("reading and writing together (-s)") && why.contains("iostat -x -t 1"), "{why}");
}

/// Goal: a drive that waits for work is not slow. Method: the same fall of speed, once with the drive busy and once without, as iostat,
/// sar and `sadf -j` tell it.
#[test]
fn a_drive_that_is_hardly_busy_was_asked_for_less() {
    let ops = |text: &str| {
        let phases = read(text).phases;
        phases.iter().map(|phase| (phase.op, phase.start_s, phase.end_s)).collect::<Vec<_>>()
    };
    let second = |s: usize| format!("{:02}:{:02}:{:02}", 10 + s / 3600, s / 60 % 60, s % 60);
    let load =
        |s: usize, slow_util: f64| if (30..60).contains(&s) { (50_000.0, slow_util) } else { (1e6, 99.9) };
    let iostat = |slow_util: f64| {
        let report = |s: usize| {
            let (wkb, util) = load(s, slow_util);
            format!(
                "11/22/26 {}\nDevice            r/s     rkB/s     w/s     wkB/s  aqu-sz  %util\nnvme0n1          0.00      0.00  900.00 {wkb:10.2}    8.00 {util:6.2}\n\n",
                second(s)
            )
        };
        // The first report is the average since the machine was started.
        format!("{BANNER}{}{}", report(0), (1..91).map(report).collect::<String>())
    };
    use SegmentOp::{Idle, Write};
    assert_eq!(ops(&iostat(0.8)), [(Write, 0.0, 29.0), (Idle, 29.0, 59.0), (Write, 59.0, 90.0)]);
    assert_eq!(ops(&iostat(99.0)), [(Write, 0.0, 90.0)]);
    let note = "for 30 s less was asked of the drive";
    assert!(read(&iostat(0.8)).notes.iter().any(|told| told.contains(note)));
    let sar = |slow_util: f64| {
        let header = "          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util";
        let row = |s: usize| {
            let (wkb, util) = load(s, slow_util);
            format!(
                "{}   nvme0n1    900.00      0.00 {wkb:9.2}    128.00      8.00      0.10 {util:9.2}\n",
                second(s)
            )
        };
        format!("{BANNER}{} {header}\n{}", second(0), (1..91).map(row).collect::<String>())
    };
    assert_eq!(ops(&sar(0.8)), [(Write, 0.0, 29.0), (Idle, 29.0, 59.0), (Write, 59.0, 90.0)]);
    assert_eq!(ops(&sar(99.0)), [(Write, 0.0, 90.0)]);
}

/// `iostat -x -t -o JSON 1 | jq -c '.sysstat.hosts[0].statistics[]'`, and the list of them.
#[test]
fn reports_that_were_taken_out_of_their_recording_are_read() {
    let report = |s: u32, speed: u32| {
        format!(
            r#"{{"timestamp": "04/27/2026 06:10:{s:02} AM", "disk": [{{"disk_device": "nvme0n1", "w/s": 6.0, "wkB/s": {speed}.00, "util": 99.0}}]}}"#
        )
    };
    let reports: Vec<String> = (0..5).map(|s| report(s, 1000 * s)).collect();
    for text in [reports.join("\n"), format!("[{}]", reports.join(",\n"))] {
        assert_eq!(written(&read(&text)), [1.0, 2.0, 3.0, 4.0].map(|mb| mb * 1000.0 * KIB), "{text}");
    }
}

/// Goal: times are read as any country writes them. Method: the stamps of `iostat -t` and the rows of `sar -d` below `%x` and `%X` of
/// glibc's locales, each a second after the other.
#[test]
fn times_are_those_of_the_locale() {
    for stamp in [
        |s: u32| format!("14/03/26 03:20:{s:02} PM IST"),
        |s| format!("2026년 03월 14일 15시 20분 {s:02}초"),
        |s| format!("14. 03. 26 15:20:{s:02}"),
        |s| format!("14. 03. 2026 15:20:{s:02}"),
        |s| format!("Saturday, March 14, 2026 PM03:20:{s:02} CET"),
    ] as [fn(u32) -> String; 5]
    {
        let report = |s: u32| {
            format!(
                "{}\nDevice            r/s     rkB/s     w/s     wkB/s  %util\nnvme0n1 1.00 0.00 9.00 9000.00 9.00\n\n",
                stamp(s)
            )
        };
        let trace = read(&format!("{BANNER}{}", (0..9).map(report).collect::<String>()));
        let rows = of(&trace, SegmentOp::Write);
        assert!(rows.len() >= 7 && (rows[6].0 - rows[5].0 - 1.0).abs() < 1e-6, "{}: {rows:?}", stamp(0));
    }
    for (day, time) in [
        ("14/03/26", |s: u32| format!("03:20:{s:02} PM IST")),
        ("2026년 03월 14일", |s| format!("15시 20분 {s:02}초")),
    ] as [(&str, fn(u32) -> String); 2]
    {
        let row = |s: u32| format!("{} nvme0n1 9.00 0.00 9000.00 0.00 9.00\n", time(s));
        let text = format!(
            "Linux 6.8.0 (box) \t{day} \t_x86_64_\t(16 CPU)\n\n{} DEV tps rkB/s wkB/s dkB/s %util\n{}",
            time(0),
            (1..9).map(row).collect::<String>()
        );
        let trace = read(&text);
        assert_eq!(written(&trace)[3], 9000.0 * KIB, "{day}");
    }
}
