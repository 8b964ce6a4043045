//! The reasoning behind one event, as data and in sentences: `heatsoak analyze --explain`.
//!
//! Everything is read off the evidence that made the verdict (`cause::evidence`): the same observations,
//! weights and probabilities. Nothing is weighed here, and no rule stands here a second time.

mod decide;
mod seen;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cause::Judged;
use crate::cause::evidence::{Odds, SUSPECTS};
use crate::cause::heat::Heat;
use crate::findings::{Event, SegmentOp};
use crate::observation::Observation;
use crate::segment::{Piece, Stretch};
use crate::wording;
use trace::Trace;

pub use crate::cause::evidence::Suspect;
pub use crate::cause::rule::Rule;

/// One event with everything that made its verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// Its number among the events, from 1.
    pub number: usize,
    /// The event as it stands in the findings.
    #[serde(serialize_with = "wording::event_with_evidence")]
    #[schemars(with = "wording::EventWithEvidence<'static>")]
    pub event: Event,
    /// What was seen.
    pub seen: Seen,
    /// What may have caused it, the likeliest first.
    pub causes: Vec<Weighed>,
    /// What was observed and what it weighs, in the order of the rules.
    pub observations: Vec<Observed>,
    /// Why the cause is called as it is, in sentences.
    pub why: Vec<String>,
    /// What else would decide it, in sentences; empty where it is sure.
    pub would_decide: Vec<String>,
}

/// What was seen of a slow stretch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Seen {
    /// What the load did.
    pub op: SegmentOp,
    /// Name of the phase.
    pub phase: String,
    /// Onset, in seconds since the run began.
    pub start_s: f64,
    /// When it came back or the load ended, in seconds.
    pub end_s: f64,
    /// Whether it came back.
    pub recovered: bool,
    /// Whether speed fell gradually.
    pub gradual: bool,
    /// Speed before, in bytes per second; `None` where the load began slow.
    pub before_bytes_per_s: Option<f64>,
    /// Median speed during, in bytes per second.
    pub during_bytes_per_s: f64,
    /// Temperature when it began, in kelvins.
    pub temp_start_k: Option<f64>,
    /// Hottest reading during, in kelvins.
    pub temp_max_k: Option<f64>,
    /// Coolest reading during, in kelvins.
    pub temp_min_k: Option<f64>,
    /// Temperature when it ended, in kelvins.
    pub temp_end_k: Option<f64>,
    /// TMT1 then, in kelvins: 0 is disabled, `None` not known.
    pub tmt1_k: Option<u16>,
    /// TMT2 then, in kelvins: 0 is disabled, `None` not known.
    pub tmt2_k: Option<u16>,
    /// Power state then.
    pub power_state: Option<u8>,
    /// By how much the counters of TMT1 moved around its beginning (transitions and seconds); `None` where the drive
    /// reported none.
    pub tmt1_counted: Option<u64>,
    /// By how much those of TMT2 did.
    pub tmt2_counted: Option<u64>,
    /// Data written until it began, since the fast cache was last taken to be empty.
    pub written_bytes: f64,
    /// All of it in sentences.
    pub sentences: Vec<String>,
}

/// One possible cause.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Weighed {
    /// Which.
    pub cause: Suspect,
    /// Sum of all weights, in log odds.
    pub log_odds: f64,
    /// How likely it is, from 0 to 1.
    pub probability: f64,
}

/// One observation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Observed {
    /// The rule that weighed it.
    pub rule: Rule,
    /// Where the rule is documented.
    pub section: String,
    /// What was observed.
    #[serde(flatten)]
    pub observation: Observation,
    /// The same as a sentence.
    pub text: String,
    /// What it weighs for each cause, in log odds: over 0 for it, under 0 against it.
    pub log_odds: LogOdds,
}

/// Log odds by cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogOdds {
    /// Light throttling set by the host.
    pub tmt1: f64,
    /// Heavy throttling set by the host.
    pub tmt2: f64,
    /// A firmware threshold.
    pub vendor: f64,
    /// The full write cache.
    pub slc: f64,
    /// Anything else.
    pub other: f64,
}

impl LogOdds {
    /// In the order of [`Suspect`].
    pub const fn array(self) -> [f64; 5] {
        [self.tmt1, self.tmt2, self.vendor, self.slc, self.other]
    }
}

/// What events are explained from.
pub(crate) struct Sources<'a> {
    pub trace: &'a Trace,
    pub heat: &'a Heat<'a>,
    pub pieces: &'a [Piece],
    pub stretches: &'a [Stretch<'a>],
}

impl Sources<'_> {
    /// The stretch of one load that a drop lies in.
    fn stretch(&self, judged: &Judged) -> &Stretch<'_> {
        &self.stretches[self.pieces[judged.drop.first].stretch]
    }

    /// Explains an event that is about `judged`. Its number is that of the first until it is known which one it is.
    pub(crate) fn explain(&self, event: &Event, judged: &Judged) -> Explanation {
        let odds = judged.evidence.odds();
        Explanation {
            number: 1,
            event: event.clone(),
            seen: seen::seen(self, judged),
            causes: causes(judged, &odds),
            observations: observations(judged, event.temp_k),
            why: decide::why(judged, &odds),
            would_decide: decide::would_decide(self, judged, &odds),
        }
    }
}

fn causes(judged: &Judged, odds: &Odds) -> Vec<Weighed> {
    let total = judged.evidence.total();
    let weighed = |cause: Suspect| Weighed {
        cause,
        log_odds: total[cause as usize],
        probability: odds.p[cause as usize],
    };
    let mut causes: Vec<Weighed> = SUSPECTS.map(weighed).to_vec();
    causes.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    causes
}

fn observations(judged: &Judged, onset_k: Option<f64>) -> Vec<Observed> {
    let observed = judged.evidence.weighings().iter().filter_map(|weighing| {
        let [tmt1, tmt2, vendor, slc, other] = weighing.weights;
        let mut observation = weighing.observation.clone();
        onset_k.into_iter().for_each(|onset_k| observation.name_onset(onset_k));
        let rule = observation.rule()?;
        Some(Observed {
            rule,
            section: rule.section(),
            text: wording::observation(&observation),
            observation,
            log_odds: LogOdds { tmt1, tmt2, vendor, slc, other },
        })
    });
    let mut observed: Vec<Observed> = observed.collect();
    observed.sort_by_key(|observed| observed.rule);
    observed
}
