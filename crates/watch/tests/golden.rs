//! The page of metrics, rules and dashboard against the table of metrics: none names what there is not.

use std::fs;
use std::path::Path;

use watch::metrics::{INFO, METRICS, MetricType, OWN, metrics_reference};

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every name of a metric in a text.
fn named(text: &str) -> Vec<&str> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.split(|c| !letters(c)).filter(|word| word.starts_with("heatsoak_")).collect()
}

fn known(name: &str) -> bool {
    METRICS.iter().any(|metric| metric.name == name) || OWN.iter().any(|own| own.0 == name) || name == INFO.0
}

/// `HEATSOAK_WRITE=1` writes the table anew.
#[test]
fn the_page_of_metrics_is_that_of_the_table() {
    let path = "docs/METRICS.md";
    let page = text(path);
    let (begin, end) = ("<!-- table of metrics -->\n", "<!-- end of the table -->");
    let (head, rest) = page.split_once(begin).expect("the table's begin");
    let (table, tail) = rest.split_once(end).expect("the table's end");
    if std::env::var_os("HEATSOAK_WRITE").is_some() {
        let page = format!("{head}{begin}{}{end}{tail}", metrics_reference());
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path), page)
            .expect("space on disk");
        return;
    }
    assert_eq!(
        table,
        metrics_reference(),
        "HEATSOAK_WRITE=1 cargo test --workspace --test golden metrics writes it"
    );
}

#[test]
fn rules_and_dashboard_name_metrics_that_there_are() {
    for path in [
        "packaging/examples/heatsoak.rules.yml",
        "packaging/examples/heatsoak-dashboard.json",
        "docs/METRICS.md",
    ] {
        for name in named(&text(path)) {
            assert!(known(name), "{path}: {name}");
        }
    }
}

/// Prometheus' own rules, as promtool has them: `_total` on counters and nowhere else, base units, no type in a name.
#[test]
fn names_keep_to_the_conventions() {
    for metric in METRICS {
        let is_counter = metric.metric_type == MetricType::Counter;
        assert_eq!(is_counter, metric.name.ends_with("_total"), "{}", metric.name);
        assert!(metric.help.ends_with('.') && !metric.help.contains('\n'), "{}", metric.name);
        for part in ["ms", "us", "mb", "kelvin", "gauge", "counter", "percent"] {
            assert!(metric.name.split('_').all(|word| word != part), "{}", metric.name);
        }
    }
}

/// dashboard-linter's rules: a templated data source, job and instance; title, description and unit of each panel; a rate
/// on each counter.
#[test]
fn the_dashboard_keeps_to_the_rules_of_dashboards() {
    let dashboard: serde_json::Value =
        serde_json::from_str(&text("packaging/examples/heatsoak-dashboard.json")).expect("JSON");
    let variables: Vec<&str> = dashboard["templating"]["list"]
        .as_array()
        .expect("variables")
        .iter()
        .filter_map(|v| v["name"].as_str())
        .collect();
    assert_eq!(variables, ["datasource", "job", "instance", "drive"]);
    for panel in dashboard["panels"].as_array().expect("panels") {
        let told = |key: &str| panel[key].as_str().is_some_and(|text| !text.is_empty());
        assert!(told("title") && told("description"), "{panel}");
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{panel}");
        for target in panel["targets"].as_array().expect("targets") {
            let expr = target["expr"].as_str().expect("a query");
            assert!(expr.contains("$instance") && expr.contains("$job"), "{expr}");
            for name in named(expr).into_iter().filter(|name| name.ends_with("_total")) {
                assert!(expr.contains(&format!("rate({name}")), "{expr}");
            }
        }
    }
}
