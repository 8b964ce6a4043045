//! Why a log of another tool was not understood, and where.

use thiserror::Error;

/// Why a foreign log was not understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot read {}: {why}", location(file, *line, column.as_deref()))]
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

impl ImportError {
    pub(crate) fn at(file: &str, line: usize, column: Option<&str>, why: impl Into<String>) -> Self {
        let column = column.map(str::to_owned);
        Self { file: file.to_owned(), line: Some(line), column, why: why.into() }
    }

    pub(crate) fn whole(file: &str, why: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, column: None, why: why.into() }
    }
}

fn location(file: &str, line: Option<usize>, column: Option<&str>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{file}, line {line}, column {column}"),
        (Some(line), None) => format!("{file}, line {line}"),
        (None, Some(column)) => format!("{file}, column {column}"),
        (None, None) => file.to_owned(),
    }
}
