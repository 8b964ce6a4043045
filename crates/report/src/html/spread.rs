//! How the seconds of each load are distributed over speed: a strip a load, with the spread as a number beside it.
//!
//! A mean hides whether a drive ran at one speed, at two in turn, or wobbled; published experiments show it as the width of
//! a line.

use super::{escape, figure::title};
use crate::chart::SpeedUnit;
use crate::figures::{self, PhaseFigures, SpeedDistribution};
use crate::{format, scale, sentences};

const WIDTH: f64 = 980.0;
const LABELS: f64 = 150.0;
/// Characters that fit beside a strip.
const FITS: usize = 22;
const NUMBERS: f64 = 300.0;
const ROW: f64 = 40.0;
const TOP: f64 = 40.0;
/// Loads with a strip: a plan in rounds has hundreds, which the table holds.
const ROWS: usize = 16;

/// The strips of all loads with enough seconds; nothing where there are none.
pub(crate) fn strips(figures: &[PhaseFigures], badge: Option<&str>) -> String {
    let rows: Vec<(&PhaseFigures, &SpeedDistribution)> =
        figures.iter().filter_map(|one| Some((one, one.distribution.as_ref()?))).take(ROWS).collect();
    let top = rows.iter().map(|(_, of)| of.most).fold(0.0, f64::max);
    if top <= 0.0 {
        return String::new();
    }
    let unit = SpeedUnit::for_max(top);
    let (ticks, decimals) = scale::ticks(0.0, unit.convert(top), 5);
    let height = TOP + rows.len() as f64 * ROW + 4.0;
    let x = |rate: f64| LABELS + (rate / top).clamp(0.0, 1.0) * (WIDTH - LABELS - NUMBERS);
    let mut body = String::new();
    for tick in ticks {
        body.push_str(&format!(
            "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\
             <text x=\"{0:.1}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>",
            x(tick / unit.convert(1.0)),
            TOP,
            height - 4.0,
            TOP - 6.0,
            format::cell(Some(tick), decimals)
        ));
    }
    for (index, (one, of)) in rows.iter().enumerate() {
        body.push_str(&strip(one, of, TOP + index as f64 * ROW, &x));
    }
    let title = title(&format!("Seconds at each speed ({})", unit.name()), badge);
    format!(
        "<figure class=\"still\">\n<figcaption><h2>Distribution of speed</h2></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\" font-size=\"11\" fill=\"currentColor\">\
         <text x=\"20\" y=\"14\" font-size=\"12\">{}</text>{body}</svg>\n\
         <p class=\"note\">Height: share of the seconds. Bar: 5 to 95 %. Tick: median.</p></figure>\n",
        escape(&format!(
            "{title}, a strip for each load; the spreads are beside the strips and in the table of phases."
        )),
        escape(&title)
    )
}

fn strip(one: &PhaseFigures, of: &SpeedDistribution, top: f64, x: &dyn Fn(f64) -> f64) -> String {
    let base = top + ROW - 12.0;
    let most = of.bins.iter().copied().max().unwrap_or(1).max(1);
    let width = (of.most - of.least).max(of.most * 1e-3) / of.bins.len() as f64;
    let mut path = format!("M{:.1} {base:.1}", x(of.least));
    for (bin, count) in of.bins.iter().enumerate() {
        let high = base - f64::from(*count) / f64::from(most) * (ROW - 16.0);
        let from = of.least + bin as f64 * width;
        path.push_str(&format!(
            "L{:.1} {high:.1}L{:.1} {high:.1}",
            x(from),
            x(from + width).max(x(from) + 0.6)
        ));
    }
    let [low, median, high] = of.quantiles;
    let wobble = one.wobble.as_ref().map(|wobble| {
        format!("; wobble {:.1} %, {}", wobble.share * 100.0, sentences::wobble_kind(wobble.kind))
    });
    format!(
        "<text x=\"{}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>\
         <path d=\"{path}L{:.1} {base:.1}Z\" fill=\"#2f7dc4\" fill-opacity=\"0.75\"/>\
         <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"3\" fill=\"currentColor\"/>\
         <rect x=\"{:.1}\" y=\"{:.1}\" width=\"2\" height=\"9\" fill=\"#c4471f\"/>\
         <text x=\"{}\" y=\"{base:.1}\">{}{}</text>",
        LABELS - 10.0,
        escape(&format::shortened(&one.name_with_op(), FITS)),
        x(of.most),
        x(low),
        base + 2.0,
        (x(high) - x(low)).max(1.0),
        x(median) - 1.0,
        base - 1.0,
        WIDTH - NUMBERS + 14.0,
        figures::spread(one),
        escape(&wobble.unwrap_or_default())
    )
}
