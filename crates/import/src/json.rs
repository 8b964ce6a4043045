//! JSON documents one after the other, with other text around them, and numbers however they are written.
//!
//! Tools print notes before their JSON (fio), append one document to another (fio with `--status-interval`,
//! loops over `nvme smart-log`), or put many into an array. Only one document is in memory at a time.
//! A program that was ended before its work leaves a document without an end: where that is a list of reports, those that
//! are whole are read.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ImportError;
use super::lines::LineReader;
use super::monitor::line_time::LineTimes;
use super::monitor::when::Stamp;
use super::numbers;

/// A document longer than this is refused: it would need several times as much memory.
const LONGEST: usize = 512 << 20;

/// The documents of a file.
pub(super) struct JsonDocuments<'a> {
    file: &'a str,
    lines: LineReader<'a>,
    text: String,
    /// Line of the first document.
    pub(super) first_line: usize,
    /// The times that lines before documents are.
    times: LineTimes,
    lists: CutLists,
    /// Whether a file of nothing but a torn document has none, and is no error.
    may_be_torn: bool,
    /// Lines of other text before, between and after documents.
    pub(super) other_lines: usize,
    /// The last document is not whole: it began in this line.
    pub(super) cut_short: Option<usize>,
}

/// Which lists of a last document without an end are read up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutLists {
    /// The document itself, where it is a list: its parts stand for themselves.
    Outermost,
    /// Any list in it: what stands before it says what it is a list of.
    Any,
}

/// What to say of a document that is torn, where nothing else is in the file.
pub(super) const CUT: &str = "the JSON that begins here does not end: the file was cut short, as by a loss of power, and half a document is not used. Make it again, or leave the file out";

/// Whether a text is nothing but a document that has no end.
pub(super) fn is_cut(text: &str) -> bool {
    let mut depth = Depth::default();
    let mut lines = text.lines().skip_while(|line| !is_beginning(line));
    lines.all(|line| {
        depth.follow(document_in(line).map_or(line, |(_, json)| json));
        depth.open > 0
    }) && depth.open > 0
}

/// A document and the line in which it begins.
pub(super) struct JsonDocument<'a> {
    file: &'a str,
    /// The time in a line before it, since the document before.
    pub(super) time_before: Option<Stamp>,
    /// The line that looks like a time and was not understood.
    pub(super) unread_time: Option<String>,
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
            times: LineTimes::default(),
            lists: CutLists::Outermost,
            may_be_torn: false,
            other_lines: 0,
            cut_short: None,
        }
    }

    /// The same, which reads any list of a last document without an end.
    pub(super) fn with_cut_lists(self) -> Self {
        Self { lists: CutLists::Any, ..self }
    }

    /// The same, for which a file of nothing but a torn document has none: among others of the drive it is one that is lost.
    pub(super) fn torn_or_not(self) -> Self {
        Self { may_be_torn: true, ..self }
    }

    /// The next document; `None` at the end of the file. A document begins with a line that begins with `{` or `[`.
    pub(super) fn next(&mut self) -> Result<Option<JsonDocument<'_>>, ImportError> {
        self.text.clear();
        let (mut depth, mut first) = (Depth::default(), 0);
        while let Some((number, line)) = self.lines.next()? {
            if first == 0 {
                let Some((time, _)) = document_in(line) else {
                    self.other_lines += usize::from(!line.trim().is_empty());
                    self.times.line(number, line);
                    continue;
                };
                if !time.is_empty() {
                    self.times.line(number, time);
                }
                first = number;
            }
            let line =
                if self.text.is_empty() { document_in(line).map_or(line, |(_, json)| json) } else { line };
            self.text.push_str(line);
            self.text.push('\n');
            if self.text.len() > LONGEST {
                let why = "the JSON document is longer than 512 MiB; cut the range of time into several";
                return Err(ImportError::at(self.file, first, None, why));
            }
            depth.follow(line);
            if depth.open == 0 {
                return Ok(Some(self.document(first)));
            }
        }
        if first > 0 {
            if let Some(whole) = whole_parts(&self.text, self.lists) {
                self.text = whole;
                self.cut_short = Some(first);
                self.lines.document_is_cut(first);
                return Ok(Some(self.document(first)));
            }
            if self.first_line == 0 && !self.may_be_torn {
                return Err(ImportError::at(self.file, first, None, CUT));
            }
            self.cut_short = Some(first);
            self.lines.document_is_cut(first);
        }
        Ok(None)
    }

    fn document(&mut self, line: usize) -> JsonDocument<'_> {
        if self.first_line == 0 {
            self.first_line = line;
        }
        let (time_before, unread_time) = self.times.take();
        JsonDocument { file: self.file, time_before, unread_time, line, text: &self.text }
    }
}

/// Whether a document begins in a line.
pub(super) fn is_beginning(line: &str) -> bool {
    document_in(line).is_some()
}

/// The document that begins in a line, behind the time that may stand before it (`1795246000 {..}`, `[2026-11-21 10:20:30] {..}`).
fn document_in(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    if let Some(at) = line.find('{').filter(|at| *at > 0) {
        let (before, json) = line.split_at(at);
        if LineTimes::is_time(before) {
            return Some((before, json));
        }
    }
    // `[2026-11-21 10:20:30] Device: ..`
    let in_brackets = line.strip_prefix('[').and_then(|line| line.split_once(']'));
    // `[  312.400211] nvme nvme0: ..` of the kernel, and no list of one number.
    let is_since_boot = |text: &str, rest: &str| {
        text.contains('.')
            && text.trim().parse::<f64>().is_ok()
            && rest.starts_with(' ')
            && !rest.trim().is_empty()
    };
    let is_dated =
        in_brackets.is_some_and(|(text, rest)| LineTimes::is_time(text) || is_since_boot(text, rest));
    (line.starts_with(['{', '[']) && !is_dated).then_some(("", line))
}

/// The beginning of a document that has no end, up to the last whole object or list in the outermost list that has one, and
/// closed there; `None` where no list has one.
fn whole_parts(text: &str, lists: CutLists) -> Option<String> {
    // What is open, and in a list where its last whole part ends.
    let mut open: Vec<(u8, Option<usize>)> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => open.push((byte, None)),
            b'}' | b']' if !in_string => {
                open.pop();
                if let Some((b'[', last)) = open.last_mut() {
                    *last = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    let depth = open.iter().position(|(_, last)| last.is_some())?;
    if depth > 0 && lists == CutLists::Outermost {
        return None;
    }
    let mut whole = text[..open[depth].1?].to_owned();
    whole.extend(open[..=depth].iter().rev().map(|(begin, _)| if *begin == b'{' { '}' } else { ']' }));
    Some(whole)
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
            let plain = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            plain.or_else(|| numbers::whole(text))
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

/// What a drive counts: numbers of an object, and those that are no counts.
pub(super) struct CountsAt<'a> {
    pub(super) object: &'a Value,
    /// How they are called in the file, and what they are.
    pub(super) odd: Vec<String>,
}

impl<'a> CountsAt<'a> {
    pub(super) fn new(object: &'a Value) -> Self {
        Self { object, odd: Vec::new() }
    }

    /// The counter under `key`; one below zero, or without a number, counts nothing.
    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        let value = self.object.get(key).filter(|value| !value.is_null())?;
        let count = number(value).filter(|count| *count >= 0.0);
        if count.is_none() {
            self.odd.push(format!("{key}: {value}"));
        }
        count
    }

    /// The same in whole numbers.
    pub(super) fn count(&mut self, key: &str) -> Option<u64> {
        self.number(key).map(|count| count as u64)
    }

    /// Bytes read and written in all of a drive's life: NVMe counts units of a thousand blocks of 512 bytes (NVMe Base,
    /// SMART / Health Information log).
    pub(super) fn data_units(&mut self) -> [Option<f64>; 2] {
        ["data_units_read", "data_units_written"].map(|key| self.number(key).map(|units| units * 512_000.0))
    }

    /// Commands by which a host read and wrote, under the keys of that tool.
    pub(super) fn host_commands(&mut self, keys: [&str; 2]) -> Option<f64> {
        let [read, written] = keys.map(|key| self.number(key));
        Some(read? + written?)
    }
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
        // Lists are read as far as they are whole.
        let (found, _, cut) = all("[{\"a\": [1]},\n {\"a\": [2, 3]},\n {\"a\": [4").expect("a list");
        assert_eq!((found.len(), found[0].1.as_array().map(Vec::len), cut), (1, Some(2), Some(1)));
        for (text, whole) in [
            ("{\"a\": {\"b\": [{\"c\": [{}]}, {\"c\": [{}, {", Some("{\"a\": {\"b\": [{\"c\": [{}]}]}}")),
            ("{\"a\": [{\"b\": [[1, \"]\"], [2, \"", Some("{\"a\": [{\"b\": [[1, \"]\"]]}]}")),
            ("{\"a\": [1, 2", None),
            ("{\"a\": [1, 2], \"b\": {", None),
            ("[", None),
        ] {
            assert_eq!(whole_parts(text, CutLists::Any).as_deref(), whole, "{text}");
            assert_eq!(whole_parts(text, CutLists::Outermost), None, "{text}");
        }
        let error = all("{\"a\":\n").expect_err("cut short").to_string();
        assert!(error.contains("line 1: the JSON that begins here does not end"), "{error}");
        let error = all("\n{\"a\":\n nope}\n").expect_err("no JSON").to_string();
        assert!(error.contains("line 3, column 3"), "{error}");
    }

    #[test]
    fn a_time_may_stand_before_a_document_in_its_line() {
        for line in [
            "1795246000 {}",
            "1795246000.5\t{}",
            "[2026-11-21 10:20:30] {}",
            "2026-11-21T10:20:30Z: {}",
            "=== Sat Nov 21 10:20:30 UTC 2026 === {}",
        ] {
            let mut documents = JsonDocuments::new("log", LineReader::new("log", Box::new(line.as_bytes())));
            let document = documents.next().expect(line).expect(line);
            assert!(document.time_before.is_some() && document.text == "{}\n", "{line}");
        }
        for line in ["[{\"a\": 1}]", "{\"a\": {}}", "[[{}]]"] {
            assert_eq!(document_in(line), Some(("", line)));
        }
        assert_eq!(document_in("note {}"), None);
    }

    #[test]
    fn numbers_are_read_however_they_are_written() {
        let value = |text: &str| number(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(value("12"), Some(12.0));
        assert_eq!(value("\"1,928,683\""), Some(1_928_683.0));
        assert_eq!((value("\"1\u{202f}928\""), value("\"1.5\"")), (Some(1928.0), Some(1.5)));
        assert_eq!(value("1.5e3"), Some(1500.0));
        assert_eq!(value("{\"hi\": 1, \"lo\": 0}"), Some(2f64.powi(64)));
        assert_eq!(value("\"n/a\""), None);
    }
}
