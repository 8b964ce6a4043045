//! A chart as data: axes, lines, levels, bands, marks and its table.
//!
//! Built once ([`build`]), shown three ways: interactive in a page (`json`), static (`svg`) and as a table.
//! Every number in it is finite; what is not known is `None`.

mod build;
mod colour;
mod json;
mod main_chart;
mod rows;
mod small;
mod speed;
mod svg;
mod written;

pub(crate) use build::{bucket_for, speed_axis, temperature_axis};
pub(crate) use colour::{Ink, css_variables};
pub(crate) use json::json;
pub(crate) use main_chart::main_chart;
pub(crate) use rows::Rows;
pub(crate) use small::small_charts;
pub(crate) use speed::SpeedUnit;
pub(crate) use svg::{Frame, svg};
pub(crate) use written::{WRITTEN, written_charts};

use crate::reduce::ChartPoint;

/// A chart over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// Name within the page, for anchors and scripts.
    pub(crate) id: String,
    /// What it shows.
    pub(crate) title: String,
    /// What a person hears who cannot see it.
    pub(crate) alt: String,
    /// How the points came about: intervals, means, reductions.
    pub(crate) note: String,
    /// End of the time axis in seconds, or of another one in its unit; it begins at 0.
    pub(crate) end_s: f64,
    /// What is on that axis.
    pub(crate) x: XAxis,
    /// When the run began, in seconds since 1970; `None` where time is simulated or not known.
    pub(crate) wall_unix_s: Option<f64>,
    /// The axis on the left.
    pub(crate) left: Axis,
    /// The axis on the right, if any.
    pub(crate) right: Option<Axis>,
    /// Lines, in drawing order.
    pub(crate) lines: Vec<ChartLine>,
    /// Values worth a line across the chart.
    pub(crate) levels: Vec<LevelLine>,
    /// Stretches of time with a name.
    pub(crate) bands: Vec<Band>,
    /// Moments.
    pub(crate) marks: Vec<Mark>,
    /// The same as numbers.
    pub(crate) table: ChartTable,
}

/// What is on the axis at the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XAxis {
    /// Seconds since the run began.
    Time,
    /// GiB written since then.
    WrittenGib,
}

impl XAxis {
    /// Label, unit and size of the unit for an axis that ends at `end`.
    pub(crate) fn unit(self, end: f64) -> (String, &'static str, f64) {
        match self {
            Self::Time => {
                let (unit, size) = crate::scale::time_unit(end);
                (format!("Time since the run began ({unit})"), unit, size)
            }
            Self::WrittenGib => ("Written (GiB)".to_owned(), "GiB", 1.0),
        }
    }
}

/// A value axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Quantity: "Speed".
    pub(crate) name: String,
    /// Unit: "GB/s"; empty for counts.
    pub(crate) unit: &'static str,
    /// Range.
    pub(crate) min: f64,
    /// Range.
    pub(crate) max: f64,
    /// Logarithmic.
    pub(crate) log: bool,
    /// Decimals of a value in a tooltip.
    pub(crate) decimals: usize,
}

impl Axis {
    /// "Speed (GB/s)".
    pub(crate) fn label(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }
}

/// Which axis a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisSide {
    Left,
    Right,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Thin and pale: single intervals.
    Thin,
    /// Bold.
    Solid,
    /// Dashed.
    Dashed,
    /// Dotted: temperatures, always.
    Dotted,
    /// Bold, and flat between readings: counters.
    Steps,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChartLine {
    /// What it is: "read, mean of 1 s".
    pub(crate) name: String,
    /// Its axis.
    pub(crate) side: AxisSide,
    /// Its colour.
    pub(crate) ink: Ink,
    /// How it is drawn.
    pub(crate) stroke: Stroke,
    /// Whether it is drawn before anybody asks for it.
    pub(crate) shown: bool,
    /// (seconds, value in the axis' unit); `None` breaks the line.
    pub(crate) points: Vec<ChartPoint>,
}

/// A value worth a line across the chart, on the right axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LevelLine {
    /// "TMT1 65 °C".
    pub(crate) label: String,
    /// The value in the axis' unit.
    pub(crate) value: f64,
}

/// A stretch of time with a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    /// Its name.
    pub(crate) label: String,
    /// Start in seconds.
    pub(crate) from_s: f64,
    /// End in seconds.
    pub(crate) to_s: f64,
}

/// A moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// When, in seconds.
    pub(crate) t_s: f64,
    /// Short: "▼ throttled".
    pub(crate) label: String,
    /// The whole sentence.
    pub(crate) detail: String,
}

/// Numbers in rows, at most one a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChartTable {
    /// What its rows are: "one row a second".
    pub(crate) caption: String,
    /// (name with unit, decimals).
    pub(crate) columns: Vec<(String, usize)>,
    /// Values; `None` where there is none.
    pub(crate) rows: Vec<Vec<Option<f64>>>,
}
