//! Leave-out evidence for SSD1 and SSD2: what the rows of a drive say about the row that is left out.
//!
//! Profiles are drawn whose parameters lie anywhere in ranges that do not come from the rows, and all rows of the
//! drive are run on each. Of those profiles on which a chosen few rows hold - parameters set from a subset - it
//! counts on how many each other row holds as well; beside it stands the share on any profile, which is what
//! luck would give. The same is told of each number of a row: where it lies on any profile, and where once the chosen
//! rows hold.
//!
//! Few of the profiles drawn meet the chosen rows. So as many again are drawn of which a closed form of those rows alone
//! says that they may; "any" is counted on the first lot, "set" on both.
//!
//! `cargo run -p heatsoak-validation --example leave_out -- 400` draws twice 400 profiles a drive, `... -- 400 ssd2` of that drive
//! alone; docs/VALIDATION.md has what came out.

use std::io::Write;

use physics::Profile;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use validation::{RowResult, part_with};

/// A parameter: what it is called, the range it is drawn from, and where it goes.
type Parameter = (&'static str, f64, f64, fn(&mut Profile, f64));

/// Ranges: the form factor allows a third more or less of heat capacity; consumer drives of the power table draw
/// 0.7 to 1.2 W per GB/s and up to 2.1 W at the wall idle; vendors throttle between 75 and 85 °C.
const SSD1: [Parameter; 6] = [
    ("read energy, W per GB/s", 0.9, 1.4, |p, x| p.power.read_w_per_gb_per_s = x),
    ("written energy, W per GB/s", 0.8, 1.2, |p, x| p.power.write_w_per_gb_per_s = x),
    ("idle, W", 0.9, 1.5, |p, x| p.power.idle_w = x),
    ("heat capacity, of ssd1", 0.67, 1.33, capacity),
    ("hysteresis of the relay, K", 1.0, 8.0, |p, x| p.policy[0].hysteresis_k = x),
    ("hysteresis of the vendor's, K", 1.0, 8.0, |p, x| p.policy[1].hysteresis_k = x),
];
const SSD1_SET: [&str; 3] = ["A1", "A3", "A5"];

/// Ranges: drives of the power table draw 0.7 to 1.9 W per GB/s, the enterprise drive included, and 0.6 to 2.1 W idle
/// without their link and adapter; an exponent of 1 is a drive whose power is affine, 6 is steeper than any clock and
/// voltage; the drive writes more slowly than SSD1.
const SSD2: [Parameter; 7] = [
    ("read energy, W per GB/s", 0.5, 1.2, |p, x| p.power.read_w_per_gb_per_s = x),
    ("written energy, W per GB/s", 0.8, 2.0, |p, x| p.power.write_w_per_gb_per_s = x),
    ("exponent of written energy", 1.0, 6.0, |p, x| p.power.write_level_exponent = x),
    ("write speed, GB/s", 1.0, 1.6, |p, x| p.media.sequential_write.bytes_per_s = x * 1e9),
    ("idle, W", 0.6, 2.1, |p, x| p.power.idle_w = x),
    ("heat capacity, of ssd2", 0.67, 1.33, capacity),
    ("heavy read cap, GB/s", 0.5, 1.7, heavy_reads),
];
const SSD2_SET: [&str; 4] = ["B1", "B3", "B4", "B6"];

/// Whether a closed form of the rows that set parameters allows these values of [`SSD1`]. Steady states of 12.5 K/W over
/// 30 °C: A1 at most about 65 °C at 1.6 GB/s, A5 about 81 °C at 2.4 GB/s; with room for what the form leaves out.
fn ssd1_may(values: &[f64]) -> bool {
    let settled = |watts: f64| 30.0 + 12.5 * watts;
    (62.0..=70.0).contains(&settled(values[2] + 1.6 * values[1]))
        && (77.0..=86.0).contains(&settled(values[2] + 2.4 * values[0]))
}

/// The same for [`SSD2`]: B1 ends at 68 to 70 °C at full speed, B3 writes 1.1 GB/s at 58 °C, B6 reads 3.1 GB/s for five
/// minutes without reaching 71 °C.
fn ssd2_may(values: &[f64]) -> bool {
    let (read, written, exponent, full, idle) = (values[0], values[1], values[2], values[3], values[4]);
    let settled = |watts: f64| 30.0 + 12.5 * watts;
    let held = full * ((28.0 / 12.5 - idle) / (written * full)).max(0.0).powf(exponent.recip());
    (67.0..=72.0).contains(&settled(idle + full * written))
        && (1.0..=1.2).contains(&held)
        && settled(idle + 3.1 * read) <= 75.0
}

fn capacity(profile: &mut Profile, scale: f64) {
    profile.thermal.node.iter_mut().for_each(|node| node.capacity_j_per_k *= scale);
}

fn heavy_reads(profile: &mut Profile, gb_per_s: f64) {
    for policy in &mut profile.policy {
        if let physics::profile::Machine::TwoLevel(machine) = &mut policy.machine {
            machine.heavy.read_bytes_per_s = Some(gb_per_s * 1e9);
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut typed = std::env::args().skip(1);
    let draws = typed.next().and_then(|typed| typed.parse().ok()).unwrap_or(100);
    let only = typed.next();
    let drives = [
        Subject { name: "ssd1", part: 0, parameters: &SSD1, set: &SSD1_SET, may: ssd1_may },
        Subject { name: "ssd2", part: 1, parameters: &SSD2, set: &SSD2_SET, may: ssd2_may },
    ];
    let wanted = |drive: &&Subject| only.as_deref().is_none_or(|only| only == drive.name);
    drives.iter().filter(wanted).try_for_each(|drive| drive.tell(draws))
}

/// A drive and what is asked of it.
struct Subject {
    name: &'static str,
    part: usize,
    parameters: &'static [Parameter],
    set: &'static [&'static str],
    may: fn(&[f64]) -> bool,
}

/// All rows of one profile.
type Rows = Vec<RowResult>;

impl Subject {
    /// Draws profiles, runs them and prints what came out.
    fn tell(&self, draws: usize) -> std::io::Result<()> {
        let mut generator = Pcg32::seed_from_u64(1);
        let mut draw = || -> Vec<f64> {
            let mut unit = || f64::from(generator.next_u32()) / 4_294_967_296.0;
            self.parameters.iter().map(|(_, least, most, _)| least + (most - least) * unit()).collect()
        };
        let any: Vec<_> = (0..draws).map(|_| draw()).collect();
        let likely: Vec<_> =
            std::iter::repeat_with(draw).filter(|values| (self.may)(values)).take(draws).collect();
        let (any, likely) = (self.run(&any), self.run(&likely));
        let holds = |rows: &&Rows| rows.iter().all(|row| row.holds || !self.set.contains(&row.id.as_str()));
        let set: Vec<&Rows> = any.iter().chain(&likely).filter(holds).collect();
        let any: Vec<&Rows> = any.iter().collect();

        let mut out = std::io::stdout().lock();
        writeln!(out, "{}: {draws} profiles, drawn evenly from", self.name)?;
        for (what, least, most, _) in self.parameters {
            writeln!(out, "- {what}: {least} to {most}")?;
        }
        writeln!(out, "\nParameters set from {}: {} profiles.\n", self.set.join(", "), set.len())?;
        writeln!(
            out,
            "| row | quantity | bounds | on any, 80 % | set, 80 % | holds on any | holds where set |"
        )?;
        writeln!(out, "|---|---|---|---|---|---|---|")?;
        let count = any.first().map_or(0, |rows| rows.len());
        for row in (0..count).filter(|row| !self.set.contains(&any[0][*row].id.as_str())) {
            self.tell_row(row, &any, &set, &mut out)?;
        }
        writeln!(out)
    }

    fn tell_row(
        &self,
        row: usize,
        any: &[&Rows],
        set: &[&Rows],
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let share = |lot: &[&Rows]| {
            let hits = lot.iter().filter(|rows| rows[row].holds).count();
            format!("{hits} of {}", lot.len())
        };
        for (at, quantity) in any[0][row].quantities.iter().enumerate() {
            let range = |lot: &[&Rows]| {
                let mut got: Vec<f64> =
                    lot.iter().filter_map(|rows| Some(rows[row].quantities.get(at)?.got)).collect();
                got.retain(|got| got.is_finite());
                got.sort_by(f64::total_cmp);
                let at =
                    |share: f64| got.get((share * got.len() as f64) as usize).copied().unwrap_or(f64::NAN);
                format!("{} to {}", number(at(0.1)), number(at(0.9)))
            };
            let [id, by_any, by_set] = if at == 0 {
                [any[0][row].id.clone(), share(any), share(set)]
            } else {
                [String::new(), String::new(), String::new()]
            };
            let (what, bounds) = (&quantity.what, &quantity.bounds);
            writeln!(
                out,
                "| {id} | {what} | {bounds} | {} | {} | {by_any} | {by_set} |",
                range(any),
                range(set)
            )?;
        }
        Ok(())
    }

    /// All rows on each profile, on all cores; in the order of the profiles.
    fn run(&self, profiles: &[Vec<f64>]) -> Vec<Rows> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let parts = profiles.chunks(profiles.len().div_ceil(cores).max(1));
        std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .map(|part| {
                    scope.spawn(move || part.iter().map(|values| self.rows(values)).collect::<Vec<_>>())
                })
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    fn rows(&self, values: &[f64]) -> Rows {
        let change = |profile: &mut Profile| {
            if profile.name == self.name {
                self.parameters.iter().zip(values).for_each(|((.., put), value)| put(profile, *value));
            }
        };
        part_with(self.part, &change).unwrap_or_default()
    }
}

/// Three digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
