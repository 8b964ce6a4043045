//! Latency heat maps: time across, latency up on a logarithmic axis, the darker the larger the share of a moment's I/Os.
//!
//! A quantile tells how long the slowest of a hundred took; a heat map tells that there are two kinds of I/O, and from when
//! on. A drawing without a script; the quantiles stand in the table of the latency chart.

use super::{escape, figure::title};
use crate::view::{LATENCY_BANDS_A_DECADE, LatencyMap, ReportInput, op_word};
use crate::{format, scale};

const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 26.0;
const RIGHT: f64 = 12.0;
/// The rarest share that still shows: one I/O in ten thousand.
const RAREST: f64 = 1e-4;

/// One map for each operation; nothing where the source keeps no histograms.
pub(crate) fn heat_maps(input: &ReportInput) -> String {
    let badge = input.simulated_badge();
    let figures = input.latency_maps.iter().map(|map| figure(map, input.end_s(), badge.as_deref()));
    figures.collect()
}

fn figure(map: &LatencyMap, end_s: f64, badge: Option<&str>) -> String {
    let bands = || map.cells.iter().map(|cell| f64::from(cell.1) / f64::from(LATENCY_BANDS_A_DECADE));
    let low = bands().fold(f64::INFINITY, f64::min).floor();
    let high = bands().fold(f64::NEG_INFINITY, f64::max).floor() + 1.0;
    let end_s = end_s.max(map.cell_s);
    let x = |t_s: f64| LEFT + (t_s / end_s).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
    let y = |log10: f64| HEIGHT - BOTTOM - (log10 - low) / (high - low) * (HEIGHT - BOTTOM - TOP);
    let mut body = String::new();
    for decade in low as i32..=high as i32 {
        let at = y(f64::from(decade));
        body.push_str(&format!(
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            tick(decade)
        ));
    }
    let (unit, unit_s) = scale::time_unit(end_s);
    let (ticks, decimals) = scale::ticks(0.0, end_s / unit_s, 8);
    for t in ticks {
        body.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(t * unit_s),
            HEIGHT - BOTTOM + 15.0,
            format::cell(Some(t), decimals)
        ));
    }
    body.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">Time since the run began ({unit})</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 4.0
    ));
    let cell_height = y(low) - y(low + 1.0 / f64::from(LATENCY_BANDS_A_DECADE));
    for (column, band, share) in &map.cells {
        let from_s = f64::from(*column) * map.cell_s;
        // Evenly in the logarithm, from one in ten thousand to all of them.
        let depth = 1.0 - (share.max(RAREST).ln() / RAREST.ln()).clamp(0.0, 1.0);
        body.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{cell_height:.1}\" fill=\"#2f7dc4\" fill-opacity=\"{:.2}\"/>",
            x(from_s),
            y(f64::from(*band + 1) / f64::from(LATENCY_BANDS_A_DECADE)),
            x(from_s + map.cell_s) - x(from_s),
            0.12 + 0.88 * depth
        ));
    }
    let name = format!("Latency heat map: {}s", op_word(map.op.into()));
    let title = title("Completion latency", badge);
    let alt = format!(
        "{name}, from {} to {}, logarithmic. Quantiles are in the table of the latency chart.",
        tick(low as i32),
        tick(high as i32)
    );
    format!(
        "<figure class=\"still\">\n<figcaption><h2>{}</h2></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\" font-size=\"11\" fill=\"currentColor\">\
         <text x=\"{LEFT}\" y=\"14\" font-size=\"12\">{}</text>{body}</svg>\n\
         <p class=\"note\">The darker, the larger the share of the I/Os of that moment ({} a column), from one in ten thousand on.</p></figure>\n",
        escape(&name),
        escape(&alt),
        escape(&title),
        format::seconds(map.cell_s)
    )
}

/// "100 µs" for 5 (nanoseconds, as a power of ten).
fn tick(decade: i32) -> String {
    let (name, power) = match decade {
        ..3 => ("ns", 0),
        3..6 => ("µs", 3),
        6..9 => ("ms", 6),
        _ => ("s", 9),
    };
    format!("{:.0} {name}", 10f64.powi(decade - power))
}
