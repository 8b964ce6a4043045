//! What a threshold leaves of the speed of each operation, where the runs show that of one alone, or of both at once.

use analysis::posterior::Draws;

use crate::mixed::reading_time;
use crate::onset::OnsetGroup;

/// What is made of a floor that no run showed.
pub(crate) struct UnseenFloor {
    /// Full speeds, as the samples have them in the middle: reading, writing.
    pub(crate) full: [f64; 2],
    /// Whether it is drawn; else that of the other operation stands in, so that there is a likeliest drive.
    pub(crate) drawn: bool,
}

/// Shares of full speed while throttled: reading, writing.
pub(crate) fn draw(group: &OnsetGroup, unseen: &UnseenFloor, draws: &mut Draws) -> [f64; 2] {
    let stand_in = group.floor[0].or(group.floor[1]).unwrap_or(0.5);
    let times = |draws: &mut Draws| if unseen.drawn { 2.0 * draws.unit() } else { 1.0 };
    let mixed = group.mixed.map(|mixed| (mixed, reading_time(group.read_share, unseen.full)));
    match (group.floor, mixed) {
        ([Some(read), Some(write)], _) => [read, write],
        ([Some(read), None], Some((mixed, reads))) => [read, other(mixed, read, reads)],
        ([None, Some(write)], Some((mixed, reads))) => [other(mixed, write, 1.0 - reads), write],
        // As long as the mix stays what it was, one may be anything.
        ([None, None], Some((mixed, reads))) => {
            let least = (reads / (1.0 / mixed - (1.0 - reads))).clamp(0.001, 1.0);
            let read = if unseen.drawn { least.powf(draws.unit()) } else { mixed };
            [read, other(mixed, read, reads)]
        }
        // From the square of what the other one keeps up to full speed: about that in the middle.
        (floor, None) => floor.map(|floor| floor.unwrap_or_else(|| stand_in.powf(times(draws)))),
    }
}

/// The share that the other operation keeps where a mix keeps `mixed` and one, which has `time` of it at full speed, `known`.
fn other(mixed: f64, known: f64, time: f64) -> f64 {
    let left = 1.0 / mixed - time / known;
    if left > 1.0 - time { (1.0 - time) / left } else { 1.0 }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: what a mix keeps and what reads keep say what writes keep. Method: a mix that reads a third of its time, reads at a
    /// tenth and writes at a fifth.
    #[test]
    fn a_mix_and_one_operation_tell_the_other() {
        let mixed = 1.0 / (1.0 / 3.0 / 0.1 + 2.0 / 3.0 / 0.2);
        assert!((other(mixed, 0.1, 1.0 / 3.0) - 0.2).abs() < 1e-9);
        assert!((other(mixed, 0.2, 2.0 / 3.0) - 0.1).abs() < 1e-9);
    }
}
