//! Foreign logs to traces. The caller reads the file; here it is text or bytes with a name.
//!
//! What can be understood two ways is decided by a rule that the importer's header states, or is an error
//! that names file, line and column. Nothing is guessed silently: what was decided goes into the notes.

mod csv;

pub use csv::csv;

use thiserror::Error;

/// Why a foreign log was not understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot read {}: {why}", place(file, *line, column.as_deref()))]
pub struct ImportError {
    /// The file as the caller named it.
    pub file: String,
    /// Line, counted from 1; `None` where the file as a whole is meant.
    pub line: Option<usize>,
    /// Column by name or number.
    pub column: Option<String>,
    /// What is wrong and what to do.
    pub why: String,
}

fn place(file: &str, line: Option<usize>, column: Option<&str>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{file}, line {line}, column {column}"),
        (Some(line), None) => format!("{file}, line {line}"),
        (None, Some(column)) => format!("{file}, column {column}"),
        (None, None) => file.to_owned(),
    }
}

/// The text in `bytes`; binary files are refused with a word on what they might be.
pub(crate) fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, ImportError> {
    let whole =
        |why: &str| ImportError { file: file.to_owned(), line: None, column: None, why: why.to_owned() };
    if bytes.is_empty() {
        return Err(whole("the file is empty"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\x1f\x8b") {
        return Err(whole("it is compressed with gzip; unpack it first"));
    }
    if bytes.starts_with(b"PAR1") {
        return Err(whole("it is a Parquet file; name the run folder that it lies in"));
    }
    if bytes.contains(&0) {
        return Err(whole("it is not text (it has zero bytes in it)"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        ImportError { line: Some(line), ..whole("it is not UTF-8 text") }
    })
}
