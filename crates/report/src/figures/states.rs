//! What each segment is called, by what is known of its phase.

use analysis::findings::{Segment, SegmentOp};

use super::PhaseFigures;
use crate::sentences;
use crate::view::op_word;

/// What each segment is, in a word or two: "throttled"; "constant" where full speed is not known.
pub(crate) fn states(segments: &[Segment], figures: &[PhaseFigures]) -> Vec<&'static str> {
    let mut by_start: Vec<&PhaseFigures> = figures.iter().collect();
    by_start.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let state = |segment: &Segment| {
        let middle_s = (segment.start_s + segment.end_s) / 2.0;
        let begun = by_start.partition_point(|one| one.start_s <= middle_s);
        let begin_s = begun.checked_sub(1).map_or(middle_s, |last| by_start[last].start_s);
        let rows = by_start[..begun].iter().rev().take_while(|one| one.start_s >= begin_s);
        let mut of_op = rows.filter(|one| segment.op == SegmentOp::Mixed || op_word(segment.op) == one.op);
        of_op.next().map_or_else(|| sentences::label(segment.label), |one| one.state(segment.label.as_seen()))
    };
    segments.iter().map(state).collect()
}
