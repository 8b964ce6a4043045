//! What programs that draw charts keep of a drive: Netdata's JSON and collectd's files. The texts are composed here after what each writes.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(files: &[(&str, &str)], device: Option<&str>) -> Result<Trace, String> {
    let options = ImportOptions { device: device.map(str::to_owned), ..ImportOptions::default() };
    let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
    import(sources.collect(), &options).map_err(|error| error.to_string())
}

fn moved(trace: &Trace, op: SegmentOp) -> f64 {
    let series = trace.speeds.iter().find(|series| series.op == op).expect("the direction");
    series.intervals.iter().map(|one| one.bytes).sum()
}

/// Goal: however an answer is wrapped, it is one log. Method: ten rows of 1 MiB/s, as lists, objects and cells of three numbers.
#[test]
fn answers_of_netdata_are_read_however_they_are_wrapped() {
    let rows =
        |row: fn(u64) -> String| (0..10).rev().map(|n| row(1_795_340_400 + n)).collect::<Vec<_>>().join(",");
    let plain = format!(
        "{{\"labels\":[\"time\",\"reads\",\"writes\"],\"data\":[{}]}}",
        rows(|t| format!("[{t},0,-1024]"))
    );
    let millis = format!(
        "{{\"labels\":[\"time\",\"reads\",\"writes\"],\"data\":[{}]}}",
        rows(|t| format!("[{t}000,null,-1024]"))
    );
    let objects = format!(
        "{{\"labels\":[\"time\",\"reads\",\"writes\"],\"data\":[{}]}}",
        rows(|t| format!("{{\"time\":{t},\"reads\":0,\"writes\":-1024}}"))
    );
    let third = format!(
        "{{\"api\":3,\"result\":{{\"labels\":[\"time\",\"reads\",\"writes\"],\"point\":{{\"value\":0,\"arp\":1,\"pa\":2}},\"data\":[{}]}}}}",
        rows(|t| format!("[{t},[0,0,0],[-1024,0,0]]"))
    );
    for text in [plain, millis, objects, third] {
        let trace = tried(&[("n.json", &text)], None).expect(&text);
        assert_eq!(moved(&trace, SegmentOp::Write), 10.0 * 1_048_576.0, "{text}");
        assert!(trace.notes.iter().any(|note| note.contains("KiB/s")), "{:?}", trace.notes);
    }
    let other = "{\"labels\":[\"time\",\"user\"],\"data\":[[1795340400,1]]}";
    assert!(tried(&[("n.json", other)], None).expect_err("a processor").contains("a chart of a disk"));
}

#[test]
fn files_of_collectd_are_what_their_names_say() {
    let row = |n: u32, bytes: &str| format!("{}.25,0,{bytes}\n", 1_795_340_400 + 10 * n);
    let rates = format!("epoch,read,write\n{}", (0..10).map(|n| row(n, "1500000.5")).collect::<String>());
    let counters = format!(
        "epoch,read,write\n{}",
        (0..11).map(|n| row(n, &(15_000_005 * n).to_string())).collect::<String>()
    );
    let heat: String = (0..10).map(|n| format!("{}.5,{}\n", 1_795_340_400 + 10 * n, 40 + n)).collect();
    let heat = format!("epoch,value\n{heat}");
    let (disk, sensor) =
        ("c/disk-nvme0n1/disk_octets-2026-11-22", "c/sensors-nvme-pci-0100/temperature-temp1-2026-11-22");
    for octets in [&rates, &counters] {
        let trace =
            tried(&[(disk, octets), ("c/disk-nvme0n1/disk_ops-2026-11-22", &rates), (sensor, &heat)], None);
        let trace = trace.expect("a load and its temperature");
        assert_eq!((trace.name.as_str(), moved(&trace, SegmentOp::Write)), ("nvme0n1", 150_000_050.0));
        assert_eq!(
            (trace.temperatures[0].name.as_str(), trace.temperatures[0].kelvin.points().len()),
            ("composite", 10)
        );
        assert!(
            trace.notes.iter().any(|note| note.contains("disk_ops") && note.contains("not read")),
            "{:?}",
            trace.notes
        );
    }
    // A partition and a layer count the same data again; another drive with the same load is another drive.
    let (part, layer, other) =
        ("c/disk-nvme0n1p1/disk_octets-1", "c/disk-dm-0/disk_octets-1", "c/disk-sda/disk_octets-1");
    let stacked = tried(&[(disk, &rates), (part, &rates), (layer, &rates)], None).expect("one drive");
    assert_eq!((stacked.name.as_str(), moved(&stacked, SegmentOp::Write)), ("nvme0n1", 150_000_050.0));
    let two = [(disk, rates.as_str()), (other, rates.as_str())];
    assert_eq!(tried(&two, Some("sda")).expect("one of two").name, "sda");
    assert!(tried(&two, None).expect_err("two drives").contains("name one with --device"));
    // Of two chips neither is known to be the drive's; that of the processor is none.
    let processor = ("c/sensors-coretemp-isa-0000/temperature-temp1-1", heat.as_str());
    let one = tried(&[(disk, &rates), (sensor, &heat), processor], None).expect("one chip");
    let two = [
        (disk, rates.as_str()),
        (sensor, heat.as_str()),
        ("c/sensors-nvme-pci-0200/temperature-temp1-1", heat.as_str()),
    ];
    let two = tried(&two, None).expect("two chips");
    assert_eq!((one.temperatures.len(), two.temperatures.len()), (1, 0), "{:?}", two.notes);
    let why = tried(&[("c/disk-nvme0n1/disk_ops-2026-11-22", &rates)], None).expect_err("operations");
    assert!(why.contains("neither disk_octets, smart_temperature nor a temperature"), "{why}");
    // The plugin smart names its drive.
    let smart = "c/smart-nvme0n1/smart_temperature-2026-11-22";
    for others in [vec![], vec![(sensor, heat.as_str())]] {
        let files: Vec<_> =
            [(disk, rates.as_str()), (smart, heat.as_str())].into_iter().chain(others).collect();
        let trace = tried(&files, None).expect("a load and the drive's temperature");
        let composite = trace.temperatures.iter().find(|one| one.name == "composite").expect("composite");
        assert_eq!((trace.name.as_str(), composite.kelvin.points().len()), ("nvme0n1", 10));
    }
    assert_eq!(tried(&[(smart, &heat)], None).expect("a temperature").temperatures.len(), 1);
    let torn = format!("{rates}1795340500.25,0");
    assert_eq!(tried(&[(disk, &torn)], None).expect("whole rows").caveats.len(), 1);
    assert!(tried(&[(disk, "epoch,read,write\n1,2\n")], None).expect_err("no row").contains("is no row"));
}
