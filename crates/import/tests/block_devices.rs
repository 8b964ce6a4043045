//! Drives among all block devices of a machine: partitions, volumes and groups by whatever name are none.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(text: &str, device: Option<&str>) -> Result<Trace, String> {
    let options = ImportOptions { device: device.map(str::to_owned), ..ImportOptions::default() };
    import(vec![LogFile::from_bytes("log.txt", text.as_bytes())], &options).map_err(|error| error.to_string())
}

/// kB/s of a device at each second.
type Rates<'a> = (&'a str, &'a dyn Fn(u32) -> u32);

fn sar(devices: &[Rates<'_>]) -> String {
    let rows = |s: u32| -> String {
        let row = |(name, rate): &Rates<'_>| {
            format!("10:00:{s:02}  {name}  90.00  0.00  {}.00  0.00  0.00\n", rate(s))
        };
        devices.iter().map(row).collect()
    };
    let table = |s: u32| {
        format!("10:00:{s:02}        DEV       tps     rkB/s     wkB/s   areq-sz     %util\n{}\n", rows(s))
    };
    format!("Linux 6.1.0 (h) \t11/22/2026 \t_x86_64_\t(8 CPU)\n\n{}", (0..40).map(table).collect::<String>())
}

fn iostat(devices: &[Rates<'_>]) -> String {
    let report = |s: u32| -> String {
        let row = |(name, rate): &Rates<'_>| format!("{name} 0.00 0.00 90.00 {}.00 50.00\n", rate(s));
        let rows: String = devices.iter().map(row).collect();
        format!("11/22/2026 10:00:{s:02}\nDevice  r/s  rkB/s  w/s  wkB/s  %util\n{rows}\n")
    };
    format!("Linux 6.1.0 (h) \t11/22/2026 \t_x86_64_\t(8 CPU)\n\n{}", (0..40).map(report).collect::<String>())
}

fn written(trace: &Trace) -> f64 {
    let series = trace.speeds.iter().filter(|series| series.op == SegmentOp::Write);
    series.flat_map(|series| &series.intervals).map(|one| one.bytes).sum()
}

const LOAD: fn(u32) -> u32 = |s| 500_000 + 100 * (s % 7);
const PART: fn(u32) -> u32 = |s| 200_000 + 100 * (s % 7);
const REST: fn(u32) -> u32 = |_| 300_000;
const NONE: fn(u32) -> u32 = |_| 0;

#[test]
fn layers_and_partitions_by_their_numbers_are_no_drives() {
    for devices in [
        vec![("dev8-0", LOAD), ("dev8-2", LOAD), ("dev253-0", LOAD)],
        vec![("dev253-1", PART), ("dev253-0", REST), ("dev8-0", LOAD), ("dev8-1", NONE), ("dev8-16", NONE)],
        vec![
            ("dev259-0", LOAD),
            ("dev259-1", NONE),
            ("dev259-2", PART),
            ("dev259-3", REST),
            ("dev253-0", REST),
        ],
        vec![("dev9-127", LOAD), ("dev7-0", LOAD), ("dev65-32", LOAD), ("dev65-33", LOAD)],
        vec![("dev252-0", LOAD), ("dev252-1", LOAD), ("dev253-0", PART)],
    ] {
        let rates: Vec<Rates<'_>> =
            devices.iter().map(|(name, rate)| (*name, rate as &dyn Fn(u32) -> u32)).collect();
        let trace = tried(&sar(&rates), None).expect("one drive");
        let whole = ["dev8-0", "dev259-0", "dev65-32", "dev252-0"];
        assert!(whole.contains(&trace.name.as_str()), "{}", trace.name);
        assert!(written(&trace) >= 1024.0 * 500_000.0 * 39.0, "{}", trace.name);
    }
    // The mapper is ahead of the drive by a row.
    let ahead: Rates<'_> = ("dev253-0", &|s| if s % 4 == 0 { 900_000 } else { 10_000 });
    let drive: Rates<'_> = ("dev8-0", &|s| if s % 4 == 1 { 900_000 } else { 10_000 });
    assert_eq!(tried(&sar(&[ahead, drive]), None).expect("one drive").name, "dev8-0");
    // Disks of 16 minor numbers each.
    let why =
        tried(&sar(&[("dev8-0", &PART), ("dev8-16", &REST), ("dev8-17", &REST)]), None).expect_err("two");
    assert!(why.contains("(dev8-16 60 %, dev8-0 40 %)"), "{why}");
}

#[test]
fn volumes_by_their_names_and_groups_are_no_drives() {
    for devices in [
        vec![("nvme0n1", LOAD), ("vg0-root", LOAD), ("luks-1234abcd-00", LOAD)],
        vec![("vg-home", PART), ("vg-root", REST), ("sda", LOAD), ("nvme0n1", NONE)],
        vec![("nvme0n1", LOAD), (" all", LOAD)],
        vec![("nvme0n1", LOAD), (" total", LOAD)],
        vec![("nvme0n1", LOAD), ("sdb", NONE), (" mydisks", LOAD)],
    ] {
        let rates: Vec<Rates<'_>> =
            devices.iter().map(|(name, rate)| (*name, rate as &dyn Fn(u32) -> u32)).collect();
        let trace = tried(&iostat(&rates), None).expect("one drive");
        assert!(["nvme0n1", "sda"].contains(&trace.name.as_str()), "{}", trace.name);
        assert!(written(&trace) >= 1024.0 * 500_000.0 * 38.0, "{}", trace.name);
    }
    // One that moves data while no drive does is a drive, and one that is asked for is taken.
    let alone: Rates<'_> = ("backup", &|s| if s % 2 == 0 { 0 } else { 500_000 });
    let why = tried(&iostat(&[("nvme0n1", &PART), alone]), None).expect_err("two drives");
    assert!(why.contains("backup"), "{why}");
    let trace =
        tried(&iostat(&[("nvme0n1", &LOAD), ("vg0-root", &PART)]), Some("vg0-root")).expect("a volume");
    assert!(written(&trace) < 1024.0 * 300_000.0 * 40.0);
    // Two drives below a volume are two.
    let why = tried(&iostat(&[("sda", &REST), ("sdb", &PART), ("vg0-root", &LOAD)]), None).expect_err("two");
    assert!(why.contains("(sda 60 %, sdb 40 %)"), "{why}");
}

#[test]
fn a_refusal_names_the_drives_that_moved_data() {
    let names: Vec<String> = ('a'..='z').map(|letter| format!("sd{letter}")).collect();
    let mut rates: Vec<Rates<'_>> =
        names.iter().map(|name| (name.as_str(), &(NONE) as &dyn Fn(u32) -> u32)).collect();
    rates[3].1 = &PART;
    rates[4].1 = &REST;
    let why = tried(&iostat(&rates), None).expect_err("two");
    assert!(why.contains("(sde 60 %, sdd 40 %)"), "{why}");
    rates.iter_mut().for_each(|one| one.1 = &PART);
    let why = tried(&iostat(&rates), None).expect_err("many");
    assert!(why.contains("and 18 more"), "{why}");
}

/// USB devices are listed by `sar -A`; the product of one may be called as the column of devices is.
#[test]
fn a_product_that_is_called_device_begins_no_table() {
    let usb = "10:00:02          BUS  idvendor    idprod  maxpower manufact                product\n\
        10:00:02            2       781      5583       500 Example                 Mass Storage Device\n\
        Summary:            2       781      5583       500 Example                 Mass Storage Device\n\n";
    let text = sar(&[("nvme0n1", &LOAD)]);
    for text in
        [format!("{text}{usb}{}", &text[text.find("10:00:05").unwrap_or(0)..]), format!("{text}{usb}")]
    {
        assert_eq!(tried(&text, None).expect("a drive").name, "nvme0n1");
    }
}
