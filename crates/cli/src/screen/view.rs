//! What the screen shows, from the state of the drives alone: drawn on any backend, so that tests look at it.
//!
//! Several drives are rows; one opens to curves of speed and temperature with its limits, figures and events. Letters and
//! words carry the meaning, colour only repeats it.

use measure::{BytesPerSec, Kelvin, visible};
use ratatui::Frame;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Axis, Block, Borders, Cell, Chart, Clear, Dataset, GraphType, Paragraph, Row, Table, Wrap,
};
use serde::{Deserialize, Serialize};
use watch::{LiveDrive, LivePoint, WatchEvent};

/// Curves are of so many seconds, one of them.
const SPANS: [u32; 4] = [60, 300, 900, 3600];

const KEYS: &str = "\
up, down, j, k   choose a drive
Enter, click     open it; Esc goes back
+, -             shorter, longer curves
r                forget highest and lowest
?                these keys
q, Ctrl-C        end";

/// A drive as the screen shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScreenDrive {
    /// What every face shows.
    pub(crate) live: LiveDrive,
    /// Name and seconds of each limit that is approached.
    pub(crate) seconds_to: Vec<(String, f64)>,
    /// Further lines: name and value.
    pub(crate) figures: Vec<(String, String)>,
}

/// How it looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    /// Whether there are colours.
    pub(crate) colour: bool,
    /// What curves are made of.
    pub(crate) marker: Marker,
}

impl Theme {
    /// As this terminal can show it: NO_COLOR is respected, and fonts of the Linux console have no braille.
    pub(crate) fn of_terminal() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_default().to_lowercase();
        let braille = variable("TERM").as_deref() != Some("linux")
            && (locale.contains("utf-8") || locale.contains("utf8"));
        Self {
            colour: variable("NO_COLOR").is_none(),
            marker: if braille { Marker::Braille } else { Marker::Block },
        }
    }

    fn colour(self, colour: Color) -> Style {
        if self.colour { Style::default().fg(colour) } else { Style::default() }
    }

    fn state(self, state: &str) -> Style {
        match state {
            "throttled" | "stalled" | "gone" => self.colour(Color::Red).add_modifier(Modifier::BOLD),
            "slow" => self.colour(Color::Yellow).add_modifier(Modifier::BOLD),
            _ => Style::default(),
        }
    }
}

/// What is shown of what there is.
#[derive(Clone, Debug)]
pub(crate) struct ScreenState {
    title: String,
    theme: Theme,
    selected: usize,
    open: Option<usize>,
    span: usize,
    help: bool,
    /// Extremes are of what came after this time.
    since_s: f64,
    /// Where the rows of the table begin, and how many there are: for the mouse.
    rows: (u16, usize),
}

impl ScreenState {
    /// The beginning: rows, or the drive if there is one alone.
    pub(crate) fn new(title: &str, theme: Theme) -> Self {
        Self {
            title: title.to_owned(),
            theme,
            selected: 0,
            open: None,
            span: 1,
            help: false,
            since_s: f64::NEG_INFINITY,
            rows: (0, 0),
        }
    }

    /// A key or the mouse; true when it ends the screen. `now_s` is the time of the newest point.
    pub(crate) fn heed(&mut self, event: &Event, drives: usize, now_s: f64) -> bool {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => {}
            Event::Key(key) => {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                return self.key(key.code, control, drives, now_s);
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollDown => self.choose(1, drives),
                MouseEventKind::ScrollUp => self.choose(-1, drives),
                MouseEventKind::Down(_) => self.click(mouse.row),
                _ => {}
            },
            _ => {}
        }
        false
    }

    fn key(&mut self, code: KeyCode, control: bool, drives: usize, now_s: f64) -> bool {
        match code {
            // In raw mode Ctrl-C is a key and no signal.
            KeyCode::Char('c') if control => return true,
            KeyCode::Char('q') => return true,
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Esc | KeyCode::Backspace => {
                if self.help {
                    self.help = false
                } else {
                    self.open = None
                }
            }
            KeyCode::Enter => self.open = Some(self.selected),
            KeyCode::Down | KeyCode::Char('j') => self.choose(1, drives),
            KeyCode::Up | KeyCode::Char('k') => self.choose(-1, drives),
            KeyCode::Char('-') => self.span = (self.span + 1).min(SPANS.len() - 1),
            KeyCode::Char('+' | '=') => self.span = self.span.saturating_sub(1),
            KeyCode::Char('r') => self.since_s = now_s,
            _ => {}
        }
        false
    }

    fn choose(&mut self, step: isize, drives: usize) {
        self.selected = self.selected.saturating_add_signed(step).min(drives.saturating_sub(1));
        if self.open.is_some() {
            self.open = Some(self.selected);
        }
    }

    fn click(&mut self, row: u16) {
        let (first, rows) = self.rows;
        if row >= first && usize::from(row - first) < rows && self.open.is_none() {
            self.selected = usize::from(row - first);
            self.open = Some(self.selected);
        }
    }
}

/// Draws all of it.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &mut ScreenState, drives: &[ScreenDrive]) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    head_line(frame, head, state, drives);
    state.rows = (0, 0);
    let open = if drives.len() == 1 { Some(0) } else { state.open };
    match open.and_then(|open| drives.get(open)) {
        Some(drive) => detail(frame, body, state, drive),
        None => overview(frame, body, state, drives),
    }
    let keys = if drives.len() == 1 {
        "q end  +/- curves  ? keys"
    } else {
        "q end  Enter open  Esc back  +/- curves  ? keys"
    };
    frame.render_widget(Paragraph::new(keys).style(Style::default().add_modifier(Modifier::DIM)), foot);
    if state.help {
        let lines = KEYS.lines().count() as u16 + 2;
        let width = 46.min(area.width);
        let over = Rect {
            x: (area.width - width) / 2,
            y: area.height.saturating_sub(lines) / 2,
            width,
            height: lines.min(area.height),
        };
        frame.render_widget(Clear, over);
        frame.render_widget(Paragraph::new(KEYS).block(Block::bordered().title(" keys ")), over);
    }
}

fn head_line(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, drives: &[ScreenDrive]) {
    let simulated = drives.iter().any(|drive| drive.live.simulated == Some(true));
    let mut spans = vec![Span::styled(state.title.clone(), Style::default().add_modifier(Modifier::BOLD))];
    if simulated {
        spans.push(Span::styled(
            "  SIMULATED",
            state.theme.colour(Color::Magenta).add_modifier(Modifier::BOLD),
        ));
    }
    let troubled = drives
        .iter()
        .filter(|drive| matches!(text(&drive.live.state), "throttled" | "slow" | "stalled" | "gone"));
    spans.push(Span::raw(match (drives.len(), troubled.count()) {
        (1, _) => String::new(),
        (all, 0) => format!("  {all} drives"),
        (all, some) => format!("  {all} drives, {some} not at full speed"),
    }));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn text(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("-")
}

fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |rate| BytesPerSec::new(rate).to_string())
}

fn degrees(kelvin: Option<u16>) -> String {
    kelvin.map_or_else(|| "-".to_owned(), |kelvin| Kelvin::from_kelvin(kelvin).to_string())
}

/// Name and kelvins of each limit, the lowest first.
fn limits(live: &LiveDrive) -> Vec<(&'static str, u16)> {
    let all = live.limits_k;
    let named = [("TMT1", all.tmt1), ("TMT2", all.tmt2), ("WCTEMP", all.warning), ("CCTEMP", all.critical)];
    let mut limits: Vec<_> =
        named.into_iter().filter_map(|(name, limit)| limit.map(|limit| (name, limit))).collect();
    limits.sort_by_key(|limit| limit.1);
    limits
}

/// The next limit above, and how far it is.
fn headroom(live: &LiveDrive) -> String {
    let Some(now) = live.temperature_k else { return "-".to_owned() };
    match limits(live).into_iter().find(|(_, limit)| *limit > now) {
        Some((name, limit)) => format!("{} K to {name}", limit - now),
        None if limits(live).is_empty() => "-".to_owned(),
        None => "above all".to_owned(),
    }
}

fn overview(frame: &mut Frame<'_>, area: Rect, state: &mut ScreenState, drives: &[ScreenDrive]) {
    state.selected = state.selected.min(drives.len().saturating_sub(1));
    let height = (drives.len() as u16 + 2).min(area.height);
    let [table, events] = Layout::vertical([Constraint::Length(height), Constraint::Min(0)]).areas(area);
    let wide = area.width >= 110;
    let mut heading = vec!["DRIVE", "STATE", "READ", "WRITE", "TEMP", "HEADROOM"];
    let mut widths = vec![
        Constraint::Fill(1),
        Constraint::Length(9),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(6),
        Constraint::Length(14),
    ];
    if wide {
        heading.extend(["POWER", "MODEL"]);
        widths.extend([Constraint::Length(8), Constraint::Length(24)]);
    }
    // As many as fit, the chosen one among them.
    let fitting = usize::from(height.saturating_sub(1)).max(1);
    let first = state.selected.saturating_sub(fitting - 1);
    let rows = drives.iter().enumerate().skip(first).map(|(index, drive)| {
        let live = &drive.live;
        let mark = if index == state.selected { "> " } else { "  " };
        let mut cells = vec![
            Cell::from(format!("{mark}{}", visible(&live.address))),
            Cell::from(text(&live.state).to_owned()).style(state.theme.state(text(&live.state))),
            Cell::from(rate(live.read_bytes_per_s)),
            Cell::from(rate(live.write_bytes_per_s)),
            Cell::from(degrees(live.temperature_k)),
            Cell::from(headroom(live)),
        ];
        if wide {
            cells.push(Cell::from(power(live)));
            cells.push(Cell::from(visible(text(&live.model))));
        }
        let style = if index == state.selected {
            Style::default().add_modifier(Modifier::REVERSED)
        } else {
            Style::default()
        };
        Row::new(cells).style(style)
    });
    let header = Row::new(heading).style(Style::default().add_modifier(Modifier::BOLD));
    let widget = Table::new(rows, widths).header(header).column_spacing(1);
    frame.render_widget(widget, table);
    state.rows = (table.y + 1, drives.len().saturating_sub(first));
    let mut all: Vec<(&str, &WatchEvent)> = drives
        .iter()
        .flat_map(|drive| drive.live.events.iter().map(|event| (drive.live.address.as_str(), event)))
        .collect();
    all.sort_by(|a, b| b.1.told_s.total_cmp(&a.1.told_s));
    event_list(frame, events, &all, true);
}

fn power(live: &LiveDrive) -> String {
    live.power_w.map_or_else(|| "-".to_owned(), |watts| format!("{watts:.1} W"))
}

fn detail(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, drive: &ScreenDrive) {
    let live = &drive.live;
    let [about, now, body] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let serial =
        live.serial.as_deref().map(|serial| format!("  serial {}", visible(serial))).unwrap_or_default();
    let model = live.model.as_deref().map(|model| format!("  {}", visible(model))).unwrap_or_default();
    frame.render_widget(Paragraph::new(format!("{}{model}{serial}", visible(&live.address))), about);
    frame.render_widget(Paragraph::new(now_line(state, live)), now);
    let figures_width = if area.width >= 100 { 34 } else { 32 };
    let [charts, side] =
        Layout::horizontal([Constraint::Min(20), Constraint::Length(figures_width)]).areas(body);
    let events_height = if body.height >= 30 { 10 } else { 5 };
    let [curves, events] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(events_height)]).areas(charts);
    let [speed, temperature] =
        Layout::vertical([Constraint::Ratio(1, 2), Constraint::Ratio(1, 2)]).areas(curves);
    speed_chart(frame, speed, state, live);
    temperature_chart(frame, temperature, state, live);
    let newest: Vec<(&str, &WatchEvent)> = live.events.iter().rev().map(|event| ("", event)).collect();
    event_list(frame, events, &newest, false);
    figures(frame, side, state, drive);
}

fn now_line<'a>(state: &ScreenState, live: &LiveDrive) -> Line<'a> {
    let word = text(&live.state).to_owned();
    let style = state.theme.state(&word);
    let age = live
        .age_s
        .filter(|age| *age >= 5.0)
        .map(|age| format!("  (read {age:.0} s ago)"))
        .unwrap_or_default();
    Line::from(vec![
        Span::styled(word, style.add_modifier(Modifier::BOLD)),
        Span::raw(format!(
            "  R {}  W {}  T {}  {}{age}",
            rate(live.read_bytes_per_s),
            rate(live.write_bytes_per_s),
            degrees(live.temperature_k),
            power(live),
        )),
    ])
}

/// The points of the last seconds that are shown.
fn shown<'a>(
    state: &ScreenState,
    live: &'a LiveDrive,
) -> (f64, f64, impl Iterator<Item = &'a LivePoint> + Clone) {
    let end = live.recent.last().map_or(0.0, |point| point.t_s);
    let start = end - f64::from(SPANS[state.span]);
    (start, end, live.recent.iter().filter(move |point| point.t_s >= start))
}

fn axis_x(start: f64, end: f64) -> Axis<'static> {
    let label = |seconds: f64| format!("-{}", minutes(seconds));
    Axis::default().bounds([start, end]).labels([
        label(end - start),
        label((end - start) / 2.0),
        "now".to_owned(),
    ])
}

fn minutes(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn speed_chart(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, live: &LiveDrive) {
    let (start, end, points) = shown(state, live);
    let series = |value: fn(&LivePoint) -> Option<f64>| -> Vec<(f64, f64)> {
        points.clone().filter_map(|point| value(point).map(|value| (point.t_s, value))).collect()
    };
    let (reads, writes) = (series(|point| point.read_bytes_per_s), series(|point| point.write_bytes_per_s));
    let most = reads.iter().chain(&writes).map(|point| point.1).fold(1e6, f64::max);
    let theme = state.theme;
    let data = |name: &'static str, colour: Color, points| {
        Dataset::default()
            .name(name)
            .marker(theme.marker)
            .graph_type(GraphType::Line)
            .style(theme.colour(colour))
            .data(points)
    };
    // What moves nothing has no curve: without colour two curves cannot be told apart.
    let moved = |points: &[(f64, f64)]| points.iter().any(|point| point.1 > 0.0);
    let mut sets = Vec::new();
    if moved(&reads) || !moved(&writes) {
        sets.push(data("read", Color::Cyan, &reads));
    }
    if moved(&writes) {
        sets.push(data("write", Color::Yellow, &writes));
    }
    let labels = ["0".to_owned(), rate(Some(most / 2.0)), rate(Some(most))];
    let chart = Chart::new(sets)
        .block(Block::default().borders(Borders::TOP).title(" speed "))
        .x_axis(axis_x(start, end))
        .y_axis(Axis::default().bounds([0.0, most * 1.05]).labels(labels));
    frame.render_widget(chart, area);
}

fn temperature_chart(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, live: &LiveDrive) {
    let (start, end, points) = shown(state, live);
    let celsius = |kelvin: u16| f64::from(Kelvin::from_kelvin(kelvin).as_whole_celsius());
    let course: Vec<(f64, f64)> =
        points.filter_map(|point| point.temperature_k.map(|kelvin| (point.t_s, celsius(kelvin)))).collect();
    let block = Block::default().borders(Borders::TOP).title(" temperature, dotted: limits ");
    let (Some(least), Some(most)) = (
        course.iter().map(|point| point.1).min_by(f64::total_cmp),
        course.iter().map(|point| point.1).max_by(f64::total_cmp),
    ) else {
        frame.render_widget(Paragraph::new("no temperature of this drive is known").block(block), area);
        return;
    };
    // Limits near the curve are drawn; one that is far off would press the curve flat, and stands among the figures.
    let near: Vec<f64> = limits(live)
        .into_iter()
        .map(|(_, limit)| celsius(limit))
        .filter(|limit| *limit <= most + 20.0 && *limit >= least - 5.0)
        .collect();
    let top = near.iter().copied().fold(most, f64::max) + 2.0;
    let bottom = (least - 2.0).min(top - 8.0);
    let lines: Vec<Vec<(f64, f64)>> = near
        .iter()
        .map(|limit| (0..40).map(|step| (start + (end - start) * f64::from(step) / 39.0, *limit)).collect())
        .collect();
    let theme = state.theme;
    let mut sets: Vec<Dataset<'_>> = lines
        .iter()
        .map(|line| {
            Dataset::default()
                .marker(Marker::Dot)
                .graph_type(GraphType::Scatter)
                .style(theme.colour(Color::Red))
                .data(line)
        })
        .collect();
    sets.push(
        Dataset::default()
            .marker(theme.marker)
            .graph_type(GraphType::Line)
            .style(theme.colour(Color::Green))
            .data(&course),
    );
    let label = |degrees: f64| format!("{degrees:>6.0} °C");
    let chart = Chart::new(sets).block(block).x_axis(axis_x(start, end)).y_axis(
        Axis::default().bounds([bottom, top]).labels([
            label(bottom.round()),
            label(((bottom + top) / 2.0).round()),
            label(top.round()),
        ]),
    );
    frame.render_widget(chart, area);
}

fn figures(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, drive: &ScreenDrive) {
    let live = &drive.live;
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| lines.push(Line::from(format!(" {name:<11}{value}")));
    for (name, limit) in limits(live) {
        let left = live.temperature_k.map(|now| i32::from(limit) - i32::from(now));
        let left = left.map(|left| format!("{left:+} K")).unwrap_or_default();
        let time = drive.seconds_to.iter().find(|(known, _)| *known == name);
        let time = time.map(|(_, seconds)| format!(" in {}", minutes(*seconds))).unwrap_or_default();
        line(name, format!("{} {left}{time}", degrees(Some(limit))));
    }
    let since = live.recent.iter().filter(|point| point.t_s >= state.since_s);
    let kelvins = since.clone().filter_map(|point| point.temperature_k);
    if let (Some(least), Some(most)) = (kelvins.clone().min(), kelvins.max()) {
        line("range", format!("{} .. {}", degrees(Some(least)), degrees(Some(most))));
    }
    let best = |value: fn(&LivePoint) -> Option<f64>| since.clone().filter_map(value).max_by(f64::total_cmp);
    line("best read", rate(best(|point| point.read_bytes_per_s)));
    line("best write", rate(best(|point| point.write_bytes_per_s)));
    for (name, value) in &drive.figures {
        line(name, visible(value).into_owned());
    }
    let block = Block::default().borders(Borders::LEFT | Borders::TOP).title(" figures ");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// The newest first, each in as many lines as it needs: what a narrow terminal cuts away is the cause.
fn event_list(frame: &mut Frame<'_>, area: Rect, events: &[(&str, &WatchEvent)], named: bool) {
    let line = |(address, event): &(&str, &WatchEvent)| {
        let name = if named { format!("{} ", visible(address)) } else { String::new() };
        Line::from(format!("{} {name}{}", crate::commands::event_clock(event.at_s), visible(&event.text)))
    };
    let lines: Vec<Line<'_>> = events.iter().take(usize::from(area.height)).map(line).collect();
    let title = if lines.is_empty() { " events: none " } else { " events " };
    let list = Paragraph::new(lines).wrap(Wrap { trim: true });
    frame.render_widget(list.block(Block::default().borders(Borders::TOP).title(title)), area);
}

#[cfg(test)]
mod test;
