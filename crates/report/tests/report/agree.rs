//! No two places of a report disagree, whatever the run: scenes in variations. `score agree` has the corpus.

use agree::UNWRAPPED;
use analysis::findings::{Label, PolicyClass};
use measure::record::Op;
use proptest::prelude::*;
use proptest::sample::select;
use report::{Comparison, ReportInput, compare_terminal};

use crate::scene;

/// Scenes in variations: other speeds, other levels, with and without temperature, events, labels and rates.
fn corpus() -> impl Strategy<Value = ReportInput> {
    let scenes = select(vec![scene::vendor(), scene::relay(), scene::mixed(), scene::sweep().remove(1)]);
    let labels =
        select(vec![Label::FullSpeed, Label::Throttled, Label::RateLimited, Label::Dip, Label::Unknown]);
    (scenes, 0.05f64..4.0, any::<[bool; 4]>(), labels, 0usize..3).prop_map(
        |(mut run, factor, [temperature, events, link, loads], label, which)| {
            for series in &mut run.speed {
                series.intervals.iter_mut().for_each(|interval| interval.value *= factor);
            }
            for segment in &mut run.findings.segments {
                segment.mean_bytes_per_s = segment.mean_bytes_per_s.map(|rate| rate * factor);
            }
            if let Some(segment) = run.findings.segments.get_mut(which) {
                segment.label = label;
            }
            if !temperature {
                run.temperature.clear();
            }
            if !events {
                run.findings.events.clear();
                run.findings.policy.class = PolicyClass::Undetermined;
            }
            if !link {
                run.link_bytes_per_s = None;
            }
            if !loads {
                run.loads.clear();
            }
            run
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_number_of_one_name_is_one_number(run in corpus()) {
        let agreement = agree::check(&run);
        prop_assert!(agreement.wrong.is_empty(), "{:#?}", agreement.wrong);
        prop_assert!(agreement.compared >= 2, "{} figures were found in the comparison", agreement.compared);
    }
}

/// Goal: a mean is never of several operations. Method: reads and writes at once, at speeds far apart.
#[test]
fn reads_and_writes_are_never_averaged_together() {
    let mut run = scene::mixed();
    for series in &mut run.speed {
        let rate = if series.op == Op::Read { 3e9 } else { 1e9 };
        series.intervals.iter_mut().for_each(|interval| interval.value = rate);
    }
    let both = [run.clone(), run];
    let text =
        compare_terminal(&Comparison { runs: &both, baseline: 0, joint: &[], remarks: &[] }, &UNWRAPPED);
    let speeds: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("speed  ")).collect();
    assert!(
        speeds.len() == 2 && speeds[0].contains("3.00 GB/s") && speeds[1].contains("1.00 GB/s"),
        "{text}"
    );
    assert!(!text.contains("2.00 GB/s") && !text.contains("4.00 GB/s"), "{text}");
}
