//! Columns of text for people; scripts take `--json`.

/// Rows as lines, columns aligned to the left and two spaces apart; the first row is the heading.
///
/// Every row has as many cells as the first.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn columns_line_up_by_characters_not_bytes() {
        let rows = [["a", "temp"], ["bb", "45 °C"], ["c", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "a   temp\nbb  45 °C\nc\n");
    }
}
