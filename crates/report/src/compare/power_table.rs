//! The table of an article about power: a row a run, idle, start-up, reads and writes, as text, Markdown, CSV and HTML.
//!
//! Beside it may stand what somebody else states of these drives: a CSV with `drive` and any of the columns of
//! [`STATED_COLUMNS`]. Watts that were stated are held against the largest second, as people read the largest figure.

use std::str::FromStr;

use analysis::findings::SegmentOp;
use analysis::power::PowerRow;
use thiserror::Error;

use crate::format::MISSING;
use crate::html::{HtmlPage, page, prose, sections, text_table};
use crate::terminal::{TerminalStyle, columns, finished};
use crate::view::{Provenance, ReportInput};

/// What can be stated of a drive.
pub(super) const STATED_COLUMNS: [&str; 6] =
    ["idle_w", "start_w", "read_w", "write_w", "read_mb_per_s", "write_mb_per_s"];

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerTableFormat {
    /// For a terminal.
    Text,
    /// A Markdown table.
    Markdown,
    /// One line a run, numbers without units: they are in the names of the columns.
    Csv,
    /// A page.
    Html,
}

/// A row of the table.
#[derive(Clone, Debug)]
struct PowerTableRow {
    drive: String,
    power_state: Option<u8>,
    link_gb_per_s: Option<f64>,
    values: Vec<Option<f64>>,
    /// Half of the 95 % interval of each value, where there is one.
    halves: Vec<Option<f64>>,
    fits: String,
    stated: [Option<f64>; 6],
}

/// The columns with numbers: name in CSV, heading, decimals.
const VALUES: [(&str, &str, usize); 15] = [
    ("idle_w", "Idle (W)", 2),
    ("start_w", "Start, largest second (W)", 2),
    ("read_w", "Read (W)", 2),
    ("write_w", "Write (W)", 2),
    ("read_max_1s_w", "Read, largest second (W)", 2),
    ("write_max_1s_w", "Write, largest second (W)", 2),
    ("idle_max_1s_w", "Idle, largest second (W)", 2),
    ("read_mb_per_s", "Read (MB/s)", 0),
    ("write_mb_per_s", "Write (MB/s)", 0),
    ("read_mb_per_s_per_w", "Read (MB/s per W)", 0),
    ("write_mb_per_s_per_w", "Write (MB/s per W)", 0),
    ("read_iops_per_w", "Read (IOPS per W)", 0),
    ("write_iops_per_w", "Write (IOPS per W)", 0),
    ("read_j_per_gb", "Read (J per GB)", 2),
    ("write_j_per_gb", "Write (J per GB)", 2),
];

/// Shown to people; CSV has all.
const SHOWN: [&str; 12] = [
    "idle_w",
    "start_w",
    "read_w",
    "write_w",
    "read_max_1s_w",
    "write_max_1s_w",
    "read_mb_per_s",
    "write_mb_per_s",
    "read_mb_per_s_per_w",
    "write_mb_per_s_per_w",
    "read_j_per_gb",
    "write_j_per_gb",
];

/// What a stated column is held against.
const HELD_AGAINST: [&str; 6] =
    ["idle_max_1s_w", "start_w", "read_max_1s_w", "write_max_1s_w", "read_mb_per_s", "write_mb_per_s"];

/// The table.
#[derive(Clone, Debug)]
pub struct PowerTable {
    rows: Vec<PowerTableRow>,
    /// Watts that stated figures include and measured ones do not; `None` without stated figures.
    includes_w: Option<f64>,
    is_simulated: bool,
}

impl PowerTable {
    /// A row for each run that has power.
    pub fn new(runs: &[ReportInput], stated: Option<&StatedPower>) -> Self {
        let rows = runs.iter().filter_map(|run| row(run, stated)).collect();
        let is_simulated = runs.iter().any(|run| run.simulated_badge().is_some());
        Self { rows, includes_w: stated.map(|stated| stated.includes_w), is_simulated }
    }

    /// Whether no run has power.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sorts by a column; rows without a value come last.
    pub fn sort(&mut self, sort: PowerSort) {
        let value = |row: &PowerTableRow| {
            row.values[sort.column].map(|value| if sort.descending { -value } else { value })
        };
        self.rows
            .sort_by(|a, b| value(a).unwrap_or(f64::INFINITY).total_cmp(&value(b).unwrap_or(f64::INFINITY)));
    }

    /// The table in a format.
    pub fn write(&self, format: PowerTableFormat, style: &TerminalStyle) -> String {
        match format {
            PowerTableFormat::Csv => self.csv(),
            PowerTableFormat::Markdown => self.markdown(),
            PowerTableFormat::Html => self.html(),
            PowerTableFormat::Text => {
                let (headers, rows) = self.text_rows();
                let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
                finished(&format!("{}\n{}\n", columns(&headers, &rows, style), self.note()), style)
            }
        }
    }

    /// What its figures are.
    pub(super) fn note(&self) -> &'static str {
        match (self.includes_w, self.is_simulated) {
            (Some(_), true) => {
                "SIMULATED: no figure was measured on metal. \"a / b\" is stated / heatsoak: the largest second, with what the stated watts include added."
            }
            (Some(_), false) => {
                "\"a / b\" is stated / measured: the largest second, with what the stated watts include added."
            }
            (None, true) => {
                "SIMULATED: no figure was measured on metal. Watts are means with 95 % intervals, baseline taken off."
            }
            (None, false) => "Watts are means with 95 % intervals, baseline taken off; ratios are of those.",
        }
    }

    /// Headings and cells for people.
    pub(super) fn text_rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let shown: Vec<usize> = match self.includes_w {
            Some(_) => HELD_AGAINST.iter().map(|name| column(name)).collect(),
            None => SHOWN.iter().map(|name| column(name)).filter(|index| self.has(*index)).collect(),
        };
        let heading = |index: &usize| match (self.includes_w, VALUES[*index].1.split(',').next()) {
            (Some(_), Some(name)) if VALUES[*index].1.ends_with("(W)") && !name.ends_with(')') => {
                format!("{name} (W)")
            }
            _ => VALUES[*index].1.to_owned(),
        };
        let mut headers = vec!["Drive".to_owned(), "Power state".to_owned(), "Link (GB/s)".to_owned()];
        headers.extend(shown.iter().map(heading));
        headers.push("Smallest budget kept".to_owned());
        let cells = |row: &PowerTableRow| {
            let mut cells = vec![
                row.drive.clone(),
                row.power_state.map_or_else(missing, |state| format!("PS{state}")),
                row.link_gb_per_s.map_or_else(missing, |link| format!("{link:.2}")),
            ];
            cells.extend(shown.iter().map(|index| self.cell(row, *index)));
            cells.push(row.fits.clone());
            cells
        };
        (headers, self.rows.iter().map(cells).collect())
    }

    fn has(&self, index: usize) -> bool {
        self.rows.iter().any(|row| row.values[index].is_some())
    }

    fn cell(&self, row: &PowerTableRow, index: usize) -> String {
        let decimals = VALUES[index].2;
        let number = |value: Option<f64>, decimals: usize| {
            value.map_or_else(missing, |value| format!("{value:.decimals$}"))
        };
        let Some(includes_w) = self.includes_w else {
            let half = row.halves[index].filter(|half| *half >= 0.005).map(|half| format!(" ± {half:.2}"));
            return number(row.values[index], decimals) + &half.unwrap_or_default();
        };
        let stated =
            HELD_AGAINST.iter().position(|name| *name == VALUES[index].0).and_then(|at| row.stated[at]);
        let (added, decimals) =
            if VALUES[index].0.ends_with("_w") { (includes_w, 1) } else { (0.0, decimals) };
        // Beside a stated figure of tenths more digits would only look exact.
        format!(
            "{} / {}",
            number(stated, decimals),
            number(row.values[index].map(|value| value + added), decimals)
        )
    }

    fn markdown(&self) -> String {
        let (headers, rows) = self.text_rows();
        let line = |cells: &[String]| {
            format!(
                "| {} |\n",
                cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | ")
            )
        };
        let rule = format!("|{}\n", " --- |".repeat(headers.len()));
        let rows: String = rows.iter().map(|row| line(row)).collect();
        format!("{}{rule}{rows}\n{}\n", line(&headers), self.note())
    }

    fn csv(&self) -> String {
        let names = VALUES.iter().map(|(name, _, _)| (*name).to_owned());
        let intervals = ["idle_w", "read_w", "write_w"].map(|name| format!("{name}_plus_minus_95"));
        let stated =
            STATED_COLUMNS.iter().filter(|_| self.includes_w.is_some()).map(|name| format!("stated_{name}"));
        let head = ["drive", "simulated", "power_state", "link_gb_per_s", "fits"].map(str::to_owned);
        let header: Vec<String> = head.into_iter().chain(names).chain(intervals).chain(stated).collect();
        let number = |value: &Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let line = |row: &PowerTableRow| {
            let head = [
                quoted(&row.drive),
                self.is_simulated.to_string(),
                row.power_state.map_or_else(String::new, |state| state.to_string()),
                number(&row.link_gb_per_s),
                quoted(&row.fits),
            ];
            let halves = ["idle_w", "read_w", "write_w"].map(|name| number(&row.halves[column(name)]));
            let stated = row.stated.iter().filter(|_| self.includes_w.is_some()).map(number);
            let cells: Vec<String> =
                head.into_iter().chain(row.values.iter().map(number)).chain(halves).chain(stated).collect();
            cells.join(",") + "\n"
        };
        format!("{}\n{}", header.join(","), self.rows.iter().map(line).collect::<String>())
    }

    fn html(&self) -> String {
        let (headers, rows) = self.text_rows();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let badge = self.is_simulated.then_some("SIMULATED");
        let title = format!("Power and efficiency of {} runs", self.rows.len());
        let mut body =
            sections::header(&title, badge, "Idle, start-up, reads and writes, and what a byte costs");
        body.push_str(&format!(
            "<section>\n{}<p class=\"note\">{}</p>\n</section>\n",
            text_table("detail cards", &headers, &rows),
            prose(self.note())
        ));
        body.push_str(&sections::footer(None));
        page(&HtmlPage { title: &title, is_simulated: self.is_simulated, body: &body, charts: &[] })
    }
}

fn missing() -> String {
    MISSING.to_owned()
}

fn column(name: &str) -> usize {
    VALUES.iter().position(|(known, _, _)| *known == name).unwrap_or_default()
}

fn row(run: &ReportInput, stated: Option<&StatedPower>) -> Option<PowerTableRow> {
    let found = run.findings.power.as_ref()?;
    let rows: Vec<&PowerRow> = found.primary().collect();
    let baseline_w = found.baseline_w.unwrap_or(0.0);
    let start = rows.iter().find(|row| row.phase == "start");
    let of_op = |op: SegmentOp| {
        rows.iter().copied().find(move |row| row.op == op && row.phase != "start" && row.net_w.is_some())
    };
    let (idle, read, write) = (of_op(SegmentOp::Idle), of_op(SegmentOp::Read), of_op(SegmentOp::Write));
    let most = |row: Option<&PowerRow>| row.and_then(|row| row.max_1s_w).map(|watts| watts - baseline_w);
    let net = |row: Option<&PowerRow>| row.and_then(|row| row.net_w);
    let half =
        |row: Option<&PowerRow>| row.and_then(|row| row.high_w.zip(row.net_w).map(|(high, net)| high - net));
    let speed = |row: Option<&PowerRow>| row.and_then(|row| row.bytes_per_s).map(|speed| speed / 1e6);
    let power_state = rows.iter().find_map(|row| row.power_state);
    let values = vec![
        net(idle),
        most(start.copied()),
        net(read),
        net(write),
        most(read),
        most(write),
        most(idle),
        speed(read),
        speed(write),
        read.and_then(|row| row.mb_per_s_per_w),
        write.and_then(|row| row.mb_per_s_per_w),
        read.and_then(|row| row.iops_per_w),
        write.and_then(|row| row.iops_per_w),
        read.and_then(|row| row.j_per_gb),
        write.and_then(|row| row.j_per_gb),
    ];
    let mut halves = vec![None; VALUES.len()];
    for (name, row) in [("idle_w", idle), ("read_w", read), ("write_w", write)] {
        halves[column(name)] = half(row);
    }
    let fits = found.budgets.iter().find(|budget| budget.fits);
    let profile = match &run.source {
        Provenance::Simulated { profile, .. } => Some(profile.as_str()),
        _ => None,
    };
    let names = [Some(run.drive.as_str()), profile];
    let stated = stated.and_then(|stated| stated.of(&names, power_state)).unwrap_or_default();
    Some(PowerTableRow {
        drive: run.drive.clone(),
        power_state,
        link_gb_per_s: run.link_bytes_per_s.map(|link| link / 1e9),
        values,
        halves,
        fits: fits.map_or_else(missing, |budget| format!("{} ({} W)", budget.form, budget.watts)),
        stated,
    })
}

/// Which column a table is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerSort {
    column: usize,
    descending: bool,
}

impl FromStr for PowerSort {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (name, order) = typed.split_once(':').unwrap_or((typed, "asc"));
        let column = VALUES.iter().position(|(known, _, _)| *known == name).ok_or_else(|| {
            let names: Vec<&str> = VALUES.iter().map(|(name, _, _)| *name).collect();
            format!(
                "{name:?} is no column; columns are {}; add :desc for the largest first",
                names.join(", ")
            )
        })?;
        match order {
            "asc" => Ok(Self { column, descending: false }),
            "desc" => Ok(Self { column, descending: true }),
            _ => Err(format!("{order:?} is no order; write {name}:asc or {name}:desc")),
        }
    }
}

/// What somebody states of drives.
#[derive(Clone, Debug, Default)]
pub struct StatedPower {
    /// Drive, power state (none is any), and the columns of [`STATED_COLUMNS`].
    rows: Vec<StatedRow>,
    /// Watts that these figures include and measured ones do not: `# includes_w: 0.3`.
    includes_w: f64,
}

/// Drive, power state, and the columns.
type StatedRow = (String, Option<u8>, [Option<f64>; 6]);

/// A line that states nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {why}")]
pub struct StatedPowerError {
    line: usize,
    why: String,
}

impl StatedPower {
    fn of(&self, names: &[Option<&str>], power_state: Option<u8>) -> Option<[Option<f64>; 6]> {
        let named = |drive: &str| names.iter().flatten().any(|name| *name == drive);
        let same_state = |state: Option<u8>| state.is_none() || state == power_state;
        let mut rows = self.rows.iter().filter(|(drive, state, _)| named(drive) && same_state(*state));
        rows.next().map(|(_, _, values)| *values)
    }
}

impl FromStr for StatedPower {
    type Err = StatedPowerError;

    fn from_str(text: &str) -> Result<Self, StatedPowerError> {
        let mut stated = Self::default();
        let mut header: Option<Vec<&str>> = None;
        for (index, line) in text.lines().enumerate() {
            let wrong = |why: String| StatedPowerError { line: index + 1, why };
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('#') {
                if let Some(watts) = comment.trim().strip_prefix("includes_w:") {
                    let watts = watts.trim();
                    stated.includes_w =
                        watts.parse().map_err(|_| wrong(format!("{watts:?} is no number of watts")))?;
                }
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let Some(names) = &header else {
                if !cells.contains(&"drive") {
                    let columns = STATED_COLUMNS.join(", ");
                    return Err(wrong(format!(
                        "the first line names columns: drive, and any of power_state, {columns}"
                    )));
                }
                header = Some(cells);
                continue;
            };
            if cells.len() != names.len() {
                return Err(wrong(format!("it has {} cells, the header has {}", cells.len(), names.len())));
            }
            stated.rows.push(stated_row(names, &cells).map_err(wrong)?);
        }
        Ok(stated)
    }
}

fn stated_row(names: &[&str], cells: &[&str]) -> Result<StatedRow, String> {
    let cell = |wanted: &str| names.iter().position(|name| *name == wanted).map_or("", |at| cells[at]);
    let mut values = [None; 6];
    for (value, name) in values.iter_mut().zip(STATED_COLUMNS) {
        let text = cell(name);
        if !text.is_empty() {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            *value = Some(number.ok_or_else(|| format!("{name} is {text:?}, not a number"))?);
        }
    }
    let state = cell("power_state");
    let power_state = match state {
        "" => None,
        typed => Some(typed.parse().map_err(|_| format!("power_state is {typed:?}, not a number"))?),
    };
    Ok((cell("drive").to_owned(), power_state, values))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn stated_figures_are_read_by_name_and_refused_with_their_line() {
        let text = "# includes_w: 0.3\ndrive,power_state,read_w\nx,,1.5\ny,5,2\n";
        let stated: StatedPower = text.parse().expect("it is right");
        assert_eq!(stated.includes_w, 0.3);
        assert_eq!(stated.of(&[None, Some("x")], Some(3)), Some([None, None, Some(1.5), None, None, None]));
        assert_eq!(stated.of(&[Some("y")], Some(4)), None);
        for (text, part) in [
            ("a,b\n", "line 1: the first line names columns"),
            ("drive,read_w\nx\n", "line 2: it has 1 cells"),
            ("drive,read_w\nx,y\n", "line 2: read_w is \"y\""),
            ("# includes_w: x\n", "line 1: \"x\" is no number"),
        ] {
            let error = text.parse::<StatedPower>().expect_err(part).to_string();
            assert!(error.contains(part), "expected {part:?} in {error:?}");
        }
        assert!("read_w:down".parse::<PowerSort>().is_err_and(|why| why.contains("read_w:desc")));
        assert!("watts".parse::<PowerSort>().is_err_and(|why| why.contains("read_mb_per_s_per_w")));
    }
}
