//! The table can fail: a profile that is bent does not reproduce what is stated of it.

use super::rig::Rig;
use super::row::Row;
use super::{Experiment, RowResult, hctm, power, qlc, usb, validate};
use physics::profile::{Machine, Profile};

fn failing(part: Experiment, bend: &dyn Fn(&mut Profile)) -> Vec<String> {
    let results = part(&Rig::bent(bend)).into_iter().map(Row::result);
    results.filter(|row| !row.holds).map(|row| row.id).collect()
}

/// Rows that do not hold, as docs/VALIDATION.md explains them; a change here is news.
const OPEN: [&str; 3] = ["B8", "P nvme-2tb-gen3", "P ent-u3-gen3 PS4"];

/// Goal: the document shows what the code does, and a row that turns is noticed.
/// Method: run everything, compare with the document's table. Bound: no byte differs.
#[test]
fn the_document_has_the_table_and_explains_what_does_not_hold() {
    let validation = validate();
    let open: Vec<&str> =
        validation.rows.iter().filter(|row| !row.holds).map(|row| row.id.as_str()).collect();
    assert_eq!(open, OPEN);
    let document = include_str!("../../../docs/VALIDATION.md");
    let table = validation.table();
    assert!(document.contains(&table), "put this into docs/VALIDATION.md:\n{table}");
    for id in OPEN {
        assert!(document.contains(&format!("- **{id}**")), "{id} is not explained");
    }
}

/// A table in which every parameter was set from the row it explains would show nothing. Predictions are a quarter of
/// the rows: whether a row set a number is told by the profiles, and not by how many there ought to be.
#[test]
fn a_quarter_of_the_rows_are_predictions_and_nine_tenths_hold() {
    let rows = validate().rows;
    let count = |of: fn(&RowResult) -> bool| rows.iter().filter(|row| of(row)).count();
    assert_eq!(count(|row| !row.used_to_set_parameters), 18);
    assert!(10 * count(|row| row.holds) >= 9 * rows.len());
}

/// Each bend breaks the row that it should, beyond those that do not hold anyway.
#[test]
fn a_bent_profile_breaks_its_row() {
    type Bend = fn(&mut Profile);
    let cases: [(&str, Experiment, Bend); 9] = [
        ("A2", hctm::ssd1, |p| p.media.sequential_write.bytes_per_s *= 1.1),
        ("A5", hctm::ssd1, |p| p.thermal.ambient_c -= 8.0),
        ("C1", usb::rows, |p| p.thermal.node[0].outward_k_per_w *= 0.2),
        ("C2", usb::rows, |p| p.thermal.airflow = 1.0),
        ("D3", qlc::rows, |p| {
            if let Some(slc) = &mut p.slc {
                slc.direct_write.bytes_per_s *= 1.2;
            }
        }),
        ("D5", qlc::rows, |p| p.housekeeping = None),
        ("P hdd-nas-14tb", power::rows, |p| p.power.start_up = None),
        ("P ent-u3-gen3 PS5", power::rows, |p| p.power.read_wait_w = 0.0),
        ("P ent-u3-gen4 PS6", power::rows, |p| p.power.write_w_per_gb_per_s *= 1.4),
    ];
    for (id, part, bend) in cases {
        let failing = failing(part, &bend);
        assert!(failing.iter().any(|row| row == id), "{id} still holds; {failing:?} do not");
    }
}

/// Without the machine at TMT1, both drives break the rows that show it.
#[test]
fn rows_of_throttling_need_the_throttle() {
    let without = |profile: &mut Profile| {
        profile.policy.retain(|policy| !matches!(policy.machine, Machine::Relay(_) | Machine::DutyCycled(_)));
    };
    let failing = [failing(hctm::ssd1, &without), failing(hctm::ssd2, &without)].concat();
    for id in ["A3", "A5", "A6", "B8"] {
        assert!(failing.iter().any(|row| row == id), "{id} still holds; {failing:?} do not");
    }
}

/// Every part runs on any drive that can be: on one too cool to throttle rows do not hold, and nothing breaks.
#[test]
fn a_drive_that_never_throttles_breaks_rows_and_nothing_else() {
    let cool = |profile: &mut Profile| profile.thermal.ambient_c = -40.0;
    let failing: Vec<String> =
        [hctm::ssd1, hctm::ssd2, usb::rows].into_iter().flat_map(|part| failing(part, &cool)).collect();
    for id in ["A3", "A5", "A6", "B4", "B9", "C1"] {
        assert!(failing.iter().any(|row| row == id), "{id} holds; {failing:?} do not");
    }
}

#[test]
fn a_row_without_quantities_does_not_hold() {
    let RowResult { holds, .. } = Row::new("X", "", false, "", "", Vec::new()).result();
    assert!(!holds);
}
