//! A row: what is stated, within which bounds, and what was measured.

use schemars::JsonSchema;
use serde::Serialize;

/// The publications do not say whether MB means 10^6 or 2^20 bytes: 4.9 % apart.
pub(super) const UNIT: f64 = 0.049;
/// Temperatures are whole kelvins, converted by 273 or 273.15, and read off a figure: 2 K.
pub(super) const KELVIN: f64 = 2.0;

/// One number with the bounds that were fixed for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    what: &'static str,
    unit: &'static str,
    low: f64,
    high: f64,
    got: f64,
}

impl Quantity {
    /// Within `low..=high`.
    pub(super) const fn within(
        what: &'static str,
        unit: &'static str,
        low: f64,
        high: f64,
        got: f64,
    ) -> Self {
        Self { what, unit, low, high, got }
    }

    /// `stated` give or take a share of it.
    pub(super) fn about(what: &'static str, unit: &'static str, stated: f64, share: f64, got: f64) -> Self {
        Self::within(what, unit, stated * (1.0 - share), stated * (1.0 + share), got)
    }

    /// Less than or equal to.
    pub(super) const fn most(what: &'static str, unit: &'static str, high: f64, got: f64) -> Self {
        Self::within(what, unit, f64::NEG_INFINITY, high, got)
    }

    /// More than or equal to.
    pub(super) const fn least(what: &'static str, unit: &'static str, low: f64, got: f64) -> Self {
        Self::within(what, unit, low, f64::INFINITY, got)
    }

    /// None at all.
    pub(super) fn none(what: &'static str, got: usize) -> Self {
        Self::within(what, "", 0.0, 0.0, got as f64)
    }

    fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.got)
    }

    fn result(&self) -> QuantityResult {
        let spaced = |number: String| {
            if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
        };
        QuantityResult {
            what: self.what.to_owned(),
            unit: self.unit.to_owned(),
            got: self.got,
            least: self.low.is_finite().then_some(self.low),
            most: self.high.is_finite().then_some(self.high),
            holds: self.holds(),
            shown: spaced(number(self.got)),
            bounds: spaced(self.bounds()),
        }
    }

    fn bounds(&self) -> String {
        let (low, high) = (number(self.low), number(self.high));
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if self.low == self.high => low,
            (true, true) => format!("{low} to {high}"),
            (true, false) => format!("{low} or more"),
            _ => format!("{high} or less"),
        }
    }
}

/// A row, measured.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) stated: String,
    pub(super) quantities: Vec<Quantity>,
    /// Why the bounds are what they are.
    pub(super) bounds: &'static str,
    pub(super) used: bool,
    pub(super) why: String,
}

impl Row {
    pub(super) fn new(
        id: &str,
        stated: &str,
        used: bool,
        bounds: &'static str,
        why: &str,
        quantities: Vec<Quantity>,
    ) -> Self {
        Self { id: id.to_owned(), stated: stated.to_owned(), quantities, bounds, used, why: why.to_owned() }
    }

    pub(super) fn result(self) -> RowResult {
        let quantities: Vec<QuantityResult> = self.quantities.iter().map(Quantity::result).collect();
        let list = |each: &dyn Fn(&QuantityResult) -> String| {
            quantities.iter().map(each).collect::<Vec<_>>().join("; ")
        };
        RowResult {
            reproduced: list(&|q| {
                let mark = if q.holds { "" } else { " (out of bounds)" };
                format!("{} {}{mark}", q.what, q.shown)
            }),
            tolerance: format!("{}: {}", list(&|q| q.bounds.clone()), self.bounds),
            holds: !quantities.is_empty() && quantities.iter().all(|q| q.holds),
            id: self.id,
            stated: self.stated,
            used_to_set_parameters: self.used,
            why: self.why,
            quantities,
        }
    }
}

/// One number of a row, with the bounds that were fixed for it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QuantityResult {
    /// What it is, in a word or two.
    pub what: String,
    /// Its unit; empty for a ratio or a count.
    pub unit: String,
    /// What was measured on the simulated drive; not finite where there was nothing to measure, which is `null` in JSON.
    #[schemars(with = "Option<f64>")]
    pub got: f64,
    /// The least it may be; `None` without such a bound.
    pub least: Option<f64>,
    /// The most it may be; `None` without such a bound.
    pub most: Option<f64>,
    /// Whether it lies within its bounds.
    pub holds: bool,
    /// The number with its unit, for people.
    pub shown: String,
    /// The bounds with their unit, for people.
    pub bounds: String,
}

/// What came of one row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowResult {
    /// Short name: A1 to D10, O for orderings, P for the power tables.
    pub id: String,
    /// What the publication says.
    pub stated: String,
    /// The same quantities on the simulated drive.
    pub reproduced: String,
    /// The bounds, and the reason for them.
    pub tolerance: String,
    /// Whether every quantity lies within its bounds.
    pub holds: bool,
    /// Whether parameters of the profile were set from this row.
    pub used_to_set_parameters: bool,
    /// How the simulated drive comes to it, or why it does not.
    pub why: String,
    /// The quantities of `reproduced`, one by one.
    pub quantities: Vec<QuantityResult>,
}

/// Three significant digits and more where they are whole.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
