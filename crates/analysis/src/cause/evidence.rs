//! Weighs what speaks for each cause of a drop.
//!
//! Each observation adds to the logarithm of the odds of some causes; the sums make probabilities.
//! The weights are judgements: 1 is a hint (odds 2.7), 2.5 is strong (odds 12), 5 decides alone.
//! They were set on synthetic runs with known causes; METHODS has the table, and where it fails.

use std::borrow::Cow;

use serde::Serialize;

/// What may have made a drive slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    /// Light throttling set by the host.
    Tmt1,
    /// Heavy throttling set by the host.
    Tmt2,
    /// A threshold of the drive's own.
    Vendor,
    /// The fast write cache is full.
    Slc,
    /// Anything else.
    Other,
}

use Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};

use super::rule::Rule;

/// In the order of their weights.
pub(crate) const SUSPECTS: [Suspect; 5] = [Tmt1, Tmt2, Vendor, Slc, Other];
/// All that is heat.
pub(crate) const HEAT: [Suspect; 3] = [Tmt1, Tmt2, Vendor];

/// Nothing is more certain than this: the record may lie in ways that were not thought of.
const MOST_CERTAIN: f64 = 0.98;

/// Heat is blamed from this probability on: a false alarm costs more than an unknown.
const CALLED_HEAT: f64 = 0.7;
/// ... and what is not heat, likewise.
const CALLED_NOT_HEAT: f64 = 0.7;
/// The full cache is named when it is likelier than all else.
const CALLED_CACHE: f64 = 0.5;
/// One threshold has to be twice as likely as the others together to be named: this share of all heat.
const NAMED: f64 = 2.0 / 3.0;

/// What lowers the log odds by less than this speaks neither for nor against: a hundredth of the odds.
const LEAST_AGAINST: f64 = 0.01;

/// A cause below this confidence is told with what else would decide it.
pub(crate) const SURE: f64 = 0.9;

/// Observations and what they weigh.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    total: [f64; 5],
    observations: Vec<Observation>,
}

/// Something that was observed, and what it weighs.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// The rule that weighed it.
    pub rule: Rule,
    /// Log odds, suspect by suspect in the order of [`SUSPECTS`].
    pub weights: [f64; 5],
    /// What was observed, as a sentence.
    pub text: Cow<'static, str>,
    /// Whether it was likely beforehand and not seen in the run: no evidence then.
    pub prior: bool,
}

/// How the scale came to rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    /// What it was.
    pub finding: Finding,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
}

/// What a drop was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Heat, by this threshold.
    Heat(Suspect),
    /// Heat, but which threshold cannot be told.
    SomeHeat,
    /// The fast write cache is full.
    SlcFull,
    /// Not heat.
    NotHeat,
    /// Nothing stands out.
    Unknown,
}

impl Finding {
    /// Whether it was heat of any kind.
    pub(crate) const fn is_heat(self) -> bool {
        matches!(self, Self::Heat(_) | Self::SomeHeat)
    }
}

impl Scale {
    /// Before any observation most slow stretches are something other than heat, and no cause is likely enough
    /// to be named.
    pub(crate) fn new() -> Self {
        let mut scale = Self { total: [0.0; 5], observations: Vec::new() };
        scale.prior(Rule::Beforehand, Other, 1.0, "Most slow stretches are something other than heat.");
        scale
    }

    /// Adds an observation that makes each named suspect more (over 0) or less likely.
    pub(crate) fn weigh(
        &mut self,
        rule: Rule,
        weights: &[(Suspect, f64)],
        text: impl Into<Cow<'static, str>>,
    ) {
        let mut row = [0.0; 5];
        for (suspect, weight) in weights {
            row[*suspect as usize] += weight;
        }
        self.weigh_row(rule, row, text);
    }

    /// The sums of log odds, suspect by suspect.
    pub(crate) const fn total(&self) -> [f64; 5] {
        self.total
    }

    /// All that was weighed, in the order in which it was.
    pub(crate) fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Adds a row of weights as it is.
    pub(crate) fn weigh_row(&mut self, rule: Rule, weights: [f64; 5], text: impl Into<Cow<'static, str>>) {
        self.add(Observation { rule, weights, text: text.into(), prior: false });
    }

    /// Adds what was likely beforehand: it counts, and is no evidence.
    pub(crate) fn prior(&mut self, rule: Rule, suspect: Suspect, weight: f64, text: &'static str) {
        let mut weights = [0.0; 5];
        weights[suspect as usize] = weight;
        self.add(Observation { rule, weights, text: text.into(), prior: true });
    }

    fn add(&mut self, observation: Observation) {
        for (total, weight) in self.total.iter_mut().zip(observation.weights) {
            *total += weight;
        }
        self.observations.push(observation);
    }

    /// Adds the same weight to all that is heat.
    pub(crate) fn weigh_heat(
        &mut self,
        rule: Rule,
        weight: f64,
        others: &[(Suspect, f64)],
        text: impl Into<Cow<'static, str>>,
    ) {
        let mut weights: Vec<_> = HEAT.iter().map(|suspect| (*suspect, weight)).collect();
        weights.extend(others);
        self.weigh(rule, &weights, text);
    }

    /// Weighs it all.
    pub(crate) fn verdict(&self) -> Verdict {
        let (finding, confidence) = self.odds().finding();
        Verdict { finding, confidence: confidence.min(MOST_CERTAIN) }
    }

    /// What speaks for the verdict, the heaviest first, then what speaks against it.
    pub(crate) fn evidence(&self) -> Vec<String> {
        let odds = self.odds();
        self.sentences(odds.finding().0, odds.likeliest)
    }

    /// How likely each suspect is.
    pub(crate) fn odds(&self) -> Odds {
        let p = self.probabilities();
        let likeliest =
            HEAT.into_iter().max_by(|a, b| p[*a as usize].total_cmp(&p[*b as usize])).unwrap_or(Vendor);
        Odds { p, heat: HEAT.iter().map(|suspect| p[*suspect as usize]).sum(), likeliest }
    }

    /// Probabilities by suspect, from the sums of log odds.
    fn probabilities(&self) -> [f64; 5] {
        let most = self.total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds = self.total.map(|total| (total - most).exp());
        let sum: f64 = odds.iter().sum();
        odds.map(|odds| odds / sum)
    }

    /// What was observed, by what it did for the finding: by how much the log odds of that rise with it. An observation
    /// against a suspect whom nothing else speaks for does little, whatever its weight.
    fn sentences(&self, finding: Finding, likeliest: Suspect) -> Vec<String> {
        let winners: &[Suspect] = match finding {
            Finding::Heat(_) => &[likeliest],
            Finding::SomeHeat => &HEAT,
            Finding::SlcFull => &[Slc],
            Finding::NotHeat | Finding::Unknown => &[Other],
        };
        let with = log_odds(&self.total, winners);
        let support = |row: &[f64; 5]| {
            let without: [f64; 5] = std::array::from_fn(|suspect| self.total[suspect] - row[suspect]);
            with - log_odds(&without, winners)
        };
        let seen = self.observations.iter().filter(|observation| !observation.prior);
        let mut by_weight: Vec<(f64, &str)> =
            seen.map(|seen| (support(&seen.weights), seen.text.as_ref())).collect();
        by_weight.sort_by(|a, b| b.0.total_cmp(&a.0));
        let sentence = |(support, text): &(f64, &str)| match *support {
            s if s < -LEAST_AGAINST && finding.is_heat() => format!("Against heat or this threshold: {text}"),
            s if s < -LEAST_AGAINST => format!("Against it: {text}"),
            _ => (*text).to_owned(),
        };
        by_weight.iter().map(sentence).collect()
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
    fn finding(&self) -> (Finding, f64) {
        let of = |suspect: Suspect| self.p[suspect as usize];
        if self.heat >= CALLED_HEAT && of(self.likeliest) >= NAMED * self.heat {
            (Finding::Heat(self.likeliest), of(self.likeliest))
        } else if self.heat >= CALLED_HEAT {
            (Finding::SomeHeat, self.heat)
        } else if of(Slc) >= CALLED_CACHE {
            (Finding::SlcFull, of(Slc))
        } else if of(Other) + of(Slc) >= CALLED_NOT_HEAT {
            (Finding::NotHeat, of(Other) + of(Slc))
        } else {
            (Finding::Unknown, self.p.iter().copied().fold(0.0, f64::max))
        }
    }

    /// Why that is the finding, in the numbers that made it.
    pub(crate) fn why(&self) -> String {
        let share = |p: f64| format!("{:.0} %", 100.0 * p);
        let of = |suspect: Suspect| self.p[suspect as usize];
        let heat = share(self.heat);
        let all_heat = format!("Heat, whatever its threshold, has {heat}");
        let called = share(CALLED_HEAT);
        let not_heat = format!("{all_heat}; it is blamed from {called} on, as a false alarm costs most.");
        let (name, one) = (self.likeliest.name(), share(of(self.likeliest)));
        match self.finding().0 {
            Finding::Heat(_) => format!(
                "{all_heat}, and is blamed from {called} on. Of that {one} is {name}: a threshold is named when it is twice as likely as the others together."
            ),
            Finding::SomeHeat => format!(
                "{all_heat}, and is blamed from {called} on. The likeliest threshold is {name} with {one}: not twice as likely as the others together, so none is named."
            ),
            Finding::SlcFull => {
                format!("The full write cache has {}, half or more. {not_heat}", share(of(Slc)))
            }
            Finding::NotHeat => format!(
                "What is not heat has {}, and that is said from {} on. {not_heat}",
                share(of(Other) + of(Slc)),
                share(CALLED_NOT_HEAT)
            ),
            Finding::Unknown => format!(
                "{all_heat} and what is not heat {}: either is named from {called} on, so the cause stays unknown.",
                share(of(Other) + of(Slc))
            ),
        }
    }
}

impl Suspect {
    /// For people, as the subject or object of a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Tmt1 => "TMT1",
            Tmt2 => "TMT2",
            Vendor => "a threshold of the drive's own",
            Slc => "the full write cache",
            Other => "anything else",
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn two_thresholds_that_explain_a_drop_alike_are_heat_without_a_name() {
        let mut scale = Scale::new();
        scale.weigh_heat(Rule::ComingBack, 3.0, &[(Slc, -2.0)], "It came back after cooling.");
        assert_eq!(scale.verdict().finding, Finding::SomeHeat);
        scale.weigh(Rule::Counters, &[(Tmt1, 6.0)], "The counter of TMT1 moved.");
        let verdict = scale.verdict();
        assert_eq!(verdict.finding, Finding::Heat(Tmt1));
        assert_eq!(scale.evidence(), ["The counter of TMT1 moved.", "It came back after cooling."]);
        assert!(verdict.confidence > 0.9 && verdict.confidence <= MOST_CERTAIN);
    }

    #[test]
    fn nothing_known_is_unknown() {
        assert_eq!(Scale::new().verdict().finding, Finding::Unknown);
    }
}
