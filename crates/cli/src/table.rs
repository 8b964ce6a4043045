//! Columns of text for people; scripts take `--json`.

/// Between two columns.
const GAP: usize = 2;
/// A column that is wrapped keeps this much.
const LEAST: usize = 12;
/// What is written in capitals in a sentence too.
const NAMES: [&str; 12] =
    ["GB", "IOPS", "KIB", "LBA", "MB", "NQN", "SLC", "SMART", "TB", "TMT", "TRIM", "USB"];
/// A table is not widened beyond this: long lines are hard to follow.
const MOST: usize = 120;

/// Rows as lines of at most `width` characters, columns aligned to the left; the first row is the heading.
///
/// The widest columns are wrapped first. Where that is not enough, each row becomes a block of `HEADING value` lines.
/// Every row has as many cells as the first.
pub(crate) fn fitted<const N: usize>(rows: &[[String; N]], width: usize) -> String {
    let width = width.min(MOST);
    let mut widths = widths(rows);
    while widths.iter().sum::<usize>() + GAP * (N - 1) > width {
        // The first column names the row: what is typed again stays whole as long as it can.
        let can_shrink = |width: &&mut usize| **width > LEAST;
        let (first, others) = widths.split_at_mut(1);
        let widest =
            others.iter_mut().max().filter(can_shrink).or_else(|| first.iter_mut().next().filter(can_shrink));
        match widest {
            Some(widest) => *widest -= 1,
            None => return blocks(rows, width),
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells: [Vec<String>; N] = std::array::from_fn(|column| wrapped(&row[column], widths[column]));
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let parts: Vec<String> = cells
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{:<width$}", cell.get(line).map_or("", String::as_str)))
                .collect();
            text.push_str(parts.join(&" ".repeat(GAP)).trim_end());
            text.push('\n');
        }
    }
    text
}

/// The same in a line a row, however long, for what another program reads.
pub(crate) fn lines<const N: usize>(rows: &[[String; N]]) -> String {
    let widths = widths(rows);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end())
    };
    rows.iter().map(line).collect()
}

fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
}

/// A cell in lines; words that are longer than the column are broken. Blanks before the text stay before it, up to half of the
/// column.
fn wrapped(cell: &str, width: usize) -> Vec<String> {
    let indent: String = cell.chars().take_while(|c| *c == ' ').take(width / 2).collect();
    let options = textwrap::Options::new(width).initial_indent(&indent).subsequent_indent(&indent);
    // A temperature stays with its unit.
    let text = cell.trim_start().replace(" °C", "\u{a0}°C");
    textwrap::wrap(&text, options).into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A block a row: the first cell, then the others under it with their headings.
fn blocks<const N: usize>(rows: &[[String; N]], width: usize) -> String {
    let Some((heading, rows)) = rows.split_first() else { return String::new() };
    let block = |row: &[String; N]| {
        let mut text = wrapped(&row[0], width).join("\n") + "\n";
        for (name, cell) in heading.iter().zip(row).skip(1) {
            let lines = wrapped(format!("{} {cell}", small(name)).trim(), width.saturating_sub(2).max(1));
            let lines = lines.iter().filter(|line| !line.is_empty());
            lines.for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        text
    };
    rows.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// A heading in small letters, as words in a line have them; units and names stay as they are: "peak °C", "GB/s", "TMT1".
fn small(heading: &str) -> String {
    let is_word = |word: &str| {
        let word = word.trim_matches(['(', ')']);
        let letters = word.chars().all(|c| c.is_ascii_uppercase() || c == '-');
        letters && !NAMES.contains(&word) && word.len() > 1
    };
    let one = |word: &str| if is_word(word) { word.to_lowercase() } else { word.to_owned() };
    heading.split(' ').map(one).collect::<Vec<_>>().join(" ")
}

/// A paragraph of at most `width` characters a line; `lead` stands before it and the rest is indented alike.
pub(crate) fn paragraph(text: &str, lead: &str, width: usize) -> String {
    report::wrapped(text, lead, width.min(MOST))
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn rows<const N: usize>(rows: &[[&str; N]]) -> Vec<[String; N]> {
        rows.iter().map(|row| row.map(str::to_owned)).collect()
    }

    #[test]
    fn columns_line_up_by_characters_not_bytes() {
        let rows = rows(&[["a", "temp"], ["bb", "45 °C"], ["c", ""]]);
        assert_eq!(fitted(&rows, 80), "a   temp\nbb  45 °C\nc\n");
    }

    #[test]
    fn what_is_too_wide_is_wrapped_and_then_made_blocks() {
        let rows = rows(&[["PLAN", "WHAT"], ["quick", "reads for a minute, safe on a drive"]]);
        assert_eq!(fitted(&rows, 26), "PLAN   WHAT\nquick  reads for a minute,\n       safe on a drive\n");
        assert_eq!(fitted(&rows, 16), "quick\n  what reads for\n  a minute, safe\n  on a drive\n");
    }

    #[test]
    fn blocks_keep_units_and_names_as_they_are_written() {
        let heading = [
            "PHASE",
            "GB/s",
            "PEAK °C",
            "THROTTLES AFTER s",
            "IOPS",
            "TMT1 · AIRFLOW (TIMES)",
            "HEATSINK (K/W)",
        ];
        let small: Vec<String> = heading.iter().map(|one| small(one)).collect();
        assert_eq!(
            small,
            [
                "phase",
                "GB/s",
                "peak °C",
                "throttles after s",
                "IOPS",
                "TMT1 · airflow (times)",
                "heatsink (K/W)"
            ]
        );
    }

    proptest! {
        /// Goal: no line is wider than the terminal. Method: any cells, widths from a phone's on.
        #[test]
        fn no_line_is_too_wide(cells in prop::collection::vec("[a-z ]{0,40}", 8), width in 16usize..140) {
            let rows: Vec<[String; 4]> =
                cells.chunks(4).map(|row| std::array::from_fn(|column| row[column].clone())).collect();
            for line in fitted(&rows, width).lines() {
                prop_assert!(line.chars().count() <= width, "{width}: {line:?}");
            }
        }
    }
}
