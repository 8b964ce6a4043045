//! One of several drives: named by the user, found by its load, or with its temperature in another column or file.

use import::{ImportOptions, LogFile, import};
use trace::Trace;

fn tried(files: &[(&str, &str)], device: Option<&str>) -> Result<Trace, String> {
    let options = ImportOptions { device: device.map(str::to_owned), ..ImportOptions::default() };
    let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
    import(sources.collect(), &options).map_err(|error| error.to_string())
}

fn temperatures(trace: &Trace) -> Vec<f64> {
    trace
        .temperatures
        .first()
        .map_or(vec![], |one| one.kelvin.points().iter().map(|p| p.value - 273.0).collect())
}

#[test]
fn a_drive_is_named_by_its_serial_number_model_or_device() {
    let reading = |n: u32, number: u32| {
        format!(
            "{{\"smartctl\": {{}}, \"local_time\": {{\"time_t\": {}}}, \"device\": {{\"name\": \"/dev/nvme{number}\"}}, \"model_name\": \"Model {number}\", \"serial_number\": \"S{number}\", \"temperature\": {{\"current\": {}}}}}\n",
            1_795_246_000 + n,
            40 + 10 * number + n
        )
    };
    let text: String = (0..4).flat_map(|n| [reading(n, 0), reading(n, 1)]).collect();
    let files = [("s.json", text.as_str())];
    for name in ["S1", "s1", "Model 1", "nvme1", "/dev/nvme1", "/dev/nvme1n1"] {
        assert_eq!(temperatures(&tried(&files, Some(name)).expect(name)), [50.0, 51.0, 52.0, 53.0], "{name}");
    }
    let why = tried(&files, None).expect_err("two drives");
    assert!(why.contains("--device S0"), "{why}");
    let why = tried(&files, Some("S2")).expect_err("another drive");
    assert!(why.contains("it has nothing of S2; there are S0, S1"), "{why}");
}

#[test]
fn a_drive_is_named_in_an_answer_of_prometheus() {
    let series = |name: &str, label: &str, drive: &str, first: u32| {
        format!(
            "{{\"metric\": {{\"__name__\": \"{name}\", \"{label}\": \"{drive}\", \"instance\": \"srv:9100\"}}, \"values\": [[1, \"{first}\"], [2, \"{}\"], [3, \"{}\"]]}}",
            first + 1,
            first + 2
        )
    };
    let all = [
        series("node_disk_written_bytes_total", "device", "nvme0n1", 1000),
        series("node_disk_written_bytes_total", "device", "sda", 2000),
        series("node_hwmon_temp_celsius", "chip", "nvme_nvme0", 40)
            .replace("\"instance\"", "\"sensor\": \"temp1\", \"instance\""),
    ];
    let text = format!(
        "{{\"status\": \"success\", \"data\": {{\"resultType\": \"matrix\", \"result\": [{}]}}}}",
        all.join(",")
    );
    let files = [("p.json", text.as_str())];
    for (name, heat) in [("nvme0n1", 3), ("nvme0", 3), ("/dev/nvme0n1", 3), ("sda", 0), ("/dev/sda", 0)] {
        let trace = tried(&files, Some(name)).expect(name);
        assert_eq!((trace.speeds.len(), temperatures(&trace).len()), (1, heat), "{name}");
    }
    let why = tried(&files, None).expect_err("two drives");
    assert!(why.contains("{device=\"nvme0n1\"}, or name one with --device"), "{why}");
    assert!(tried(&files, Some("sdb")).expect_err("another").contains("nothing of sdb"));
}

fn crystaldiskinfo(minute: u32, drives: &[&str]) -> String {
    let dashes = "-".repeat(76);
    let one = |(index, model): (usize, &&str)| {
        format!(
            "{dashes}\n ({:02}) {model}\n{dashes}\n           Model : {model}\n   Serial Number : S-{model}\n     Temperature : {} C (x)\n",
            index + 1,
            40 + minute
        )
    };
    let listed: String = drives.iter().enumerate().map(one).collect();
    format!(
        "{dashes}\nCrystalDiskInfo 9.3.2 (C) 2008-2024 hiyohiyo\n{dashes}\n\n            Date : 2026/11/05 10:{minute:02}:00\n\n{listed}"
    )
}

#[test]
fn texts_of_crystaldiskinfo_in_one_file_are_readings() {
    let two: String = (0..5).map(|minute| crystaldiskinfo(minute, &["A", "B"])).collect();
    for name in ["1", "01", "A", "S-A"] {
        let read = tried(&[("c.txt", &two)], Some(name)).expect(name);
        assert_eq!(temperatures(&read), [40.0, 41.0, 42.0, 43.0, 44.0]);
    }
    // Each drive once.
    let why = tried(&[("c.txt", &two)], None).expect_err("two drives");
    assert!(why.contains("it is of several drives (1 A, 2 B): name one"), "{why}");
    let only: String = (0..5).map(|minute| crystaldiskinfo(minute, &["A"])).collect();
    assert_eq!(temperatures(&tried(&[("c.txt", &only)], None).expect("one drive")).len(), 5);
    // The drive was not there all the time, and the last text has no end.
    let now_and_then =
        crystaldiskinfo(0, &["B", "A"]) + &crystaldiskinfo(1, &["B"]) + &crystaldiskinfo(2, &["B", "A"]);
    assert_eq!(temperatures(&tried(&[("c.txt", &now_and_then)], Some("A")).expect("A")), [40.0, 42.0]);
    let cut = only.rsplit_once("     Temperature").map_or("", |(before, _)| before);
    let read = tried(&[("c.txt", cut)], None).expect("four whole ones");
    assert_eq!((temperatures(&read).len(), read.caveats.len()), (4, 1));
}

const NAMES: &str = ",,\"S.M.A.R.T.: Crucial (A1)\",\"S.M.A.R.T.: WD (B2)\",\"Drive: WD (B2) [C:, D:]\",\"Drive: Crucial (A1) [E:]\",\n";

fn hwinfo(footer: &str) -> String {
    let row = |n: u32| format!("5.11.2026,23:52:0{n}.000,30,{},{},0,\n", 40 + n, 1000 + n);
    let header = "Date,Time,\"Drive Temperature [°C]\",\"Drive Temperature [°C]\",\"Read Rate [MB/s]\",\"Read Rate [MB/s]\",\n";
    format!("{header}{}{header}{footer}", (0..8).map(row).collect::<String>())
}

#[test]
fn a_temperature_is_of_the_drive_that_its_name_says_or_it_is_said_that_none_is() {
    // Volumes behind the name of a drive are no part of it.
    assert_eq!(temperatures(&tried(&[("h.csv", &hwinfo(NAMES))], None).expect("names"))[0], 40.0);
    let strange = NAMES.replace("Drive: WD", "Drive: SN");
    let trace = tried(&[("h.csv", &hwinfo(&strange))], None).expect("names");
    let told = |trace: &Trace, text: &str| trace.notes.iter().any(|note| note.contains(text));
    assert!(
        temperatures(&trace).is_empty() && told(&trace, "no temperature is known to be of SN (B2)"),
        "{:?}",
        trace.notes
    );
    // More rates than temperatures, and no names: the order may not be theirs.
    let text = hwinfo("")
        .replace(",0,\n", ",0,0,\n")
        .replace("\"Read Rate [MB/s]\",\n", "\"Read Rate [MB/s]\",\"Read Rate [MB/s]\",\n");
    let trace = tried(&[("h.csv", &text)], None).expect("three drives");
    assert!(told(&trace, "temperatures of 2 and rates of 3 drives"), "{:?}", trace.notes);
    assert!(temperatures(&trace).is_empty() && trace.name == "drive 1", "{:?}", trace.temperatures);
}

/// Goal: the n-th rates are those of the n-th drive of S.M.A.R.T. Method: three drives, the first with two temperatures, the second with none,
/// each busy in turn, and no names at the end.
#[test]
fn the_drives_of_smart_are_counted_with_all_that_it_says_of_them() {
    let smart = "\"Drive Temperature [°C]\",\"Drive Airflow Temperature [°C]\",\"Drive Failure [Yes/No]\",\"Drive Warning [Yes/No]\",\
        \"Drive Failure [Yes/No]\",\"Drive Warning [Yes/No]\",\"Drive Airflow Temperature [°C]\",\"Drive Failure [Yes/No]\"";
    let header = format!("Date,Time,{smart}{}\n", ",\"Read Rate [MB/s]\"".repeat(3));
    let busy = |drive: usize| {
        let rates: String = (0..3).map(|n| if n == drive { ",1500" } else { ",0" }).collect();
        let row =
            |n: u32| format!("5.11.2026,23:52:0{n}.000,{},31,No,No,No,No,{},No{rates}\n", 40 + n, 60 + n);
        format!("{header}{}", (0..8).map(row).collect::<String>())
    };
    for (drive, first_c) in [(0, Some(40.0)), (1, None), (2, Some(60.0))] {
        let trace = tried(&[("h.csv", &busy(drive))], None).expect("one busy drive");
        assert_eq!(temperatures(&trace).first().copied(), first_c, "{drive}: {:?}", trace.notes);
    }
}

#[test]
fn two_programs_that_watched_one_load_count_it_once() {
    let row = |n: u32, speed: u32| format!("\"2026-11-05 23:52:{n:02}\",\"{speed} MB/s\"\n");
    let other = |factor: f64| {
        let row =
            |n: u32| format!("5.11.2026,23:52:{n:02}.400,{},{},\n", 40 + n, f64::from(500 + 10 * n) * factor);
        format!(
            "Date,Time,\"Drive Temperature [°C]\",\"Write Rate [MB/s]\",\n{}",
            (0..50).map(row).collect::<String>()
        )
    };
    let rows: String = (0..50).map(|n| row(n, 500 + 10 * n)).collect();
    let first = format!("\"Time\",\"nvme0n1 write\"\n{rows}");
    for factor in [1.0, 0.95, 1.049] {
        let trace = tried(&[("g.csv", &first), ("h.csv", &other(factor))], None).expect("one load");
        assert_eq!(
            (trace.speeds.len(), temperatures(&trace).len()),
            (1, 50),
            "{:?} {:?}",
            trace.notes,
            trace.temperatures
        );
        let moved: f64 = trace.speeds[0].intervals.iter().map(|one| one.bytes).sum();
        assert!((moved / 37_250e6 - 1.0).abs() < 0.01, "{moved}");
        assert!(trace.notes.iter().any(|note| note.contains("once more")), "{:?}", trace.notes);
    }
    for factor in [0.5, 1.3] {
        let why = tried(&[("g.csv", &first), ("h.csv", &other(factor))], None).expect_err("two loads");
        assert!(why.contains("two loads at once"), "{why}");
    }
}

#[test]
fn a_header_may_be_in_capitals_and_come_again() {
    let trace = tried(
        &[("a.csv", "T_S,Write_MB_per_s,Temp_C\n0,10,40\n1,10,41\nT_S,Write_MB_per_s,Temp_C\n2,10,42\n")],
        None,
    );
    assert_eq!(temperatures(&trace.expect("rows")), [40.0, 41.0, 42.0]);
    let trace = tried(&[("a.csv", "t_s,temp_c,note\n0,40,hot\n1,41,\n")], None).expect("a note");
    assert!(trace.notes[0].ends_with("passed over: note"), "{:?}", trace.notes);
    let trace = tried(&[("a.csv", "t_s,temp_c,tmep_c\n0,10,40\n")], None).expect("a slip beside it");
    assert!(trace.notes[0].ends_with("passed over: tmep_c"), "{:?}", trace.notes);
    let why = tried(&[("a.csv", "t_s,tmep_c\n0,40\n")], None).expect_err("a slip alone");
    assert!(why.contains("or remove it"), "{why}");
}

#[test]
fn a_counter_reset_is_told_once() {
    let row = |n: u32| {
        let bytes = 5000 * if n < 10 { 100 + n } else { n - 10 };
        format!("diskio,name=sda read_bytes={bytes}i,write_bytes={bytes}i {}000000000\n", 1_793_919_130 + n)
    };
    let trace = tried(&[("t.lp", &(0..20).map(row).collect::<String>())], None).expect("counters");
    assert_eq!(trace.caveats.len(), 1, "{:?}", trace.caveats);
}

/// Goal: a busy drive is not lost among others of its name. Method: two drives of one model, the second busy, with their temperatures in the
/// same order or with one temperature alone.
#[test]
fn drives_of_one_name_are_told_apart_by_their_order() {
    let same = NAMES.replace("Crucial (A1)", "X").replace("WD (B2)", "X");
    let trace = tried(&[("h.csv", &hwinfo(&same))], None).expect("two drives of one name");
    assert_eq!((trace.name.as_str(), temperatures(&trace)[0]), ("X (1)", 30.0));
    let busy = hwinfo(&same).replace(",0,\n", ",90000,\n");
    let trace = tried(&[("h.csv", &busy)], None).expect("the second is busy");
    assert_eq!((trace.name.as_str(), temperatures(&trace)[0]), ("X (2)", 40.0));
    assert_eq!(temperatures(&tried(&[("h.csv", &busy)], Some("X (1)")).expect("the first"))[0], 30.0);
    let one = same.replacen("S.M.A.R.T.: X", "CPU", 1);
    let trace = tried(&[("h.csv", &busy.replace(&same, &one))], None).expect("one temperature");
    assert!(
        trace.notes.iter().any(|note| note.contains("no temperature is known to be of X (2)")),
        "{:?}",
        trace.notes
    );
}

#[test]
fn a_rate_in_words_that_are_not_known_is_named() {
    let text = hwinfo("").replace("\"Read Rate [MB/s]\",\n", "\"Kirjoitusnopeus [MB/s]\",\n");
    let trace = tried(&[("h.csv", &text)], None).expect("one rate");
    assert!(
        trace.notes.iter().any(|note| note.contains("passed over: Kirjoitusnopeus [MB/s]")),
        "{:?}",
        trace.notes
    );
    for title in ["Rychlost zápisu", "Tasa de escritura", "Скорость записи"] {
        let text = hwinfo("").replace("\"Read Rate [MB/s]\",\n", &format!("\"{title} [MB/s]\",\n"));
        let trace = tried(&[("h.csv", &text)], None).expect(title);
        assert!(trace.speeds.iter().any(|one| one.op == trace::SegmentOp::Write), "{title}");
    }
}

#[test]
fn two_machines_in_one_log_have_two_drives() {
    let path = |host: &str| format!("\"\\\\{host}\\PhysicalDisk(0 C:)\\Disk Write Bytes/sec\"");
    let rows: String =
        (0..9).map(|s| format!("\"11/22/2026 10:40:0{s}.000\",\"100000000\",\"3200000000\"\n")).collect();
    let text = format!("\"(PDH-CSV 4.0) (UTC)(0)\",{},{}\n{rows}", path("A"), path("B"));
    assert_eq!(tried(&[("p.csv", &text)], None).expect("the busy one").name, "B 0 C:");
    assert_eq!(tried(&[("p.csv", &text)], Some("A 0 C:")).expect("the other").name, "A 0 C:");
}

/// Of the chips of a machine those of processors and boards are no drive's, and what stands on a drive is none.
#[test]
fn other_chips_and_layers_in_prometheus_are_not_the_drives() {
    let series = |name: &str, labels: &str, values: [&str; 4]| {
        let values: Vec<String> = (1..).zip(values).map(|(t, value)| format!("[{t}, \"{value}\"]")).collect();
        format!("{{\"metric\": {{\"__name__\": \"{name}\", {labels}}}, \"values\": [{}]}}", values.join(","))
    };
    let written = |device: &str| {
        series(
            "node_disk_written_bytes_total",
            &format!("\"device\": \"{device}\""),
            ["0", "NaN", "2000", "3000"],
        )
    };
    let heat = |chip: &str| {
        series(
            "node_hwmon_temp_celsius",
            &format!("\"chip\": \"{chip}\", \"sensor\": \"temp1\""),
            ["40", "41", "42", "43"],
        )
    };
    for (chip, count) in
        [("platform_coretemp_0", 0), ("pci0000:00_0000:00:18_3", 0), ("target0:0:0_0:0:0:0", 4)]
    {
        let all = [written("nvme0n1"), written("dm-0"), heat(chip)].join(",");
        let text = format!(
            "{{\"status\": \"success\", \"data\": {{\"resultType\": \"matrix\", \"result\": [{all}]}}}}"
        );
        let trace = tried(&[("p.json", &text)], None).expect(chip);
        let bytes: f64 = trace.speeds[0].intervals.iter().map(|one| one.bytes).sum();
        assert_eq!((temperatures(&trace).len(), bytes), (count, 3000.0), "{chip}");
    }
}

/// Goal: drives that a loop reads one after the other have the time of their round. Method: a date before the texts of two drives.
#[test]
fn drives_of_one_round_have_its_time() {
    let text = |device: u32, degrees: u32| {
        format!(
            "Smart Log for NVME device:nvme{device} namespace-id:ffffffff\ncritical_warning : 0\ntemperature : {degrees} C\navailable_spare : 100%\n"
        )
    };
    let round = |s: u32| format!("2026-11-22 10:00:0{s}\n{}{}", text(0, 38 + s), text(1, 50 + s));
    let all: String = (0..6).map(round).collect();
    let trace = tried(&[("two.txt", &all)], Some("nvme1")).expect("one of two");
    assert_eq!(temperatures(&trace), [50.0, 51.0, 52.0, 53.0, 54.0, 55.0]);
    assert_eq!(trace.temperatures[0].kelvin.points()[5].t.as_secs_f64(), 5.0);
    let why = tried(&[("two.txt", &all)], None).expect_err("two drives");
    assert!(why.contains("--device nvme0"), "{why}");
    // Two readings of one drive below one date are not of one moment.
    let twice: String =
        (0..6).map(|s| format!("2026-11-22 10:00:0{s}\n{}{}", text(0, 38), text(0, 39))).collect();
    assert!(tried(&[("one.txt", &twice)], None).expect_err("no time").contains("carry no time"));
}

/// Goal: a drive is named as its owner knows it. Method: HWiNFO's names have the serial number behind the model; two of one model are
/// told apart by that only.
#[test]
fn a_model_names_a_drive_where_only_one_is_of_it() {
    let log = |models: [&str; 2]| {
        let columns = "\"Drive Temperature [°C]\",\"Read Rate [MB/s]\",\"Write Rate [MB/s]\"";
        let row = |s: u32| format!("14.3.2026,15:20:{s:02}.000,38,0.0,1.0,45,3000.0,0.0,\r\n");
        let rows: String = (0..20).map(row).collect();
        let names =
            models.map(|model| format!("S.M.A.R.T.: {model},Drive: {model},Drive: {model}")).join(",");
        format!("Date,Time,{columns},{columns},\r\n{rows}Date,Time,{columns},{columns},\r\n,,{names},\r\n")
    };
    let both = log(["Model A 1TB (S1)", "Model B 2TB (S2)"]);
    let why = tried(&[("log.csv", &both)], Some("Model")).expect_err("both have it");
    assert!(why.contains("there are Model A 1TB (S1), Model B 2TB (S2)"), "{why}");
    for wanted in ["Model A 1TB (S1)", "Model A 1TB", "model a 1tb", "A 1T", "s1)"] {
        let trace = tried(&[("log.csv", &both)], Some(wanted)).expect(wanted);
        assert_eq!(trace.name, "Model A 1TB (S1)");
    }
    let why =
        tried(&[("log.csv", &log(["Model A (S1)", "Model A (S2)"]))], Some("Model A")).expect_err("two");
    assert!(why.contains("there are Model A (S1), Model A (S2)"), "{why}");
}
