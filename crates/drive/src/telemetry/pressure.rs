//! How long tasks of this machine wait for I/O: `/proc/pressure/io` (Documentation/accounting/psi.rst).
//!
//! It is of the whole machine, not of one drive. The totals are kept, not the kernel's averages, which lag.

use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::Instant;

use super::{Reading, Sampler, read_text};

/// Its name in the record.
const SOURCE: &str = "pressure";

/// Reads the totals once a period.
#[derive(Clone, Debug)]
pub struct PressureSampler {
    period: Duration,
    path: PathBuf,
}

impl PressureSampler {
    /// That of this machine; `None` where its kernel was built or started without.
    pub fn find(period: Duration) -> Option<Self> {
        let path = Path::new("/proc/pressure/io");
        // The file may be there and refuse to be read (psi=0).
        read_text(path).ok().map(|_| Self { period, path: path.to_owned() })
    }
}

impl Sampler for PressureSampler {
    fn source(&self) -> &str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        match read_text(&self.path) {
            Ok(text) => {
                let mut reading = Reading::empty(now, SOURCE);
                reading.row.pressure_some_us = total(&text, "some");
                reading.row.pressure_full_us = total(&text, "full");
                reading
            }
            Err(why) => Reading::failed(now, SOURCE, why),
        }
    }
}

/// The total of a line such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`.
fn total(text: &str, line: &str) -> Option<u64> {
    let line = text.lines().find(|found| found.split_ascii_whitespace().next() == Some(line))?;
    line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn totals_are_read_off_their_lines() {
        let text = "some avg10=1.00 avg60=0.20 avg300=0.00 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=99\n";
        assert_eq!((total(text, "some"), total(text, "full")), (Some(123_456), Some(99)));
        assert_eq!((total("some total=x", "some"), total("", "full")), (None, None));
    }
}
