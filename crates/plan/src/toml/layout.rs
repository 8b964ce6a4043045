//! A plan's TOML as people read it: one key a line, a heading for each large table, small tables in their line.

use std::fmt::Write;

use toml::{Table, Value};

/// Tables, and lists of tables, that stand under a heading of their own.
const UNDER_A_HEADING: [&str; 7] = ["telemetry", "settings", "sweep", "setting", "phase", "load", "rounds"];

/// The text of a whole document.
pub(super) fn document(table: &Table) -> String {
    let mut out = String::new();
    write_table(&mut out, "", table);
    out
}

fn write_table(out: &mut String, path: &str, table: &Table) {
    let (headed, plain): (Vec<_>, Vec<_>) =
        table.iter().partition(|(key, _)| UNDER_A_HEADING.contains(&key.as_str()));
    for (key, value) in plain {
        // Writing to a String cannot fail.
        let _ = match value {
            Value::Array(list) if list.iter().all(Value::is_str) => {
                let lines: String = list.iter().map(|text| format!("    {text},\n")).collect();
                writeln!(out, "{key} = [\n{lines}]")
            }
            value => writeln!(out, "{key} = {value}"),
        };
    }
    for (key, value) in headed {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let (tables, open, close) = match value {
            Value::Array(tables) => (tables.as_slice(), "[[", "]]"),
            table => (std::slice::from_ref(table), "[", "]"),
        };
        for table in tables.iter().filter_map(Value::as_table) {
            let _ = writeln!(out, "\n{open}{path}{close}");
            write_table(out, &path, table);
        }
    }
}
