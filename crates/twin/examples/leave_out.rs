//! Leave-out evidence for SSD1 and SSD2: what the rows of a drive say about the row that is left out.
//!
//! Profiles are drawn whose parameters lie anywhere in ranges that do not come from the rows, and all rows of the
//! drive are run on each. Of those profiles on which a chosen few rows hold - parameters set from a subset - it
//! counts on how many each other row holds as well; beside it stands the share on any profile, which is what
//! luck would give. The same count is made with all other rows as the subset (leave one out).
//!
//! `cargo run -p twin --example leave_out -- 400` draws 400 profiles a drive, `... -- 400 ssd2` of that drive alone;
//! docs/VALIDATION.md has what came out.

use std::io::Write as _;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use twin::Profile;
use twin::experiments::part_with;

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

/// Ranges: as SSD1; an exponent of 1 is a drive whose power is affine, 6 is steeper than any clock and voltage.
const SSD2: [Parameter; 7] = [
    ("read energy, W per GB/s", 0.6, 0.8, |p, x| p.power.read_w_per_gb_per_s = x),
    ("written energy, W per GB/s", 1.6, 1.9, |p, x| p.power.write_w_per_gb_per_s = x),
    ("exponent of written energy", 1.0, 6.0, |p, x| p.power.write_level_exponent = x),
    ("write speed, GB/s", 1.15, 1.4, |p, x| p.media.sequential_write.bytes_per_s = x * 1e9),
    ("idle, W", 0.8, 1.1, |p, x| p.power.idle_w = x),
    ("heat capacity, of ssd2", 0.67, 1.33, capacity),
    ("heavy read cap, GB/s", 0.5, 1.7, heavy_reads),
];
const SSD2_SET: [&str; 4] = ["B1", "B3", "B4", "B6"];

fn capacity(profile: &mut Profile, scale: f64) {
    profile.thermal.node.iter_mut().for_each(|node| node.capacity_j_per_k *= scale);
}

fn heavy_reads(profile: &mut Profile, gb_per_s: f64) {
    for policy in &mut profile.policy {
        if let twin::profile::Machine::TwoLevel(machine) = &mut policy.machine {
            machine.heavy.read_bytes_per_s = Some(gb_per_s * 1e9);
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut typed = std::env::args().skip(1);
    let draws = typed.next().and_then(|typed| typed.parse().ok()).unwrap_or(100);
    let only = typed.next();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("ssd1") {
        drive("ssd1", 0, draws, &SSD1, &SSD1_SET)?;
    }
    if wanted("ssd2") {
        drive("ssd2", 1, draws, &SSD2, &SSD2_SET)?;
    }
    Ok(())
}

/// Draws profiles of one drive and counts.
fn drive(
    name: &str,
    part: usize,
    draws: usize,
    parameters: &[Parameter],
    set: &[&str],
) -> std::io::Result<()> {
    let mut generator = Pcg32::seed_from_u64(1);
    let mut ids: Vec<String> = Vec::new();
    let mut held: Vec<Vec<bool>> = Vec::new();
    for _ in 0..draws {
        let mut unit = || f64::from(generator.next_u32()) / 4_294_967_296.0;
        let values: Vec<f64> =
            parameters.iter().map(|(_, least, most, _)| least + (most - least) * unit()).collect();
        let change = |profile: &mut Profile| {
            if profile.name == name {
                parameters.iter().zip(&values).for_each(|((.., put), value)| put(profile, *value));
            }
        };
        let rows = part_with(part, &change).unwrap_or_default();
        ids = rows.iter().map(|row| row.id.clone()).collect();
        held.push(rows.iter().map(|row| row.holds).collect());
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{name}: {draws} profiles, drawn evenly from")?;
    for (what, least, most, _) in parameters {
        writeln!(out, "- {what}: {least} to {most}")?;
    }
    writeln!(out, "\nParameters set from {}.\n", set.join(", "))?;
    writeln!(out, "| row | holds on any | holds where the set rows hold | holds where all others hold |")?;
    writeln!(out, "|---|---|---|---|")?;
    // Rows that never hold say nothing about others.
    let never: Vec<bool> = (0..ids.len()).map(|row| held.iter().all(|rows| !rows[row])).collect();
    let is_set = |row: usize| set.contains(&ids[row].as_str());
    for (row, id) in ids.iter().enumerate() {
        let of = |given: &dyn Fn(usize) -> bool| {
            let all = held
                .iter()
                .filter(|rows| rows.iter().enumerate().all(|(i, holds)| *holds || i == row || !given(i)));
            let (hits, count) =
                all.fold((0, 0), |(hits, count), rows| (hits + usize::from(rows[row]), count + 1));
            format!("{hits} of {count}")
        };
        let by_set = if is_set(row) { "set".to_owned() } else { of(&is_set) };
        writeln!(out, "| {id} | {} | {by_set} | {} |", of(&|_| false), of(&|other| !never[other]))?;
    }
    writeln!(out)
}
