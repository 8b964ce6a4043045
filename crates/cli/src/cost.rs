//! What a run costs the drive, told before it begins: bytes, share of the rated endurance, time.

use std::time::Duration;

use measure::record::Op;
use measure::{Bytes, BytesPerSec};
use plan::Plan;
use plan::check::{self, TargetFacts};

/// What is known about a run before it begins.
pub(crate) struct Cost<'a> {
    /// What will run.
    pub(crate) plan: &'a Plan,
    /// What it will run on.
    pub(crate) target: &'a TargetFacts,
    /// What the link can carry, where known.
    pub(crate) link: Option<BytesPerSec>,
    /// The drive's rated endurance, where given.
    pub(crate) rated: Option<Bytes>,
}

impl Cost<'_> {
    /// In one or two sentences; `None` for a plan that writes and trims nothing.
    pub(crate) fn sentence(&self) -> Option<String> {
        let does = |op| {
            let mut loads = self.plan.phases.iter().flat_map(|phase| &phase.loads);
            loads.any(|load| load.mix.ops().any(|one| one == op))
        };
        let address = &self.target.address;
        let trims = if does(Op::Trim) { ", and trims" } else { "" };
        if !does(Op::Write) {
            return does(Op::Trim).then(|| format!("this run trims {address}{}", self.time()));
        }
        let told = match check::bytes_written(self.plan, self.target, self.link) {
            Some(bytes) => {
                let share = self.rated.map_or(String::new(), |rated| {
                    format!(", {} of its rated {}", percent(bytes, rated), decimal(rated))
                });
                format!(
                    "this run writes at most {} to {address}{share}{trims}{}",
                    decimal(bytes),
                    self.time()
                )
            }
            None => format!(
                "this run writes to {address} as fast as it goes, and nothing in the plan says how much that is{trims}{}",
                self.time()
            ),
        };
        Some(match (self.rated, self.link) {
            (None, _) => format!("{told}; say --tbw SIZE to see what share of its endurance that is"),
            _ => told,
        })
    }

    fn time(&self) -> String {
        match check::expected_duration(self.plan) {
            Some(span) => format!(", in about {}", spoken(span)),
            None => self.at_least().map_or(String::new(), |span| format!(", in {} or more", spoken(span))),
        }
    }

    /// By what the link can carry.
    fn at_least(&self) -> Option<Duration> {
        let bytes = check::bytes_written(self.plan, self.target, self.link)?;
        Duration::try_from_secs_f64(bytes.as_f64() / self.link?.as_f64()).ok().filter(|span| !span.is_zero())
    }
}

/// Decimal units, in which endurance is rated (JESD218B: TBW).
fn decimal(bytes: Bytes) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let value = bytes.as_f64();
    let (size, name) = UNITS.into_iter().find(|(size, _)| value >= *size).unwrap_or((1.0, "B"));
    let scaled = value / size;
    if scaled >= 100.0 || scaled.fract() == 0.0 {
        format!("{scaled:.0} {name}")
    } else {
        format!("{scaled:.1} {name}")
    }
}

/// A share in percent, with as many digits as say something.
fn percent(part: Bytes, whole: Bytes) -> String {
    let percent = 100.0 * part.as_f64() / whole.as_f64();
    match percent {
        ..0.01 => "less than 0.01 %".to_owned(),
        0.01..1.0 => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}

fn spoken(span: Duration) -> String {
    match span.as_secs() {
        ..120 => format!("{} s", span.as_secs_f64().ceil()),
        seconds @ ..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn sentence(phase: &str, link: Option<f64>, rated: Option<u64>) -> Option<String> {
        let plan = Plan::from_toml(&format!("[[phase]]\nname = \"p\"\n{phase}\n"), "p.toml").expect("a plan");
        let target = TargetFacts {
            address: "/dev/sdz".into(),
            size: Bytes::new(1 << 40),
            block_bytes: 512,
            read_only: None,
            direct: true,
            trim: true,
            slc: None,
        };
        Cost { plan: &plan, target: &target, link: link.map(BytesPerSec::new), rated: rated.map(Bytes::new) }
            .sentence()
    }

    #[test]
    fn reading_costs_nothing() {
        assert_eq!(
            sentence("op = \"read\"\nblock_size = \"1MiB\"\nduration = \"5s\"", Some(1e9), None),
            None
        );
    }

    #[test]
    fn bytes_share_and_time_are_told() {
        let write = "op = \"write\"\nblock_size = \"1MiB\"\nduration = \"5m\"";
        assert_eq!(
            sentence(write, Some(2e9), Some(600_000_000_000_000)).as_deref(),
            Some("this run writes at most 600 GB to /dev/sdz, 0.10 % of its rated 600 TB, in about 5 min")
        );
        let unknown = sentence(write, None, None).expect("it writes");
        assert!(unknown.contains("as fast as it goes") && unknown.contains("--tbw SIZE"), "{unknown}");
        let laps =
            sentence("op = \"write\"\nblock_size = \"1MiB\"\nlaps = 2", Some(1e9), None).expect("it writes");
        assert!(laps.contains("at most 2.2 TB to") && laps.contains("in 37 min or more"), "{laps}");
        let trim = sentence("op = \"trim\"\nblock_size = \"1MiB\"\nduration = \"5s\"", None, None);
        assert_eq!(trim.as_deref(), Some("this run trims /dev/sdz, in about 5 s"));
    }

    #[test]
    fn shares_have_as_many_digits_as_say_something() {
        let of_a_thousand = |part| percent(Bytes::new(part), Bytes::new(1_000_000));
        assert_eq!(
            [1, 100, 5_000, 20_000, 2_000_000].map(of_a_thousand),
            ["less than 0.01 %", "0.01 %", "0.50 %", "2.0 %", "200.0 %"]
        );
    }
}
