//! The numbers of a run, each computed once: what tables, sentences, pictures and comparisons show.

mod phase;
mod power;
mod reference;
mod series;
mod states;
mod table;
mod within;

pub(crate) use phase::{FullSpeedSeen, PhaseFigures, figures, numbered};
pub(crate) use power::power_rows;
pub(crate) use reference::{FasterLoad, MOST_OF_LINK, is_at_link, warmed};
pub(crate) use series::SpeedDistribution;
pub(crate) use states::{name_constant, states};
pub(crate) use table::{detail_table, onset, phase_lines, phase_table, spread, temperature};
