//! A chart as JSON for the script in the page.

use serde_json::{Value, json};

use super::{Axis, AxisSide, Chart, Stroke, XAxis};

/// Significant digits of a value in a page: finer than any reading, coarser than a double.
const DIGITS: i32 = 5;

/// A chart as the page's script takes it.
pub(crate) fn json(chart: &Chart) -> Value {
    let (label, unit, unit_size) = chart.x.unit(chart.end_s);
    let lines = chart.lines.iter().map(|line| {
        json!({
            "name": line.name,
            "axis": if line.side == AxisSide::Left { "left" } else { "right" },
            "ink": line.ink.name(),
            "stroke": match line.stroke {
                Stroke::Thin => "thin",
                Stroke::Solid => "solid",
                Stroke::Dashed => "dashed",
                Stroke::Dotted => "dotted",
                Stroke::Steps => "steps",
            },
            "shown": line.shown,
            "t": line.points.iter().map(|point| (point.0 * 1e3).round() / 1e3).collect::<Vec<_>>(),
            "v": line.points.iter().map(|point| point.1.map(short)).collect::<Vec<_>>(),
        })
    });
    json!({
        "id": chart.id,
        "end": chart.end_s,
        "xLabel": label,
        "xUnit": unit,
        "xUnitSize": unit_size,
        "isTime": chart.x == XAxis::Time,
        "wall": chart.wall_unix_s,
        "left": axis(&chart.left),
        "right": chart.right.as_ref().map(axis),
        "lines": lines.collect::<Vec<_>>(),
        "levels": chart.levels.iter().map(|l| json!({"label": l.label, "value": l.value})).collect::<Vec<_>>(),
        "bands": chart.bands.iter()
            .map(|b| json!({"label": b.label, "from": b.from_s, "to": b.to_s})).collect::<Vec<_>>(),
        "marks": chart.marks.iter()
            .map(|m| json!({"t": m.t_s, "label": m.label, "detail": m.detail})).collect::<Vec<_>>(),
    })
}

fn axis(axis: &Axis) -> Value {
    json!({
        "label": axis.label(), "unit": axis.unit, "min": axis.min, "max": axis.max,
        "log": axis.log, "decimals": axis.decimals,
    })
}

/// A value cut to its significant digits, so that it takes few characters.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(DIGITS - 1 - value.abs().log10().floor() as i32);
    if scale.is_finite() && scale > 0.0 { (value * scale).round() / scale } else { value }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn values_keep_five_digits() {
        assert_eq!(short(2.400_012_34), 2.4);
        assert_eq!(short(1_599.987_6), 1600.0);
        assert_eq!(short(80.849_6), 80.85);
        assert_eq!(short(-0.001_234_567), -0.001_234_6);
    }
}
