//! Logs as people have them: one load of 1500 and then 500 MB/s in many formats, languages and code pages.
//!
//! Goal: speeds, spans and temperatures are those of the load, however they are written. Method: the same 60 rows in each.

use encoding_rs::{GBK, WINDOWS_1251, WINDOWS_1252};
use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

const ROWS: u32 = 60;

/// MB/s written in the second before a row, or from it on.
fn speed(n: u32) -> u32 {
    if n < 30 { 1500 } else { 500 }
}

fn heat(n: u32) -> u32 {
    40 + n / 2
}

fn time(n: u32) -> String {
    format!("09:40:{n:02}")
}

fn tried(bytes: &[u8], every_s: Option<f64>) -> Result<Trace, String> {
    let options = ImportOptions { every_s, ..ImportOptions::default() };
    import(vec![LogFile::from_bytes("log.csv", bytes)], &options).map_err(|error| error.to_string())
}

fn refused(text: &str) -> String {
    tried(text.as_bytes(), None).expect_err(text)
}

fn all(row: impl Fn(u32) -> String) -> String {
    (0..ROWS).map(row).collect()
}

/// Checks the writes, of which the first `lost` rows are left out, and the temperatures where there are any.
fn check(name: &str, bytes: &[u8], lost: u32, has_heat: bool) -> Trace {
    let trace = tried(bytes, None).unwrap_or_else(|why| panic!("{name}: {why}"));
    let writes = trace.speeds.iter().find(|series| series.op == SegmentOp::Write).expect(name);
    assert_eq!(writes.intervals.len(), (ROWS - lost) as usize, "{name}");
    for (n, interval) in (lost..).zip(&writes.intervals) {
        let (at_s, expected) = (f64::from(n - lost), f64::from(speed(n)) * 1e6);
        assert!(
            (interval.start_s - at_s).abs() < 1e-3 && (interval.span_s - 1.0).abs() < 1e-3,
            "{name}, row {n}"
        );
        assert!(
            (interval.bytes_per_s() / expected - 1.0).abs() < 0.002,
            "{name}, row {n}: {}",
            interval.bytes_per_s()
        );
    }
    let read = trace.speeds.iter().filter(|series| series.op == SegmentOp::Read);
    assert!(read.flat_map(|series| &series.intervals).all(|interval| interval.bytes == 0.0), "{name}");
    assert_eq!(trace.temperatures.is_empty(), !has_heat, "{name}");
    if has_heat {
        let points = trace.temperatures[0].kelvin.points();
        assert_eq!(points.len(), ROWS as usize, "{name}");
        let is_told =
            |(n, point): (u32, &measure::Point<f64>)| (point.value - f64::from(heat(n)) - 273.0).abs() < 0.6;
        assert!((0..).zip(points).all(is_told), "{name}");
    }
    trace
}

#[test]
fn a_table_of_ones_own_is_read_however_its_times_are_written() {
    let rows = |titles: &str, first: &dyn Fn(u32) -> String| {
        format!("{titles}\n{}", all(|n| format!("{},{},{}\n", first(n), speed(n), heat(n))))
    };
    let midnight = |n: u32| {
        format!("{:02}:{:02}:{:02}", (23 + (n + 30) / 60) % 24, (59 + (n + 30) / 60) % 60, (n + 30) % 60)
    };
    for (titles, first) in [
        ("t_s,write_mb_per_s,temp_c", &(|n| format!("2026-11-22T{}Z", time(n))) as &dyn Fn(u32) -> String),
        ("t_s,write_mb_per_s,temp_c", &|n| format!("2026-11-22T{}+09:00", time(n))),
        ("timestamp,write_mb_per_s,temp_c", &|n| format!("{}", 1_795_340_400 + n)),
        ("time,write_MBps,temp_c", &|n| format!("{}", 1_795_340_400_000_u64 + u64::from(n) * 1000)),
        ("Date,Time,Write (MB/s),Temp (°C)", &|n| format!("22.11.2026,{}", time(n))),
        ("date,time,write_MBps,temp_c", &|n| format!("11/22/2026,{} AM", time(n))),
        ("elapsed_ms,write_MBps,temperature_celsius", &|n| format!("{}", 1000 * n)),
        ("time,write_MBps,temp_c", &midnight),
    ] {
        check(titles, rows(titles, first).as_bytes(), 0, true);
    }
    let newest_first: String =
        (0..ROWS).rev().map(|n| format!("2026-11-22 {},{},{}\n", time(n), speed(n), heat(n))).collect();
    check("newest first", format!("timestamp,write_MBps,temp_c\n{newest_first}").as_bytes(), 0, true);
}

#[test]
fn a_table_of_ones_own_is_read_however_its_numbers_are_written() {
    let mark = "\u{202f}";
    let grouped = |n: u32, mark: &str| if n < 30 { format!("1{mark}500,5") } else { "500,5".to_owned() };
    let semicolons = format!(
        "t_s;write_mb_per_s;temp_c\r\n{}",
        all(|n| format!("{n},0;{},0;{},0\r\n", speed(n), heat(n)))
    );
    check("semicolons", semicolons.as_bytes(), 0, true);
    let german = format!(
        "Zeit;Schreiben (MB/s);Temperatur (°C)\r\n{}",
        all(|n| format!("22.11.2026 {};{};{},0\r\n", time(n), grouped(n, "."), heat(n)))
    );
    check("a spreadsheet's", &WINDOWS_1252.encode(&german).0, 0, true);
    let tabs = format!(
        "time (s)\tWrite (MB/s)\ttemp (°C)\t\n{}",
        all(|n| format!("{n}\t{}\t{}\t\n", grouped(n, mark), heat(n)))
    );
    check("tabs, narrow blanks, one at the end", tabs.as_bytes(), 0, true);
    let fahrenheit =
        all(|n| format!("{n},{},{:.1}\n", f64::from(speed(n)) / 1000.0, f64::from(heat(n)) * 1.8 + 32.0));
    let utf16: Vec<u8> = format!("\u{feff}t_s,write_GB_s,temperature_f\n{fahrenheit}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    check("UTF-16, °F", &utf16, 0, true);
    let kelvin = format!(
        "t_s,write_mib_per_s,temp_k\n{}",
        all(|n| format!("{n},{:.3},{}\n", f64::from(speed(n)) / 1.048_576, heat(n) + 273))
    );
    check("MiB/s, K", kelvin.as_bytes(), 0, true);
    let others = format!(
        ",timestamp,iops,write_MBps,latency_ms,temp_C,note\n{}",
        all(|n| format!("{n},2026-11-22 {},400,{},1.2,{},x\n", time(n), speed(n), heat(n)))
    );
    let trace = check("other columns", others.as_bytes(), 0, true);
    assert!(
        trace.notes.iter().any(|note| note.ends_with("passed over: iops, latency_ms, note")),
        "{:?}",
        trace.notes
    );
    // Whether 1.500 is a thousand is told by another number, or it is not.
    let open = "t_s;write_mb_per_s\n0;1.500\n1;2.000\n";
    assert!(
        (tried(open.as_bytes(), None).expect("decimals").speeds[0].intervals[0].bytes - 1.5e6).abs() < 1.0
    );
    let told = tried(format!("{open}2;400,5\n").as_bytes(), None).expect("thousands");
    assert!((told.speeds[0].intervals[0].bytes - 1.5e9).abs() < 1.0);
    let missing = "t_s,write_mb_per_s,temp_c\n0,100,40\n1,N/A,-\n2,NaN,null\n3,100,41\n";
    let trace = tried(missing.as_bytes(), None).expect("missing readings");
    assert_eq!(
        (trace.temperatures[0].kelvin.gaps().len(), trace.temperatures[0].kelvin.points().len()),
        (1, 2)
    );
}

#[test]
fn a_refusal_of_a_table_says_what_to_write() {
    for (text, told) in [
        (
            "time_minutes,temperature_celsius,throughput_mbps\n0,40,5\n",
            "rename it \"read throughput_mbps\" or \"write throughput_mbps\"",
        ),
        ("time_s,temp_c,write_mbps\n0,40,5\n", "may be of bytes or of bits"),
        ("t_s,write,temp_c\n0,1500,40\n", "write it behind the title, such as \"write (MB/s)\""),
        ("elapsed,write_MBps\n0,5\n1,5\n", "call the column t_s (seconds), time_ms"),
        (
            "timestamp,write_MBps\n2026-11-22 09:40:00,5\n2026-11-22 09:40:00,6\n",
            "write it with seconds or milliseconds",
        ),
        ("time_s,nvme0_write_MBps,nvme1_write_MBps\n0,5,5\n", "name one with --device"),
        ("time,write,temp\n2026-11-22 09:40:00,1500,40\n2026-11-22 09:40:01,1500,40\n", "is it in MB/s?"),
        ("t_s write_mb_per_s temp_c\n0 5 40\n", "separated by blanks"),
        ("time,write,temp\n0,1500,40\n1,1500,40\n", "such as \"write (MB/s)\""),
        ("Time,write,temp\n09:40:00,1600 MB/s,40\n09:40:01,1600 MB/s,40\n", "such as \"temp (°C)\""),
        ("Time,Write (MB/s),temp (°C)\n0,1600,40\n1,1600,40\n", "call the column t_s (seconds)"),
    ] {
        let why = refused(text);
        assert!(why.contains(told), "{text}: {why}");
    }
}

#[test]
fn hwinfo_is_read_in_other_languages_and_code_pages() {
    let table = |titles: &str, date: &str, separator: char, decimals: &str| {
        let rows = all(|n| {
            [
                date.to_owned(),
                format!("{}.123", time(n)),
                format!("8000{decimals}"),
                format!("{}", heat(n)),
                "Nein".into(),
                format!("0{decimals}"),
                format!("{}{decimals}", speed(n)),
                String::new(),
            ]
            .join(&separator.to_string())
                + "\r\n"
        });
        format!("{titles}\r\n{rows}")
    };
    let german = "Date,Time,\"DRAM-Lesebandbreite [GB/s]\",\"Laufwerkstemperatur [°C]\",\"Laufwerksfehler [Ja/Nein]\",\"Leserate [MB/s]\",\"Schreibrate [MB/s]\",";
    check("German", &WINDOWS_1252.encode(&table(german, "22.11.2026", ',', ".000")).0, 0, true);
    let semicolons = german.replace(',', ";").replace("Date;Time", "Datum;Uhrzeit");
    check("with semicolons", &WINDOWS_1252.encode(&table(&semicolons, "22.11.2026", ';', ",000")).0, 0, true);
    let russian = "Date,Time,\"x [GB/s]\",\"Температура диска [°C]\",\"x [y]\",\"Скорость чтения [MB/s]\",\"Скорость записи [MB/s]\",";
    check("Russian", &WINDOWS_1251.encode(&table(russian, "22.11.2026", ',', ".000")).0, 0, true);
    let chinese =
        "Date,Time,\"x [GB/s]\",\"驱动器温度 [℃]\",\"x [y]\",\"读取速率 [MB/s]\",\"写入速率 [MB/s]\",";
    check("Chinese", &GBK.encode(&table(chinese, "2026-11-22", ',', ".000")).0, 0, true);
    let japanese = "日付,時刻,\"x [GB/s]\",\"ドライブ温度 [°C]\",\"x [y]\",\"読み取り速度 [MB/s]\",\"書き込み速度 [MB/s]\",";
    check("Japanese", table(japanese, "2026/11/22", ',', ".000").as_bytes(), 0, true);
    let saved_again =
        "Date,Time,x [GB/s],Drive Temperature [°C].1,x [y],Read Rate [MB/s].1,Write Rate [MB/s].1,";
    check("saved again by a program", table(saved_again, "22.11.2026", ',', ".000").as_bytes(), 0, true);
}

#[test]
fn libre_hardware_monitor_is_read() {
    let rows = all(|n| format!("11/22/2026 {},1.5,{},85,0,{}000000\n", time(n), heat(n), speed(n)));
    let text = format!(
        ",/intelcpu/0/load/0,/nvme/0/temperature/0,/nvme/0/temperature/10,/nvme/0/throughput/54,/nvme/0/throughput/55\nTime,\"CPU Total\",\"Temperature\",\"Critical Temperature\",\"Read Rate\",\"Write Rate\"\n{rows}"
    );
    let trace = check("hardware monitor", text.as_bytes(), 0, true);
    assert_eq!((trace.name.as_str(), trace.temperatures.len()), ("nvme/0", 1));
}

#[test]
fn csv_of_dstat_is_read() {
    let begin = "\"Dstat 0.7.4 CSV output\"\n\"Author:\",\"Dag Wieers\",,,,\"URL:\",\"x\"\n\"Host:\",\"h\",,,,\"User:\",\"root\"\n\"Cmdline:\",\"dstat -tdD nvme0n1 --output x.csv\",,,,\"Date:\",\"22 Nov 2026 09:40:00 CET\"\n\n";
    let named = format!(
        "{begin}\"system\",\"total cpu usage\",,\"dsk/nvme0n1\",\n\"time\",\"usr\",\"sys\",\"read\",\"writ\"\n{}",
        all(|n| format!("22-11 {},1.0,1.0,0.0,{}000000.0\n", time(n), speed(n)))
    );
    check("with times", named.as_bytes(), 1, false);
    let epoch = format!(
        "\"pcp-dstat 5.3.6 CSV output\"\n\"Author:\",\"PCP\"\n\"Cmdline:\",\"pcp-dstat --epoch\",,,,\"Date:\",\"22 Nov 2026\"\n\"epoch\",\"dsk/nvme0n1\",,\"dsk/sda\",\n\"epoch\",\"dsk/nvme0n1:read\",\"dsk/nvme0n1:writ\",\"dsk/sda:read\",\"dsk/sda:writ\"\n{}",
        all(|n| format!("{},0,{}000000,0,0\n", 1_795_340_400 + n, speed(n)))
    );
    check("of PCP", epoch.as_bytes(), 1, false);
    let bare = format!(
        "{begin}\"dsk/total\",\n\"read\",\"writ\"\n{}",
        all(|n| format!("0.0,{}000000.0\n", speed(n)))
    );
    let trace = check("without times", bare.as_bytes(), 1, false);
    assert!(trace.notes.iter().any(|note| note.contains("dstat -T")), "{:?}", trace.notes);
    assert!(trace.notes.iter().any(|note| note.contains("all drives together")), "{:?}", trace.notes);
    let slower = tried(bare.as_bytes(), Some(5.0)).expect("five seconds").end_s();
    assert!((slower - 295.0).abs() < 1e-6, "{slower}");
}

#[test]
fn annotated_csv_of_influxdb_is_read() {
    let head = |last: &str| {
        format!(
            "#group,false,false,true,true,false,false,true,true,true,true\n#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,long,string,string,string,string\n#default,_result,,,,,,,,,\n,result,table,_start,_stop,_time,_value,_field,_measurement,host,{last}\n"
        )
    };
    let row = |n: u32, value: u64, rest: &str| {
        format!(",,0,2026-11-22T09:00:00Z,2026-11-22T10:00:00Z,2026-11-22T{}Z,{value},{rest}\n", time(n))
    };
    let moved = |n: u32| (0..=n).map(|n| u64::from(speed(n)) * 1_000_000).sum::<u64>();
    let text = format!(
        "{}{}\n{}{}",
        head("name"),
        all(|n| row(n, moved(n), "write_bytes,diskio,h,nvme0n1")),
        head("device"),
        all(|n| row(n, u64::from(heat(n)), "temp_c,smart_device,h,nvme0"))
    );
    check("annotated", text.as_bytes(), 1, true);
    let rates = format!(
        "{}{}",
        head("name"),
        all(|n| row(n, if n % 2 == 0 { 5 } else { 4 }, "write_bytes,diskio,h,nvme0n1"))
    );
    assert!(refused(&rates).contains("are they rates"), "{}", refused(&rates));
}

/// Goal: a drive that is left out of a report moved nothing. Method: ten reports without it, in text and in JSON.
#[test]
fn reports_without_a_drive_count_as_idle() {
    let report = |n: u32| {
        let row = if (20..30).contains(&n) {
            String::new()
        } else {
            format!("nvme0n1 0.00 0.00 {:.2}\n", f64::from(speed(n)) * 1e6 / 1024.0)
        };
        format!("11/22/26 {}\nDevice r/s rkB/s wkB/s\n{row}\n", time(n))
    };
    let text = format!("Linux 6.8.0 (h) \t11/22/26 \t_x86_64_\t(2 CPU)\n\n{}", all(report));
    let statistics = |n: u32| {
        let disk = if (20..30).contains(&n) {
            String::new()
        } else {
            format!(
                "{{\"disk_device\": \"nvme0n1\", \"rkB/s\": 0, \"wkB/s\": {:.2}}}",
                f64::from(speed(n)) * 1e6 / 1024.0
            )
        };
        format!("{{\"timestamp\": \"11/22/26 {}\", \"disk\": [{disk}]}}", time(n))
    };
    let list: Vec<String> = (0..ROWS).map(statistics).collect();
    let json = format!("{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [{}]}}]}}}}", list.join(","));
    for text in [text, json] {
        let trace = tried(text.as_bytes(), None).expect(&text);
        let writes = trace.speeds.iter().find(|series| series.op == SegmentOp::Write).expect("writes");
        assert_eq!(
            (writes.intervals.len(), writes.intervals.iter().filter(|one| one.bytes == 0.0).count()),
            (59, 10)
        );
        assert!(
            trace.notes.iter().any(|note| note.starts_with("10 of 59 reports leave nvme0n1 out")),
            "{:?}",
            trace.notes
        );
    }
}

/// Goal: a report that is cut off before its drives is no idle one. Method: the text of above, cut behind each of its last bytes.
#[test]
fn a_last_report_that_is_cut_is_not_idle() {
    let report =
        |n: u32| format!("11/22/26 {}\nDevice r/s rkB/s wkB/s\nnvme0n1 0.00 0.00 1000.00\n\n", time(n));
    let text = format!("Linux 6.8.0 (h) \t11/22/26 \t_x86_64_\t(2 CPU)\n\n{}", all(report));
    for end in text.len() - 80..text.len() {
        let trace = tried(&text.as_bytes()[..end], None).expect("all but the last");
        let writes = trace.speeds.iter().find(|series| series.op == SegmentOp::Write).expect("writes");
        assert!(writes.intervals.iter().all(|one| one.bytes > 0.0), "{end}");
    }
}

/// Goal: columns that were joined by time keep their own periods. Method: speeds in every third row, temperatures in every second.
#[test]
fn columns_that_were_joined_by_time_have_rows_of_their_own() {
    let row = |n: u32| {
        let speed = if n.is_multiple_of(3) { "900 MB/s".to_owned() } else { String::new() };
        let heat = if n.is_multiple_of(2) { format!("{} °C", heat(n)) } else { "undefined".to_owned() };
        format!("\"2026-11-22 {}\",\"{speed}\",\"{heat}\"\n", time(n))
    };
    let text = format!("\"Time\",\"nvme0n1 write\",\"nvme0n1 temp\"\n{}", all(row));
    let trace = tried(text.as_bytes(), None).expect("both");
    let bytes: f64 = trace.speeds[0].intervals.iter().map(|one| one.bytes).sum();
    assert_eq!((trace.speeds[0].intervals.len(), bytes), (20, 20.0 * 3.0 * 900e6));
    let kelvin = &trace.temperatures[0].kelvin;
    assert_eq!((kelvin.points().len(), kelvin.gaps().len()), (30, 0));
}

#[test]
fn netdata_counts_in_kib() {
    let rows = all(|n| format!("2026-11-22 {},0,{}\n", time(n), -f64::from(speed(n)) * 1e6 / 1024.0));
    let trace = check("netdata", format!("time,reads,writes\n{rows}").as_bytes(), 0, false);
    assert!(trace.notes.iter().any(|note| note.contains("KiB/s")), "{:?}", trace.notes);
}

#[test]
fn a_drive_that_was_swapped_is_no_drive() {
    let telegraf = all(|n| {
        format!(
            "diskio,name=nvme0n1 write_bytes={}i {t}000000000\nsmart_device,device=nvme0,serial_no=S{} temp_c={}i {t}000000000\n",
            u64::from(n) * 1_000_000,
            n / 30,
            heat(n),
            t = 1_795_340_400 + n
        )
    });
    let series = |serial: &str, from: u32| {
        let values: Vec<String> =
            (from..from + 30).map(|n| format!("[{}, \"{}\"]", 1_795_340_400 + n, heat(n))).collect();
        format!(
            "{{\"metric\": {{\"__name__\": \"smartctl_device_temperature\", \"device\": \"nvme0\", \"temperature_type\": \"current\", \"serial_number\": \"{serial}\"}}, \"values\": [{}]}}",
            values.join(",")
        )
    };
    let prometheus = format!(
        "{{\"status\": \"success\", \"data\": {{\"resultType\": \"matrix\", \"result\": [{},{}]}}}}",
        series("S0", 0),
        series("S1", 30)
    );
    for text in [telegraf, prometheus] {
        for device in [None, Some("nvme0".to_owned())] {
            let options = ImportOptions { device, ..ImportOptions::default() };
            let why = import(vec![LogFile::from_bytes("log", text.as_bytes())], &options)
                .expect_err("two drives")
                .to_string();
            assert!(
                why.contains("S0 from 2026-11-22 09:40:00 UTC")
                    && why.contains("S1 from")
                    && why.contains("was swapped"),
                "{why}"
            );
        }
    }
    let smartctl = all(|n| {
        format!(
            "{{\"smartctl\": {{}}, \"local_time\": {{\"time_t\": {}}}, \"device\": {{\"name\": \"/dev/nvme0\"}}, \"serial_number\": \"S{}\", \"temperature\": {{\"current\": {}}}}}\n",
            1_795_340_400 + n,
            n / 30,
            heat(n)
        )
    });
    let options =
        |device: &str| ImportOptions { device: Some(device.to_owned()), ..ImportOptions::default() };
    let source = || vec![LogFile::from_bytes("s.json", smartctl.as_bytes())];
    let why = import(source(), &options("nvme0")).expect_err("two drives").to_string();
    assert!(why.contains("S1") && why.contains("--device S0"), "{why}");
    assert_eq!(
        import(source(), &options("S1")).expect("one drive").temperatures[0].kelvin.points().len(),
        30
    );
}
