//! How fast a load was where it began on a cooler drive: as fast as now, and nothing slows it down.

use std::collections::BTreeMap;

use super::heat::Heat;
use super::starts::LoadKey;
use crate::segment::{Piece, Stretch};

/// Speeds that differ by no more than this are one. Of a load that was slower where it began cooler less may have been asked.
const AS_FAST: f64 = 1.03;

/// The speeds of the loads of a run, by the temperature at which they began.
pub(super) struct CoolerSpeeds<'a> {
    /// What each stretch asks of the drive.
    loads: Vec<LoadKey<'a>>,
    /// The fastest level of each stretch, in bytes per second; a single row may hold some of what is beside it.
    levels: Vec<f64>,
    /// Of each load, by rising temperature in kelvins, the fastest that it was where it began there or cooler, in bytes per second.
    begun: BTreeMap<LoadKey<'a>, Vec<(f64, f64)>>,
}

impl<'a> CoolerSpeeds<'a> {
    /// `loads` are those of the phases.
    pub(super) fn new(heat: &Heat, stretches: &[Stretch], pieces: &[Piece], loads: Vec<LoadKey<'a>>) -> Self {
        let loads: Vec<LoadKey> = stretches.iter().map(|stretch| loads[stretch.phase]).collect();
        let mut levels = vec![0.0f64; stretches.len()];
        for piece in pieces.iter().filter(|piece| piece.slices > 1) {
            levels[piece.stretch] = levels[piece.stretch].max(piece.level);
        }
        let mut begun: BTreeMap<LoadKey, Vec<(f64, f64)>> = BTreeMap::new();
        for ((stretch, load), level) in stretches.iter().zip(&loads).zip(&levels) {
            if let Some(began_k) = heat.nearest_k(stretch.start_s()).filter(|_| *level > 0.0) {
                begun.entry(*load).or_default().push((began_k, *level));
            }
        }
        for begun in begun.values_mut() {
            begun.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut fastest = 0.0f64;
            for (_, level) in begun {
                fastest = fastest.max(*level);
                *level = fastest;
            }
        }
        Self { loads, levels, begun }
    }

    /// Whether the load of a stretch was as fast, and no faster, where it began no hotter than at `kelvin`.
    pub(super) fn was_as_fast(&self, stretch: usize, kelvin: f64) -> bool {
        let Some(begun) = self.begun.get(&self.loads[stretch]) else { return false };
        let cooler = begun.partition_point(|(began_k, _)| *began_k <= kelvin);
        let (level, fastest) = (self.levels[stretch], cooler.checked_sub(1).map(|last| begun[last].1));
        fastest.is_some_and(|fastest| (level / AS_FAST..=level * AS_FAST).contains(&fastest))
    }
}
