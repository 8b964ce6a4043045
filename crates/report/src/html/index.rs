//! The page of a run library: a row a run, with a link to its report beside it on disk.

use super::{HtmlPage, escape, page, sections};

/// A run of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedRun {
    /// Its folder, from the page.
    pub name: String,
    /// Its report, from the page; `None` where there is none.
    pub report: Option<String>,
    /// The drive.
    pub drive: String,
    /// The plan.
    pub plan: String,
    /// When it was made.
    pub date: String,
    /// What came of it, in a few words.
    pub verdict: String,
    /// Whether the drive was simulated.
    pub simulated: bool,
}

/// The page. It loads nothing; its links lead to the reports of the runs.
pub fn index_html(runs: &[IndexedRun]) -> String {
    let simulated = runs.iter().filter(|run| run.simulated).count();
    let badge = match simulated {
        0 => None,
        all if all == runs.len() => Some("SIMULATED (all runs)".to_owned()),
        some => Some(format!("SIMULATED ({some} of {} runs)", runs.len())),
    };
    let title = format!("{} runs", runs.len());
    let mut body = sections::header(&title, badge.as_deref(), "The reports are beside this page");
    body.push_str("<section>\n<div class=\"scroll\"><table class=\"library cards\"><thead><tr>");
    for header in HEADERS {
        body.push_str(&format!("<th scope=\"col\">{header}</th>"));
    }
    body.push_str("</tr></thead><tbody>\n");
    runs.iter().for_each(|run| body.push_str(&row(run)));
    body.push_str("</tbody></table></div>\n</section>\n");
    body.push_str(&sections::footer(None));
    page(&HtmlPage { title: &title, is_simulated: badge.is_some(), body: &body, charts: &[] })
}

const HEADERS: [&str; 6] = ["Run", "Drive", "Plan", "Date", "Verdict", "Origin"];

fn row(run: &IndexedRun) -> String {
    let name = match &run.report {
        Some(report) => format!("<a href=\"{}\">{}</a>", escape(&as_reference(report)), escape(&run.name)),
        None => escape(&run.name),
    };
    let origin = if run.simulated { "SIMULATED" } else { "measured" };
    let cells = [&run.drive, &run.plan, &run.date, &run.verdict].map(|cell| escape(cell));
    let others: String = cells
        .iter()
        .zip(&HEADERS[1..])
        .map(|(cell, header)| format!("<td data-label=\"{header}\">{cell}</td>"))
        .collect();
    format!("<tr><td data-label=\"Run\">{name}</td>{others}<td data-label=\"Origin\">{origin}</td></tr>\n")
}

/// A path as a relative reference (RFC 3986, 4.2): nothing in it can be read as a scheme, a query or a fragment.
fn as_reference(path: &str) -> String {
    let mut out = String::from("./");
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_folders_name_cannot_become_another_address() {
        assert_eq!(as_reference("a b/r#1?.html"), "./a%20b/r%231%3F.html");
        assert_eq!(as_reference("javascript:alert(1)"), "./javascript%3Aalert%281%29");
    }
}
