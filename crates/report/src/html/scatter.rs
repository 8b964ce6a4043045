//! Scatters of single accesses on logarithmic axes: size against speed and against accesses a second.
//!
//! Accesses are drawn as cells, the darker the more of them there are (by the logarithm of their number); the line is the
//! median of each octave. A drawing without a script, with its numbers in the table of octaves below.

use analysis::accesses::{
    AccessCloud, AccessFindings, CLOUD_SIZES_AN_OCTAVE, CLOUD_SPEEDS_A_DECADE, SizeOctave,
};

use super::escape;
use crate::view::op_word;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 314.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 38.0;
const RIGHT: f64 = 12.0;

/// One of the two scatters of a cloud.
struct Scatter<'a> {
    title: String,
    unit: &'static str,
    cells: &'a [(i32, i32, u32)],
    median: Vec<(f64, f64)>,
    /// What a value is divided by for the labels of its axis.
    scale: f64,
}

/// Both scatters of each cloud.
pub(crate) fn scatters(found: &AccessFindings, clouds: &[AccessCloud], badge: Option<&str>) -> String {
    let mut out = String::new();
    for cloud in clouds {
        let octaves: Vec<&SizeOctave> =
            found.sizes.iter().filter(|size| size.phase == cloud.phase && size.op == cloud.op).collect();
        // An octave stands at its middle.
        let line = |of: &dyn Fn(&SizeOctave) -> f64| {
            octaves
                .iter()
                .map(|octave| ((octave.from_bytes as f64).log2() + 0.5, of(octave).log10()))
                .collect()
        };
        let name = format!("{} ({})", cloud.phase, op_word(cloud.op));
        let speed = Scatter {
            title: format!("{name}: speed by size"),
            unit: "MB/s",
            cells: &cloud.cells,
            median: line(&|octave| octave.median_bytes_per_s),
            scale: 1e6,
        };
        let iops = Scatter {
            title: format!("{name}: accesses a second by size"),
            unit: "IOPS",
            cells: &cloud.iops_cells,
            median: line(&|octave| octave.median_iops),
            scale: 1.0,
        };
        out.push_str(&format!(
            "<div class=\"panels\">\n{}{}</div>\n",
            speed.figure(badge),
            iops.figure(badge)
        ));
    }
    out
}

impl Scatter<'_> {
    fn figure(&self, badge: Option<&str>) -> String {
        let sizes = || self.cells.iter().map(|cell| f64::from(cell.0) / CLOUD_SIZES_AN_OCTAVE);
        let values = || self.cells.iter().map(|cell| f64::from(cell.1) / CLOUD_SPEEDS_A_DECADE);
        let low = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::INFINITY, f64::min).floor();
        let high = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::NEG_INFINITY, f64::max).floor() + 1.0;
        let (x0, x1) = (low(&mut sizes()), high(&mut sizes()));
        let (y0, y1) = (low(&mut values()), high(&mut values()));
        let x = |log2: f64| LEFT + (log2 - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
        let y = |log10: f64| HEIGHT - BOTTOM - (log10 - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP);
        let most = self.cells.iter().map(|cell| f64::from(cell.2)).fold(1.0, f64::max);
        let mut body = String::new();
        for decade in y0 as i32..=y1 as i32 {
            let at = y(f64::from(decade));
            let label = 10_f64.powi(decade) / self.scale;
            body.push_str(&format!(
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0
            ));
        }
        for octave in (x0 as i32..=x1 as i32).step_by(if x1 - x0 > 8.0 { 4 } else { 2 }) {
            body.push_str(&format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x(f64::from(octave)),
                HEIGHT - BOTTOM + 16.0,
                size_label(octave)
            ));
        }
        let (cell_w, cell_h) =
            (x(x0 + 1.0 / CLOUD_SIZES_AN_OCTAVE) - LEFT, y(y0) - y(y0 + 1.0 / CLOUD_SPEEDS_A_DECADE));
        for (size, value, count) in self.cells {
            let opacity = 0.25 + 0.75 * f64::from(*count).ln_1p() / most.ln_1p();
            body.push_str(&format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{cell_w:.1}\" height=\"{cell_h:.1}\" fill=\"#2f7dc4\" fill-opacity=\"{opacity:.2}\"/>",
                x(f64::from(*size) / CLOUD_SIZES_AN_OCTAVE),
                y((f64::from(*value) + 1.0) / CLOUD_SPEEDS_A_DECADE)
            ));
        }
        let points: Vec<String> =
            self.median.iter().map(|(size, value)| format!("{:.1},{:.1}", x(*size), y(*value))).collect();
        body.push_str(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#c4471f\" stroke-width=\"2\"/>",
            points.join(" ")
        ));
        let (title, badge) = (escape(&self.title), escape(badge.unwrap_or_default()));
        format!(
            "<figure class=\"still\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title} {badge}\" font-size=\"11\" fill=\"currentColor\">\
             <text x=\"8\" y=\"13\">{title} ({})</text><text x=\"8\" y=\"28\">{badge}</text>{body}\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">size</text></svg></figure>\n",
            self.unit,
            (LEFT + WIDTH) / 2.0,
            HEIGHT - 4.0
        )
    }
}

/// "64 KiB".
pub(crate) fn size_label(log2: i32) -> String {
    match log2 {
        ..10 => format!("{} B", 1_u64 << log2.max(0)),
        10..20 => format!("{} KiB", 1_u64 << (log2 - 10)),
        20..30 => format!("{} MiB", 1_u64 << (log2 - 20)),
        _ => format!("{} GiB", 1_u64 << (log2 - 30).min(30)),
    }
}
