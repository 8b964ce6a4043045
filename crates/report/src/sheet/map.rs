//! A map: one coloured cell for each pair of values, with its number in it.
//!
//! The colour repeats the number: a pale ground to a dark one of one hue (blue for speeds, orange for temperatures), which
//! any colour vision and a printer keep apart.

use super::SheetMap;
use crate::format;
use crate::html::escape;

const CELL_HEIGHT: f64 = 26.0;
const LABEL_WIDTH: f64 = 130.0;
const TOP: f64 = 62.0;
const NOTE_HEIGHT: f64 = 34.0;

/// Pale and dark ends, red, green and blue.
const SPEED: [[f64; 3]; 2] = [[236.0, 244.0, 250.0], [0.0, 94.0, 150.0]];
const HEAT: [[f64; 3]; 2] = [[253.0, 243.0, 232.0], [176.0, 66.0, 0.0]];

/// The drawing and its height.
pub(super) fn drawing(map: &SheetMap, width: f64) -> (String, f64) {
    let rows = map.cells.len().max(1) as f64;
    let any_beyond = map.beyond.iter().flatten().any(|beyond| *beyond);
    let height = TOP + rows * CELL_HEIGHT + if any_beyond { NOTE_HEIGHT } else { 14.0 };
    let columns = map.across.1.len().max(1) as f64;
    let cell_width = ((width - LABEL_WIDTH - 20.0) / columns).min(120.0);
    let known = || map.cells.iter().flatten().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let mut out = format!(
        "<svg class=\"static\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"system-ui, 'Segoe UI', Arial, sans-serif\" font-size=\"12\" \
         fill=\"#1b1f23\"><title>{}</title><rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>",
        escape(&map.title)
    );
    let text = |x: f64, y: f64, anchor: &str, fill: &str, content: &str| {
        format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{}</text>",
            escape(content)
        )
    };
    let ink = "#1b1f23";
    out.push_str(&text(20.0, 16.0, "start", ink, &map.title));
    out.push_str(&text(LABEL_WIDTH, 36.0, "start", "#57606a", &map.across.0));
    out.push_str(&text(20.0, 54.0, "start", "#57606a", &map.down.0));
    for (at, label) in map.across.1.iter().enumerate() {
        let x = LABEL_WIDTH + (at as f64 + 0.5) * cell_width;
        out.push_str(&text(x, 54.0, "middle", ink, label));
    }
    for (row, (cells, label)) in map.cells.iter().zip(&map.down.1).enumerate() {
        let y = TOP + row as f64 * CELL_HEIGHT;
        out.push_str(&text(LABEL_WIDTH - 10.0, y + 17.0, "end", ink, label));
        for (column, cell) in cells.iter().enumerate() {
            let x = LABEL_WIDTH + column as f64 * cell_width;
            let share = cell.map_or(0.0, |value| if high > low { (value - low) / (high - low) } else { 0.0 });
            let fill = if cell.is_some() { colour(share, map.is_heat) } else { "#ffffff".to_owned() };
            out.push_str(&format!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" stroke=\"#ffffff\"/>",
                cell_width,
                CELL_HEIGHT
            ));
            let mark =
                if map.beyond.get(row).and_then(|row| row.get(column)) == Some(&true) { " *" } else { "" };
            let content = cell.map_or_else(
                || "-".to_owned(),
                |value| format!("{}{mark}", format::cell(Some(value), map.decimals)),
            );
            let on = if share > 0.55 && cell.is_some() { "#ffffff" } else { ink };
            out.push_str(&text(x + cell_width / 2.0, y + 17.0, "middle", on, &content));
        }
    }
    if any_beyond {
        out.push_str(&text(LABEL_WIDTH, height - 14.0, "start", "#57606a", "* beyond what was seen"));
    }
    out.push_str("</svg>");
    (out, height)
}

fn colour(share: f64, is_heat: bool) -> String {
    let [pale, dark] = if is_heat { HEAT } else { SPEED };
    let part = |at: usize| (pale[at] + (dark[at] - pale[at]) * share.clamp(0.0, 1.0)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(0), part(1), part(2))
}
