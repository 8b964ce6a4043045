//! The main chart in characters: panels over one time axis, with phases and events under them.

use super::TerminalStyle;
use super::canvas::{Canvas, CanvasCell, Ranges};
use super::text::printable;
use crate::chart::{Axis, AxisSide, Chart, ChartLine, Ink, Stroke};
use crate::format;
use crate::scale;

/// Characters left of a panel: labels and the axis.
const MARGIN: usize = 8;
const SPEED_ROWS: usize = 10;
const SPEED_ROWS_EACH: usize = 6;
const TEMPERATURE_ROWS: usize = 7;

/// The whole drawing.
pub(super) fn draw(chart: &Chart, style: &TerminalStyle) -> String {
    let width = style.width() - MARGIN;
    let speed: Vec<&ChartLine> = drawn_lines(chart, AxisSide::Left);
    let mut out = String::new();
    if speed.is_empty() {
        out.push_str("No speed was recorded.\n");
    } else if overlap(&speed) {
        for line in &speed {
            let title = format!("{} speed ({})", line.ink.word(), chart.left.unit);
            out.push_str(&panel(chart, &chart.left, &title, &[line], SPEED_ROWS_EACH, style));
        }
    } else {
        let ops: Vec<&str> = speed.iter().map(|line| line.ink.word()).collect();
        let title = format!("{} speed ({})", ops.join(" and "), chart.left.unit);
        out.push_str(&panel(chart, &chart.left, &title, &speed, SPEED_ROWS, style));
    }
    if let Some(axis) = &chart.right {
        let temperature = drawn_lines(chart, AxisSide::Right);
        let title = temperature.first().map_or("temperature", |line| line.name.as_str());
        out.push_str(&panel(chart, axis, &format!("{title} (°C)"), &temperature, TEMPERATURE_ROWS, style));
    }
    out.push_str(&time_axis(chart, width));
    out.push_str(&phase_row(chart, width, style));
    out.push_str(&event_rows(chart, width));
    out
}

/// Means and temperatures that a page shows at first; single intervals are too many for characters.
fn drawn_lines(chart: &Chart, side: AxisSide) -> Vec<&ChartLine> {
    let drawn = |line: &&ChartLine| {
        let has_values = line.points.iter().any(|point| point.1.is_some());
        line.side == side && line.shown && line.stroke != Stroke::Thin && has_values
    };
    chart.lines.iter().filter(drawn).collect()
}

/// Whether two lines have values at the same time, give or take.
fn overlap(lines: &[&ChartLine]) -> bool {
    let range = |line: &&ChartLine| Some((line.points.first()?.0, line.points.last()?.0));
    let mut ranges: Vec<(f64, f64)> = lines.iter().filter_map(range).collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

fn panel(
    chart: &Chart,
    axis: &Axis,
    title: &str,
    lines: &[&ChartLine],
    rows: usize,
    style: &TerminalStyle,
) -> String {
    let width = style.width() - MARGIN;
    let mut canvas = Canvas::new(width, rows, !style.ascii);
    let ranges = Ranges { end_s: chart.end_s, min: axis.min, max: axis.max };
    for line in lines {
        canvas.line(&line.points, ranges, line.ink);
    }
    let row_of = |value: f64| ((axis.max - value) / (axis.max - axis.min) * (rows - 1) as f64).round();
    let (ticks, decimals) = scale::ticks(axis.min, axis.max, rows.div_ceil(2));
    let mut out = format!("{}{title}\n", " ".repeat(MARGIN - 1));
    for row in 0..rows {
        let tick = ticks.iter().find(|tick| row_of(**tick) == row as f64);
        let label = tick.map(|tick| format::cell(Some(*tick), decimals)).unwrap_or_default();
        let edge = match (style.ascii, tick.is_some()) {
            (true, true) => '+',
            (true, false) => '|',
            (false, true) => '┤',
            (false, false) => '│',
        };
        let mut cells = canvas.row(row);
        if axis.unit == "°C" {
            let here = chart.levels.iter().filter(|level| row_of(level.value) == row as f64);
            let labels: Vec<&str> = here.map(|level| level.label.as_str()).collect();
            if !labels.is_empty() {
                level(&mut cells, &labels.join(", "), style.ascii);
            }
        }
        out.push_str(&format!("{label:>label_width$} {edge}", label_width = MARGIN - 2));
        out.push_str(painted(&cells, style).trim_end());
        out.push('\n');
    }
    out
}

/// A threshold across the row, behind the curve, with its name where the row is free.
fn level(cells: &mut [CanvasCell], label: &str, ascii: bool) {
    let blank = |cell: &CanvasCell| cell.glyph == ' ';
    let length = label.chars().count();
    let fits = |range: std::ops::Range<usize>| cells.get(range).is_some_and(|free| free.iter().all(blank));
    let right = cells.len().saturating_sub(length + 1);
    let start = [right, 1].into_iter().find(|start| fits(*start..start + length));
    for cell in cells.iter_mut().filter(|cell| cell.glyph == ' ') {
        *cell = CanvasCell { glyph: if ascii { '.' } else { '┄' }, ink: Some(Ink::Composite) };
    }
    if let Some(start) = start {
        for (cell, glyph) in cells[start..].iter_mut().zip(label.chars()) {
            *cell = CanvasCell { glyph, ink: None };
        }
    }
}

fn painted(cells: &[CanvasCell], style: &TerminalStyle) -> String {
    let mut out = String::new();
    for same in cells.chunk_by(|a, b| a.ink == b.ink) {
        let text: String = same.iter().map(|cell| cell.glyph).collect();
        match same[0].ink {
            Some(ink) if style.colour => out.push_str(&format!("\u{1b}[{}m{text}\u{1b}[0m", ink.ansi())),
            _ => out.push_str(&text),
        }
    }
    out
}

/// Where a moment lies in a row of `width` characters.
fn column(t_s: f64, chart: &Chart, width: usize) -> usize {
    ((t_s / chart.end_s).clamp(0.0, 1.0) * (width - 1) as f64).round() as usize
}

fn time_axis(chart: &Chart, width: usize) -> String {
    let (unit, unit_s) = scale::time_unit(chart.end_s);
    let (ticks, decimals) = scale::ticks(0.0, chart.end_s / unit_s, (width / 12).max(2));
    // Labels are centred under their place, which may lie at either end.
    let mut row = vec![' '; MARGIN + width + 8];
    let mut free = 0;
    for (index, tick) in ticks.iter().enumerate() {
        let mut label = format::cell(Some(*tick), decimals);
        if index + 1 == ticks.len() {
            label.push_str(&format!(" {unit}"));
        }
        let length = label.chars().count();
        let centre = MARGIN + column(tick * unit_s, chart, width);
        let start = (centre.saturating_sub(length / 2)).min(MARGIN + width - length.min(width));
        if start < free {
            continue;
        }
        for (place, glyph) in row[start..].iter_mut().zip(label.chars()) {
            *place = glyph;
        }
        free = start + length + 1;
    }
    finished_row(&row)
}

fn phase_row(chart: &Chart, width: usize, style: &TerminalStyle) -> String {
    if chart.bands.is_empty() {
        return String::new();
    }
    let (line, start, end) = if style.ascii { ('-', '|', '|') } else { ('─', '├', '┤') };
    let mut row = vec![' '; MARGIN + width];
    for band in &chart.bands {
        let from = MARGIN + column(band.from_s, chart, width);
        let to = MARGIN + column(band.to_s, chart, width);
        if to <= from + 1 {
            continue;
        }
        row[from..=to].fill(line);
        (row[from], row[to]) = (start, end);
        let room = to - from - 1;
        let label = format!(" {} ", printable(&band.label));
        if label.chars().count() <= room {
            for (place, glyph) in row[from + 1..].iter_mut().zip(label.chars()) {
                *place = glyph;
            }
        }
    }
    finished_row(&row)
}

/// A row of signs, and what they mean.
fn event_rows(chart: &Chart, width: usize) -> String {
    if chart.marks.is_empty() {
        return String::new();
    }
    let mut row = vec![' '; MARGIN + width];
    let mut legend: Vec<String> = Vec::new();
    for mark in &chart.marks {
        row[MARGIN + column(mark.t_s, chart, width)] = mark.label.chars().next().unwrap_or(' ');
        if !legend.contains(&mark.label) {
            legend.push(mark.label.clone());
        }
    }
    let legend = legend.join("   ");
    format!("{}{}{legend}\n", finished_row(&row), " ".repeat(MARGIN))
}

fn finished_row(row: &[char]) -> String {
    let text: String = row.iter().collect();
    format!("{}\n", text.trim_end())
}
