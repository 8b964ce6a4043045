//! `manifest.json`: what was run on what, with which settings, and how it ended.
//!
//! This is a file format: the structs are the JSON, field by field. It is written whole at the start, at
//! every phase change and at the end, always beside and then renamed over, so that it is never half there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was run on what, with which settings, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of the folder's format; see [`super::SCHEMA`].
    pub schema: u32,
    /// Version of heatsoak that wrote it.
    pub heatsoak_version: String,
    /// Where the numbers come from: a simulated drive can never pass for a measured one.
    pub origin: Origin,
    /// The address the user gave, such as `twin:ssd1`.
    pub address: String,
    /// The drive.
    pub drive: DriveFacts,
    /// Name of the plan.
    pub plan_name: String,
    /// The plan with everything filled in, as TOML: running it again runs the same thing.
    pub plan_toml: String,
    /// Length of a full interval in nanoseconds.
    pub interval_ns: u64,
    /// The plan's phases, in order, with what came of them.
    pub phases: Vec<PhaseFacts>,
    /// Settings before, set and after.
    pub settings: SettingsFacts,
    /// The load stops at this composite temperature, in kelvins.
    pub stop_at_k: Option<u16>,
    /// The machine; `None` in simulated runs, which do not depend on it.
    pub host: Option<HostFacts>,
    /// The link at the start of the run; `None` where there is none to be read.
    pub link: Option<LinkFacts>,
    /// The link at the end of the run.
    pub link_end: Option<LinkFacts>,
    /// Temperature of the air around the drive, in kelvins: of a simulated drive, or as the user states it; `None` where
    /// nobody did, and in records from before this field.
    #[serde(default)]
    pub ambient_k: Option<f64>,
    /// Power meters beside the drive's own measurement, the one that figures are of first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<MeterFacts>,
    /// Power that the meters show without the drive, to be taken off; `None` where nobody stated or measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_baseline: Option<PowerBaseline>,
    /// Rated endurance in bytes, where it is stated; `None` where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_write_bytes: Option<u64>,
    /// Whether the drive was switched on when the run began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub switched_on: bool,
    /// What an NVMe drive said about itself and its settings, byte for byte, at the start of the run and (the settings)
    /// at its end. Empty where nobody could ask, and in records from before this field.
    #[serde(default)]
    pub answers: Vec<RawAnswer>,
    /// One pair of wall clock and monotonic clock.
    pub clock_anchor: ClockAnchor,
    /// What the kernel's log said of the drive's transport while the run was on, as far as it could be read; empty in records
    /// from before this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transport_events: Vec<TransportEvent>,
    /// That the load was shaped by the temperature (`heatsoak govern`); `None` where it was not, and in records from before
    /// this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<GovernorFacts>,
    /// Things a reader of the numbers has to know: what was prepared, ignored or done differently.
    pub notes: Vec<String>,
    /// How the run ended; `None` while it is under way, or when it was killed.
    pub end: Option<End>,
}

/// A load that was kept from heating the drive to a temperature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GovernorFacts {
    /// The composite temperature was to stay below this one, in kelvins.
    pub below_k: u16,
    /// The load was never limited to less than this, in bytes per second.
    pub at_least_bytes_per_s: f64,
    /// The highest temperature that was read, in kelvins; `None` until the run has ended.
    pub highest_k: Option<f64>,
    /// Stretches in which the governor held the load back: the speed there is not the drive's. Empty until the run has
    /// ended.
    pub held: Vec<HeldFacts>,
}

/// A stretch in which a governor held the load back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldFacts {
    /// Its start, in nanoseconds since the run began.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// The mean of the limit in it, in bytes per second.
    pub bytes_per_s: f64,
}

/// Where the numbers come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// Measured on a device or a file.
    Device,
    /// Simulated.
    Twin {
        /// Name of the profile.
        profile: String,
        /// The profile's parameters, as TOML.
        profile_toml: String,
        /// Seed of everything random.
        seed: u64,
    },
    /// Measured in real time on a simulated drive behind NVMe/TCP.
    VirtualSsd {
        /// Name of its subsystem.
        nqn: String,
        /// Seconds of the drive in one of the host's, in which the record is written; 1 where it is not told.
        #[serde(default = "as_the_host")]
        time_scale: u32,
        /// Bytes of the drive for one of the host's.
        #[serde(default = "as_the_host")]
        bandwidth_scale: u32,
    },
}

const fn as_the_host() -> u32 {
    1
}

impl Origin {
    /// Whether the numbers are simulated.
    pub const fn is_simulated(&self) -> bool {
        matches!(self, Self::Twin { .. } | Self::VirtualSsd { .. })
    }
}

/// What is known about the drive. Everything a drive may not report is an `Option`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveFacts {
    /// What it is attached by, in the words of `heatsoak list` (`nvme`, `sata`, `usb`, `scsi`, `virtio`, `mmc`,
    /// `other`), or `nvme-tcp`, `virtual SSD`, `file`, `null`, `twin`.
    pub kind: String,
    /// Model name.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// World wide name, as the kernel writes it (`naa.`, `eui.` or `uuid.` and digits).
    #[serde(default)]
    pub wwn: Option<String>,
    /// Size of what was under load, in bytes.
    pub size_bytes: u64,
    /// Logical block size in bytes.
    pub block_bytes: u32,
    /// Warning composite temperature threshold (WCTEMP).
    pub warning_k: Option<u16>,
    /// Critical composite temperature threshold (CCTEMP).
    pub critical_k: Option<u16>,
    /// Lowest settable thermal management temperature (MNTMT).
    pub tmt_min_k: Option<u16>,
    /// Highest settable thermal management temperature (MXTMT).
    pub tmt_max_k: Option<u16>,
    /// Whether the host may set the thermal management temperatures (HCTMA).
    pub hctm: Option<bool>,
    /// Size of the fast write cache in bytes, where known beforehand.
    pub slc_bytes: Option<u64>,
    /// Numbers of the power states that serve I/O; `None` where nobody could ask, and in records from before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_states: Option<Vec<u8>>,
}

impl DriveFacts {
    /// Capacity of the drive in bytes; `None` where a file or nothing at all was under load, whose size is not the drive's.
    pub fn capacity_bytes(&self) -> Option<u64> {
        let of_drive = !["file", "null"].contains(&self.kind.as_str());
        Some(self.size_bytes).filter(|bytes| of_drive && *bytes > 0)
    }
}

/// A power meter of a run: where its readings are, and what is stated about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeterFacts {
    /// Its name in the table of readings: `power`, `power2`, or `smart` for the drive's own.
    pub source: String,
    /// Its address, without secrets.
    pub address: String,
    /// Where it measures: `wall`, `adapter`, `drive`, `system`; `None` where nobody stated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Over which time a reading is the mean, in seconds; 0 for a reading of the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_s: Option<f64>,
    /// How late a reading is, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_s: Option<f64>,
    /// Its last digit, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_w: Option<f64>,
    /// Its error as a share of the reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}

/// Power that a meter shows without the drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PowerBaseline {
    /// In watts.
    pub watts: f64,
    /// Half of its 95 % interval, in watts; 0 where it was stated as exact.
    pub plus_minus_w: f64,
}

/// One phase of the plan and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseFacts {
    /// Its name in the plan.
    pub name: String,
    /// The operations it is made of: `read`, `write`, `trim`; `idle` alone where there is no load.
    pub ops: Vec<String>,
    /// What it does, in one line for people: "sequential write, 1 MiB, depth 64".
    pub what: String,
    /// Rate limit of all its loads together, in bytes per second.
    pub rate_limit_bytes_per_s: Option<f64>,
    /// Whether its I/O goes through the page cache.
    pub buffered: bool,
    /// When it began, in nanoseconds since the run began; `None` if it never did.
    pub start_ns: Option<u64>,
    /// When it ended.
    pub end_ns: Option<u64>,
    /// Why it ended: `duration`, `bytes`, `laps`, `temperature`, `interrupted`, `safety`, `errors`, `record`.
    pub ended_by: Option<String>,
    /// Which round of the plan it belongs to, from 1; `None` outside of rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Whether the rounds go on until its speed is steady.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tracked: bool,
    /// Whether all it writes goes to a range as large as the fast write cache, written over again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within_cache: bool,
}

/// The settings that govern throttling, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThermalSettings {
    /// Light throttling from this temperature on (TMT1); 0 is disabled.
    pub tmt1_k: Option<u16>,
    /// Heavy throttling from this temperature on (TMT2); 0 is disabled.
    pub tmt2_k: Option<u16>,
    /// Power state.
    pub power_state: Option<u8>,
}

/// Settings before the run, as set for it, and after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsFacts {
    /// As found.
    pub before: ThermalSettings,
    /// What the plan set; empty where it set nothing.
    pub set: ThermalSettings,
    /// As left; `None` until the run has ended.
    pub after: Option<ThermalSettings>,
}

/// One command to an NVMe controller and its answer, as both went over the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawAnswer {
    /// When it was asked.
    pub when: RunEdge,
    /// The command's name, for people: `Identify Controller`.
    pub command: String,
    /// Opcode.
    pub opcode: u8,
    /// Namespace identifier.
    pub nsid: u32,
    /// Command dwords 10 and 11; all others were 0.
    pub cdw10: u32,
    /// Command dword 11.
    pub cdw11: u32,
    /// Status Field of the completion without its phase tag; 0 is success, and nothing else here has a value.
    pub status: u16,
    /// Dword 0 of the completion: a feature's value.
    pub dword0: u32,
    /// Bytes of data that came.
    pub data_bytes: u32,
    /// The data in hexadecimal, up to its last byte that is not 0.
    pub data_hex: String,
}

/// One of the two ends of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunEdge {
    /// Before the run changed anything.
    Start,
    /// After everything was put back.
    End,
}

impl RawAnswer {
    /// Data in the form of [`Self::data_hex`].
    pub fn hex(data: &[u8]) -> String {
        let end = data.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        data[..end].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The data, all of it; `None` when the two fields of it are no data.
    pub fn data(&self) -> Option<Vec<u8>> {
        let digits = self.data_hex.as_bytes();
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let byte = |pair: &[u8]| match *pair {
            [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
            _ => None,
        };
        let mut data: Vec<u8> = digits.chunks(2).map(byte).collect::<Option<_>>()?;
        // More than any command of ours moves is damage, and no reason to take gigabytes.
        let whole = data.len() <= self.data_bytes as usize && self.data_bytes <= DATA_BYTES_MAX;
        data.resize(self.data_bytes.min(DATA_BYTES_MAX) as usize, 0);
        whole.then_some(data)
    }
}

/// Bytes of an Identify page and of the longest feature.
const DATA_BYTES_MAX: u32 = 4096;

/// The machine a run was made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Its name.
    pub hostname: String,
    /// Kernel name, release and version, as `uname -srv` prints them.
    pub kernel: String,
    /// Processor model.
    pub cpu: Option<String>,
    /// Number of processors in use.
    pub cpu_count: u32,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
}

/// A PCIe, USB or SATA link, as negotiated and as possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFacts {
    /// What it is, for people: "PCIe 8.0 GT/s x4".
    pub name: String,
    /// What it can carry, in bytes per second, line coding taken off.
    pub ceiling_bytes_per_s: f64,
    /// What drive and slot could carry together, where that is known to be more.
    pub possible_bytes_per_s: Option<f64>,
}

/// A line of the kernel's log about the transport between host and drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransportEvent {
    /// When, in nanoseconds since the run began.
    pub t_ns: u64,
    /// What.
    pub kind: TransportEventKind,
    /// The line, cut to 200 characters.
    pub text: String,
}

/// What a line of the kernel's log says of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportEventKind {
    /// A command that did not answer in time was given up.
    Abort,
    /// Device, link or host adapter was reset.
    Reset,
    /// The drive left the bus, or was given up.
    Gone,
}

/// One moment, told by both clocks. Series carry only time since the run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockAnchor {
    /// Wall clock at the run's zero, in nanoseconds since 1970-01-01 UTC.
    pub wall_unix_ns: i64,
    /// `CLOCK_MONOTONIC` at the run's zero in nanoseconds; `None` in simulated time.
    pub monotonic_ns: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// When, in nanoseconds since the run began.
    pub t_ns: u64,
    /// More about it, for people.
    pub detail: Option<String>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// All phases were done.
    Completed,
    /// Ctrl-C or a signal.
    Interrupted,
    /// The thermal limit.
    SafetyLimit,
    /// As much was written as was permitted (`--max-write`).
    WriteLimit,
    /// More I/O errors than the plan allows, or a target that went away.
    DeviceFailed,
    /// The record could not be written on.
    RecordFailed,
}

#[cfg(test)]
mod test {
    use super::*;

    fn answer(data_bytes: u32, data_hex: &str) -> RawAnswer {
        RawAnswer {
            when: RunEdge::Start,
            command: "Identify Controller".into(),
            opcode: 6,
            nsid: 0,
            cdw10: 1,
            cdw11: 0,
            status: 0,
            dword0: 0,
            data_bytes,
            data_hex: data_hex.into(),
        }
    }

    #[test]
    fn bytes_survive_without_their_last_zeroes() {
        for data in [&[0_u8; 4][..], &[], &[0, 1, 0xfe, 0], &[9; 5]] {
            let kept = answer(data.len() as u32, &RawAnswer::hex(data));
            assert_eq!(kept.data().as_deref(), Some(data), "{kept:?}");
        }
        assert_eq!(RawAnswer::hex(&[0, 0x1b, 0, 0]), "001b");
        for (bytes, hex) in [(1, "0102"), (4, "012"), (4, "0x"), (4, "äö"), (4, "+1")] {
            assert_eq!(answer(bytes, hex).data(), None, "{bytes} {hex}");
        }
    }
}
