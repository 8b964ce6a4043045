//! A life over several starts of the server: nothing that a host has seen goes back, and all counters agree.

use nvme::smart::SmartLog;

use super::*;

fn smart(host: &mut Host<Subsystem>) -> SmartLog {
    SmartLog::decode(&host.get_log(LogId::SMART, 512).expect("a log")).expect("well formed")
}

/// The drive again, from the text of its state file.
fn switched_on(saved: &SavedState) -> Host<Subsystem> {
    let text = saved.to_json().expect("our own");
    let mut again = options("ssd1");
    again.saved = SavedState::from_json(&text).expect("our own");
    host_of(Subsystem::new(again).expect("sound"), Instant::ZERO)
}

/// Half an hour in the heat with some I/O.
fn live(host: &mut Host<Subsystem>) -> SmartLog {
    let now = host.now;
    host.service.set_ambient(now, measure::Celsius::from_degrees(70.0));
    host.set(FeatureId::HCTM, 0x0120_0125, false).expect("in range");
    for lba in 0..64 {
        host.write(lba * 8, &[1; 4096]).expect("room");
        host.read_blocks(lba * 8, 4096).expect("there");
        host.pass(Duration::from_secs(30));
    }
    host.read_blocks(u64::MAX / 2, 512).expect_err("an entry of the error log");
    smart(host)
}

fn counters(log: &SmartLog) -> [u128; 15] {
    [
        log.power_cycles,
        log.power_on_hours,
        log.data_units_read.as_u128(),
        log.data_units_written.as_u128(),
        log.host_reads,
        log.host_writes,
        log.busy_minutes,
        log.error_log_entries,
        log.warning_minutes.into(),
        log.critical_minutes.into(),
        log.tmt1_transitions.into(),
        log.tmt2_transitions.into(),
        log.tmt1_seconds.into(),
        log.tmt2_seconds.into(),
        log.lifetime_energy_wh.unwrap_or(0).into(),
    ]
}

#[test]
fn what_a_host_has_seen_of_its_counters_does_not_go_back() {
    let mut saved = SavedState::default();
    let mut before = [0; 15];
    for start in 1..=4 {
        let mut host = switched_on(&saved);
        let first = counters(&smart(&mut host));
        assert!(first.iter().zip(&before).all(|(now, before)| now >= before), "{first:?} after {before:?}");
        let log = live(&mut host);
        assert_eq!((log.power_cycles, log.unsafe_shutdowns), (start, start - 1), "killed each time");
        assert!(log.tmt1_seconds > 0 && log.warning_minutes + log.critical_minutes > 0, "{log:?}");
        // A kill loses what no host has seen, and no more.
        saved = host.service.take_saved().expect("a host has read the log");
        assert!(host.service.take_saved().is_none(), "and not twice");
        host.pass(Duration::from_secs(600));
        before = counters(&log);
    }
}

/// One life in four pieces counts what the same life counts in one: nothing is lost to rounding, and counters agree.
#[test]
fn a_life_in_pieces_is_a_whole_life() {
    let mut saved = SavedState::default();
    let mut pieces = Vec::new();
    for _ in 0..4 {
        let mut host = switched_on(&saved);
        pieces.push(live(&mut host));
        saved = host.service.saved_state(false);
        assert!(!saved.is_on);
    }
    let (one, four) = (&pieces[0], &pieces[3]);
    assert_eq!((four.power_cycles, four.unsafe_shutdowns), (4, 0), "each ended in order");
    assert_eq!(four.host_writes, 4 * one.host_writes);
    assert_eq!(four.error_log_entries, 4);
    // Four times 32 minutes.
    assert_eq!((one.power_on_hours, four.power_on_hours), (0, 2), "minutes of an hour are not lost");
    let near = |four: u32, one: u32| (4 * one).abs_diff(four) <= 4;
    assert!(near(four.tmt1_seconds, one.tmt1_seconds) && near(four.warning_minutes, one.warning_minutes));
}
