//! TOML tables in which every value knows its line, and unknown keys are refused with the nearest valid ones.
//!
//! Why not derived deserialisation: its errors name neither the nearest key nor the place where a
//! misplaced key belongs, and quantities would need a wrapper type each.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use measure::nearest::did_you_mean;
use measure::parse::{self, ParseError};
use measure::{Bytes, BytesPerSec, Kelvin};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::PlanError;

/// The text being read, for errors.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// An error at a byte range of the text.
    pub(super) fn error(self, span: Range<usize>, why: impl Into<String>) -> PlanError {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        PlanError::Line { file: self.file.to_owned(), line, why: why.into() }
    }
}

/// What a kind of table is called and which keys it may have.
pub(super) struct Shape {
    /// For errors: "a phase".
    pub(super) what: &'static str,
    pub(super) keys: &'static [&'static str],
    /// Keys that belong elsewhere, and where.
    pub(super) elsewhere: &'static [(&'static [&'static str], &'static str)],
}

/// A table whose keys have all been found valid.
pub(super) struct Table<'a> {
    source: Source<'a>,
    shape: &'static Shape,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        source: Source<'a>,
        shape: &'static Shape,
        span: Range<usize>,
        entries: &'a DeTable<'a>,
    ) -> Result<Self, PlanError> {
        // Sorted by place, so that the first mistake in the file is the one named.
        let mut unknown: Vec<_> =
            entries.keys().filter(|key| !shape.keys.contains(&key.get_ref().as_ref())).collect();
        unknown.sort_by_key(|key| key.span().start);
        match unknown.first() {
            Some(key) => Err(source.error(key.span(), unknown_key(shape, key.get_ref()))),
            None => Ok(Self { source, shape, span, entries }),
        }
    }

    /// The value of `key`, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        debug_assert!(self.shape.keys.contains(&key), "{key} is not in the list of keys");
        self.entries.get(key).map(|value| Field { source: self.source, key, value })
    }

    /// Whether `key` is there.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// The value of a key that has to be there.
    pub(super) fn need(&self, key: &'static str, example: &str) -> Result<Field<'a>, PlanError> {
        self.get(key).ok_or_else(|| {
            self.error(format!("{} needs the key `{key}`; write for example {example}", self.shape.what))
        })
    }

    /// An error about the table as a whole.
    pub(super) fn error(&self, why: impl Into<String>) -> PlanError {
        self.source.error(self.span.clone(), why)
    }
}

fn unknown_key(shape: &Shape, key: &str) -> String {
    for (keys, place) in shape.elsewhere {
        if keys.contains(&key) {
            return format!("the key `{key}` does not belong in {}; it belongs {place}", shape.what);
        }
    }
    let hint = did_you_mean(key, shape.keys.iter().copied());
    format!("{} has no key `{key}`; {hint}valid are {}", shape.what, shape.keys.join(", "))
}

/// A value and the key it was given for.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    source: Source<'a>,
    key: &'static str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Field<'a> {
    /// An error about this value.
    pub(super) fn error(&self, why: impl AsRef<str>) -> PlanError {
        self.source.error(self.value.span(), format!("`{}`: {}", self.key, why.as_ref()))
    }

    fn wanted(&self, what: &str) -> PlanError {
        self.error(format!("it is {}, not {what}", kind_name(self.value.get_ref())))
    }

    pub(super) fn string(&self) -> Result<&'a str, PlanError> {
        self.value.get_ref().as_str().ok_or_else(|| self.wanted("a text in quotes"))
    }

    /// The text, if it is one; for keys that take several kinds of value.
    pub(super) fn as_string(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    pub(super) fn path(&self) -> Result<PathBuf, PlanError> {
        self.string().map(PathBuf::from)
    }

    pub(super) fn boolean(&self) -> Result<bool, PlanError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wanted("true or false"))
    }

    /// A whole number of at least `min` that fits the type.
    pub(super) fn integer<T: TryFrom<u64>>(&self, min: u64) -> Result<T, PlanError> {
        let typed = self.value.get_ref().as_integer().ok_or_else(|| self.wanted("a whole number"))?;
        let value = u64::from_str_radix(typed.as_str(), typed.radix())
            .map_err(|_| self.error(format!("{typed} is not a whole number from {min} on")))?;
        if value < min {
            return Err(self.error(format!("{value} is too small: at least {min}")));
        }
        T::try_from(value).map_err(|_| self.error(format!("{value} is too large")))
    }

    /// A number above zero, whole or not.
    pub(super) fn positive(&self) -> Result<f64, PlanError> {
        let number: Option<f64> = match self.value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if number.is_finite() && number > 0.0 => Ok(number),
            Some(number) => Err(self.error(format!("{number} is not above zero"))),
            None => Err(self.wanted("a number")),
        }
    }

    /// A number with a point, from 0.0 to 1.0. Whole numbers are refused: 1 might be one byte or all of it.
    pub(super) fn fraction(&self) -> Result<f64, PlanError> {
        let number: Option<f64> = match self.value.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
            _ => Err(self.error("write a size such as \"4GiB\", a share such as \"25%\", or \"slc\"")),
        }
    }

    pub(super) fn duration(&self) -> Result<Duration, PlanError> {
        self.quantity("a time such as \"5m\"", parse::duration)
    }

    pub(super) fn duration_above_zero(&self) -> Result<Duration, PlanError> {
        let span = self.duration()?;
        if span.is_zero() { Err(self.error("a time of zero is too short")) } else { Ok(span) }
    }

    pub(super) fn size(&self) -> Result<Bytes, PlanError> {
        self.quantity("a size such as \"4GiB\"", parse::size)
    }

    /// The size of an I/O.
    pub(super) fn io_size(&self) -> Result<u32, PlanError> {
        let size = self.size()?;
        match u32::try_from(size.as_u64()) {
            Ok(0) => Err(self.error("an I/O of no bytes moves nothing")),
            Ok(size) => Ok(size),
            Err(_) => Err(self.error(format!("{size} is too much for one I/O: at most 4 GiB - 1 B"))),
        }
    }

    pub(super) fn rate(&self) -> Result<BytesPerSec, PlanError> {
        self.quantity("a rate such as \"500MB/s\"", parse::rate)
    }

    pub(super) fn temperature(&self) -> Result<Kelvin, PlanError> {
        self.quantity("a temperature such as \"65C\"", parse::temperature)
    }

    fn quantity<T>(&self, what: &str, parse: impl Fn(&str) -> Result<T, ParseError>) -> Result<T, PlanError> {
        let Some(typed) = self.as_string() else {
            return Err(self.wanted(&format!("{what} in quotes, with its unit")));
        };
        parse(typed).map_err(|error| self.error(error.to_string()))
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, PlanError> {
        let typed = self.string()?;
        words.iter().find(|(word, _)| *word == typed).map(|(_, value)| *value).ok_or_else(|| {
            let names = || words.iter().map(|(word, _)| *word);
            let valid: Vec<&str> = names().collect();
            self.error(format!(
                "{typed:?} is none of the valid words; {}valid are {}",
                did_you_mean(typed, names()),
                valid.join(", ")
            ))
        })
    }

    pub(super) fn table(&self, shape: &'static Shape) -> Result<Table<'a>, PlanError> {
        match self.value.get_ref() {
            DeValue::Table(entries) => Table::new(self.source, shape, self.value.span(), entries),
            _ => Err(self.wanted(&format!("{}, a table", shape.what))),
        }
    }

    /// The table, if it is one; for keys that take several kinds of value.
    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// The values of a list, each as if it had been given for this key.
    pub(super) fn list(&self) -> Result<Vec<Field<'a>>, PlanError> {
        match self.value.get_ref() {
            DeValue::Array(list) => Ok(list.iter().map(|value| Field { value, ..*self }).collect()),
            _ => Err(self.wanted("a list in square brackets")),
        }
    }

    /// The tables of a `[[list]]`.
    pub(super) fn tables(&self, shape: &'static Shape) -> Result<Vec<Table<'a>>, PlanError> {
        self.list()
            .map_err(|_| self.error(format!("write it in double brackets: [[{}]]", self.key)))?
            .iter()
            .map(|field| field.table(shape))
            .collect()
    }
}

fn kind_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
