//! The result file: one mean a test.

use super::{MB, MIB, ResultColumns, ResultRow, description, local, op_of, stamp};
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::{CountedBy, RunPart};
use trace::SegmentOp;
use trace::caveat::{Caveat, CutOff};
use trace::{Interval, Phase, SpeedSeries, Trace};

/// I/Os times transfer size agree with a rate to this share, or it is of another base: the bases are 4.9 % apart.
const SAME_RATE: f64 = 0.02;

/// A test while it is read.
#[derive(Default)]
struct IometerTest {
    line: usize,
    name: String,
    stamps: Vec<f64>,
    sizes: Vec<f64>,
    columns: Option<ResultColumns>,
    total: Option<Total>,
}

/// The row `ALL` of a test.
struct Total {
    bytes: [Option<f64>; 2],
    rate: [f64; 2],
    base: Option<f64>,
    ios: [f64; 2],
    errors: f64,
}

/// What the next line is.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Anything,
    Description,
    Stamp,
    Sizes,
    Header,
}

/// Time stamps of Iometer are whole milliseconds: no test is shorter.
const STAMP_S: f64 = 0.001;

/// A result file while it is read.
struct ResultsReader<'a> {
    file: &'a str,
    finished: Vec<FinishedTest>,
    trace: Trace,
    test: Option<IometerTest>,
    next: Next,
    /// Tests whose unit is not stated.
    unstated: usize,
}

/// Reads a result file.
pub(crate) fn results(file: &str, mut lines: LineReader<'_>) -> Result<RunPart, ImportError> {
    let (trace, next) = (Trace::empty(file), Next::Anything);
    let mut reading = ResultsReader { file, finished: Vec::new(), trace, test: None, next, unstated: 0 };
    while let Some((number, line)) = lines.next()? {
        match line.strip_prefix('\'') {
            Some(marker) => reading.marker(number, line, marker.split(',').next().unwrap_or(marker))?,
            None => reading.content(number, line)?,
        }
    }
    if let Some(open) = &reading.test {
        left_out(file, open, &mut reading.trace);
    }
    if reading.unstated > 0 {
        let tests = Some(reading.unstated);
        reading.trace.caveats.push(Caveat::UnitUnstated { file: file.to_owned(), tests });
    }
    finish(file, reading.finished, reading.trace)
}

impl ResultsReader<'_> {
    /// A line that begins with an apostrophe: it names what follows.
    fn marker(&mut self, number: usize, line: &str, marker: &str) -> Result<(), ImportError> {
        let wrong = |why: String| ImportError::at(self.file, number, None, why);
        let before = std::mem::replace(&mut self.next, Next::Anything);
        match marker {
            "Test Type" => {
                let fresh = IometerTest { line: number, ..IometerTest::default() };
                if let Some(open) = self.test.replace(fresh) {
                    left_out(self.file, &open, &mut self.trace);
                }
                self.next = Next::Description;
            }
            "Time Stamp" => self.next = Next::Stamp,
            "size" => self.next = Next::Sizes,
            "Results" => self.next = Next::Header,
            "Target Type" if before == Next::Header => {
                if let Some(test) = &mut self.test {
                    test.columns = Some(ResultColumns::read(line).map_err(wrong)?);
                }
            }
            "End Test" => {
                let Some(test) = self.test.take() else { return Ok(()) };
                let test = test.close().map_err(wrong)?;
                self.unstated += usize::from(test.base_unstated);
                self.trace.io_errors = self.trace.io_errors.saturating_add(test.errors as u64);
                self.finished.push(test);
            }
            _ => {}
        }
        Ok(())
    }

    /// Any other line.
    fn content(&mut self, number: usize, line: &str) -> Result<(), ImportError> {
        let wrong = |why: String| ImportError::at(self.file, number, None, why);
        let Some(test) = &mut self.test else { return Ok(()) };
        match self.next {
            Next::Description => test.name = description(line),
            Next::Stamp => {
                let Some(at) = stamp(line) else {
                    return Err(wrong(format!("{line:?} is no time stamp such as 2023-03-25 03:05:43:661")));
                };
                test.stamps.push(at);
            }
            Next::Sizes => {
                let size = line.split(',').next().and_then(|size| size.trim().parse::<u64>().ok());
                test.sizes.extend(size.map(|size| size as f64));
                return Ok(());
            }
            Next::Header => {
                return Err(wrong("after 'Results there is no header line with 'Target Type".into()));
            }
            Next::Anything if line.starts_with("ALL,") => test.total(self.file, number, line)?,
            Next::Anything => {}
        }
        self.next = Next::Anything;
        Ok(())
    }
}

fn left_out(file: &str, test: &IometerTest, trace: &mut Trace) {
    let file = Some(file.to_owned());
    trace.caveats.push(Caveat::Truncated { file, line: test.line, left_out: CutOff::Test });
}

/// A test as it was measured.
struct FinishedTest {
    start_s: f64,
    end_s: f64,
    name: String,
    /// Read and written.
    bytes: [f64; 2],
    errors: f64,
    base_unstated: bool,
}

impl IometerTest {
    fn total(&mut self, file: &str, number: usize, line: &str) -> Result<(), ImportError> {
        let Some(columns) = &self.columns else {
            let why = "there is a row of results before their header line";
            return Err(ImportError::at(file, number, None, why));
        };
        let cells = ResultRow::read(file, number, line, columns)?;
        let ((read, base), (write, _)) = (cells.rate(columns, 0)?, cells.rate(columns, 1)?);
        let ios =
            [cells.number(columns.ios[0])?.unwrap_or(0.0), cells.number(columns.ios[1])?.unwrap_or(0.0)];
        self.total = Some(Total {
            bytes: [cells.number(columns.bytes[0])?, cells.number(columns.bytes[1])?],
            rate: [read, write],
            base,
            ios,
            errors: cells.number(columns.errors)?.unwrap_or(0.0),
        });
        Ok(())
    }

    /// The test as it was measured, or why it cannot have been.
    fn close(self) -> Result<FinishedTest, String> {
        let (Some(total), [begin_s, .., end_s]) = (self.total, &self.stamps[..]) else {
            return Err("the test that ends here has no totals or no two time stamps".into());
        };
        let told = told_base(&total, &self.sizes);
        let base = total.base.or(told).unwrap_or(MIB);
        let rate = total.rate.map(|rate| rate * base);
        let wall_s = (end_s - begin_s).max(STAMP_S);
        let sum = rate[0] + rate[1];
        let measured_s = match total.bytes {
            [Some(read), Some(written)] if sum > 0.0 => ((read + written) / sum).min(wall_s),
            _ => wall_s,
        };
        if measured_s < STAMP_S {
            return Err(format!(
                "the test that ends here moved its bytes at its speed in {measured_s:.1e} s, and its time stamps are {wall_s:.3} s apart: they are not of one test"
            ));
        }
        let bytes = [0, 1].map(|i| total.bytes[i].unwrap_or(rate[i] * measured_s));
        let base_unstated = total.base.is_none() && told.is_none() && total.bytes == [None; 2] && sum > 0.0;
        let (start_s, errors) = (end_s - measured_s, total.errors);
        Ok(FinishedTest { start_s, end_s: *end_s, name: self.name, bytes, errors, base_unstated })
    }
}

/// The base with which I/Os per second times the only transfer size agree.
fn told_base(total: &Total, sizes: &[f64]) -> Option<f64> {
    let &[size] = sizes else { return None };
    let (ios, rate) = (total.ios[0] + total.ios[1], total.rate[0] + total.rate[1]);
    [MIB, MB].into_iter().find(|base| rate > 0.0 && (ios * size / (rate * base) - 1.0).abs() < SAME_RATE)
}

fn finish(file: &str, mut tests: Vec<FinishedTest>, mut trace: Trace) -> Result<RunPart, ImportError> {
    tests.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let Some(zero_s) = tests.first().map(|test| test.start_s) else {
        return Err(ImportError::whole(file, "there is no finished test in it"));
    };
    if let Some(pair) = tests.windows(2).find(|pair| pair[1].start_s < pair[0].end_s - 1.0) {
        let (a, b) = (&pair[0].name, &pair[1].name);
        let why = format!("its tests {a:?} and {b:?} overlap in time: two files in one");
        return Err(ImportError::whole(file, why));
    }
    for (which, op) in [SegmentOp::Read, SegmentOp::Write].into_iter().enumerate() {
        let interval = |(index, test): (usize, &FinishedTest)| Interval {
            start_s: test.start_s - zero_s,
            span_s: test.end_s - test.start_s,
            bytes: test.bytes[which],
            phase: index as u32,
        };
        let intervals: Vec<Interval> =
            tests.iter().enumerate().map(interval).filter(|i| i.bytes > 0.0).collect();
        if !intervals.is_empty() {
            trace.speeds.push(SpeedSeries { op, intervals });
        }
    }
    let as_phase = |test: &FinishedTest| {
        let op = op_of(test.bytes[0], test.bytes[1]);
        Phase::bare(&test.name, op, test.start_s - zero_s, test.end_s - zero_s)
    };
    trace.phases = tests.iter().map(as_phase).collect();
    trace.notes.push(format!("{file}: {} tests of Iometer, one mean each", tests.len()));
    Ok(RunPart { files: vec![file.to_owned()], source: CountedBy::Load, clock: local(zero_s), trace })
}
