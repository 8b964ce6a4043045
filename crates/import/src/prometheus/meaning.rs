//! What a metric of Prometheus says, by its name and labels.

use std::collections::BTreeMap;

use super::own;
use crate::part::CountedBy;

/// What a metric says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A temperature by the sensor's name; whether it is in kelvins.
    Temperature(&'static str, bool),
    /// Bytes for each unit of a counter: of reads, writes, trims; who counts.
    Moved(usize, f64, CountedBy),
    /// Transitions and seconds of TMT1 and TMT2.
    Counter(usize),
    /// Bytes per second of reads, writes, trims over the time before.
    Rate(usize),
    /// Watts.
    Power,
    /// Known, and of no use here.
    Nothing,
}

/// Names of hwmon's inputs for NVMe: the composite first, then the sensors (drivers/nvme/host/hwmon.c).
pub(super) const HWMON: [(&str, &str); 9] = [
    ("temp1", "composite"),
    ("temp2", "sensor1"),
    ("temp3", "sensor2"),
    ("temp4", "sensor3"),
    ("temp5", "sensor4"),
    ("temp6", "sensor5"),
    ("temp7", "sensor6"),
    ("temp8", "sensor7"),
    ("temp9", "sensor8"),
];

/// Chips by what they are on, as node_exporter names them: those of processors, boards, graphics, memory and batteries. A drive's is
/// on NVMe or SCSI (`nvme_nvme0`, `target0:0:0_0:0:0:0`).
const OTHER_CHIPS: [&str; 7] = ["platform_", "thermal_", "pci", "i2c", "virtual_", "power_supply", "acpi"];

/// What a metric is; `None` for an unknown one.
pub(super) fn meaning(metric: &BTreeMap<String, String>) -> Option<Meaning> {
    let label = |name: &str| metric.get(name).map_or("", String::as_str);
    let moved = |direction, unit, source| Some(Meaning::Moved(direction, unit, source));
    let name = label("__name__");
    if let Some(own) = name.strip_prefix(own::PREFIX) {
        return Some(own::meaning(own, metric));
    }
    let name =
        name.strip_prefix("nvme_smart_").map_or_else(|| name.to_owned(), |rest| format!("nvme_{rest}"));
    match name.as_str() {
        "node_hwmon_temp_celsius" => {
            let input = HWMON.iter().find(|(input, _)| *input == label("sensor"));
            match input {
                Some((_, name)) if label("chip").contains("nvme") => Some(Meaning::Temperature(name, false)),
                Some((_, "composite"))
                    if !OTHER_CHIPS.iter().any(|begin| label("chip").starts_with(begin)) =>
                {
                    Some(Meaning::Temperature("hwmon", false))
                }
                _ => Some(Meaning::Nothing),
            }
        }
        "smartctl_device_temperature" => match label("temperature_type") {
            "current" | "" => Some(Meaning::Temperature("composite", false)),
            _ => Some(Meaning::Nothing),
        },
        "nvme_temperature_celsius"
        | "nvme_temperature_celcius"
        | "smartmon_temperature_celsius_raw_value" => Some(Meaning::Temperature("composite", false)),
        "nvme_temperature" => Some(Meaning::Temperature("composite", true)),
        "node_disk_read_bytes_total" => moved(0, 1.0, CountedBy::System),
        "node_disk_written_bytes_total" => moved(1, 1.0, CountedBy::System),
        "node_disk_discarded_sectors_total" => moved(2, 512.0, CountedBy::System),
        "windows_physical_disk_read_bytes_total" | "windows_logical_disk_read_bytes_total" => {
            moved(0, 1.0, CountedBy::System)
        }
        "windows_physical_disk_write_bytes_total" | "windows_logical_disk_write_bytes_total" => {
            moved(1, 1.0, CountedBy::System)
        }
        "smartmon_attr_raw_value" if label("name").eq_ignore_ascii_case("temperature_celsius") => {
            Some(Meaning::Temperature("composite", false))
        }
        "smartctl_device_bytes_read" => moved(0, 1.0, CountedBy::Drive),
        "smartctl_device_bytes_written" => moved(1, 1.0, CountedBy::Drive),
        "nvme_data_units_read" | "nvme_data_units_read_total" => moved(0, 512_000.0, CountedBy::Drive),
        "nvme_data_units_written" | "nvme_data_units_written_total" => moved(1, 512_000.0, CountedBy::Drive),
        "nvme_thm_temp1_trans_count" => Some(Meaning::Counter(0)),
        "nvme_thm_temp2_trans_count" => Some(Meaning::Counter(1)),
        "nvme_thm_temp1_total_time" | "nvme_thm_temp1_trans_time" => Some(Meaning::Counter(2)),
        "nvme_thm_temp2_total_time" | "nvme_thm_temp2_trans_time" => Some(Meaning::Counter(3)),
        name if name.starts_with("node_hwmon_") || name.starts_with("node_disk_") => Some(Meaning::Nothing),
        name if name.starts_with("windows_") || name.starts_with("smartmon_") => Some(Meaning::Nothing),
        name if name.starts_with("smartctl_") || name.starts_with("nvme_") => Some(Meaning::Nothing),
        _ => None,
    }
}
