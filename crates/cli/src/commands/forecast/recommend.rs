//! `heatsoak recommend`: what to set, and what it brings.

use ::fit::load;
use ::fit::recommend::{Advice, Bounds, Goal, recommend};
use measure::{BytesPerSec, Celsius};

use super::{asked, predict, scenario};
use crate::Exit;
use crate::args::{GoalArg, RecommendArgs};
use crate::printer::Printer;

/// Recommends. Exit 1 where nothing holds to the limits.
pub(crate) fn execute(args: &RecommendArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let (fitted, plan) = asked(&args.place)?;
    let bounds = Bounds {
        below_k: args.below.map(Celsius::as_kelvin_f64),
        at_least_bytes_per_s: args.at_least.map(BytesPerSec::as_f64),
    };
    let goal = match args.goal {
        GoalArg::Fastest => Goal::Fastest,
        GoalArg::Steadiest => Goal::Steadiest,
        GoalArg::Coolest => Goal::Coolest,
        GoalArg::LeastEnergy => Goal::LeastEnergy,
    };
    let advice = recommend(&fitted, &scenario(&args.place), &load::phases(&plan, None), goal, bounds);
    if args.place.json {
        printer.json(&advice)?;
    } else {
        printer.data(&text(&advice, printer.data_width()))?;
    }
    Ok(if advice.choices.is_empty() { Exit::DoesNotHold } else { Exit::Done })
}

fn text(advice: &Advice, width: usize) -> String {
    let mut text = report::wrapped(&advice.verdict, "", width);
    for choice in advice.choices.iter().take(2) {
        let what = if choice.command.is_empty() { "now" } else { &choice.command };
        text.push_str(&format!("\n{what}\n"));
        if !choice.undo.is_empty() {
            text.push_str(&format!("  {}; to undo: {}\n", choice.why, choice.undo));
        }
        text.push_str(&predict::text(&choice.predicted, width));
    }
    if !advice.avoid.is_empty() {
        text.push_str("\n  Avoid\n");
        for avoid in &advice.avoid {
            text.push_str(&report::wrapped(&avoid.why, "  - ", width));
        }
    }
    text
}
