//! Curves in characters: braille (2 by 4 dots a character) or, where only ASCII will do, one star a character.

use crate::chart::Ink;
use crate::reduce::ChartPoint;

/// A field of characters that curves are drawn into.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    is_braille: bool,
    /// Dots by character, in the bit order of the braille block; any bit is a star in ASCII.
    cells: Vec<u8>,
    inks: Vec<Option<Ink>>,
}

/// The ranges that the edges of a canvas stand for.
#[derive(Clone, Copy)]
pub(super) struct Ranges {
    pub(super) end_s: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

/// One character of a canvas.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct CanvasCell {
    pub(super) glyph: char,
    pub(super) ink: Option<Ink>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, is_braille: bool) -> Self {
        let size = width * height;
        Self { width, height, is_braille, cells: vec![0; size], inks: vec![None; size] }
    }

    /// Draws a line through `points`, broken where they are.
    pub(super) fn line(&mut self, points: &[ChartPoint], ranges: Ranges, ink: Ink) {
        let (dots_x, dots_y) = self.dots();
        let place = |share: f64, dots: usize| {
            // A share outside 0 to 1 cannot be drawn; the edge is the honest place for it.
            (share.clamp(0.0, 1.0) * (dots - 1) as f64).round() as i64
        };
        let mut pen: Option<(i64, i64)> = None;
        for (t, value) in points {
            let Some(value) = value.filter(|value| value.is_finite() && t.is_finite()) else {
                pen = None;
                continue;
            };
            let x = place(t / ranges.end_s, dots_x);
            let y = place((ranges.max - value) / (ranges.max - ranges.min), dots_y);
            self.stroke(pen.unwrap_or((x, y)), (x, y), ink);
            pen = Some((x, y));
        }
    }

    fn dots(&self) -> (usize, usize) {
        if self.is_braille { (self.width * 2, self.height * 4) } else { (self.width, self.height) }
    }

    /// A straight line between two dots.
    fn stroke(&mut self, from: (i64, i64), to: (i64, i64), ink: Ink) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let x = from.0 as f64 + (to.0 - from.0) as f64 * share;
            let y = from.1 as f64 + (to.1 - from.1) as f64 * share;
            self.dot(x.round() as usize, y.round() as usize, ink);
        }
    }

    fn dot(&mut self, x: usize, y: usize, ink: Ink) {
        // Unicode block U+2800: dots 1 2 3 7 on the left, 4 5 6 8 on the right, from the top.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (cell, bit) = if self.is_braille {
            ((y / 4) * self.width + x / 2, BITS[y % 4][x % 2])
        } else {
            (y * self.width + x, 1)
        };
        if let Some(dots) = self.cells.get_mut(cell) {
            *dots |= bit;
            self.inks[cell] = Some(ink);
        }
    }

    /// The row as characters; blanks where nothing was drawn.
    pub(super) fn row(&self, row: usize) -> Vec<CanvasCell> {
        let range = row * self.width..(row + 1) * self.width;
        let glyph = |dots: u8| match (dots, self.is_braille) {
            (0, _) => ' ',
            (dots, true) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
            (_, false) => '*',
        };
        let cells = self.cells[range.clone()].iter().zip(&self.inks[range]);
        cells.map(|(dots, ink)| CanvasCell { glyph: glyph(*dots), ink: *ink }).collect()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn drawn(is_braille: bool) -> Vec<String> {
        let mut canvas = Canvas::new(4, 2, is_braille);
        let ranges = Ranges { end_s: 1.0, min: 0.0, max: 1.0 };
        canvas.line(&[(0.0, Some(0.0)), (1.0, Some(1.0))], ranges, Ink::Read);
        (0..2).map(|row| canvas.row(row).iter().map(|cell| cell.glyph).collect()).collect()
    }

    #[test]
    fn a_diagonal_is_a_diagonal() {
        assert_eq!(drawn(true), ["  ⡠⠊", "⡠⠊  "]);
        assert_eq!(drawn(false), ["  **", "**  "]);
    }

    #[test]
    fn a_gap_is_not_drawn_over() {
        let mut canvas = Canvas::new(5, 1, false);
        let ranges = Ranges { end_s: 4.0, min: 0.0, max: 1.0 };
        canvas.line(&[(0.0, Some(0.0)), (1.0, None), (4.0, Some(0.0))], ranges, Ink::Read);
        let row: String = canvas.row(0).iter().map(|cell| cell.glyph).collect();
        assert_eq!(row, "*   *");
    }
}
