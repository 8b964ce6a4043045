//! A row: what is stated, within which bounds, and what was measured.

use super::RowResult;

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
        let list = |each: &dyn Fn(&Quantity) -> String| {
            self.quantities.iter().map(each).collect::<Vec<_>>().join("; ")
        };
        let spaced = |unit: &str| if unit.is_empty() { String::new() } else { format!(" {unit}") };
        RowResult {
            reproduced: list(&|q| {
                let mark = if q.holds() { "" } else { " (out of bounds)" };
                format!("{} {}{}{mark}", q.what, number(q.got), spaced(q.unit))
            }),
            tolerance: format!("{}: {}", list(&|q| format!("{}{}", q.bounds(), spaced(q.unit))), self.bounds),
            holds: !self.quantities.is_empty() && self.quantities.iter().all(Quantity::holds),
            id: self.id,
            stated: self.stated,
            used_to_set_parameters: self.used,
            why: self.why,
        }
    }
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
