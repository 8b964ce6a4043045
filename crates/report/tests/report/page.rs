//! The pages and drawings: parse without an error, load nothing, say what is simulated, have every chart as a table.

use analysis::findings::{Caveat, Event, Segment};
use measure::record::Op;
use report::view::{MeanInterval, Provenance};
use report::{Comparison, ReportInput, html, svg};
use scraper::{Html, Selector};

use crate::scene;

/// Every page of the scenes: (name, page).
fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("vendor", html(&scene::vendor())),
        ("relay", html(&scene::relay())),
        ("mixed", html(&scene::mixed())),
        ("empty", html(&empty())),
        ("compare", compare_html(&scene::sweep())),
        ("compare nothing", compare_html(&[])),
        ("compare one", compare_html(&[scene::mixed()])),
    ]
}

fn compare_html(runs: &[ReportInput]) -> String {
    report::compare_html(&Comparison { runs, baseline: 0, joint: &[], remarks: &[] })
}

/// A log that holds nothing at all.
fn empty() -> ReportInput {
    let mut run = scene::mixed();
    run.speed.clear();
    run.latency.clear();
    run.temperature.clear();
    run.power.clear();
    run.phases.clear();
    run.facts.clear();
    run.findings.segments.clear();
    run.findings.events.clear();
    run
}

fn selector(text: &str) -> Selector {
    Selector::parse(text).expect("a selector")
}

fn texts(page: &Html, what: &str) -> Vec<String> {
    page.select(&selector(what)).map(|element| element.text().collect::<String>()).collect()
}

#[test]
fn pages_parse_without_an_error() {
    for (name, text) in pages() {
        let page = Html::parse_document(&text);
        assert!(page.errors.is_empty(), "{name}: {:?}", page.errors);
    }
}

/// Goal: the page works from a disk without a network. Method: whatever could load is looked for by name.
#[test]
fn pages_load_nothing() {
    for (name, text) in pages() {
        for address in ["http:", "https:", "//cdn", "url(", "@import", "src="] {
            assert!(!text.contains(address), "{name} holds {address}");
        }
        let page = Html::parse_document(&text);
        for element in
            page.select(&selector("[src], [href], [srcset], [data], [action], link, iframe, object"))
        {
            let target = element.value().attr("href").unwrap_or_default();
            assert!(target.starts_with('#'), "{name}: {:?}", element.value());
        }
        let policy = page.select(&selector("meta[http-equiv=Content-Security-Policy]")).next();
        let content = policy.and_then(|meta| meta.value().attr("content")).unwrap_or_default();
        assert!(content.starts_with("default-src 'none';"), "{name}: {content}");
    }
}

#[test]
fn every_chart_has_its_data_as_a_table_and_a_text_alternative() {
    for (name, text) in pages() {
        let page = Html::parse_document(&text);
        let data = texts(&page, "script#charts").concat();
        let charts: Vec<serde_json::Value> = serde_json::from_str(&data).expect("JSON");
        for still in page.select(&selector("figure.still")) {
            let drawing = still.select(&selector("svg[role=img][aria-label]")).next().expect("a drawing");
            assert!(drawing.value().attr("aria-label").is_some_and(|label| label.len() > 20), "{name}");
        }
        let figures: Vec<_> = page.select(&selector("figure:not(.still)")).collect();
        assert_eq!(charts.len(), figures.len(), "{name}");
        for (chart, figure) in charts.iter().zip(&figures) {
            assert_eq!(chart["id"].as_str(), figure.value().attr("id"), "{name}");
            let plot =
                figure.select(&selector("[role=img][aria-label]")).next().expect("a place for the chart");
            assert!(plot.value().attr("aria-label").is_some_and(|label| label.len() > 20), "{name}");
            let columns = figure.select(&selector("table.numbers thead th")).count();
            let cells = figure.select(&selector("table.numbers tbody td")).count();
            let lines = chart["lines"].as_array().expect("lines");
            assert_eq!(cells > 0, !lines.is_empty(), "{name}");
            // A line a column at least: single intervals share the columns of their means.
            let bold = lines.iter().filter(|line| line["stroke"] != "thin").count();
            assert!(columns > bold || lines.is_empty(), "{name}: {columns} columns for {bold} lines");
            for line in lines {
                let (t, v) = (line["t"].as_array().expect("times"), line["v"].as_array().expect("values"));
                assert!(t.len() == v.len() && t.len() <= 4000, "{name}: {} points", t.len());
                assert!(t.iter().all(serde_json::Value::is_number), "{name}");
            }
        }
    }
}

/// Goal: the table is the data. Method: constant speeds, whose means are known.
#[test]
fn the_table_holds_what_was_measured() {
    let mut run = scene::mixed();
    for (series, rate) in run.speed.iter_mut().zip([4.0e8, 6.0e8]) {
        series.intervals.iter_mut().for_each(|interval| interval.value = rate);
    }
    let page = Html::parse_document(&html(&run));
    let headers = texts(&page, "#speed-temperature-table th");
    let find = |name: &str| headers.iter().position(|header| header == name).expect("a column");
    let cells: Vec<String> = texts(&page, "#speed-temperature-table tbody tr:nth-child(43) td");
    assert_eq!(cells[find("time (s)")], "42");
    assert_eq!(cells[find("read mean (MB/s)")], "400.0");
    assert_eq!(cells[find("write mean (MB/s)")], "600.0");
    let phases = texts(&page, "table.phases tbody td");
    assert_eq!(phases[..3], ["mixed", "read", "400 MB/s"], "reads and writes are never averaged together");
    let write = phases.iter().position(|cell| cell == "write").expect("a row of its own");
    assert_eq!(phases[write + 1], "600 MB/s");
}

#[test]
fn a_simulated_run_says_so_wherever_it_is_shown() {
    let page = Html::parse_document(&html(&scene::vendor()));
    assert!(texts(&page, "title").concat().starts_with("SIMULATED"));
    assert!(texts(&page, "h1").concat().contains("SIMULATED (profile ssd1, seed 1)"));
    assert_eq!(page.select(&selector("figure")).count(), texts(&page, "figure svg").len());
    assert!(texts(&page, "figure svg").iter().all(|drawing| drawing.contains("SIMULATED")));
    assert!(svg(&scene::vendor()).contains("SIMULATED (profile ssd1, seed 1)"));
    assert!(!html(&scene::relay()).contains("SIMULATED"));

    // A log that does not know, with findings that do.
    let mut log = scene::vendor();
    log.source = Provenance::Unknown;
    assert!(texts(&Html::parse_document(&html(&log)), "h1").concat().contains("SIMULATED"));

    let mut sweep = scene::sweep();
    sweep.push(scene::vendor());
    let page = Html::parse_document(&compare_html(&sweep));
    assert!(texts(&page, "h1").concat().contains("SIMULATED (1 of 4 runs)"));
    assert!(texts(&page, "table.aliases tbody tr:last-child td")[3].contains("SIMULATED"));
}

/// Goal: a drive's model name cannot become part of the page.
#[test]
fn hostile_text_stays_text() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&amp;<!--]]>\u{0}\u{1b}[2J";
    let mut run = scene::vendor();
    run.drive = evil.into();
    run.plan = Some(evil.into());
    run.source = Provenance::Simulated { profile: evil.into(), seed: 1 };
    run.notes = vec![evil.into()];
    run.ending = Some(evil.into());
    run.phases[0].name = evil.into();
    run.temperature[0].name = evil.into();
    run.settings.0.push((evil.into(), evil.into()));
    run.settings.0.insert(0, ("drive".into(), evil.into()));
    run.facts[0].facts.push((evil.into(), evil.into()));
    run.reproduce.files.push((evil.into(), evil.into()));
    run.findings.caveats = vec![Caveat::PageCache { phases: vec![evil.into()] }];
    for text in [html(&run), compare_html(&[run.clone(), scene::relay()])] {
        let page = Html::parse_document(&text);
        assert!(page.errors.is_empty(), "{:?}", page.errors);
        assert_eq!(page.select(&selector("script")).count(), 3);
        assert_eq!(page.select(&selector("img, [onerror]")).count(), 0);
        assert!(texts(&page, "h1, .aliases, .compare").concat().contains("<img src=x onerror=alert(1)>"));
    }
    let drawing = svg(&run);
    roxmltree::Document::parse(&drawing).expect("XML whatever the names are");
}

#[test]
fn drawings_are_xml_with_their_title() {
    for run in [scene::vendor(), scene::relay(), scene::mixed(), empty()] {
        let drawing = svg(&run);
        let document = roxmltree::Document::parse(&drawing).expect("XML");
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(document.descendants().any(|node| node.text() == Some(&run.title())));
        assert!(drawing.len() < 200_000, "{}", drawing.len());
    }
}

/// Goal: pages stay light however long the run was. Method: a day of 100 ms intervals with one stall in it.
#[test]
fn a_day_is_no_larger_than_ten_minutes() {
    let ten_minutes = html(&scene::relay());
    assert!(ten_minutes.len() < 1_000_000, "{}", ten_minutes.len());

    let mut run = scene::relay();
    let stall = 500_001u32;
    let interval = |tick: u32| MeanInterval {
        start_s: f64::from(tick) / 10.0,
        span_s: 0.1,
        value: if tick == stall { 0.0 } else { 2.0e9 + f64::from(tick % 7) * 1e6 },
    };
    run.speed[0].intervals = (0..864_000).map(interval).collect();
    run.temperature[0].points = (0..86_400).map(|s| (f64::from(s), Some(40.0 + f64::from(s % 30)))).collect();
    let page = html(&run);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains("lowest and highest of neighbouring intervals of 100 ms"));
    let parsed = Html::parse_document(&page);
    let charts: Vec<serde_json::Value> =
        serde_json::from_str(&texts(&parsed, "script#charts").concat()).expect("JSON");
    let thin = charts[0]["lines"].as_array().expect("lines").iter().find(|line| line["stroke"] == "thin");
    let values = thin.expect("single intervals")["v"].as_array().expect("values");
    assert!(
        values.iter().any(|value| value.as_f64() == Some(0.0)),
        "the stall of 100 ms is still to be seen"
    );
    assert_eq!(run.speed[0].op, Op::Write);
}

/// Goal: a page that a browser opens, of a month of cycles. Method: the same scene with a hundred and with a hundred
/// thousand events and segments.
#[test]
fn a_month_of_cycles_is_a_page_of_the_usual_size() {
    let with = |cycles: usize| {
        let mut run = scene::relay();
        let span_s = 600.0 / cycles as f64;
        let (event, segment) = (run.findings.events[0].clone(), run.findings.segments[0].clone());
        let at = |n: usize| span_s * n as f64;
        run.findings.events = (0..cycles).map(|n| Event { t_s: at(n), ..event.clone() }).collect();
        run.findings.segments =
            (0..cycles).map(|n| Segment { start_s: at(n), end_s: at(n + 1), ..segment.clone() }).collect();
        html(&run)
    };
    let (few, many) = (with(100), with(100_000));
    assert!(many.len() < few.len() + 2_000_000, "{} bytes after {}", many.len(), few.len());
    assert!(few.contains("All 100 events"), "all are there");
    assert!(many.contains("The first 1000 of 100000 events"), "what is left out is said");
    assert!(many.contains("more like it follow within"), "marks stand for others");
}
