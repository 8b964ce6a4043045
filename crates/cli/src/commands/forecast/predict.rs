//! `heatsoak predict`: what a fitted drive would do.

use ::fit::predict::{Forecast, PhaseForecast, Ranged};
use ::fit::{Scenario, load, predict};
use anyhow::bail;
use measure::Kelvin;

use super::{asked, degrees, scenario};
use crate::Exit;
use crate::args::PredictArgs;
use crate::printer::Printer;
use crate::table;

/// Predicts and tells.
pub(crate) fn execute(args: &PredictArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let (fitted, plan) = asked(&args.place)?;
    let tmt_k = [args.tmt1, args.tmt2].map(|kelvin| kelvin.map(Kelvin::as_kelvin));
    let scenario = Scenario { tmt_k, ..scenario(&args.place) };
    let phases = load::phases(&plan, args.rate.map(|rate| rate.as_f64()));
    let forecast = predict(&fitted, &scenario, &phases);
    if let Some(refused) = forecast.caveats.iter().find(|caveat| caveat.kind == "tmt_refused") {
        bail!("{}", refused.text);
    }
    if args.place.json {
        printer.json(&forecast)?;
    } else {
        printer.data(&text(&forecast, printer.data_width()))?;
    }
    Ok(Exit::Done)
}

/// A forecast, for people.
pub(super) fn text(forecast: &Forecast, width: usize) -> String {
    let heading = ["  PHASE", "GB/s", "PEAK °C", "THROTTLES AFTER s", "THROTTLED %", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(forecast.phases.iter().map(row)).collect();
    let mut text = table::aligned(&rows);
    if !forecast.caveats.is_empty() {
        text.push_str("\n  Caveats\n");
    }
    for caveat in &forecast.caveats {
        text.push_str(&report::wrapped(&caveat.text, "  - ", width));
    }
    text
}

fn row(phase: &PhaseForecast) -> [String; 6] {
    let range = |range: Option<Ranged>, digits: usize, of: &dyn Fn(f64) -> f64| {
        range.map_or_else(
            || "-".to_owned(),
            |r| format!("{:.digits$} ({:.digits$} to {:.digits$})", of(r.value), of(r.low), of(r.high)),
        )
    };
    let idle = phase.op == "idle";
    let speed = if idle { None } else { phase.mean_bytes_per_s };
    [
        format!("  {}", phase.name),
        range(speed, 2, &|rate| rate / 1e9),
        range(phase.peak_k, 1, &degrees),
        range(phase.time_to_throttle_s, 0, &|seconds| seconds),
        range(if idle { None } else { phase.throttled_share }, 0, &|share| 100.0 * share),
        if phase.beyond { "beyond what was seen".to_owned() } else { String::new() },
    ]
}
