//! The frame of a page: head, styles, scripts, the charts' data.

use crate::chart::{Chart, css_variables, json};

use super::{escape, script_json};

/// Styles of the chart library.
pub(crate) const UPLOT_CSS: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_JS: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("../../assets/uplot/LICENSE");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");

/// What is in a page.
pub(crate) struct HtmlPage<'a> {
    /// Title, not yet escaped.
    pub(crate) title: &'a str,
    /// Whether the window's title has to say that it is simulated.
    pub(crate) is_simulated: bool,
    /// The body, as HTML.
    pub(crate) body: &'a str,
    /// The charts that the body has places for.
    pub(crate) charts: &'a [Chart],
}

/// The whole page.
pub(crate) fn page(page: &HtmlPage<'_>) -> String {
    let simulated = if page.is_simulated { "SIMULATED · " } else { "" };
    let data = serde_json::Value::Array(page.charts.iter().map(json).collect());
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    // Nothing may be loaded from anywhere: what the page shows is in the page, and it tells nobody.
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n",
    );
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    out.push_str(&format!("<title>{simulated}{} · heatsoak</title>\n", escape(page.title)));
    out.push_str(&format!("<style>\n{UPLOT_CSS}\n</style>\n<style>\n{}</style>\n", style()));
    out.push_str("</head>\n<body>\n<main>\n");
    out.push_str(page.body);
    out.push_str("</main>\n");
    out.push_str(&format!(
        "<script type=\"application/json\" id=\"charts\">{}</script>\n",
        script_json(&data)
    ));
    out.push_str(&format!("<script>\n{}\n</script>\n", chart_library()));
    out.push_str(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    out
}

/// The chart library as a script, under its licence.
pub(crate) fn chart_library() -> String {
    format!("/* uPlot 1.6.32\n{}\n*/\n{}", UPLOT_LICENCE.trim_end(), without_banner(UPLOT_JS).trim_end())
}

/// uPlot without its first line, whose address would look like something to load; the licence stands in its place.
fn without_banner(script: &str) -> &str {
    script.find("*/").map_or(script, |end| &script[end + 2..])
}

/// Styles of the report, with the colours of light and dark.
pub(crate) fn style() -> String {
    STYLE.replace("/*INKS-LIGHT*/", &css_variables(false)).replace("/*INKS-DARK*/", &css_variables(true))
}
