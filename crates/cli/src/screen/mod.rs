//! The live screen of `heatsoak watch` and `heatsoak run`: the terminal, and what is drawn on it ([`view`]).
//!
//! It shows what a loop has and asks no drive. The terminal is put back however the screen ends: dropped, by a panic too.

mod view;

use std::io::{self, IsTerminal as _, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

pub(crate) use view::{ScreenDrive, ScreenState, Theme};

/// How long a look for keys waits, so that the thread ends when the screen does.
const KEY_SPAN: Duration = Duration::from_millis(100);

/// Whether there is a terminal that can show it.
pub(crate) fn is_possible() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    io::stdout().is_terminal() && io::stdin().is_terminal() && !is_dumb
}

/// The screen on this process's terminal.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// What is shown of what there is.
    pub(crate) state: ScreenState,
    ended: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal; keys and mouse go to `to` from now on.
    ///
    /// # Errors
    /// When the terminal refuses; it is as it was then.
    pub(crate) fn start(title: &str, to: impl Fn(Event) -> bool + Send + 'static) -> anyhow::Result<Self> {
        let what = "cannot use this terminal for the screen; --plain does without";
        enable_raw_mode().context(what)?;
        let ended = Arc::new(AtomicBool::new(false));
        let entered = execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        let terminal = entered.inspect_err(|_| put_back());
        let screen = Self {
            terminal: terminal.context(what)?,
            state: ScreenState::new(title, Theme::of_terminal()),
            ended,
        };
        let ended = Arc::clone(&screen.ended);
        thread::Builder::new().name("keys".to_owned()).spawn(move || read_keys(&ended, to)).context(what)?;
        Ok(screen)
    }

    /// Draws drives.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn draw(&mut self, drives: &[ScreenDrive]) -> anyhow::Result<()> {
        let Self { terminal, state, .. } = self;
        terminal.draw(|frame| view::draw(frame, state, drives)).context("cannot draw on the terminal")?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        put_back();
    }
}

/// The terminal as it was; that it is gone is nobody's business.
fn put_back() {
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

fn read_keys(ended: &AtomicBool, to: impl Fn(Event) -> bool) {
    while !ended.load(Ordering::Relaxed) {
        match event::poll(KEY_SPAN) {
            Ok(true) => {
                let told = event::read().is_ok_and(&to);
                if !told {
                    return;
                }
            }
            Ok(false) => {}
            Err(_) => return,
        }
    }
}
