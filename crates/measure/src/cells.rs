//! A line of comma-separated text as its cells, as RFC 4180 has them: a cell in quotation marks may hold commas.
//!
//! Lines are taken one by one, so that memory is bounded by a line however the quotation marks stand, and whoever
//! reads the file keeps its own line numbers, comments and empty lines. A cell thus holds no line end.

use csv_core::{Reader, ReaderBuilder, Terminator};

/// Splits lines into cells; what it needs for that is used again for the next line.
pub struct CellSplitter {
    reader: Reader,
    separator: char,
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// The cells of one line.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    text: &'a str,
    ends: &'a [usize],
}

impl CellSplitter {
    /// A splitter at commas.
    #[expect(clippy::new_without_default, reason = "no default: there is one way to split")]
    pub fn new() -> Self {
        Self { reader: reader_at(','), separator: ',', text: Vec::new(), ends: Vec::new() }
    }

    /// The cells of `line` where they are separated by another character of ASCII.
    pub fn split_at(&mut self, line: &str, separator: char) -> Cells<'_> {
        if self.separator != separator {
            self.reader = reader_at(separator);
            self.separator = separator;
        }
        self.split(line)
    }

    /// The cells of `line`, which has no line end in it.
    pub fn split(&mut self, line: &str) -> Cells<'_> {
        // Cells together are no longer than their line, and there is one more of them than there are commas at most.
        if self.text.len() <= line.len() {
            self.text.resize(line.len() + 1, 0);
            self.ends.resize(line.len() + 1, 0);
        }
        let (_, _, written, cells) = self.reader.read_record(line.as_bytes(), &mut self.text, &mut self.ends);
        // The end of the input is the end of the line.
        let (_, _, more_written, more_cells) =
            self.reader.read_record(&[], &mut self.text[written..], &mut self.ends[cells..]);
        let text = std::str::from_utf8(&self.text[..written + more_written]).unwrap_or_default();
        Cells { text, ends: &self.ends[..cells + more_cells] }
    }
}

fn reader_at(separator: char) -> Reader {
    // A carriage return within a line is content; by default it would end the record, and the rest be lost.
    ReaderBuilder::new().delimiter(separator as u8).terminator(Terminator::Any(b'\n')).build()
}

impl<'a> Cells<'a> {
    /// How many there are.
    pub const fn count(self) -> usize {
        self.ends.len()
    }

    /// The cells, without blanks around them, nor quotation marks that stand after such a blank.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let cell = &self.text[start..*end];
            start = *end;
            cell.trim().trim_matches('"')
        })
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn cells(line: &str) -> Vec<String> {
        CellSplitter::new().split(line).iter().map(str::to_owned).collect()
    }

    #[test]
    fn commas_part_cells_but_not_within_quotation_marks() {
        assert_eq!(cells("1, 2 ,,"), ["1", "2", "", ""]);
        assert_eq!(cells("\"t_s\", \"power_w\""), ["t_s", "power_w"]);
        assert_eq!(cells("0,\"fill, then read\",\"5\"\" disk\""), ["0", "fill, then read", "5\" disk"]);
        assert_eq!(cells("1,\"never closed,2"), ["1", "never closed,2"]);
        assert_eq!(cells("45 °C\r,1"), ["45 °C", "1"]);
        let mut splitter = CellSplitter::new();
        for line in ["1,\"open", "2,3", "a", "4,5,6"] {
            assert_eq!(
                splitter.split(line).count(),
                line.split(',').count(),
                "{line}: nothing is left of the one before"
            );
        }
    }

    proptest! {
        #[test]
        fn without_quotation_marks_it_is_a_cut_at_each_comma(lines in prop::collection::vec("[^\"\n]{1,40}", 1..8)) {
            let mut splitter = CellSplitter::new();
            for line in lines.iter().map(|line| line.trim_start_matches('\u{feff}')).filter(|line| !line.is_empty()) {
                let split: Vec<&str> = splitter.split(line).iter().collect();
                let cut: Vec<&str> = line.split(',').map(str::trim).collect();
                prop_assert_eq!(split, cut);
            }
        }
    }
}
