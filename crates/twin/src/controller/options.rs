//! What a subsystem is made from: which drive, under which names, over which storage, how fast.

use std::fmt;
use std::path::PathBuf;

use measure::{Instant, Seed};
use nvme::fabrics::SIMULATED_NQN_PREFIX;
use thiserror::Error;

use super::backing::{BackingError, BackingFile};
use super::saved::SavedState;
use physics::Profile;

/// What a [`Subsystem`](super::Subsystem) is made from.
#[derive(Clone, Debug)]
pub struct Options {
    /// The drive behind the controller. Its serial number is replaced by that of `identity`.
    pub profile: Profile,
    /// Seed of everything random in it.
    pub seed: Seed,
    /// Its names, unique among all subsystems that a host can see at once.
    pub identity: SubsystemIdentity,
    /// Where its data lie.
    pub backing: BackingOptions,
    /// How simulated time and data relate to the host's.
    pub scale: Scale,
    /// What it offers to hosts.
    pub limits: SubsystemLimits,
    /// Whether Identify says that there may be other controllers (CMIC bit 1) that share the namespace (NMIC bit 0). Linux
    /// then makes a multipath device of it, and writes through that need a word; without, the node is a plain one.
    pub multipath: bool,
    /// NQNs of the hosts that may connect; empty for all.
    pub allowed_hosts: Vec<String>,
    /// Whether hosts can save settings; not where the drive ends with its host.
    pub saves: bool,
    /// What a former life saved; [`SavedState::default`] for a new drive.
    pub saved: SavedState,
}

impl Options {
    /// The drive of `profile` with data in memory, at its own speed, under its first instance's names.
    pub fn new(profile: Profile, seed: Seed) -> Self {
        let identity = SubsystemIdentity::for_profile(&profile.name, 1);
        let backing = BackingOptions::Memory { limit_bytes: MEMORY_LIMIT_BYTES };
        Self {
            profile,
            seed,
            identity,
            backing,
            scale: Scale::REAL,
            limits: SubsystemLimits::default(),
            multipath: false,
            allowed_hosts: Vec::new(),
            saves: true,
            saved: SavedState::default(),
        }
    }
}

/// Default bound of data kept in memory: a virtual SSD must not take a small machine down.
pub const MEMORY_LIMIT_BYTES: u64 = 4 << 30;

/// Where the data of a subsystem lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackingOptions {
    /// In memory, only what was written; gone with the process.
    Memory {
        /// Most bytes kept; a write beyond fails with Capacity Exceeded.
        limit_bytes: u64,
    },
    /// In a sparse file, made if it does not exist. It has the size of the namespace.
    File(BackingFile),
}

/// Why a subsystem cannot be made.
#[derive(Debug, Error)]
pub enum OptionsError {
    /// The names cannot be told to a host.
    #[error("the name {what} of {value:?} is not usable: {why}")]
    Identity {
        /// `nqn` or `serial`.
        what: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        why: &'static str,
    },
    /// The scale leaves no whole block.
    #[error("a bandwidth scale of {bandwidth} leaves no block of {capacity_bytes} bytes; take a smaller one")]
    Scale {
        /// What was asked for.
        bandwidth: u32,
        /// The drive's size.
        capacity_bytes: u64,
    },
    /// The file behind the data.
    #[error("cannot use {} as the data of a virtual SSD: {why}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// Why not.
        #[source]
        why: BackingError,
    },
}

/// The names of one subsystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubsystemIdentity {
    /// NVMe qualified name of the subsystem, at most 223 bytes.
    pub nqn: String,
    /// Serial number, at most 20 ASCII characters.
    pub serial: String,
    /// UUID of the namespace.
    pub uuid: [u8; 16],
    /// Globally unique identifier of the namespace.
    pub nguid: [u8; 16],
    /// IEEE extended unique identifier of the namespace.
    pub eui64: [u8; 8],
}

impl SubsystemIdentity {
    /// The names of the `instance`th (from 1) drive with the profile `profile`.
    pub fn for_profile(profile: &str, instance: u32) -> Self {
        Self::named(&if instance <= 1 { profile.to_owned() } else { format!("{profile}-{instance}") })
    }

    /// What stands behind the colon of the NQN.
    pub fn name(&self) -> &str {
        self.nqn.rsplit(':').next().unwrap_or_default()
    }

    /// The names of the drive `name`: the same name gives the same numbers, so a host finds its drive again after a
    /// restart.
    pub fn named(name: &str) -> Self {
        let high = fnv1a(name.as_bytes(), 0);
        let low = fnv1a(name.as_bytes(), high);
        let mut uuid = [0; 16];
        uuid[..8].copy_from_slice(&high.to_be_bytes());
        uuid[8..].copy_from_slice(&low.to_be_bytes());
        let nguid = uuid;
        // RFC 9562: version 8 (custom), variant 10b.
        uuid[6] = uuid[6] & 0x0f | 0x80;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        // Locally administered (bit 1 of the first byte): no maker's number is taken.
        let mut eui64 = high.to_be_bytes();
        eui64[0] = eui64[0] & 0xfc | 0x02;
        let nqn = format!("{SIMULATED_NQN_PREFIX}{name}");
        let serial = format!("VSSD{:016X}", high);
        Self { nqn, serial, uuid, nguid, eui64 }
    }

    pub(super) fn check(&self) -> Result<(), OptionsError> {
        let error = |what, value: &str, why| OptionsError::Identity { what, value: value.to_owned(), why };
        if self.nqn.len() > 223 || !self.nqn.starts_with("nqn.") || self.nqn.contains('\0') {
            return Err(error("nqn", &self.nqn, "it begins with \"nqn.\" and has at most 223 bytes"));
        }
        if self.serial.is_empty() || self.serial.len() > 20 || !self.serial.is_ascii() {
            return Err(error("serial", &self.serial, "it has 1 to 20 ASCII characters"));
        }
        Ok(())
    }
}

/// FNV-1a, 64 bit, begun at `salt` steps off its offset basis: names need to differ, not to be secret.
fn fnv1a(bytes: &[u8], salt: u64) -> u64 {
    let basis = 0xcbf2_9ce4_8422_2325_u64 ^ salt;
    bytes.iter().fold(basis, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// How simulated time and data relate to the host's.
///
/// A host sees a drive of `speed x time / bandwidth` with `capacity / bandwidth` bytes, which heats
/// up `time` times faster than the real one would. Everything that the controller does towards the
/// host (keep-alive, delays of faults, timestamps) stays in the host's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    time: u32,
    bandwidth: u32,
}

impl Scale {
    /// As the real drive.
    pub const REAL: Self = Self { time: 1, bandwidth: 1 };
    /// The most either factor may be: a day of heating in under ten seconds, 3 GB/s as 300 kB/s.
    pub const MAX: u32 = 10_000;

    /// `time` simulated seconds pass in one of the host's, and a byte of the host stands for
    /// `bandwidth` simulated ones. `None` unless both are 1 to [`Scale::MAX`].
    pub const fn new(time: u32, bandwidth: u32) -> Option<Self> {
        if time == 0 || time > Self::MAX || bandwidth == 0 || bandwidth > Self::MAX {
            return None;
        }
        Some(Self { time, bandwidth })
    }

    /// Simulated seconds in one of the host's.
    pub const fn time(self) -> u32 {
        self.time
    }

    /// Simulated bytes for one of the host's.
    pub const fn bandwidth(self) -> u32 {
        self.bandwidth
    }

    /// The drive's instant at the host's `now`.
    pub(super) const fn to_drive(self, now: Instant) -> Instant {
        Instant::from_ns(now.as_ns().saturating_mul(self.time as u64))
    }

    /// The host's first instant at which the drive has reached `then`.
    pub(super) const fn to_host(self, then: Instant) -> Instant {
        Instant::from_ns(then.as_ns().div_ceil(self.time as u64))
    }

    /// Simulated bytes for `host_bytes`.
    pub(super) const fn bytes(self, host_bytes: u64) -> u64 {
        host_bytes.saturating_mul(self.bandwidth as u64)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time x{}, bandwidth x{}", self.time, self.bandwidth)
    }
}

/// What a subsystem offers to hosts. Every number is a bound on what one host can make it hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubsystemLimits {
    /// Entries of an I/O queue, 2 to 4096. Linux takes at most 128 unless told otherwise.
    pub queue_entries: u16,
    /// I/O queues of one controller.
    pub io_queues: u16,
    /// Most data of one command as a power of two of 4 KiB (MDTS). 8, that is 1 MiB, serves Linux's largest.
    pub max_transfer_shift: u8,
    /// Data a write may carry inside its command on an I/O queue, in bytes; a multiple of 16. 8 KiB, as
    /// on the admin queue, spares the usual small write a round trip.
    pub in_capsule_bytes: u32,
    /// Controllers, and with them hosts, at once.
    pub controllers: u16,
}

impl Default for SubsystemLimits {
    fn default() -> Self {
        Self {
            queue_entries: 128,
            io_queues: 64,
            max_transfer_shift: 8,
            in_capsule_bytes: 8192,
            controllers: 16,
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn instances_have_their_own_names_and_keep_them() {
        let (one, two) =
            (SubsystemIdentity::for_profile("ssd1", 1), SubsystemIdentity::for_profile("ssd1", 2));
        assert_eq!(one, SubsystemIdentity::for_profile("ssd1", 1));
        assert_eq!(one.nqn, "nqn.2026-11.invalid.heatsoak:ssd1");
        assert_eq!(two.nqn, "nqn.2026-11.invalid.heatsoak:ssd1-2");
        assert!(one.uuid != two.uuid && one.eui64 != two.eui64 && one.serial != two.serial);
        assert_eq!(one.serial.len(), 20);
        assert_eq!((one.name(), two.name()), ("ssd1", "ssd1-2"));
        assert_eq!(SubsystemIdentity::named("ssd1-2"), two);
        assert!(one.check().is_ok());
        assert!(SubsystemIdentity { nqn: "ssd1".to_owned(), ..one }.check().is_err());
    }

    #[test]
    fn scaled_time_never_completes_early() {
        let scale = Scale::new(7, 1).expect("in range");
        for ns in [0, 1, 6, 7, 8, 1_000_003] {
            let host = scale.to_host(Instant::from_ns(ns));
            assert!(scale.to_drive(host).as_ns() >= ns);
        }
        assert!(Scale::new(0, 1).is_none() && Scale::new(1, Scale::MAX + 1).is_none());
    }
}
