//! Values as they stand in a plan file: quantities with their unit in quotes, positions, seeds.
//!
//! A field that holds one has `#[serde(with = "plain")]` or, where it may be left out, `"optional"`.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use measure::parse::{self, ParseError};
use measure::{Bytes, BytesPerSec, Celsius, Kelvin, Seed};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use toml::Value;

use crate::{Extent, Region};

/// A value with one or several forms in a plan file; what is none of them is refused.
pub(crate) trait PlanValue: Sized {
    /// What is expected, for errors.
    const WANTED: &'static str;

    fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Str(typed), &Self::WANTED))
    }

    fn from_whole<E: Error>(number: i64) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Signed(number), &Self::WANTED))
    }

    fn from_float<E: Error>(number: f64) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Float(number), &Self::WANTED))
    }

    fn from_table<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &Self::WANTED))
    }

    fn from_list<'de, A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &Self::WANTED))
    }

    /// The form in which it is written.
    fn to_value(&self) -> Value;
}

struct Forms<T>(PhantomData<T>);

impl<'de, T: PlanValue> Visitor<'de> for Forms<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WANTED)
    }

    fn visit_str<E: Error>(self, typed: &str) -> Result<T, E> {
        T::from_text(typed)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::from_whole(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        T::from_float(number)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        T::from_table(table)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }
}

/// For `#[serde(with)]`: a value that is always there, or has a default.
pub(crate) mod plain {
    use super::*;

    pub(crate) fn serialize<T: PlanValue, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.to_value().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: PlanValue, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        deserializer.deserialize_any(Forms(PhantomData))
    }
}

/// For `#[serde(with)]`: a value that may be left out.
pub(crate) mod optional {
    use super::*;

    pub(crate) fn serialize<T: PlanValue, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: PlanValue, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        plain::deserialize(deserializer).map(Some)
    }
}

/// For `#[serde(with)]`: a time above zero.
pub(crate) mod period {
    use super::*;
    pub(crate) use plain::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let span: Duration = plain::deserialize(deserializer)?;
        if span.is_zero() { Err(D::Error::custom("a time of zero is too short")) } else { Ok(span) }
    }
}

/// The elements of a list, so that what is wrong with one as a whole is reported at its own place: the
/// deserialiser marks the place where a newtype begins, and not that of an element.
pub(crate) fn elements<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    struct Element<T>(T);
    let list = Vec::<Element<T>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|Element(value)| value).collect())
}

/// The size of one I/O in bytes, above zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IoSize(pub(crate) u32);

/// A quantity that is a text and nothing else.
macro_rules! in_quotes {
    ($type:ty, $wanted:literal, $read:expr, $write:expr) => {
        impl PlanValue for $type {
            const WANTED: &'static str = concat!($wanted, " in quotes");

            fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
                $read(typed).map_err(E::custom)
            }

            fn to_value(&self) -> Value {
                $write(*self).into()
            }
        }
    };
}

in_quotes!(Duration, "a time such as \"5m\"", parse::duration, time_text);
in_quotes!(Bytes, "a size such as \"4GiB\"", parse::size, |size: Self| whole_bytes(size.as_u64()));
in_quotes!(IoSize, "a size such as \"4KiB\"", io_size, |size: Self| whole_bytes(size.0.into()));
in_quotes!(BytesPerSec, "a rate such as \"500MB/s\"", parse::rate, rate_text);
in_quotes!(Celsius, "a temperature such as \"23.5C\"", parse::celsius, |at: Self| format!(
    "{}C",
    at.as_degrees()
));
in_quotes!(Kelvin, "a temperature such as \"65C\"", parse::temperature, |at: Self| format!(
    "{}C",
    at.as_whole_celsius()
));

fn io_size(typed: &str) -> Result<IoSize, String> {
    let size = parse::size(typed).map_err(|error| error.to_string())?;
    match u32::try_from(size.as_u64()) {
        Ok(0) => Err("an I/O of no bytes moves nothing".to_owned()),
        Ok(bytes) => Ok(IoSize(bytes)),
        Err(_) => Err(format!("{size} is too much for one I/O: at most 4 GiB - 1 B")),
    }
}

fn time_text(span: Duration) -> String {
    match (span.as_secs(), span.subsec_nanos()) {
        (0, 0) => "0s".to_owned(),
        (s, 0) if s.is_multiple_of(3600) => format!("{}h", s / 3600),
        (s, 0) if s.is_multiple_of(60) => format!("{}m", s / 60),
        (s, 0) => format!("{s}s"),
        (0, ns) if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        (0, ns) if ns.is_multiple_of(1000) => format!("{}us", ns / 1000),
        (0, ns) => format!("{ns}ns"),
        (s, ns) => format!("{s}.{ns:09}s"),
    }
}

fn rate_text(rate: BytesPerSec) -> String {
    let rate = rate.as_f64();
    // Whole numbers up to 2^53 are exact in a double, and so is their product with a unit.
    let whole = rate.fract() == 0.0 && rate < 9e15;
    format!("{}/s", if whole { whole_bytes(rate as u64) } else { format!("{rate}B") })
}

/// TOML's integers end at 2^63 - 1; larger seeds are written as a text.
impl PlanValue for Seed {
    const WANTED: &'static str = "a whole number";

    fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
        let number = typed.parse().map(Self::new);
        number.map_err(|_| E::invalid_value(Unexpected::Str(typed), &"a whole number from 0 to 2^64 - 1"))
    }

    fn from_whole<E: Error>(number: i64) -> Result<Self, E> {
        let number = u64::try_from(number).map(Self::new);
        number.map_err(|_| E::custom("a seed is 0 or more"))
    }

    fn to_value(&self) -> Value {
        match i64::try_from(self.as_u64()) {
            Ok(number) => Value::Integer(number),
            Err(_) => self.as_u64().to_string().into(),
        }
    }
}

impl PlanValue for Extent {
    const WANTED: &'static str = "a size such as \"4GiB\", a share such as \"25%\", or \"slc\"";

    fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
        let read = match typed {
            "slc" => return Ok(Self::Slc),
            share if share.trim().ends_with('%') => parse::percent(share).map(Self::Fraction),
            size => parse::size(size).map(Self::Bytes),
        };
        read.map_err(|error: ParseError| {
            let or = if typed.contains('%') { "" } else { "; or a share such as 25%, or \"slc\"" };
            E::custom(format_args!("{error}{or}"))
        })
    }

    /// Whole numbers are refused: 1 might be one byte or all of it.
    fn from_float<E: Error>(number: f64) -> Result<Self, E> {
        let share = (0.0..=1.0).contains(&number).then_some(Self::Fraction(number));
        share.ok_or_else(|| E::invalid_value(Unexpected::Float(number), &Self::WANTED))
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Bytes(bytes) => bytes.to_value(),
            Self::Slc => "slc".into(),
            Self::Fraction(fraction) => {
                let percent = format!("{}%", fraction * 100.0);
                // Where the detour over percent would not come back exactly, the fraction itself is written.
                match parse::percent(&percent) {
                    Ok(back) if back == *fraction => percent.into(),
                    _ => Value::Float(*fraction),
                }
            }
        }
    }
}

/// A table with start and length, or the length alone.
impl PlanValue for Region {
    const WANTED: &'static str = Extent::WANTED;

    fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
        Extent::from_text(typed).map(|len| Self { len: Some(len), ..Self::ALL })
    }

    fn from_float<E: Error>(number: f64) -> Result<Self, E> {
        Extent::from_float(number).map(|len| Self { len: Some(len), ..Self::ALL })
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(table))
    }

    fn to_value(&self) -> Value {
        Value::try_from(self).expect("texts and numbers are values of TOML")
    }
}

/// The unit that leaves the smallest whole number; bytes where nothing divides evenly.
pub(crate) fn whole_bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 8] = [
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1000),
    ];
    let unit = UNITS.into_iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}
