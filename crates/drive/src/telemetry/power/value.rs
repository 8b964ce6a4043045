//! Numbers as meters write them: `8.25`, `+8.250E+00`, `8250 mW`.

/// SCPI's "not a number" and overload are 9.91E37 and 9.9E37 (SCPI 1999, volume 1, 7.2.1.4 and .5).
const OVERLOAD: f64 = 9.0e37;

/// A number with the unit that the meter named, if it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeterAmount {
    number: f64,
    watts_per_unit: Option<f64>,
}

impl MeterAmount {
    /// A number without a unit.
    pub(super) const fn bare(number: f64) -> Self {
        Self { number, watts_per_unit: None }
    }

    /// A number of watts.
    pub(super) const fn of_watts(number: f64) -> Self {
        Self { number, watts_per_unit: Some(1.0) }
    }

    /// In watts; a unit that the meter names itself wins over the one that is stated.
    pub(super) fn watts(self, stated: f64) -> f64 {
        self.number * self.watts_per_unit.unwrap_or(stated)
    }

    /// Whether the meter named its unit.
    pub(super) const fn names_unit(self) -> bool {
        self.watts_per_unit.is_some()
    }

    /// The amount that a meter wrote; `None` where that is none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, unit) = match text.find(|c: char| c.is_whitespace()) {
            Some(space) => (&text[..space], text[space..].trim()),
            None => {
                let digits = text.trim_end_matches(|c: char| "WmMuµk".contains(c));
                (digits, &text[digits.len()..])
            }
        };
        let number =
            number.parse::<f64>().ok().filter(|number| number.is_finite() && number.abs() < OVERLOAD)?;
        let watts_per_unit = match unit {
            "" => None,
            "W" | "Watt" | "watts" => Some(1.0),
            "mW" => Some(1e-3),
            "uW" | "µW" => Some(1e-6),
            "kW" => Some(1e3),
            _ => return None,
        };
        Some(Self { number, watts_per_unit })
    }
}
