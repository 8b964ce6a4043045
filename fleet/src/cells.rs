//! Cells (model, firmware, slot) and thresholds (model, firmware): drives put together, with intervals.

use std::collections::{BTreeMap, BTreeSet};

use fleet_state::HealthCounter as C;
use fleet_state::sums::ONSET_FIRST_C;

use crate::hash::chance;
use crate::places::SlotEffects;
use crate::statistics::{by_host, wilson};
use fleet_state::{DriveFinding, ThrottleVerdict};

/// Drives and hosts that a verdict on a cell needs: in fewer, one bad host is all of it.
pub(crate) const LEAST_DRIVES: u64 = 30;
pub(crate) const LEAST_HOSTS: u64 = 5;

/// Drives of one model and firmware in one slot.
#[derive(Clone, Debug)]
pub(crate) struct CellRow {
    pub(crate) model: String,
    pub(crate) firmware: String,
    pub(crate) slot: String,
    pub(crate) drives: u64,
    pub(crate) hosts: u64,
    /// Drives whose counters tell, of those throttled, and the others.
    pub(crate) known: u64,
    pub(crate) throttled: u64,
    pub(crate) drive_h: f64,
    pub(crate) throttled_h: f64,
    /// Of drives throttled: Wilson's 90 %.
    pub(crate) share_90: Option<(f64, f64)>,
    /// Throttled hours in 1000 hours of a drive: 90 %, by host.
    pub(crate) per_1000h_90: Option<(f64, f64)>,
    pub(crate) temp_mean_c: Option<f64>,
    /// Throttled hours beyond those of the same model and firmware in other slots.
    pub(crate) excess_h: Option<f64>,
    pub(crate) slot_effect_k: Option<f64>,
    pub(crate) slot_effect_90: Option<(f64, f64)>,
    pub(crate) slot_q: Option<f64>,
    pub(crate) verdict: &'static str,
}

impl CellRow {
    pub(crate) fn per_1000h(&self) -> Option<f64> {
        (self.known > 0 && self.drive_h > 0.0).then(|| self.throttled_h / self.drive_h * 1000.0)
    }
}

#[derive(Default)]
struct CellSums<'a> {
    drives: u64,
    known: u64,
    throttled: u64,
    temp: (f64, u64),
    /// Throttled and observed hours.
    hosts: BTreeMap<&'a str, (f64, f64)>,
}

/// All cells, ordered by model, firmware and slot.
pub(crate) fn cells(findings: &[DriveFinding], effects: &SlotEffects) -> Vec<CellRow> {
    let mut sums: BTreeMap<(&str, &str, &str), CellSums> = BTreeMap::new();
    for finding in findings {
        let labels = &finding.labels;
        let cell = sums.entry((labels.model(), labels.firmware(), labels.slot())).or_default();
        cell.drives += 1;
        let host = cell.hosts.entry(labels.host()).or_default();
        if let Some(throttled_h) = finding.throttled_h() {
            cell.known += 1;
            cell.throttled += u64::from(finding.verdict == ThrottleVerdict::Throttled);
            host.0 += throttled_h;
            host.1 += finding.observed_h();
        }
        if let Some(temp_c) = finding.temp_mean_c() {
            cell.temp.0 += temp_c;
            cell.temp.1 += 1;
        }
    }
    // Throttled and observed hours of each model and firmware, for what other slots have.
    let mut kinds: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
    for ((model, firmware, _), cell) in &sums {
        let kind = kinds.entry((model, firmware)).or_default();
        for (throttled, observed) in cell.hosts.values() {
            kind.0 += throttled;
            kind.1 += observed;
        }
    }
    sums.iter()
        .map(|((model, firmware, slot), cell)| {
            let kind = kinds.get(&(model, firmware)).copied().unwrap_or_default();
            cell_row([model, firmware, slot], cell, kind, effects)
        })
        .collect()
}

fn cell_row(names: [&str; 3], cell: &CellSums, kind: (f64, f64), effects: &SlotEffects) -> CellRow {
    let [model, firmware, slot] = names;
    let hosts: Vec<(f64, f64)> = cell.hosts.values().copied().collect();
    let (throttled_h, drive_h) = hosts.iter().fold((0.0, 0.0), |sum, host| (sum.0 + host.0, sum.1 + host.1));
    let effect = effects.get(&(model.to_owned(), slot.to_owned()));
    let others = (kind.0 - throttled_h, kind.1 - drive_h);
    let few = cell.drives < LEAST_DRIVES || (hosts.len() as u64) < LEAST_HOSTS;
    let verdict = match effect {
        _ if few => "too_few",
        Some(effect) if effect.odd => "odd_slot",
        Some(_) => "as_its_neighbours",
        None => "not_comparable",
    };
    CellRow {
        model: model.into(),
        firmware: firmware.into(),
        slot: slot.into(),
        drives: cell.drives,
        hosts: hosts.len() as u64,
        known: cell.known,
        throttled: cell.throttled,
        drive_h,
        throttled_h,
        share_90: wilson(cell.throttled, cell.known),
        per_1000h_90: if cell.known == 0 {
            None
        } else {
            by_host(&hosts).map(|(low, high)| (low * 1000.0, high * 1000.0))
        },
        temp_mean_c: (cell.temp.1 > 0).then(|| cell.temp.0 / cell.temp.1 as f64),
        excess_h: (others.1 > 0.0 && cell.known > 0).then(|| throttled_h - others.0 / others.1 * drive_h),
        slot_effect_k: effect.map(|effect| effect.effect_k),
        slot_effect_90: effect.and_then(|effect| effect.interval_k),
        slot_q: effect.and_then(|effect| effect.q),
        verdict,
    }
}

/// At which temperatures drives of one model and firmware began to throttle.
#[derive(Clone, Debug)]
pub(crate) struct ThresholdRow {
    pub(crate) model: String,
    pub(crate) firmware: String,
    pub(crate) events: u64,
    pub(crate) drives: u64,
    pub(crate) hosts: u64,
    /// Whole degrees: a twentieth of the onsets are below, half of them, and all but a twentieth.
    pub(crate) onset_c: Option<(i64, i64, i64)>,
    /// The low one from either half of the hosts: how far it can be trusted.
    pub(crate) halves_c: (Option<i64>, Option<i64>),
    /// Hours in light throttling: what a higher TMT1 gives back at most.
    pub(crate) light_h: f64,
    pub(crate) heavy_h: f64,
    pub(crate) verdict: &'static str,
}

/// Onsets that a temperature needs.
pub(crate) const LEAST_ONSETS: u64 = 20;

/// Thresholds of each model and firmware that throttled.
pub(crate) fn thresholds(findings: &[DriveFinding]) -> Vec<ThresholdRow> {
    struct OnsetSums<'a> {
        bins: [[u64; 64]; 2],
        drives: u64,
        hosts: BTreeSet<&'a str>,
        light_s: u64,
        heavy_s: u64,
    }
    let mut sums: BTreeMap<(&str, &str), OnsetSums> = BTreeMap::new();
    for finding in findings {
        if finding.verdict != ThrottleVerdict::Throttled {
            continue;
        }
        let labels = &finding.labels;
        let kind = sums.entry((labels.model(), labels.firmware())).or_insert_with(|| OnsetSums {
            bins: [[0; 64]; 2],
            drives: 0,
            hosts: BTreeSet::new(),
            light_s: 0,
            heavy_s: 0,
        });
        kind.drives += 1;
        kind.hosts.insert(labels.host());
        kind.light_s += finding.sums.moved(C::Tmt1Seconds);
        kind.heavy_s += finding.sums.moved(C::Tmt2Seconds);
        // A half by the host's name, so that drives of one host stand together.
        let name = labels
            .host()
            .bytes()
            .fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let half = usize::from(chance(7, name, 0) < 0.5);
        for (sum, bin) in
            kind.bins[half].iter_mut().zip(finding.sums.onsets.iter().flat_map(|bins| bins.iter()))
        {
            *sum += u64::from(*bin);
        }
    }
    sums.into_iter()
        .map(|((model, firmware), kind)| {
            let [one, other] = kind.bins;
            let mut all = one;
            all.iter_mut().zip(other).for_each(|(sum, bin)| *sum += bin);
            let events: u64 = all.iter().sum();
            let enough = events >= LEAST_ONSETS;
            ThresholdRow {
                model: model.into(),
                firmware: firmware.into(),
                events,
                drives: kind.drives,
                hosts: kind.hosts.len() as u64,
                onset_c: enough
                    .then(|| Some((bin_c(&all, 0.05)?, bin_c(&all, 0.5)?, bin_c(&all, 0.95)?)))
                    .flatten(),
                halves_c: (bin_c(&one, 0.05), bin_c(&other, 0.05)),
                light_h: kind.light_s as f64 / 3600.0,
                heavy_h: kind.heavy_s as f64 / 3600.0,
                verdict: if enough { "host_thresholds" } else { "too_few_onsets" },
            }
        })
        .collect()
}

/// The whole degree at a share of the events.
fn bin_c(bins: &[u64; 64], share: f64) -> Option<i64> {
    let total: u64 = bins.iter().sum();
    let wanted = ((total as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    bins.iter().zip(ONSET_FIRST_C..).find_map(|(bin, degree)| {
        seen += bin;
        (total > 0 && seen >= wanted).then_some(degree)
    })
}
