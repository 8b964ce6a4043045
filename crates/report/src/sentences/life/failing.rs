//! A drive that says that it fails: its data come before every measurement.

use analysis::life::Life;

use super::thousands;

/// What is said of a drive whose own test of itself fails.
pub(super) const FAILED: &str = "The drive's SMART status is FAILED.";

/// "17 media or data integrity errors so far."
pub(super) fn media_errors(errors: f64) -> String {
    let s = if errors == 1.0 { "" } else { "s" };
    format!("{} media or data integrity error{s} so far.", thousands(errors))
}

/// What to do before everything else, and instead of any load, where a drive says that it fails.
pub(crate) fn save_first(life: &Life) -> Option<String> {
    const TOLD: &str = "Save the data on this drive and replace it: it reports that it is failing. Run no load on it: writes use up the spare capacity that is left.";
    life.is_failing().then(|| TOLD.to_owned())
}

#[cfg(test)]
mod test {
    use analysis::life::LifeWarning;

    use super::super::life;
    use super::super::test::{empty, of};
    use super::*;

    /// Goal: a drive that fails is saved and not loaded, and one that does not is not called failing. Method: each sign alone.
    #[test]
    fn a_failing_drive_is_saved_first() {
        let healthy = || of(empty(), None);
        let warns = |warning: LifeWarning| Life { warnings: vec![warning], ..healthy() };
        let spare =
            |left: f64| Life { spare_percent: Some(left), spare_threshold_percent: Some(10.0), ..healthy() };
        let failing = [
            warns(LifeWarning::Spare),
            warns(LifeWarning::Reliability),
            warns(LifeWarning::ReadOnly),
            spare(5.0),
            Life { has_failed: true, ..healthy() },
        ];
        for life in &failing {
            let told = save_first(life).expect("it fails");
            assert!(told.starts_with("Save the data on this drive and replace it"), "{told}");
        }
        for life in [healthy(), warns(LifeWarning::Temperature), spare(10.0)] {
            assert_eq!(save_first(&life), None);
        }
        assert_eq!(life(&failing[4])[0], FAILED);
        let worn = Life { media_errors: Some(17.0), ..healthy() };
        assert_eq!(life(&worn)[0], "17 media or data integrity errors so far.");
    }
}
