//! Power meters: a reader for each kind of address, made into sources of readings that are kept apart.
//!
//! Nothing that a meter sends is trusted: it has limits of time and size, its thread is no thread of the load, and what
//! is no plausible power of a drive is a gap with its reason. NVMe's own measurement comes with the SMART log and is no
//! source here.

mod csv;
mod exec;
mod http;
mod hwmon;
mod pipe;
mod scpi;
#[cfg(test)]
mod test;
mod value;

use std::path::Path;
use std::time::Duration;

use measure::record::{MeterFacts, TelemetryRow};
use measure::{Instant, Watts};
use plan::{MeterAddress, MeterSource};

pub use csv::{CsvColumns, CsvError, check_csv, read_csv};

use super::discover::SYSFS;
use super::{Reading, Sampler};

/// A run that ends waits for its samplers; for a meter that hangs, this long at most.
pub(super) const LIMIT_MAX: Duration = Duration::from_secs(3);

/// No drive draws as much: the highest budget of a form factor is 70 W (E3.L), of a card 75 W (PCIe CEM), and a hard
/// disk starts with 30 W. More are milliwatts that nobody said were.
const WATTS_MAX: f64 = 1000.0;
/// Noise around zero may be this far below it.
const WATTS_MIN: f64 = -0.1;

/// Reads one meter; a thread of its own may wait for it.
pub trait MeterReader: Send {
    /// What has come since the last call, in the meter's own unit unless it names one; `None` where nothing has.
    ///
    /// # Errors
    /// A sentence: what was attempted, on what, and why it failed.
    fn read(&mut self, now: Instant) -> Result<Option<value::MeterAmount>, String>;

    /// What the meter says it is, for people.
    fn about(&mut self) -> Option<String> {
        None
    }
}

/// The reader of `address`; `None` for a CSV, which is read with [`read_csv`] when the run has ended, and for the
/// drive's own measurement.
pub fn reader(address: &MeterAddress) -> Option<Box<dyn MeterReader>> {
    let limit = address.period().min(LIMIT_MAX).max(Duration::from_millis(500));
    match &address.source {
        MeterSource::Hwmon { chip, label } => {
            Some(Box::new(hwmon::HwmonMeter::named(Path::new(SYSFS), chip, label.as_deref())))
        }
        MeterSource::HwmonPath(path) => Some(Box::new(hwmon::HwmonMeter::at(path))),
        MeterSource::Scpi { port, ask, item } => {
            Some(Box::new(scpi::ScpiMeter::new(port.clone(), ask.clone(), *item, limit)))
        }
        MeterSource::Http(meter) => Some(Box::new(http::JsonMeter::new(meter.clone(), limit))),
        MeterSource::Pipe { argv } => Some(Box::new(pipe::PipeMeter::new(argv.clone()))),
        MeterSource::Exec { argv } => {
            Some(Box::new(exec::ExecMeter::new(argv.clone(), address.period().min(LIMIT_MAX))))
        }
        MeterSource::Csv { .. } | MeterSource::Drive => None,
    }
}

/// Looks whether there is such a meter, as far as that can be known without asking it.
///
/// # Errors
/// A sentence: what is missing.
pub fn check(address: &MeterAddress) -> Result<(), String> {
    match &address.source {
        MeterSource::Hwmon { chip, label } => {
            hwmon::HwmonMeter::named(Path::new(SYSFS), chip, label.as_deref()).check()
        }
        MeterSource::Csv { path, .. } => check_csv(path).map_err(|error| error.to_string()),
        _ => Ok(()),
    }
}

/// Name of meter number `index` of a plan in the record: `power`, `power2`, `power3`.
pub fn source_name(index: usize) -> String {
    if index == 0 { "power".to_owned() } else { format!("power{}", index + 1) }
}

/// A source for each of these meters that is read while a run is under way.
pub fn samplers(meters: &[MeterAddress]) -> impl Iterator<Item = Box<dyn Sampler>> + '_ {
    let one = |(index, address): (usize, &MeterAddress)| {
        let sampler = MeterSampler::new(source_name(index), address, reader(address)?);
        Some(Box::new(sampler) as Box<dyn Sampler>)
    };
    meters.iter().enumerate().filter_map(one)
}

/// What the record keeps of these meters.
pub fn facts(meters: &[MeterAddress]) -> Vec<MeterFacts> {
    let one = |(index, meter): (usize, &MeterAddress)| MeterFacts {
        source: match meter.source {
            MeterSource::Drive => super::smart::SOURCE.to_owned(),
            _ => source_name(index),
        },
        address: meter.to_string(),
        at: meter.stated.at.map(|at| at.name().to_owned()),
        window_s: meter.stated.window.map(|window| window.as_secs_f64()),
        lag_s: meter.stated.lag.map(|lag| lag.as_secs_f64()),
        step_w: meter.stated.step_w,
        accuracy: meter.stated.accuracy,
    };
    meters.iter().enumerate().map(one).collect()
}

/// A meter as a source of readings.
pub struct MeterSampler {
    source: String,
    period: Duration,
    watts_per_unit: f64,
    reader: Box<dyn MeterReader>,
}

impl MeterSampler {
    /// The meter at `address`, called `source` in the record.
    pub fn new(source: String, address: &MeterAddress, reader: Box<dyn MeterReader>) -> Self {
        let period = match (&address.source, address.stated.period) {
            // Lines come when the program prints them; this is how exactly their time is known.
            (MeterSource::Pipe { .. }, None) => pipe::PERIOD,
            _ => address.period(),
        };
        let watts_per_unit = address.stated.watts_per_unit.unwrap_or(1.0);
        Self { source, period, watts_per_unit, reader }
    }

    /// What the meter says it is.
    pub fn about(&mut self) -> Option<String> {
        self.reader.about()
    }
}

impl Sampler for MeterSampler {
    fn source(&self) -> &str {
        &self.source
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        let empty = || TelemetryRow::empty(now, &self.source, Duration::ZERO);
        match self.reader.read(now) {
            Ok(None) => Reading::from_row(empty()),
            Ok(Some(amount)) => match plausible(amount.watts(self.watts_per_unit)) {
                Ok(power) => Reading::from_row(TelemetryRow { power: Some(power), ..empty() }),
                Err(why) => Reading::failed(now, &self.source, why),
            },
            Err(why) => Reading::failed(now, &self.source, why),
        }
    }
}

/// What a drive can draw; else why this is none.
fn plausible(watts: f64) -> Result<Watts, String> {
    if !watts.is_finite() {
        Err(format!("the meter gave {watts}, which is no power"))
    } else if watts > WATTS_MAX {
        Err(format!(
            "the meter gave {watts} W, more than any drive draws; if it counts milliwatts, add unit=mW to its address"
        ))
    } else if watts < WATTS_MIN {
        Err(format!(
            "the meter gave {watts} W; below zero is no power of a drive: an error of the meter, or its current the wrong way round"
        ))
    } else {
        Ok(Watts::new(watts))
    }
}
