//! An inspection for people: what is there, what it means, and what will limit a test.

use measure::{Bytes, BytesPerSec, Kelvin};

use super::Inspection;
use super::nvme_part::NvmePart;
use crate::commands::settings::hctm::limits_text;
use crate::table;

/// The whole text.
pub(super) fn for_people(inspection: &Inspection, width: usize) -> String {
    let mut text = heading(inspection);
    text.push_str(&facts(inspection, width));
    if let Some(nvme) = &inspection.nvme {
        text.push_str(&temperatures(nvme, width));
        text.push_str(&format!("\nPower states\n{}", table::fitted(&nvme.tables.power_states, width)));
        if !nvme.thresholds.is_empty() {
            text.push_str(&format!(
                "\nTemperature thresholds (warnings only)\n{}",
                table::fitted(&nvme.tables.thresholds, width)
            ));
        }
        text.push_str(&counters(nvme, width));
    }
    text.push_str("\nLimits for a test\n");
    for limit in &inspection.limits {
        text.push_str(&table::paragraph(limit, "- ", width));
    }
    text
}

fn heading(inspection: &Inspection) -> String {
    let simulated = if inspection.simulated { " (simulated)" } else { "" };
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    format!(
        "{}{simulated}\nserial {}, firmware {}, at {}\n\n",
        or_unknown(&inspection.model),
        or_unknown(&inspection.serial),
        or_unknown(&inspection.firmware),
        inspection.address
    )
}

fn facts(inspection: &Inspection, width: usize) -> String {
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut row = |name: &str, value: String| rows.push([name.to_owned(), value]);
    if let Some(device) = &inspection.block_device {
        row(
            "block device",
            format!("{}, {}, {}", device.address, device.identity.size(), device.identity.kind.name()),
        );
        if let Some(wwn) = &device.identity.wwn {
            row("world wide name", wwn.clone());
        }
        row("temperature from", join(&device.temperature));
        row("in use", join(&device.in_use));
    }
    for (name, value) in inspection.scsi.iter().flat_map(|scsi| scsi.rows(inspection.serial.as_deref())) {
        row(name, value);
    }
    if let Some(nvme) = &inspection.nvme {
        if let Some(controller) = &nvme.controller {
            row("controller", format!("/dev/{controller}, namespaces {}", join(&nvme.namespaces)));
        }
        row("NVMe version", nvme.version.clone().unwrap_or_else(|| "not reported".to_owned()));
        row("host memory", host_memory(nvme));
        row("DRAM", nvme.likely_dram_less.reason.clone());
        row("write cache", write_cache(nvme).to_owned());
        row("APST", apst(nvme));
    }
    if let Some(link) = &inspection.link {
        row("link", format!("{}, up to {}", link.name, BytesPerSec::new(link.ceiling_bytes_per_s)));
    }
    if let Some(usb) = &inspection.usb {
        row("USB bridge", usb.text());
        let protocol = usb.protocol.map_or("unknown protocol", |protocol| protocol.name());
        let depth = usb.queue_depth.map_or(String::new(), |depth| format!(", {depth} commands at once"));
        row("USB protocol", format!("{protocol}{depth}"));
        let speed =
            |mbps: Option<u32>| mbps.map_or_else(|| "unknown".to_owned(), |mbps| format!("{mbps} Mb/s"));
        row(
            "USB speed",
            format!(
                "{} negotiated; bridge up to {}, port before it {}",
                speed(usb.speed_mbps),
                speed(usb.able_mbps),
                speed(usb.port_mbps)
            ),
        );
        if let Some(power) = usb.max_power_ma {
            row("USB power", format!("asks for up to {power} mA"));
        }
    }
    if let Some(platform) = &inspection.platform {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        row("largest I/O", or_dash(platform.max_io_bytes.map(|bytes| Bytes::new(bytes).to_string())));
        row("scheduler", or_dash(platform.scheduler.clone()));
        row("NUMA node", or_dash(platform.numa_node.map(|node| node.to_string())));
        row("link power (ASPM)", or_dash(platform.aspm_policy.clone()));
    }
    if let Some(kernel) = &inspection.kernel {
        row("kernel", kernel.clone());
    }
    if rows.is_empty() { String::new() } else { table::fitted(&rows, width) }
}

fn join(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

fn host_memory(nvme: &NvmePart) -> String {
    let memory = &nvme.host_memory;
    match (memory.preferred_bytes, memory.enabled, memory.size_bytes) {
        (None, ..) => "none requested".to_owned(),
        (Some(wanted), Some(true), Some(size)) => {
            format!("uses {} of the {} it prefers (HMPRE)", Bytes::new(size), Bytes::new(wanted))
        }
        (Some(wanted), Some(false), _) => format!("prefers {} (HMPRE) and has none", Bytes::new(wanted)),
        (Some(wanted), ..) => format!("prefers {} (HMPRE)", Bytes::new(wanted)),
    }
}

const fn write_cache(nvme: &NvmePart) -> &'static str {
    match (nvme.write_cache.present, nvme.write_cache.enabled) {
        (false, _) => "none, or not volatile",
        (true, Some(true)) => "volatile, on",
        (true, Some(false)) => "volatile, off",
        (true, None) => "volatile",
    }
}

fn apst(nvme: &NvmePart) -> String {
    match (nvme.apst.supported, nvme.apst.latency_tolerance_us.as_deref()) {
        (false, _) => "not supported".to_owned(),
        (true, Some("0")) => "disabled by the kernel".to_owned(),
        (true, Some(us)) => format!("kernel tolerates {us} µs"),
        (true, None) => "supported; the kernel does not report its setting".to_owned(),
    }
}

fn temperatures(nvme: &NvmePart, width: usize) -> String {
    let told = |temperature: Option<Kelvin>| {
        temperature.map_or_else(|| "not reported".to_owned(), |temperature| temperature.to_string())
    };
    let mut rows = vec![
        ["warning (WCTEMP)".to_owned(), told(nvme.identify.warning_temperature)],
        ["critical (CCTEMP)".to_owned(), told(nvme.identify.critical_temperature)],
    ];
    if let Some(log) = &nvme.log {
        rows.push(["composite now".to_owned(), told(log.composite)]);
        let sensors = log.sensors.iter().enumerate();
        for (number, sensor) in sensors.filter_map(|(number, sensor)| Some((number + 1, (*sensor)?))) {
            rows.push([format!("sensor {number} now"), sensor.to_string()]);
        }
    }
    let hctm = match &nvme.hctm.values {
        Some(values) => {
            let one = |raw: u16| told(Kelvin::from_nvme(raw)).replace("not reported", "off");
            let (tmt1, tmt2) = (one(values.current.tmt1_k), one(values.current.tmt2_k));
            let saveable = match values.saveable {
                Some(true) => ", saveable",
                Some(false) => ", not saveable",
                None => "",
            };
            format!("TMT1 {tmt1}, TMT2 {tmt2}; range {}{saveable}", limits_text(nvme.identify.hctm))
        }
        None if nvme.hctm.supported => "supported; values not reported".to_owned(),
        None => "not supported".to_owned(),
    };
    rows.push(["host thresholds (HCTM)".to_owned(), hctm]);
    format!("\nTemperatures\n{}", table::fitted(&rows, width))
}

fn counters(nvme: &NvmePart, width: usize) -> String {
    let Some(log) = &nvme.log else { return String::new() };
    let rows = [
        ["TMT1 transitions, seconds".to_owned(), format!("{}, {}", log.tmt1_transitions, log.tmt1_seconds)],
        ["TMT2 transitions, seconds".to_owned(), format!("{}, {}", log.tmt2_transitions, log.tmt2_seconds)],
        ["minutes at the warning threshold".to_owned(), log.warning_minutes.to_string()],
        ["minutes at the critical threshold".to_owned(), log.critical_minutes.to_string()],
        ["endurance used".to_owned(), format!("{} %", log.percentage_used)],
        ["hours powered on".to_owned(), log.power_on_hours.to_string()],
    ];
    format!("\nCounters (0: never, or not implemented)\n{}", table::fitted(&rows, width))
}
