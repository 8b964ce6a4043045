//! Power State Descriptors: what each power state costs and how it ranks.
//!
//! Layout: NVMe Base 2.3, Power State Descriptor Data Structure, and 8.1.18. The emergency power
//! fail fields (bytes 23 to 27) are left alone.

use std::time::Duration;

use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::power::{PowerScale, ScaledPower};
use crate::wire::assert_layout;

/// Most power states a controller can have (NPSS is 0 to 31).
pub const POWER_STATES_MAX: usize = 32;

/// One power state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// Sustained maximum power (MP).
    pub max_power: Option<ScaledPower>,
    /// Whether the state serves no I/O (NOPS).
    pub non_operational: bool,
    /// Longest time to enter it (ENLAT, microseconds).
    pub entry_latency: Option<Duration>,
    /// Longest time to leave it (EXLAT, microseconds).
    pub exit_latency: Option<Duration>,
    /// Rank of read throughput among the states, 0 best, five bits.
    pub read_throughput_rank: u8,
    /// Rank of read latency, 0 best, five bits.
    pub read_latency_rank: u8,
    /// Rank of write throughput, 0 best, five bits.
    pub write_throughput_rank: u8,
    /// Rank of write latency, 0 best, five bits.
    pub write_latency_rank: u8,
    /// Typical power over 30 s after 10 s of idleness (IDLP).
    pub idle_power: Option<ScaledPower>,
    /// Largest 10 s average under the stated workload (ACTP).
    pub active_power: Option<ScaledPower>,
    /// The workload `active_power` was measured with (APW, three bits); 0 is none stated.
    pub active_workload: u8,
}

impl PowerState {
    /// A state of which nothing is reported.
    pub const UNREPORTED: Self = Self {
        max_power: None,
        non_operational: false,
        entry_latency: None,
        exit_latency: None,
        read_throughput_rank: 0,
        read_latency_rank: 0,
        write_throughput_rank: 0,
        write_latency_rank: 0,
        idle_power: None,
        active_power: None,
        active_workload: 0,
    };

    pub(super) fn decode(wire: &PowerStateWire) -> Self {
        let latency = |us: U32| Some(Duration::from_micros(us.get().into())).filter(|span| !span.is_zero());
        Self {
            max_power: max_power(wire.max_power.get(), wire.flags),
            non_operational: wire.flags & NON_OPERATIONAL != 0,
            entry_latency: latency(wire.entry_latency),
            exit_latency: latency(wire.exit_latency),
            read_throughput_rank: wire.ranks[0] & RANK_MASK,
            read_latency_rank: wire.ranks[1] & RANK_MASK,
            write_throughput_rank: wire.ranks[2] & RANK_MASK,
            write_latency_rank: wire.ranks[3] & RANK_MASK,
            idle_power: reported(wire.idle_power.get(), wire.idle_scale >> 6),
            active_power: reported(wire.active_power.get(), wire.active_scale >> 6),
            active_workload: wire.active_scale & 0b111,
        }
    }

    pub(super) fn encode(&self) -> PowerStateWire {
        let latency = |span: Option<Duration>| {
            U32::new(span.map_or(0, |span| u32::try_from(span.as_micros()).unwrap_or(u32::MAX)))
        };
        let power = |power: Option<ScaledPower>| {
            power.map_or((0, 0), |power| (power.value, power.scale.as_wire() << 6))
        };
        let (idle_power, idle_scale) = power(self.idle_power);
        let (active_power, active_scale) = power(self.active_power);
        let fine = self.max_power.is_some_and(|power| power.scale == PowerScale::TenthMilliwatt);
        let mut wire = PowerStateWire::new_zeroed();
        wire.max_power = self.max_power.map_or(0, |power| power.value).into();
        wire.flags = u8::from(fine) | if self.non_operational { NON_OPERATIONAL } else { 0 };
        wire.entry_latency = latency(self.entry_latency);
        wire.exit_latency = latency(self.exit_latency);
        wire.ranks = [
            self.read_throughput_rank,
            self.read_latency_rank,
            self.write_throughput_rank,
            self.write_latency_rank,
        ]
        .map(|rank| rank & RANK_MASK);
        wire.idle_power = idle_power.into();
        wire.idle_scale = idle_scale;
        wire.active_power = active_power.into();
        wire.active_scale = active_scale | self.active_workload & 0b111;
        wire
    }
}

const FINE_SCALE: u8 = 1 << 0;
const NON_OPERATIONAL: u8 = 1 << 1;
const RANK_MASK: u8 = 0x1f;

/// Maximum power has a one-bit scale (MXPS): 0 is 0.01 W, 1 is 0.0001 W. A power of 0 is not reported.
fn max_power(value: u16, flags: u8) -> Option<ScaledPower> {
    let scale = if flags & FINE_SCALE != 0 { PowerScale::TenthMilliwatt } else { PowerScale::Centiwatt };
    (value != 0).then_some(ScaledPower { value, scale })
}

fn reported(value: u16, scale: u8) -> Option<ScaledPower> {
    ScaledPower::from_wire(value, scale).filter(|power| power.value != 0)
}

#[repr(C)]
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
pub(super) struct PowerStateWire {
    max_power: U16,
    reserved2: u8,
    flags: u8,
    entry_latency: U32,
    exit_latency: U32,
    ranks: [u8; 4],
    idle_power: U16,
    idle_scale: u8,
    reserved19: u8,
    active_power: U16,
    active_scale: u8,
    reserved23: [u8; 9],
}
assert_layout!(PowerStateWire, 32, {
    flags: 3,
    entry_latency: 4,
    exit_latency: 8,
    ranks: 12,
    idle_power: 16,
    idle_scale: 18,
    active_power: 20,
    active_scale: 22,
});

#[cfg(test)]
mod test {
    use measure::Watts;
    use proptest::prelude::*;

    use super::*;

    /// Goal: the two scales of power are not mixed up.
    #[test]
    fn maximum_power_has_its_own_scale() {
        let mut bytes = [0; 32];
        bytes[..2].copy_from_slice(&604_u16.to_le_bytes());
        let wire: PowerStateWire = zerocopy::transmute!(bytes);
        let state = PowerState::decode(&wire);
        assert_eq!(state.max_power.map(ScaledPower::watts), Some(Watts::new(6.04)));
        assert_eq!(state.idle_power, None);

        bytes[3] = 0b11;
        bytes[16..18].copy_from_slice(&50_u16.to_le_bytes());
        bytes[18] = 1 << 6;
        let wire: PowerStateWire = zerocopy::transmute!(bytes);
        let state = PowerState::decode(&wire);
        assert_eq!(state.max_power.map(ScaledPower::watts), Some(Watts::new(0.0604)));
        assert!(state.non_operational);
        assert_eq!(state.idle_power.map(ScaledPower::watts), Some(Watts::new(0.005)));
    }

    proptest! {
        #[test]
        fn states_round_trip(bytes in any::<[u8; 32]>()) {
            let wire: PowerStateWire = zerocopy::transmute!(bytes);
            let state = PowerState::decode(&wire);
            prop_assert_eq!(PowerState::decode(&state.encode()), state);
        }
    }
}
