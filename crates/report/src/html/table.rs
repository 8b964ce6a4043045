//! Tables.

use super::escape;
use crate::chart::ChartTable;
use crate::format;

/// Numbers, folded away, with a button that copies them as CSV.
pub(crate) fn number_table(id: &str, table: &ChartTable) -> String {
    let mut out = format!(
        "<details class=\"data\"><summary>The data as a table ({})</summary>\n\
         <p class=\"note\">{}. <button type=\"button\" class=\"copy\" data-table=\"{id}-table\">Copy as CSV</button></p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Data table\"><table id=\"{id}-table\" class=\"numbers\"><thead><tr>",
        rows(table.rows.len()),
        escape(&table.caption)
    );
    for (name, _) in &table.columns {
        out.push_str(&format!("<th scope=\"col\">{}</th>", escape(name)));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (value, (_, decimals)) in row.iter().zip(&table.columns) {
            out.push_str(&format!("<td>{}</td>", format::cell(*value, *decimals)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></details>\n");
    out
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }
}

/// Text in rows. Each cell names its column, so that a narrow page can show a row as a card (`cards` in `class`).
pub(crate) fn text_table(class: &str, headers: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!("<div class=\"scroll\"><table class=\"{class}\"><thead><tr>");
    for header in headers {
        out.push_str(&format!("<th scope=\"col\">{}</th>", escape(header)));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (cell, header) in row.iter().zip(headers) {
            out.push_str(&format!("<td data-label=\"{}\">{}</td>", escape(header), escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}
