//! `heatsoak predict`: what a fitted drive would do.

use ::fit::next::{mean_speed, peak_k, throttled_share};
use ::fit::predict::{Forecast, PhaseForecast, Ranged};
use ::fit::simulate::LoadPhase;
use ::fit::{load, predict};
use anyhow::bail;

use super::sweep::{axes, sweep};
use super::{asked, degrees, sheet, with_plan};
use crate::Exit;
use crate::args::PredictArgs;
use crate::printer::Printer;
use crate::table;

/// Predicts and tells.
pub(crate) fn execute(args: &PredictArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    if let Some(out) = &args.out {
        sheet::check_name(out)?;
    }
    let (base, axes) = axes(args)?;
    let (fitted, plan) = asked(&args.place, printer)?;
    if !axes.is_empty() {
        let mut swept = sweep(&fitted, &plan, base, axes);
        for caveat in swept.forecasts.iter_mut().flat_map(|forecast| &mut forecast.caveats) {
            caveat.text = with_plan(&caveat.text, &args.place);
        }
        if let Some(out) = &args.out {
            sheet::write(&sheet::of_sweep(&fitted, &plan.name, &swept), out, printer)?;
        }
        if args.place.json {
            printer.json(&swept.document())?;
        } else {
            printer.data(&swept.text(printer.data_width()))?;
        }
        return Ok(Exit::Done);
    }
    let phases = load::phases_on(&plan, base.rate_bytes_per_s, fitted.common.capacity_bytes);
    let mut forecast = predict(&fitted, &base.scenario, &phases);
    for caveat in &mut forecast.caveats {
        caveat.text = with_plan(&caveat.text, &args.place);
    }
    if let Some(refused) = forecast.caveats.iter().find(|caveat| caveat.kind == "tmt_refused") {
        bail!("{}", refused.text);
    }
    if let Some(out) = &args.out {
        let of = sheet::of_forecast(&fitted, &plan.name, &base.scenario, &phases, &forecast);
        sheet::write(&of, out, printer)?;
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
    let heading = ["PHASE", "GB/s", "PEAK °C", "THROTTLES AFTER s", "THROTTLED %", ""].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(heading)
        .chain(forecast.phases.iter().map(row))
        .map(|mut row| {
            row[0].insert_str(0, "  ");
            row
        })
        .collect();
    let mut text = table::fitted(&rows, width);
    if !forecast.caveats.is_empty() {
        text.push_str("\n  Caveats\n");
    }
    for caveat in &forecast.caveats {
        text.push_str(&report::wrapped(&caveat.text, "  - ", width));
    }
    text
}

/// A phase: its numbers with their intervals.
pub(super) fn row(phase: &PhaseForecast) -> [String; 6] {
    let idle = phase.op == "idle";
    let speed = if idle { None } else { phase.mean_bytes_per_s };
    [
        phase.name.clone(),
        speed_range(speed),
        range(phase.peak_k, 1, &degrees),
        range(phase.time_to_throttle_s, 0, &|seconds| seconds),
        range(if idle { None } else { phase.throttled_share }, 0, &|share| 100.0 * share),
        if !idle && phase.mean_bytes_per_s.is_none() { "not known".to_owned() } else { beyond(phase.beyond) },
    ]
}

/// A forecast in four cells: mean speed, peak, share of the time throttled, whether it is beyond what was seen.
pub(super) fn overall(load: &[LoadPhase], forecast: &Forecast) -> [String; 4] {
    [
        speed_range(mean_speed(load, forecast, None)),
        range(peak_k(forecast), 1, &degrees),
        range(throttled_share(forecast), 0, &|share| 100.0 * share),
        beyond(forecast.phases.iter().any(|phase| phase.beyond)),
    ]
}

fn beyond(beyond: bool) -> String {
    if beyond { "beyond what was seen".to_owned() } else { String::new() }
}

/// In GB/s, with two digits that count of slow ones too: "1.60", "0.0042".
fn speed_range(speed: Option<Ranged>) -> String {
    let digits = speed.map_or(2, |speed| super::digits(speed.value / 1e9));
    range(speed, digits, &|rate| rate / 1e9)
}

fn range(range: Option<Ranged>, digits: usize, of: &dyn Fn(f64) -> f64) -> String {
    range.map_or_else(
        || "-".to_owned(),
        |r| format!("{:.digits$} ({:.digits$} to {:.digits$})", of(r.value), of(r.low), of(r.high)),
    )
}
