//! Properties: whatever the order, the pieces and the grouping, a state finishes as sorted rows do, or says that it
//! cannot. And what sums mean, on rows written out by hand.

use fleet_state::row::ABSENT;
use fleet_state::{
    COUNTERS, DriveLabels, DrivePart, Finish, HealthCounter as C, HealthRow, HealthRun, IntervalRules,
    STATE_VERSION, SortedDrive, ThermalState,
};
use proptest::prelude::*;

const MINUTE: IntervalRules = IntervalRules { cadence_ms: 60_000 };
const HERE: [&str; 4] = ["M", "F1", "h1", "3"];

/// A row with where the drive was: firmware 0 or 1.
type Placed = (HealthRow, usize);

const PLACES: [[&str; 4]; 2] = [HERE, ["M", "F2", "h1", "3"]];

/// Sort, then analyze: the reference.
fn sorted(rows: &[Placed]) -> Vec<DrivePart> {
    let mut rows: Vec<Placed> = rows.to_vec();
    rows.sort_by_key(|(row, place)| (row.time_ms, *place, *row));
    let mut drive = SortedDrive::default();
    for (row, place) in rows {
        drive.push(PLACES[place], &row, &MINUTE);
    }
    drive.finish()
}

fn state(rows: &[Placed]) -> ThermalState {
    let mut state = ThermalState::default();
    for (row, place) in rows {
        state.push(PLACES[*place], row, &MINUTE);
    }
    state
}

/// Rows a minute apart or with gaps, with counters that rise, fall and are missing, and changes of firmware.
fn a_drive() -> impl Strategy<Value = Vec<Placed>> {
    let step =
        (1i64..200, 0i64..70, 0i64..3, prop::bool::weighted(0.03), prop::bool::weighted(0.9), 30i64..90);
    (prop::collection::vec(step, 1..120), prop::bool::weighted(0.3), 0usize..120).prop_map(
        |(steps, moves, at)| {
            let (mut time, mut seconds, mut count) = (1_700_000_000_000, 100, 7);
            let mut rows = Vec::new();
            for (number, (minutes, more_seconds, more, reset, there, temp)) in steps.into_iter().enumerate() {
                time += if minutes < 190 { 60_000 } else { minutes * 60_000 };
                seconds = if reset { 0 } else { seconds + more_seconds };
                count += more;
                let row = HealthRow::new(time)
                    .with_temp_mc(if temp % 7 == 0 { ABSENT } else { temp * 1000 })
                    .with(C::Tmt1Seconds, if there { seconds } else { -1 })
                    .with(C::Tmt1Transitions, count)
                    .with(C::BusyMs, number as i64 * 59_000)
                    .with(C::WrittenBytes, seconds * 1_000_000);
                rows.push((row, usize::from(moves && number > at)));
            }
            rows
        },
    )
}

/// Mostly nothing happens: counters rise together, those of throttling rarely.
fn a_quiet_drive() -> impl Strategy<Value = Vec<Placed>> {
    let rare = |chance| prop::bool::weighted(chance);
    let step = (rare(0.01), rare(0.01), rare(0.01), rare(0.005), 0i64..61, 30i64..90);
    (prop::collection::vec(step, 1..400), rare(0.2), 0i64..3).prop_map(|(steps, without_temp, counted)| {
        let (mut time, mut seconds, mut bytes) = (1_700_000_000_000, counted, 0);
        let mut rows = Vec::new();
        for (number, (throttles, gap, missing, reset, busy_s, temp)) in steps.into_iter().enumerate() {
            time += if gap { 900_000 } else { 60_000 };
            seconds += if throttles { 30 } else { 0 };
            bytes = if reset { 0 } else { bytes + busy_s * 1_000_000 };
            let row = HealthRow::new(time)
                .with_temp_mc(if without_temp { ABSENT } else { temp * 1000 })
                .with(C::Tmt1Seconds, if counted == 2 { -1 } else { seconds })
                .with(C::BusyMs, number as i64 * 59_000 + busy_s)
                .with(C::ReadBytes, if missing { -1 } else { bytes })
                .with(C::WrittenBytes, bytes);
            rows.push((row, 0));
        }
        rows
    })
}

/// Rows of one place as columns, where each column has a value in all of them or in none, else one by one.
fn push_columns(rows: &[Placed], state: &mut ThermalState) {
    let column =
        |value: &dyn Fn(&HealthRow) -> i64| rows.iter().map(|(row, _)| value(row)).collect::<Vec<_>>();
    let (time_ms, temp_mc) = (column(&|row| row.time_ms), column(&|row| row.temp_mc));
    let counters: [Vec<i64>; COUNTERS] = std::array::from_fn(|at| column(&|row| row.counters[at]));
    let even = |values: &[i64]| {
        let absent = values.iter().filter(|value| **value == ABSENT).count();
        absent == 0 || absent == values.len()
    };
    if !even(&temp_mc) || !counters.iter().all(|values| even(values)) {
        for (row, place) in rows {
            state.push(PLACES[*place], row, &MINUTE);
        }
        return;
    }
    let there = |values: &[i64]| values[0] != ABSENT;
    let run = HealthRun {
        time_ms: &time_ms,
        temp_mc: there(&temp_mc).then_some(&temp_mc[..]),
        counters: std::array::from_fn(|at| there(&counters[at]).then_some(&counters[at][..])),
    };
    state.push_run(PLACES[rows[0].1], &run, &MINUTE);
}

proptest! {
    #[test]
    fn pieces_in_any_order_finish_as_sorted_rows(
        rows in a_drive(), cuts in prop::collection::vec(0usize..120, 0..6), seed in any::<u64>(),
        grouping in 0usize..4, twice in prop::bool::ANY,
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % rows.len()).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let mut pieces: Vec<ThermalState> = cuts
            .windows(2)
            // A row at the seam may lie in both pieces, as with hourly files that overlap by a row.
            .map(|cut| state(&rows[cut[0].saturating_sub(usize::from(twice && cut[1] > cut[0]))..cut[1]]))
            .collect();
        let mut order = seed;
        pieces.sort_by_cached_key(|_| { order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1); order });
        // States cross between machines as bytes.
        let mut pieces = pieces.into_iter().map(|piece| ThermalState::decode(&piece.encode()).expect("just written"));
        let merged = match grouping {
            0 => pieces.fold(ThermalState::default(), |mut sum, piece| { sum.merge(piece); sum }),
            1 => pieces.by_ref().reduce(|sum, mut piece| { piece.merge(sum); piece }).expect("at least one"),
            // Bytes one after the other are the merged state.
            2 => {
                let bytes: Vec<u8> = pieces.flat_map(|piece| piece.encode()).collect();
                ThermalState::decode(&bytes).expect("states")
            }
            _ => {
                let (mut one, mut other) = (ThermalState::default(), ThermalState::default());
                for (at, piece) in pieces.enumerate() {
                    if at % 2 == 0 { one.merge(piece) } else { other.merge(piece) }
                }
                one.merge(other);
                one
            }
        };
        prop_assert_eq!(merged.rows() as usize >= rows.len(), true);
        let mut all = rows.clone();
        if twice {
            all.extend(cuts.windows(2).filter(|cut| cut[1] > cut[0] && cut[0] > 0).map(|cut| rows[cut[0] - 1]));
        }
        // Pieces do not overlap, so nothing needs sorting, but for a change of place right at a doubled row, and for
        // more gaps than a state holds stretches.
        match merged.finish(&MINUTE) {
            Finish::Parts(parts) => prop_assert_eq!(parts, sorted(&all)),
            Finish::NeedsSort => prop_assert!(gaps(&rows) + 2 >= 8 || twice, "not needed"),
        }
    }

    #[test]
    fn any_order_of_rows_is_right_or_asks_to_be_sorted(
        rows in a_drive(), seed in any::<u64>(), doubled in prop::collection::vec(0usize..120, 0..5), pieces in 1usize..5,
    ) {
        let mut mixed = rows.clone();
        mixed.extend(doubled.iter().map(|at| rows[at % rows.len()]));
        let expected = sorted(&mixed);
        let mut order = seed | 1;
        // Mostly in order: each row may be late by a few places.
        let mut keyed: Vec<(u64, Placed)> = mixed.into_iter().enumerate().map(|(at, row)| {
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let late = if seed % 4 == 0 { order >> 33 } else if order >> 60 == 0 { 3 } else { 0 };
            (at as u64 + late, row)
        }).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let mixed: Vec<Placed> = keyed.into_iter().map(|(_, row)| row).collect();
        let mut merged = ThermalState::default();
        for piece in mixed.chunks(mixed.len().div_ceil(pieces)) {
            merged.merge(state(piece));
        }
        if let Finish::Parts(parts) = merged.finish(&MINUTE) {
            prop_assert_eq!(parts, expected);
        }
    }

    #[test]
    fn rows_as_columns_are_the_same_rows(
        rows in prop_oneof![a_drive(), a_quiet_drive()], cut in 1usize..200, doubled in 0usize..400, late in 0usize..400,
    ) {
        let mut rows = rows;
        if let Some(row) = rows.get(doubled).copied() {
            rows.insert(doubled, row);
        }
        if late + 1 < rows.len() {
            rows.swap(late, late + 1);
        }
        let mut by_columns = ThermalState::default();
        for same_place in rows.chunk_by(|one, other| one.1 == other.1) {
            for some in same_place.chunks(cut) {
                push_columns(some, &mut by_columns);
            }
        }
        prop_assert_eq!(by_columns, state(&rows));
    }

    #[test]
    fn any_bytes_are_a_state_or_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = ThermalState::decode(&bytes);
        if let Some(first) = bytes.first_mut() {
            *first = STATE_VERSION;
        }
        if let Ok(state) = ThermalState::decode(&bytes) {
            let _ = state.finish(&MINUTE);
        }
    }

    #[test]
    fn a_damaged_state_never_panics(rows in a_drive(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = state(&rows).encode();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(mut state) = ThermalState::decode(&bytes) {
            state.merge(self::state(&rows));
            let _ = state.finish(&MINUTE);
        }
    }
}

fn gaps(rows: &[Placed]) -> usize {
    rows.windows(2)
        .filter(|two| two[1].0.time_ms - two[0].0.time_ms > MINUTE.gap_ms() || two[0].1 != two[1].1)
        .count()
}

/// The one part of rows a minute apart, given as (temperature in °C, seconds in TMT1).
fn one_part(rows: &[(i64, i64)]) -> DrivePart {
    let mut state = ThermalState::default();
    for (minute, (temp, seconds)) in rows.iter().enumerate() {
        let row = HealthRow::new(minute as i64 * 60_000)
            .with_temp_mc(temp * 1000)
            .with(C::Tmt1Seconds, *seconds)
            .with(C::Tmt1Transitions, i64::from(*seconds > 0));
        state.push(HERE, &row, &MINUTE);
    }
    let Finish::Parts(mut parts) = state.finish(&MINUTE) else { panic!("rows in order") };
    assert_eq!(parts.len(), 1);
    parts.remove(0)
}

#[test]
fn throttling_adds_seconds_and_one_onset_at_the_higher_reading() {
    let sums = one_part(&[(60, 0), (71, 0), (74, 20), (72, 80), (65, 80)]).sums;
    assert_eq!(sums.moved(C::Tmt1Seconds), 80);
    assert_eq!((sums.throttled_first_ms, sums.throttled_last_ms), (Some(120_000), Some(180_000)));
    assert_eq!(sums.temp_max_mc, 74_000);
    let onsets = sums.onsets.expect("it throttled");
    assert_eq!(onsets.iter().sum::<u32>(), 1);
    assert_eq!(onsets[34], 1, "74 °C is 34 above the first bin");
}

#[test]
fn a_counter_that_falls_is_a_reset_and_adds_nothing() {
    let sums = one_part(&[(60, 500), (60, 530), (60, 10), (60, 40)]).sums;
    assert_eq!((sums.resets, sums.moved(C::Tmt1Seconds)), (1, 60));
}

#[test]
fn a_counter_of_seconds_cannot_outrun_the_clock() {
    let sums = one_part(&[(60, 0), (60, 4_000_000), (60, 4_000_030)]).sums;
    assert_eq!((sums.implausible, sums.moved(C::Tmt1Seconds)), (1, 30));
}

#[test]
fn what_moved_over_a_gap_is_told_apart() {
    let mut state = ThermalState::default();
    for (minute, seconds) in [(0, 0), (1, 10), (61, 610), (62, 620)] {
        state.push(HERE, &HealthRow::new(minute * 60_000).with(C::Tmt1Seconds, seconds), &MINUTE);
    }
    let Finish::Parts(parts) = state.finish(&MINUTE) else { panic!("rows in order") };
    let sums = &parts[0].sums;
    assert_eq!((sums.moved(C::Tmt1Seconds), sums.moved_in_gaps(C::Tmt1Seconds)), (20, 600));
    assert_eq!((sums.gaps, sums.gap_ms, sums.observed_ms), (1, 3_600_000, 120_000));
}

#[test]
fn two_models_under_one_serial_are_two_drives() {
    let mut state = ThermalState::default();
    for minute in 0..10 {
        let row = HealthRow::new(minute * 60_000).with(C::Tmt1Seconds, minute * 5);
        state.push(["A", "", "", ""], &row, &MINUTE);
        state.push(["B", "", "", ""], &row, &MINUTE);
    }
    let Finish::Parts(parts) = state.finish(&MINUTE) else { panic!("each model is in order") };
    let seconds: Vec<_> = parts.iter().map(|part| part.sums.moved(C::Tmt1Seconds)).collect();
    assert_eq!(seconds, [45, 45]);
}

#[test]
fn a_moved_drive_adds_nothing_between_its_slots() {
    let mut state = ThermalState::default();
    for minute in 0..10 {
        let row = HealthRow::new(minute * 60_000).with(C::Tmt1Seconds, minute * 5);
        state.push(["A", "F", "h", if minute < 4 { " 1" } else { "2" }], &row, &MINUTE);
    }
    let Finish::Parts(parts) = state.finish(&MINUTE) else { panic!("in order") };
    let of = |part: &DrivePart| (part.labels.slot().to_owned(), part.sums.moved(C::Tmt1Seconds), part.moves);
    assert_eq!(parts.iter().map(of).collect::<Vec<_>>(), [("1".into(), 15, 1), ("2".into(), 25, 1)]);
    assert_eq!(*parts[0].labels, DriveLabels::new("A", "F", "h", "1"));
}

#[test]
fn a_busy_drive_has_a_speed_with_and_without_throttling() {
    let mut state = ThermalState::default();
    let (mut bytes, mut seconds) = (0, 0);
    for minute in 0..20 {
        let row = HealthRow::new(minute * 60_000)
            .with(C::BusyMs, minute * 60_000)
            .with(C::WrittenBytes, bytes)
            .with(C::Tmt2Seconds, seconds);
        state.push(HERE, &row, &MINUTE);
        bytes += if minute < 10 { 6_000_000_000 } else { 3_000_000_000 };
        seconds += if minute < 10 { 0 } else { 60 };
    }
    let Finish::Parts(parts) = state.finish(&MINUTE) else { panic!("in order") };
    assert_eq!(parts[0].sums.busy_free, (600_000, 60_000_000_000));
    assert_eq!(parts[0].sums.busy_throttled, (540_000, 27_000_000_000));
}

#[test]
fn another_version_is_refused() {
    let mut bytes = ThermalState::default().encode();
    bytes[0] += 1;
    let error = ThermalState::decode(&bytes).expect_err("a version of the future");
    assert!(error.to_string().contains("use one version"), "{error}");
}

#[test]
fn memory_does_not_grow_with_rows() {
    let rows = |count| {
        (0..count).map(|at| (HealthRow::new(at * 60_000).with_temp_mc(40_000), 0)).collect::<Vec<_>>()
    };
    assert_eq!(state(&rows(10)).held(), state(&rows(100_000)).held());
    assert!(state(&rows(10)).held() < 700, "{}", state(&rows(10)).held());
    assert!(state(&rows(10)).encode().len() < 250, "{}", state(&rows(10)).encode().len());
}
