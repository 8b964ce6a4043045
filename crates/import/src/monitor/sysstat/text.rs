//! Text of `iostat` and `sar`.
//!
//! Rules
//! - A table is told by its column `Device` or `DEV`, which is the first or the last (`-h`, `--pretty`, `sar -p`). Tables with
//!   other columns beside the first one of a report are of the same report (`iostat -xh`).
//! - Numbers may have units (`-h`, `--human`).
//! - Times of `sar`, and of old iostat, are of a day that the first line names, and go on into the next.
//! - `Average:` closes a recording, in any language; it is no row.

use super::super::line_time::{day_s, line_time};
use super::super::when::{DateOrder, Stamp, time_of_day_s};
use super::super::{Samples, sysstat::sadf};
use super::prefix::{Prefix, Told};
use super::{Cell, ONLY_SINCE_BOOT, Reports, clock_of, is_device, no_times, take};
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::RunPart;
use trace::caveat::{Caveat, CutOff};

const DAY_S: f64 = 86_400.0;
/// The most words of a time of day: zone, time, half.
const MOST_TIME_WORDS: usize = 4;

/// Whether a line is the first one of sysstat's: `Linux 6.12.0 (host) 11/22/26 _x86_64_ (2 CPU)`.
pub(crate) fn is_banner(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Linux")
        && words.nth(1).is_some_and(|host| host.starts_with('('))
        && words.next().is_some()
}

/// Reads the text of iostat, `sar -d` or `sadf`.
pub(crate) fn text(
    file: &str,
    mut lines: LineReader<'_>,
    every_s: Option<f64>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut reader = TextReader { every_s, ..TextReader::default() };
    let mut database = sadf::Reader::default();
    let mut truncated = None;
    while let Some((number, line)) = lines.next()? {
        let line = reader.without_prefix(line);
        if database.line(line, &mut reader.samples) {
            continue;
        }
        let read = reader.line(line);
        match read {
            // The file may end within a row.
            Err(_) if !lines.ended => truncated = Some(number),
            read => read.map_err(|why| ImportError::at(file, number, None, why))?,
        }
    }
    if reader.untimed {
        return Err(no_times(file));
    }
    if reader.samples.is_empty()
        && let Some(why) = reader.nothing()
    {
        return Err(ImportError::whole(file, why));
    }
    if reader.is_rounded {
        let note = "speeds are rounded, as iostat and sar do with -h or --human: 1.5G is 1.45 to 1.55 GiB/s";
        reader.samples.notes.push(note.into());
    }
    reader.samples.counts_block_devices = true;
    let mut part = reader.samples.part(file, device, clock_of(reader.first.or(database.first)))?;
    if let Some(line) = truncated {
        part.trace.caveats.push(Caveat::Truncated { file: None, line, left_out: CutOff::LastLine });
    }
    Ok(part)
}

/// Where a header has its device. Names of products may end in the same word (`Mass Storage Device`), beside numbers.
fn device_column(words: &[&str]) -> Option<usize> {
    let device = words.iter().position(|word| is_device(word))?;
    words.iter().all(|word| word.replace(',', ".").parse::<f64>().is_err()).then_some(device)
}

/// The table under way.
struct Table {
    /// All words of the header: as many as a row has.
    names: Vec<String>,
    /// Where the device stands.
    device: usize,
    /// How many words the time of a row has; 0 in iostat.
    time_words: usize,
}

#[derive(Default)]
struct TextReader {
    samples: Samples,
    every_s: Option<f64>,
    table: Option<Table>,
    /// The header that begins a report of iostat.
    first_names: Vec<String>,
    reports: Reports,
    is_first_report: bool,
    /// The beginning of the day that the first line names, and how many days have passed since.
    day_s: Option<f64>,
    days: f64,
    order: DateOrder,
    now: Option<Stamp>,
    /// What `ts` put before each line.
    prefix: Option<Prefix>,
    /// Whether reports have times of their own.
    has_times: bool,
    first: Option<Stamp>,
    /// A device whose row follows in the next line (`iostat -h` before sysstat 11.5.1).
    alone: Option<String>,
    has_cpu: bool,
    is_rounded: bool,
    /// Whether speeds are of both directions (`iostat -s`).
    is_sum: bool,
    untimed: bool,
}

impl TextReader {
    /// A line without the time that `ts` puts before it, which is that of reports without one of their own.
    fn without_prefix<'a>(&mut self, line: &'a str) -> &'a str {
        let Some(prefix) = self.prefix.or_else(|| Prefix::find(line)) else { return line };
        let (told, rest) = prefix.cut(line);
        self.prefix = Some(prefix);
        match told.filter(|_| !self.has_times) {
            Some(Told::Stamp(told)) => {
                self.now = Some(told);
                self.first = self.first.or(Some(told));
            }
            // The day is told by the first line itself.
            Some(Told::OfDay(clock)) if !is_banner(rest) => _ = self.time_of_day(&clock),
            Some(Told::OfDay(_)) => {}
            None => {}
        }
        rest
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(begin) = words.first().copied() else {
            self.table = None;
            return Ok(());
        };
        self.has_cpu |= begin == "avg-cpu:";
        if is_banner(line) {
            self.banner(&words);
        } else if let Some(time) = line.trim().strip_prefix("Time:") {
            let has_seconds = time.matches(':').count() > 1;
            let before = self.now;
            if has_seconds || self.every_s.is_none() {
                self.time_of_day(time)?;
            }
            if !has_seconds && before.is_some() && before == self.now {
                return Err(format!(
                    "two reports have the time {:?}, which has no seconds: say how far apart reports are with --every 1s",
                    time.trim()
                ));
            }
        } else if let Some(told) = line_time(line.trim()) {
            let told = if line.contains('/') { self.ordered(told) } else { told };
            // The first report, which is left out, may have had another's.
            self.first = self.first.filter(|_| self.has_times).or(Some(told));
            (self.now, self.has_times) = (Some(told), true);
        } else if let Some(device) = device_column(&words) {
            self.header(&words, device);
        } else if let Some(table) = self.table.take() {
            let read = self.row(&table, words);
            self.table = Some(table);
            return read;
        }
        Ok(())
    }

    /// A recording begins, of the day that its first line names.
    fn banner(&mut self, words: &[&str]) {
        // Some countries have blanks in their dates.
        let behind = words.get(3..).unwrap_or_default();
        let one = behind.iter().map(|word| (*word).to_owned());
        let mut dates = one.chain(behind.windows(3).map(|three| three.join(" ")));
        if let Some((word, seconds)) = dates.find_map(|date| day_s(&date).map(|seconds| (date, seconds))) {
            let told = Stamp { seconds, is_utc: false };
            self.day_s = Some(if word.contains('/') { self.ordered(told).seconds } else { seconds });
        }
        (self.days, self.now) = (0.0, None);
        self.reports.begin();
        self.first_names.clear();
    }

    fn ordered(&mut self, told: Stamp) -> Stamp {
        let (told, moved_s) = self.order.read(told);
        self.samples.move_all(&mut self.first, moved_s);
        told
    }

    fn header(&mut self, words: &[&str], device: usize) {
        let names: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let is_sar = words[device] == "DEV";
        self.is_sum |= words.iter().any(|word| ["kB/s", "MB/s"].contains(word));
        // The time is all of the beginning that is one; `Average:`, in any language, is one word.
        let before = words.iter().take(MOST_TIME_WORDS).take_while(|word| !is_device(word)).count();
        let is_time = |count: &usize| time_of_day_s(&words[..*count].join(" ")).is_some();
        let time_words = if is_sar { (1..=before).rev().find(is_time).unwrap_or(1) } else { 0 };
        if !is_sar && (self.first_names.is_empty() || self.first_names[..] == names[..]) {
            self.is_first_report = self.reports.next();
            self.first_names.clone_from(&names);
            self.report();
        }
        (self.alone, self.table) = (None, Some(Table { names, device, time_words }));
    }

    /// A report of iostat begins: one that leaves out all drives has its time, too.
    fn report(&mut self) {
        let every_s = self.every_s.map(|every_s| f64::from(self.reports.all) * every_s);
        if let Some(t_s) = self.now.map(|now| now.seconds).or(every_s).filter(|_| !self.is_first_report) {
            self.samples.leaves_out_idle = true;
            self.samples.row(t_s);
        }
    }

    fn row(&mut self, table: &Table, words: Vec<&str>) -> Result<(), String> {
        let is_sar = table.time_words > 0;
        let is_remark =
            words.iter().skip(1).take(MOST_TIME_WORDS).any(|word| ["COM", "LINUX"].contains(word));
        let is_closing = |time: &[&str]| {
            !time[0].starts_with(|c: char| c.is_ascii_digit()) && time_of_day_s(&time.join(" ")).is_none()
        };
        if is_sar && (is_remark || words.get(..table.time_words).is_none_or(is_closing)) {
            return Ok(());
        }
        let count = table.names.len();
        if !is_sar && table.device == 0 && words.len() == 1 && count > 1 {
            self.alone = Some(words[0].to_owned());
            return Ok(());
        }
        let alone = self.alone.take().filter(|_| words.len() + 1 == count);
        let words: Vec<&str> = alone.as_deref().into_iter().chain(words).collect();
        if words.len() != count {
            return Err(format!("the row has {} cells, the header has {count}", words.len()));
        }
        let t_s = if is_sar {
            self.time_of_day(&words[..table.time_words].join(" "))?
        } else if self.is_first_report {
            return Ok(());
        } else if let Some(now) = self.now {
            now.seconds
        } else if let Some(every_s) = self.every_s {
            f64::from(self.reports.all) * every_s
        } else {
            self.untimed = true;
            return Ok(());
        };
        let mut cells = Vec::with_capacity(count);
        for (index, text) in words.iter().enumerate().skip(table.time_words) {
            if index != table.device {
                let cell = Cell::parse(text).ok_or_else(|| format!("{text:?} is not a number"))?;
                self.is_rounded |= cell.unit.is_some();
                cells.push((table.names[index].as_str(), cell));
            }
        }
        take(&mut self.samples, words[table.device], t_s, cells.into_iter());
        Ok(())
    }

    /// The seconds of a time of day on the day of the file, which may have passed midnight.
    fn time_of_day(&mut self, time: &str) -> Result<f64, String> {
        let of_day = time_of_day_s(time).ok_or_else(|| format!("{:?} is not a time of day", time.trim()))?;
        // Without a date any day but the first does: time 0 is before it.
        let mut seconds = self.day_s.unwrap_or(DAY_S) + self.days * DAY_S + of_day;
        if self.now.is_some_and(|now| seconds < now.seconds - DAY_S / 2.0) {
            self.days += 1.0;
            seconds += DAY_S;
        }
        let now = Stamp { seconds, is_utc: false };
        self.now = Some(now);
        self.first = self.first.or(Some(now));
        Ok(seconds)
    }

    /// Why there is nothing of a drive in it.
    fn nothing(&self) -> Option<&'static str> {
        match (self.reports.all, self.has_cpu) {
            _ if self.is_sum => Some(
                "it is iostat's text with the speeds of reading and writing together (-s), without their direction: `iostat -x -t 1` has one of each",
            ),
            (0, true) => Some("it is iostat's text without a table of devices: use `iostat -x -t 1`"),
            (0, false) => Some(
                "it is text of sar, mpstat or pidstat without drives: use `sar -d`, `iostat -x -t 1` or `sadf -j FILE -- -d`",
            ),
            _ => self.reports.are_all_first().then_some(ONLY_SINCE_BOOT),
        }
    }
}
