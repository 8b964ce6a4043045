//! Entries for the importers of the crate `import`.
//!
//! The law of each: any bytes become a trace or an error that names a place in them; a trace holds only finite numbers,
//! intervals of some length in order of time, and phases that exist.

use crate::FuzzEntry;
use import::{Format, ImportError, ImportOptions, LogFile, import};
use trace::Trace;

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[
    ("import_any", any),
    ("import_csv", csv),
    ("import_fio_log", fio_log),
    ("import_fio_json", fio_json),
    ("import_iometer", iometer),
    ("import_joined", joined),
    ("import_monitor", monitor),
    ("import_nvme", nvme),
    ("import_prometheus", prometheus),
    ("import_smartctl", smartctl),
];

/// Whatever the content tells.
pub fn any(data: &[u8]) {
    check(data, import(vec![LogFile::from_bytes("any_bw.1.log", data)], &ImportOptions::default()));
}

/// The plain CSV.
pub fn csv(data: &[u8]) {
    forced(data, Format::Csv);
}

/// fio's logs; rows mean different things in each.
pub fn fio_log(data: &[u8]) {
    for format in [Format::FioBwLog, Format::FioIopsLog, Format::FioLatLog] {
        forced(data, format);
    }
}

/// fio's JSON.
pub fn fio_json(data: &[u8]) {
    forced(data, Format::FioJson);
}

/// Both files of Iometer.
pub fn iometer(data: &[u8]) {
    forced(data, Format::Iometer);
    forced(data, Format::IometerInst);
}

/// Two files on one clock: halves of the data, cut at its first byte 0xff, or whole twice.
pub fn joined(data: &[u8]) {
    let cut = data.iter().position(|byte| *byte == 0xff);
    let (first, second) = cut.map_or((data, data), |at| (&data[..at], &data[at + 1..]));
    let sources =
        || vec![LogFile::from_bytes("a_bw.1.log", first), LogFile::from_bytes("b_bw.2.log", second)];
    check(data, import(sources(), &ImportOptions::default()));
    let said = ImportOptions {
        offsets: vec![("b_bw.2.log".into(), -7.5)],
        every_s: Some(1.0),
        ..ImportOptions::default()
    };
    check(data, import(sources(), &said));
}

/// Logs of programs that watch a whole machine.
pub fn monitor(data: &[u8]) {
    for format in [
        Format::HwInfo,
        Format::HardwareMonitor,
        Format::Dstat,
        Format::InfluxCsv,
        Format::NetdataJson,
        Format::Collectd,
        Format::Perfmon,
        Format::GrafanaCsv,
        Format::SysstatText,
        Format::SysstatJson,
        Format::TelegrafInflux,
        Format::TelegrafJson,
        Format::Quarch,
    ] {
        forced(data, format);
    }
    // What collectd's files hold is in their names.
    for name in ["disk-nvme0n1/disk_octets-2026-11-22", "sensors-nvme-pci-0100/temperature-temp1-2026-11-22"]
    {
        check(data, import(vec![LogFile::from_bytes(name, data)], &ImportOptions::default()));
    }
}

/// JSON and text of nvme-cli, and the log page in the text of CrystalDiskInfo.
pub fn nvme(data: &[u8]) {
    forced(data, Format::NvmeJson);
    forced(data, Format::NvmeText);
    forced(data, Format::CrystalDiskInfo);
}

/// Answers of Prometheus.
pub fn prometheus(data: &[u8]) {
    forced(data, Format::Prometheus);
}

/// JSON and text of smartctl.
pub fn smartctl(data: &[u8]) {
    forced(data, Format::SmartctlText);
    forced(data, Format::SmartctlJson);
}

fn forced(data: &[u8], format: Format) {
    let options = ImportOptions { format: Some(format), every_s: Some(1.0), ..ImportOptions::default() };
    check(data, import(vec![LogFile::from_bytes("forced.1.log", data)], &options));
}

fn check(data: &[u8], result: Result<Trace, ImportError>) {
    match result {
        Ok(trace) => is_sound(&trace),
        Err(error) => {
            let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error} of {lines} lines");
            assert!(!error.why.is_empty());
        }
    }
}

fn is_sound(trace: &Trace) {
    for series in &trace.speeds {
        for interval in &series.intervals {
            assert!(interval.start_s.is_finite() && interval.span_s.is_finite(), "{interval:?}");
            assert!(
                interval.span_s > 0.0 && interval.bytes.is_finite() && interval.bytes >= 0.0,
                "{interval:?}"
            );
            assert!(
                (interval.phase as usize) < trace.phases.len(),
                "{interval:?} of {} phases",
                trace.phases.len()
            );
        }
        let in_order = series.intervals.windows(2).all(|pair| pair[0].start_s <= pair[1].start_s);
        assert!(in_order, "{:?} goes back in time", series.op);
    }
    for temperature in &trace.temperatures {
        let points = temperature.kelvin.points();
        assert!(points.iter().all(|point| point.value.is_finite()), "{}", temperature.name);
        assert!(
            points.windows(2).all(|pair| pair[0].t <= pair[1].t),
            "{} goes back in time",
            temperature.name
        );
    }
    assert!(trace.phases.iter().all(|phase| phase.start_s.is_finite() && phase.end_s.is_finite()));
    assert!(trace.trusted.as_ref().is_none_or(|trusted| trusted.index < trace.temperatures.len()));
}
