//! Which of several runs had moved the same amount first, and whether the one that began slower was sooner.
//!
//! Only where it is a race: every run has the phase, and all moved the same amount in it, as when a drive is written from
//! end to end. Loads that end with a time have no finish.

use measure::Bytes;
use measure::record::Op;
use report::ReportInput;
use schemars::JsonSchema;
use serde::Serialize;

/// Amounts that differ by less are the same: the last interval of a run is cut at its edge.
const SAME_AMOUNT: f64 = 0.005;
/// How much of a run tells how fast it began.
const BEGIN_S: f64 = 10.0;
/// A begin is slower than another by at least this much; smaller differences are noise.
const SLOWER_BEGIN: f64 = 0.03;

/// The finish of one load in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct FinishOrder {
    /// The phase.
    pub(crate) phase: String,
    /// `read` or `write`.
    op: String,
    /// What every run moved.
    bytes: u64,
    /// The runs, the first to finish first.
    pub(crate) runs: Vec<Finisher>,
    /// Whether the first to finish began slower than another: slower is sooner.
    pub(crate) slower_is_sooner: bool,
}

/// When one run finished.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Finisher {
    /// Name of the run or of its setting.
    pub(crate) run: String,
    /// From its first byte to its last.
    pub(crate) seconds: f64,
    /// Mean of its first 10 s.
    begin_bytes_per_s: f64,
    /// Mean of all of it.
    mean_bytes_per_s: f64,
}

/// The finishes that `runs`, called `names`, have in common.
pub(crate) fn finishes(runs: &[ReportInput], names: &[String]) -> Vec<FinishOrder> {
    let Some(first) = runs.first().filter(|_| runs.len() > 1) else { return Vec::new() };
    let phases = first.phases.iter().map(|phase| phase.name.as_str());
    phases
        .flat_map(|phase| [Op::Write, Op::Read].map(|op| (phase, op)))
        .filter_map(|(phase, op)| finish(runs, names, phase, op))
        .collect()
}

fn finish(runs: &[ReportInput], names: &[String], phase: &str, op: Op) -> Option<FinishOrder> {
    let moved: Vec<MovedLoad> = runs.iter().map(|run| moved(run, phase, op)).collect::<Option<_>>()?;
    let (least, most) = moved
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), one| (least.min(one.bytes), most.max(one.bytes)));
    if least <= 0.0 || most - least > SAME_AMOUNT * most {
        return None;
    }
    let mut order: Vec<Finisher> = moved
        .iter()
        .zip(names)
        .map(|(one, name)| Finisher {
            run: name.clone(),
            seconds: one.seconds,
            begin_bytes_per_s: one.begin,
            mean_bytes_per_s: one.bytes / one.seconds,
        })
        .collect();
    order.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    // Runs that end with their time, or at the same moment, have no order.
    let (soonest, last) = (order.first()?, order.last()?);
    if last.seconds - soonest.seconds < 1.0 {
        return None;
    }
    let begin = soonest.begin_bytes_per_s;
    let slower_is_sooner = order.iter().any(|other| begin < (1.0 - SLOWER_BEGIN) * other.begin_bytes_per_s);
    let op = if op == Op::Write { "write" } else { "read" };
    Some(FinishOrder {
        phase: phase.to_owned(),
        op: op.to_owned(),
        bytes: most as u64,
        runs: order,
        slower_is_sooner,
    })
}

/// What one run moved in a phase.
struct MovedLoad {
    bytes: f64,
    seconds: f64,
    begin: f64,
}

fn moved(run: &ReportInput, phase: &str, op: Op) -> Option<MovedLoad> {
    let phase = run.phases.iter().find(|one| one.name == phase)?;
    let speed = run.speed.iter().find(|one| one.op == op)?;
    let inside = |start_s: f64| (phase.start_s..phase.end_s).contains(&start_s);
    let moving = || speed.intervals.iter().filter(|one| inside(one.start_s) && one.value > 0.0);
    let (start, end) =
        (moving().next()?.start_s, moving().map(|one| one.start_s + one.span_s).fold(0.0, f64::max));
    let begin = || moving().filter(|one| one.start_s < start + BEGIN_S);
    let span: f64 = begin().map(|one| one.span_s).sum();
    Some(MovedLoad {
        bytes: moving().map(|one| one.value * one.span_s).sum(),
        seconds: (end - start).max(f64::MIN_POSITIVE),
        begin: begin().map(|one| one.value * one.span_s).sum::<f64>() / span.max(f64::MIN_POSITIVE),
    })
}

impl FinishOrder {
    /// In a sentence or two.
    pub(crate) fn sentence(&self) -> String {
        let [first, others @ ..] = self.runs.as_slice() else { return String::new() };
        let did = if self.op == "write" { "wrote" } else { "read" };
        let later = |other: &Finisher| {
            let more = other.seconds - first.seconds;
            format!("{} took {more:.0} s more ({:.1} %)", other.run, 100.0 * more / first.seconds)
        };
        let later: Vec<String> = others.iter().map(later).collect();
        let sooner =
            if self.slower_is_sooner { " Slower is sooner: it began slower than another run." } else { "" };
        format!(
            "Finished first: {}, which {did} {} in {:.0} s ({}); {}.{sooner}",
            first.run,
            Bytes::new(self.bytes),
            first.seconds,
            self.phase,
            later.join(", ")
        )
    }
}

/// All of them as sentences; nothing where there is no race.
pub(crate) fn finish_sentences(orders: &[FinishOrder]) -> Vec<String> {
    orders.iter().map(FinishOrder::sentence).collect()
}
