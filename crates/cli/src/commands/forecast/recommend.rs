//! `heatsoak recommend`: what to set, and what it brings.

use ::fit::cooling::CoolingNeed;
use ::fit::load;
use ::fit::recommend::{Advice, Bounds, Goal, recommend};
use measure::{BytesPerSec, Celsius};

use super::sweep::only_one;
use super::{RecordedTmt, asked, predict, to_advise_on, with_plan};
use crate::Exit;
use crate::args::{GoalArg, RecommendArgs};
use crate::printer::Printer;

/// Recommends. Exit 1 where nothing holds to the limits.
pub(crate) fn execute(args: &RecommendArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let (fitted, plan) = asked(&args.place, printer)?;
    let recorded = RecordedTmt::of(&fitted);
    let fitted = to_advise_on(fitted);
    let bounds = Bounds {
        below_k: args.below.map(below_k),
        at_least_bytes_per_s: args.at_least.map(BytesPerSec::as_f64),
    };
    let goal = match args.goal {
        GoalArg::Fastest => Goal::Fastest,
        GoalArg::Steadiest => Goal::Steadiest,
        GoalArg::Coolest => Goal::Coolest,
        GoalArg::LeastEnergy => Goal::LeastEnergy,
    };
    goal.check(&fitted)?;
    let load = load::phases_on(&plan, None, fitted.common.capacity_bytes);
    let mut advice = recommend(&fitted, &only_one(&args.place)?, &load, goal, bounds);
    advice.verdict = with_plan(&advice.verdict, &args.place);
    for choice in &mut advice.choices {
        choice.command = with_plan(&choice.command, &args.place);
        choice.undo = recorded.undo(&with_plan(&choice.undo, &args.place));
    }
    if args.place.json {
        printer.json(&advice)?;
    } else {
        printer.data(&text(&advice, recorded, cooling_for(&bounds), printer.data_width()))?;
    }
    Ok(if advice.choices.is_empty() { Exit::DoesNotHold } else { Exit::Done })
}

/// A limit of readings, in kelvins: drives read whole kelvins, shown less 273, and one that shows the limit breaks it.
fn below_k(limit: Celsius) -> f64 {
    limit.as_degrees() + 273.0
}

/// What cooling is looked for.
const fn cooling_for(bounds: &Bounds) -> &'static str {
    match (bounds.below_k, bounds.at_least_bytes_per_s) {
        (None, None) => "for this load not to throttle",
        _ => "for this load to hold to the limits",
    }
}

fn text(advice: &Advice, recorded: RecordedTmt, cooling_for: &str, width: usize) -> String {
    let mut text = report::wrapped(&advice.verdict, "", width);
    for choice in advice.choices.iter().take(2) {
        let what = if choice.command.is_empty() { &choice.why } else { &choice.command };
        text.push_str(&format!("\n{what}\n"));
        if !choice.command.is_empty() {
            // A rate ends with the run; what is set stays.
            let stays = choice.settings.rate_bytes_per_s.is_none();
            let undo = match stays {
                true => format!("; to undo: {}", recorded.undo_sentence(&choice.undo, "")),
                false => String::new(),
            };
            text.push_str(&report::wrapped(&format!("{}{undo}", choice.why), "  ", width));
        }
        text.push_str(&predict::text(&choice.predicted, width));
    }
    if let Some(cooling) = &advice.cooling {
        text.push_str("\n  Cooling\n");
        text.push_str(&report::wrapped(
            &cooling_sentence(cooling, &advice.compared_with, cooling_for),
            "  - ",
            width,
        ));
    }
    if !advice.avoid.is_empty() {
        text.push_str("\n  Avoid\n");
        for avoid in &advice.avoid {
            text.push_str(&report::wrapped(&avoid.why, "  - ", width));
        }
    }
    text
}

/// What cooling would take that changes no setting.
fn cooling_sentence(cooling: &CoolingNeed, settings: &str, cooling_for: &str) -> String {
    let air = match cooling.cooler_k {
        Some(cooler_k) => {
            format!("with {settings}, air {cooler_k:.0} K cooler is enough {cooling_for}")
        }
        None => format!("with {settings}, air 30 K cooler is not enough {cooling_for}"),
    };
    let sink = match (cooling.heatsink_k_per_w, cooling.still_cm2, cooling.fan_cm2, cooling.part) {
        (Some(k_per_w), Some(still), Some(fan), Some(part)) => format!(
            "; so is a heatsink of {k_per_w:.1} K/W, about {still:.0} cm² in still air or {fan:.0} cm² with a fan: {part}"
        ),
        _ if cooling.is_sized => "; no size of a heatsink is certain to be enough while the share of the air in the thermal \
                                  resistance is known only as a range: `heatsoak fit` names the run that narrows it"
            .to_owned(),
        _ => "; the size of a heatsink in K/W needs runs of 15 minutes and more with power and ambient recorded".to_owned(),
    };
    format!("{air}{sink}")
}
