//! The score as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use analysis::wording;

use crate::corpus::{Labelled, TrueCause};
use crate::tally::{Detection, Said, Tally};

/// Everything about a half of the corpus.
pub(crate) fn all(tally: &Tally, scored: bool, wrong: bool) -> String {
    let half = if scored { "only scored (odd numbers)" } else { "tuned on (even numbers)" };
    let mut text = format!(
        "{} runs of simulated drives, {:.0} h, from the half that is {half}\n\n",
        tally.runs, tally.hours
    );
    metrics(tally, &mut text);
    confusion(tally, &mut text);
    reliability("events", &tally.confidence, &mut text);
    reliability("policies", &tally.policy_confidence, &mut text);
    kinds(tally, &mut text);
    if wrong {
        text += "\n";
        for line in &tally.wrong {
            text += &format!("{line}\n");
        }
    }
    text
}

fn line(text: &mut String, name: &str, value: String, target: &str, holds: bool) {
    let holds = if holds { "holds" } else { "MISSED" };
    let _ = writeln!(text, "{name:<44} {value:<34} {target:<8} {holds}");
}

fn metrics(tally: &Tally, text: &mut String) {
    for (name, detection, mark) in [("onset F1", &tally.onset, 0.985), ("release F1", &tally.release, 0.97)] {
        let Detection { right, missed, false_alarms } = detection;
        let f1 = detection.f1();
        let value = format!("{f1:.4} ({right} right, {missed} missed, {false_alarms} false)");
        line(text, name, value, &format!(">= {mark}"), f1 >= mark);
    }
    let macro_f1 = tally.cause_macro_f1();
    line(text, "cause macro-F1", format!("{macro_f1:.4}"), ">= 0.98", macro_f1 >= 0.98);
    let (right, all) = tally.undecided;
    let value = format!("{right} of {all}");
    line(text, "undecided: left open or rightly named", value, "all", right == all);
    let rate = tally.cold_alarms as f64 / tally.cold_hours.max(1e-9);
    let value = format!("{rate:.3} ({} in {:.0} h)", tally.cold_alarms, tally.cold_hours);
    line(text, "false thermal alarms an hour without heat", value, "<= 0.05", rate <= 0.05);
    let [right, wrong, open] = tally.policies;
    let share = right as f64 / (right + wrong + open).max(1) as f64;
    let value = format!("{share:.4} ({right} right, {wrong} wrong, {open} left open)");
    line(text, "policy", value, ">= 0.97", share >= 0.97);
    for (name, (right, all)) in
        [("onset temperature within 1 K", tally.temperature), ("strength within 5 %", tally.strength)]
    {
        let share = right as f64 / all.max(1) as f64;
        line(text, name, format!("{:.2} % of {all}", 100.0 * share), ">= 95 %", share >= 0.95);
    }
}

fn confusion(tally: &Tally, text: &mut String) {
    let name = |said: &Said| match said {
        Said::TrueCause(cause) => format!("{cause:?}"),
        other => format!("{other:?}"),
    };
    let said: BTreeSet<Said> = tally.causes.keys().map(|(_, said)| *said).collect();
    let truths: BTreeSet<TrueCause> = tally.causes.keys().map(|(truth, _)| *truth).collect();
    let _ = write!(text, "\n{:<10}", "truth\\said");
    for said in &said {
        let _ = write!(text, "{:>9}", name(said));
    }
    text.push('\n');
    for truth in truths {
        let _ = write!(text, "{:<10}", format!("{truth:?}"));
        for said in &said {
            let _ = write!(text, "{:>9}", tally.causes.get(&(truth, *said)).copied().unwrap_or(0));
        }
        text.push('\n');
    }
}

fn reliability(of: &str, table: &BTreeMap<u8, (f64, usize, usize)>, text: &mut String) {
    let all: usize = table.values().map(|(_, _, all)| all).sum();
    let off: f64 = table.values().map(|(sum, right, _)| (sum - *right as f64).abs()).sum();
    let _ = writeln!(
        text,
        "\nconfidence of {of}: expected calibration error {:.3}\n              mean     right        of",
        off / all.max(1) as f64
    );
    for (tenth, (sum, right, all)) in table {
        let (low, high) = (f64::from(*tenth) / 10.0, f64::from(tenth + 1) / 10.0);
        let share = *right as f64 / *all as f64;
        let _ = writeln!(text, "{low:.1} to {high:.1}   {:.3}     {share:.3} {all:>9}", sum / *all as f64);
    }
}

fn kinds(tally: &Tally, text: &mut String) {
    *text += "\nkind              runs  onset F1  release F1    causes right   policies right   alarms without heat\n";
    for (kind, sums) in &tally.by_kind {
        let _ = writeln!(
            text,
            "{:<16}{:>6}{:>10.3}{:>12.3}{:>11} / {:<6}{:>9} / {:<6}{:>12}",
            format!("{kind:?}"),
            sums.runs,
            sums.onset.f1(),
            sums.release.f1(),
            sums.causes_right,
            sums.causes,
            sums.policies[0],
            sums.policies.iter().sum::<usize>(),
            sums.cold_alarms
        );
    }
}

/// Everything about one run.
pub(crate) fn one(run: Labelled) -> String {
    let (findings, explained) = analysis::explain(&run.trace);
    let mut text = format!("{:#?}\n{:#?}\n", run.recipe, run.truth);
    for explanation in &explained {
        let event = &explanation.event;
        let (temp_k, confidence) = (event.temp_k.unwrap_or(f64::NAN), event.confidence);
        let _ = writeln!(
            text,
            "{:8.1} s {:?} {:?} {confidence:.2} at {temp_k:.1} K, leaves {:.3}",
            event.t_s,
            event.kind,
            event.cause,
            event.strength.unwrap_or(f64::NAN)
        );
        for seen in &explanation.observations {
            let weights = seen.log_odds.array().map(|weight| format!("{weight:6.2}")).join(" ");
            let _ = writeln!(text, "    {weights}  {:<14} {}", seen.rule.name(), seen.text);
        }
    }
    for segment in &findings.segments {
        let _ = writeln!(
            text,
            "{:8.1} {:8.1} {:?} {:?} {:.3e} {:?}",
            segment.start_s,
            segment.end_s,
            segment.op,
            segment.label,
            segment.mean_bytes_per_s.unwrap_or(f64::NAN),
            segment.temp_start_k
        );
    }
    let _ = writeln!(text, "{:?}", findings.policy);
    for caveat in &findings.caveats {
        let _ = writeln!(text, "{}: {}", wording::kind(caveat), wording::caveat(caveat));
    }
    text
}
