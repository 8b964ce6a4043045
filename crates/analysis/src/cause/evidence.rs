//! Weighs what speaks for each cause of a drop.
//!
//! Each observation adds to the logarithm of the odds of some causes; the sums make probabilities.
//! The weights are judgements: 1 is a hint (odds 2.7), 2.5 is strong (odds 12), 5 decides alone.
//! They were set on synthetic runs with known causes; METHODS has the table, and where it fails.

/// What may have made a drive slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspect {
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

const SUSPECTS: [Suspect; 5] = [Tmt1, Tmt2, Vendor, Slc, Other];
/// All that is heat.
pub(crate) const HEAT: [Suspect; 3] = [Tmt1, Tmt2, Vendor];

/// Nothing is more certain than this: the record may lie in ways that were not thought of.
const MOST_CERTAIN: f64 = 0.98;

/// Heat is blamed from this probability on: a false alarm costs more than an unknown.
const CALLED_HEAT: f64 = 0.7;

/// Observations and what they weigh.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    total: [f64; 5],
    observations: Vec<([f64; 5], String)>,
}

/// How the scale came to rest.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// What it was.
    pub finding: Finding,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// What speaks for it, the heaviest first, then what speaks against it.
    pub evidence: Vec<String>,
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
        let mut total = [0.0; 5];
        total[Other as usize] = 1.0;
        Self { total, observations: Vec::new() }
    }

    /// Adds an observation that makes each named suspect more (over 0) or less likely.
    pub(crate) fn weigh(&mut self, weights: &[(Suspect, f64)], text: impl Into<String>) {
        let mut row = [0.0; 5];
        for (suspect, weight) in weights {
            row[*suspect as usize] += weight;
        }
        self.weigh_row(row, text);
    }

    /// The sums of log odds, suspect by suspect.
    pub(crate) const fn total(&self) -> [f64; 5] {
        self.total
    }

    /// Adds a row of weights as it is.
    pub(crate) fn weigh_row(&mut self, row: [f64; 5], text: impl Into<String>) {
        for (total, weight) in self.total.iter_mut().zip(row) {
            *total += weight;
        }
        self.observations.push((row, text.into()));
    }

    /// Adds a weight without a sentence: what was likely beforehand.
    pub(crate) fn prior(&mut self, suspect: Suspect, weight: f64) {
        self.total[suspect as usize] += weight;
    }

    /// Adds the same weight to all that is heat.
    pub(crate) fn weigh_heat(&mut self, weight: f64, others: &[(Suspect, f64)], text: impl Into<String>) {
        let mut weights: Vec<_> = HEAT.iter().map(|suspect| (*suspect, weight)).collect();
        weights.extend(others);
        self.weigh(&weights, text);
    }

    /// Weighs it all.
    pub(crate) fn verdict(&self) -> Verdict {
        let p = self.probabilities();
        let heat: f64 = HEAT.iter().map(|suspect| p[*suspect as usize]).sum();
        let likeliest =
            HEAT.into_iter().max_by(|a, b| p[*a as usize].total_cmp(&p[*b as usize])).unwrap_or(Vendor);
        // One threshold has to be twice as likely as the others together to be named.
        let named = p[likeliest as usize] >= 2.0 / 3.0 * heat;
        let (finding, confidence) = if heat >= CALLED_HEAT && named {
            (Finding::Heat(likeliest), p[likeliest as usize])
        } else if heat >= CALLED_HEAT {
            (Finding::SomeHeat, heat)
        } else if p[Slc as usize] >= 0.5 {
            (Finding::SlcFull, p[Slc as usize])
        } else if p[Other as usize] + p[Slc as usize] >= 0.7 {
            (Finding::NotHeat, p[Other as usize] + p[Slc as usize])
        } else {
            (Finding::Unknown, p.iter().copied().fold(0.0, f64::max))
        };
        Verdict {
            finding,
            confidence: confidence.min(MOST_CERTAIN),
            evidence: self.sentences(finding, likeliest),
        }
    }

    /// Probabilities by suspect, from the sums of log odds.
    fn probabilities(&self) -> [f64; 5] {
        let most = self.total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds = self.total.map(|total| (total - most).exp());
        let sum: f64 = odds.iter().sum();
        odds.map(|odds| odds / sum)
    }

    fn sentences(&self, finding: Finding, likeliest: Suspect) -> Vec<String> {
        let winners: &[Suspect] = match finding {
            Finding::Heat(_) | Finding::SomeHeat => &[likeliest],
            Finding::SlcFull => &[Slc],
            Finding::NotHeat | Finding::Unknown => &[Other],
        };
        let heat = finding.is_heat();
        let support = |row: &[f64; 5]| {
            let won = winners.iter().map(|w| row[*w as usize]).fold(f64::NEG_INFINITY, f64::max);
            // Heat competes with what is not heat, and one threshold with the others.
            let rivals = SUSPECTS.iter().filter(|s| !winners.contains(s)).map(|s| row[*s as usize]);
            let (low, high) =
                rivals.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if won >= high { won - low } else { won - high }
        };
        let mut by_weight: Vec<(f64, &str)> =
            self.observations.iter().map(|(row, text)| (support(row), text.as_str())).collect();
        by_weight.sort_by(|a, b| b.0.total_cmp(&a.0));
        let sentence = |(support, text): &(f64, &str)| match *support {
            s if s < 0.0 && heat => format!("Against heat or this threshold: {text}"),
            s if s < 0.0 => format!("Against it: {text}"),
            _ => (*text).to_owned(),
        };
        by_weight.iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn two_thresholds_that_explain_a_drop_alike_are_heat_without_a_name() {
        let mut scale = Scale::new();
        scale.weigh_heat(3.0, &[(Slc, -2.0)], "It came back after cooling.");
        assert_eq!(scale.verdict().finding, Finding::SomeHeat);
        scale.weigh(&[(Tmt1, 6.0)], "The counter of TMT1 moved.");
        let verdict = scale.verdict();
        assert_eq!(verdict.finding, Finding::Heat(Tmt1));
        assert_eq!(verdict.evidence, ["The counter of TMT1 moved.", "It came back after cooling."]);
        assert!(verdict.confidence > 0.9 && verdict.confidence <= MOST_CERTAIN);
    }

    #[test]
    fn nothing_known_is_unknown() {
        assert_eq!(Scale::new().verdict().finding, Finding::Unknown);
    }
}
