//! A sheet: curves, maps and tables that are no run of their own - a fit beside what it was fitted to, a forecast, a sweep
//! of forecasts - as a page, a drawing or a picture.
//!
//! What the numbers mean is its maker's to say: here they are drawn, with the badge that says they are simulated.

mod curves;
mod map;

use crate::chart::{Chart, Frame, svg};
use crate::html::{HtmlPage, escape, figure, page, prose, sections, text_table};
use crate::picture;

/// Everything a sheet shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Title, without the badge.
    pub title: String,
    /// "SIMULATED ..."; a sheet of measured numbers alone has none.
    pub badge: Option<String>,
    /// A line under the title.
    pub subtitle: String,
    /// Parts in order: a heading with sentences and a table.
    pub parts: Vec<SheetPart>,
    /// Curves over time.
    pub curves: Vec<SheetCurves>,
    /// Maps over two axes.
    pub maps: Vec<SheetMap>,
}

/// A heading, sentences, and a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetPart {
    /// The heading.
    pub heading: String,
    /// Sentences, one a paragraph.
    pub sentences: Vec<String>,
    /// Head of the table.
    pub columns: Vec<String>,
    /// Its rows; none is no table.
    pub rows: Vec<Vec<String>>,
}

/// Speed and temperature over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetCurves {
    /// What they show.
    pub title: String,
    /// How they came about.
    pub note: String,
    /// Phases: name, from, to, in seconds.
    pub phases: Vec<(String, f64, f64)>,
    /// The curves.
    pub curves: Vec<SheetCurve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetCurve {
    /// Its name.
    pub name: String,
    /// What it is of.
    pub quantity: SheetQuantity,
    /// How it is drawn.
    pub role: SheetRole,
    /// Seconds, and bytes per second or kelvins.
    pub points: Vec<(f64, f64)>,
}

/// What a curve is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetQuantity {
    /// Bytes per second.
    Speed,
    /// Kelvins.
    Temperature,
    /// Kelvins between two temperatures; not together with temperatures in one chart.
    Difference,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetRole {
    /// What was measured, or the median.
    Main,
    /// What stands beside it.
    Beside,
    /// An end of an interval.
    End,
}

/// Numbers over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetMap {
    /// What it shows, with its unit.
    pub title: String,
    /// Across: name with unit, and values.
    pub across: (String, Vec<String>),
    /// Down: name with unit, and values.
    pub down: (String, Vec<String>),
    /// Rows of numbers; `None` where there is no answer.
    pub cells: Vec<Vec<Option<f64>>>,
    /// Which of them lie beyond what was seen, row by row; empty where none does.
    pub beyond: Vec<Vec<bool>>,
    /// Digits after the point.
    pub decimals: usize,
    /// Whether more is worse, as heat is: dark is hot then, and fast else.
    pub is_heat: bool,
}

const WIDTH: f64 = 980.0;
const CHART_HEIGHT: f64 = 470.0;
const HEAD_PX: f64 = 44.0;

/// The sheet as an HTML page.
pub fn sheet_html(sheet: &Sheet) -> String {
    let charts: Vec<Chart> = charts(sheet);
    let badge = sheet.badge.as_deref();
    let mut body = sections::header(&sheet.title, badge, &sheet.subtitle);
    for part in &sheet.parts {
        body.push_str(&format!("<section>\n<h2>{}</h2>\n", escape(&part.heading)));
        for sentence in &part.sentences {
            body.push_str(&format!("<p>{}</p>\n", prose(sentence)));
        }
        if !part.rows.is_empty() {
            let columns: Vec<&str> = part.columns.iter().map(String::as_str).collect();
            body.push_str(&text_table("cards", &columns, &part.rows));
        }
        body.push_str("</section>\n");
    }
    charts.iter().for_each(|chart| body.push_str(&figure(chart, &sheet.title, badge)));
    for map in &sheet.maps {
        let (drawing, _) = map::drawing(map, WIDTH);
        body.push_str(&format!(
            "<figure><figcaption><h2>{}</h2></figcaption>\n<div class=\"map\">{drawing}</div>\n</figure>\n",
            escape(&map.title)
        ));
    }
    body.push_str(&sections::footer(None));
    page(&HtmlPage { title: &sheet.title, is_simulated: badge.is_some(), body: &body, charts: &charts })
}

/// The charts and maps of the sheet as a drawing.
pub fn sheet_svg(sheet: &Sheet) -> String {
    let mut body = String::new();
    body.push_str(&format!(
        "<text x=\"20\" y=\"28\" font-size=\"17\" font-weight=\"bold\">{}</text>",
        escape(&sheet.title)
    ));
    let mut y = HEAD_PX;
    if let Some(badge) = &sheet.badge {
        body.push_str(&format!(
            "<text x=\"20\" y=\"{:.0}\" font-size=\"13\" font-weight=\"bold\" fill=\"#5c4100\">{}</text>",
            y + 4.0,
            escape(badge)
        ));
        y += 18.0;
    }
    for chart in charts(sheet) {
        let frame = Frame {
            width: WIDTH,
            height: CHART_HEIGHT,
            title: Some(&chart.title),
            badge: None,
            standalone: false,
        };
        body.push_str(&format!("<g transform=\"translate(0 {y:.0})\">{}</g>", svg(&chart, &frame)));
        y += CHART_HEIGHT + 10.0;
    }
    for map in &sheet.maps {
        let (drawing, height) = map::drawing(map, WIDTH);
        body.push_str(&format!("<g transform=\"translate(0 {y:.0})\">{drawing}</g>"));
        y += height + 10.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y:.0}\" width=\"{WIDTH}\" height=\"{y:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#1b1f23\"><title>{}</title>\
         <rect width=\"{WIDTH}\" height=\"{y:.0}\" fill=\"#ffffff\"/>{body}</svg>\n",
        escape(&sheet.title)
    )
}

/// The same as a picture; an error says why it cannot be drawn.
///
/// # Errors
/// When the drawing is refused, which no sheet should bring about.
pub fn sheet_png(sheet: &Sheet) -> Result<Vec<u8>, String> {
    picture::pixels(&sheet_svg(sheet))
}

fn charts(sheet: &Sheet) -> Vec<Chart> {
    sheet.curves.iter().enumerate().map(|(at, curves)| curves::chart(curves, at)).collect()
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn sheet(values: &[f64], name: &str) -> Sheet {
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().map(|(at, value)| (at as f64, *value)).collect();
        let curve = |quantity| SheetCurve {
            name: name.to_owned(),
            quantity,
            role: SheetRole::Main,
            points: points.clone(),
        };
        Sheet {
            title: name.to_owned(),
            badge: Some("SIMULATED".to_owned()),
            curves: vec![SheetCurves {
                title: name.to_owned(),
                curves: vec![curve(SheetQuantity::Speed), curve(SheetQuantity::Temperature)],
                ..SheetCurves::default()
            }],
            maps: vec![SheetMap {
                across: (name.to_owned(), values.iter().map(|_| name.to_owned()).collect()),
                down: (String::new(), vec![name.to_owned()]),
                cells: vec![values.iter().map(|value| Some(*value)).collect()],
                ..SheetMap::default()
            }],
            ..Sheet::default()
        }
    }

    proptest! {
        /// Whatever the numbers and names are, the drawing is one that resvg takes, and says that it is simulated.
        #[test]
        fn any_sheet_is_a_drawing(values in prop::collection::vec(prop::num::f64::ANY, 0..20), name in ".{0,20}") {
            let drawing = sheet_svg(&sheet(&values, &name));
            prop_assert!(drawing.contains("SIMULATED"));
            prop_assert!(!drawing.contains("\"NaN") && !drawing.contains("\"inf"), "{drawing}");
            prop_assert!(resvg::usvg::Tree::from_str(&drawing, &resvg::usvg::Options::default()).is_ok());
        }
    }

    /// A number that lies beyond what was seen does not look like one that does not.
    #[test]
    fn a_map_marks_what_lies_beyond() {
        let mut sheet = sheet(&[1.0, 2.0], "warm");
        assert!(!sheet_svg(&sheet).contains("* beyond what was seen"));
        sheet.maps[0].beyond = vec![vec![false, true]];
        let drawing = sheet_svg(&sheet);
        assert!(drawing.contains(">1<") && drawing.contains(">2 *<"), "{drawing}");
        assert!(drawing.contains("* beyond what was seen"), "{drawing}");
    }

    #[test]
    fn the_page_has_the_numbers_behind_its_curves() {
        let page = sheet_html(&sheet(&[300.0, 310.0], "warm"));
        assert!(page.contains("26.9") && page.contains("36.9"), "kelvins as °C in the table");
        assert!(page.contains("SIMULATED · warm"));
    }
}
