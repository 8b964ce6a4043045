//! Holds findings against truth and adds up.

use std::collections::BTreeMap;

use analysis::Findings;
use analysis::findings::{self, Event, EventKind};

use super::corpus::{Episode, Labelled, RecipeKind, TrueCause, Truth};
use super::policy::{self, PolicySaid};

/// Hits and misses of one kind of event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detection {
    pub(crate) right: usize,
    pub(crate) missed: usize,
    pub(crate) false_alarms: usize,
}

impl Detection {
    pub(crate) fn f1(&self) -> f64 {
        2.0 * self.right as f64 / (2 * self.right + self.missed + self.false_alarms).max(1) as f64
    }

    fn add(&mut self, other: &Self) {
        self.right += other.right;
        self.missed += other.missed;
        self.false_alarms += other.false_alarms;
    }
}

/// What a verdict said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said {
    TrueCause(TrueCause),
    Unknown,
    Nothing,
}

/// Sums over runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: usize,
    pub(crate) hours: f64,
    pub(crate) onset: Detection,
    pub(crate) release: Detection,
    /// Truth and verdict.
    pub(crate) causes: BTreeMap<(TrueCause, Said), usize>,
    /// Hours and alarms of runs in which heat took nothing.
    pub(crate) cold_hours: f64,
    pub(crate) cold_alarms: usize,
    /// Right and all.
    pub(crate) temperature: (usize, usize),
    pub(crate) strength: (usize, usize),
    /// By tenth of the confidence: sum of confidences, right, all.
    pub(crate) confidence: BTreeMap<u8, (f64, usize, usize)>,
    /// The same of the policies that were named.
    pub(crate) policy_confidence: BTreeMap<u8, (f64, usize, usize)>,
    /// Of what a log does not decide: left open or rightly named, and all.
    pub(crate) undecided: (usize, usize),
    /// Policies: right, wrong, left open.
    pub(crate) policies: [usize; 3],
    pub(crate) by_kind: BTreeMap<RecipeKind, KindTally>,
    /// What went wrong, for people who look for it.
    pub(crate) wrong: Vec<String>,
}

/// Sums over the runs of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KindTally {
    pub(crate) runs: usize,
    pub(crate) onset: Detection,
    pub(crate) release: Detection,
    pub(crate) causes_right: usize,
    pub(crate) causes: usize,
    pub(crate) policies: [usize; 3],
    pub(crate) cold_alarms: usize,
}

impl Tally {
    /// Adds what another one has counted.
    pub(crate) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.hours += other.hours;
        self.onset.add(&other.onset);
        self.release.add(&other.release);
        self.cold_hours += other.cold_hours;
        self.cold_alarms += other.cold_alarms;
        for (key, count) in other.causes {
            *self.causes.entry(key).or_default() += count;
        }
        for (mine, others) in [
            (&mut self.temperature, other.temperature),
            (&mut self.strength, other.strength),
            (&mut self.undecided, other.undecided),
        ] {
            *mine = (mine.0 + others.0, mine.1 + others.1);
        }
        let of_events = (&mut self.confidence, other.confidence);
        for (mine, others) in [of_events, (&mut self.policy_confidence, other.policy_confidence)] {
            for (tenth, (sum, right, all)) in others {
                let mine = mine.entry(tenth).or_default();
                *mine = (mine.0 + sum, mine.1 + right, mine.2 + all);
            }
        }
        add(&mut self.policies, other.policies);
        for (kind, others) in other.by_kind {
            let mine = self.by_kind.entry(kind).or_default();
            mine.runs += others.runs;
            mine.onset.add(&others.onset);
            mine.release.add(&others.release);
            mine.causes_right += others.causes_right;
            mine.causes += others.causes;
            add(&mut mine.policies, others.policies);
            mine.cold_alarms += others.cold_alarms;
        }
        self.wrong.extend(other.wrong);
    }

    /// Macro-F1 over the causes that occur in truth. What was said of nothing true is no part of it.
    pub(crate) fn cause_macro_f1(&self) -> f64 {
        let mut classes: Vec<TrueCause> = self.causes.keys().map(|(truth, _)| *truth).collect();
        classes.dedup();
        let f1 = |class: &TrueCause| {
            let sum = |pick: &dyn Fn(&TrueCause, &Said) -> bool| {
                self.causes.iter().filter(|((t, s), _)| pick(t, s)).map(|(_, n)| *n).sum::<usize>() as f64
            };
            let right = sum(&|t, s| t == class && *s == Said::TrueCause(*class));
            let truth = sum(&|t, _| t == class);
            let said = sum(&|_, s| *s == Said::TrueCause(*class));
            2.0 * right / (truth + said).max(1.0)
        };
        classes.iter().map(f1).sum::<f64>() / classes.len().max(1) as f64
    }
}

fn add(mine: &mut [usize; 3], others: [usize; 3]) {
    mine.iter_mut().zip(others).for_each(|(mine, others)| *mine += others);
}

/// The score of one run.
pub(crate) fn score(run: &Labelled, findings: &Findings) -> Tally {
    let mut tally = Tally { runs: 1, hours: run.truth.hours, ..Tally::default() };
    let found = |kinds: &[EventKind]| {
        findings.events.iter().filter(|event| kinds.contains(&event.kind)).collect::<Vec<_>>()
    };
    let onsets = found(&[EventKind::ThrottleOnset, EventKind::ThermalShutdown]);
    let mut releases = found(&[EventKind::ThrottleRelease]);
    // Two policies that let go at one moment are one release, in what is told and in truth.
    releases.dedup_by(|a, b| (a.t_s - b.t_s).abs() < 1e-6);
    let heat: Vec<&Episode> = run.truth.episodes.iter().filter(|episode| episode.heat).collect();
    let matched = match_up(&heat, &|e| Some(e.onset_s), &onsets, &run.truth);
    tally.onset = matched.detection();
    let mut letting_go = heat.clone();
    letting_go.retain(|episode| episode.release_s.is_some());
    letting_go.dedup_by(|a, b| a.release_s.zip(b.release_s).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1));
    tally.release = match_up(&letting_go, &|e| e.release_s, &releases, &run.truth).detection();
    if !run.truth.throttled {
        tally.cold_hours = run.truth.hours;
        tally.cold_alarms = onsets.len();
        for event in &onsets {
            let (number, kind) = (run.recipe.number, run.recipe.kind);
            tally.wrong.push(format!("{number} {kind:?}: {:.1} s alarm without heat", event.t_s));
        }
    }
    for (episode, event) in heat.iter().zip(&matched.of_truth) {
        values(&mut tally, run, episode, *event);
    }
    causes(&mut tally, run, findings, &heat, &matched);
    undecided(&mut tally, run, findings);
    for event in &matched.false_alarms {
        count_confidence(&mut tally.confidence, event.confidence, false);
    }
    policy(&mut tally, run, &findings.policy);
    explain(&mut tally, run, &matched, &heat);
    let causes_right =
        tally.causes.iter().filter(|((t, s), _)| *s == Said::TrueCause(*t)).map(|(_, n)| *n).sum();
    let kind = KindTally {
        runs: 1,
        onset: tally.onset,
        release: tally.release,
        causes_right,
        causes: tally.causes.values().sum(),
        policies: tally.policies,
        cold_alarms: tally.cold_alarms,
    };
    tally.by_kind.insert(run.recipe.kind, kind);
    tally
}

/// Which event answers to which episode.
struct Matched<'a> {
    asked: usize,
    of_truth: Vec<Option<&'a Event>>,
    false_alarms: Vec<&'a Event>,
}

impl Matched<'_> {
    fn detection(&self) -> Detection {
        let right = self.of_truth.iter().flatten().count();
        Detection { right, missed: self.asked - right, false_alarms: self.false_alarms.len() }
    }
}

/// How far off a window a moment is, in seconds.
pub(crate) fn off_s((from_s, to_s): (f64, f64), t_s: f64) -> f64 {
    (from_s - t_s).max(t_s - to_s).max(0.0)
}

/// Matches events with windows, each once; events in grey time that match nothing count neither way.
fn match_up<'a>(
    episodes: &[&Episode],
    window: &dyn Fn(&Episode) -> Option<(f64, f64)>,
    events: &[&'a Event],
    truth: &Truth,
) -> Matched<'a> {
    let mut free = vec![true; events.len()];
    let mut of_truth = Vec::new();
    let mut asked = 0;
    for episode in episodes {
        let Some((from_s, to_s)) = window(episode) else {
            of_truth.push(None);
            continue;
        };
        asked += 1;
        let off = |t_s: f64| off_s((from_s, to_s), t_s);
        let fits = (0..events.len()).filter(|i| free[*i] && off(events[*i].t_s) <= truth.within_s + 1e-6);
        let best = fits.min_by(|a, b| off(events[*a].t_s).total_cmp(&off(events[*b].t_s)));
        if let Some(best) = best {
            free[best] = false;
        }
        of_truth.push(best.map(|best| events[best]));
    }
    let grey = |t_s: f64| truth.grey_s.iter().any(|(from_s, to_s)| (*from_s..=*to_s).contains(&t_s));
    let left = events.iter().zip(&free).filter(|(event, free)| **free && !grey(event.t_s));
    Matched { asked, of_truth, false_alarms: left.map(|(event, _)| *event).collect() }
}

/// Temperature and strength of an onset.
fn values(tally: &mut Tally, run: &Labelled, episode: &Episode, event: Option<&Event>) {
    let Some(event) = event else { return };
    if let Some((low_k, high_k)) = episode.temp_k {
        let right = event.temp_k.is_some_and(|k| (low_k - 1.0..=high_k + 1.0).contains(&k));
        tally.temperature = (tally.temperature.0 + usize::from(right), tally.temperature.1 + 1);
        if !right {
            let text = format!("temperature {:?}, in truth {low_k:.1} to {high_k:.1} K", event.temp_k);
            tally
                .wrong
                .push(format!("{} {:?}: {:.1} s {text}", run.recipe.number, run.recipe.kind, event.t_s));
        }
    }
    if let Some(strength) = episode.strength {
        // A stop is a stop: there is no logarithm of nothing.
        let near = |s: f64| (s - strength).abs() <= 0.05 * strength || (strength < 0.005 && s < 0.005);
        let right = event.strength.is_some_and(near);
        tally.strength = (tally.strength.0 + usize::from(right), tally.strength.1 + 1);
        if !right {
            let text = format!("strength {:?}, in truth {strength:.3}", event.strength);
            tally
                .wrong
                .push(format!("{} {:?}: {:.1} s {text}", run.recipe.number, run.recipe.kind, event.t_s));
        }
    }
}

fn causes(tally: &mut Tally, run: &Labelled, findings: &Findings, heat: &[&Episode], matched: &Matched<'_>) {
    let mut count = |episode: &Episode, event: Option<&Event>| {
        let Some(truth) = episode.cause else { return };
        let said = event.map_or(Said::Nothing, said);
        *tally.causes.entry((truth, said)).or_default() += 1;
        let right = said == Said::TrueCause(truth);
        if let Some(event) = event {
            count_confidence(&mut tally.confidence, event.confidence, right);
        }
        if !right {
            let (number, kind) = (run.recipe.number, run.recipe.kind);
            tally
                .wrong
                .push(format!("{number} {kind:?}: {:.1} s is {truth:?}, said {said:?}", episode.onset_s.0));
        }
    };
    let near = |episode: &Episode, event: &&Event| {
        let (from_s, to_s) = episode.onset_s;
        let begins = event.kind != EventKind::ThrottleRelease;
        let within_s = run.truth.within_s;
        begins && (from_s - within_s..=to_s + within_s).contains(&event.t_s)
    };
    for (episode, event) in heat.iter().zip(&matched.of_truth) {
        let other = || findings.events.iter().find(|event| near(episode, event));
        count(episode, event.or_else(other));
    }
    for episode in run.truth.episodes.iter().filter(|episode| !episode.heat) {
        let off = |event: &&Event| (event.t_s - episode.onset_s.0).abs();
        let nearest = findings.events.iter().filter(|event| near(episode, event));
        count(episode, nearest.min_by(|a, b| off(a).total_cmp(&off(b))));
    }
}

/// What a log does not decide is left open, or rightly named.
fn undecided(tally: &mut Tally, run: &Labelled, findings: &Findings) {
    for episode in &run.truth.undecided {
        let off = |event: &&Event| off_s(episode.onset_s, event.t_s);
        let begins = findings.events.iter().filter(|event| event.kind != EventKind::ThrottleRelease);
        let near = begins.filter(|event| off(event) <= run.truth.within_s + 1e-6);
        let said = near.min_by(|a, b| off(a).total_cmp(&off(b))).map_or(Said::Nothing, said);
        let thermal =
            [TrueCause::Tmt1, TrueCause::Tmt2, TrueCause::Vendor, TrueCause::Thermal].map(Said::TrueCause);
        let right = said == Said::Unknown
            || episode.cause.is_some_and(|cause| said == Said::TrueCause(cause))
            || (episode.heat && thermal.contains(&said));
        tally.undecided = (tally.undecided.0 + usize::from(right), tally.undecided.1 + 1);
        if !right {
            let (number, kind) = (run.recipe.number, run.recipe.kind);
            tally
                .wrong
                .push(format!("{number} {kind:?}: {:.1} s is undecided, said {said:?}", episode.onset_s.0));
        }
    }
}

fn said(event: &Event) -> Said {
    match (event.kind, event.cause) {
        (EventKind::SlcExhausted, _) => Said::TrueCause(TrueCause::Slc),
        (_, findings::Cause::HctmTmt1) => Said::TrueCause(TrueCause::Tmt1),
        (_, findings::Cause::HctmTmt2) => Said::TrueCause(TrueCause::Tmt2),
        (_, findings::Cause::Vendor) => Said::TrueCause(TrueCause::Vendor),
        (_, findings::Cause::Thermal) => Said::TrueCause(TrueCause::Thermal),
        (_, findings::Cause::Unknown) => Said::Unknown,
        (_, _) => Said::TrueCause(TrueCause::Other),
    }
}

fn policy(tally: &mut Tally, run: &Labelled, policy: &findings::Policy) {
    let Some(said) = policy::said(run, policy) else { return };
    tally.policies[said as usize] += 1;
    if policy.class != findings::PolicyClass::Undetermined {
        count_confidence(&mut tally.policy_confidence, policy.confidence, said == PolicySaid::Right);
    }
    if said != PolicySaid::Right {
        let (number, kind, class) = (run.recipe.number, run.recipe.kind, policy.class);
        tally.wrong.push(format!(
            "{number} {kind:?}: policy {said:?} {class:?} {:?} {:.2}",
            policy.also, policy.confidence
        ));
    }
}

fn count_confidence(table: &mut BTreeMap<u8, (f64, usize, usize)>, confidence: f64, right: bool) {
    let tenth = ((confidence * 10.0) as u8).min(9);
    let row = table.entry(tenth).or_default();
    *row = (row.0 + confidence, row.1 + usize::from(right), row.2 + 1);
}

/// Notes misses and false alarms.
fn explain(tally: &mut Tally, run: &Labelled, matched: &Matched<'_>, heat: &[&Episode]) {
    let (number, kind) = (run.recipe.number, run.recipe.kind);
    for (episode, _) in heat.iter().zip(&matched.of_truth).filter(|(_, event)| event.is_none()) {
        let (from_s, to_s) = episode.onset_s;
        tally.wrong.push(format!("{number} {kind:?}: onset at {from_s:.1} to {to_s:.1} s missed"));
    }
    for event in &matched.false_alarms {
        let text = format!("{:.1} s false onset, {:?} {:.2}", event.t_s, event.cause, event.confidence);
        tally.wrong.push(format!("{number} {kind:?}: {text}"));
    }
}
