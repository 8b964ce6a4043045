//! What a governed load came to, as a JSON document and as lines.

use std::path::Path;

use govern::{Account, Bounds};
use measure::record::{self, Op};
use measure::{Bytes, BytesPerSec, Kelvin};
use schemars::JsonSchema;
use serde::Serialize;

use super::shape::percent;
use crate::commands::JsonDocument as _;

/// The JSON of `heatsoak govern --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GovernDocument {
    /// Version of this format.
    schema: u32,
    /// The drive's address.
    address: String,
    /// Whether the drive is simulated.
    simulated: bool,
    /// Whose load was governed.
    load: GovernedLoad,
    /// The temperature was to stay below this one, in kelvins.
    below_k: u16,
    /// The load was never limited to less than this, in bytes per second.
    at_least_bytes_per_s: f64,
    /// Whether every reading was below.
    stayed_below: bool,
    /// The highest reading, in kelvins; `null` without a reading.
    highest_k: Option<f64>,
    /// When it was first read, in seconds since the start.
    highest_s: Option<f64>,
    /// Share of the time under load in which the load was held back; `null` without a load.
    held_share: Option<f64>,
    /// The mean of the limit while it held the load back, in bytes per second; `null` where it never did.
    held_to_bytes_per_s: Option<f64>,
    /// The lowest limit that held the load back, in bytes per second.
    lowest_bytes_per_s: Option<f64>,
    /// Mean speeds over the time under load.
    mean: Vec<MeanSpeed>,
    /// Why it ended early; `null` where it did not.
    ended_early: Option<String>,
    /// The run folder; `null` for a load of others.
    run_folder: Option<String>,
    /// The control groups that were governed; empty for a load of ours.
    cgroups: Vec<String>,
    /// Exit code of COMMAND; `null` without one, or where a signal ended it.
    command_exit: Option<i32>,
}

/// Whose load it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GovernedLoad {
    /// A plan of ours.
    Own,
    /// What others ask of the drive.
    Others,
}

/// The mean speed of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct MeanSpeed {
    /// `read` or `write`.
    pub(crate) op: String,
    /// In bytes per second.
    pub(crate) bytes_per_s: f64,
}

/// What is known beside the account.
pub(super) struct About<'a> {
    pub(super) address: &'a str,
    pub(super) simulated: bool,
    pub(super) load: GovernedLoad,
    pub(super) mean: Vec<MeanSpeed>,
    pub(super) ended_early: Option<String>,
    pub(super) run_folder: Option<&'a Path>,
    pub(super) cgroups: Vec<String>,
    pub(super) command_exit: Option<i32>,
}

impl GovernDocument {
    pub(super) fn new(bounds: Bounds, account: &Account, about: About<'_>) -> Self {
        let rate = |rate: Option<BytesPerSec>| rate.map(BytesPerSec::as_f64);
        Self {
            schema: Self::SCHEMA,
            address: about.address.to_owned(),
            simulated: about.simulated,
            load: about.load,
            below_k: bounds.below.as_kelvin(),
            at_least_bytes_per_s: bounds.at_least.as_f64(),
            stayed_below: account.readings() > 0 && account.reached().is_none(),
            highest_k: account.highest().map(|(highest_k, _)| highest_k),
            highest_s: account.highest().map(|(_, t)| t.as_secs_f64()),
            held_share: account.held_share(),
            held_to_bytes_per_s: rate(account.held_to()),
            lowest_bytes_per_s: rate(account.lowest()),
            mean: about.mean,
            ended_early: about.ended_early,
            run_folder: about.run_folder.map(|folder| folder.display().to_string()),
            cgroups: about.cgroups,
            command_exit: about.command_exit,
        }
    }

    /// Whether every reading was below.
    pub(super) const fn stayed_below(&self) -> bool {
        self.stayed_below
    }

    /// The same as lines.
    pub(super) fn lines(&self) -> String {
        let mut text =
            format!("Governed:   {}{}\n", if self.simulated { "SIMULATED, " } else { "" }, self.verdict());
        text.push_str(&format!("Held back:  {}\n", self.held()));
        if !self.mean.is_empty() {
            let speed = |one: &MeanSpeed| format!("{} {}", one.op, BytesPerSec::new(one.bytes_per_s));
            let speeds: Vec<String> = self.mean.iter().map(speed).collect();
            text.push_str(&format!("Mean speed: {}\n", speeds.join(", ")));
        }
        text
    }

    fn verdict(&self) -> String {
        let below = Kelvin::from_kelvin(self.below_k);
        let Some((highest_k, at_s)) = self.highest_k.zip(self.highest_s) else {
            return format!("whether it stayed below {below} is unknown: no temperature was read");
        };
        let highest = Kelvin::from_kelvin(highest_k.floor() as u16);
        if self.stayed_below {
            return format!("stayed below {below}; highest {highest}, at {at_s:.0} s");
        }
        let floor = BytesPerSec::new(self.at_least_bytes_per_s);
        let at_floor =
            self.lowest_bytes_per_s.is_some_and(|lowest| lowest <= 1.01 * self.at_least_bytes_per_s);
        let why =
            if at_floor { format!("; not even {floor} (--at-least) keeps it below") } else { String::new() };
        format!("did not stay below {below}: highest {highest}, at {at_s:.0} s{why}")
    }

    fn held(&self) -> String {
        let rate = BytesPerSec::new;
        match (self.held_share, self.held_to_bytes_per_s, self.lowest_bytes_per_s) {
            (None, ..) => "there was no load".to_owned(),
            (Some(share), Some(mean), Some(lowest)) => format!(
                "{} of the time under load, to {} on average, {} at the lowest",
                percent(share),
                rate(mean),
                rate(lowest)
            ),
            _ => "never; the load stayed below by itself".to_owned(),
        }
    }
}

/// Mean speeds of a run over the time in which each operation was asked for.
pub(super) fn mean_speeds(folder: &Path) -> anyhow::Result<Vec<MeanSpeed>> {
    let record = record::read(folder)?;
    let mean = |op: Op| {
        let rows = || record.io.iter().filter(move |row| row.op == op);
        let bytes: u64 = rows().map(|row| row.bytes.as_u64()).sum();
        let span = rows().map(|row| row.span).sum();
        let speed = Bytes::new(bytes).per(span).filter(|_| bytes > 0)?;
        Some(MeanSpeed { op: op.name().to_owned(), bytes_per_s: speed.as_f64() })
    };
    Ok([Op::Read, Op::Write].into_iter().filter_map(mean).collect())
}
