//! Pages that a server gives out, in the look of the report: styles and scripts are files of their own, so that a policy
//! can forbid everything that stands in the page itself.
//!
//! Text in, text out, as all of this crate: nothing is served here.

use serde_json::Value;

use crate::chart::{
    AxisSide, Chart, ChartLine, ChartTable, Ink, LevelLine, SpeedUnit, Stroke, XAxis, json, main_chart,
    speed_axis, temperature_axis,
};
use crate::html::{self, UPLOT_CSS, escape, script_json, sections};
use crate::reduce::CHART_POINTS;
use crate::view::ReportInput;
use crate::{format, sentences};

/// Readings this near to a threshold, in kelvins, make it worth a line.
const LEVEL_REACH_K: f64 = 15.0;

/// The script that draws the charts, and changes them by `heatsoakUpdate`.
pub const CHART_SCRIPT: &str = include_str!("../assets/report.js");

/// The styles of all pages.
pub fn style_sheet() -> String {
    format!("{UPLOT_CSS}\n{}", html::style())
}

/// The chart library with its licence.
pub fn chart_library() -> String {
    html::chart_library()
}

/// A page whose styles and scripts are asked of the server that gives it out.
pub struct WebPage<'a> {
    /// Title, not yet escaped.
    pub title: &'a str,
    /// Whether the window's title has to say that something on it is simulated.
    pub is_simulated: bool,
    /// Paths of style sheets.
    pub styles: &'a [&'a str],
    /// Paths of scripts, in the order in which they run.
    pub scripts: &'a [&'a str],
    /// The body, as HTML.
    pub body: &'a str,
    /// Charts that the body has places for.
    pub charts: Vec<Value>,
}

/// The whole page.
pub fn web_page(page: &WebPage<'_>) -> String {
    let simulated = if page.is_simulated { "SIMULATED · " } else { "" };
    let styles: String = page
        .styles
        .iter()
        .map(|path| format!("<link rel=\"stylesheet\" href=\"{}\">\n", escape(path)))
        .collect();
    let scripts: String =
        page.scripts.iter().map(|path| format!("<script src=\"{}\"></script>\n", escape(path))).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{simulated}{} · heatsoak</title>\n{styles}</head>\n<body>\n<main>\n{}</main>\n\
         <script type=\"application/json\" id=\"charts\">{}</script>\n{scripts}</body>\n</html>\n",
        escape(page.title),
        page.body,
        script_json(&Value::Array(page.charts.clone())),
    )
}

/// Text for an element or a quoted attribute.
pub fn html_text(text: &str) -> String {
    escape(text)
}

/// Title, badge, and a line under it, as on every page.
pub fn page_header(title: &str, badge: Option<&str>, subtitle: &str) -> String {
    sections::header(title, badge, subtitle)
}

/// The foot of every page.
pub fn page_footer() -> String {
    "<footer><p>Temperatures are whole kelvins shown as °C with an offset of 273; 1 MB/s is 10<sup>6</sup> bytes per \
     second. Charts by uPlot (MIT licence). Read-only: nothing is started or changed from here.</p></footer>\n"
        .to_owned()
}

/// The place of a chart that the script draws.
pub fn chart_place(id: &str, title: &str) -> String {
    format!(
        "<figure id=\"{}\">\n<figcaption><h2>{}</h2></figcaption>\n\
         <div class=\"legend\" role=\"group\" aria-label=\"Lines of the chart: show or hide\"></div>\n\
         <div class=\"plot\" data-height=\"420\" role=\"img\" aria-label=\"{}\"></div>\n</figure>\n",
        escape(id),
        escape(title),
        escape(title)
    )
}

/// What a live page shows of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveView {
    /// Drive, and plan where there is one.
    pub title: String,
    /// "SIMULATED (..)"; `None` for what is measured.
    pub badge: Option<String>,
    /// (name, value) of what is the case now.
    pub now: Vec<(String, String)>,
    /// What happened so far, in sentences.
    pub sentences: Vec<String>,
    /// The chart, as the script takes it.
    pub chart: Value,
}

/// A run that is under way, from its record so far.
pub fn live_run(input: &ReportInput, id: &str) -> LiveView {
    let mut chart = main_chart(input);
    id.clone_into(&mut chart.id);
    let last = |ops: &crate::view::OpSpeed| ops.intervals.last().map(|interval| interval.value);
    let mut now = vec![("Recorded".to_owned(), format::seconds(input.end_s()))];
    now.extend(input.phases.last().map(|phase| ("Phase".to_owned(), phase.name.clone())));
    let end_s = input.end_s();
    // An operation of an earlier phase has no speed now.
    let current = input.speed.iter().filter(|ops| {
        ops.intervals.last().is_some_and(|interval| interval.start_s + interval.span_s * 3.0 + 1.0 >= end_s)
    });
    now.extend(current.map(|ops| (format!("Speed, {}", ops.op), format::speed(last(ops)))));
    let reading = |readings: &crate::view::Readings| readings.points.iter().rev().find_map(|point| point.1);
    let temperature = input.temperature.first().and_then(reading);
    now.extend(temperature.map(|celsius| ("Temperature".to_owned(), format::degrees(celsius))));
    let power = input.power.first().and_then(reading);
    now.extend(power.map(|watts| ("Power".to_owned(), format!("{watts:.2} W"))));
    let summary = sentences::summary(input);
    LiveView {
        title: input.title(),
        badge: input.simulated_badge(),
        now,
        sentences: summary.sentences(),
        chart: json(&chart),
    }
}

/// Speed and temperature of the last minutes, whoever wrote them down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecentSeries {
    /// Seconds since the run or watch began, rising.
    pub t_s: Vec<f64>,
    /// Bytes read a second; `None` where it is not known. As long as `t_s`.
    pub read_bytes_per_s: Vec<Option<f64>>,
    /// Bytes written a second.
    pub write_bytes_per_s: Vec<Option<f64>>,
    /// Composite temperature in kelvins.
    pub temperature_k: Vec<Option<f64>>,
    /// Thresholds: (name, kelvins).
    pub limits_k: Vec<(&'static str, f64)>,
}

/// Their chart, as the script takes it: its time is that since their first.
pub fn recent_chart(series: &RecentSeries, id: &str) -> Value {
    let finite = || series.t_s.iter().copied().filter(|t| t.is_finite());
    let start_s = finite().next().unwrap_or(0.0);
    let end_s = (finite().fold(start_s, f64::max) - start_s).max(1.0);
    let points = |values: &[Option<f64>], convert: &dyn Fn(f64) -> f64| -> Vec<(f64, Option<f64>)> {
        let known = |value: &Option<f64>| value.filter(|value| value.is_finite()).map(convert);
        let all = series.t_s.iter().map(|t| t - start_s).zip(values.iter().map(known));
        all.filter(|point| point.0.is_finite()).take(CHART_POINTS).collect()
    };
    let speeds = series.read_bytes_per_s.iter().chain(&series.write_bytes_per_s);
    let top = speeds.flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let unit = SpeedUnit::for_max(top);
    let speed = |name: &str, ink, values: &[Option<f64>]| ChartLine {
        name: name.to_owned(),
        side: AxisSide::Left,
        ink,
        stroke: Stroke::Solid,
        shown: true,
        points: points(values, &|value| unit.convert(value)),
    };
    let mut lines = vec![
        speed("read", Ink::Read, &series.read_bytes_per_s),
        speed("write", Ink::Write, &series.write_bytes_per_s),
    ];
    let to_celsius = |kelvin: f64| format::celsius(kelvin);
    let temperature = points(&series.temperature_k, &to_celsius);
    let known: Vec<f64> = temperature.iter().filter_map(|point| point.1).collect();
    let range = known.iter().copied().reduce(f64::min).zip(known.iter().copied().reduce(f64::max));
    let mut levels = Vec::new();
    let right = range.map(|(mut low, mut high)| {
        let near = low - LEVEL_REACH_K..=high + LEVEL_REACH_K;
        for (name, kelvin) in series.limits_k.iter().filter(|limit| near.contains(&to_celsius(limit.1))) {
            let value = to_celsius(*kelvin);
            (low, high) = (low.min(value), high.max(value));
            levels.push(LevelLine { label: format!("{name} {}", format::degrees(value)), value });
        }
        levels.sort_by(|a, b| a.value.total_cmp(&b.value));
        temperature_axis(low, high)
    });
    if right.is_some() {
        lines.push(ChartLine {
            name: "composite temperature".to_owned(),
            side: AxisSide::Right,
            ink: Ink::Composite,
            stroke: Stroke::Dotted,
            shown: true,
            points: temperature,
        });
    }
    let chart = Chart {
        id: id.to_owned(),
        title: "Speed and temperature".to_owned(),
        alt: String::new(),
        note: String::new(),
        end_s,
        x: XAxis::Time,
        wall_unix_s: None,
        left: speed_axis("Speed", unit, unit.convert(top)),
        right,
        lines,
        levels,
        bands: Vec::new(),
        marks: Vec::new(),
        table: ChartTable::default(),
    };
    let mut value = json(&chart);
    value["xLabel"] = format!("The last {}", format::seconds(end_s)).into();
    value
}

/// A speed as everywhere in the report; "–" where it is not known.
pub fn speed_text(bytes_per_s: Option<f64>) -> String {
    format::speed(bytes_per_s)
}

/// A temperature in kelvins as everywhere in the report.
pub fn temperature_text(kelvin: Option<f64>) -> String {
    kelvin
        .filter(|kelvin| kelvin.is_finite())
        .map_or_else(|| format::MISSING.to_owned(), |k| format::degrees(format::celsius(k)))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_window_of_the_last_minutes_begins_where_it_begins() {
        let series = RecentSeries {
            t_s: vec![86_400.0, 86_401.0],
            read_bytes_per_s: vec![Some(1e9), Some(f64::NAN)],
            write_bytes_per_s: vec![None, None],
            temperature_k: vec![Some(338.0), None],
            limits_k: vec![("TMT1", 343.0), ("CCTEMP", 500.0)],
        };
        let chart = recent_chart(&series, "live-0");
        assert_eq!(
            (chart["lines"][0]["t"].clone(), chart["end"].as_f64()),
            (serde_json::json!([0.0, 1.0]), Some(1.0))
        );
        assert_eq!(chart["lines"][0]["v"], serde_json::json!([1.0, null]), "what is not known is a gap");
        assert_eq!(
            chart["levels"].as_array().map(Vec::len),
            Some(1),
            "the far threshold would squeeze the curve"
        );
        assert_eq!(recent_chart(&RecentSeries::default(), "x")["right"], Value::Null);
    }

    #[test]
    fn nothing_gets_out_of_its_place_in_a_page() {
        let page = web_page(&WebPage {
            title: "</title><script>1</script>",
            is_simulated: true,
            styles: &["/a.css"],
            scripts: &["/a.js"],
            body: "",
            charts: vec![serde_json::json!("</script><b>")],
        });
        assert!(page.contains("SIMULATED · &lt;/title&gt;") && !page.contains("<b>"), "{page}");
    }
}
