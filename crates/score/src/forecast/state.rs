//! Another power state of a drive: slower, and mostly with less energy for each byte.
//!
//! As published for an enterprise drive (VALIDATION, rows PS5 to PS7): 44 to 99 % of the reads and 28 to 71 % of the
//! writes, a read byte for 81 to 100 % of the energy.

use fit::{Fitted, RunData, low_tmt1_k};
use physics::Profile;
use physics::profile::PowerStateProfile;
use plan::Plan;

use super::ask::Question;
use super::drives::TestDrive;
use super::log::{Room, record};
use crate::corpus::draw::CorpusDraw;
use crate::corpus::foreign::world::World;

/// Its number.
pub(super) const STATE: u8 = 1;

/// Ten minutes in it.
pub(super) fn run(drive: &TestDrive, tmt_k: [u16; 2]) -> RunData {
    let quick = Plan::builtin("thermal-id-quick").expect("it is built in");
    let room = Room { other_state: true, tmt_k, ..Room::default() };
    let log = record(drive, &fit::load::phases(&quick, None), room);
    let mut run = RunData::new(&log, Some(drive.ambient_k()));
    run.power_state = Some(STATE);
    run
}

/// Whether a forecast in it asks for ten minutes more, at a TMT1 that it reaches.
pub(super) fn is_undecided(drive: &TestDrive, fitted: &Fitted) -> bool {
    let question = Question::state();
    let forecast = fit::predict(fitted, &question.scenario(drive), &question.load(drive));
    forecast.caveats.iter().any(|caveat| caveat.kind == "state_throttling")
}

/// TMT1 and TMT2 of those, as the forecast names them.
pub(super) fn lower_tmt_k(drive: &TestDrive, fitted: &Fitted) -> [u16; 2] {
    let [tmt1_k, tmt2_k] = drive.tmt_k;
    [tmt1_k.min(low_tmt1_k(fitted.seen.range_k, &fitted.common)), tmt2_k]
}

/// What it changes; reading, then writing.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherState {
    /// Shares of full speed.
    speed: [f64; 2],
    /// Energy of a byte over that in state 0.
    energy: [f64; 2],
}

impl OtherState {
    /// That of a drive: always the same one.
    pub(super) fn draw(drive: &TestDrive) -> Self {
        let mut draw = CorpusDraw::new(drive.seed.part(8));
        let mut pair = |low, high| [draw.between(low, high), draw.between(low, high)];
        Self { speed: pair(0.4, 0.95), energy: pair(0.75, 1.05) }
    }

    /// Full speed of reading and writing in it, in bytes per second.
    pub(super) fn full(&self, drive: &TestDrive) -> [f64; 2] {
        let full = drive.full();
        [full[0] * self.speed[0], full[1] * self.speed[1]]
    }

    /// Adds it to a drive of ours as its state 1.
    pub(super) fn add_to(&self, profile: &mut Profile) {
        let link = profile.media.link_bytes_per_s;
        let cap = |bytes_per_s: f64, op: usize| Some(bytes_per_s.min(link) * self.speed[op]);
        let first = profile.power_state[0].clone();
        profile.power_state.truncate(1);
        profile.power_state.push(PowerStateProfile {
            read_cap_bytes_per_s: cap(profile.media.sequential_read.bytes_per_s, 0),
            write_cap_bytes_per_s: cap(profile.media.sequential_write.bytes_per_s, 1),
            read_energy_scale: self.energy[0],
            write_energy_scale: self.energy[1],
            ..first
        });
    }

    /// Makes it the state of a foreign drive: its firmware's shares are of what the state allows.
    pub(super) fn put_into(&self, world: &mut World) {
        for op in 0..2 {
            world.full[op] *= self.speed[op];
            world.power.full_w[op] *= self.speed[op] * self.energy[op];
        }
    }
}
