//! The plain CSV: a header line with any of the columns below, and rows over time.
//!
//! Columns: `t_s`, `read_bytes_per_s`, `write_bytes_per_s`, `read_mb_per_s`, `write_mb_per_s` (10^6 B/s),
//! `composite_k`, `temp_c`, `sensor1_c` .. `sensor8_c`, `power_w`, `ambient_c`, `tmt1_c`, `tmt2_c`, the four counters
//! `tmt1_transitions`, `tmt2_transitions`, `tmt1_seconds`, `tmt2_seconds`, `phase`, `written_bytes`, `read_bytes`.
//! Lines that begin with `#` are comments; `# NAME: VALUE` states a fact of the run ([`FACTS`]).
//!
//! Titles that are spelt otherwise and have a unit are read as [`title`] says, times as [`clock`] says, and what they leave open is
//! settled as [`columns`] says. Units may stand in the line below the titles.
//!
//! Rules
//! - Cells end at commas, semicolons or tabs, of which the header has most. A cell in quotation marks may hold them (RFC 4180). An
//!   empty cell, `-`, `N/A`, `NaN` and `null` are missing readings. Numbers are told by [`number`].
//! - A speed holds from its row's `t_s` to the next row's. Where the next row is more than three usual
//!   steps away, it holds for one usual step and the rest is a gap; so does the last row's.
//! - Without a write speed, it is taken from the differences of `written_bytes`, and without a read speed from those of `read_bytes`.
//! - Rows of several drives are told apart by a column such as `device` ([`devices`]), columns by the devices in their titles; one
//!   drive is named with `--device`.
//! - A line that repeats the line before counts once.
//! - A time that does not lie after the one before drops its row. More than one row in twenty of
//!   that kind is an error: two logs in one file, most likely. Rows with dates are sorted by them, after what was done to
//!   their clock ([`crate::set_back`]).
//! - A time column that starts beyond 10^8 s (three years) counts from its own first row.
//! - A number that cannot be in its column's unit is an error: temperatures outside 200 to 500 K, speeds over
//!   10^12 B/s, times over 10^11 s or 400 days from the first.
//! - A last line without a line end and with cells missing was cut short: it is left out, with a caveat.
//! - °C in a column of whole numbers are whole kelvins less 273, as every tool shows them; other
//!   columns are kelvins less 273.15.
//! - Rows of one `phase` name in a row are one phase. A phase called `read`, `write`, `mixed`, `trim` or `idle` is
//!   that, any other is what its speeds show. Without the column, phases are read off the speeds.

mod clock;
mod columns;
mod devices;
mod header;
mod number;
mod series;
mod table;
mod time_form;
mod title;
mod unit;

use measure::record::ThermalSettings;

pub(crate) use self::header::{is_own_column, is_own_header};
pub(crate) use self::series::add_phases;
pub(crate) use self::series::kelvin_from_celsius;
use self::series::{add_readings, add_speeds, named_phases, threshold_k};
use self::table::CsvTable;
use super::ImportError;
use super::lines::LineReader;
use super::part::{CountedBy, RunPart, TimeBase};
use trace::caveat::{Caveat, ClockDoubt, CutOff};
use trace::{Trace, instant};

/// Names of facts that a comment may state.
const FACTS: [&str; 13] = [
    "name",
    "simulated",
    "link_bytes_per_s",
    "tmt1_c",
    "tmt2_c",
    "tmt_min_c",
    "tmt_max_c",
    "warning_c",
    "critical_c",
    "ambient_c",
    "capacity_bytes",
    "slc_bytes",
    "rate_limit_bytes_per_s",
];

/// The trace in a plain CSV. `file` is the name used in errors and as the trace's name.
///
/// # Errors
/// Anything that is not the format in this module's header, with line and column.
pub fn csv(file: &str, bytes: &[u8]) -> Result<Trace, ImportError> {
    super::import(
        vec![super::LogFile::from_bytes(file, bytes)],
        &super::ImportOptions { format: Some(super::Format::Csv), ..super::ImportOptions::default() },
    )
}

/// The part in a plain CSV.
pub(super) fn part(file: &str, lines: LineReader<'_>, device: Option<&str>) -> Result<RunPart, ImportError> {
    let table = CsvTable::read(file, lines, device)?;
    let mut trace = Trace::empty(file);
    let limit = facts(&table, &mut trace)?;
    clock_caveats(&table, &mut trace);
    add_speeds(&table, &mut trace).map_err(|why| ImportError::whole(file, why))?;
    add_readings(&table, &mut trace);
    let (named, clock) = (named_phases(&table), table.base());
    // A month's table takes as much memory as its trace.
    drop(table);
    // Phases without names are read off all that there is of a run, when its files are joined.
    if !named.is_empty() || limit.is_some() {
        trace.trust_a_sensor();
        add_phases(named, &mut trace);
    }
    for phase in &mut trace.phases {
        phase.rate_limit_bytes_per_s = limit;
    }
    Ok(RunPart { files: vec![file.to_owned()], source: CountedBy::Load, clock, trace })
}

/// Takes over the facts; returns the rate limit, which belongs to the phases.
fn facts(table: &CsvTable, trace: &mut Trace) -> Result<Option<f64>, ImportError> {
    let (mut limit, mut settings) = (None, ThermalSettings::default());
    for (line, name, value) in &table.facts {
        let (line, name, value) = (*line, name.as_str(), value.as_str());
        // Other comments with a colon in them are just comments.
        if !FACTS.contains(&name) {
            continue;
        }
        let wrong = |why: String| table.at(line, Some(name), why);
        if name == "name" {
            value.clone_into(&mut trace.name);
            continue;
        }
        if name == "simulated" {
            let simulated =
                value.parse().map_err(|_| wrong(format!("{value:?} is neither true nor false")))?;
            trace.facts.simulated = Some(simulated);
            continue;
        }
        let number: f64 = value.parse().map_err(|_| wrong(format!("{value:?} is not a number")))?;
        if !number.is_finite() || (number < 0.0 && !name.ends_with("_c")) {
            return Err(wrong(format!(
                "{value} is not a possible value; leave the line out where it is not known"
            )));
        }
        if let Some(why) = table::implausible(name, number) {
            return Err(wrong(why));
        }
        if number == 0.0 && name.ends_with("_bytes_per_s") {
            return Err(wrong(
                "a rate of 0 is not possible; leave the line out where it is not known".into(),
            ));
        }
        let kelvin = kelvin_from_celsius(number, number.fract() == 0.0);
        match name {
            "link_bytes_per_s" => trace.facts.link_bytes_per_s = Some(number),
            "tmt1_c" => settings.tmt1_k = Some(threshold_k(number)),
            "tmt2_c" => settings.tmt2_k = Some(threshold_k(number)),
            "tmt_min_c" => trace.facts.tmt_min_k = Some(kelvin),
            "tmt_max_c" => trace.facts.tmt_max_k = Some(kelvin),
            "warning_c" => trace.facts.warning_k = Some(kelvin),
            "critical_c" => trace.facts.critical_k = Some(kelvin),
            "ambient_c" => trace.facts.ambient_k = Some(kelvin),
            "capacity_bytes" => trace.facts.capacity_bytes = Some(number as u64),
            "slc_bytes" => trace.facts.slc_bytes = Some(number as u64),
            _ => limit = Some(number),
        }
    }
    if settings != ThermalSettings::default() {
        trace.settings.push(instant(0.0), settings);
    }
    Ok(limit)
}

fn clock_caveats(table: &CsvTable, trace: &mut Trace) {
    if table.not_forward > 0 {
        trace.caveats.push(Caveat::Clock(ClockDoubt::RowsLeftOut { rows: table.not_forward }));
    }
    if let Some(line) = table.truncated {
        trace.caveats.push(Caveat::Truncated { file: None, line, left_out: CutOff::LastLine });
    }
    trace.caveats.extend(table.set_clocks.iter().cloned());
    trace.notes.extend(table.notes.iter().cloned());
    if table.clock.is_excel {
        trace.notes.push("times are numbers of days, as Excel shows dates without their format".into());
    }
    if let TimeBase::Unix { zero_s } = table.base() {
        trace
            .notes
            .push(format!("times are those of a wall clock; they count from the first row, {zero_s} s"));
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use trace::SegmentOp;

    fn read(text: &str) -> Trace {
        csv("log.csv", text.as_bytes()).expect("a valid file")
    }

    fn refused(text: &str) -> String {
        csv("log.csv", text.as_bytes()).expect_err("an invalid file").to_string()
    }

    #[test]
    fn columns_facts_and_empty_cells_are_taken_over() {
        let trace = read(
            "# link_bytes_per_s: 3938000000\n# tmt1_c: 70\n# note: any text\n# simulated: true\n\
             t_s,read_mb_per_s,write_bytes_per_s,temp_c,sensor2_c,tmt1_transitions,phase\n\
             0,,1600000000,45,45.5,3,\"fill, all\"\n1,,1600000000,,46.5,3,\"fill, all\"\n\n2,3000,,47,,4,check\n9,3000,,48,,4,check\n",
        );
        assert_eq!(trace.facts.link_bytes_per_s, Some(3.938e9));
        assert_eq!((trace.facts.simulated, trace.tmt_at(5.0)), (Some(true), (Some(343.0), None)));
        let composite = &trace.temperatures[0];
        assert_eq!((composite.name.as_str(), composite.kelvin.points()[0].value), ("composite", 318.0));
        assert_eq!((composite.kelvin.points().len(), composite.kelvin.gaps().len()), (3, 1));
        assert!((trace.temperatures[1].kelvin.points()[0].value - 318.65).abs() < 1e-9);
        let ops: Vec<_> = trace.phases.iter().map(|p| (p.name.as_str(), p.op)).collect();
        assert_eq!(ops, [("fill, all", SegmentOp::Write), ("check", SegmentOp::Read)]);
        let reads = &trace.speeds[0].intervals;
        assert_eq!((reads[0].bytes, reads[0].span_s, reads[1].phase), (3e9, 1.0, 1));
        assert_eq!(trace.counters.points().len(), 4);
    }

    /// Goal: a column's rate counts for its own period. Method: one speed, written in every row and in every third and
    /// tenth.
    #[test]
    fn a_column_that_is_written_rarely_holds_until_its_next_value() {
        for every in [1, 3, 10] {
            let row = |t: usize| match t.is_multiple_of(every) {
                true => format!("{t},1500,40\n"),
                false => format!("{t},,40\n"),
            };
            let trace = read(&format!("t_s,write_mb_per_s,temp_c\n{}", (0..60).map(row).collect::<String>()));
            let intervals = &trace.speeds[0].intervals;
            let bytes: f64 = intervals.iter().map(|interval| interval.bytes).sum();
            assert_eq!((bytes, intervals[0].span_s), (60.0 * 1.5e9, every as f64), "every {every} rows");
            assert!(trace.unread_share() < 1e-9 && trace.temperatures[0].kelvin.points().len() == 60);
        }
    }

    /// Goal: means of the time before count for that. Method: a load that begins after a minute, its speed in the last row of each ten.
    #[test]
    fn a_column_whose_first_value_stands_in_the_last_row_of_its_period_is_of_the_time_before() {
        let row = |t: usize| match (t % 10, t) {
            (9, ..60) => format!("{t},0,40\n"),
            (9, _) => format!("{t},1500,40\n"),
            _ => format!("{t},,40\n"),
        };
        let trace = read(&format!("t_s,write_mb_per_s,temp_c\n{}", (0..120).map(row).collect::<String>()));
        let intervals = &trace.speeds[0].intervals;
        assert_eq!((intervals[0].start_s, intervals[0].end_s()), (0.0, 10.0));
        let loaded = intervals.iter().find(|interval| interval.bytes > 0.0).expect("a load");
        assert_eq!((loaded.start_s, loaded.end_s(), loaded.bytes), (60.0, 70.0, 15e9));
        assert!(
            trace.notes.iter().any(|note| note.contains("means of the time before")),
            "{:?}",
            trace.notes
        );
    }

    #[test]
    fn errors_name_the_place_and_what_would_be_right() {
        assert_eq!(refused(""), "cannot read log.csv: the file is empty");
        assert!(refused("t_s,write_mb_per_s\n0,1600,5\n").contains("line 2: the row has 3 cells"));
        let unit = refused("t_s,write_blocks_per_s\n0,1\n");
        assert!(unit.contains("line 1, column \"write_blocks_per_s\""), "{unit}");
        assert!(unit.contains("write_mb_per_s"), "{unit}");
        assert!(refused("t_s,temp_x\n0,1\n").contains("temp_x (°C)"));
        assert!(refused("t_s,write\n0,1\n").contains("such as \"write (MB/s)\""));
        assert!(refused("write_mb_per_s\n1\n").contains("no column t_s"));
        assert!(
            refused("t_s,temp_c\n0,1\n1,abc\n").contains("line 3, column temp_c: \"abc\" is not a number")
        );
        assert!(refused("t_s,write_mb_per_s\n0,-1\n").contains("is not a possible value"));
        assert!(refused("t_s,temp_c\n").contains("no rows"));
        assert!(refused("t_s,temp_c\n,4\n").contains("needs a time"));
        assert!(refused("t_s,t_s\n0,0\n").contains("twice"));
        let binary = csv("log.csv", b"\x00\x01").expect_err("binary").to_string();
        assert!(binary.contains("not text"), "{binary}");
        let latin = csv("log.csv", b"t_s\n\xff\n").expect_err("not UTF-8").to_string();
        assert!(latin.contains("line 2"), "{latin}");
    }

    #[test]
    fn numbers_in_another_unit_than_their_columns_are_refused() {
        for (text, told) in [
            (
                "t_s,composite_k\n0,318\n1,45\n",
                "line 3, column composite_k: 45 K is no temperature of a drive: is it in °C?",
            ),
            ("t_s,temp_c\n0,318\n", "line 2, column temp_c: 318 °C is no temperature"),
            (
                "t_s,read_mb_per_s\n0,3000000000\n",
                "column read_mb_per_s: 3000000000 is faster than any drive",
            ),
            ("t_s,temp_c\n0,45\n1e300,45\n", "line 3, column t_s: "),
            ("t_s,temp_c\n0,45\n1700000000000,45\n", "is it in milliseconds?"),
            ("# link_bytes_per_s: 0\nt_s,temp_c\n0,45\n", "line 1, column link_bytes_per_s: a rate of 0"),
            ("# warning_c: 358\nt_s,temp_c\n0,45\n", "358 °C is no temperature"),
        ] {
            assert!(refused(text).contains(told), "{text}: {}", refused(text));
        }
        // Not reported, and off.
        let off = read("t_s,composite_k,tmt1_c\n0,0,-273\n1,318,-273\n");
        assert_eq!((off.temperatures[0].kelvin.gaps().len(), off.tmt_at(0.0).0), (1, None));
        assert_eq!(read("# tmt1_c: 0\nt_s,temp_c,tmt2_c\n0,40,0\n").tmt_at(0.0), (None, None));
    }

    /// Goal: a sensor that did not answer is none in a log's few rows, not a log in another unit.
    #[test]
    fn a_sensor_that_was_not_read_has_no_reading() {
        for (title, none, read_k) in
            [("temp_c", "255", 313.0), ("temp_c", "65262", 313.0), ("composite_k", "65535", 40.0 + 273.0)]
        {
            let degrees = if title == "composite_k" { 313 } else { 40 };
            let text = format!("t_s,{title}\n0,{degrees}\n1,{none}\n2,{degrees}\n3,{none}\n");
            let trace = read(&text);
            let values: Vec<f64> = trace.temperatures[0].kelvin.points().iter().map(|p| p.value).collect();
            assert_eq!(values, [read_k; 2], "{text}");
            assert!(
                trace.notes.iter().any(|note| note.starts_with("2 temperatures of 255 °C")),
                "{:?}",
                trace.notes
            );
        }
        let off_bus = read("t_s,temp_c\n0,40\n1,-273\n2,41\n");
        assert_eq!(off_bus.temperatures[0].kelvin.points().len(), 2);
    }

    #[test]
    fn a_last_line_that_was_cut_short_is_left_out() {
        let trace = read("t_s,read_mb_per_s,temp_c\n0,3000,45\n1,3000,45\n2,30");
        assert!(matches!(trace.caveats[0], Caveat::Truncated { line: 4, .. }), "{:?}", trace.caveats);
        assert_eq!(trace.speeds[0].intervals.len(), 2);
        assert!(
            refused("t_s,read_mb_per_s,temp_c\n0,3000,45\n1,3000\n").contains("line 3: the row has 2 cells")
        );
    }

    #[test]
    fn times_that_do_not_go_forward_are_dropped_when_few_and_refused_when_many() {
        let rows: String = (0..40).map(|t| format!("{t},100\n")).collect();
        let trace = read(&format!("t_s,write_mb_per_s\n{rows}39,101\n"));
        assert!(matches!(trace.caveats[0], Caveat::Clock(ClockDoubt::RowsLeftOut { .. })));
        assert_eq!(trace.speeds[0].intervals.len(), 40);
        assert!(refused(&format!("t_s,write_mb_per_s\n{rows}{rows}")).contains("40 of 80 rows"));
    }

    #[test]
    fn wall_clocks_start_at_zero_and_written_bytes_give_a_speed() {
        let trace = read("t_s,written_bytes\n1700000000,0\n1700000001,500\n1700000003,1500\n");
        let intervals = &trace.speeds[0].intervals;
        assert_eq!((intervals[0].start_s, intervals[1].bytes_per_s()), (0.0, 500.0));
        assert_eq!(intervals.len(), 2);
    }
}
