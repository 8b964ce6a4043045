//! The instantaneous file: rows of each worker about once a second, then the test's totals.
//!
//! Rows that name an access specification are totals. The row `ALL` is what the sum of the others is compared with.

use super::{MB, MIB, ResultColumns, ResultRow, description, local, op_of, stamp};
use crate::ImportError;
use crate::grid::WindowGrid;
use crate::lines::LineReader;
use crate::part::{CountedBy, RunPart};
use trace::SegmentOp;
use trace::caveat::{Caveat, CutOff, Sums};
use trace::{Phase, SpeedSeries, Trace};

/// Iometer's default period of instantaneous results.
const STEP_S: f64 = 1.0;
/// Iometer writes rows a minute apart at most; bytes that would have taken longer at their rate are not of that rate.
const LONGEST_ROW_S: f64 = 60.0;
/// Rows further apart than this have a hole between them; workers' rows and a row that came late are nearer.
const LONGEST_HOLE_S: f64 = 3.0 * STEP_S;
/// Sum and total are the same up to this: the last fraction of a second has no row.
const SAME_SUM: f64 = 0.1;
/// A file longer than this is of two clocks.
const LONGEST_RUN_S: f64 = 400.0 * 86_400.0;

struct InstantReader {
    grids: [WindowGrid; 2],
    zero_s: Option<f64>,
    test: String,
    phases: Vec<Phase>,
    /// Whether a test begins with the next row.
    begins: bool,
    /// Times that rows cover, in seconds: where none does, nothing is known.
    covered: Vec<(f64, f64)>,
    /// Bytes in rows of workers and in the row ALL of the test under way.
    summed: f64,
    caveats: Vec<Caveat>,
    rows: usize,
    assumed_base: bool,
}

/// Reads an instantaneous file.
pub(crate) fn instant(file: &str, mut lines: LineReader<'_>) -> Result<RunPart, ImportError> {
    let mut columns: Option<ResultColumns> = None;
    let mut expects_description = false;
    let mut reading = InstantReader {
        grids: [WindowGrid::new(STEP_S), WindowGrid::new(STEP_S)],
        zero_s: None,
        test: "test".into(),
        phases: Vec::new(),
        begins: true,
        covered: Vec::new(),
        summed: 0.0,
        caveats: Vec::new(),
        rows: 0,
        assumed_base: false,
    };
    while let Some((number, line)) = lines.next()? {
        if line.starts_with("TimeStamp,") {
            columns =
                Some(ResultColumns::read(line).map_err(|why| ImportError::at(file, number, None, why))?);
        } else if line.starts_with("'Test Type") {
            expects_description = true;
        } else if expects_description {
            reading.test = description(line);
            expects_description = false;
            reading.begins = true;
            reading.summed = 0.0;
        } else if let Some(columns) = &columns
            && let Some(at) = line.split(',').next().filter(|_| line.contains(',')).and_then(stamp)
        {
            let short = line.split(',').count() < columns.count;
            let row = line.to_owned();
            if short && !lines.ended {
                let file = Some(file.to_owned());
                reading.caveats.push(Caveat::Truncated { file, line: number, left_out: CutOff::Line });
                break;
            }
            let cells = ResultRow::read(file, number, &row, columns)?;
            reading.row(&cells, columns, at)?;
        } else if columns.as_ref().is_some_and(|columns| line.split(',').count() >= columns.count) {
            let why = "this row has no time such as 2023-03-25 03:05:43:661";
            return Err(ImportError::at(file, number, Some("1"), why));
        }
    }
    reading.finish(file)
}

impl InstantReader {
    fn row(&mut self, cells: &ResultRow<'_>, columns: &ResultColumns, at: f64) -> Result<(), ImportError> {
        let kind = cells.cells[columns.kind];
        let is_total = columns.specification.is_some_and(|column| !cells.cells[column].is_empty());
        let mut bytes = [0.0; 2];
        let mut spans = [STEP_S; 2];
        for which in 0..2 {
            let (rate, base) = cells.rate(columns, which)?;
            self.assumed_base |= base.is_none() && rate > 0.0;
            let rate = rate * base.unwrap_or(MIB);
            bytes[which] = match cells.number(columns.bytes[which])? {
                Some(bytes) => bytes,
                None => rate * STEP_S,
            };
            let span_s = bytes[which] / rate;
            if rate > 0.0 && span_s > 0.0 && span_s <= LONGEST_ROW_S {
                spans[which] = span_s;
            }
        }
        if is_total {
            if kind == "ALL" {
                self.compare(cells, bytes[0] + bytes[1]);
            }
            return Ok(());
        }
        if kind != "WORKER" {
            return Ok(());
        }
        let zero_s = *self.zero_s.get_or_insert(at - spans[0].max(spans[1]));
        let t_s = at - zero_s;
        if t_s.abs() > LONGEST_RUN_S {
            let why = "this time is over 400 days away from the first: two files in one";
            return Err(ImportError::at(cells.file, cells.line, Some("1"), why));
        }
        self.rows += 1;
        self.summed += bytes[0] + bytes[1];
        for which in 0..2 {
            if bytes[which] > 0.0 {
                self.grids[which].add(t_s - spans[which], t_s, bytes[which]);
            }
        }
        let (op, start_s) = (op_of(bytes[0], bytes[1]), t_s - spans[0].max(spans[1]));
        match self.phases.last_mut() {
            Some(last) if !self.begins => {
                last.end_s = last.end_s.max(t_s);
                if last.op != op && op != SegmentOp::Idle {
                    last.op = if last.op == SegmentOp::Idle { op } else { SegmentOp::Mixed };
                }
            }
            _ => self.phases.push(Phase::bare(&self.test, op, start_s, t_s)),
        }
        self.begins = false;
        match self.covered.last_mut() {
            Some(last) if start_s - last.1 <= LONGEST_HOLE_S => last.1 = last.1.max(t_s),
            _ => self.covered.push((start_s, t_s)),
        }
        Ok(())
    }

    fn compare(&mut self, cells: &ResultRow<'_>, total: f64) {
        let difference = (self.summed - total) / total.max(1.0);
        if difference.abs() > SAME_SUM {
            self.caveats.push(Caveat::SumDiffers(Sums::Iometer {
                file: cells.file.to_owned(),
                line: cells.line,
                workers_mb: self.summed / MB,
                total_mb: total / MB,
            }));
        }
    }

    /// Whether a row tells what was done at that time, in seconds.
    fn covers(&self, t_s: f64) -> bool {
        let after = self.covered.partition_point(|(start_s, _)| *start_s <= t_s);
        after.checked_sub(1).is_some_and(|at| t_s <= self.covered[at].1)
    }

    fn finish(self, file: &str) -> Result<RunPart, ImportError> {
        let Some(zero_s) = self.zero_s else {
            return Err(ImportError::whole(file, "there is no row of a worker in it"));
        };
        let mut trace = Trace::empty(file);
        for (grid, op) in self.grids.iter().zip([SegmentOp::Read, SegmentOp::Write]) {
            if grid.total() > 0.0 {
                let mut intervals = grid.intervals(1.0);
                intervals.retain(|interval| self.covers(interval.start_s + interval.span_s / 2.0));
                trace.speeds.push(SpeedSeries { op, intervals });
            }
        }
        trace.phases = self.phases;
        trace.caveats = self.caveats;
        if self.assumed_base {
            trace.caveats.push(Caveat::UnitUnstated { file: file.to_owned(), tests: None });
        }
        trace.notes.push(format!("{file}: {} rows of workers, summed on windows of 1 s", self.rows));
        Ok(RunPart { files: vec![file.to_owned()], source: CountedBy::Load, clock: local(zero_s), trace })
    }
}
