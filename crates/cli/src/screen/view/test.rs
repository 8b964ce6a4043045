//! The screen on a backend of cells: sizes, keys, mouse, and no colour where none is wanted.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyEvent, MouseButton, MouseEvent};
use watch::{LiveLimits, SlowCause, WatchEventKind};

use super::*;

fn drive(number: u16, state: &str) -> ScreenDrive {
    let point = |second: u32| LivePoint {
        t_s: f64::from(second),
        read_bytes_per_s: Some(if second < 200 { 2.4e9 } else { 1.1e9 }),
        write_bytes_per_s: Some(0.0),
        temperature_k: Some(318 + (second / 8).min(35) as u16),
    };
    let event = WatchEvent {
        at_s: 51_731.0,
        told_s: 51_733.0 + f64::from(number),
        kind: WatchEventKind::ThrottleOnset,
        cause: Some(SlowCause::Tmt1),
        temp_k: Some(343),
        capacity_lost: Some(0.54),
        text: "throttling by TMT1, light throttling at 70 °C; reads take 2.2 times as long at equal queue"
            .to_owned(),
    };
    ScreenDrive {
        live: LiveDrive {
            address: format!("/dev/nvme{number}n1"),
            model: Some("ACME Fast\u{1b}[31m 2000".to_owned()),
            serial: Some("S4EWNX0R".to_owned()),
            simulated: Some(number == 7),
            age_s: Some(0.4),
            temperature_k: Some(343),
            limits_k: LiveLimits {
                tmt1: Some(343),
                tmt2: Some(350),
                warning: Some(357),
                critical: Some(358),
            },
            read_bytes_per_s: Some(1.1e9),
            write_bytes_per_s: Some(0.0),
            power_w: Some(6.25),
            state: Some(state.to_owned()),
            events: vec![event],
            recent: (0..300).map(point).collect(),
        },
        seconds_to: vec![("TMT2".to_owned(), 93.0)],
        figures: vec![("queue".to_owned(), "16.0, 16 in flight".to_owned())],
    }
}

fn state(colour: bool) -> ScreenState {
    ScreenState::new("heatsoak watch", Theme { colour, marker: Marker::Braille })
}

fn drawn(state: &mut ScreenState, drives: &[ScreenDrive], width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("cells");
    terminal.draw(|frame| draw(frame, state, drives)).expect("drawn");
    terminal
}

#[test]
fn one_drive_at_80_by_24() {
    insta::assert_snapshot!(drawn(&mut state(true), &[drive(0, "throttled")], 80, 24).backend());
}

#[test]
fn one_drive_at_120_by_40() {
    insta::assert_snapshot!(drawn(&mut state(true), &[drive(0, "throttled")], 120, 40).backend());
}

#[test]
fn eight_drives_are_rows_that_open() {
    let states = ["busy", "throttled", "idle", "slow", "busy", "gone", "busy", "idle"];
    let drives: Vec<ScreenDrive> =
        states.iter().enumerate().map(|(number, state)| drive(number as u16, state)).collect();
    let mut state = state(true);
    insta::assert_snapshot!(drawn(&mut state, &drives, 80, 24).backend());
    let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    assert!(!state.heed(&key(KeyCode::Down), 8, 300.0));
    assert!(!state.heed(&key(KeyCode::Enter), 8, 300.0));
    assert!(drawn(&mut state, &drives, 80, 24).backend().to_string().contains("/dev/nvme1n1  ACME"));
    state.heed(&key(KeyCode::Esc), 8, 300.0);
    drawn(&mut state, &drives, 80, 24);
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 3,
        row: 7,
        modifiers: KeyModifiers::NONE,
    };
    state.heed(&Event::Mouse(click), 8, 300.0);
    assert!(drawn(&mut state, &drives, 80, 24).backend().to_string().contains("/dev/nvme5n1  ACME"));
    state.heed(&key(KeyCode::Char('?')), 8, 300.0);
    assert!(drawn(&mut state, &drives, 80, 24).backend().to_string().contains("shorter, longer curves"));
    assert!(state.heed(&Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), 8, 300.0));
    assert!(state.heed(&key(KeyCode::Char('q')), 8, 300.0));
}

/// Goal: NO_COLOR leaves no colour in any cell, and control characters of a drive reach none.
#[test]
fn no_colour_is_no_colour() {
    let terminal = drawn(&mut state(false), &[drive(0, "throttled")], 120, 40);
    let cells = terminal.backend().buffer().content();
    assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(cells.iter().all(|cell| !cell.symbol().contains(char::is_control)));
    let coloured = drawn(&mut state(true), &[drive(0, "throttled")], 120, 40);
    assert!(coloured.backend().buffer().content().iter().any(|cell| cell.fg == Color::Red));
}

/// Goal: no size breaks it. Method: a storm of sizes, from one cell upwards, with rows and with an open drive.
#[test]
fn a_storm_of_sizes_is_survived() {
    let drives: Vec<ScreenDrive> = (0..8).map(|number| drive(number, "busy")).collect();
    let mut rows = state(true);
    let mut open = state(true);
    open.open = Some(3);
    open.help = true;
    for step in 0..400_u16 {
        let (width, height) = (1 + step * 37 % 211, 1 + step * 23 % 67);
        drawn(&mut rows, &drives, width, height);
        drawn(&mut open, &drives, width, height);
    }
    let mut empty = drive(0, "unknown");
    (empty.live.recent, empty.live.temperature_k, empty.live.events) = (Vec::new(), None, Vec::new());
    drawn(&mut state(true), &[empty], 80, 24);
    drawn(&mut state(true), &[], 80, 24);
}
