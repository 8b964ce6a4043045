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

use serde::{Deserialize, Serialize};

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
    /// Only this opcode.
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
