//! Quantities as people type them: `65C`, `338K`, `4GiB`, `5m`, `1.2GB/s`, `25%`.
//!
//! One grammar for the command line, plans, profiles and fio job files: a number, then a unit.
//! A number without a unit is refused where the unit matters, and the error lists the units.

use std::time::Duration;

use thiserror::Error;

use crate::units::{Bytes, BytesPerSec, Celsius, Kelvin};

/// Why a typed quantity was not understood.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{typed:?} is not {wanted}: {why}; write for example {example}")]
pub struct ParseError {
    typed: String,
    wanted: &'static str,
    why: String,
    example: String,
}

/// One kind of quantity: its name for errors, an example, and its units with their size.
struct QuantityKind {
    wanted: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
    /// The unit that is meant most often where none is typed; `None` where a guess could be far off.
    usual: Option<&'static str>,
}

const SIZE: QuantityKind = QuantityKind {
    wanted: "a size",
    example: "4GiB, 500MB or 4096B",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ],
    usual: None,
};

const TIME: QuantityKind = QuantityKind {
    wanted: "a time",
    example: "5m, 300s, 100ms or 1h",
    units: &[
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("min", 60.0),
        ("h", 3600.0),
        ("d", 86_400.0),
    ],
    usual: Some("s"),
};

/// A size in bytes. A bare number is refused: `4096B` is clear, `4096` might be anything.
pub fn size(typed: &str) -> Result<Bytes, ParseError> {
    let bytes = quantity(typed, &SIZE)?;
    whole(typed, bytes, &SIZE).map(Bytes::new)
}

/// A span of time.
pub fn duration(typed: &str) -> Result<Duration, ParseError> {
    let seconds = quantity(typed, &TIME)?;
    Duration::try_from_secs_f64(seconds).map_err(|error| TIME.error(typed, error.to_string()))
}

/// A span of time that is not nothing.
pub fn some_time(typed: &str) -> Result<Duration, ParseError> {
    match duration(typed)? {
        Duration::ZERO => Err(TIME.error(typed, "it must be more than 0 s".to_owned())),
        span => Ok(span),
    }
}

/// A transfer rate: a size, then `/s`.
pub fn rate(typed: &str) -> Result<BytesPerSec, ParseError> {
    const RATE: QuantityKind = QuantityKind {
        wanted: "a rate",
        example: "1.2GB/s, 500MB/s or 1GiB/s",
        units: SIZE.units,
        usual: None,
    };
    let trimmed = typed.trim();
    let Some(size) = trimmed.strip_suffix("/s") else {
        return Err(RATE.error(typed, "it does not end in \"/s\"".to_owned()));
    };
    let (number, unit) = split(size);
    let value = scale(typed, number, unit, &RATE)?;
    if value == 0.0 {
        return Err(RATE.error(typed, "a rate of zero moves nothing".to_owned()));
    }
    Ok(BytesPerSec::new(value))
}

/// A temperature that a drive setting takes, in whole kelvins: `65C` is 338 K.
pub fn temperature(typed: &str) -> Result<Kelvin, ParseError> {
    const TEMPERATURE: QuantityKind = QuantityKind {
        wanted: "a whole temperature",
        example: "65C or 338K",
        units: &[("C", 1.0), ("K", 1.0)],
        usual: Some("C"),
    };
    let (number, unit) = split(typed.trim().strip_prefix('-').unwrap_or(typed.trim()));
    let magnitude = whole(typed, scale(typed, number, unit, &TEMPERATURE)?, &TEMPERATURE)?;
    let magnitude = i32::try_from(magnitude).map_err(|_| TEMPERATURE.error(typed, OFF_DRIVE.to_owned()))?;
    let degrees = if typed.trim().starts_with('-') { -magnitude } else { magnitude };
    let kelvin = match unit {
        "K" => u16::try_from(degrees).ok().map(Kelvin::from_kelvin),
        _ => Kelvin::from_whole_celsius(degrees),
    };
    // 0 K is how the host turns a threshold off (NVMe Base 2.3, 5.2.26.1.9).
    let is_sensible = |kelvin: &Kelvin| kelvin.as_kelvin() == 0 || DRIVE_K.contains(&kelvin.as_kelvin());
    kelvin.filter(is_sensible).ok_or_else(|| TEMPERATURE.error(typed, OFF_DRIVE.to_owned()))
}

/// Temperatures of a drive, in kelvins: -60 to 200 °C. Industrial drives are rated for -40 to 85 °C and stored at -55 °C; NAND
/// loses its data and solder melts before 200 °C.
const DRIVE_K: std::ops::RangeInclusive<u16> = 213..=473;
const OFF_DRIVE: &str = "a drive's temperature lies between -60 °C and 200 °C";
/// Temperatures of the air, in °C: colder than any data centre to hotter than any drive is rated for.
const AIR_C: std::ops::RangeInclusive<f64> = -60.0..=120.0;

/// A temperature of the air, which need not be whole: `23.5C`.
pub fn celsius(typed: &str) -> Result<Celsius, ParseError> {
    let air = "the temperature of the air lies between -60 °C and 120 °C";
    celsius_within(typed, |degrees| AIR_C.contains(&degrees), air)
}

/// A temperature that a drive is to have, which need not be whole either.
pub fn drive_celsius(typed: &str) -> Result<Celsius, ParseError> {
    celsius_within(typed, |degrees| (-60.0..=200.0).contains(&degrees), OFF_DRIVE)
}

fn celsius_within(typed: &str, holds: impl Fn(f64) -> bool, range: &str) -> Result<Celsius, ParseError> {
    const AMBIENT: QuantityKind = QuantityKind {
        wanted: "a temperature",
        example: "23.5C or 296K",
        units: &[("C", 1.0), ("K", 1.0)],
        usual: Some("C"),
    };
    let trimmed = typed.trim();
    let (sign, rest) = trimmed.strip_prefix('-').map_or((1.0, trimmed), |rest| (-1.0, rest));
    let (number, unit) = split(rest);
    let value = sign * scale(typed, number, unit, &AMBIENT)?;
    let degrees = match unit {
        "K" => Celsius::from_kelvin_f64(value),
        _ => Celsius::from_degrees(value),
    };
    if !holds(degrees.as_degrees()) {
        return Err(AMBIENT.error(typed, range.to_owned()));
    }
    Ok(degrees)
}

/// A whole number without a unit: a seed, a count.
///
/// # Errors
/// When it is none, with an example.
pub fn count(typed: &str) -> Result<u64, ParseError> {
    let error = |why: &str| ParseError {
        typed: typed.to_owned(),
        wanted: "a whole number from 0 on",
        why: why.to_owned(),
        example: "42".to_owned(),
    };
    let digits = typed.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(error("it has other characters than digits"));
    }
    digits.parse().map_err(|_| error("it is larger than 2^64 - 1"))
}

/// A share of a whole, from `0%` to `100%`, as a fraction from 0 to 1.
pub fn percent(typed: &str) -> Result<f64, ParseError> {
    const PERCENT: QuantityKind =
        QuantityKind { wanted: "a percentage", example: "25%", units: &[("%", 0.01)], usual: Some("%") };
    let fraction = quantity(typed, &PERCENT)?;
    if fraction > 1.0 {
        return Err(PERCENT.error(typed, "it is more than 100%".to_owned()));
    }
    Ok(fraction)
}

impl QuantityKind {
    fn error(&self, typed: &str, why: String) -> ParseError {
        ParseError { typed: typed.to_owned(), wanted: self.wanted, why, example: self.example.to_owned() }
    }

    fn unit_names(&self) -> String {
        self.units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

fn quantity(typed: &str, kind: &QuantityKind) -> Result<f64, ParseError> {
    let (number, unit) = split(typed.trim());
    scale(typed, number, unit, kind)
}

/// Splits `12.5 MiB` into `12.5` and `MiB`.
fn split(typed: &str) -> (&str, &str) {
    let end = typed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(typed.len());
    (&typed[..end], typed[end..].trim_start())
}

fn scale(typed: &str, number: &str, unit: &str, kind: &QuantityKind) -> Result<f64, ParseError> {
    let value: f64 = number.replace('_', "").parse().map_err(|_| {
        let why =
            if number.is_empty() { "it does not start with a number" } else { "its number is malformed" };
        kind.error(typed, why.to_owned())
    })?;
    if unit.is_empty() {
        let error = kind.error(typed, format!("it has no unit ({})", kind.unit_names()));
        // The number with the unit that is meant most often, ready to be typed.
        let example = kind.usual.map(|unit| format!("{}{unit}", typed.trim()));
        return Err(ParseError { example: example.unwrap_or_else(|| error.example.clone()), ..error });
    }
    match kind.units.iter().find(|(name, _)| *name == unit) {
        Some((_, size)) => Ok(value * size),
        None => Err(kind.error(typed, format!("the unit {unit:?} is none of {}", kind.unit_names()))),
    }
}

fn whole(typed: &str, value: f64, kind: &QuantityKind) -> Result<u64, ParseError> {
    // Above 2^53 a double no longer tells neighbouring whole numbers apart.
    const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;
    if value > EXACT_LIMIT {
        return Err(kind.error(typed, "it is too large".to_owned()));
    }
    // 1.1 GB is exact in decimal but not in binary: forgive the last bits, nothing more.
    let rounded = value.round();
    if (value - rounded).abs() > 1e-6 * rounded.max(1.0) || (rounded == 0.0 && value > 0.0) {
        return Err(kind.error(typed, "it is not a whole number of them".to_owned()));
    }
    Ok(rounded as u64)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(size("4GiB"), Ok(Bytes::new(4 << 30)));
        assert_eq!(size("1.1GB"), Ok(Bytes::new(1_100_000_000)));
        assert_eq!(size("4096B"), Ok(Bytes::new(4096)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("100ms"), Ok(Duration::from_millis(100)));
        assert_eq!(rate("1.2GB/s"), Ok(BytesPerSec::new(1.2e9)));
        assert_eq!(temperature("65C"), Ok(Kelvin::from_kelvin(338)));
        assert_eq!(temperature("338K"), Ok(Kelvin::from_kelvin(338)));
        assert_eq!(temperature("-10C"), Ok(Kelvin::from_kelvin(263)));
        assert_eq!(celsius("23.5C").map(Celsius::as_degrees), Ok(23.5));
        assert_eq!(percent("25%"), Ok(0.25));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_valid_units() {
        for far in ["2147483647C", "-2147483647C", "-274C", "65536K", "6000C", "201C", "-61C", "1K"] {
            let error = temperature(far).expect_err("no drive is there").to_string();
            assert!(error.contains("between -60 °C and 200 °C"), "{error}");
        }
        let error = size("4").expect_err("no unit").to_string();
        assert!(error.contains("it has no unit (B, kB"), "{error}");
        let error = temperature("70F").expect_err("Fahrenheit").to_string();
        assert!(error.contains("none of C, K"), "{error}");
        assert!(duration("5 fortnights").is_err());
        assert!(size("-1GiB").is_err());
        assert!(size("0.3B").is_err());
        assert!(rate("0MB/s").is_err());
        assert!(percent("120%").is_err());
        assert!(temperature("65.5C").is_err());
        for air in ["-300C", "6000C", "121C", "-61C", "1000K"] {
            let error = celsius(air).expect_err("no air is that cold or hot").to_string();
            assert!(error.contains("between -60 °C and 120 °C"), "{error}");
        }
        assert!(drive_celsius("130C").is_ok() && drive_celsius("6000C").is_err());
        assert_eq!(temperature("0K"), Ok(Kelvin::from_kelvin(0)), "off");
        assert!(some_time("0s").is_err() && some_time("1ns").is_ok());
    }
}
