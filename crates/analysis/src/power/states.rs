//! Power states of one drive side by side: which are alike within noise, where the effect begins, what each saves.

use serde::{Deserialize, Serialize};
use trace::SegmentOp;

use super::{PowerFindings, PowerRow};

/// What one operation draws and moves in one power state, against the first state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateEffect {
    /// The power state.
    pub power_state: u8,
    /// What was done.
    pub op: SegmentOp,
    /// Net power in watts.
    pub net_w: f64,
    /// Watts that it saves; below zero it draws more.
    pub saves_w: f64,
    /// What it costs, as a share of the speed; `None` without load.
    pub costs_share: Option<f64>,
    /// Whether power and speed are those of the first state within noise.
    pub alike: bool,
    /// Net joules for each 10^9 B.
    pub j_per_gb: Option<f64>,
}

/// Two meter readings of the same thing differ by this much: the power article read 13.8 to 14.5 W of five states that it
/// calls the same.
const SAME_SHARE: f64 = 0.02;
/// Speeds of the same states differed by less than this there.
const SAME_SPEED_SHARE: f64 = 0.01;

/// Effects of the states of these runs, one operation after the other; the first run is what the others are held
/// against. Empty where fewer than two states were run.
pub fn effects<'a>(runs: impl IntoIterator<Item = &'a PowerFindings>) -> Vec<StateEffect> {
    let rows: Vec<Vec<&PowerRow>> = runs.into_iter().map(|run| run.primary().collect()).collect();
    let state = |rows: &Vec<&PowerRow>| rows.iter().find_map(|row| row.power_state);
    let mut states: Vec<u8> = rows.iter().filter_map(state).collect();
    states.dedup();
    if states.len() < 2 {
        return Vec::new();
    }
    let mut effects = Vec::new();
    for op in [SegmentOp::Idle, SegmentOp::Read, SegmentOp::Write] {
        let of_op = |rows: &Vec<&'a PowerRow>| {
            rows.iter()
                .copied()
                .find(|row| row.op == op && row.phase != super::rows::START && row.net_w.is_some())
        };
        let found: Vec<(u8, &PowerRow)> =
            rows.iter().filter_map(|rows| Some((state(rows)?, of_op(rows)?))).collect();
        let Some((_, base)) = found.first().copied() else { continue };
        effects.extend(found.into_iter().filter_map(|(power_state, row)| effect(power_state, row, base)));
    }
    effects
}

fn effect(power_state: u8, row: &PowerRow, base: &PowerRow) -> Option<StateEffect> {
    let (net_w, base_w) = row.net_w.zip(base.net_w)?;
    let speeds = row.bytes_per_s.zip(base.bytes_per_s);
    let costs_share = speeds.map(|(speed, base)| 1.0 - speed / base);
    let half = |row: &PowerRow| row.high_w.zip(row.net_w).map_or(0.0, |(high, net)| high - net);
    let noise_w = half(row).hypot(half(base)).max(SAME_SHARE * base_w);
    let alike =
        (net_w - base_w).abs() <= noise_w && costs_share.is_none_or(|share| share.abs() <= SAME_SPEED_SHARE);
    Some(StateEffect {
        power_state,
        op: row.op,
        net_w,
        saves_w: base_w - net_w,
        costs_share,
        alike,
        j_per_gb: row.j_per_gb,
    })
}
