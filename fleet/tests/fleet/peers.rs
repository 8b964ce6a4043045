//! DuckDB and Polars doing the same in one query: the queries of docs/FLEET.md, on rows without resets and swaps.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::{Folder, number, text};

/// The queries as they stand in the document, so that they cannot rot.
fn documented(language: &str) -> String {
    let document = include_str!("../../../docs/FLEET.md");
    let begin = format!("```{language}\n{}", if language == "sql" { "-- DuckDB" } else { "# Polars" });
    let (_, rest) = document.split_once(&begin).expect("the query is in the document");
    let (query, _) = rest.split_once("```").expect("a fence");
    query.trim_start_matches(|c| c != '\n').to_owned()
}

#[test]
fn duckdb_and_polars_count_the_same_seconds() {
    // Without it the test says so and passes: the referee is not part of the build.
    let Some(python) = std::env::var_os("HEATSOAK_PYTHON") else {
        println!("left out: HEATSOAK_PYTHON names no Python with duckdb and polars");
        return;
    };
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 240 --every 60s --span 12h --hot 0.2 --seed 31").good();
    folder.run("scan fleet/rows --out scan").good();
    let mut ours: BTreeMap<String, f64> = BTreeMap::new();
    let mut disturbed: Vec<String> = Vec::new();
    for row in folder.table("scan/drives.parquet") {
        let serial = text(&row, "serial");
        if number(&row, "resets") + number(&row, "moves") + number(&row, "implausible") > 0.0 {
            disturbed.push(serial.clone());
        }
        if text(&row, "verdict") == "throttled" {
            let seconds = (number(&row, "throttled_h") + number(&row, "throttled_in_gaps_h")) * 3600.0;
            *ours.entry(serial).or_default() += seconds.round();
        }
    }
    let script = format!(
        "import duckdb, json, polars\nduck = {{r[0]: float(r[1]) for r in duckdb.sql('''{}''').fetchall()}}\n\
         print(json.dumps(duck))\n",
        documented("sql").trim().trim_end_matches(';')
    );
    let theirs = answer(&python, &script, &folder);
    let script = documented("python").replace("print(", "answer = (")
        + "\nimport json\nprint(json.dumps({r['serial']: float(r['s']) for r in answer.iter_rows(named=True)}))\n";
    let polars = answer(&python, &script, &folder);
    for (name, theirs) in [("DuckDB", theirs), ("Polars", polars)] {
        let same = |map: &BTreeMap<String, f64>| -> BTreeMap<String, f64> {
            map.iter()
                .filter(|(serial, _)| !disturbed.contains(serial))
                .map(|(s, h)| (s.clone(), *h))
                .collect()
        };
        assert!(same(&ours).len() > 10, "{}", ours.len());
        assert_eq!(same(&ours), same(&theirs), "{name}");
    }
}

fn answer(python: &std::ffi::OsStr, script: &str, folder: &Folder) -> BTreeMap<String, f64> {
    let output = Command::new(python)
        .args(["-c", script])
        .current_dir(folder.path(""))
        .output()
        .expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
