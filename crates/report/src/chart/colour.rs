//! Colours that people with any colour vision can tell apart, for light and dark backgrounds.
//!
//! Okabe and Ito, "Color Universal Design" (2008); lighter on dark. No meaning hangs on colour alone: speed is
//! solid, temperature dotted, every line has a name.

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Read,
    Write,
    Trim,
    Composite,
    /// Sensor 1 and on, counted from 0.
    Sensor(usize),
    Power,
    CounterLight,
    CounterHeavy,
    /// A run of a comparison, counted from 0.
    Run(usize),
}

/// (CSS name, on light, on dark).
const FIXED: [(&str, &str, &str); 7] = [
    ("read", "#0072b2", "#56b4e9"),
    ("write", "#00855f", "#3ddba5"),
    ("trim", "#b35a8e", "#e69ac4"),
    ("composite", "#c24e00", "#ff8f4d"),
    ("power", "#6d4c9f", "#bda4e6"),
    ("counter-light", "#c28500", "#f0c24b"),
    ("counter-heavy", "#c24e00", "#ff8f4d"),
];

const RUNS: [(&str, &str, &str); 8] = [
    ("run0", "#0072b2", "#56b4e9"),
    ("run1", "#c24e00", "#ff8f4d"),
    ("run2", "#00855f", "#3ddba5"),
    ("run3", "#b35a8e", "#e69ac4"),
    ("run4", "#c28500", "#f0c24b"),
    ("run5", "#6d4c9f", "#bda4e6"),
    ("run6", "#444444", "#cccccc"),
    ("run7", "#2b8fb8", "#9fd8f5"),
];

const SENSORS: [(&str, &str, &str); 4] = [
    ("sensor0", "#c28500", "#f0c24b"),
    ("sensor1", "#8c564b", "#d1a296"),
    ("sensor2", "#b35a8e", "#e69ac4"),
    ("sensor3", "#555555", "#bbbbbb"),
];

impl Ink {
    fn entry(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Read => FIXED[0],
            Self::Write => FIXED[1],
            Self::Trim => FIXED[2],
            Self::Composite => FIXED[3],
            Self::Power => FIXED[4],
            Self::CounterLight => FIXED[5],
            Self::CounterHeavy => FIXED[6],
            Self::Sensor(index) => SENSORS[index % SENSORS.len()],
            Self::Run(index) => RUNS[index % RUNS.len()],
        }
    }

    /// The name of its CSS variable, without the leading dashes.
    pub(crate) fn name(self) -> &'static str {
        self.entry().0
    }

    /// What it stands for, in a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Composite | Self::Sensor(_) => "temperature",
            Self::CounterLight | Self::CounterHeavy => "counter",
            Self::Run(_) => "run",
            Self::Read | Self::Write | Self::Trim | Self::Power => self.name(),
        }
    }

    /// The parameter of its ANSI colour: one of the eight that every terminal has.
    pub(crate) const fn ansi(self) -> &'static str {
        match self {
            Self::Read => "34",
            Self::Write => "32",
            Self::Trim | Self::Power => "35",
            _ => "33",
        }
    }

    /// The colour on a light background.
    pub(crate) fn on_light(self) -> &'static str {
        self.entry().1
    }
}

/// All colours as CSS declarations, for a light or a dark background.
pub(crate) fn css_variables(dark: bool) -> String {
    let all = FIXED.iter().chain(&RUNS).chain(&SENSORS);
    all.map(|(name, light, on_dark)| format!("--{name}:{};", if dark { on_dark } else { light })).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    /// Relative luminance, WCAG 2.1.
    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits")) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    /// WCAG 2.1, 1.4.11: graphics need a contrast of 3:1 against what is behind them.
    #[test]
    fn every_colour_stands_out_from_its_background() {
        for (name, light, dark) in FIXED.iter().chain(&RUNS).chain(&SENSORS) {
            let on_white = 1.05 / (luminance(light) + 0.05);
            let on_dark = (luminance(dark) + 0.05) / (luminance("#14171a") + 0.05);
            assert!(on_white >= 3.0 && on_dark >= 3.0, "{name}: {on_white:.2} {on_dark:.2}");
        }
    }
}
