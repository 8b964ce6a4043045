//! Forecasts against truth: who was right, who said how sure, who said nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fit::predict::{PhaseForecast, Ranged};
use fit::simulate::PhaseOutcome;

use super::ask::QuestionKind;
use super::opinion::Opinions;
use super::parameters::{self, ParameterAnswer};
use super::regret::Regret;

/// What counts as right: a share of a speed, kelvins of a plateau, a share of a time or seconds.
const SPEED: f64 = 0.05;
const PLATEAU_K: f64 = 1.0;
const TIME: (f64, f64) = (0.10, 3.0);

/// A forecast and the truth.
pub(super) struct ForecastAnswer<'a> {
    pub(super) question: QuestionKind,
    pub(super) foreign: bool,
    pub(super) predicted: &'a PhaseForecast,
    pub(super) truth: PhaseOutcome,
    /// The truth of air a little cooler, and a little warmer.
    pub(super) off: [PhaseOutcome; 2],
}

impl ForecastAnswer<'_> {
    fn speed(&self) -> Option<(bool, bool)> {
        let (range, truth) = (self.predicted.mean_bytes_per_s?, self.truth.mean_bytes_per_s);
        Some(((range.value / truth - 1.0).abs() <= SPEED, within(range, truth)))
    }

    fn plateau(&self) -> Option<(bool, bool)> {
        let (range, truth) = (self.predicted.steady_k?, self.truth.steady_k);
        Some(((range.value - truth).abs() <= PLATEAU_K, within(range, truth)))
    }

    /// `None` where both say that heat does not slow it down.
    fn time(&self) -> Option<(bool, bool)> {
        let (range, truth) = (self.predicted.time_to_throttle_s, self.truth.time_to_throttle_s);
        let right = is_time(range.map(|range| range.value), truth)?;
        Some((right, range.zip(truth).is_some_and(|(range, truth)| within(range, truth))))
    }

    /// Whether the drive's own times in air a little cooler and warmer would be right.
    fn off_times(&self) -> [Option<bool>; 2] {
        self.off.map(|off| is_time(off.time_to_throttle_s, self.truth.time_to_throttle_s))
    }

    /// The answer where a little cooler or warmer does not decide it.
    fn steady_time(&self) -> Option<(bool, bool)> {
        self.time().filter(|_| !self.off_times().contains(&Some(false)))
    }

    /// Whether all that was said is right.
    pub(super) fn right(&self) -> bool {
        [self.speed(), self.plateau(), self.time()].into_iter().flatten().all(|(right, _)| right)
    }

    pub(super) fn text(&self) -> String {
        let truth = &self.truth;
        let range = |range: Option<Ranged>, scale: f64| {
            range.map_or_else(
                || "-".to_owned(),
                |r| format!("{:.2} ({:.2} to {:.2})", r.value / scale, r.low / scale, r.high / scale),
            )
        };
        let predicted = self.predicted;
        let flagged = if predicted.beyond { "beyond what was seen: " } else { "" };
        format!(
            "{flagged}{} GB/s {} true {:.3}; K {} true {:.1}; peak K {} true {:.1}; s {} true {:?}",
            predicted.name,
            range(predicted.mean_bytes_per_s, 1e9),
            truth.mean_bytes_per_s / 1e9,
            range(predicted.steady_k, 1.0),
            truth.steady_k,
            range(predicted.peak_k, 1.0),
            truth.peak_k,
            range(predicted.time_to_throttle_s, 1.0),
            truth.time_to_throttle_s,
        )
    }
}

/// Whether a time is right; `None` where both say never.
fn is_time(said: Option<f64>, truth: Option<f64>) -> Option<bool> {
    match (said, truth) {
        (None, None) => None,
        (Some(said), Some(truth)) => {
            let off = (said - truth).abs();
            Some(off <= TIME.1 || off <= TIME.0 * truth)
        }
        _ => Some(false),
    }
}

fn within(range: Ranged, truth: f64) -> bool {
    (range.low..=range.high).contains(&truth)
}

/// Right, covered, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Share([f64; 3]);

impl Share {
    fn count(&mut self, answer: Option<(bool, bool)>) {
        if let Some((right, covered)) = answer {
            self.0[0] += f64::from(u8::from(right));
            self.0[1] += f64::from(u8::from(covered));
            self.0[2] += 1.0;
        }
    }

    fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, part)| *sum += part);
    }

    /// Right alone.
    fn right(self) -> String {
        let [right, _, all] = self.0;
        if all == 0.0 { "- |".to_owned() } else { format!("{:.0} |", 100.0 * right / all) }
    }

    fn text(self) -> String {
        let [right, covered, all] = self.0;
        if all == 0.0 {
            return "- |".to_owned();
        }
        format!("{:.0} c{:.0} n{all} |", 100.0 * right / all, 100.0 * covered / all)
    }
}

/// A row of the table: speed, plateau, time; flagged and all.
#[derive(Clone, Copy, Debug, Default)]
struct ForecastRow {
    speed: Share,
    plateau: Share,
    time: Share,
    /// Times that a little cooler or warmer does not decide.
    steady_time: Share,
    /// What the drive itself says of times in air a little cooler and warmer.
    off_time: Share,
    flagged: u32,
    all: u32,
}

/// All of them.
#[derive(Default)]
pub(super) struct ForecastTally {
    rows: BTreeMap<(bool, QuestionKind), ForecastRow>,
    notes: Vec<String>,
    pub(super) fit_ms: Vec<f64>,
    pub(super) predict_ms: Vec<f64>,
    pub(super) recommend_ms: Vec<f64>,
    pub(super) regrets: Vec<Regret>,
    pub(super) opinions: Vec<Opinions>,
    /// How far gains are off: the fit's, the verdict's, and whether the interval of that holds the truth.
    pub(super) gains: Vec<(f64, Option<(f64, bool)>)>,
    pub(super) parameters: Vec<ParameterAnswer>,
}

impl ForecastTally {
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn count(&mut self, answer: &ForecastAnswer<'_>) {
        let row = self.rows.entry((answer.foreign, answer.question)).or_default();
        row.all += 1;
        if answer.predicted.beyond {
            row.flagged += 1;
            return;
        }
        row.speed.count(answer.speed());
        row.plateau.count(answer.plateau());
        row.time.count(answer.time());
        row.steady_time.count(answer.steady_time());
        answer.off_times().iter().flatten().for_each(|right| row.off_time.count(Some((*right, *right))));
    }

    pub(super) fn add(&mut self, other: Self) {
        for (key, part) in other.rows {
            add(self.rows.entry(key).or_default(), part);
        }
        self.notes.extend(other.notes);
        self.fit_ms.extend(other.fit_ms);
        self.predict_ms.extend(other.predict_ms);
        self.recommend_ms.extend(other.recommend_ms);
        self.regrets.extend(other.regrets);
        self.opinions.extend(other.opinions);
        self.gains.extend(other.gains);
        self.parameters.extend(other.parameters);
    }

    pub(super) fn text(mut self, what: &str) -> String {
        let mut text = String::new();
        self.notes.iter().for_each(|note| {
            let _ = writeln!(text, "{note}");
        });
        let _ = writeln!(text, "\n{what}");
        let _ = writeln!(text, "right in %, cover of the 90 % interval in % (c)");
        let _ = writeln!(
            text,
            "| physics | question | speed 5 % | plateau 1 K | time 10 % or 3 s | where 0.25 K does not decide it | the drive \
             itself 0.25 K off | flagged | n |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|---|---|---|");
        for foreign in [false, true] {
            let mut sum = ForecastRow::default();
            for (key, row) in self.rows.iter().filter(|(key, _)| key.0 == foreign) {
                let name = match key.1 {
                    QuestionKind::Tmt => "TMT1 +5, +10 K",
                    QuestionKind::Air => "air -10, +10 K",
                    QuestionKind::Load => "mix, rate limit",
                    QuestionKind::Fan => "half the resistance to the air",
                    QuestionKind::State => "another power state",
                };
                line(&mut text, foreign, name, row);
                add(&mut sum, *row);
            }
            line(&mut text, foreign, "all", &sum);
        }
        for (name, times) in [
            ("fit", &mut self.fit_ms),
            ("forecast", &mut self.predict_ms),
            ("advice", &mut self.recommend_ms),
        ] {
            times.sort_by(f64::total_cmp);
            let at =
                |share: f64| times.get((share * times.len() as f64) as usize).copied().unwrap_or(f64::NAN);
            let _ = writeln!(text, "{name}: median {:.0} ms, 95th percentile {:.0} ms", at(0.5), at(0.95));
        }
        self.heating(&mut text);
        self.second_opinions(&mut text);
        self.advice(&mut text);
        text.push_str(&parameters::table(&self.parameters));
        text
    }

    /// Gains of own drives, by the fit and by the verdict's heating model.
    fn heating(&self, text: &mut String) {
        let at = |mut off: Vec<f64>, share: f64| {
            off.sort_by(f64::total_cmp);
            off.get((share * off.len() as f64) as usize).map_or(f64::NAN, |off| 100.0 * off)
        };
        let fits: Vec<f64> = self.gains.iter().map(|gain| gain.0).collect();
        let given: Vec<(f64, bool)> = self.gains.iter().filter_map(|gain| gain.1).collect();
        let held = given.iter().filter(|(_, held)| *held).count();
        let verdicts: Vec<f64> = given.iter().map(|(off, _)| *off).collect();
        let _ = writeln!(
            text,
            "gains of own drives off by: fit median {:.1} %, 90th percentile {:.1} % ({}); verdict's heating model median \
             {:.1} %, 90th percentile {:.1} % (gives {} of {}, 90 % intervals hold {held})",
            at(fits.clone(), 0.5),
            at(fits, 0.9),
            self.gains.len(),
            at(verdicts.clone(), 0.5),
            at(verdicts.clone(), 0.9),
            verdicts.len(),
            self.gains.len(),
        );
    }

    /// Whether throttling follows the temperature or switches: by the fit, and by the verdict.
    fn second_opinions(&self, text: &mut String) {
        let right = |of: &dyn Fn(&Opinions) -> Option<bool>| {
            let told: Vec<bool> = self.opinions.iter().filter_map(of).collect();
            format!("{} of {}", told.iter().filter(|right| **right).count(), told.len())
        };
        let verdict = |right: bool| move |one: &Opinions| (one.verdict == Some(right)).then_some(one.fit.0);
        let _ = writeln!(
            text,
            "follows or switches, right: fit {} (those surer than 80 %: {}), verdict {}; fit where the verdict is right \
             {}, wrong {}, names neither {}",
            right(&|one| Some(one.fit.0)),
            right(&|one| (one.fit.1 >= 0.8).then_some(one.fit.0)),
            right(&|one| one.verdict),
            right(&verdict(true)),
            right(&verdict(false)),
            right(&|one| one.verdict.is_none().then_some(one.fit.0)),
        );
    }

    /// What came of advice, where it was asked for.
    fn advice(&self, text: &mut String) {
        if self.regrets.is_empty() {
            return;
        }
        let mut lost: Vec<f64> = self.regrets.iter().map(|regret| 100.0 * regret.lost).collect();
        lost.sort_by(f64::total_cmp);
        let at = |share: f64| lost[((share * lost.len() as f64) as usize).min(lost.len() - 1)];
        let broken = |by_k: f64| self.regrets.iter().filter(|regret| regret.over_k > by_k).count();
        let _ = writeln!(
            text,
            "fastest setting below a limit, {} drives: speed lost to the best median {:.1} %, 90th percentile {:.1} %; \
             limit broken: {}, by more than 1 K: {}",
            lost.len(),
            at(0.5),
            at(0.9),
            broken(0.0),
            broken(1.0),
        );
    }
}

fn line(text: &mut String, foreign: bool, name: &str, row: &ForecastRow) {
    let physics = if foreign { "foreign" } else { "own" };
    let flagged = 100.0 * f64::from(row.flagged) / f64::from(row.all.max(1));
    let _ = writeln!(
        text,
        "| {physics} | {name} | {} {} {} {} {} {flagged:.0} | {} |",
        row.speed.text(),
        row.plateau.text(),
        row.time.text(),
        row.steady_time.text(),
        row.off_time.right(),
        row.all
    );
}

fn add(sum: &mut ForecastRow, part: ForecastRow) {
    sum.speed.add(part.speed);
    sum.plateau.add(part.plateau);
    sum.time.add(part.time);
    sum.steady_time.add(part.steady_time);
    sum.off_time.add(part.off_time);
    sum.flagged += part.flagged;
    sum.all += part.all;
}
