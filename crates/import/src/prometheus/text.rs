//! Text of Prometheus and OpenMetrics with timestamps, to the series that an answer to a range query has: what
//! `heatsoak export --format prometheus` writes, and what `promtool tsdb create-blocks-from openmetrics` takes.
//!
//! Rules
//! - A sample is `name{label="value",..} value timestamp`; what stands behind (an exemplar) is passed over, and so are comments and
//!   samples without a timestamp.
//! - Timestamps are seconds in OpenMetrics 1.0, which has a point in them or ends with `# EOF`, and whole milliseconds in Prometheus'
//!   text format 0.0.4. Numbers that are seconds since 1970 as they stand are that.

use std::collections::BTreeMap;

use super::{MetricSeries, SampleValue};
use crate::ImportError;
use crate::lines::LineReader;
use crate::monitor::when::since_1970;

/// The last line of OpenMetrics.
const END: &str = "# EOF";

/// Whether a text is one of metrics with timestamps: it has a comment or labels as these formats have them.
pub(crate) fn is_series(text: &str) -> bool {
    let lines = || text.lines().map(str::trim);
    let has_comment = lines().any(|line| line.starts_with("# TYPE ") || line.starts_with("# HELP "));
    let is_one = |line: &str| {
        (has_comment || line.contains("=\"")) && sample(line).is_some_and(|one| one.time.is_some())
    };
    lines().filter(|line| !line.starts_with('#')).any(is_one)
}

/// The series in a text, each with its samples in the order of the file.
pub(super) fn series(file: &str, mut lines: LineReader<'_>) -> Result<Vec<MetricSeries>, ImportError> {
    let mut all: BTreeMap<String, Vec<(f64, SampleValue)>> = BTreeMap::new();
    let mut has_seconds = false;
    while let Some((number, line)) = lines.next()? {
        let line = line.trim().to_owned();
        has_seconds |= line == END;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Digits of the last number may be lost.
        if !lines.ended {
            lines.line_is_cut(number);
            break;
        }
        let Some(sample) = sample(&line) else {
            let why = "this is no sample of Prometheus' text format: name{label=\"value\"} value timestamp";
            return Err(ImportError::at(file, number, None, why));
        };
        let Some(time) = sample.time else { continue };
        has_seconds |= time.contains('.');
        let time = time.parse().unwrap_or(f64::NAN);
        match all.get_mut(sample.series) {
            Some(values) => values.push((time, SampleValue(sample.value))),
            None => {
                all.insert(sample.series.to_owned(), vec![(time, SampleValue(sample.value))]);
            }
        }
    }
    if all.is_empty() {
        return Err(ImportError::whole(file, crate::nearest::ONE_SCRAPE));
    }
    let seconds = |time: f64| match has_seconds {
        true => time,
        false => since_1970(time).unwrap_or(time / 1e3),
    };
    let one = |(name, mut values): (String, Vec<(f64, SampleValue)>)| {
        values.iter_mut().for_each(|(time, _)| *time = seconds(*time));
        MetricSeries { metric: labels(&name), values }
    };
    Ok(all.into_iter().map(one).collect())
}

/// A line of a sample.
struct Sample<'a> {
    /// Name and labels as they stand.
    series: &'a str,
    value: f64,
    time: Option<&'a str>,
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let name_end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))?;
    let is_name = name_end > 0 && !line.starts_with(|c: char| c.is_ascii_digit());
    let end = match line[name_end..].starts_with('{') {
        true => name_end + labels_end(&line[name_end..])?,
        false => name_end,
    };
    let mut words = line[end..].split_whitespace();
    let value = words.next()?.parse().ok()?;
    let time = words.next().filter(|word| word.parse::<f64>().is_ok());
    is_name.then_some(Sample { series: &line[..end], value, time })
}

/// Where labels that begin with `{` end: behind the `}` that stands in no value.
fn labels_end(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '}' if !is_quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Name and labels, the name as `__name__`.
fn labels(series: &str) -> BTreeMap<String, String> {
    let (name, rest) = series.split_once('{').unwrap_or((series, ""));
    let mut labels = BTreeMap::from([("__name__".to_owned(), name.to_owned())]);
    let mut rest = rest.trim_end_matches('}');
    while let Some((label, quoted)) = rest.split_once("=\"") {
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        let mut end = quoted.len();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => value.extend(characters.next().map(|(_, c)| if c == 'n' { '\n' } else { c })),
                c => value.push(c),
            }
        }
        labels.insert(label.trim_matches([',', ' ']).to_owned(), value);
        rest = &quoted[end..];
    }
    labels
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn labels_may_hold_what_ends_them() {
        let line = r#"a_b{device="x\"}{",op="r\\w", n="1"} 1.5e3 17 # {trace="1"} 2"#;
        let one = sample(line).expect("a sample");
        assert_eq!((one.value, one.time), (1500.0, Some("17")));
        let labels = labels(one.series);
        let of = |label: &str| labels.get(label).map(String::as_str);
        assert_eq!((of("__name__"), of("device")), (Some("a_b"), Some("x\"}{")));
        assert_eq!((of("op"), of("n")), (Some("r\\w"), Some("1")));
    }

    #[test]
    fn a_page_without_times_and_other_tables_are_no_series() {
        assert!(is_series("# TYPE a gauge\na 1 1709677800000\n"));
        assert!(is_series("a{b=\"c\"} 1 1709677800000\n"));
        for text in [
            "# HELP a b\n# TYPE a gauge\na{b=\"c\"} 1\n",
            "a 1 2\n",
            "Device tps\nsda 1 2\n",
            "a{b=\"c} 1 2\n",
        ] {
            assert!(!is_series(text), "{text}");
        }
    }
}
