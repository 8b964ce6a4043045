//! JSON documents one after the other, with other text around them, and numbers however they are written.
//!
//! Tools print notes before their JSON (fio), append one document to another (fio with `--status-interval`,
//! loops over `nvme smart-log`), or put many into an array. Only one document is in memory at a time.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ImportError;
use super::lines::LineReader;
use super::monitor::when::{Stamp, line_time};

/// A document longer than this is refused: it would need several times as much memory.
const LONGEST: usize = 512 << 20;

/// The documents of a file.
pub(super) struct JsonDocuments<'a> {
    file: &'a str,
    lines: LineReader<'a>,
    text: String,
    /// Line of the first document.
    pub(super) first_line: usize,
    /// The time that the last of the other lines before a document is.
    time_before: Option<Stamp>,
    /// Lines of other text before, between and after documents.
    pub(super) other_lines: usize,
    /// The last document is not whole: it began in this line.
    pub(super) cut_short: Option<usize>,
}

/// A document and the line in which it begins.
pub(super) struct JsonDocument<'a> {
    file: &'a str,
    /// The time in a line before it, since the document before.
    pub(super) time_before: Option<Stamp>,
    pub(super) line: usize,
    text: &'a str,
}

/// How deep in a document a place is, and whether it is in a string.
#[derive(Default)]
struct Depth {
    open: usize,
    in_string: bool,
    escaped: bool,
}

impl<'a> JsonDocuments<'a> {
    pub(super) fn new(file: &'a str, lines: LineReader<'a>) -> Self {
        Self {
            file,
            lines,
            text: String::new(),
            first_line: 0,
            time_before: None,
            other_lines: 0,
            cut_short: None,
        }
    }

    /// The next document; `None` at the end of the file. A document begins with a line that begins with `{` or `[`.
    pub(super) fn next(&mut self) -> Result<Option<JsonDocument<'_>>, ImportError> {
        self.text.clear();
        let (mut depth, mut first) = (Depth::default(), 0);
        while let Some((number, line)) = self.lines.next()? {
            if first == 0 {
                if !line.trim_start().starts_with(['{', '[']) {
                    self.other_lines += usize::from(!line.trim().is_empty());
                    self.time_before = line_time(line).or(self.time_before);
                    continue;
                }
                first = number;
            }
            self.text.push_str(line);
            self.text.push('\n');
            if self.text.len() > LONGEST {
                let why = "the JSON document is longer than 512 MiB; cut the range of time into several";
                return Err(ImportError::at(self.file, first, None, why));
            }
            depth.follow(line);
            if depth.open == 0 {
                if self.first_line == 0 {
                    self.first_line = first;
                }
                let time_before = self.time_before.take();
                return Ok(Some(JsonDocument {
                    file: self.file,
                    time_before,
                    line: first,
                    text: &self.text,
                }));
            }
        }
        if first > 0 {
            if self.first_line == 0 {
                let why = "the JSON that begins here does not end: the file is cut short";
                return Err(ImportError::at(self.file, first, None, why));
            }
            self.cut_short = Some(first);
        }
        Ok(None)
    }
}

impl Depth {
    fn follow(&mut self, line: &str) {
        for byte in line.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.open += 1,
                b'}' | b']' if !self.in_string => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }
}

impl JsonDocument<'_> {
    /// The document as `T`.
    ///
    /// # Errors
    /// With the line of the file and the column where it is no JSON, or not of this shape.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, ImportError> {
        serde_json::from_str(self.text.trim_end()).map_err(|error| self.not_whole(&error))
    }

    /// The objects in it: itself, or those of the array that it is, and of those that follow in its last line.
    pub(super) fn objects(&self) -> Result<Vec<Value>, ImportError> {
        let mut objects = Vec::new();
        for value in serde_json::Deserializer::from_str(self.text).into_iter() {
            match value.map_err(|error| self.not_whole(&error))? {
                Value::Array(all) => objects.extend(all),
                one => objects.push(one),
            }
        }
        Ok(objects)
    }

    fn not_whole(&self, error: &serde_json::Error) -> ImportError {
        let line = self.line + error.line().saturating_sub(1);
        let text = error.to_string();
        let why = text.split(" at line ").next().unwrap_or(&text);
        let why = format!("the JSON is not whole or not of this format: {why}");
        ImportError::at(self.file, line, Some(&error.column().to_string()), why)
    }
}

/// A number however a tool writes it: 128-bit counters come as strings, floats or with separators.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let digits: String = text.trim().chars().filter(|c| *c != ',' && *c != '_').collect();
            digits.parse().ok().filter(|number: &f64| number.is_finite())
        }
        // Counters of 128 bits in two halves (nvme-cli 1, plug-ins).
        Value::Object(halves) => {
            let half = |name| halves.get(name).and_then(Value::as_u64);
            Some(half("hi")? as f64 * 2f64.powi(64) + half("lo")? as f64)
        }
        _ => None,
    }
}

/// The number under `key`.
pub(super) fn number_at(object: &Value, key: &str) -> Option<f64> {
    object.get(key).and_then(number)
}

/// The count under `key`: a whole number, not below zero.
pub(super) fn count_at(object: &Value, key: &str) -> Option<u64> {
    number_at(object, key).filter(|count| *count >= 0.0).map(|count| count as u64)
}

/// Bytes read and written in all of a drive's life: NVMe counts units of a thousand blocks of 512 bytes (NVMe Base,
/// SMART / Health Information log).
pub(super) fn data_units(health: &Value) -> [Option<f64>; 2] {
    ["data_units_read", "data_units_written"].map(|key| number_at(health, key).map(|units| units * 512_000.0))
}

/// The bits of NVMe's Critical Warning: a number, or an object of flags that has it as `value`.
pub(super) fn warning_bits(health: &Value) -> Option<u8> {
    let told = health.get("critical_warning")?;
    number(told.get("value").unwrap_or(told))
        .filter(|bits| (0.0..256.0).contains(bits))
        .map(|bits| bits as u8)
}

#[cfg(test)]
mod test {
    use super::*;

    type FoundDocuments = (Vec<(usize, Value)>, usize, Option<usize>);

    fn all(text: &str) -> Result<FoundDocuments, ImportError> {
        let mut documents = JsonDocuments::new("log", LineReader::new("log", Box::new(text.as_bytes())));
        let mut found = Vec::new();
        while let Some(document) = documents.next()? {
            found.push((document.line, document.parse()?));
        }
        Ok((found, documents.other_lines, documents.cut_short))
    }

    #[test]
    fn documents_are_found_between_other_text_and_a_last_half_one_is_told() {
        let (found, other, cut) =
            all("note: x\n{\"a\": \"}{\\\"\"}\n\n[\n 1]\ntail\n{\"b\":\n").expect("JSON");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
        assert_eq!((other, cut), (2, Some(7)));
        let error = all("{\"a\":\n").expect_err("cut short").to_string();
        assert!(error.contains("line 1: the JSON that begins here does not end"), "{error}");
        let error = all("\n{\"a\":\n nope}\n").expect_err("no JSON").to_string();
        assert!(error.contains("line 3, column 3"), "{error}");
    }

    #[test]
    fn numbers_are_read_however_they_are_written() {
        let value = |text: &str| number(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(value("12"), Some(12.0));
        assert_eq!(value("\"1,928,683\""), Some(1_928_683.0));
        assert_eq!(value("1.5e3"), Some(1500.0));
        assert_eq!(value("{\"hi\": 1, \"lo\": 0}"), Some(2f64.powi(64)));
        assert_eq!(value("\"n/a\""), None);
    }
}
