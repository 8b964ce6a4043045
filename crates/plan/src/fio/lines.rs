//! A job file as sections of options, each with its line.

use super::JobReader;
use crate::PlanError;

/// A section and its options, in their order.
pub(super) struct Section<'a> {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) options: Vec<JobOption<'a>>,
}

/// One option as it was written.
#[derive(Clone, Copy)]
pub(super) struct JobOption<'a> {
    pub(super) line: usize,
    pub(super) key: &'a str,
    /// `None` for a key alone, which switches something on.
    pub(super) value: Option<&'a str>,
}

impl Section<'_> {
    /// fio takes every section whose name begins so for a global one.
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

pub(super) fn sections<'a>(text: &'a str, reader: &JobReader<'_>) -> Result<Vec<Section<'a>>, PlanError> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        // A comment may begin anywhere, as fio has it: values cannot contain ; or #.
        let content = raw.split([';', '#']).next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let name = rest
                .strip_suffix(']')
                .ok_or_else(|| reader.error(line, "the section's name is not closed with a \"]\""))?;
            sections.push(Section { name: name.to_owned(), line, options: Vec::new() });
            continue;
        }
        refuse_indirection(line, content, reader)?;
        let Some(section) = sections.last_mut() else {
            return Err(reader.error(
                line,
                format!("the option {content:?} stands before the first section; put [global] above it"),
            ));
        };
        let (key, value) = match content.split_once('=') {
            Some((key, value)) => (key.trim_end(), Some(value.trim_start())),
            None => (content, None),
        };
        section.options.push(JobOption { line, key, value });
    }
    Ok(sections)
}

/// What would make the file mean another thing on another day: files taken in, variables of the environment.
fn refuse_indirection(line: usize, content: &str, reader: &JobReader<'_>) -> Result<(), PlanError> {
    if content.strip_prefix("include").is_some_and(|rest| rest.starts_with([' ', '\t'])) {
        return Err(reader.error(line, "other files are not taken in; put their options in here"));
    }
    if content.contains('$') {
        return Err(reader.error(
            line,
            "variables ($name, ${NAME}) are not replaced, so that a plan means the same every time; write the value itself",
        ));
    }
    Ok(())
}
