//! The first screen of a report as a picture: what happened, why, and the main chart, to be sent to somebody.
//!
//! Made as a drawing (SVG) and turned into pixels by resvg, with letters of its own, so that the same run gives the same
//! bytes on every machine. Sized to be read in a chat window: 1200 px wide, text of 17 px.

use std::sync::Arc;

use resvg::{tiny_skia, usvg};

use crate::chart::{Chart, Frame, WRITTEN, main_chart, svg, written_charts};
use crate::figures::{self, PhaseFigures};
use crate::format;
use crate::html::escape;
use crate::sentences::{self, Reason};
use crate::view::ReportInput;

const REGULAR: &[u8] = include_bytes!("../assets/font/HeatsoakSans.ttf");
const BOLD: &[u8] = include_bytes!("../assets/font/HeatsoakSans-Bold.ttf");

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 28.0;
/// Size of text and the distance of its lines, in pixels.
const TEXT_PX: f64 = 17.0;
const LINE_PX: f64 = 24.0;
/// Characters that fit a line: the mean advance of DejaVu Sans Condensed is 0.52 of its size in English text; on the
/// safe side.
const LINE_CHARS: usize = ((WIDTH - 2.0 * MARGIN) / (TEXT_PX * 0.535)) as usize;
/// Mean advance of the digits and letters of a table's cells, as a share of the size.
const CELL_CHAR: f64 = 0.56;
const CHART_HEIGHT: f64 = 470.0;
/// Rows of phases and reasons that a picture has room for; the report has all.
const MOST_PHASES: usize = 8;
const MOST_REASONS: usize = 3;
/// The picture is drawn at twice its size, for screens with many pixels.
const SCALE: f32 = 2.0;

/// The first screen as a drawing.
pub fn picture_svg(input: &ReportInput) -> String {
    let mut page = PicturePage { body: String::new(), y: MARGIN };
    let badge = input.simulated_badge();
    page.line(&input.title(), 24.0, true);
    if let Some(badge) = &badge {
        page.badge(badge);
    }
    page.y += 10.0;
    if let Some(ending) = &input.ending {
        page.paragraph(ending, false);
    }
    let summary = sentences::summary(input);
    for sentence in &summary.happened {
        page.paragraph(sentence, false);
    }
    page.table(&summary.figures);
    for reason in summary.reasons.iter().take(MOST_REASONS) {
        page.reason(reason);
    }
    page.paragraph(&summary.policy, false);
    if summary.reasons.len() > MOST_REASONS {
        page.paragraph(&format!("{} more in the report.", summary.reasons.len() - MOST_REASONS), false);
    }
    page.charts(input);
    page.finish(input)
}

/// The first screen as PNG; an error says why it cannot be drawn.
///
/// # Errors
/// When the drawing is refused, which no run should bring about.
pub fn picture_png(input: &ReportInput) -> Result<Vec<u8>, String> {
    pixels(&picture_svg(input))
}

/// A drawing as PNG, at twice its size.
pub(crate) fn pixels(drawing: &str) -> Result<Vec<u8>, String> {
    let mut fonts = usvg::fontdb::Database::new();
    for face in [REGULAR, BOLD] {
        fonts.load_font_data(face.to_vec());
    }
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|family| family.0.clone());
    let family = family.ok_or("the built-in font has no family")?;
    fonts.set_sans_serif_family(family.clone());
    let options = usvg::Options { font_family: family, fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(drawing, &options)
        .map_err(|error| format!("the drawing is refused: {error}"))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the drawing has no size")?;
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).ok_or("the picture is too large")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the pixels cannot be encoded: {error}"))
}

/// What has been drawn, and where the next line goes.
struct PicturePage {
    body: String,
    y: f64,
}

impl PicturePage {
    fn text(&mut self, x: f64, content: &str, size: f64, bold: bool) {
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        self.body.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{size}\"{weight}>{}</text>",
            self.y + size * 0.8,
            escape(content)
        ));
    }

    fn line(&mut self, content: &str, size: f64, bold: bool) {
        let room = (LINE_CHARS as f64 * TEXT_PX / size) as usize;
        self.text(MARGIN, &cut(content, room), size, bold);
        self.y += size * 1.35;
    }

    fn badge(&mut self, content: &str) {
        let content = cut(content, LINE_CHARS);
        let width = content.chars().count() as f64 * 15.0 * 0.6 + 16.0;
        self.body.push_str(&format!(
            "<rect x=\"{MARGIN}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"24\" rx=\"4\" fill=\"#fff3c4\" stroke=\"#8a6100\"/>",
            self.y
        ));
        self.y += 6.0;
        self.text(MARGIN + 8.0, &content, 15.0, true);
        self.y += 24.0;
    }

    fn paragraph(&mut self, content: &str, is_bullet: bool) {
        let (first, rest) = if is_bullet { ("•  ", "    ") } else { ("", "") };
        let options = textwrap::Options::new(LINE_CHARS).subsequent_indent(rest).initial_indent(first);
        for line in textwrap::wrap(&visible(content), options) {
            let x = if is_bullet { MARGIN + 6.0 } else { MARGIN };
            let indent = if line.starts_with("    ") { 18.0 } else { 0.0 };
            self.text(x + indent, line.trim_start().trim_start_matches('•').trim_start(), TEXT_PX, false);
            if line.starts_with('•') {
                self.body.push_str(&format!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>",
                    MARGIN - 4.0,
                    self.y + TEXT_PX * 0.5
                ));
            }
            self.y += LINE_PX;
        }
    }

    fn reason(&mut self, reason: &Reason) {
        let options = textwrap::Options::new(LINE_CHARS);
        for line in textwrap::wrap(&visible(&reason.what), options) {
            self.text(MARGIN, &line, TEXT_PX, true);
            self.y += LINE_PX;
        }
        if !reason.cause.is_empty() {
            self.paragraph(&reason.cause, false);
        }
        for clause in &reason.evidence {
            self.paragraph(clause, true);
        }
        self.y += 6.0;
    }

    /// The table of phases in columns as wide as their longest cell.
    fn table(&mut self, all: &[PhaseFigures]) {
        let (headers, rows) = figures::phase_table(&all[..all.len().min(MOST_PHASES)]);
        let size = 15.0;
        let widest = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([headers[column].chars().count()]).max().unwrap_or(0) as f64
        };
        let widths: Vec<f64> =
            (0..headers.len()).map(|column| widest(column) * size * CELL_CHAR + 16.0).collect();
        // More than the page is wide is made to fit.
        let fit = ((WIDTH - 2.0 * MARGIN) / widths.iter().sum::<f64>()).min(1.0);
        let size = size * fit;
        let draw = |page: &mut Self, cells: Vec<String>, bold: bool| {
            let mut x = MARGIN;
            for (cell, width) in cells.iter().zip(&widths) {
                page.text(x, &visible(cell), size, bold);
                x += width * fit;
            }
            page.y += LINE_PX;
        };
        draw(self, headers.iter().map(|header| (*header).to_owned()).collect(), true);
        rows.into_iter().for_each(|row| draw(self, row, false));
        if all.len() > MOST_PHASES {
            self.paragraph(&format!("{} more phases in the report.", all.len() - MOST_PHASES), false);
        }
        self.y += 8.0;
    }

    /// Over time; over data written as well where a cache ended or the drive was filled, which time squeezes.
    fn charts(&mut self, input: &ReportInput) {
        self.chart(&main_chart(input), CHART_HEIGHT);
        if let Some(written) = written_charts(input).into_iter().find(|chart| chart.id == WRITTEN) {
            self.chart(&written, CHART_HEIGHT * 0.6);
        }
    }

    fn chart(&mut self, chart: &Chart, height: f64) {
        let width = WIDTH - 2.0 * MARGIN;
        let frame = Frame { width, height, title: None, badge: None, standalone: false };
        let drawing = svg(chart, &frame);
        self.body
            .push_str(&format!("<g transform=\"translate({MARGIN} {:.1})\">{drawing}</g>", self.y + 4.0));
        self.y += height + 10.0;
    }

    fn finish(mut self, input: &ReportInput) -> String {
        let by = input.written_by.as_deref().unwrap_or("heatsoak");
        self.text(MARGIN, by, 13.0, false);
        let height = self.y + 13.0 + MARGIN / 2.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" fill=\"#1b1f23\"><title>{}</title>\
             <rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#ffffff\"/>{}</svg>\n",
            escape(&input.title()),
            self.body
        )
    }
}

/// Text for one line; what is too long is cut.
fn cut(content: &str, room: usize) -> String {
    format::shortened(&visible(content), room)
}

/// Text without control characters.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || measure::is_hidden(c) { '\u{fffd}' } else { c }).collect()
}
