//! Power: a hwmon file in microwatts, a command that prints watts, a CSV that is merged when the run ends.
//!
//! NVMe's own power measurement comes with the SMART log and is no source here.

mod command;
mod csv;

use std::path::PathBuf;
use std::time::Duration;

use measure::{Instant, Watts};

pub use command::CommandSampler;
pub use csv::{CsvError, check_csv, read_csv};

use super::{Reading, Sampler, read_number};
use plan::PowerSource;

/// Its name in the record.
const SOURCE: &str = "power";

/// The sampler of a power source; `None` for a CSV, which is read with [`read_csv`] when the run has ended.
pub fn sampler(source: &PowerSource) -> Option<Box<dyn Sampler>> {
    match source {
        PowerSource::Hwmon { path, period } => Some(Box::new(HwmonPowerSampler::new(path.clone(), *period))),
        PowerSource::Command { argv, period } => Some(Box::new(CommandSampler::new(argv.clone(), *period))),
        PowerSource::Csv { .. } => None,
    }
}

/// Reads a hwmon `power1_input` once a period.
#[derive(Clone, Debug)]
pub struct HwmonPowerSampler {
    period: Duration,
    path: PathBuf,
}

impl HwmonPowerSampler {
    /// A sampler of the hwmon file `path`.
    pub const fn new(path: PathBuf, period: Duration) -> Self {
        Self { period, path }
    }
}

impl Sampler for HwmonPowerSampler {
    fn source(&self) -> &'static str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        // Microwatts (Documentation/hwmon/sysfs-interface.rst); negative where a sensor counts both ways.
        let microwatts = read_number::<i64>(&self.path);
        reading(now, microwatts.map(|microwatts| Watts::new(microwatts as f64 / 1e6)))
    }
}

fn reading(now: Instant, power: Result<Watts, String>) -> Reading {
    match power {
        Ok(power) => {
            let mut reading = Reading::empty(now, SOURCE);
            reading.row.power = Some(power);
            reading
        }
        Err(why) => Reading::failed(now, SOURCE, why),
    }
}

/// A number of watts; what is no finite number is no reading.
fn watts(typed: &str) -> Option<Watts> {
    typed.trim().parse::<f64>().ok().filter(|watts| watts.is_finite()).map(Watts::new)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn microwatts_become_watts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("power1_input");
        std::fs::write(&path, "8250000\n").expect("written");
        let mut sampler = HwmonPowerSampler::new(path, Duration::from_secs(1));
        assert_eq!(sampler.sample(Instant::ZERO).row.power, Some(Watts::new(8.25)));
    }

    #[test]
    fn every_source_that_is_read_while_running_has_a_sampler() {
        let period = Duration::from_millis(100);
        let hwmon = PowerSource::Hwmon { path: "/x".into(), period };
        let command = PowerSource::Command { argv: vec!["x".into()], period };
        for source in [hwmon, command] {
            let sampler = sampler(&source).expect("it is read while running");
            assert_eq!((sampler.source(), sampler.period()), ("power", period));
        }
        assert!(sampler(&PowerSource::Csv { path: "/x".into() }).is_none());
    }
}
