//! Which hosts, slots and drives are hotter than their like: what a fan, a filter or a pad does.
//!
//! Mean temperatures are taken apart by model: the model's own, the slot's (over hosts), the host's (over slots), and
//! what is left of the drive, by medians in turn (Tukey's median polish, Exploratory Data Analysis, 1977), so that the
//! odd ones do not move what they are held against. Slots are held against their neighbours in the same host, because
//! load is placed by slot as well and air warms up along a chassis.

use std::collections::BTreeMap;

use crate::statistics::{by_host, false_discovery, median, p_of_zero_mean};
use fleet_state::DriveFinding;

/// Below this many kelvins nothing is worth a visit to the rack.
const WORTH_K: f64 = 3.0;
/// And not within so many standard deviations of what drives differ by anyway.
const SIGMAS: f64 = 4.0;
/// Adjacent slots that make it a fan and not a drive.
const FAN_RUN: usize = 3;
/// Drives that a host, and hosts that a model must have, for a comparison.
const LEAST: usize = 5;
/// A slot is judged from so many drives on.
const LEAST_DRIVES: usize = 30;

/// What is odd about a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OddPlace {
    /// Neighbouring slots of one host are hotter: a fan.
    DeadFan { model: String, host: String, slots: Vec<String>, hotter_k: f64 },
    /// All slots of one host are hotter: filter, inlet or all fans.
    WarmHost { model: String, host: String, hotter_k: f64, drives: usize },
    /// One drive is hotter than its neighbours and than others in its slot: pad, seat or the drive itself.
    HotDrive { model: String, host: String, slot: String, serial: String, hotter_k: f64 },
}

/// How much hotter a slot is than its neighbours, within hosts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlotEffect {
    pub(crate) drives: usize,
    pub(crate) hosts: usize,
    pub(crate) effect_k: f64,
    /// 90 %, by host.
    pub(crate) interval_k: Option<(f64, f64)>,
    /// After the correction for many slots.
    pub(crate) q: Option<f64>,
    pub(crate) odd: bool,
}

/// By model and slot.
pub(crate) type SlotEffects = BTreeMap<(String, String), SlotEffect>;

/// A drive's mean temperature in its place.
struct PlacedTemp<'a> {
    host: &'a str,
    slot: &'a str,
    serial: &'a str,
    temp_c: f64,
    left_k: f64,
}

/// Odd places of all models, and the effects of slots.
pub(crate) fn judge(findings: &[DriveFinding]) -> (Vec<OddPlace>, SlotEffects) {
    let mut models: BTreeMap<&str, Vec<PlacedTemp>> = BTreeMap::new();
    for finding in findings {
        let labels = &finding.labels;
        if let (Some(temp_c), false, false) =
            (finding.temp_mean_c(), labels.host().is_empty(), labels.slot().is_empty())
        {
            models.entry(labels.model()).or_default().push(PlacedTemp {
                host: labels.host(),
                slot: labels.slot(),
                serial: &finding.serial,
                temp_c,
                left_k: 0.0,
            });
        }
    }
    let (mut odd, mut effects) = (Vec::new(), SlotEffects::new());
    for (model, mut temps) in models {
        temps.sort_by(|one, other| {
            (one.host, slot_order(one.slot), one.serial).cmp(&(
                other.host,
                slot_order(other.slot),
                other.serial,
            ))
        });
        slot_effects(model, &temps, &mut effects);
        odd_hosts(model, &mut temps, &mut odd);
    }
    let tested: Vec<f64> = effects.values().filter_map(|effect| effect.q).collect();
    let mut corrected = false_discovery(&tested).into_iter();
    for effect in effects.values_mut() {
        if effect.q.is_some() {
            effect.q = corrected.next();
        }
        // The interval must clear two thirds of what is worth it: the effect itself, all of it.
        effect.odd = effect.effect_k >= WORTH_K
            && effect.drives >= LEAST_DRIVES
            && effect.q.is_some_and(|q| q < 0.01)
            && effect.interval_k.is_some_and(|(low, _)| low > WORTH_K * 2.0 / 3.0);
    }
    (odd, effects)
}

/// Slots in the order of their numbers, and of their names where they are none.
pub(crate) fn slot_order(slot: &str) -> (u64, &str) {
    (slot.parse().unwrap_or(u64::MAX), slot)
}

/// Hosts of one model: ranges of drives that are sorted by host.
fn hosts<'a, 'b>(temps: &'a [PlacedTemp<'b>]) -> impl Iterator<Item = &'a [PlacedTemp<'b>]> {
    temps.chunk_by(|one, other| one.host == other.host)
}

/// Each drive against up to four neighbours in its host, as a mean over hosts.
fn slot_effects(model: &str, temps: &[PlacedTemp], effects: &mut SlotEffects) {
    let mut by_slot: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for host in hosts(temps).filter(|host| host.len() >= LEAST) {
        for (at, drive) in host.iter().enumerate() {
            let from = at.saturating_sub(2).min(host.len() - LEAST);
            let mut near: Vec<f64> =
                (from..from + LEAST).filter(|other| *other != at).map(|other| host[other].temp_c).collect();
            let Some(near) = median(&mut near) else { continue };
            by_slot.entry(drive.slot).or_default().push(drive.temp_c - near);
        }
    }
    for (slot, mut differences) in by_slot {
        let pairs: Vec<(f64, f64)> = differences.iter().map(|difference| (*difference, 1.0)).collect();
        let effect = SlotEffect {
            drives: differences.len(),
            hosts: differences.len(),
            interval_k: by_host(&pairs),
            q: p_of_zero_mean(&differences),
            effect_k: median(&mut differences).unwrap_or_default(),
            odd: false,
        };
        effects.insert((model.to_owned(), slot.to_owned()), effect);
    }
}

fn odd_hosts(model: &str, temps: &mut [PlacedTemp], odd: &mut Vec<OddPlace>) {
    if hosts(temps).filter(|host| host.len() >= LEAST).count() < LEAST {
        return;
    }
    let host_k = polish(temps);
    let drive_limit = limit(temps.iter().map(|drive| drive.left_k).collect());
    let host_limit = limit(host_k.values().copied().collect());
    for host in hosts(temps).filter(|host| host.len() >= LEAST) {
        let name = host[0].host;
        let host_hotter = host_k.get(name).copied().unwrap_or_default();
        if host_hotter > host_limit {
            odd.push(OddPlace::WarmHost {
                model: model.into(),
                host: name.into(),
                hotter_k: host_hotter,
                drives: host.len(),
            });
        }
        let mut rest = host;
        while !rest.is_empty() {
            let run = rest.iter().take_while(|drive| drive.left_k > drive_limit).count();
            let (hot, others) = rest.split_at(run.max(1));
            rest = others;
            if run >= FAN_RUN {
                let mut by_k: Vec<f64> = hot.iter().map(|drive| drive.left_k).collect();
                odd.push(OddPlace::DeadFan {
                    model: model.into(),
                    host: name.into(),
                    slots: hot.iter().map(|drive| drive.slot.to_owned()).collect(),
                    hotter_k: median(&mut by_k).unwrap_or_default(),
                });
            } else {
                odd.extend(hot.iter().filter(|_| run > 0).map(|drive| OddPlace::HotDrive {
                    model: model.into(),
                    host: name.into(),
                    slot: drive.slot.into(),
                    serial: drive.serial.into(),
                    hotter_k: drive.left_k,
                }));
            }
        }
    }
}

/// What counts as hotter: worth it, and far outside of what the middle of them differ by. 1.4826 makes a standard
/// deviation of the median deviation of normal values.
fn limit(mut values: Vec<f64>) -> f64 {
    let Some(middle) = median(&mut values) else { return WORTH_K };
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    WORTH_K.max(SIGMAS * 1.4826 * median(&mut deviations).unwrap_or_default())
}

/// Takes the model's, slots' and hosts' share out of each drive's temperature; returns those of hosts. Rounds until
/// nothing moves by more than a hundredth of a kelvin, at most twenty.
fn polish<'a>(temps: &mut [PlacedTemp<'a>]) -> BTreeMap<&'a str, f64> {
    let middle = median(&mut temps.iter().map(|drive| drive.temp_c).collect::<Vec<_>>()).unwrap_or_default();
    for drive in temps.iter_mut() {
        drive.left_k = drive.temp_c - middle;
    }
    let mut host_k: BTreeMap<&str, f64> = BTreeMap::new();
    for _ in 0..20 {
        let slots = sweep(temps, |drive| drive.slot);
        let hosts = sweep(temps, |drive| drive.host);
        let most = slots.values().chain(hosts.values()).fold(0.0f64, |most, step| most.max(step.abs()));
        for (host, step) in hosts {
            *host_k.entry(host).or_default() += step;
        }
        if most < 0.01 {
            break;
        }
    }
    let middle = median(&mut host_k.values().copied().collect::<Vec<_>>()).unwrap_or_default();
    host_k.values_mut().for_each(|hotter| *hotter -= middle);
    host_k
}

/// Takes the median of each group out of it.
fn sweep<'a>(temps: &mut [PlacedTemp<'a>], group: fn(&PlacedTemp<'a>) -> &'a str) -> BTreeMap<&'a str, f64> {
    let mut left: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for drive in temps.iter() {
        left.entry(group(drive)).or_default().push(drive.left_k);
    }
    let medians: BTreeMap<&str, f64> =
        left.into_iter().filter_map(|(name, mut values)| Some((name, median(&mut values)?))).collect();
    for drive in temps.iter_mut() {
        drive.left_k -= medians.get(group(drive)).copied().unwrap_or_default();
    }
    medians
}
