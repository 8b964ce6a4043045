//! Fits, forecasts and sweeps as sheets: pages, drawings and pictures.

use std::path::Path;

use ::fit::check::{Misfit, RunCheck, SelfCheck};
use ::fit::predict::{CoursePoint, Forecast, Ranged, course};
use ::fit::simulate::LoadPhase;
use ::fit::{Fitted, Scenario};
use anyhow::{Context as _, anyhow, bail};
use measure::record::write_whole;
use report::sheet::{
    Sheet, SheetCurve, SheetCurves, SheetMap, SheetPart, SheetQuantity, SheetRole, sheet_html, sheet_png,
    sheet_svg,
};

use super::fit;
use super::predict::row;
use super::sweep::SweptForecasts;
use crate::printer::Printer;

/// Stretches of a course: more than a screen has pixels for would not be seen.
const POINTS: usize = 600;

/// Refuses a name from which it cannot be told what to draw, before anything is done.
///
/// # Errors
/// Another ending than of a page, a drawing or a picture.
pub(super) fn check_name(out: &Path) -> anyhow::Result<()> {
    match ending(out) {
        "html" | "svg" | "png" => Ok(()),
        _ => bail!("cannot draw {}: its name ends with none of .html, .svg and .png", out.display()),
    }
}

fn ending(out: &Path) -> &str {
    out.extension().and_then(|end| end.to_str()).unwrap_or_default()
}

/// Writes a sheet as what its name says.
///
/// # Errors
/// When it cannot be drawn or written.
pub(super) fn write(sheet: &Sheet, out: &Path, printer: &mut Printer) -> anyhow::Result<()> {
    let bytes = match ending(out) {
        "png" => sheet_png(sheet).map_err(|why| anyhow!("cannot draw {}: {why}", out.display()))?,
        "svg" => sheet_svg(sheet).into_bytes(),
        _ => sheet_html(sheet).into_bytes(),
    };
    write_whole(out, &bytes).with_context(|| format!("cannot write the chart {}", out.display()))?;
    printer.message(&format!("wrote {}", out.display()));
    Ok(())
}

/// A forecast with its course and bands.
pub(super) fn of_forecast(
    fitted: &Fitted,
    plan: &str,
    scenario: &Scenario,
    load: &[LoadPhase],
    forecast: &Forecast,
) -> Sheet {
    let points = course(fitted, scenario, load, POINTS);
    let curve = |name: &str, quantity, role, get: fn(&CoursePoint) -> f64| SheetCurve {
        name: name.to_owned(),
        quantity,
        role,
        points: points.iter().map(|point| (point.t_s, get(point))).collect(),
    };
    let (speed, heat) = (SheetQuantity::Speed, SheetQuantity::Temperature);
    let curves = vec![
        curve("speed, 5 %", speed, SheetRole::End, |p| p.bytes_per_s.low),
        curve("speed, 95 %", speed, SheetRole::End, |p| p.bytes_per_s.high),
        curve("speed, median", speed, SheetRole::Main, |p| p.bytes_per_s.value),
        curve("temperature, 5 %", heat, SheetRole::End, |p| p.kelvin.low),
        curve("temperature, 95 %", heat, SheetRole::End, |p| p.kelvin.high),
        curve("temperature, median", heat, SheetRole::Main, |p| p.kelvin.value),
    ];
    let shown = SheetCurves {
        title: "Forecast of speed and temperature".to_owned(),
        note: "Median of the drives that the runs allow, and between the thin lines nine of ten of them, at each \
               moment by itself."
            .to_owned(),
        phases: spans(forecast),
        curves,
    };
    Sheet {
        title: format!("{} · {plan} · forecast", fitted.common.name),
        badge: Some(BADGE.to_owned()),
        subtitle: subtitle(fitted),
        parts: vec![SheetPart {
            heading: "Forecast".to_owned(),
            sentences: forecast.caveats.iter().map(|caveat| caveat.text.clone()).collect(),
            columns: ["Phase", "GB/s", "Peak °C", "Throttles after s", "Throttled %", "Note"]
                .map(str::to_owned)
                .to_vec(),
            rows: forecast.phases.iter().map(|phase| row(phase).to_vec()).collect(),
        }],
        curves: if points.is_empty() { Vec::new() } else { vec![shown] },
        maps: Vec::new(),
    }
}

/// No sheet of ours has a forecast that was measured.
const BADGE: &str = "SIMULATED (forecast of a fitted drive)";

fn subtitle(fitted: &Fitted) -> String {
    let of = if fitted.simulated { "a simulated drive's runs" } else { "runs" };
    format!("Fitted to {of}: {}", fitted.runs.join("; "))
}

/// Where phases lie, by their median lengths.
fn spans(forecast: &Forecast) -> Vec<(String, f64, f64)> {
    let mut from = 0.0;
    let phases = forecast.phases.iter().map(|phase| {
        let to = from + phase.duration_s.map_or(0.0, |Ranged { value, .. }| value);
        let span = (phase.name.clone(), from, to);
        from = to;
        span
    });
    phases.collect()
}

/// A sweep as maps.
pub(super) fn of_sweep(fitted: &Fitted, plan: &str, swept: &SweptForecasts) -> Sheet {
    let [first, .., last] = [swept.axes.first(), swept.axes.last()];
    let one = swept.axes.len() == 1;
    let across = last.map_or_else(Default::default, |axis| (axis.name.to_owned(), axis.labels.clone()));
    let down = match first.filter(|_| !one) {
        Some(axis) => (axis.name.to_owned(), axis.labels.clone()),
        None => (String::new(), vec![String::new()]),
    };
    let [speeds, peaks] = swept.maps();
    let map = |title: &str, cells, decimals, is_heat| SheetMap {
        title: title.to_owned(),
        across: across.clone(),
        down: down.clone(),
        cells,
        beyond: swept.beyond(),
        decimals,
        is_heat,
    };
    let mut caveats: Vec<String> = Vec::new();
    for caveat in swept.forecasts.iter().flat_map(|forecast| &forecast.caveats) {
        if !caveats.contains(&caveat.text) {
            caveats.push(caveat.text.clone());
        }
    }
    Sheet {
        title: format!("{} · {plan} · sweep", fitted.common.name),
        badge: Some(BADGE.to_owned()),
        subtitle: subtitle(fitted),
        parts: vec![SheetPart { heading: "Caveats".to_owned(), sentences: caveats, ..SheetPart::default() }],
        curves: Vec::new(),
        maps: vec![
            map("Mean speed under load (GB/s)", speeds, 2, false),
            map("Peak temperature (°C)", peaks, 0, true),
        ],
    }
}

/// A fit beside what it was fitted to.
pub(super) fn of_check(fitted: &Fitted, check: &SelfCheck) -> Sheet {
    let parameters = fitted.parameters();
    let head = ["Parameter", "Value", "90 % interval", "Unit"].map(str::to_owned).to_vec();
    let open: Vec<String> =
        fitted.left_open.iter().map(|open| format!("{}: {}. `{}`", open.what, open.why, open.plan)).collect();
    let loads = check.runs.iter().flat_map(|run| run.loads.iter().map(move |load| (run, load)));
    let load_rows = loads.map(|(run, load)| {
        let [seen, found] = load.mean_bytes_per_s;
        vec![
            run.name.clone(),
            format!("{:.0} to {:.0} s", load.from_s, load.to_s),
            load.op.to_owned(),
            format!("{:.2}", seen / 1e9),
            format!("{:.2}", found / 1e9),
            format!("{:+.1}", 100.0 * (found / seen - 1.0)),
        ]
    });
    Sheet {
        title: format!("{} · fit", fitted.common.name),
        badge: Some("SIMULATED (the fitted twin, beside the runs)".to_owned()),
        subtitle: subtitle(fitted),
        parts: vec![
            SheetPart {
                heading: "Does it fit?".to_owned(),
                sentences: check_sentences(fitted, check),
                columns: ["Run", "When", "Load", "Measured GB/s", "Simulated GB/s", "Off by %"]
                    .map(str::to_owned)
                    .to_vec(),
                rows: load_rows.collect(),
            },
            SheetPart {
                heading: "The drive".to_owned(),
                columns: head,
                rows: parameters
                    .iter()
                    .map(|one| fit::row(one).map(|c| c.trim().to_owned()).to_vec())
                    .collect(),
                ..SheetPart::default()
            },
            SheetPart { heading: "Left open".to_owned(), sentences: open, ..SheetPart::default() },
        ],
        curves: check.runs.iter().flat_map(run_curves).collect(),
        maps: Vec::new(),
    }
}

fn run_curves(run: &RunCheck) -> [SheetCurves; 2] {
    let stretch = run.speeds.len().div_ceil(POINTS).max(1);
    let speed = |of: usize| -> Vec<(f64, f64)> {
        let parts = run.speeds.chunks(stretch).enumerate();
        parts
            .map(|(at, part)| {
                let mean = part.iter().map(|pair| pair[of]).sum::<f64>() / part.len() as f64;
                ((at as f64 + 0.5) * stretch as f64, mean)
            })
            .collect()
    };
    let step = run.readings.len().div_ceil(POINTS).max(1);
    let heat = |of: &dyn Fn(&[f64; 3]) -> f64| -> Vec<(f64, f64)> {
        run.readings.iter().step_by(step).map(|reading| (reading[0], of(reading))).collect()
    };
    let curve =
        |name: &str, quantity, role, points| SheetCurve { name: name.to_owned(), quantity, role, points };
    let (rate, warm) = (SheetQuantity::Speed, SheetQuantity::Temperature);
    [
        SheetCurves {
            title: format!("Measured beside simulated: {}", run.name),
            note: "The fitted twin under the same loads; limited loads at the speeds they had. Temperatures: the middle \
                   of the step that the sensor showed."
                .to_owned(),
            curves: vec![
                curve("speed, measured", rate, SheetRole::Main, speed(0)),
                curve("speed, simulated", rate, SheetRole::Beside, speed(1)),
                curve("temperature, measured", warm, SheetRole::Main, heat(&|r| r[1])),
                curve("temperature, simulated", warm, SheetRole::Beside, heat(&|r| r[2])),
            ],
            ..SheetCurves::default()
        },
        SheetCurves {
            title: format!("Residuals: {}", run.name),
            note: "Temperature measured less simulated.".to_owned(),
            curves: vec![curve("residual", SheetQuantity::Difference, SheetRole::Main, heat(&|r| r[1] - r[2]))],
            ..SheetCurves::default()
        },
    ]
}

/// Whether the model fits, and why it may not.
pub(super) fn check_sentences(fitted: &Fitted, check: &SelfCheck) -> Vec<String> {
    let closed = check.runs.iter().map(|run| run.rms_k).fold(0.0, f64::max);
    let mut sentences = vec![format!(
        "Under the measured speeds the heat model misses the readings by {:.2} K rms; under its own throttling the \
         fitted twin misses them by {closed:.2} K.",
        fitted.residual_rms_k
    )];
    let misses = fitted.misfits.iter().map(Misfit::sentence);
    sentences.extend(misses.map(|one| ::fit::with_cache_size(&one, fitted.simulated)));
    let explained = |misfit: &Misfit| matches!(misfit, Misfit::WarmRest { .. } | Misfit::Drift { .. });
    if fitted.is_doubtful() && !fitted.misfits.iter().any(explained) {
        sentences.push(
            "Why is not seen in the residuals: a load beside this one, more heat for each byte at some temperature, or \
             airflow that changed would do it."
                .to_owned(),
        );
    }
    sentences
}
