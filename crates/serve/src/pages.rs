//! The pages of the server itself: library, live page, login, errors. All text in them is escaped; scripts only add
//! comfort, but for live pages, which move by one.

use report::web::{self, LiveView, WebPage, chart_place, html_text, page_footer, page_header, web_page};

use crate::query::{encoded, value};
use crate::{ServedLibrary, ServedRun, ServedState, live};

/// Rows of a page: what a browser lays out in the blink of an eye.
const PAGE_ROWS: usize = 1000;

const STYLES: [&str; 2] = ["/assets/report.css", "/assets/serve.css"];

/// Columns: the name of the order, and the heading.
const COLUMNS: [(&str, &str); 6] = [
    ("run", "Run"),
    ("drive", "Drive"),
    ("plan", "Plan"),
    ("date", "Date"),
    ("verdict", "Verdict"),
    ("origin", "Origin"),
];

/// The library: the runs that fit `q`, in the order `sort`, at `page`.
pub(crate) fn library(library: &ServedLibrary, query: &str) -> String {
    let wanted = value(query, "q").unwrap_or_default();
    let sort = value(query, "sort").unwrap_or_default();
    let mut runs: Vec<&ServedRun> = library.runs.iter().filter(|run| fits(run, &wanted)).collect();
    order(&mut runs, &sort);
    let pages = runs.len().div_ceil(PAGE_ROWS).max(1);
    let page = value(query, "page").and_then(|page| page.parse().ok()).unwrap_or(1_usize).clamp(1, pages);
    let shown = &runs[(page - 1) * PAGE_ROWS..(page * PAGE_ROWS).min(runs.len())];
    let simulated = library.runs.iter().filter(|run| run.simulated).count();
    let badge = match simulated {
        0 => None,
        all if all == library.runs.len() => Some("SIMULATED (all runs)".to_owned()),
        some => Some(format!("SIMULATED ({some} of {} runs)", library.runs.len())),
    };
    let under_way = library.runs.iter().filter(|run| run.state == ServedState::UnderWay).count();
    let subtitle = match under_way {
        0 => "Tick runs to compare them".to_owned(),
        some => format!("{some} under way · tick runs to compare them"),
    };
    let title = match library.runs.len() {
        1 => "1 run".to_owned(),
        some => format!("{some} runs"),
    };
    let mut body = page_header(&title, badge.as_deref(), &subtitle);
    if let Some(why) = &library.left_out {
        body.push_str(&format!("<p class=\"lead\">{}</p>\n", html_text(why)));
    }
    body.push_str(&search(&wanted, &sort, runs.len()));
    if library.runs.is_empty() {
        body.push_str("<p class=\"lead\">No runs yet. <code>heatsoak run</code> makes one.</p>\n");
    } else {
        body.push_str(&table(shown, &wanted, &sort));
        body.push_str(&turning(page, pages, &wanted, &sort));
    }
    body.push_str(&page_footer());
    web_page(&WebPage {
        title: &title,
        is_simulated: badge.is_some(),
        styles: &STYLES,
        scripts: &["/assets/library.js"],
        body: &body,
        charts: Vec::new(),
    })
}

/// Whether every word of the search stands somewhere in the row.
fn fits(run: &ServedRun, wanted: &str) -> bool {
    let origin = if run.simulated { "simulated" } else { "measured" };
    let row = [&run.folder, &run.drive, &run.plan, &run.verdict, &date(run), &origin.to_owned()];
    let row = row.map(|cell| cell.to_lowercase()).join("\n");
    wanted.to_lowercase().split_whitespace().all(|word| row.contains(word))
}

fn order(runs: &mut [&ServedRun], sort: &str) {
    match sort {
        "run" => runs.sort_by(|a, b| a.folder.cmp(&b.folder)),
        "drive" => runs.sort_by(|a, b| a.drive.cmp(&b.drive)),
        "plan" => runs.sort_by(|a, b| a.plan.cmp(&b.plan)),
        "verdict" => runs.sort_by(|a, b| a.verdict.cmp(&b.verdict)),
        "origin" => runs.sort_by_key(|run| run.simulated),
        // The library's own: under way first, then the latest.
        _ => {}
    }
}

fn search(wanted: &str, sort: &str, found: usize) -> String {
    let found =
        if wanted.is_empty() { String::new() } else { format!("<span class=\"note\">{found} found</span>") };
    format!(
        "<form class=\"search\" action=\"/\" role=\"search\"><input type=\"search\" name=\"q\" value=\"{}\" \
         placeholder=\"Drive, plan, verdict …\" aria-label=\"Search\"><input type=\"hidden\" name=\"sort\" value=\"{}\">\
         <button>Search</button> {found}</form>\n",
        html_text(wanted),
        html_text(sort)
    )
}

fn table(runs: &[&ServedRun], wanted: &str, sort: &str) -> String {
    let mut out = String::from(
        "<form action=\"/compare\" id=\"compare\">\n<p class=\"bar\"><button id=\"go\">Compare ticked runs</button> \
         <span class=\"note\" id=\"ticked\"></span></p>\n\
         <div class=\"scroll\"><table class=\"library cards\"><thead><tr><th scope=\"col\"><span class=\"hidden\">Compare</span></th>",
    );
    for (name, heading) in COLUMNS {
        let is_sorted = name == sort || (name == "date" && !COLUMNS.iter().any(|column| column.0 == sort));
        let sorted = if is_sorted { " aria-sort=\"other\"" } else { "" };
        let link = format!("/?q={}&amp;sort={name}", encoded(wanted));
        out.push_str(&format!("<th scope=\"col\"{sorted}><a href=\"{link}\">{heading}</a></th>"));
    }
    out.push_str("</tr></thead><tbody>\n");
    runs.iter().for_each(|run| out.push_str(&row(run)));
    out.push_str("</tbody></table></div>\n</form>\n");
    out
}

fn row(run: &ServedRun) -> String {
    let name = html_text(&run.folder);
    let page = if run.state == ServedState::UnderWay { "live" } else { "report" };
    let origin = if run.simulated { "SIMULATED" } else { "measured" };
    let verdict = match run.state {
        ServedState::UnderWay => format!("<a class=\"live\" href=\"/run/{}/live\">under way</a>", run.id),
        _ => html_text(&run.verdict),
    };
    format!(
        "<tr><td class=\"tick\"><input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"Compare {name}\"></td>\
         <td data-label=\"Run\"><a href=\"/run/{id}/{page}\">{name}</a></td><td data-label=\"Drive\">{}</td>\
         <td data-label=\"Plan\">{}</td><td data-label=\"Date\">{}</td><td data-label=\"Verdict\">{verdict}</td>\
         <td data-label=\"Origin\">{origin}</td></tr>\n",
        html_text(&run.drive),
        html_text(&run.plan),
        html_text(&date(run)),
        id = run.id,
    )
}

fn turning(page: usize, pages: usize, wanted: &str, sort: &str) -> String {
    if pages == 1 {
        return String::new();
    }
    let link = |to: usize, text: &str| {
        format!("<a href=\"/?q={}&amp;sort={}&amp;page={to}\">{text}</a> ", encoded(wanted), encoded(sort))
    };
    let back = if page > 1 { link(page - 1, "Previous") } else { String::new() };
    let on = if page < pages { link(page + 1, "Next") } else { String::new() };
    format!("<p class=\"note\">Page {page} of {pages}. {back}{on}</p>\n")
}

/// When a run began, in UTC.
fn date(run: &ServedRun) -> String {
    match run.began_unix_s.and_then(|seconds| u64::try_from(seconds).ok()) {
        Some(seconds) => day_and_minute(seconds),
        None if run.simulated => "simulated".to_owned(),
        None => "-".to_owned(),
    }
}

/// `2026-11-22 22:30`, by the civil calendar (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn day_and_minute(unix_s: u64) -> String {
    // Beyond the year 9999 no run was made.
    let unix_s = unix_s.min(253_402_300_799);
    let days = unix_s / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let minute = unix_s / 60 % 1440;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

/// The page of a run that is under way, with what is known now; its script asks for what comes.
pub(crate) fn live(run: &ServedRun, views: &Result<Vec<LiveView>, String>) -> String {
    let empty = Vec::new();
    let (drives, note) = match views {
        Ok(views) => (views, String::new()),
        Err(why) => (&empty, why.clone()),
    };
    let badge = drives.iter().find_map(|view| view.badge.clone());
    let badge = badge.or_else(|| run.simulated.then(|| "SIMULATED".to_owned()));
    let state = match run.state {
        ServedState::UnderWay => "Under way",
        ServedState::Done => "Ended",
        ServedState::Unfinished => "Nobody writes to this run any more",
    };
    let mut body = page_header(&run.folder, badge.as_deref(), state);
    body.push_str(&format!(
        "<p class=\"bar\"><a href=\"/\">All runs</a> · <a href=\"/run/{id}/report\">Report so far</a></p>\n\
         <p class=\"note\" id=\"note\" role=\"status\">{}</p>\n<div id=\"drives\" data-events=\"/run/{id}/events\">\n",
        html_text(&note),
        id = run.id
    ));
    drives.iter().enumerate().for_each(|(at, view)| body.push_str(&drive(at, view)));
    body.push_str("</div>\n<noscript><p>Scripts are off: reload to see what came since.</p></noscript>\n");
    body.push_str(&page_footer());
    web_page(&WebPage {
        title: &format!("{} · live", run.folder),
        is_simulated: badge.is_some(),
        styles: &STYLES,
        scripts: &["/assets/uplot.js", "/assets/charts.js", "/assets/live.js"],
        body: &body,
        charts: drives.iter().map(|view| view.chart.clone()).collect(),
    })
}

fn drive(at: usize, view: &LiveView) -> String {
    let now: String = view
        .now
        .iter()
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>", html_text(name), html_text(value)))
        .collect();
    let sentences: String =
        view.sentences.iter().map(|text| format!("<li>{}</li>", html_text(text))).collect();
    let badge =
        view.badge.as_deref().map(|badge| format!(" <strong class=\"badge\">{}</strong>", html_text(badge)));
    format!(
        "<section class=\"drive\">\n<h2 class=\"name\">{}{}</h2>\n<dl class=\"now\">{now}</dl>\n{}\
         <ul class=\"sentences\">{sentences}</ul>\n</section>\n",
        html_text(&view.title),
        badge.unwrap_or_default(),
        chart_place(&live::chart_id(at), "Speed and temperature"),
    )
}

/// Asks for the token.
pub(crate) fn login(why: &str) -> String {
    let mut body = page_header("heatsoak", None, why);
    body.push_str(
        "<form action=\"/login\" class=\"search\"><input type=\"password\" name=\"token\" aria-label=\"Token\" \
         autocomplete=\"off\" autofocus> <button>Open</button></form>\n",
    );
    page("Token", &body)
}

/// Why there is no page.
pub(crate) fn error(status: u16, why: &str) -> String {
    let mut body = page_header(&status.to_string(), None, why);
    body.push_str("<p><a href=\"/\">All runs</a></p>\n");
    page(&status.to_string(), &body)
}

fn page(title: &str, body: &str) -> String {
    web::web_page(&WebPage {
        title,
        is_simulated: false,
        styles: &STYLES,
        scripts: &[],
        body,
        charts: Vec::new(),
    })
}

#[cfg(test)]
mod test {
    use super::*;

    fn run(folder: &str) -> ServedRun {
        ServedRun {
            id: "0123".to_owned(),
            folder: folder.to_owned(),
            drive: "</td><script>alert(1)</script>".to_owned(),
            plan: "quick".to_owned(),
            began_unix_s: Some(1_795_388_400),
            simulated: true,
            verdict: "none".to_owned(),
            state: ServedState::Done,
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day_and_minute(0), "1970-01-01 00:00");
        assert_eq!(day_and_minute(951_782_400), "2000-02-29 00:00");
        assert_eq!(day_and_minute(1_795_256_400), "2026-11-21 10:20");
        assert_eq!(day_and_minute(u64::MAX), "9999-12-31 23:59");
    }

    #[test]
    fn names_stay_text() {
        let all =
            ServedLibrary { schema: 1, runs: vec![run("\"><img src=x onerror=alert(1)>")], left_out: None };
        let page = library(&all, "q=&sort=%22%3E%3Cb%3E");
        assert!(!page.contains("<img") && !page.contains("<script>alert") && !page.contains("<b>"), "{page}");
        assert!(page.contains("SIMULATED (all runs)"));
        let page = live(&all.runs[0], &Err("</p><script>".to_owned()));
        assert!(!page.contains("</p><script>"), "{page}");
    }

    #[test]
    fn a_search_wants_every_word_and_pages_are_turned() {
        let runs: Vec<ServedRun> = (0..2500).map(|number| run(&format!("run-{number:04}"))).collect();
        let all = ServedLibrary { schema: 1, runs, left_out: None };
        let rows = |query: &str| library(&all, query).matches("<tr><td").count();
        assert_eq!((rows(""), rows("page=3"), rows("page=99"), rows("page=x")), (1000, 500, 500, 1000));
        assert_eq!((rows("q=run-00+quick"), rows("q=run-00+slow")), (100, 0));
    }
}
