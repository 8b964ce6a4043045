//! What is said of a drive beside its address, at the door.

use drive::Stated;
use measure::Seed;
use plan::SweepSetting;

/// What is said of a drive beside its address.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    /// What the user states of it.
    pub(crate) stated: Stated,
    /// Of all chance in a simulated drive.
    pub(crate) seed: Seed,
    /// The link and the room that a simulated drive is put into; its thermal settings are not looked at.
    pub(crate) surroundings: SweepSetting,
}

impl Opening {
    /// Nothing said: for commands that make no load.
    pub(crate) fn plain() -> Self {
        Self { stated: Stated::default(), seed: Seed::new(0), surroundings: SweepSetting::default() }
    }
}
