//! Curves of a sheet as a chart, shown as those of a run are.

use super::{SheetCurve, SheetCurves, SheetQuantity, SheetRole};
use crate::chart::{
    Axis, AxisSide, Band, Chart, ChartLine, Ink, Rows, SpeedUnit, Stroke, XAxis, speed_axis, temperature_axis,
};
use crate::reduce::ChartPoint;
use crate::scale;

/// Rows of the table at most.
const TABLE_ROWS: f64 = 600.0;

/// The chart; `number` tells it from others of the sheet.
pub(super) fn chart(curves: &SheetCurves, number: usize) -> Chart {
    let speeds = || curves.curves.iter().filter(|curve| curve.quantity == SheetQuantity::Speed);
    let top = speeds().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
    let unit = SpeedUnit::for_max(top);
    let lines: Vec<ChartLine> = curves.curves.iter().map(|curve| line(curve, unit)).collect();
    let ends = lines.iter().flat_map(|line| &line.points).map(|point| point.0).fold(0.0, f64::max);
    let right = lines.iter().filter(|line| line.side == AxisSide::Right).flat_map(|line| &line.points);
    let warm: Vec<f64> = right.filter_map(|point| point.1).collect();
    let (low, high) = (warm.iter().copied().reduce(f64::min), warm.iter().copied().reduce(f64::max));
    let differs = curves.curves.iter().any(|curve| curve.quantity == SheetQuantity::Difference);
    let end_s = if ends > 0.0 { ends } else { 1.0 };
    Chart {
        id: format!("curves-{}", number + 1),
        title: curves.title.clone(),
        alt: format!("Line chart: {}. The numbers are in the table.", curves.title),
        note: curves.note.clone(),
        end_s,
        x: XAxis::Time,
        wall_unix_s: None,
        left: speed_axis("Speed", unit, unit.convert(top)),
        right: low.zip(high).map(|(low, high)| {
            if differs { difference_axis(low, high) } else { temperature_axis(low, high) }
        }),
        levels: Vec::new(),
        bands: curves
            .phases
            .iter()
            .map(|(label, from_s, to_s)| Band { label: label.clone(), from_s: *from_s, to_s: *to_s })
            .collect(),
        marks: Vec::new(),
        table: table(&lines, if differs { "K" } else { "°C" }, unit, end_s),
        lines,
    }
}

/// An axis of kelvins between temperatures, around 0.
fn difference_axis(low: f64, high: f64) -> Axis {
    let end = low.abs().max(high.abs()).max(1.0).ceil();
    Axis { name: "Difference".to_owned(), unit: "K", min: -end, max: end, log: false, decimals: 1 }
}

fn line(curve: &SheetCurve, unit: SpeedUnit) -> ChartLine {
    let is_speed = curve.quantity == SheetQuantity::Speed;
    let value = |value: f64| {
        let shown = match curve.quantity {
            SheetQuantity::Speed => unit.convert(value),
            SheetQuantity::Temperature => measure::Celsius::from_kelvin_f64(value).as_degrees(),
            SheetQuantity::Difference => value,
        };
        shown.is_finite().then_some(shown)
    };
    let points: Vec<ChartPoint> = curve.points.iter().map(|(t_s, v)| (*t_s, value(*v))).collect();
    ChartLine {
        name: curve.name.clone(),
        side: if is_speed { AxisSide::Left } else { AxisSide::Right },
        ink: match (curve.role, is_speed) {
            (SheetRole::Beside, _) => Ink::Run(5),
            (SheetRole::Main | SheetRole::End, true) => Ink::Read,
            (SheetRole::Main | SheetRole::End, false) => Ink::Composite,
        },
        stroke: match (curve.role, is_speed) {
            (SheetRole::End, _) => Stroke::Thin,
            (SheetRole::Beside, true) => Stroke::Dashed,
            (SheetRole::Main, true) => Stroke::Solid,
            (SheetRole::Main | SheetRole::Beside, false) => Stroke::Dotted,
        },
        shown: true,
        points,
    }
}

fn table(lines: &[ChartLine], warm: &str, unit: SpeedUnit, end_s: f64) -> crate::chart::ChartTable {
    let step_s = scale::nice_step((end_s / TABLE_ROWS).max(1.0));
    let mut rows = Rows::new(step_s);
    for line in lines {
        let is_speed = line.side == AxisSide::Left;
        let (name, decimals) = if is_speed { (unit.name(), unit.decimals()) } else { (warm, 1) };
        let mut next_s = 0.0;
        // The first point of each row stands for it.
        let cells = line.points.iter().filter_map(|(t_s, value)| {
            let first = *t_s >= next_s;
            next_s = if first { ((t_s / step_s).floor() + 1.0) * step_s } else { next_s };
            Some(((t_s / step_s).floor() * step_s, (*value).filter(|_| first)?))
        });
        rows.add(format!("{} ({name})", line.name), decimals, cells);
    }
    rows.table()
}
