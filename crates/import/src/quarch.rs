//! CSV of Quarch's power modules: exports of Quarch Power Studio, streams of QIS and `quarchpy`.
//!
//! Rules
//! - The first column is `Time UNIT`, of the recording's own beginning. A column's unit is the last word of its name
//!   (`12V power uW`, `Tot mW`, `5V voltage mV`).
//! - Power is the column whose name begins with `Tot`; else the sum of all columns in watts; else, of each rail that has
//!   both, volts times amperes. Apparent power (`mVA`) is none.
//! - Modules sample each 4 µs: readings are means over 10 ms, or as they are where they are further apart.
//! - An empty cell is a missing sample. A time that is not after the one before is an error.

use measure::CellSplitter;

use super::ImportError;
use super::lines::LineReader;
use super::part::{CountedBy, RunPart, TimeBase};
use trace::{Trace, instant};

/// Samples within this are one reading. OCP's shortest window but that of peaks is longer (Datacenter NVMe SSD 2.6).
const READING_S: f64 = 0.01;
/// No drive and no host takes as much, nor gives back a thousandth of it, in watts.
const MOST_W: f64 = 1e5;

/// What makes the power of a row: products of cells, each with what turns it into SI units.
type PowerTerms = Vec<Vec<(usize, f64)>>;

/// Whether this is the header of such a table.
pub(super) fn is_header(header: &str) -> bool {
    let mut splitter = CellSplitter::new();
    let cells = cells(&mut splitter, header);
    time_unit(&cells).is_some() && terms(&cells).is_some()
}

/// Reads the table.
pub(super) fn part(file: &str, mut lines: LineReader<'_>) -> Result<RunPart, ImportError> {
    let mut splitter = CellSplitter::new();
    let mut table: Option<(f64, PowerTerms)> = None;
    let mut trace = Trace::empty(file);
    let (mut zero_s, mut last_s, mut bin) = (None, f64::NEG_INFINITY, MeanBin::default());
    while let Some((number, line)) = lines.next()? {
        if line.trim().is_empty() {
            continue;
        }
        let cells = cells(&mut splitter, line);
        let Some((unit_s, terms)) = &table else {
            let header = time_unit(&cells).zip(terms(&cells));
            let why = "this is no header of a Quarch recording: it needs `Time us` and a power in W, or volts and amperes";
            table = Some(header.ok_or_else(|| ImportError::at(file, number, None, why))?);
            continue;
        };
        let at = |why: String| ImportError::at(file, number, None, why);
        let t_s = value(&cells, 0).map_err(at)?.ok_or_else(|| at("the time is missing".to_owned()))? * unit_s;
        let t_s = t_s - *zero_s.get_or_insert(t_s);
        if t_s <= last_s {
            return Err(at(format!("{t_s} s does not lie after {last_s} s: two recordings in one file?")));
        }
        last_s = t_s;
        let Some(watts) = power(&cells, terms).map_err(at)? else { continue };
        if !(-MOST_W / 1e3..MOST_W).contains(&watts) {
            return Err(at(format!("{watts:.3e} W is no power of a drive: is its unit right?")));
        }
        if t_s - bin.from_s >= READING_S {
            bin.push_to(&mut trace);
            bin = MeanBin { from_s: t_s, ..MeanBin::default() };
        }
        bin.count += 1.0;
        bin.t_sum += t_s;
        bin.w_sum += watts;
    }
    bin.push_to(&mut trace);
    if trace.power_w.points().len() < 2 {
        return Err(ImportError::whole(
            file,
            "there is one reading in it at most, which is no course of time",
        ));
    }
    Ok(RunPart { files: vec![file.to_owned()], source: CountedBy::System, clock: TimeBase::Own, trace })
}

/// Samples of one reading.
#[derive(Default)]
struct MeanBin {
    from_s: f64,
    count: f64,
    t_sum: f64,
    w_sum: f64,
}

impl MeanBin {
    fn push_to(&self, trace: &mut Trace) {
        if self.count > 0.0 {
            trace.power_w.push(instant(self.t_sum / self.count), self.w_sum / self.count);
        }
    }
}

fn cells(splitter: &mut CellSplitter, line: &str) -> Vec<String> {
    let line = line.trim_end();
    let separator = [',', ';', '\t'].into_iter().max_by_key(|separator| line.matches(*separator).count());
    splitter.split_at(line, separator.unwrap_or(',')).iter().map(str::to_owned).collect()
}

/// What a column's values are multiplied with to be seconds.
fn time_unit(header: &[String]) -> Option<f64> {
    let first = header.first()?.to_lowercase().replace('µ', "u");
    match first.strip_prefix("time ")?.trim() {
        "s" => Some(1.0),
        "ms" => Some(1e-3),
        "us" => Some(1e-6),
        "ns" => Some(1e-9),
        _ => None,
    }
}

/// How the power of a row is had; `None` where it cannot be.
fn terms(header: &[String]) -> Option<PowerTerms> {
    let named: Vec<(usize, String, f64, char)> =
        header.iter().enumerate().skip(1).filter_map(|(cell, name)| unit(cell, name)).collect();
    let all = |unit: char| named.iter().filter(move |column| column.3 == unit);
    if let Some((cell, _, factor, _)) = all('w').find(|column| column.1.starts_with("tot")) {
        return Some(vec![vec![(*cell, *factor)]]);
    }
    let watts: PowerTerms = all('w').map(|(cell, _, factor, _)| vec![(*cell, *factor)]).collect();
    if !watts.is_empty() {
        return Some(watts);
    }
    let products = all('v').filter_map(|(volts, rail, volt, _)| {
        let (amperes, _, ampere, _) = all('a').find(|column| column.1 == *rail)?;
        Some(vec![(*volts, *volt), (*amperes, *ampere)])
    });
    Some(products.collect::<PowerTerms>()).filter(|products| !products.is_empty())
}

/// Rail, factor to SI and unit (`w`, `v`, `a`) of a column; `None` for another.
fn unit(cell: usize, name: &str) -> Option<(usize, String, f64, char)> {
    let name = name.trim().to_lowercase().replace('µ', "u");
    let (words, unit) = name.rsplit_once(' ')?;
    let rail = words.split([' ', '_']).next()?.to_owned();
    let (factor, unit) = match unit.len() {
        1 => (1.0, unit),
        2 => (
            *[("n", 1e-9), ("u", 1e-6), ("m", 1e-3)]
                .iter()
                .find(|known| unit.starts_with(known.0))
                .map(|(_, by)| by)?,
            &unit[1..],
        ),
        _ => return None,
    };
    let unit = unit.chars().next().filter(|unit| "wva".contains(*unit))?;
    Some((cell, rail, factor, unit))
}

/// The number in a cell; `None` where it is empty.
fn value(cells: &[String], cell: usize) -> Result<Option<f64>, String> {
    let Some(text) = cells.get(cell).map(|text| text.trim()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(Some).ok_or_else(|| format!("{text:?} in column {} is not a number", cell + 1))
}

fn power(cells: &[String], terms: &PowerTerms) -> Result<Option<f64>, String> {
    let mut watts = 0.0;
    for product in terms {
        let mut term = 1.0;
        for (cell, factor) in product {
            let Some(value) = value(cells, *cell)? else { return Ok(None) };
            term *= value * factor;
        }
        watts += term;
    }
    Ok(Some(watts))
}

#[cfg(test)]
mod test {
    use super::*;

    fn read(text: &str) -> Result<Vec<f64>, String> {
        let lines = LineReader::new("q.csv", Box::new(text.as_bytes()));
        let part = part("q.csv", lines).map_err(|error| error.to_string())?;
        Ok(part.trace.power_w.points().iter().map(|point| point.value).collect())
    }

    /// Goal: the same watts whichever columns tell them.
    #[test]
    fn power_is_the_total_the_sum_or_the_products() {
        let rows = |header: &str, row: &str| format!("Time ms,{header}\r\n0,{row}\r\n20,{row}\r\n");
        for (header, row) in [
            ("12V power uW,5V power uW,Total power uW", "7000000,1,2500000"),
            ("\"5V mV\",Tot mW", "5000,2500"),
            ("12V power mW,5V power mW,Tot_PApp mVA", "2000,500,9000"),
            ("5V voltage mV,5V current uA,12V voltage mV,12V current uA", "5000,200000,12000,125000"),
        ] {
            let watts = read(&rows(header, row)).expect(header);
            assert!(watts.len() == 2 && watts.iter().all(|w| (w - 2.5).abs() < 1e-9), "{header}: {watts:?}");
        }
        assert!(
            !is_header("Time us,Temperature C") && !is_header("Time,Tot uW") && is_header("Time us,Tot uW")
        );
    }

    /// Goal: samples a few microseconds apart are means over 10 ms; a missing one is missing.
    #[test]
    fn samples_are_gathered() {
        let rows: String =
            (0..10_000).map(|n| format!("{},{}\n", 4 * n, if n % 2 == 0 { "3000000" } else { "" })).collect();
        let watts = read(&format!("Time us,Tot uW\n{rows}")).expect("a recording");
        assert_eq!(watts, vec![3.0; 4]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let why = |rows: &str| read(&format!("Time us,Tot uW\n{rows}")).expect_err("refused");
        assert!(why("0,1\n0,1\n").contains("line 3") && why("5,1\n4,1\n").contains("two recordings"));
        assert!(why("0,1\n4,much\n").contains("\"much\" in column 2"));
        assert!(why("0,1e15\n4,1\n").contains("is its unit right"));
        assert!(why("0,1\n").contains("one reading"));
    }
}
