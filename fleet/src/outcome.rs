//! What a scan comes to: counts, what to do in the order of what it costs, and what cannot be said.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::cells::{CellRow, ThresholdRow};
use crate::places::OddPlace;
use crate::since::Trend;
use fleet_state::{DriveFinding, RowCadence, ThrottleVerdict};

/// `findings.json`.
#[derive(Debug, Serialize)]
pub(crate) struct FleetOutcome {
    pub(crate) schema: u32,
    /// Some or all rows are simulated, as their files say.
    pub(crate) simulated: bool,
    pub(crate) files: usize,
    pub(crate) files_refused: usize,
    pub(crate) files_left_out: usize,
    pub(crate) schemas: Vec<String>,
    pub(crate) cadence_ms: i64,
    pub(crate) cadence: &'static str,
    pub(crate) may_say: &'static str,
    pub(crate) may_not_say: &'static str,
    pub(crate) rows: u64,
    pub(crate) duplicates: u64,
    pub(crate) conflicts: u64,
    pub(crate) nameless_rows: u64,
    pub(crate) untimed_rows: u64,
    pub(crate) resets: u64,
    pub(crate) implausible: u64,
    /// Drives whose rows came mixed up and were sorted.
    pub(crate) drives_sorted: usize,
    pub(crate) drives: u64,
    pub(crate) throttled: u64,
    pub(crate) not_throttled: u64,
    pub(crate) not_known: u64,
    /// Why drives are `not_known`, with how many.
    pub(crate) not_known_reasons: BTreeMap<&'static str, u64>,
    pub(crate) observed_h: f64,
    pub(crate) throttled_h: f64,
    pub(crate) throttled_in_gaps_h: f64,
    /// Hours of full speed lost, of the drives whose rows show it.
    pub(crate) full_speed_lost_h: f64,
    pub(crate) full_speed_lost_drives: u64,
    pub(crate) actions: Vec<FleetAction>,
    pub(crate) trend: Option<Trend>,
    pub(crate) caveats: Vec<String>,
}

/// Something to do, with what it costs not to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FleetAction {
    /// `odd_slot`, `dead_fan`, `warm_host`, `hot_drive`, `throttles_alone`, `threshold`.
    pub(crate) kind: &'static str,
    pub(crate) model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) slots: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) serial: Option<String>,
    pub(crate) hotter_k: Option<f64>,
    /// Throttled hours that it would give back at most.
    pub(crate) throttled_h: f64,
    pub(crate) text: String,
}

/// What was read, for the counts.
pub(crate) struct ScanFacts {
    pub(crate) simulated: bool,
    pub(crate) files: usize,
    pub(crate) files_refused: usize,
    pub(crate) files_left_out: usize,
    pub(crate) schemas: Vec<String>,
    pub(crate) caveats: Vec<String>,
    pub(crate) cadence_ms: i64,
    pub(crate) nameless_rows: u64,
    pub(crate) untimed_rows: u64,
    pub(crate) drives_sorted: usize,
}

/// Puts everything together.
pub(crate) fn sum_up(
    facts: ScanFacts,
    findings: &[DriveFinding],
    odd: &[OddPlace],
    cells: &[CellRow],
    thresholds: &[ThresholdRow],
    trend: Option<Trend>,
) -> FleetOutcome {
    let cadence = RowCadence::of(facts.cadence_ms);
    let total = |pick: fn(&DriveFinding) -> u64| findings.iter().map(pick).sum::<u64>();
    let mut outcome = FleetOutcome {
        schema: 1,
        simulated: facts.simulated,
        files: facts.files,
        files_refused: facts.files_refused,
        files_left_out: facts.files_left_out,
        schemas: facts.schemas,
        cadence_ms: facts.cadence_ms,
        cadence: cadence.name(),
        may_say: cadence.may_say(),
        may_not_say: cadence.may_not_say(),
        rows: total(|row| row.sums.rows),
        duplicates: total(|row| row.sums.duplicates),
        conflicts: total(|row| row.sums.conflicts),
        nameless_rows: facts.nameless_rows,
        untimed_rows: facts.untimed_rows,
        resets: total(|row| row.sums.resets),
        implausible: total(|row| row.sums.implausible),
        drives_sorted: facts.drives_sorted,
        drives: 0,
        throttled: 0,
        not_throttled: 0,
        not_known: 0,
        not_known_reasons: BTreeMap::new(),
        observed_h: findings.iter().map(DriveFinding::observed_h).fold(0.0, |sum, h| sum + h),
        throttled_h: findings.iter().filter_map(DriveFinding::throttled_h).fold(0.0, |sum, h| sum + h),
        throttled_in_gaps_h: findings
            .iter()
            .filter_map(DriveFinding::throttled_in_gaps_h)
            .fold(0.0, |sum, h| sum + h),
        full_speed_lost_h: findings
            .iter()
            .filter_map(|row| row.full_speed_lost_h.ok())
            .fold(0.0, |sum, h| sum + h),
        full_speed_lost_drives: findings.iter().filter(|row| row.full_speed_lost_h.is_ok()).count() as u64,
        actions: actions(findings, odd, cells, thresholds),
        trend,
        caveats: facts.caveats,
    };
    count_drives(findings, &mut outcome);
    outcome
}

/// A drive that was in several places is throttled if it was in one, and not known if nothing is.
fn count_drives(findings: &[DriveFinding], outcome: &mut FleetOutcome) {
    for drive in findings
        .chunk_by(|one, other| one.serial == other.serial && one.labels.model() == other.labels.model())
    {
        outcome.drives += 1;
        match drive.iter().map(|part| part.verdict).min() {
            Some(ThrottleVerdict::Throttled) => outcome.throttled += 1,
            Some(ThrottleVerdict::NotThrottled) => outcome.not_throttled += 1,
            Some(ThrottleVerdict::NotKnown(reason)) => {
                outcome.not_known += 1;
                *outcome.not_known_reasons.entry(reason).or_default() += 1;
            }
            None => {}
        }
    }
}

/// Throttled hours by where they were.
struct PlaceHours<'a> {
    by_place: BTreeMap<(&'a str, &'a str), f64>,
    by_host: BTreeMap<&'a str, f64>,
}

fn actions(
    findings: &[DriveFinding],
    odd: &[OddPlace],
    cells: &[CellRow],
    thresholds: &[ThresholdRow],
) -> Vec<FleetAction> {
    let mut hours = PlaceHours { by_place: BTreeMap::new(), by_host: BTreeMap::new() };
    for finding in findings {
        let h = finding.throttled_h().unwrap_or_default();
        *hours.by_place.entry((finding.labels.host(), finding.labels.slot())).or_default() += h;
        *hours.by_host.entry(finding.labels.host()).or_default() += h;
    }
    let mut actions: Vec<FleetAction> = odd.iter().map(|place| place_action(place, &hours)).collect();
    actions.extend(slot_actions(cells));
    actions.extend(alone(findings, odd));
    actions.extend(thresholds.iter().filter_map(threshold_action));
    actions.sort_by(|one, other| {
        other
            .throttled_h
            .total_cmp(&one.throttled_h)
            .then_with(|| other.hotter_k.unwrap_or_default().total_cmp(&one.hotter_k.unwrap_or_default()))
    });
    actions
}

fn place_action(place: &OddPlace, hours: &PlaceHours) -> FleetAction {
    let at = |host: &str, slot: &str| hours.by_place.get(&(host, slot)).copied().unwrap_or_default();
    match place {
        OddPlace::DeadFan { model, host, slots, hotter_k } => FleetAction {
            kind: "dead_fan",
            model: model.clone(),
            host: Some(host.clone()),
            slots: slots.clone(),
            serial: None,
            hotter_k: Some(*hotter_k),
            throttled_h: slots.iter().map(|slot| at(host, slot)).sum(),
            text: format!(
                "Check the fan of slots {} to {} in {host}: {} neighbouring drives are {hotter_k:.1} K hotter than the same slots of other hosts",
                slots.first().map_or("", String::as_str),
                slots.last().map_or("", String::as_str),
                slots.len()
            ),
        },
        OddPlace::WarmHost { model, host, hotter_k, drives } => FleetAction {
            kind: "warm_host",
            model: model.clone(),
            host: Some(host.clone()),
            slots: Vec::new(),
            serial: None,
            hotter_k: Some(*hotter_k),
            throttled_h: hours.by_host.get(host.as_str()).copied().unwrap_or_default(),
            text: format!(
                "Check filter, inlet and fans of {host}: its {drives} drives are {hotter_k:.1} K hotter than those of other hosts"
            ),
        },
        OddPlace::HotDrive { model, host, slot, serial, hotter_k } => FleetAction {
            kind: "hot_drive",
            model: model.clone(),
            host: Some(host.clone()),
            slots: vec![slot.clone()],
            serial: Some(serial.clone()),
            hotter_k: Some(*hotter_k),
            throttled_h: at(host, slot),
            text: format!(
                "Check pad and seat of {serial} in {host} slot {slot}: {hotter_k:.1} K hotter than its neighbours and than others in this slot"
            ),
        },
    }
}

/// Slots that are hotter in all hosts of a model: airflow of the chassis.
fn slot_actions(cells: &[CellRow]) -> Vec<FleetAction> {
    let mut slots: BTreeMap<(&str, &str), (f64, f64, u64)> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.verdict == "odd_slot") {
        let slot = slots.entry((&cell.model, &cell.slot)).or_default();
        slot.0 = cell.slot_effect_k.unwrap_or_default();
        slot.1 += cell.excess_h.unwrap_or_default().max(0.0);
        slot.2 += cell.drives;
    }
    slots
        .into_iter()
        .map(|((model, slot), (hotter_k, throttled_h, drives))| FleetAction {
            kind: "odd_slot",
            model: model.into(),
            host: None,
            slots: vec![slot.into()],
            serial: None,
            hotter_k: Some(hotter_k),
            throttled_h,
            text: format!(
                "Give slot {slot} of hosts with {model} more air, or leave it empty: {hotter_k:.1} K hotter than its neighbours within hosts ({drives} drives)"
            ),
        })
        .collect()
}

/// Drives that throttle while at most one in eight others of their host does, and that no odd place explains.
fn alone(findings: &[DriveFinding], odd: &[OddPlace]) -> Vec<FleetAction> {
    let explained: BTreeSet<&str> = odd
        .iter()
        .filter_map(|place| match place {
            OddPlace::HotDrive { serial, .. } => Some(serial.as_str()),
            _ => None,
        })
        .collect();
    let places: BTreeSet<(&str, &str)> = odd
        .iter()
        .flat_map(|place| match place {
            OddPlace::DeadFan { host, slots, .. } => {
                slots.iter().map(|slot| (host.as_str(), slot.as_str())).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        })
        .collect();
    let mut hosts: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.throttled_h().is_some()) {
        let host = hosts.entry((finding.labels.host(), finding.labels.model())).or_default();
        host.0 += 1;
        host.1 += u64::from(finding.verdict == ThrottleVerdict::Throttled);
    }
    findings
        .iter()
        .filter(|finding| finding.verdict == ThrottleVerdict::Throttled && !finding.labels.host().is_empty())
        .filter(|finding| {
            let labels = &finding.labels;
            let (known, throttled) = hosts.get(&(labels.host(), labels.model())).copied().unwrap_or_default();
            known >= 5
                && (throttled - 1) * 8 < known
                && !explained.contains(finding.serial.as_str())
                && !places.contains(&(labels.host(), labels.slot()))
        })
        .map(|finding| {
            let labels = &finding.labels;
            let h = finding.throttled_h().unwrap_or_default();
            FleetAction {
                kind: "throttles_alone",
                model: labels.model().to_string(),
                host: Some(labels.host().to_string()),
                slots: vec![labels.slot().to_string()],
                serial: Some(finding.serial.clone()),
                hotter_k: None,
                throttled_h: h,
                text: format!(
                    "Look at {} in {} slot {}: throttled for {h:.1} h while its neighbours were not",
                    finding.serial,
                    labels.host(),
                    labels.slot()
                ),
            }
        })
        .collect()
}

fn threshold_action(row: &ThresholdRow) -> Option<FleetAction> {
    let (low, middle, _) = row.onset_c?;
    Some(FleetAction {
        kind: "threshold",
        model: row.model.clone(),
        host: None,
        slots: Vec::new(),
        serial: None,
        hotter_k: None,
        throttled_h: row.light_h,
        text: format!(
            "{} {}: light throttling by TMT1 took {:.1} h, beginning at {low} to {middle} °C ({} onsets). A higher TMT1 gives back that much at most; try it on one drive first: heatsoak run hctm-sweep --drive DEVICE",
            row.model, row.firmware, row.light_h, row.events
        ),
    })
}
