//! Faults: what can be made to go wrong, switched on and off while a subsystem works.
//!
//! These types are the format of the control socket. A fault on commands ([`FaultMatch`]) acts on
//! those that come after it was switched on; one on the drive acts until it is cleared. As JSON:
//!
//! ```json
//! {"fault": "command", "on": {"queue": "io", "opcode": 2, "times": 3}, "act": {"delay": {"ms": 500}}}
//! {"fault": "command", "on": {"opcode": 9, "id": 16}, "act": "ignore"}
//! {"fault": "offset-sensor", "sensor": "composite", "kelvin": -20}
//! {"fault": "vanish", "for_ms": 5000}
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{Instant, Kelvin};
use nvme::Status;
use nvme::command::{Sqe, opcode};
use nvme::smart::SmartLog;
use serde::{Deserialize, Serialize};

use super::Queue;
use super::command::Failure;

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "fault", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// Commands go wrong.
    Command {
        /// Which.
        #[serde(default)]
        on: FaultMatch,
        /// How.
        act: Act,
    },
    /// A sensor shows for ever what it shows now.
    FreezeSensor {
        /// Which.
        sensor: SensorName,
    },
    /// A sensor shows more or less than it measures.
    OffsetSensor {
        /// Which.
        sensor: SensorName,
        /// Added to what it measures, in kelvins.
        kelvin: i16,
    },
    /// The counters of the health log show for ever what they show now.
    StickCounters {},
    /// The drive is gone: every connection breaks off and none is taken, until it is cleared.
    Vanish {
        /// After how long it comes back by itself; without it, it does not.
        for_ms: Option<u64>,
    },
}

impl Fault {
    /// Why it can never do what it says; `None` when it can.
    pub fn impossible(&self) -> Option<String> {
        match self {
            // A read that ends well without its data would be the protocol broken, and not a drive that fails.
            Self::Command { act: Act::Fail { status, .. }, .. } if status & STATUS_BITS == 0 => Some(
                "a command cannot fail with status 0, which is success; to have it succeed and do nothing, use \
                 \"ignore\""
                    .to_owned(),
            ),
            Self::Command { act: Act::Fail { status, .. }, .. } if status & !STATUS_BITS != 0 => Some(format!(
                "{status} is no status: type and code have 11 bits, so 2047 is the most, and 641 (0x281) is \
                 Unrecovered Read Error"
            )),
            Self::FreezeSensor { sensor: SensorName::Sensor(number) }
            | Self::OffsetSensor { sensor: SensorName::Sensor(number), .. }
                if !(1..=8).contains(number) =>
            {
                Some(format!("there is no sensor {number}: \"composite\", or {{\"sensor\":1}} to {{\"sensor\":8}}"))
            }
            _ => None,
        }
    }
}

/// Status code and status code type: bits 10:0 of the Status Field (NVMe Base 2.3, Completion Queue Entry).
const STATUS_BITS: u16 = 0x7ff;

/// What goes wrong with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Act {
    /// It is answered that much later.
    Delay {
        /// Milliseconds of the host's time.
        ms: u64,
    },
    /// It is not carried out and fails with this status.
    Fail {
        /// Status code type and code, as in `0x281`: bits 10:0 of the Status Field.
        status: u16,
        /// Whether the host is told not to try again.
        #[serde(default)]
        do_not_retry: bool,
    },
    /// Its connection breaks off.
    Disconnect,
    /// It is never answered, until it is aborted or its queue goes.
    Lose,
    /// It succeeds and does nothing: a setting that is not made, a write that keeps the old data.
    Ignore,
}

/// Which commands a fault acts on. What is not given does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FaultMatch {
    /// Only on this kind of queue.
    pub queue: Option<QueueKind>,
    /// Only this opcode; it means different commands on the two kinds of queue.
    pub opcode: Option<u8>,
    /// Only this CNS of Identify, log page of Get Log Page, or feature of Get and Set Features.
    pub id: Option<u8>,
    /// Only commands that touch a block from this one on,
    pub first_lba: Option<u64>,
    /// and up to this one.
    pub last_lba: Option<u64>,
    /// How many matching commands pass first.
    pub skip: u64,
    /// On how many it acts after that; without it, on all.
    pub times: Option<u64>,
}

/// A kind of queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueKind {
    /// Admin queues.
    Admin,
    /// I/O queues.
    Io,
}

/// A temperature in the health log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensorName {
    /// The composite temperature.
    Composite,
    /// Sensor 1 to 8.
    Sensor(u8),
}

impl SensorName {
    /// What a health log says of it.
    const fn read(self, log: &SmartLog) -> Option<Kelvin> {
        match self {
            Self::Composite => log.composite,
            Self::Sensor(number @ 1..=8) => log.sensors[number as usize - 1],
            Self::Sensor(_) => None,
        }
    }

    const fn of_mut(self, log: &mut SmartLog) -> Option<&mut Option<Kelvin>> {
        match self {
            Self::Composite => Some(&mut log.composite),
            Self::Sensor(number @ 1..=8) => Some(&mut log.sensors[number as usize - 1]),
            Self::Sensor(_) => None,
        }
    }
}

/// The faults of one subsystem.
#[derive(Debug, Default)]
pub(super) struct Faults {
    on: BTreeMap<u32, Switched>,
    last_number: u32,
}

#[derive(Debug)]
struct Switched {
    fault: Fault,
    /// Commands that matched so far.
    matched: u64,
    /// The health log when it was switched on.
    shown: SmartLog,
    /// When it goes by itself.
    until: Option<Instant>,
}

/// What faults do to one command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Struck {
    pub(super) not_before: Option<Instant>,
    pub(super) fail: Option<Failure>,
    pub(super) disconnect: bool,
    pub(super) lose: bool,
    pub(super) ignore: bool,
}

impl Faults {
    pub(super) fn inject(&mut self, now: Instant, fault: Fault, shown: SmartLog) -> u32 {
        self.last_number += 1;
        let until = match &fault {
            Fault::Vanish { for_ms: Some(ms) } => Some(now + Duration::from_millis(*ms)),
            _ => None,
        };
        self.on.insert(self.last_number, Switched { fault, matched: 0, shown, until });
        self.last_number
    }

    pub(super) fn clear(&mut self, number: u32) -> bool {
        self.on.remove(&number).is_some()
    }

    pub(super) fn clear_all(&mut self) {
        self.on.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Fault)> {
        self.on.iter().map(|(number, switched)| (*number, &switched.fault))
    }

    pub(super) fn vanished(&self) -> bool {
        self.on.values().any(|switched| matches!(switched.fault, Fault::Vanish { .. }))
    }

    /// Clears what goes by itself.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.next_expiry().is_some_and(|at| at <= now) {
            self.on.retain(|_, switched| switched.until.is_none_or(|until| until > now));
        }
    }

    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.on.values().filter_map(|switched| switched.until).min()
    }

    /// What happens to a command. Where several faults match, delays go by the longest and failures
    /// by the oldest fault.
    pub(super) fn strike(&mut self, now: Instant, queue: Queue, sqe: &Sqe) -> Struck {
        let mut struck = Struck::default();
        for switched in self.on.values_mut() {
            let Fault::Command { on, act } = &switched.fault else { continue };
            if !on.matches(queue, sqe) {
                continue;
            }
            let passed = switched.matched < on.skip;
            let spent = on.times.is_some_and(|times| switched.matched >= on.skip.saturating_add(times));
            switched.matched = switched.matched.saturating_add(1);
            if !passed && !spent {
                struck.add(now, *act);
            }
        }
        struck
    }

    /// Makes the health log lie.
    pub(super) fn distort(&self, log: &mut SmartLog) {
        for switched in self.on.values() {
            match &switched.fault {
                Fault::FreezeSensor { sensor } => {
                    let frozen = sensor.read(&switched.shown);
                    if let Some(reading) = sensor.of_mut(log) {
                        *reading = frozen;
                    }
                }
                Fault::OffsetSensor { sensor, kelvin } => {
                    if let Some(Some(reading)) = sensor.of_mut(log) {
                        let shown = reading.as_kelvin().saturating_add_signed(*kelvin);
                        *reading = Kelvin::from_kelvin(shown);
                    }
                }
                Fault::StickCounters {} => stick(log, &switched.shown),
                Fault::Command { .. } | Fault::Vanish { .. } => {}
            }
        }
    }
}

/// Every counter as it was.
fn stick(log: &mut SmartLog, shown: &SmartLog) {
    *log = SmartLog {
        critical_warning: log.critical_warning,
        composite: log.composite,
        sensors: log.sensors,
        interval_power: log.interval_power,
        ..shown.clone()
    };
}

impl Struck {
    fn add(&mut self, now: Instant, act: Act) {
        match act {
            Act::Delay { ms } => {
                self.not_before = self.not_before.max(Some(now + Duration::from_millis(ms)));
            }
            Act::Fail { status, do_not_retry } => {
                let status = Status::from_field(status).code();
                let status = if do_not_retry { status.do_not_retry() } else { status };
                self.fail = self.fail.or(Some(Failure::as_is(status)));
            }
            Act::Disconnect => self.disconnect = true,
            Act::Lose => self.lose = true,
            Act::Ignore => self.ignore = true,
        }
    }
}

impl FaultMatch {
    fn matches(&self, queue: Queue, sqe: &Sqe) -> bool {
        let kind = if queue.is_admin() { QueueKind::Admin } else { QueueKind::Io };
        self.queue.is_none_or(|wanted| wanted == kind)
            && self.opcode.is_none_or(|wanted| wanted == sqe.opcode)
            && self
                .id
                .is_none_or(|wanted| queue.is_admin() && has_id(sqe.opcode) && sqe.dword(10) as u8 == wanted)
            && self.touches(queue, sqe)
    }

    fn touches(&self, queue: Queue, sqe: &Sqe) -> bool {
        if self.first_lba.is_none() && self.last_lba.is_none() {
            return true;
        }
        if queue.is_admin() || !has_blocks(sqe.opcode) {
            return false;
        }
        let start = u64::from(sqe.dword(10)) | u64::from(sqe.dword(11)) << 32;
        let last = start.saturating_add(u64::from(sqe.dword(12) & 0xffff));
        last >= self.first_lba.unwrap_or(0) && start <= self.last_lba.unwrap_or(u64::MAX)
    }
}

/// Admin commands with an identifier in the lowest byte of dword 10.
const fn has_id(code: u8) -> bool {
    matches!(code, opcode::IDENTIFY | opcode::GET_LOG_PAGE | opcode::GET_FEATURES | opcode::SET_FEATURES)
}

/// I/O commands that name blocks.
const fn has_blocks(code: u8) -> bool {
    matches!(code, opcode::READ | opcode::WRITE | opcode::COMPARE | opcode::WRITE_ZEROES | opcode::VERIFY)
}
