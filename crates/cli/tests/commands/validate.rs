//! `heatsoak validate`.

use crate::support::Scratch;

/// Goal: scripts get one document with the promised fields, an exit code that tells whether all rows hold,
/// and nothing that could be taken for measurements of a real drive.
#[test]
fn the_json_has_every_row_and_the_exit_code_says_whether_all_hold() {
    let done = Scratch::new().run(&["validate", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("one JSON document");
    assert_eq!(document["simulated"], true);
    let rows = document["rows"].as_array().expect("a list");
    for row in rows {
        for text in ["id", "stated", "reproduced", "tolerance"] {
            assert!(row[text].as_str().is_some_and(|text| !text.is_empty()), "{text} of {row}");
        }
        assert!(row["holds"].is_boolean() && row["used_to_set_parameters"].is_boolean(), "{row}");
    }
    let id = |id: &str| rows.iter().any(|row| row["id"] == id);
    for row in ["A1", "B9", "C4", "D10", "P ent-u3-gen3 PS7"] {
        assert!(id(row), "{row} is missing");
    }
    let all = rows.iter().all(|row| row["holds"] == true);
    assert_eq!(done.code, Some(if all { 0 } else { 1 }));
    assert!(done.stderr.contains("[5/5]"), "no progress in {:?}", done.stderr);
}
