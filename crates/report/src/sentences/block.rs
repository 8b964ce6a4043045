//! Segments of one operation in a row, with the events that fall into them: what one sentence is about.

use std::collections::BTreeMap;

use analysis::findings::{Event, Findings, Label, Segment, SegmentOp};

/// An event's moment and the edge of its segment may lie this far apart, in seconds: both are found from
/// intervals and from readings that come once a second.
const EDGE_SLACK_S: f64 = 5.0;

/// With more loads of an operation than this that something happened in, they are told together.
const MANY: usize = 6;

/// Segments of one operation in a row, or all of it where it comes in many parts.
pub(super) struct Block<'a> {
    pub(super) op: SegmentOp,
    pub(super) segments: Vec<&'a Segment>,
    pub(super) events: Vec<&'a Event>,
}

/// All blocks under load in order of time. Every event belongs to the nearest one.
pub(super) fn blocks(findings: &Findings) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    for segment in &findings.segments {
        let has_length = segment.end_s > segment.start_s;
        if segment.op == SegmentOp::Idle || !has_length {
            open = false;
            continue;
        }
        match blocks.last_mut().filter(|block| open && block.op == segment.op) {
            Some(block) => block.segments.push(segment),
            None => blocks.push(Block { op: segment.op, segments: vec![segment], events: Vec::new() }),
        }
        open = true;
    }
    for event in &findings.events {
        let distance = |block: &Block<'_>| {
            let (start_s, end_s) = block.range();
            (start_s - event.t_s).max(event.t_s - end_s).max(0.0)
        };
        // `rev`: at a border the event belongs to what begins there.
        let nearest = blocks.iter_mut().rev().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(block) = nearest {
            block.events.push(event);
        }
    }
    together(blocks)
}

/// The same with the blocks of an operation in one where there are many: a paragraph for each of fifty bursts is read by nobody.
fn together(blocks: Vec<Block<'_>>) -> Vec<Block<'_>> {
    let mut eventful: BTreeMap<u8, usize> = BTreeMap::new();
    for block in blocks.iter().filter(|block| !block.events.is_empty()) {
        *eventful.entry(block.op as u8).or_default() += 1;
    }
    let many = |op: SegmentOp| eventful.get(&(op as u8)).is_some_and(|count| *count > MANY);
    let mut merged: Vec<Block<'_>> = Vec::new();
    for block in blocks {
        let same = many(block.op).then(|| merged.iter_mut().find(|one| one.op == block.op)).flatten();
        match same {
            Some(one) => {
                one.segments.extend(block.segments);
                one.events.extend(block.events);
            }
            None => merged.push(block),
        }
    }
    merged
}

impl Block<'_> {
    /// Start and end in seconds.
    pub(super) fn range(&self) -> (f64, f64) {
        let start_s = self.segments.first().map_or(0.0, |segment| segment.start_s);
        let end_s = self.segments.last().map_or(0.0, |segment| segment.end_s);
        (start_s, end_s)
    }

    /// Time-weighted mean speed of the segments that `wanted` picks, in bytes per second.
    pub(super) fn mean(&self, wanted: impl Fn(&Segment) -> bool) -> Option<f64> {
        let (mut bytes, mut time_s) = (0.0, 0.0);
        for segment in self.segments.iter().filter(|segment| wanted(segment)) {
            if let Some(rate) = segment.mean_bytes_per_s.filter(|rate| rate.is_finite()) {
                bytes += rate * (segment.end_s - segment.start_s);
                time_s += segment.end_s - segment.start_s;
            }
        }
        (time_s > 0.0).then(|| bytes / time_s)
    }

    /// How long the segments with `label` last together, in seconds.
    pub(super) fn time_as(&self, label: Label) -> f64 {
        let with_label = self.segments.iter().filter(|segment| segment.label == label);
        with_label.map(|segment| segment.end_s - segment.start_s).sum()
    }

    /// The segment that begins at `t_s`, or nearly there.
    pub(super) fn segment_at(&self, t_s: f64) -> Option<&Segment> {
        let distance = |segment: &&&Segment| (segment.start_s - t_s).abs();
        let nearest = self.segments.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.filter(|segment| distance(segment) <= EDGE_SLACK_S).copied()
    }

    /// Speed before and after `t_s`, where a segment begins there.
    pub(super) fn speeds_around(&self, t_s: f64) -> (Option<f64>, Option<f64>) {
        let distance = |segment: &Segment| (segment.start_s - t_s).abs();
        let nearest = self.segments.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        match nearest {
            Some((index, after)) if distance(after) <= EDGE_SLACK_S => {
                let before = index.checked_sub(1).and_then(|index| self.segments[index].mean_bytes_per_s);
                (before, after.mean_bytes_per_s)
            }
            _ => (None, None),
        }
    }

    /// Temperature at the start and at the end in kelvins.
    pub(super) fn temperatures(&self) -> (Option<f64>, Option<f64>) {
        let start = self.segments.first().and_then(|segment| segment.temp_start_k);
        let end = self.segments.last().and_then(|segment| segment.temp_end_k);
        (start, end)
    }
}
