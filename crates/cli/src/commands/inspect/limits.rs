//! What will limit a test of this drive, in sentences that follow from what is known of it.
//!
//! Nothing here is measured: these are the limits that can be told beforehand.

use capture::session::thermal_limit;
use drive::usb::UsbProtocol;
use measure::Kelvin;
use measure::record::DriveFacts;
use plan::Plan;

use super::Inspection;
use super::nvme_part::NvmePart;

/// The sentences, the most important first.
pub(super) fn collect(inspection: &Inspection) -> Vec<String> {
    let mut limits = Vec::new();
    if let Some(nvme) = &inspection.nvme {
        heat(nvme, &mut limits);
        power(nvme, &mut limits);
        knowledge(nvme, &mut limits);
    }
    path_limits(inspection, &mut limits);
    limits
}

/// Where heat will slow it down or end the test.
fn heat(nvme: &NvmePart, limits: &mut Vec<String>) {
    let stop = thermal_limit(&Plan::new("inspect"), &facts(nvme));
    let critical = nvme.identify.critical_temperature;
    limits.push(match critical {
        Some(critical) => format!(
            "a run ends its load at {stop}, 5 K below the critical threshold of {critical}, unless the plan says another"
        ),
        None => format!("a run ends its load at {stop}: the drive reports no critical threshold"),
    });
    if let Some(values) = &nvme.hctm.values {
        let of = |raw: u16| Kelvin::from_nvme(raw);
        let (tmt1, tmt2) = (of(values.current.tmt1_k), of(values.current.tmt2_k));
        if let Some(tmt1) = tmt1 {
            let note = if Some(tmt1) == nvme.identify.hctm.min {
                ", its lowest: some drives take that for \"off\", others throttle all the time"
            } else {
                ""
            };
            limits.push(format!("light throttling from {tmt1} (TMT1){note}"));
        }
        if let Some(tmt2) = tmt2 {
            let reached = if tmt2 >= stop { ", which a run does not reach before its own limit" } else { "" };
            limits.push(format!("heavy throttling from {tmt2} (TMT2){reached}"));
        }
    } else if !nvme.hctm.supported {
        limits.push(
            "the host cannot set where it throttles (no HCTM): only thresholds of its maker act, which it does not tell"
                .to_owned(),
        );
    }
    let now = nvme.log.as_ref().and_then(|log| log.composite);
    if let (Some(now), Some(warning)) = (now, nvme.identify.warning_temperature)
        && now >= warning
    {
        limits.push(format!(
            "it is at {now} already, at or above its warning threshold of {warning}: cool it first"
        ));
    }
}

fn facts(nvme: &NvmePart) -> DriveFacts {
    DriveFacts {
        kind: "nvme".to_owned(),
        model: None,
        serial: None,
        firmware: None,
        wwn: None,
        size_bytes: 0,
        block_bytes: 512,
        warning_k: nvme.warning_k,
        critical_k: nvme.critical_k,
        tmt_min_k: nvme.hctm.min_k,
        tmt_max_k: nvme.hctm.max_k,
        hctm: Some(nvme.hctm.supported),
        slc_bytes: None,
        power_states: None,
    }
}

fn power(nvme: &NvmePart, limits: &mut Vec<String>) {
    if let Some(state) = nvme.power_state.as_ref().map(|values| values.current).filter(|state| *state != 0) {
        limits.push(format!(
            "it is in power state {state}: slower than in state 0, which `heatsoak power-state` sets"
        ));
    }
    if nvme.apst.supported && nvme.apst.latency_tolerance_us.as_deref().is_some_and(|us| us != "0") {
        limits.push(
            "it may go to sleep by itself (APST): the first I/O after a pause takes longer, and idle power is lower"
                .to_owned(),
        );
    }
}

/// What a test will not be able to tell.
fn knowledge(nvme: &NvmePart, limits: &mut Vec<String>) {
    match &nvme.log {
        None => limits
            .push("it gives no health log: temperature and throttle counters cannot be recorded".to_owned()),
        Some(log) => {
            if log.composite.is_none() {
                limits.push(
                    "it reports no composite temperature (0 K): nobody watches the limit, unless hwmon has another source"
                        .to_owned(),
                );
            }
            let never = log.tmt1_transitions == 0 && log.tmt2_transitions == 0;
            if nvme.hctm.supported && never {
                limits.push(
                    "the TMT1 and TMT2 counters are 0: it never throttled by them, or does not implement them"
                        .to_owned(),
                );
            }
        }
    }
    if nvme.likely_dram_less.value == Some(true) {
        limits.push(format!(
            "it likely has no DRAM ({}): random I/O over a large region is slower than over a small one",
            nvme.likely_dram_less.reason
        ));
    }
}

/// The way to the drive, and what stands in it.
fn path_limits(inspection: &Inspection, limits: &mut Vec<String>) {
    if let Some(link) = &inspection.link {
        let ceiling = measure::BytesPerSec::new(link.ceiling_bytes_per_s);
        let slow = inspection.usb.as_ref().and_then(drive::usb::UsbBridge::slow_link);
        limits.push(match link.possible_bytes_per_s {
            Some(_) if slow.is_some() => {
                format!("the link ({}) carries {ceiling}: {}", link.name, slow.unwrap_or_default())
            }
            Some(possible) => format!(
                "the link ({}) carries {ceiling}, though drive and slot could carry {}: another slot, a reseated drive \
                 or the firmware's settings may help",
                link.name,
                measure::BytesPerSec::new(possible)
            ),
            None => format!("the link ({}) carries {ceiling}", link.name),
        });
    }
    if let Some(usb) = &inspection.usb
        && (usb.protocol, usb.offers_uas) == (Some(UsbProtocol::BulkOnly), Some(true))
    {
        limits.push(
            "the bridge offers UAS and is spoken to by BOT, one command at a time: a quirk of the kernel for this id \
             (usb-storage.quirks), or the uas module is missing"
                .to_owned(),
        );
    }
    if let Some(platform) = &inspection.platform {
        // USB bridges are said to rotate whatever is behind them.
        if platform.rotational == Some(true) && inspection.usb.is_none() {
            limits.push(
                "the kernel takes it for a rotating disk: findings about throttling are made for SSDs"
                    .to_owned(),
            );
        }
        if platform.aspm_l1 == Some(true) {
            limits.push(
                "its link may sleep (ASPM L1): latencies at low queue depth are longer than without"
                    .to_owned(),
            );
        }
    }
    if let Some(uses) =
        inspection.block_device.as_ref().map(|device| &device.in_use).filter(|uses| !uses.is_empty())
    {
        limits.push(format!("it is in use ({}): other I/O disturbs a test", uses.join(", ")));
    }
}
