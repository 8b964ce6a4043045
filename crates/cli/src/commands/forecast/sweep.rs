//! Several values of one option or two: a forecast for each, as a table and as maps.

use ::fit::next::{mean_speed, peak_k};
use ::fit::predict::{Forecast, predict_with};
use ::fit::{Fitted, Scenario, load, predict};
use anyhow::bail;
use measure::{BytesPerSec, Celsius, Kelvin};
use plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

use super::predict as single;
use crate::args::{PlaceArgs, PredictArgs};
use crate::table;

/// Cells of a sweep at most: a map that can still be read.
const MOST_CELLS: usize = 1000;
/// From so many cells on a coarser look is taken: a map of 400 in about a second.
const MANY_CELLS: usize = 40;
const FEW_SAMPLES: usize = 16;

/// An option with its values.
pub(super) struct SweepAxis {
    /// As it is typed, without its dashes.
    pub(super) option: &'static str,
    /// Its name with its unit.
    pub(super) name: &'static str,
    /// Values as they are shown.
    pub(super) labels: Vec<String>,
    set: Vec<Asked>,
}

/// What one value changes.
#[derive(Clone, Copy)]
enum Asked {
    Ambient(Celsius),
    Heatsink(f64),
    Airflow(f64),
    PowerState(u8),
    Tmt1(Kelvin),
    Tmt2(Kelvin),
    Rate(BytesPerSec),
}

/// Where and how, and the rate of each load.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    pub(super) scenario: Scenario,
    pub(super) rate_bytes_per_s: Option<f64>,
}

impl Cell {
    fn with(mut self, asked: Asked) -> Self {
        match asked {
            Asked::Ambient(air) => self.scenario.ambient_k = Some(air.as_kelvin_f64()),
            Asked::Heatsink(k_per_w) => self.scenario.heatsink_k_per_w = Some(k_per_w),
            Asked::Airflow(factor) => self.scenario.airflow = Some(factor),
            Asked::PowerState(state) => self.scenario.power_state = Some(state),
            Asked::Tmt1(tmt1) => self.scenario.tmt_k[0] = Some(tmt1.as_kelvin()),
            Asked::Tmt2(tmt2) => self.scenario.tmt_k[1] = Some(tmt2.as_kelvin()),
            Asked::Rate(rate) => self.rate_bytes_per_s = Some(rate.as_f64()),
        }
        self
    }
}

fn places(args: &PlaceArgs) -> Vec<SweepAxis> {
    let ambient = args.ambient.iter().map(|air| (air.to_string(), Asked::Ambient(*air)));
    let heatsink = args.heatsink.iter().map(|sink| (format!("{sink}"), Asked::Heatsink(*sink)));
    let airflow = args.airflow.iter().map(|factor| (format!("{factor}"), Asked::Airflow(*factor)));
    let state = args.power_state.iter().map(|state| (state.to_string(), Asked::PowerState(*state)));
    vec![
        axis("ambient", "ambient", ambient.collect()),
        axis("heatsink", "heatsink (K/W)", heatsink.collect()),
        axis("airflow", "airflow (times)", airflow.collect()),
        axis("power-state", "power state", state.collect()),
    ]
}

fn settings(args: &PredictArgs) -> Vec<SweepAxis> {
    let tmt = |of: &[Kelvin], asked: fn(Kelvin) -> Asked| {
        of.iter().map(|kelvin| (tmt_label(*kelvin), asked(*kelvin))).collect()
    };
    let rate = args.rate.iter().map(|rate| (rate.to_string(), Asked::Rate(*rate)));
    vec![
        axis("tmt1", "TMT1", tmt(&args.tmt1, Asked::Tmt1)),
        axis("tmt2", "TMT2", tmt(&args.tmt2, Asked::Tmt2)),
        axis("rate", "rate limit", rate.collect()),
    ]
}

fn tmt_label(kelvin: Kelvin) -> String {
    if kelvin.as_kelvin() == 0 { "off".to_owned() } else { kelvin.to_string() }
}

fn axis(option: &'static str, name: &'static str, values: Vec<(String, Asked)>) -> SweepAxis {
    let (labels, set) = values.into_iter().unzip();
    SweepAxis { option, name, labels, set }
}

/// The one place that is meant, where no sweep can be.
///
/// # Errors
/// Several values of an option.
pub(super) fn only_one(args: &PlaceArgs) -> anyhow::Result<Scenario> {
    let axes = places(args);
    if let Some(axis) = axes.iter().find(|axis| axis.set.len() > 1) {
        bail!(
            "cannot recommend for several values of --{} at once: name one, or see all with `heatsoak predict`",
            axis.option
        );
    }
    let cell = axes.iter().flat_map(|axis| &axis.set).fold(Cell::default(), |cell, set| cell.with(*set));
    Ok(Scenario { fill_percent: args.fill, ..cell.scenario })
}

/// The axes that vary, and what does not.
///
/// # Errors
/// More than two that vary, or too many cells.
pub(super) fn axes(args: &PredictArgs) -> anyhow::Result<(Cell, Vec<SweepAxis>)> {
    let (vary, fixed): (Vec<_>, Vec<_>) =
        places(&args.place).into_iter().chain(settings(args)).partition(|axis| axis.set.len() > 1);
    let base = fixed.iter().flat_map(|axis| &axis.set).fold(Cell::default(), |cell, set| cell.with(*set));
    let scenario = Scenario { fill_percent: args.place.fill, ..base.scenario };
    let cells: usize = vary.iter().map(|axis| axis.set.len()).product();
    if vary.len() > 2 || cells > MOST_CELLS {
        let names: Vec<&str> = vary.iter().map(|axis| axis.option).collect();
        bail!(
            "cannot sweep --{} with {cells} cells: two options with several values and {MOST_CELLS} cells are the most",
            names.join(", --")
        );
    }
    Ok((Cell { scenario, ..base }, vary))
}

/// A sweep: one forecast a cell, row by row; the last axis is across.
pub(super) struct SweptForecasts {
    pub(super) axes: Vec<SweepAxis>,
    pub(super) forecasts: Vec<Forecast>,
    pub(super) load: Vec<::fit::simulate::LoadPhase>,
}

/// Predicts every cell.
pub(super) fn sweep(fitted: &Fitted, plan: &Plan, base: Cell, axes: Vec<SweepAxis>) -> SweptForecasts {
    let mut cells = vec![base];
    for axis in &axes {
        cells = cells.iter().flat_map(|cell| axis.set.iter().map(|set| cell.with(*set))).collect();
    }
    let many = cells.len() > MANY_CELLS;
    let one = |cell: &Cell| {
        let load = load::phases_on(plan, cell.rate_bytes_per_s, fitted.common.capacity_bytes);
        match many {
            true => predict_with(fitted, &cell.scenario, &load, FEW_SAMPLES),
            false => predict(fitted, &cell.scenario, &load),
        }
    };
    let load = load::phases_on(plan, None, fitted.common.capacity_bytes);
    SweptForecasts { forecasts: cells.iter().map(one).collect(), axes, load }
}

/// The JSON of a sweep.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SweepDocument<'a> {
    schema: u32,
    /// The options that were given several values.
    axes: Vec<AxisDocument<'a>>,
    /// A forecast for each combination of them.
    cells: Vec<CellDocument<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct AxisDocument<'a> {
    /// As it is typed.
    option: &'a str,
    /// Its values, as they were typed.
    values: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct CellDocument<'a> {
    /// Its value of each option.
    at: Vec<&'a str>,
    #[serde(flatten)]
    forecast: &'a Forecast,
}

impl SweptForecasts {
    /// Labels of a cell, an axis each.
    fn at(&self, cell: usize) -> Vec<&str> {
        let across = self.axes.last().map_or(1, |axis| axis.labels.len());
        let last = self.axes.len().saturating_sub(1);
        let index = |number: usize| if number == last { cell % across } else { cell / across };
        self.axes.iter().enumerate().map(|(number, axis)| axis.labels[index(number)].as_str()).collect()
    }

    /// As one document.
    pub(super) fn document(&self) -> SweepDocument<'_> {
        let cell = |(number, forecast)| CellDocument { at: self.at(number), forecast };
        SweepDocument {
            schema: 1,
            axes: self
                .axes
                .iter()
                .map(|axis| AxisDocument { option: axis.option, values: &axis.labels })
                .collect(),
            cells: self.forecasts.iter().enumerate().map(cell).collect(),
        }
    }

    /// A row a cell, for people; caveats that all cells share are said once.
    pub(super) fn text(&self, width: usize) -> String {
        let names: Vec<String> = self.axes.iter().map(|axis| axis.name.to_uppercase()).collect();
        let [speed, peak, throttled, beyond] = ["GB/s", "PEAK °C", "THROTTLED %", ""].map(str::to_owned);
        let mut rows = vec![[names.join(" · "), speed, peak, throttled, beyond]];
        for (number, forecast) in self.forecasts.iter().enumerate() {
            let [speed, peak, throttled, beyond] = single::overall(&self.load, forecast);
            rows.push([self.at(number).join(" · "), speed, peak, throttled, beyond]);
        }
        let mut text = table::fitted(&rows, width);
        text.push('\n');
        let mut said: Vec<&str> = Vec::new();
        for caveat in self.forecasts.iter().flat_map(|forecast| &forecast.caveats) {
            if !said.contains(&caveat.kind) {
                said.push(caveat.kind);
                text.push_str(&report::wrapped(&caveat.text, "- ", width));
            }
        }
        text
    }

    /// Which cells lie beyond what was seen, row by row.
    pub(super) fn beyond(&self) -> Vec<Vec<bool>> {
        let across = self.axes.last().map_or(1, |axis| axis.labels.len());
        let of = |forecast: &Forecast| forecast.phases.iter().any(|phase| phase.beyond);
        self.forecasts.chunks(across).map(|row| row.iter().map(of).collect()).collect()
    }

    /// Numbers of all cells for a map, row by row: mean speed in GB/s of what loads the drive, and peak in °C.
    pub(super) fn maps(&self) -> [Vec<Vec<Option<f64>>>; 2] {
        let across = self.axes.last().map_or(1, |axis| axis.labels.len());
        let rows = |of: &dyn Fn(&Forecast) -> Option<f64>| {
            self.forecasts.chunks(across).map(|row| row.iter().map(of).collect()).collect()
        };
        [
            rows(&|forecast| mean_speed(&self.load, forecast, None).map(|speed| speed.value / 1e9)),
            rows(&|forecast| peak_k(forecast).map(|peak| super::degrees(peak.value))),
        ]
    }
}
