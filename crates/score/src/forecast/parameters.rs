//! The numbers that a fit gives of a drive against those of the drive itself: how often the 90 % intervals hold them, and
//! how often nothing is given.
//!
//! What a drive rests at and warms by is measured on it with its firmware asleep; thresholds and speeds while throttled are
//! what it was made with. Where several of its throttles hang on one setting, any of their numbers is that of the setting.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fit::Fitted;
use fit::fitted::Parameter;
use fit::simulate::{LoadPhase, LoadSecond};
use physics::profile::{Cap, Machine, Threshold};

use super::drives::{TestDrive, What};
use super::log::{Room, seconds};
use crate::corpus::foreign::world::{Acts, Set, World};

const OPS: [&str; 2] = ["read", "write"];
const HOUR_S: usize = 3600;
const FIVE_MINUTES_S: usize = 300;
/// Seconds of a second's speed over the middle one that are no dip: full speed is without them, as the fit has it.
const NO_DIP: (f64, f64) = (0.5, 1.2);

/// The numbers of a drive by the names that a fit gives them; several where several throttles hang on one setting.
type Truths = BTreeMap<String, Vec<f64>>;

/// A number and its interval against the truth.
pub(super) struct ParameterAnswer {
    pub(super) foreign: bool,
    pub(super) name: String,
    /// Width of the interval over the truth; of temperatures in kelvins.
    width: f64,
    /// By how much the number is too high, in the same terms.
    off: f64,
    held: bool,
    text: String,
}

/// Holds the parameters of a fit against the drive.
pub(super) fn of(drive: &TestDrive, fitted: &Fitted) -> Vec<ParameterAnswer> {
    let truths = truths(drive);
    let answer = |parameter: Parameter| {
        let Parameter { name, value, low, high, unit, .. } = parameter;
        let truths = truths.get(&name)?;
        let truth = *truths.iter().min_by(|a, b| (**a - value).abs().total_cmp(&(**b - value).abs()))?;
        let over = if unit == "K" { 1.0 } else { truth.abs() };
        Some(ParameterAnswer {
            foreign: drive.is_foreign(),
            width: (high - low) / over,
            off: (value - truth) / over,
            held: truths.iter().any(|truth| (low..=high).contains(truth)),
            text: format!("{name} {value:.5e} ({low:.5e} to {high:.5e}) true {truths:?}"),
            name,
        })
    };
    fitted.parameters().into_iter().filter_map(answer).collect()
}

impl ParameterAnswer {
    /// What is wrong, for whoever works on the fit.
    pub(super) fn wrong(&self) -> Option<&str> {
        (!self.held).then_some(self.text.as_str())
    }
}

/// A row for each parameter, with medians of how wide and how much too high it is.
pub(super) fn table(answers: &[ParameterAnswer]) -> String {
    let mut rows: BTreeMap<(bool, &str), Vec<&ParameterAnswer>> = BTreeMap::new();
    for answer in answers {
        rows.entry((answer.foreign, answer.name.as_str())).or_default().push(answer);
    }
    let mut text = String::from(
        "| physics | parameter | given | 90 % interval holds | width | off by |\n|---|---|---|---|---|---|\n",
    );
    for ((foreign, name), row) in rows {
        let physics = if foreign { "foreign" } else { "own" };
        let held = row.iter().filter(|answer| answer.held).count();
        let middle = |of: fn(&ParameterAnswer) -> f64| {
            let mut values: Vec<f64> = row.iter().map(|answer| of(answer)).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let _ = writeln!(
            text,
            "| {physics} | {name} | {} | {:.0} % | {:.3} | {:+.4} |",
            row.len(),
            100.0 * held as f64 / row.len() as f64,
            middle(|answer| answer.width),
            middle(|answer| answer.off)
        );
    }
    text
}

fn truths(drive: &TestDrive) -> Truths {
    let mut truths = Truths::new();
    for (op, word) in OPS.into_iter().enumerate() {
        let (rest_k, seconds) = asleep(drive, op);
        let full = full_speed(&seconds);
        let rise_k = |after_s: usize| (seconds[after_s - 1].kelvin - rest_k) / (full / 1e9);
        truths.insert("temperature at rest".to_owned(), vec![rest_k]);
        truths.insert(format!("{word} full speed"), vec![full]);
        truths.insert(format!("{word} rise after 5 min"), vec![rise_k(FIVE_MINUTES_S)]);
        truths.insert(format!("{word} rise after 1 h"), vec![rise_k(HOUR_S)]);
    }
    let full = OPS.map(|word| truths[&format!("{word} full speed")][0]);
    match &drive.what {
        What::Own(profile) => {
            for policy in &profile.policy {
                own(&mut truths, (&policy.on, &policy.machine), policy.hysteresis_k, full);
            }
        }
        What::Foreign(world) => foreign(&mut truths, world, drive.tmt_k, full),
    }
    truths
}

/// Temperature at rest, and an hour of an operation while the firmware does not throttle.
fn asleep(drive: &TestDrive, op: usize) -> (f64, Vec<LoadSecond>) {
    let load = |read_share, seconds| LoadPhase::sequential("", read_share, seconds);
    let room = Room { tmt_k: drive.tmt_k, unguarded: true, ..Room::default() };
    let read_share = Some(if op == 0 { 1.0 } else { 0.0 });
    let mut phases = seconds(drive, room, &[load(None, 1), load(read_share, HOUR_S)]);
    let seconds = phases.pop().unwrap_or_default();
    (phases[0][0].kelvin, seconds)
}

fn full_speed(seconds: &[LoadSecond]) -> f64 {
    let mut speeds: Vec<f64> = seconds.iter().map(|second| second.bytes).collect();
    speeds.sort_by(f64::total_cmp);
    let middle = speeds[speeds.len() / 2];
    speeds.retain(|speed| (NO_DIP.0..NO_DIP.1).contains(&(speed / middle)));
    speeds.iter().sum::<f64>() / speeds.len() as f64
}

fn add(truths: &mut Truths, name: String, value: f64) {
    truths.entry(name).or_default().push(value);
}

fn throttled_at(truths: &mut Truths, by: &str, full: [f64; 2], caps: [f64; 2]) {
    for (op, word) in OPS.into_iter().enumerate() {
        add(truths, format!("{word} speed while throttled {by}"), full[op].min(caps[op]));
    }
}

const TMT1: (&str, &str) = ("throttling sets in above TMT1 by", "at TMT1");
const TMT2: (&str, &str) = ("throttling sets in above TMT2 by", "at TMT2");
const OWN: (&str, &str) = ("firmware threshold", "by firmware");

fn own(truths: &mut Truths, (on, machine): (&Threshold, &Machine), hysteresis_k: f64, full: [f64; 2]) {
    let named = |on: &Threshold| match *on {
        Threshold::Tmt1PlusK(kelvin) => (TMT1, kelvin),
        Threshold::Tmt2PlusK(kelvin) => (TMT2, kelvin),
        Threshold::Kelvin(kelvin) => (OWN, kelvin),
    };
    let caps =
        |cap: &Cap| [cap.read_bytes_per_s, cap.write_bytes_per_s].map(|cap| cap.unwrap_or(f64::INFINITY));
    let ((name, by), on_k) = named(on);
    add(truths, name.to_owned(), on_k);
    add(truths, format!("{name}: hysteresis"), hysteresis_k);
    match machine {
        Machine::Relay(cap) => throttled_at(truths, by, full, caps(cap)),
        Machine::TwoLevel(two) => {
            throttled_at(truths, by, full, caps(&two.light));
            let ((name, by), heavy_k) = named(&two.heavy_on);
            add(truths, name.to_owned(), heavy_k);
            throttled_at(truths, by, full, caps(&two.heavy));
        }
        _ => {}
    }
}

fn foreign(truths: &mut Truths, world: &World, tmt_k: [u16; 2], full: [f64; 2]) {
    for guardian in &world.firmware {
        let ((name, by), set_k) = match guardian.set {
            Set::Tmt1 => (TMT1, f64::from(tmt_k[0])),
            Set::Tmt2 => (TMT2, f64::from(tmt_k[1])),
            Set::Own => (OWN, 0.0),
        };
        add(truths, name.to_owned(), guardian.on_k - set_k);
        if let Acts::Share(share) = guardian.acts {
            add(truths, format!("{name}: hysteresis"), guardian.on_k - guardian.off_k);
            throttled_at(truths, by, full, full.map(|full| share * full));
        }
    }
}
