//! A chart as a static drawing: for papers, for printing, and where scripts do not run.
//!
//! Always on a light ground, with fixed colours, so that it looks the same wherever it is put.

use super::{Axis, AxisSide, Band, Chart, ChartLine, Stroke};
use crate::format;
use crate::html::escape;
use crate::reduce::{self, ChartPoint};
use crate::scale;

/// What is around the chart.
pub(crate) struct Frame<'a> {
    /// Width in pixels.
    pub(crate) width: f64,
    /// Height in pixels.
    pub(crate) height: f64,
    /// A line above the chart.
    pub(crate) title: Option<&'a str>,
    /// "SIMULATED …", in a box.
    pub(crate) badge: Option<&'a str>,
    /// Whether it is a file of its own, which needs the namespace.
    pub(crate) standalone: bool,
}

/// Mean width of a character of the 12 px sans-serif text, in pixels; on the safe side.
const CHAR_PX: f64 = 6.6;
/// The same, bold.
const BOLD_CHAR_PX: f64 = 7.4;
/// More events than these are drawn pale, or they would hide the curves.
const MARKS_BOLD: usize = 12;
const LINE_PX: f64 = 18.0;
/// Height of a label, rim included.
const LABEL_PX: f64 = 15.0;
const MARGIN_SIDE: f64 = 66.0;
const MARGIN_BOTTOM: f64 = 46.0;

const TEXT: &str = "#1b1f23";
const FAINT: &str = "#dfe3e8";
const BAND: &str = "#f1f4f7";
const AXIS: &str = "#57606a";

/// The drawing.
pub(crate) fn svg(chart: &Chart, frame: &Frame<'_>) -> String {
    let (legend, legend_rows) = legend(chart, frame);
    let top = 10.0
        + if frame.title.is_some() { 26.0 } else { 0.0 }
        + legend_rows * LINE_PX
        + if chart.marks.is_empty() { 8.0 } else { 22.0 };
    let right = if chart.right.is_some() { MARGIN_SIDE } else { 18.0 };
    let plot = Plot {
        x: MARGIN_SIDE,
        y: top,
        width: frame.width - MARGIN_SIDE - right,
        height: frame.height - top - MARGIN_BOTTOM,
        end_s: chart.end_s,
    };
    let namespace = if frame.standalone { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
    let (width, height) = (px(frame.width), px(frame.height));
    let mut out = format!(
        "<svg{namespace} class=\"static\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif\" \
         font-size=\"12\" fill=\"{TEXT}\"><title>{}</title><desc>{}</desc>\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>",
        escape(&chart.title),
        escape(&chart.alt)
    );
    out.push_str(&heading(frame));
    out.push_str(&legend);
    out.push_str(&bands(chart, &plot));
    out.push_str(&time_axis(chart, &plot));
    out.push_str(&value_axis(&chart.left, AxisSide::Left, &plot));
    if let Some(axis) = &chart.right {
        out.push_str(&value_axis(axis, AxisSide::Right, &plot));
        out.push_str(&levels(chart, axis, &plot));
    }
    out.push_str(&lines(chart, &plot));
    out.push_str(&marks(chart, &plot));
    out.push_str(&format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{AXIS}\"/></svg>",
        px(plot.x),
        px(plot.y),
        px(plot.width),
        px(plot.height)
    ));
    out
}

/// Where values lie on the paper.
struct Plot {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    end_s: f64,
}

impl Plot {
    fn at_time(&self, t_s: f64) -> f64 {
        self.x + self.width * (t_s / self.end_s).clamp(0.0, 1.0)
    }

    fn at_value(&self, value: f64, axis: &Axis) -> f64 {
        let share = if axis.log {
            (value.max(axis.min) / axis.min).ln() / (axis.max / axis.min).ln()
        } else {
            (value - axis.min) / (axis.max - axis.min)
        };
        self.y + self.height * (1.0 - share.clamp(0.0, 1.0))
    }

    fn bottom(&self) -> f64 {
        self.y + self.height
    }

    fn right(&self) -> f64 {
        self.x + self.width
    }
}

/// A coordinate, to a tenth of a pixel.
fn px(value: f64) -> String {
    let text = format::number(value, 1).unwrap_or_else(|| "0".to_owned());
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

fn text(x: f64, y: f64, anchor: &str, attributes: &str, content: &str) -> String {
    format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\"{attributes}>{}</text>",
        px(x),
        px(y),
        escape(content)
    )
}

/// Text over lines: a white rim keeps it readable.
const RIM: &str = " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\"";

fn text_width(content: &str) -> f64 {
    content.chars().count() as f64 * CHAR_PX
}

fn heading(frame: &Frame<'_>) -> String {
    let Some(title) = frame.title else { return String::new() };
    let mut out = text(MARGIN_SIDE, 25.0, "start", " font-size=\"15\" font-weight=\"600\"", title);
    if let Some(badge) = frame.badge {
        let width = badge.chars().count() as f64 * BOLD_CHAR_PX + 14.0;
        // On the right, where nothing else is; a long title may run under it but not hide it.
        let x = (frame.width - 18.0 - width).max(0.0);
        out.push_str(&format!(
            "<rect x=\"{}\" y=\"9\" width=\"{}\" height=\"22\" rx=\"3\" fill=\"#fff3c4\" stroke=\"#8a6100\"/>",
            px(x),
            px(width)
        ));
        out.push_str(&text(x + width / 2.0, 24.5, "middle", " font-weight=\"600\" fill=\"#5c4100\"", badge));
    }
    out
}

/// Names of the lines, as many rows as they need. Single intervals go without: their mean stands for them.
fn legend(chart: &Chart, frame: &Frame<'_>) -> (String, f64) {
    let mut out = String::new();
    let (mut x, mut row) = (MARGIN_SIDE, 0.0);
    let top = 10.0 + if frame.title.is_some() { 26.0 } else { 0.0 };
    for line in chart.lines.iter().filter(|line| line.shown && line.stroke != Stroke::Thin) {
        let width = 34.0 + text_width(&line.name) + 14.0;
        if x + width > frame.width && x > MARGIN_SIDE {
            (x, row) = (MARGIN_SIDE, row + 1.0);
        }
        let y = top + row * LINE_PX + 11.0;
        out.push_str(&format!("<path d=\"M{} {}h26\" {}/>", px(x), px(y - 4.0), pen(line)));
        out.push_str(&text(x + 32.0, y, "start", "", &line.name));
        x += width;
    }
    (out, row + 1.0)
}

fn pen(line: &ChartLine) -> String {
    let style = match line.stroke {
        Stroke::Thin => "stroke-width=\"0.7\" stroke-opacity=\"0.45\"",
        Stroke::Solid | Stroke::Steps => "stroke-width=\"1.8\"",
        Stroke::Dashed => "stroke-width=\"1.5\" stroke-dasharray=\"6 3\"",
        Stroke::Dotted => "stroke-width=\"2\" stroke-dasharray=\"0.1 4\" stroke-linecap=\"round\"",
    };
    format!("fill=\"none\" stroke=\"{}\" stroke-linejoin=\"round\" {style}", line.ink.on_light())
}

fn bands(chart: &Chart, plot: &Plot) -> String {
    let mut out = String::new();
    for (index, Band { label, from_s, to_s }) in chart.bands.iter().enumerate() {
        let (from, to) = (plot.at_time(*from_s), plot.at_time(*to_s));
        if index % 2 == 1 {
            out.push_str(&format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{BAND}\"/>",
                px(from),
                px(plot.y),
                px(to - from),
                px(plot.height)
            ));
        }
        if let Some(label) = fitting(label, to - from - 8.0) {
            out.push_str(&text(from + 5.0, plot.y + 14.0, "start", &format!(" fill=\"{AXIS}\""), &label));
        }
    }
    out
}

/// A label cut to the room there is; nothing where not even three letters fit.
fn fitting(label: &str, room: f64) -> Option<String> {
    if text_width(label) <= room {
        return Some(label.to_owned());
    }
    let letters = (room / CHAR_PX) as usize;
    (letters >= 4).then(|| label.chars().take(letters - 1).chain(['…']).collect())
}

fn time_axis(chart: &Chart, plot: &Plot) -> String {
    let (label, _, unit_s) = chart.x.unit(plot.end_s);
    let (ticks, decimals) = scale::ticks(0.0, plot.end_s / unit_s, 10);
    let mut out = String::new();
    for tick in ticks {
        let x = plot.at_time(tick * unit_s);
        out.push_str(&format!(
            "<path d=\"M{} {}v{}\" stroke=\"{FAINT}\"/>",
            px(x),
            px(plot.y),
            px(plot.height)
        ));
        out.push_str(&text(x, plot.bottom() + 16.0, "middle", "", &format::cell(Some(tick), decimals)));
    }
    out.push_str(&text(plot.x + plot.width / 2.0, plot.bottom() + 36.0, "middle", "", &label));
    out
}

fn value_axis(axis: &Axis, side: AxisSide, plot: &Plot) -> String {
    let (ticks, decimals) = if axis.log {
        let ticks = scale::decades(axis.min, axis.max);
        let decimals = if axis.min < 1.0 { (-axis.min.log10()).ceil().clamp(0.0, 9.0) as usize } else { 0 };
        (ticks, decimals)
    } else {
        scale::ticks(axis.min, axis.max, 8)
    };
    let mut out = String::new();
    for tick in ticks {
        let y = plot.at_value(tick, axis);
        let content = format::cell(Some(tick), decimals);
        match side {
            AxisSide::Left => {
                out.push_str(&format!(
                    "<path d=\"M{} {}h{}\" stroke=\"{FAINT}\"/>",
                    px(plot.x),
                    px(y),
                    px(plot.width)
                ));
                out.push_str(&text(plot.x - 7.0, y + 4.0, "end", "", &content));
            }
            AxisSide::Right => {
                out.push_str(&format!("<path d=\"M{} {}h5\" stroke=\"{AXIS}\"/>", px(plot.right()), px(y)));
                out.push_str(&text(plot.right() + 9.0, y + 4.0, "start", "", &content));
            }
        }
    }
    let (x, turn) = match side {
        AxisSide::Left => (16.0, -90),
        AxisSide::Right => (plot.right() + MARGIN_SIDE - 16.0, 90),
    };
    let y = plot.y + plot.height / 2.0;
    let rotate = format!(" transform=\"rotate({turn} {} {})\"", px(x), px(y));
    out.push_str(&text(x, y, "middle", &rotate, &axis.label()));
    out
}

fn levels(chart: &Chart, axis: &Axis, plot: &Plot) -> String {
    let mut out = String::new();
    // Rising values, so falling y.
    let y: Vec<f64> = chart.levels.iter().map(|level| plot.at_value(level.value, axis)).collect();
    let mut x = plot.right() - 5.0;
    for (index, level) in chart.levels.iter().enumerate() {
        out.push_str(&format!(
            "<path d=\"M{} {}h{}\" stroke=\"{}\" stroke-dasharray=\"9 4\" stroke-opacity=\"0.75\"/>",
            px(plot.x),
            px(y[index]),
            px(plot.width),
            super::Ink::Composite.on_light()
        ));
        let lower = index.checked_sub(1).map_or(f64::INFINITY, |lower| y[lower] - y[index]);
        let upper = y.get(index + 1).map_or(f64::INFINITY, |upper| y[index] - upper);
        // The label stands above its line; below where that is taken; else beside its neighbour's.
        let is_below = upper < LABEL_PX && lower >= 2.0 * LABEL_PX;
        x = if is_below || upper >= LABEL_PX { plot.right() - 5.0 } else { x - 5.0 };
        let label_y = if is_below { y[index] + 13.0 } else { y[index] - 4.0 };
        out.push_str(&text(x, label_y, "end", RIM, &level.label));
        x -= text_width(&level.label) + 10.0;
    }
    out
}

fn lines(chart: &Chart, plot: &Plot) -> String {
    let mut out = String::new();
    for line in chart.lines.iter().filter(|line| line.shown) {
        let axis = match (line.side, &chart.right) {
            (AxisSide::Right, Some(axis)) => axis,
            _ => &chart.left,
        };
        // Three points a two pixels are more than a line can show.
        let points = reduce::envelope(&line.points, (plot.width * 1.5) as usize);
        let path = path(&points, axis, plot, line.stroke == Stroke::Steps);
        out.push_str(&format!("<path d=\"{path}\" {}/>", pen(line)));
    }
    out
}

fn path(points: &[ChartPoint], axis: &Axis, plot: &Plot, steps: bool) -> String {
    let mut path = String::new();
    let mut is_down = false;
    for (t, value) in points {
        let Some(value) = value else {
            is_down = false;
            continue;
        };
        let (x, y) = (px(plot.at_time(*t)), px(plot.at_value(*value, axis)));
        match (is_down, steps) {
            (false, _) => path.push_str(&format!("M{x} {y}")),
            (true, false) => path.push_str(&format!("L{x} {y}")),
            (true, true) => path.push_str(&format!("H{x}V{y}")),
        }
        is_down = true;
    }
    path
}

/// Lines over the curves, labels above the frame. Where the label has no room its sign has to do.
fn marks(chart: &Chart, plot: &Plot) -> String {
    let mut out = String::new();
    let mut free_x = f64::NEG_INFINITY;
    let opacity = if chart.marks.len() > MARKS_BOLD { " stroke-opacity=\"0.4\"" } else { "" };
    for (index, mark) in chart.marks.iter().enumerate() {
        let x = plot.at_time(mark.t_s);
        out.push_str(&format!(
            "<path d=\"M{} {}v{}\" stroke=\"{TEXT}\" stroke-dasharray=\"2 2\"{opacity}><title>{}</title></path>",
            px(x),
            px(plot.y),
            px(plot.height),
            escape(&mark.detail)
        ));
        let from = x - CHAR_PX / 2.0;
        // After the last one there is the margin.
        let next = chart.marks.get(index + 1).map_or(plot.right() + 50.0, |next| plot.at_time(next.t_s));
        let sign: String = mark.label.chars().take(1).collect();
        let has_room = from + text_width(&mark.label) + CHAR_PX <= next;
        let label = if has_room { &mark.label } else { &sign };
        if from >= free_x {
            out.push_str(&text(from, plot.y - 4.0, "start", "", label));
            free_x = from + text_width(label);
        }
    }
    out
}
