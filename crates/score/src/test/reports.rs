//! Reports of a small part of the corpus; `score agree` has all of it.

use crate::reports::look;

#[test]
fn no_two_places_of_a_report_disagree() {
    for foreign in [false, true] {
        let seen = look(foreign, 30);
        assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
        assert!(seen.compared > 60, "{} figures in {} reports", seen.compared, seen.reports);
    }
}
