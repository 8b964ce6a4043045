//! What each segment is called, by what is known of its phase.

use analysis::findings::{Label, Segment, SegmentOp};

use super::{PhaseFigures, figures};
use crate::sentences;
use crate::view::{ReportInput, op_word};

/// What each segment is, in a word or two: "throttled"; "constant" where full speed is not known.
pub(crate) fn states(segments: &[Segment], figures: &[PhaseFigures]) -> Vec<&'static str> {
    let rows = RowsByStart::new(figures);
    let state = |segment: &Segment| match rows.of(segment) {
        Some(row) => row.state(segment.label.as_seen()),
        None if segment.op == SegmentOp::Idle => match segment.mean_bytes_per_s {
            Some(speed) if speed > 0.0 => sentences::LIGHT_LOAD,
            // A pause within a load: a log does not say whether anything was asked for.
            Some(_) => sentences::NO_IO,
            None => sentences::label(segment.label),
        },
        None => sentences::label(segment.label),
    };
    segments.iter().map(state).collect()
}

/// Takes back that segments ran at full speed where nothing shows how fast that is, so that the findings of a report say what it says.
pub(crate) fn name_constant(input: &mut ReportInput) {
    let figures = figures(input);
    let rows = RowsByStart::new(&figures);
    let is_unknown = |row: &PhaseFigures| row.mean_bytes_per_s.is_some() && row.full.is_none();
    for segment in input.findings.segments.iter_mut().filter(|segment| segment.label == Label::FullSpeed) {
        if rows.of(segment).is_some_and(is_unknown) {
            segment.label = Label::Constant;
        }
    }
}

/// Rows of figures in order of time.
struct RowsByStart<'a>(Vec<&'a PhaseFigures>);

impl<'a> RowsByStart<'a> {
    fn new(figures: &'a [PhaseFigures]) -> Self {
        let mut by_start: Vec<&PhaseFigures> = figures.iter().collect();
        by_start.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        Self(by_start)
    }

    /// The row of the load that a segment is of.
    fn of(&self, segment: &Segment) -> Option<&'a PhaseFigures> {
        let middle_s = (segment.start_s + segment.end_s) / 2.0;
        let begun = self.0.partition_point(|one| one.start_s <= middle_s);
        let begin_s = begun.checked_sub(1).map_or(middle_s, |last| self.0[last].start_s);
        let mut rows = self.0[..begun].iter().rev().take_while(|one| one.start_s >= begin_s);
        rows.find(|one| segment.op == SegmentOp::Mixed || op_word(segment.op) == one.op).copied()
    }
}
