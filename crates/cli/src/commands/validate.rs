//! `heatsoak validate`: the published experiments on simulated drives, row by row.
//!
//! The rows, their bounds and their verdicts are the twin's; here they are only shown.

use std::fmt::Write as _;

use validation::{RowResult, Validation, validate_with};

use crate::Exit;
use crate::args::ValidateArgs;
use crate::printer::Printer;

/// What stands before a row's text.
const INDENT: &str = "    ";
/// Wider lines are hard to read.
const WIDTH_MAX: usize = 120;

/// Runs every row and shows what came of it.
pub(crate) fn execute(args: &ValidateArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let validation = validate_with(&mut |number, count, name| {
        if !args.quiet {
            printer.progress(&format!("[{number}/{count}] {name}"));
        }
    });
    if args.json {
        printer.json(&validation)?;
    } else {
        printer.data(&text(&validation, printer.data_width().min(WIDTH_MAX)))?;
    }
    Ok(if validation.holds() { Exit::Done } else { Exit::DoesNotHold })
}

fn text(validation: &Validation, width: usize) -> String {
    let mut text = String::from(
        "Published experiments on SIMULATED drives: stated, then reproduced with the bounds fixed beforehand\n\n",
    );
    for row in &validation.rows {
        let verdict = if row.holds { "holds" } else { "DOES NOT HOLD" };
        let _ = writeln!(text, "{}: {verdict} ({})", row.id, used(row));
        put(&mut text, width, &row.stated);
        let quantities: Vec<String> = row
            .quantities
            .iter()
            .map(|q| format!("{} {} ({}{})", q.what, q.shown, if q.holds { "" } else { "NOT " }, q.bounds))
            .collect();
        put(&mut text, width, &quantities.join("; "));
    }
    let failing: Vec<&RowResult> = validation.rows.iter().filter(|row| !row.holds).collect();
    if !failing.is_empty() {
        text.push_str("\nRows that do not hold, and why (docs/VALIDATION.md has more):\n");
        for row in failing {
            put(&mut text, width, &format!("{}: {}", row.id, row.why));
        }
        let sentence = "The bounds were fixed before the runs and are not widened to make a row pass, so these rows stay \
                        and the exit code is 1. Nothing is wrong with this installation.";
        text.push('\n');
        for line in textwrap::wrap(sentence, width) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text, "\n{}", validation.counts());
    text
}

/// Whether the row is evidence.
const fn used(row: &RowResult) -> &'static str {
    if row.used_to_set_parameters { "used to set parameters" } else { "predicted" }
}

/// A paragraph, indented.
fn put(text: &mut String, width: usize, body: &str) {
    let options =
        textwrap::Options::new(width).initial_indent(INDENT).subsequent_indent(INDENT).break_words(false);
    for line in textwrap::wrap(body, options) {
        let _ = writeln!(text, "{line}");
    }
}

#[cfg(test)]
mod test {
    use validation::QuantityResult;

    use super::*;

    /// Goal: the reader sees what was asked, what came of it, and which number is to blame.
    #[test]
    fn a_row_shows_each_number_with_its_bounds() {
        let quantity = QuantityResult {
            what: "hottest".to_owned(),
            unit: "°C".to_owned(),
            got: 71.0,
            least: None,
            most: Some(70.0),
            holds: false,
            shown: "71 °C".to_owned(),
            bounds: "70 or less °C".to_owned(),
        };
        let row = RowResult {
            id: "X1".to_owned(),
            stated: "never above 70 °C".to_owned(),
            reproduced: String::new(),
            tolerance: String::new(),
            holds: false,
            used_to_set_parameters: false,
            why: "because".to_owned(),
            quantities: vec![quantity],
        };
        let shown = text(&Validation { schema: 1, simulated: true, rows: vec![row] }, 80);
        for part in [
            "SIMULATED",
            "X1: DOES NOT HOLD (predicted)\n    never above 70 °C\n    hottest 71 °C (NOT 70 or less °C)\n",
            "X1: because",
            "0 of 1 rows hold. 1 rows set no parameter; 0 of these hold.",
        ] {
            assert!(shown.contains(part), "{part:?} is missing in:\n{shown}");
        }
    }
}
