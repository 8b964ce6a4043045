//! Weighs what speaks for each cause of a drop.
//!
//! Each observation adds to the logarithm of the odds of some causes; the sums make probabilities.
//! The weights are judgements: 1 is a hint (odds 2.7), 2.5 is strong (odds 12), 5 decides alone.
//! They were set on synthetic runs with known causes; METHODS has the weights and where they fail,
//! ACCURACY how right they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trace::HostThreshold;

/// What may have made a drive slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    /// Light throttling set by the host.
    Tmt1,
    /// Heavy throttling set by the host.
    Tmt2,
    /// A firmware threshold.
    Vendor,
    /// The fast write cache is full.
    Slc,
    /// Anything else.
    Other,
}

use Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};

use super::crossing::BEFOREHAND;
use crate::findings::WeighedObservation;
use crate::observation::Observation;

/// In the order of their weights.
pub(crate) const SUSPECTS: [Suspect; 5] = [Tmt1, Tmt2, Vendor, Slc, Other];
/// All that is heat.
pub(crate) const HEAT: [Suspect; 3] = [Tmt1, Tmt2, Vendor];

/// All else.
pub(crate) const NOT_HEAT: [Suspect; 2] = [Slc, Other];

/// How much of it is heat.
pub(crate) fn heat_share(shares: &[f64; 5]) -> f64 {
    HEAT.iter().map(|suspect| shares[*suspect as usize]).sum()
}

/// How much of it is heat, a full cache, and anything else.
pub(crate) fn kinds(shares: &[f64; 5]) -> [f64; 3] {
    [heat_share(shares), shares[Slc as usize], shares[Other as usize]]
}

/// A row in which all that is heat has one weight, and nothing else any.
pub(crate) fn heat_row(weight: f64) -> [f64; 5] {
    let mut row = [0.0; 5];
    HEAT.iter().for_each(|suspect| row[*suspect as usize] = weight);
    row
}

/// A record may lie in ways that were not thought of: with this probability nothing that was observed counts.
const UNTHOUGHT_OF: f64 = 0.02;

/// Heat is blamed from this probability on: a false alarm costs more than an unknown.
pub(crate) const CALLED_HEAT: f64 = 0.7;
/// ... and what is not heat, likewise.
pub(crate) const CALLED_NOT_HEAT: f64 = 0.7;
/// ... which is the full cache where that is likelier than all else.
pub(crate) const CALLED_CACHE: f64 = 0.5;
/// One threshold has to be twice as likely as the others together to be named: this share of all heat.
const NAMED: f64 = 2.0 / 3.0;

/// A cause less likely than this is out of the question.
pub(crate) const POSSIBLE: f64 = 0.05;

/// A cause below this confidence is told with what else would decide it.
pub(crate) const SURE: f64 = 0.9;

/// Observations and what they weigh.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    total: [f64; 5],
    weighings: Vec<Weighing>,
}

/// Something that was observed, and what it weighs.
#[derive(Clone, Debug)]
pub(crate) struct Weighing {
    /// What was observed.
    pub observation: Observation,
    /// Log odds, suspect by suspect in the order of [`SUSPECTS`].
    pub weights: [f64; 5],
}

/// What it comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    /// What it was.
    pub conclusion: Conclusion,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
}

/// What a drop was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// Heat, by this threshold.
    Heat(Suspect),
    /// Heat; the threshold is not determined.
    SomeHeat,
    /// The fast write cache is full.
    SlcFull,
    /// Not heat.
    NotHeat,
    /// Nothing stands out.
    Unknown,
}

impl Conclusion {
    /// Whether it was heat of any kind.
    pub(crate) const fn is_heat(self) -> bool {
        matches!(self, Self::Heat(_) | Self::SomeHeat)
    }
}

impl Evidence {
    /// Before any observation most slow stretches are something other than heat, and no cause is likely enough
    /// to be named.
    pub(crate) fn new() -> Self {
        let mut evidence = Self { total: [0.0; 5], weighings: Vec::new() };
        evidence.weigh_row(Observation::MostAreNotHeat, BEFOREHAND.map(f64::ln));
        evidence
    }

    /// Adds an observation that makes each named suspect more (over 0) or less likely.
    pub(crate) fn weigh(&mut self, observation: Observation, weights: &[(Suspect, f64)]) {
        let mut row = [0.0; 5];
        for (suspect, weight) in weights {
            row[*suspect as usize] += weight;
        }
        self.weigh_row(observation, row);
    }

    /// Adds the same weight to all that is heat.
    pub(crate) fn weigh_heat(&mut self, observation: Observation, weight: f64, others: &[(Suspect, f64)]) {
        let mut weights: Vec<_> = HEAT.iter().map(|suspect| (*suspect, weight)).collect();
        weights.extend(others);
        self.weigh(observation, &weights);
    }

    /// Adds a row of weights as it is.
    pub(crate) fn weigh_row(&mut self, observation: Observation, weights: [f64; 5]) {
        for (total, weight) in self.total.iter_mut().zip(weights) {
            *total += weight;
        }
        self.weighings.push(Weighing { observation, weights });
    }

    /// Gives back what its growing took: a month has 100 000 of them.
    pub(crate) fn shrink(&mut self) {
        self.weighings.shrink_to_fit();
    }

    /// That of a drop which goes on, after a pause, with the one that this is the evidence of: what spoke for that one.
    pub(crate) fn resumed(&self, paused_s: f64) -> Self {
        let mut evidence = Self::new();
        let weights = std::array::from_fn(|suspect| self.total[suspect] - evidence.total[suspect]);
        evidence.weigh_row(Observation::AsSlowAsBefore { paused_s }, weights);
        evidence
    }

    /// The sums of log odds, suspect by suspect.
    pub(crate) const fn total(&self) -> [f64; 5] {
        self.total
    }

    /// Whether that was observed.
    pub(crate) fn has(&self, observation: &Observation) -> bool {
        self.weighings.iter().any(|weighing| weighing.observation == *observation)
    }

    /// All that was weighed, in the order in which it was.
    pub(crate) fn weighings(&self) -> &[Weighing] {
        &self.weighings
    }

    /// What was observed, to say more of it: its weights stand.
    pub(crate) fn observed_mut(&mut self) -> impl Iterator<Item = &mut Observation> {
        self.weighings.iter_mut().map(|weighing| &mut weighing.observation)
    }

    /// Weighs it all.
    pub(crate) fn verdict(&self) -> Verdict {
        let (conclusion, confidence) = self.odds().conclusion();
        Verdict { conclusion, confidence }
    }

    /// What was observed, the heaviest first: by how much the log odds of the conclusion rise with it. An observation
    /// against a suspect whom nothing else speaks for does little, whatever its weight.
    pub(crate) fn observations(&self) -> Vec<WeighedObservation> {
        let odds = self.odds();
        let winners: &[Suspect] = match odds.conclusion().0 {
            Conclusion::Heat(_) => &[odds.likeliest],
            Conclusion::SomeHeat => &HEAT,
            Conclusion::SlcFull => &[Slc],
            Conclusion::NotHeat => &NOT_HEAT,
            Conclusion::Unknown => &[Other],
        };
        let with = log_odds(&self.total, winners);
        let support = |row: &[f64; 5]| {
            let without: [f64; 5] = std::array::from_fn(|suspect| self.total[suspect] - row[suspect]);
            with - log_odds(&without, winners)
        };
        let seen = self.weighings.iter().filter(|weighing| !weighing.observation.is_prior());
        let mut by_weight: Vec<(f64, &Observation)> =
            seen.map(|seen| (support(&seen.weights), &seen.observation)).collect();
        by_weight.sort_by(|a, b| b.0.total_cmp(&a.0));
        let weighed = by_weight
            .into_iter()
            .map(|(weight, seen)| WeighedObservation { observation: seen.clone(), weight: Some(weight) });
        weighed.collect()
    }

    /// How likely each suspect is.
    pub(crate) fn odds(&self) -> Odds {
        let p = self.probabilities();
        let likeliest =
            HEAT.into_iter().max_by(|a, b| p[*a as usize].total_cmp(&p[*b as usize])).unwrap_or(Vendor);
        Odds { p, heat: heat_share(&p), likeliest }
    }

    /// Probabilities by suspect, from the sums of log odds.
    fn probabilities(&self) -> [f64; 5] {
        let most = self.total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds = self.total.map(|total| (total - most).exp());
        let sum: f64 = odds.iter().sum();
        std::array::from_fn(|s| (1.0 - UNTHOUGHT_OF) * odds[s] / sum + UNTHOUGHT_OF * BEFOREHAND[s])
    }
}

/// Log odds of these suspects together against all others, from the sums of log odds of each.
fn log_odds(total: &[f64; 5], winners: &[Suspect]) -> f64 {
    let most = total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = |wanted: bool| -> f64 {
        let of = SUSPECTS.iter().filter(|suspect| winners.contains(suspect) == wanted);
        of.map(|suspect| (total[*suspect as usize] - most).exp()).sum()
    };
    (sum(true) / sum(false)).ln()
}

/// How likely each suspect is, and heat as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odds {
    /// Probabilities in the order of [`SUSPECTS`].
    pub p: [f64; 5],
    /// That of all heat together.
    pub heat: f64,
    /// The likeliest of what is heat.
    pub likeliest: Suspect,
}

impl Odds {
    /// What it was, and how probable that is.
    pub(crate) fn conclusion(&self) -> (Conclusion, f64) {
        let of = |suspect: Suspect| self.p[suspect as usize];
        let not_heat = of(Other) + of(Slc);
        if self.heat >= CALLED_HEAT && of(self.likeliest) >= NAMED * self.heat {
            (Conclusion::Heat(self.likeliest), of(self.likeliest))
        } else if self.heat >= CALLED_HEAT {
            (Conclusion::SomeHeat, self.heat)
        } else if not_heat >= CALLED_NOT_HEAT && of(Slc) >= CALLED_CACHE {
            (Conclusion::SlcFull, of(Slc))
        } else if not_heat >= CALLED_NOT_HEAT {
            (Conclusion::NotHeat, not_heat)
        } else {
            (Conclusion::Unknown, self.p.iter().copied().fold(0.0, f64::max))
        }
    }
}

impl From<HostThreshold> for Suspect {
    fn from(threshold: HostThreshold) -> Self {
        match threshold {
            HostThreshold::Tmt1 => Tmt1,
            HostThreshold::Tmt2 => Tmt2,
        }
    }
}

impl Suspect {
    /// For people, as the subject or object of a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Tmt1 => "TMT1",
            Tmt2 => "TMT2",
            Vendor => "a firmware threshold",
            Slc => "a full SLC cache",
            Other => "another cause",
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn two_thresholds_that_explain_a_drop_alike_are_heat_without_a_name() {
        let mut evidence = Evidence::new();
        let cooled = Observation::CameBack { cooled_k: 3.0, release_k: 340.0 };
        evidence.weigh_heat(cooled.clone(), 3.0, &[(Slc, -2.0)]);
        assert_eq!(evidence.verdict().conclusion, Conclusion::SomeHeat);
        let moved = Observation::CounterMoved { threshold: HostThreshold::Tmt1 };
        evidence.weigh(moved.clone(), &[(Tmt1, 6.0)]);
        let verdict = evidence.verdict();
        assert_eq!(verdict.conclusion, Conclusion::Heat(Tmt1));
        let seen: Vec<Observation> = evidence.observations().into_iter().map(|o| o.observation).collect();
        assert_eq!(seen, [moved, cooled]);
        assert!(verdict.confidence > 0.9 && verdict.confidence <= 1.0 - UNTHOUGHT_OF * 0.5);
    }

    #[test]
    fn nothing_known_is_unknown() {
        assert_eq!(Evidence::new().verdict().conclusion, Conclusion::Unknown);
    }
}
