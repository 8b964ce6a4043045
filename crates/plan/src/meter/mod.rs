//! Addresses of power meters: where watts come from, in one line that is the same on the command line and in plans.
//!
//! `KIND:WHERE?option=value&option=value`. Seven kinds; whatever speaks Bluetooth, HID or a maker's protocol comes in
//! through `pipe:`. For `pipe:` and `exec:` the options come first, as a command may hold any character:
//! `pipe:?at=adapter COMMAND`. For `http:` they stand behind the JSON pointer: `http://plug/status#/power?unit=mW`.
//!
//! # What it does not do
//! It opens nothing. Secrets have no place in an address, as it is kept in the record: they come from a file.

mod read;
#[cfg(test)]
mod test;
mod write;

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// One power meter.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterAddress {
    /// Where its readings come from.
    pub source: MeterSource,
    /// What is stated about it.
    pub stated: MeterStated,
}

/// Where a meter's readings come from.
#[derive(Clone, Debug, PartialEq)]
pub enum MeterSource {
    /// A chip that the kernel's hwmon knows, by its name and, where it has several inputs, a label.
    Hwmon {
        /// Content of its file `name`, such as `ina226`.
        chip: String,
        /// Content of `powerN_label`, `inN_label` or `currN_label`, or a channel's number.
        label: Option<String>,
    },
    /// A hwmon file in microwatts, or the folder of a chip.
    HwmonPath(PathBuf),
    /// An instrument that answers SCPI.
    Scpi {
        /// How it is reached.
        port: ScpiPort,
        /// The question, such as `MEAS:POW?`.
        ask: String,
        /// Which number of the answer, from 1.
        item: u32,
    },
    /// One number in a JSON document, by HTTP.
    Http(HttpMeter),
    /// A program that keeps running and prints a line a reading: watts, or a time and watts.
    Pipe {
        /// The command and its arguments, run without a shell.
        argv: Vec<String>,
    },
    /// A program that is started for each reading and prints watts on its first line.
    Exec {
        /// The command and its arguments, run without a shell.
        argv: Vec<String>,
    },
    /// A CSV that is merged when the run ends.
    Csv {
        /// The file.
        path: PathBuf,
        /// The column of times.
        time: String,
        /// The column of power.
        power: String,
        /// What the times count from.
        clock: MeterClock,
    },
    /// The drive's own measurement, which comes with the SMART log.
    Drive,
}

/// How an instrument is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScpiPort {
    /// By TCP.
    Network {
        /// Name or number of the host.
        host: String,
        /// TCP port; 5025 is usual.
        port: u16,
    },
    /// By a device file such as `/dev/usbtmc0`.
    Device(PathBuf),
}

/// One number in a JSON document, by HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpMeter {
    /// Name or number of the host.
    pub host: String,
    /// TCP port; 80 is usual.
    pub port: u16,
    /// Path and query, as they are asked for.
    pub target: String,
    /// Where in the document the number is (RFC 6901).
    pub pointer: String,
    /// A file of `Name: value` lines to send along.
    pub header_file: Option<PathBuf>,
    /// A file whose text is added to the query.
    pub query_file: Option<PathBuf>,
}

/// What the times of a CSV count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterClock {
    /// The beginning of the run.
    Run,
    /// 1970-01-01 UTC.
    Unix,
}

/// What the user states about a meter; what is not stated is learnt, or not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterStated {
    /// Time between two readings.
    pub period: Option<Duration>,
    /// Watts of one unit of its numbers.
    pub watts_per_unit: Option<f64>,
    /// Where between wall and drive it measures.
    pub at: Option<MeasuredAt>,
    /// Over which time a reading is the mean; zero for a reading of the moment.
    pub window: Option<Duration>,
    /// How late a reading is.
    pub lag: Option<Duration>,
    /// Watts of its last digit.
    pub step_w: Option<f64>,
    /// Its error as a share of the reading.
    pub accuracy: Option<f64>,
}

/// Where between wall and drive a meter measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredAt {
    /// At the wall, a power supply behind it.
    Wall,
    /// Behind an adapter, a converter behind it.
    Adapter,
    /// At the drive's own supply.
    Drive,
    /// Around a whole machine.
    System,
}

/// Why an address names no meter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot read the power meter {address:?}: {why}")]
pub struct MeterError {
    address: String,
    why: String,
}

/// As often as NVMe's own power measurement and most meters give a reading.
const PERIOD: Duration = Duration::from_secs(1);

impl MeterAddress {
    /// Time between two readings.
    pub fn period(&self) -> Duration {
        self.stated.period.unwrap_or(PERIOD)
    }

    /// The word before the colon.
    pub const fn kind(&self) -> &'static str {
        match &self.source {
            MeterSource::Hwmon { .. } | MeterSource::HwmonPath(_) => "hwmon",
            MeterSource::Scpi { .. } => "scpi",
            MeterSource::Http(_) => "http",
            MeterSource::Pipe { .. } => "pipe",
            MeterSource::Exec { .. } => "exec",
            MeterSource::Csv { .. } => "csv",
            MeterSource::Drive => "drive",
        }
    }

    /// What a run does besides reading files of this machine, for people; `None` where it does no more.
    pub fn reaches_out(&self) -> Option<String> {
        match &self.source {
            MeterSource::Pipe { argv } | MeterSource::Exec { argv } => {
                Some(format!("runs `{}`", argv.join(" ")))
            }
            MeterSource::Http(HttpMeter { host, port, .. })
            | MeterSource::Scpi { port: ScpiPort::Network { host, port }, .. } => {
                Some(format!("asks {host}:{port}"))
            }
            _ => None,
        }
    }
}

impl MeasuredAt {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Wall, Self::Adapter, Self::Drive, Self::System];

    /// The word in an address.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Adapter => "adapter",
            Self::Drive => "drive",
            Self::System => "system",
        }
    }
}
