//! Text line by line, however long the file: one line in memory, each with its number.
//!
//! Knows nothing of formats. What is no text is refused with its place.
//! A file that a machine was writing when it lost its power may hold zero bytes where rows were: at its end, or before what
//! was appended later. They are passed over, with the row that they cut, and [`LostRows`] says where.

use std::cell::Cell;
use std::io::{self, BufRead, Read as _};

use super::ImportError;

/// No line of a log that is read here comes near this; without a bound, a binary file without line ends
/// would be read into memory whole.
const LONGEST_LINE: u64 = 1 << 20;

/// What begins a sequence that sets a terminal's colours.
const ESCAPE: u8 = 0x1b;

/// Fewer zero bytes than these before other bytes are no rows that were lost: the file is binary.
const LOST_BYTES: usize = 8;

/// Where a file lost rows: a log that was being written when the machine stopped, or its program was ended.
#[derive(Debug, Default)]
pub(super) struct LostRows {
    /// The line in which zero bytes end the file, and how many they are.
    pub(super) zeros_at_end: Cell<Option<(usize, u64)>>,
    /// The first line that zero bytes stand before.
    pub(super) zeros_before: Cell<Option<usize>>,
    /// The last line, where it is cut short and left out.
    pub(super) last_line: Cell<Option<usize>>,
    /// The line in which a document begins that has no end, and of which the beginning is read.
    pub(super) document: Cell<Option<usize>>,
}

/// The lines of a file.
pub(super) struct LineReader<'a> {
    reader: Box<dyn BufRead + 'a>,
    file: &'a str,
    number: usize,
    line: Vec<u8>,
    /// Whether the line read last ended with a line end; a file that was cut short has a last line without.
    pub(super) ended: bool,
    lost: Option<&'a LostRows>,
}

impl<'a> LineReader<'a> {
    pub(super) fn new(file: &'a str, reader: Box<dyn BufRead + 'a>) -> Self {
        Self { reader, file, number: 0, line: Vec::new(), ended: true, lost: None }
    }

    /// The same, which says in `lost` what the file has lost.
    pub(super) fn telling(self, lost: &'a LostRows) -> Self {
        Self { lost: Some(lost), ..self }
    }

    /// Notes that a line, the last one, is cut short and left out.
    pub(super) fn line_is_cut(&self, line: usize) {
        if let Some(lost) = self.lost {
            lost.last_line.set(Some(line));
        }
    }

    /// Notes that the document that begins in a line has no end.
    pub(super) fn document_is_cut(&self, line: usize) {
        if let Some(lost) = self.lost {
            lost.document.set(Some(line));
        }
    }

    /// The next line without its end, counted from 1; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &str)>, ImportError> {
        self.line.clear();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        if let Err(error) = read {
            return Err(ImportError::at(self.file, self.number + 1, None, error.to_string()));
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.line.contains(&0) {
            let read = self.without_zeros();
            if !read.map_err(|error| ImportError::at(self.file, self.number, None, error.to_string()))? {
                return Ok(None);
            }
        }
        let here = |why: &str| ImportError::at(self.file, self.number, None, why);
        self.ended = self.line.ends_with(b"\n");
        if !self.ended && self.line.len() as u64 == LONGEST_LINE {
            return Err(here("the line is longer than any log's (1 MiB): this is not a log"));
        }
        if self.line.contains(&0) {
            return Err(here("it is not text (it has zero bytes in it)"));
        }
        if self.line.contains(&ESCAPE) {
            without_escapes(&mut self.line);
        }
        if self.number == 1 && !self.ended && self.line.trim_ascii_end().contains(&b'\r') {
            return Err(here("its lines end in CR alone, as in \"CSV (Macintosh)\": save it as CSV UTF-8"));
        }
        let mut line =
            std::str::from_utf8(&self.line).map_err(|_| here("it is not UTF-8 text: save it as UTF-8"))?;
        if self.number == 1 {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
            if is_separator(line) {
                line = "";
            }
        }
        Ok(Some((self.number, line.trim_end_matches(['\n', '\r']))))
    }

    /// Leaves of a line with zero bytes what stands before those that end the file, or behind those that do not; fewer are
    /// left for an error. Whether there is a line.
    fn without_zeros(&mut self) -> io::Result<bool> {
        let Some(first) = self.line.iter().position(|byte| *byte == 0) else { return Ok(true) };
        let mut zeros = (self.line.len() - first) as u64;
        if self.line[first..].iter().all(|byte| *byte == 0) {
            zeros += skip_zeros(&mut self.reader)?;
            if self.reader.fill_buf()?.is_empty() {
                self.line.truncate(first);
                if let Some(lost) = self.lost {
                    lost.zeros_at_end.set(Some((self.number, zeros)));
                }
                // A row that zero bytes end is torn, and its last number with it; a line of JSON may hold many reports.
                return Ok(self.line.contains(&b'{'));
            }
            // What was appended stands in the same line.
            (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.line)?;
        }
        let run = self.line[first..].iter().take_while(|byte| **byte == 0).count();
        let rest = &self.line[first + run..];
        if run >= LOST_BYTES && !rest.contains(&0) {
            self.line.drain(..first + run);
            if let Some(lost) = self.lost.filter(|lost| lost.zeros_before.get().is_none()) {
                lost.zeros_before.set(Some(self.number));
            }
        }
        Ok(true)
    }
}

/// Passes over zero bytes; how many they were.
fn skip_zeros(reader: &mut dyn BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let zeros = buffer.iter().take_while(|byte| **byte == 0).count();
        let is_end = zeros < buffer.len() || buffer.is_empty();
        reader.consume(zeros);
        skipped += zeros as u64;
        if is_end {
            return Ok(skipped);
        }
    }
}

/// The beginning of a file without the zero bytes that [`LineReader`] passes over.
pub(super) fn head_without_zeros(head: &[u8]) -> Vec<u8> {
    let end = head.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut kept = Vec::with_capacity(end);
    for part in head[..end].chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        if part[0] != 0 || part.len() < LOST_BYTES {
            kept.extend_from_slice(part);
        }
    }
    kept
}

/// Takes out what is for a terminal and no text, as `S_COLORS=always` has iostat write it (ECMA-48, control sequences: from
/// ESC and `[` to a byte from 40h on).
fn without_escapes(line: &mut Vec<u8>) {
    let (mut inside, mut before) = (false, 0);
    line.retain(|byte| {
        let is_begin = *byte == ESCAPE;
        let is_end = inside && (0x40..0x7f).contains(byte) && !(before == ESCAPE && *byte == b'[');
        let keep = !inside && !is_begin;
        inside = is_begin || (inside && !is_end);
        before = *byte;
        keep
    });
}

/// Whether a first line says by what the cells are separated, as for Excel: `sep=;`.
pub(super) fn is_separator(line: &str) -> bool {
    let line = line.trim_end_matches(['\r', '\n']).trim_matches('"');
    line.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("sep=")) && line.len() <= 5
}

#[cfg(test)]
mod test {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<(usize, String)>, ImportError> {
        let mut lines = LineReader::new("log", Box::new(bytes));
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next()? {
            all.push((number, line.to_owned()));
        }
        Ok(all)
    }

    /// Goal: what a power cut leaves is read up to there. Method: zero bytes of any number where rows were.
    #[test]
    fn zero_bytes_where_rows_were_are_passed_over() {
        for count in [1, 100, 4096, 70_000, (3 << 20) + 5] {
            let zeros = vec![0; count];
            for (before, kept) in
                [("a\nb\n", &["a", "b"][..]), ("a\nb", &["a"]), ("a\n{1,2,", &["a", "{1,2,"])]
            {
                let bytes = [before.as_bytes(), &zeros].concat();
                let lost = LostRows::default();
                let mut lines = LineReader::new("log", Box::new(&bytes[..])).telling(&lost);
                let mut all = Vec::new();
                while let Some((_, line)) = lines.next().expect("text") {
                    all.push(line.to_owned());
                }
                assert_eq!(all, kept);
                assert_eq!(lost.zeros_at_end.get().map(|(_, zeros)| zeros), Some(count as u64));
            }
            let appended = [b"a\nb,1", &zeros[..], b"c\nd\n"].concat();
            let read = lines(&appended);
            if count < LOST_BYTES {
                assert_eq!(read.expect_err("binary").line, Some(2));
            } else {
                assert_eq!(
                    read.expect("text").iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>(),
                    ["a", "c", "d"]
                );
                assert_eq!(head_without_zeros(&appended), b"a\nb,1c\nd\n");
            }
        }
    }

    #[test]
    fn lines_are_counted_and_what_is_no_text_is_refused_with_its_place() {
        let read = lines(b"\xef\xbb\xbfa\r\n\nb").expect("text");
        assert_eq!(read, [(1, "a".into()), (2, String::new()), (3, "b".into())]);
        assert_eq!(lines(b"a\n\0b\n").expect_err("binary").line, Some(2));
        assert_eq!(lines(b"a\nb\n\xff\n").expect_err("not UTF-8").line, Some(3));
        let colours = lines(b"\x1b[36;1mnvme0n1 \x1b[0m\x1b[34;1m 5.0\x1b[0m\n\x1b[0;22m").expect("text");
        assert_eq!(colours, [(1, "nvme0n1  5.0".into()), (2, String::new())]);
        let long = lines(&vec![b'x'; 2 << 20]).expect_err("no line ends");
        assert!(long.to_string().contains("line 1: the line is longer"), "{long}");
    }
}
