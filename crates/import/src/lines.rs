//! Text line by line, however long the file: one line in memory, each with its number.
//!
//! Knows nothing of formats. What is no text is refused with its place.

use std::io::{BufRead, Read as _};

use super::ImportError;

/// No line of a log that is read here comes near this; without a bound, a binary file without line ends
/// would be read into memory whole.
const LONGEST_LINE: u64 = 1 << 20;

/// What begins a sequence that sets a terminal's colours.
const ESCAPE: u8 = 0x1b;

/// The lines of a file.
pub(super) struct LineReader<'a> {
    reader: Box<dyn BufRead + 'a>,
    file: &'a str,
    number: usize,
    line: Vec<u8>,
    /// Whether the line read last ended with a line end; a file that was cut short has a last line without.
    pub(super) ended: bool,
}

impl<'a> LineReader<'a> {
    pub(super) fn new(file: &'a str, reader: Box<dyn BufRead + 'a>) -> Self {
        Self { reader, file, number: 0, line: Vec::new(), ended: true }
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
