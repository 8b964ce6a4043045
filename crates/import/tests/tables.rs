//! Tables as HWiNFO, Windows and Grafana write them elsewhere than in the United States: other encodings, languages, marks in
//! numbers, and units. The files are composed here; names of counters are those that scripts of each country ask for.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(bytes: &[u8]) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.csv", bytes)], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn read(text: &str) -> Trace {
    tried(text.as_bytes()).expect(text)
}

fn refused(text: &str) -> String {
    tried(text.as_bytes()).expect_err(text)
}

fn speeds(trace: &Trace, op: SegmentOp) -> Vec<f64> {
    let series = trace.speeds.iter().find(|series| series.op == op);
    series.map_or(vec![], |series| series.intervals.iter().map(|one| one.bytes_per_s()).collect())
}

fn utf16(text: &str, with_mark: bool, is_big: bool) -> Vec<u8> {
    let mark = if with_mark { "\u{feff}" } else { "" };
    let units: Vec<u16> = mark.encode_utf16().chain(text.encode_utf16()).collect();
    units.into_iter().flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

const HWINFO: &str = "Date,Time,\"Drive Temperature [°C]\",\"Read Rate [MB/s]\",\"Write Rate [MB/s]\",\r\n\
    22.11.2026,9:40:00.000,45,1.5,0.000,\r\n22.11.2026,9:40:02.000,46,2.5,0.000,\r\n22.11.2026,9:40:04.000,47,3.5,0.000,\r\n";

fn perfmon(object: &str, reading: &str, writing: &str) -> String {
    let path = |instance: &str, name: &str| format!("\"\\\\PC\\{object}({instance})\\{name}\"");
    let (a, b) = (path("0 C:", reading), path("0 C:", writing));
    let row = |s: u32| format!("\"11/22/2026 10:40:0{s}.000\",\"4096.5\",\"160000000{s}\"\r\n");
    format!(
        "\r\n\"(PDH-CSV 4.0) (Mitteleuropäische Zeit)(-60)\",{a},{b}\r\n{}",
        (0..5).map(row).collect::<String>()
    )
}

#[test]
fn tables_in_utf_16_and_with_a_line_for_excel_are_read() {
    let counters = perfmon("PhysicalDisk", "Disk Read Bytes/sec", "Disk Write Bytes/sec");
    let own = "t_s,write_mb_per_s,temp_c\n0,100,40\n1,100,41\n2,100,42\n";
    for text in [HWINFO, counters.as_str(), own] {
        let plain = format!("{:?}", read(text));
        for (with_mark, is_big) in [(true, false), (true, true), (false, false), (false, true)] {
            let trace = tried(&utf16(text, with_mark, is_big)).expect(text);
            assert_eq!(format!("{trace:?}"), plain, "{text} {with_mark} {is_big}");
        }
        for begin in ["sep=,\r\n", "\u{feff}sep=,\r\n", "\"sep=,\"\n", "SEP=,\n"] {
            assert_eq!(format!("{:?}", read(&format!("{begin}{text}"))), plain, "{begin}{text}");
        }
        let both = format!("sep=,\r\n{text}");
        assert_eq!(format!("{:?}", tried(&utf16(&both, true, false)).expect("both")), plain);
    }
    let semicolons = format!("sep=;\n{}", HWINFO.replace(',', ";"));
    assert_eq!(speeds(&read(&semicolons), SegmentOp::Read), speeds(&read(HWINFO), SegmentOp::Read));
}

#[test]
fn counters_are_read_in_the_language_of_the_system() {
    for (object, reading, writing) in [
        ("PhysicalDisk", "Bytes gelesen/s", "Bytes geschrieben/s"),
        ("Physikalischer Datenträger", "Bytes gelesen/s", "Bytes geschrieben/s"),
        ("Disque physique", "Lectures disque, octets/s", "Écritures disque, octets/s"),
        ("Disco físico", "Bytes de lectura de disco/s", "Bytes de escritura en disco/s"),
    ] {
        let text = perfmon(object, reading, writing);
        let western: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin 1")).collect();
        for bytes in [text.as_bytes(), &western] {
            let trace = tried(bytes).expect(&text);
            assert_eq!(trace.name, "0 C:");
            assert_eq!(speeds(&trace, SegmentOp::Read), [4096.5; 5]);
            assert_eq!(speeds(&trace, SegmentOp::Write)[4], 1_600_000_004.0);
        }
    }
    let odd = refused(&perfmon("PhysicalDisk", "Lesetakt", "Schreibtakt"));
    assert!(odd.contains("names in English, German, French"), "{odd}");
}

#[test]
fn volumes_are_read_where_there_is_no_drive() {
    let text = perfmon("LogicalDisk", "Disk Read Bytes/sec", "Disk Write Bytes/sec").replace("0 C:", "C:");
    let trace = read(&text);
    assert_eq!((trace.name.as_str(), speeds(&trace, SegmentOp::Read).len()), ("C:", 5));
    assert!(trace.notes.iter().any(|note| note.contains("LogicalDisk")), "{:?}", trace.notes);
}

fn grafana(separator: char, speeds: &[&str]) -> String {
    let quoted = |cells: &[&str]| {
        cells.iter().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(&separator.to_string())
    };
    let mut text = quoted(&["Time", "nvme0n1 write (MB/s)", "nvme0n1 temperature"]) + "\n";
    for (s, speed) in speeds.iter().enumerate() {
        text += &(quoted(&[&format!("2026-11-22 09:40:0{s}"), speed, "45"]) + "\n");
    }
    text
}

#[test]
fn marks_between_thousands_are_no_decimals() {
    for marks in [
        "1\u{202f}600,5",
        "1\u{a0}600,5",
        "1\u{2009}600,5",
        "1 600,5",
        "1'600.5",
        "1’600.5",
        "1,600.5",
        "1.600,5",
    ] {
        let trace = read(&grafana(',', &[marks, marks, marks]));
        assert_eq!(speeds(&trace, SegmentOp::Write), [1600.5e6; 3], "{marks}");
    }
    // What one number leaves open another one shows, before or after it, and a unit in the cell changes nothing.
    for (numbers, expected) in [
        (["1,600", "45.5", "1,601"], [1600.0, 45.5, 1601.0]),
        (["1,600", "45,5", "1,601"], [1.6, 45.5, 1.601]),
        (["1.600", "1.000.000", "2"], [1600.0, 1e6, 2.0]),
        (["1.600", "2.125", "3"], [1.6, 2.125, 3.0]),
        (["1,600 MB/s", "0,125 MB/s", "2 MB/s"], [1.6, 0.125, 2.0]),
    ] {
        let trace = read(&grafana(',', &numbers));
        assert_eq!(speeds(&trace, SegmentOp::Write), expected.map(|mb| mb * 1e6), "{numbers:?}");
    }
    // Between semicolons commas are before decimals.
    assert_eq!(speeds(&read(&grafana(';', &["1,600", "1,601", "1,602"])), SegmentOp::Write)[0], 1.6e6);
    let open = refused(&grafana(',', &["1,600", "1,601", "1,602"]));
    assert!(open.contains("whether \"1,600\" is 1.6 or 1600 cannot be told"), "{open}");
    assert!(refused(&grafana(',', &["1,60,000", "1", "2"])).contains("is not a number"));
    let own = read("t_s,write_mb_per_s\n0,1 600\n1,\"1,600.5\"\n2,1\u{202f}600\n3,1'600\n");
    assert_eq!(speeds(&own, SegmentOp::Write), [1600e6, 1600.5e6, 1600e6, 1600e6]);
    assert!(refused("t_s,write_mb_per_s\n0,\"1,600\"\n1,5\n").contains("cannot be told"));
}

#[test]
fn a_unit_that_is_not_known_is_named_and_one_of_something_else_passed_over() {
    for (title, unit) in
        [("Write (blocks/s)", "blocks/s"), ("Write (XB/s)", "XB/s"), ("Write [sectors]", "sectors")]
    {
        let text = grafana(',', &["1", "2", "3"]).replace("nvme0n1 write (MB/s)", title);
        let why = refused(&text);
        assert!(why.contains("line 1") && why.contains(&format!("the unit {unit:?} is not known")), "{why}");
    }
    for (unit, factor) in
        [("kbit/s", 125.0), ("kBytes/sec", 1e3), ("MB/s", 1e6), ("nvme0n1", 1.0), ("avg", 1.0)]
    {
        let text = grafana(',', &["1e5", "2e5", "3e5"]).replace("MB/s", unit);
        let all = [1.0, 2.0, 3.0].map(|number| 1e5 * number * factor);
        assert_eq!(speeds(&read(&text), SegmentOp::Write), all, "{unit}");
    }
    assert_eq!(
        speeds(&read(&grafana(',', &["1", "2", "3"]).replace("(MB/s)", "MB/s")), SegmentOp::Write)[0],
        1e6
    );
    for other in ["io/s", "%", "ms"] {
        let trace = read(&grafana(',', &["1", "2", "3"]).replace("MB/s", other));
        assert!(trace.speeds.is_empty() && !trace.temperatures.is_empty(), "{other}");
    }
    for (title, unit) in [("Read Rate [MB/s]", "Mx/s"), ("Drive Temperature [°C]", "°R")] {
        let column = title.split_once(" [").expect("a unit").0;
        let why = refused(&HWINFO.replace(title, &format!("{column} [{unit}]")));
        assert!(why.contains(&format!("the unit {unit:?} is not known")), "{why}");
    }
    let wrong = refused(&grafana(',', &["45 °C", "2", "3"]));
    assert!(wrong.contains("the unit \"°C\" is not known here"), "{wrong}");
}

#[test]
fn speeds_beyond_a_terabyte_a_second_are_refused() {
    let units = |units: u64| {
        let reading = |s: u64| {
            format!(
                "{{\"timestamp\": {}, \"temperature\": 310, \"avail_spare\": 100, \"data_units_read\": {}}}\n",
                1_795_246_010 + s,
                s * units
            )
        };
        (0..5).map(reading).collect::<String>()
    };
    assert!(tried(units(1_900_000).as_bytes()).is_ok());
    assert!(refused(&units(2_000_000)).contains("faster than any drive"));
}

/// The drive's temperature and the speeds are the same in whatever code page a title, a name or a last line is.
#[test]
fn tables_in_the_code_page_of_any_system_are_read() {
    use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1254};
    let plain = format!("{:?}", read(HWINFO));
    for (page, name) in [
        (WINDOWS_1250, "Teplota základní desky"),
        (WINDOWS_1251, "Температура платы"),
        (WINDOWS_1254, "Anakart sıcaklığı"),
        (SHIFT_JIS, "ソフト表示"),
        (GBK, "主板温度"),
        (BIG5, "主機板溫度"),
        (EUC_KR, "메인보드 온도"),
    ] {
        let with_name =
            HWINFO.replacen("Write Rate [MB/s]\",", &format!("Write Rate [MB/s]\",\"{name} [°C]\","), 1);
        let with_name = with_name.replace("0.000,\r\n", "0.000,30,\r\n");
        let trace = tried(&page.encode(&with_name).0).expect(name);
        assert_eq!(format!("{trace:?}"), plain, "{name}");
    }
    for (page, object, reading, writing) in [
        (WINDOWS_1250, "Fyzický disk", "Bajty čtení z disku/s", "Bajty zapisování na disk/s"),
        (WINDOWS_1250, "Dysk fizyczny", "Bajty odczytu dysku/s", "Bajty zapisu dysku/s"),
        (
            WINDOWS_1251,
            "Физический диск",
            "Скорость чтения с диска (байт/с)",
            "Скорость записи на диск (байт/с)",
        ),
        (SHIFT_JIS, "PhysicalDisk", "Disk Read Bytes/sec", "Disk Write Bytes/sec"),
    ] {
        let text = perfmon(object, reading, writing).replace("Mitteleuropäische Zeit", "東京 (標準時)");
        let text = if page == SHIFT_JIS { text } else { text.replace("東京 (標準時)", "UTC") };
        let trace = tried(&page.encode(&text).0).expect(object);
        assert_eq!(speeds(&trace, SegmentOp::Write).len(), 5, "{object}");
    }
    // What typeperf says at the end comes in the code page of the console, and a head of ASCII does not show it.
    let text = perfmon("PhysicalDisk", "Disk Read Bytes/sec", "Disk Write Bytes/sec").replace("ä", "a");
    let mut bytes = text.into_bytes();
    bytes.extend(b"\r\nDer Befehl wurde ausgef\x81hrt.\r\n");
    assert_eq!(speeds(&tried(&bytes).expect("a last line"), SegmentOp::Write).len(), 5);
}

/// CrystalDiskInfo saved its text in the code page of the system before it wrote UTF-16.
#[test]
fn a_text_of_crystaldiskinfo_in_a_code_page_is_read() {
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};
    for (page, status) in [(SHIFT_JIS, "正常 (98 %)"), (GBK, "良好 (98 %)"), (WINDOWS_1251, "Хорошо (98 %)")]
    {
        let text = format!(
            "----------------------------------------------------------------------------\r\nCrystalDiskInfo 8.4.2 (C) 2008-2020 hiyohiyo\r\n\
             \x20   Date : 2026/11/22 9:40:00\r\n\r\n-- Disk List ---\r\n (1) X : 512 GB\r\n\r\n-----\r\n (1) X\r\n-----\r\n\
             \x20          Model : X\r\n  Power On Hours : 100 時間\r\n     Temperature : 38 C (100 F)\r\n   Health Status : {status}\r\n"
        );
        let trace = tried(&page.encode(&text).0).expect(status);
        assert_eq!(
            (trace.temperatures[0].kelvin.points()[0].value, trace.life[0].used_percent),
            (311.0, Some(2.0))
        );
    }
}

#[test]
fn a_log_with_tabs_of_performance_monitor_is_read() {
    let text = perfmon("PhysicalDisk", "Disk Read Bytes/sec", "Disk Write Bytes/sec");
    let tabs = text.replace("(PDH-CSV", "(PDH-TSV").replace(',', "\t");
    assert_eq!(format!("{:?}", read(&tabs)), format!("{:?}", read(&text)));
}

/// What typeperf prints into a file is in the code page of the console, in which letters beside the known ones are spoilt.
#[test]
fn writing_is_not_lost_in_the_code_page_of_the_console() {
    let text = perfmon("Disque physique", "Lectures disque, octets/s", "Ecritures disque, octets/s");
    let spoilt: Vec<u8> = text.replace("ä", "a").bytes().collect();
    let spoilt = String::from_utf8_lossy(&spoilt).replace("Ecritures", "\u{1}critures");
    let bytes: Vec<u8> = spoilt.bytes().map(|byte| if byte == 1 { 0x90 } else { byte }).collect();
    let trace = tried(&bytes).expect("counters");
    assert_eq!((speeds(&trace, SegmentOp::Read).len(), speeds(&trace, SegmentOp::Write).len()), (5, 5));
}

/// Panels name the drive in some columns and the chip, or nothing, in others.
#[test]
fn a_temperature_that_names_no_drive_is_of_the_only_one() {
    let rows: String = (0..9).map(|s| format!("2026-11-22 09:40:0{s},0,250000000,45\n")).collect();
    for title in ["Composite temp", "nvme0 temp", "nvme0n1 temp"] {
        let trace = read(&format!("Time,nvme0n1 read,nvme0n1 written,{title}\n{rows}"));
        assert_eq!(
            (trace.name.as_str(), trace.speeds.len(), trace.temperatures.len()),
            ("nvme0n1", 2, 1),
            "{title}"
        );
    }
    let two = read(&format!("Time,nvme0n1 read,sda written,temp\n{rows}"));
    assert_eq!((two.name.as_str(), two.temperatures.len()), ("sda", 0));
}

#[test]
fn speeds_that_are_drawn_downwards_have_no_sign() {
    let table = |sign: &str, last: &str| {
        let rows: String = (0..9).map(|s| format!("2026-11-22 09:40:0{s},0,{sign}250000000\n")).collect();
        format!("Time,read,write\n{rows}2026-11-22 09:40:09,0,{last}\n")
    };
    let (down, up) = (read(&table("-", "-5")), read(&table("", "5")));
    assert_eq!(speeds(&down, SegmentOp::Write), speeds(&up, SegmentOp::Write));
    assert!(down.notes.iter().any(|note| note.contains("drawn downwards")), "{:?}", down.notes);
    assert!(refused(&table("-", "5")).contains("no drive's speed"));
}

/// Counters as PowerShell's Export-Counter and Export-Csv write them.
#[test]
fn counters_below_another_title_of_the_time_are_read() {
    let row = |s: u32| format!("\"11/22/2026 9:40:0{s} AM\",\"160000000{s}\"\r\n");
    let rows: String = (0..5).map(row).collect();
    let trace =
        read(&format!("\"Timestamp\",\"\\\\pc\\physicaldisk(0 c:)\\disk write bytes/sec\"\r\n{rows}"));
    assert_eq!((trace.name.as_str(), speeds(&trace, SegmentOp::Write).len()), ("0 C:", 5));
}
