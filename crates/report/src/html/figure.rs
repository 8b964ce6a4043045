//! A chart in a page: the place for the script, the static drawing, the table.

use super::{escape, number_table};
use crate::chart::{Chart, Frame, svg};

/// The figure. The script draws into it by the chart's id and hides the static drawing on screens.
pub(crate) fn figure(chart: &Chart, title: &str, badge: Option<&str>) -> String {
    let is_main = chart.lines.iter().any(|line| line.side == crate::chart::AxisSide::Right);
    let height = if is_main { 470.0 } else { 300.0 };
    let drawing = svg(chart, &Frame { width: 980.0, height, title: Some(title), badge, standalone: false });
    format!(
        "<figure id=\"{id}\">\n<figcaption><h2>{}</h2></figcaption>\n\
         <div class=\"legend\" role=\"group\" aria-label=\"Lines of the chart: show or hide\"></div>\n\
         <div class=\"plot\" data-height=\"{height}\" role=\"img\" aria-label=\"{}\"></div>\n\
         <div class=\"drawing\">{drawing}</div>\n\
         <p class=\"note\">{}<span class=\"help\"> Drag to zoom, double-click to see all.</span></p>\n{}</figure>\n",
        escape(&chart.title),
        escape(&chart.alt),
        escape(&chart.note),
        number_table(&chart.id, &chart.table),
        id = chart.id,
    )
}

/// The title within a drawing that goes without a script: a picture that is cut out says that it is simulated.
pub(super) fn title(what: &str, badge: Option<&str>) -> String {
    badge.map_or_else(|| what.to_owned(), |badge| format!("{what} · {badge}"))
}
