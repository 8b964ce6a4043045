//! Runs made by hand whose thresholds follow a setting or stay, and what they show together.

use super::*;
use crate::findings::PolicyLevel;

/// A run whose drive slowed down at `onset_k` to `floor`.
fn run(tmt: Option<(f64, f64)>, cause: Cause, onset_k: f64, release_k: Option<f64>, floor: f64) -> JointRun {
    let level = PolicyLevel {
        cause,
        op: None,
        onset_k: Some(onset_k),
        release_k,
        held_k: None,
        floor_bytes_per_s: Some(floor),
    };
    let policy = Policy {
        class: PolicyClass::Relay,
        also: vec![],
        onset_k: Some(onset_k),
        release_k,
        floor_bytes_per_s: Some(floor),
        levels: vec![level],
        confidence: 0.9,
        from_runs: None,
    };
    JointRun {
        falls: Vec::new(),
        set_k: (None, None),
        name: format!("{tmt:?}"),
        drive: Some("drive".into()),
        simulated: None,
        tmt1_k: tmt.map(|tmt| tmt.0),
        tmt2_k: tmt.map(|tmt| tmt.1),
        counted: [false; 2],
        ambient_k: None,
        power_state: None,
        link_bytes_per_s: None,
        ran: vec![
            ran(Label::FullSpeed, 2.0 * floor, onset_k - 20.0, onset_k),
            ran(Label::Throttled, floor, onset_k, onset_k),
        ],
        policy,
        record: Record {
            exact: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            ..Record::default()
        },
    }
}

/// A minute of reading.
fn ran(label: Label, bytes_per_s: f64, start_k: f64, end_k: f64) -> Ran {
    Ran {
        op: SegmentOp::Read,
        what: String::new(),
        label,
        bytes_per_s,
        span_s: 60.0,
        start_k: Some(start_k),
        end_k: Some(end_k),
    }
}

/// Every run made here is a record of its own.
static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

fn joint(runs: &[JointRun]) -> JointPolicy {
    joint_policy(runs).expect("several runs")
}

/// Each run alone says "heat"; together they say whose threshold it is.
#[test]
fn a_threshold_that_moves_with_tmt1_follows_it_and_one_that_stays_is_the_drives_own() {
    let of = |threshold: fn(f64) -> f64| {
        let one = |tmt1: f64| {
            let onset_k = threshold(tmt1);
            run(Some((tmt1, tmt1 + 10.0)), Cause::Thermal, onset_k, Some(onset_k - 3.0), 2e8)
        };
        joint(&[333.0, 338.0, 343.0].map(one))
    };
    let moves = of(|tmt1| tmt1);
    let [machine] = &moves.machines[..] else { panic!("{moves:?}") };
    assert_eq!((machine.follows, moves.class), (Follows::Tmt1, PolicyClass::Relay));
    assert!(machine.slope.is_some_and(|slope| (slope - 1.0).abs() < 0.01) && machine.offset_k == Some(0.0));
    assert_eq!((machine.hysteresis_k, machine.floor_bytes_per_s), (Some(3.0), Some(2e8)));
    let stays = of(|_| 353.0);
    let [machine] = &stays.machines[..] else { panic!("{stays:?}") };
    assert_eq!((machine.follows, stays.class), (Follows::Nothing, PolicyClass::Vendor));
    assert_eq!((machine.slope, machine.threshold_k), (Some(0.0), Some(353.0)));
}

/// A run that hit upon TMT1 by chance is put right by the others.
#[test]
fn several_runs_outvote_one_coincidence() {
    let runs = [
        run(Some((353.0, 358.0)), Cause::HctmTmt1, 353.0, None, 2.4e9),
        run(Some((345.0, 350.0)), Cause::Vendor, 353.0, None, 2.4e9),
        run(Some((348.0, 360.0)), Cause::Vendor, 353.0, None, 2.4e9),
    ];
    let joint = joint(&runs);
    let [machine] = &joint.machines[..] else { panic!("{joint:?}") };
    assert_eq!((machine.follows, machine.points.len()), (Follows::Nothing, 3));
}

/// Speeds that differ at one temperature follow it, unless they are those of reading and of writing.
#[test]
fn a_regulator_is_told_from_one_operation() {
    let held = |floor: f64, op: SegmentOp| {
        let mut run = run(Some((343.0, 353.0)), Cause::HctmTmt1, 343.0, None, floor);
        run.policy.class = PolicyClass::Undetermined;
        run.ran.iter_mut().for_each(|ran| ran.op = op);
        run.policy.levels[0].held_k = Some(343.0);
        run
    };
    let of = |ops: [SegmentOp; 2]| joint(&[held(1.2e9, ops[0]), held(1.6e9, ops[1])]).machines[0].mechanism;
    assert_eq!(of([SegmentOp::Read, SegmentOp::Read]), PolicyClass::Regulator);
    assert_eq!(of([SegmentOp::Read, SegmentOp::Write]), PolicyClass::Undetermined);
}

#[test]
fn what_is_not_told_is_undetermined_and_says_what_would_tell() {
    let same = run(Some((343.0, 353.0)), Cause::Thermal, 341.0, Some(338.0), 2e8);
    let unknown = run(None, Cause::Thermal, 343.0, Some(340.0), 2e8);
    let joint = joint(&[unknown.clone(), unknown]);
    assert_eq!((joint.machines[0].slope, joint.machines[0].follows), (None, Follows::Undetermined));
    assert!(
        joint.open.iter().any(|open| matches!(open, Caveat::ThresholdUndetermined { .. })),
        "{:?}",
        joint.open
    );
    let alone = joint_policy(&[same]);
    assert!(alone.is_none(), "one run is no several");
}

#[test]
fn nothing_seen_asks_for_more_heat() {
    let cool = || {
        let mut cool = run(Some((343.0, 353.0)), Cause::Thermal, 330.0, None, 2e8);
        cool.policy.levels.clear();
        cool.policy.class = PolicyClass::None;
        cool
    };
    let joint = joint(&[cool(), cool()]);
    let open = Caveat::NotHotEnough { runs: 2, hottest_k: Some(330.0), governed: false };
    assert_eq!((joint.class, &joint.open[0]), (PolicyClass::None, &open));
}

/// Goal: the same data counted again adds no certainty. Method: copies of one run against the run beside itself once.
#[test]
fn copies_of_a_record_are_one_observation() {
    let one = run(Some((333.0, 343.0)), Cause::Thermal, 333.0, Some(330.0), 2e8);
    let copies = |count: usize| joint(&vec![one.clone(); count]);
    let two = copies(2);
    for count in [3, 5, 9] {
        let more = copies(count);
        assert_eq!((more.class, more.confidence), (two.class, two.confidence), "{count} copies");
        assert_eq!(more.open[0], Caveat::SameRecord { runs: count, records: 1, exact: true });
        assert!(more.confidence <= one.policy.confidence, "{more:?}");
    }
    let another = run(Some((338.0, 348.0)), Cause::Thermal, 338.0, Some(335.0), 2e8);
    let with_copies = joint(&[one.clone(), one.clone(), another.clone(), one.clone()]);
    let without = joint(&[one, another]);
    assert_eq!(with_copies.machines[0].follows, without.machines[0].follows);
    assert_eq!(with_copies.confidence, without.confidence);
    let runs: Vec<usize> = with_copies.machines[0].points.iter().map(|point| point.run).collect();
    assert_eq!(runs, [0, 2]);
}

/// Goal: runs in the same air at the same setting tell nothing of relay against regulator. Method: the same regulator three times, and
/// a fixed lower speed that goes on heating in other air.
#[test]
fn only_other_surroundings_tell_a_fixed_speed_from_a_regulator() {
    let alike = |end_k: f64| {
        let mut run = run(Some((338.0, 348.0)), Cause::HctmTmt1, 338.0, None, 1.28e9);
        run.policy.class = PolicyClass::Regulator;
        run.policy.levels[0].held_k = Some(337.0);
        run.ran[1].end_k = Some(end_k);
        run
    };
    let repeats = joint(&[alike(337.0), alike(337.0), alike(337.0)]);
    assert_eq!(repeats.class, PolicyClass::Regulator, "{repeats:#?}");
    assert!((repeats.confidence - 0.9).abs() < 0.01, "as sure as each of them: {repeats:#?}");
    let heating = joint(&[alike(337.0), alike(344.0), alike(352.0)]);
    assert_eq!(heating.class, PolicyClass::Relay, "{heating:#?}");
}

/// Goal: a run that was throttled from its start is an observation of the threshold that a cooler run shows. Method: reads at the
/// throttled speed from 351 K and 356 K on, and a run between the two that is faster.
#[test]
fn a_run_that_began_slow_is_known_by_a_cooler_one() {
    let settings = Some((273.0, 363.0));
    let mut cool = run(settings, Cause::Vendor, 348.0, None, 2.2e9);
    (cool.policy.class, cool.policy.also) = (PolicyClass::Vendor, vec![]);
    cool.ran[1].end_k = Some(345.0);
    let hot = |bytes_per_s: f64, start_k: f64| {
        let mut hot = run(settings, Cause::Vendor, 348.0, None, 2.2e9);
        (hot.policy.class, hot.policy.confidence) = (PolicyClass::Undetermined, 0.0);
        hot.policy.levels.clear();
        hot.ran = vec![ran(Label::FullSpeed, bytes_per_s, start_k, start_k + 14.0)];
        hot
    };
    let joint = joint(&[cool, hot(2.2e9, 351.0), hot(2.21e9, 356.0), hot(2.5e9, 330.0)]);
    let [machine] = &joint.machines[..] else { panic!("{joint:#?}") };
    let runs: Vec<usize> = machine.points.iter().map(|point| point.run).collect();
    assert_eq!((&runs[..], joint.class), (&[0, 1, 2][..], PolicyClass::Vendor), "{joint:#?}");
    assert_eq!(machine.mechanism, PolicyClass::Relay, "{joint:#?}");
    assert!(
        !joint.open.iter().any(|open| matches!(open, Caveat::MechanismUndetermined { .. })),
        "{joint:#?}"
    );
}

/// Goal: one setting has one threshold. Method: of four onsets at one TMT1 two lie 4 K higher, and one of these was taken for the drive's own.
#[test]
fn two_groups_of_onsets_that_follow_one_setting_are_one_threshold() {
    let at = |cause: Cause, onset_k: f64| run(Some((338.0, 348.0)), cause, onset_k, None, 1e9);
    let mut runs = [
        at(Cause::HctmTmt1, 337.0),
        at(Cause::HctmTmt1, 337.5),
        at(Cause::HctmTmt1, 341.5),
        at(Cause::Vendor, 342.5),
    ];
    runs.iter_mut().for_each(|run| run.counted = [true, false]);
    let joint = joint(&runs);
    let following = joint.machines.iter().filter(|machine| machine.follows == Follows::Tmt1);
    assert_eq!(following.count(), 1, "{joint:#?}");
}

/// A run whose loads say what they do: label, speed, kelvins at beginning and end.
fn named(onset_k: f64, loads: &[(Label, f64, f64, f64)]) -> JointRun {
    let what = |ran: Ran| Ran { what: "reads of 128 KiB in order".into(), ..ran };
    let loads =
        loads.iter().map(|(label, speed, start_k, end_k)| what(ran(*label, *speed, *start_k, *end_k)));
    JointRun { ran: loads.collect(), ..run(None, Cause::Vendor, onset_k, None, 2.4e9) }
}

/// Goal: a run is told full speed and throttled speed by another of its drive, and by nothing that is not comparable. Method: a run
/// that was slow from its beginning beside one that fell; then with another power state, link, load, and beside its copy.
#[test]
fn others_show_full_speed_where_they_are_comparable() {
    let cool =
        named(353.0, &[(Label::FullSpeed, 3e9, 330.0, 353.0), (Label::Throttled, 2.4e9, 353.0, 353.0)]);
    let warm = named(353.0, &[(Label::Unknown, 2.4e9, 356.0, 365.0)]);
    let warm = JointRun { policy: Policy { levels: vec![], ..warm.policy.clone() }, ..warm };
    let told =
        |runs: &[JointRun]| others(runs).iter().map(|others| !others.is_empty()).collect::<Vec<bool>>();
    assert_eq!(told(&[cool.clone(), warm.clone()]), [false, true]);
    let phase = trace::Phase {
        what: "reads of 128 KiB in order".into(),
        ..trace::Phase::bare("read", SegmentOp::Read, 0.0, 60.0)
    };
    let all = others(&[cool.clone(), warm.clone()]);
    assert_eq!(all[1].full_bytes_per_s(&phase), Some(3e9));
    let slowed = all[1].slowed(&phase, 2.38e9).expect("the same speed");
    assert_eq!((slowed.from_k, slowed.cause), (353.0, Cause::Vendor));
    assert_eq!(all[1].slowed(&phase, 2.2e9), None, "another speed");
    let limited = trace::Phase { rate_limit_bytes_per_s: Some(2.5e9), ..phase };
    assert_eq!(all[1].full_bytes_per_s(&limited), None, "what is limited is compared with nothing");
    let states = |run: &JointRun, power_state| JointRun { power_state, ..run.clone() };
    assert_eq!(told(&[states(&cool, Some(0)), states(&warm, Some(2))]), [false, false]);
    let links = |run: &JointRun, link| JointRun { link_bytes_per_s: Some(link), ..run.clone() };
    assert_eq!(told(&[links(&cool, 7.9e9), links(&warm, 3.9e9)]), [false, false]);
    let mut other_load = warm.clone();
    other_load.ran[0].what = "reads of 4 KiB at random".into();
    let mut unnamed = warm.clone();
    unnamed.ran[0].what = String::new();
    for other in [other_load, unnamed, warm.clone()] {
        let of = if other.ran[0].is_same_load(&warm.ran[0]) && !other.ran[0].what.is_empty() {
            &warm
        } else {
            &cool
        };
        assert_eq!(told(&[of.clone(), other]), [false, false]);
    }
}

/// Goal: a run that shows a threshold and leaves open what that does is told by the others, one that is sure of itself is not.
#[test]
fn a_run_is_told_the_policy_that_the_runs_show_together() {
    let relay = |onset_k| run(Some((333.0, 343.0)), Cause::HctmTmt1, onset_k, Some(onset_k - 3.0), 2e8);
    let mut open = relay(333.0);
    (open.policy.class, open.policy.confidence) = (PolicyClass::Undetermined, 0.4);
    let runs = [relay(333.0), relay(333.2), open];
    let together = joint(&runs);
    let told = together.policy_of(2, &runs[2].policy).expect("told by the others");
    assert_eq!((told.class, told.from_runs), (PolicyClass::Relay, Some(3)));
    assert_eq!(told.levels, runs[2].policy.levels, "what it shows itself stays");
    assert_eq!(together.policy_of(0, &runs[0].policy), None, "it says the same");
    let none = Policy { class: PolicyClass::None, ..runs[0].policy.clone() };
    assert_eq!(together.policy_of(0, &none), None, "nothing acted in it");
}

/// Goal: what a power state costs is told, and no full speed taken from it. Method: one load in two power states, and in one.
#[test]
fn a_slower_power_state_is_told() {
    let at = |bytes_per_s: f64, power_state: u8| {
        let mut run = named(330.0, &[(Label::FullSpeed, bytes_per_s, 310.0, 320.0)]);
        (run.policy.class, run.policy.levels) = (PolicyClass::None, Vec::new());
        JointRun { power_state: Some(power_state), ..run }
    };
    let runs = [at(5.4e9, 0), at(5.45e9, 3), at(2.26e9, 6)];
    let told = Caveat::SlowerPowerState {
        op: SegmentOp::Read,
        power_state: 6,
        bytes_per_s: 2.26e9,
        faster_power_state: 3,
        faster_bytes_per_s: 5.45e9,
    };
    assert_eq!(joint(&runs).open.last(), Some(&told));
    let of_runs: Vec<Vec<Caveat>> =
        others(&runs).iter().map(|of| of.faster().iter().map(|load| load.caveat()).collect()).collect();
    assert_eq!(of_runs, [vec![], vec![], vec![told]]);
    let slower = |open: &Caveat| matches!(open, Caveat::SlowerPowerState { .. });
    assert!(!joint(&[at(5.4e9, 0), at(2.26e9, 0)]).open.iter().any(slower), "the same state");
}

/// Goal: at other settings the same data are another measurement. Method: one record with another power state and another TMT1.
#[test]
fn the_same_course_at_other_settings_is_another_record() {
    let one = run(Some((333.0, 343.0)), Cause::Thermal, 333.0, Some(330.0), 2e8);
    let same = |open: &Caveat| matches!(open, Caveat::SameRecord { .. });
    let alike = |a: JointRun, b: JointRun| joint(&[a, b]).open.iter().any(same);
    let state = |power_state| JointRun { power_state: Some(power_state), ..one.clone() };
    assert!(alike(state(0), state(0)) && !alike(state(0), state(3)));
    // Neither acts: the drive is far below both.
    let set = |k| JointRun { set_k: (Some(k), None), tmt1_k: None, tmt2_k: None, ..one.clone() };
    assert!(alike(set(350.0), set(350.0)) && !alike(set(350.0), set(355.0)));
}

/// Goal: a run that denies a threshold is told, and the threshold is no longer sure. Method: a run that stayed at full speed 11 K above, 1 K
/// above, with another load, and at another power state.
#[test]
fn runs_that_contradict_each_other_are_told() {
    let throttled =
        named(348.0, &[(Label::FullSpeed, 2.8e9, 310.0, 348.0), (Label::Throttled, 1.12e9, 348.0, 348.0)]);
    let free = |end_k: f64| {
        let mut run = named(348.0, &[(Label::FullSpeed, 2.8e9, 310.0, end_k)]);
        (run.policy.class, run.policy.levels) = (PolicyClass::None, Vec::new());
        JointRun { name: "free".into(), ..run }
    };
    let of = |other: JointRun| {
        let joint = joint(&[throttled.clone(), other]);
        let told = joint.open.first().filter(|open| matches!(open, Caveat::RunsDisagree { .. })).cloned();
        (told, joint.confidence.max(joint.machines[0].confidence))
    };
    let (told, sure) = of(free(359.0));
    let run = "free".to_owned();
    assert_eq!(told, Some(Caveat::RunsDisagree { run, free_k: 359.0, threshold_k: 348.0 }));
    assert!(sure <= 0.5, "{sure}");
    assert_eq!(of(free(349.0)).0, None, "a sensor lags as much");
    let mut other_load = free(359.0);
    other_load.ran[0].what = "reads of 4 KiB at random".into();
    assert_eq!(of(other_load).0, None);
}
