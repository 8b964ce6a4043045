//! The loads of several runs beside each other: phase by phase and operation by operation, never averaged together.

use super::align::LoadDifference;
use super::power;
use crate::figures::{self, PhaseFigures};
use crate::format;
use crate::sentences;
use crate::view::ReportInput;

/// Two means closer than this are one, whatever their noise says: rounding, and what no experiment repeats.
const SAME: f64 = 0.002;

/// The 95 % interval of a normal distribution, in standard errors.
const INTERVAL_95: f64 = 1.96;

/// One load in all runs that have it.
pub(super) struct ComparedLoad {
    /// "write: sequential write, 1 MiB, depth 64".
    pub(super) title: String,
    /// Phase, operation.
    pub(super) names: (String, String),
    /// Its figures in each run.
    pub(super) runs: Vec<Option<PhaseFigures>>,
    /// How many loads of its phase and operation came before it in each run.
    pub(super) places: Vec<Option<usize>>,
    /// Whether all runs asked for the same.
    pub(super) asked_alike: bool,
    /// What they asked for, where it differs.
    pub(super) differs: Option<LoadDifference>,
}

/// A row of the comparison: what it is, a text for each run, and which of them are best.
pub(super) struct ComparedRow {
    pub(super) name: String,
    pub(super) cells: Vec<String>,
    pub(super) best: Vec<bool>,
}

/// The difference of a mean from the baseline's, as a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) share: f64,
    /// Half width of its 95 % interval by the noise within both runs.
    pub(super) noise: Option<f64>,
}

impl Difference {
    /// "−18 % ± 0.4 %".
    pub(super) fn text(self) -> String {
        let noise = self.noise.and_then(|noise| format::number(100.0 * noise, 1));
        let noise = noise.map(|noise| format!(" ±{noise}")).unwrap_or_default();
        format!("{}{noise}", format::signed_percent(self.share))
    }
}

/// Every load that occurs under a speed in any run, in the order in which they come up. A load that a run repeats
/// (rounds) is matched with the same repetition in the others.
pub(super) fn loads(runs: &[ReportInput]) -> Vec<ComparedLoad> {
    let all: Vec<Vec<PhaseFigures>> = runs.iter().map(figures::figures).collect();
    let mut loads: Vec<ComparedLoad> = Vec::new();
    for (index, rows) in all.into_iter().enumerate() {
        for row in rows.into_iter().filter(|row| row.mean_bytes_per_s.is_some()) {
            let (phase, op, what, repetition) = row.key();
            let (title, names) = (title(phase, op, what, repetition), (phase.to_owned(), op.to_owned()));
            let place = loads.iter().filter(|load| load.names == names && load.runs[index].is_some()).count();
            let load = match loads.iter().position(|load| load.title == title) {
                Some(at) => &mut loads[at],
                None => {
                    let (figures, places) = (vec![None; runs.len()], vec![None; runs.len()]);
                    let (asked_alike, differs) = (true, None);
                    loads.push(ComparedLoad { title, names, runs: figures, places, asked_alike, differs });
                    let last = loads.len() - 1;
                    &mut loads[last]
                }
            };
            (load.runs[index], load.places[index]) = (Some(row), Some(place));
        }
    }
    loads
}

pub(super) fn title(phase: &str, op: &str, what: &str, repetition: usize) -> String {
    let name = if phase == op || phase == "–" { op.to_owned() } else { format!("{phase} ({op})") };
    let what = if what.is_empty() || what == op { String::new() } else { format!(": {what}") };
    figures::numbered(&format!("{name}{what}"), repetition)
}

impl ComparedLoad {
    /// How far a run's mean is from the baseline's.
    pub(super) fn difference(&self, run: usize, baseline: usize) -> Option<Difference> {
        let (one, base) = (self.runs[run].as_ref()?, self.runs[baseline].as_ref()?);
        let (a, b) = (base.mean_bytes_per_s?, one.mean_bytes_per_s?);
        let share = b / a - 1.0;
        let relative = |noise: Option<f64>, mean: f64| noise.map(|noise| noise / mean);
        let noise = relative(base.noise_bytes_per_s, a)
            .zip(relative(one.noise_bytes_per_s, b))
            .map(|(a, b)| INTERVAL_95 * (1.0 + share) * a.hypot(b));
        let noise = noise.filter(|noise| noise.is_finite());
        share.is_finite().then_some(Difference { share, noise })
    }

    /// The rows that any run has something for.
    pub(super) fn rows(&self, baseline: usize, letters: &[String]) -> Vec<ComparedRow> {
        let mut rows: Vec<ComparedRow> = self.differs.iter().map(asked_row).collect();
        rows.push(self.speed_row());
        rows.extend(self.difference_row(baseline, &letters[baseline]));
        let text = |name: &str, show: &dyn Fn(&PhaseFigures) -> Option<String>| self.row(name, show);
        let speed = |rate: Option<f64>| rate.map(|rate| format::speed(Some(rate)));
        rows.extend(text("of full speed", &|one| one.share_of_full().map(format::percent)));
        rows.extend(text("full speed", &|one| speed(one.full.map(|full| full.bytes_per_s))));
        rows.extend(text("while throttled", &|one| speed(one.throttled_bytes_per_s)));
        rows.extend(text("time throttled", &|one| one.throttled_s.map(format::seconds)));
        rows.extend(text("first onset", &|one| one.onset.map(|_| figures::onset(one))));
        rows.extend(text("spread (5-95 %)", &|one| {
            one.spread_bytes_per_s.map(|_| figures::spread(one).replace(" to ", " – "))
        }));
        rows.extend(text("wobble", &|one| {
            let wobble = one.wobble.as_ref()?;
            Some(format!("{:.1} %, {}", wobble.share * 100.0, sentences::wobble_kind(wobble.kind)))
        }));
        rows.extend(text("IOPS", &|one| one.iops.map(format::count)));
        rows.extend(text("latency p50", &|one| one.latency.map(|latency| format::latency(latency.p50_ns))));
        rows.extend(self.best_row(
            "latency p99",
            &|one| one.latency.map(|latency| latency.p99_ns),
            &format::latency,
            true,
        ));
        rows.extend(text("latency max", &|one| one.latency.map(|latency| format::latency(latency.max_ns))));
        rows.extend(text("temperature", &|one| one.temperature_c.map(|_| figures::temperature(one))));
        rows.extend(text("mean power", &|one| {
            one.power_w.map(|watts| format!("{} W", format::cell(Some(watts), 2)))
        }));
        rows.extend(text("net power", &|one| one.power.as_ref().and_then(power::net)));
        rows.extend(text("MB/s per W", &|one| Some(format::count(one.power.as_ref()?.mb_per_s_per_w?))));
        rows.extend(text("IOPS per W", &|one| Some(format::count(one.power.as_ref()?.iops_per_w?))));
        rows.extend(text("J per GB", &|one| format::number(one.power.as_ref()?.j_per_gb?, 2)));
        rows
    }

    fn speed_row(&self) -> ComparedRow {
        let speed = |rate: f64| format::speed(Some(rate));
        let row = self.best_row("speed", &|one| one.mean_bytes_per_s, &speed, false);
        row.unwrap_or_else(|| ComparedRow {
            name: "speed".to_owned(),
            cells: vec![format::MISSING.to_owned(); self.runs.len()],
            best: vec![false; self.runs.len()],
        })
    }

    fn difference_row(&self, baseline: usize, letter: &str) -> Option<ComparedRow> {
        let cell = |run: usize| match run == baseline {
            true => format::MISSING.to_owned(),
            false => {
                self.difference(run, baseline).map_or_else(|| format::MISSING.to_owned(), Difference::text)
            }
        };
        let cells: Vec<String> = (0..self.runs.len()).map(cell).collect();
        let best = vec![false; cells.len()];
        let has_any = cells.iter().any(|cell| cell != format::MISSING);
        has_any.then(|| ComparedRow { name: format!("against {letter}"), cells, best })
    }

    fn row(&self, name: &str, show: &dyn Fn(&PhaseFigures) -> Option<String>) -> Option<ComparedRow> {
        let cell = |one: &Option<PhaseFigures>| one.as_ref().and_then(show);
        let cells: Vec<Option<String>> = self.runs.iter().map(cell).collect();
        let best = vec![false; cells.len()];
        cells.iter().any(Option::is_some).then(|| ComparedRow {
            name: name.to_owned(),
            cells: cells.into_iter().map(|cell| cell.unwrap_or_else(|| format::MISSING.to_owned())).collect(),
            best,
        })
    }

    /// A row whose best cells are marked: the largest or smallest, and those the same as it. None where all are.
    fn best_row(
        &self,
        name: &str,
        value: &dyn Fn(&PhaseFigures) -> Option<f64>,
        show: &dyn Fn(f64) -> String,
        smallest: bool,
    ) -> Option<ComparedRow> {
        let values: Vec<Option<f64>> =
            self.runs.iter().map(|one| one.as_ref().and_then(value).filter(|v| v.is_finite())).collect();
        let known = values.iter().copied().flatten();
        let top = known.reduce(if smallest { f64::min } else { f64::max })?;
        let is_best = |value: &Option<f64>| value.is_some_and(|value| (value / top - 1.0).abs() <= SAME);
        let best: Vec<bool> = values.iter().map(is_best).collect();
        // Of loads that asked for different things, none is the best.
        let all_best =
            !self.asked_alike || values.iter().zip(&best).all(|(value, best)| value.is_none() || *best);
        Some(ComparedRow {
            name: name.to_owned(),
            cells: values.iter().map(|v| v.map_or_else(|| format::MISSING.to_owned(), show)).collect(),
            best: if all_best { vec![false; best.len()] } else { best },
        })
    }
}

/// What each run asked for.
fn asked_row(differs: &LoadDifference) -> ComparedRow {
    let cell = |cell: &Option<String>| cell.clone().unwrap_or_else(|| format::MISSING.to_owned());
    ComparedRow {
        name: differs.name.to_owned(),
        cells: differs.cells.iter().map(cell).collect(),
        best: vec![false; differs.cells.len()],
    }
}
