//! Where an even speed turns into an unsteady and lower one.
//!
//! Cycles that are shorter than a few slices leave no levels behind to cut at, and the noise between neighbours that the
//! cutting goes by is then their swing. What is left to see is that the speed was even and is so no more: two normal
//! distributions, each with its own mean and deviation, that meet where they are likeliest (Hawkins, "Testing a sequence of
//! observations for a shift in location", JASA 72, 1977, with two variances).

/// An even part has so many slices at least, or lasts so long, an unsteady one has so many.
const LEAST_EVEN: usize = 4;
const LEAST_EVEN_S: f64 = super::LEVEL_S;
const LEAST_UNSTEADY: usize = 8;
/// The unsteady part varies so many times as much ...
const TIMES: f64 = 3.0;
/// ... and is slower by this share.
const SLOWER: f64 = 0.05;
/// The means differ by so many standard errors: any of some hundred places may be the one, and a run of a month has many runs of
/// luck.
const CLEAR: f64 = 7.0;
/// Of an even part of a slice or a few more: the speed is so many standard deviations of the unsteady part above that, as a cycle's
/// fastest slice is not.
const APART: f64 = 3.0;
/// Slices of a cycle are not independent: of two one tells something new.
const DEPENDENT: f64 = 2.0;
/// Speeds are bytes in whole I/Os: no part is more even than this share of its mean.
const LEAST_NOISE: f64 = 0.01;

/// The first slice of the unsteady part of these, each `slice_s` seconds long, where there is one.
pub(super) fn began(speeds: &[f64], slice_s: f64) -> Option<usize> {
    let least_even = LEAST_EVEN.min((LEAST_EVEN_S / slice_s).ceil() as usize).max(1);
    let all = Sums::of(speeds);
    let mut even = Sums::default();
    let mut best = (f64::INFINITY, None);
    for (index, speed) in speeds.iter().enumerate() {
        let rest = all.without(&even);
        if index >= least_even && speeds.len() - index >= LEAST_UNSTEADY {
            let cost = even.cost() + rest.cost();
            if cost < best.0 && turns_unsteady(&even, &rest) {
                best = (cost, Some(index));
            }
        }
        even.add(*speed);
    }
    best.1
}

/// Whether what comes after an even part is unsteady, and slower.
fn turns_unsteady(even: &Sums, rest: &Sums) -> bool {
    let error = (even.variance() / even.count + DEPENDENT * rest.variance() / rest.count).sqrt();
    let lost = even.mean() - rest.mean();
    let unsteady = rest.variance() >= TIMES * TIMES * even.variance();
    let apart = even.count >= LEAST_EVEN as f64 || lost >= APART * rest.variance().sqrt();
    unsteady && apart && lost >= SLOWER * even.mean() && lost >= CLEAR * error
}

#[derive(Clone, Debug, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn of(speeds: &[f64]) -> Self {
        let mut sums = Self::default();
        speeds.iter().for_each(|speed| sums.add(*speed));
        sums
    }

    fn add(&mut self, speed: f64) {
        self.count += 1.0;
        self.sum += speed;
        self.squares += speed * speed;
    }

    fn without(&self, part: &Self) -> Self {
        Self {
            count: self.count - part.count,
            sum: self.sum - part.sum,
            squares: self.squares - part.squares,
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn variance(&self) -> f64 {
        let mean = self.mean();
        (self.squares / self.count - mean * mean).max((LEAST_NOISE * mean).powi(2)).max(f64::MIN_POSITIVE)
    }

    /// Minus twice the logarithm of the likelihood, but for a constant.
    fn cost(&self) -> f64 {
        self.count * self.variance().ln()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: cycles that whole slices blur are seen from where they begin.
    #[test]
    fn blurred_cycles_begin_where_the_speed_stops_being_even() {
        let even = (0..10).map(|i| 3.0 + 0.01 * f64::from(i % 3));
        let cycles = (0..60).map(|i| [3.0, 2.2, 1.1, 2.7, 1.6][i % 5]);
        let speeds: Vec<f64> = even.chain(cycles).collect();
        // The first slice of the first cycle is as fast as before it.
        assert_eq!(began(&speeds, 1.0), Some(11));
    }

    #[test]
    fn what_was_always_unsteady_or_only_grows_so_did_not_begin() {
        let cycles: Vec<f64> = (0..60).map(|i| [3.0, 2.2, 1.1, 2.7, 1.6][i % 5]).collect();
        assert_eq!(began(&cycles, 1.0), None);
        let widening: Vec<f64> =
            (0..60).map(|i| 3.0 + [-0.5, 0.5][i % 2] * f64::from(i as u32 / 20)).collect();
        assert_eq!(began(&widening, 1.0), None, "its mean stays");
        assert_eq!(began(&[3.0; 8], 1.0), None);
        assert_eq!(began(&[0.0; 80], 1.0), None);
    }

    /// Goal: rows that each hold a cycle and a bit show where the cycles began, however soon. Method: one row of a minute before them,
    /// and none.
    #[test]
    fn a_long_row_before_blurred_cycles_is_the_speed_before_them() {
        let beats = |i: usize| 3.0 + [0.0, 0.5, -0.4, 0.8, -0.7][i % 5];
        let speeds: Vec<f64> = std::iter::once(6.8).chain((0..60).map(beats)).collect();
        assert_eq!(began(&speeds, 60.0), Some(1));
        assert_eq!(began(&speeds, 1.0), None, "a second is a burst");
        assert_eq!(began(&speeds[1..], 60.0), None);
    }
}
