//! OCP extended SMART (log page C0h): throttle state and wear of datacenter drives.
//!
//! Recognised by its GUID, because C0h is a vendor page and may hold anything.
//! Layout: OCP Datacenter NVMe SSD 2.0, SMART / Health Information Extended (4.8.6); the power and
//! temperature fields from byte 222 on are of later revisions. Only fields about heat, power, wear
//! and health are decoded.

use zerocopy::little_endian::{U16, U32, U64, U128};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// Bytes of the page.
pub const OCP_SMART_LEN: usize = 512;

/// The GUID that marks the page, as it lies in bytes 496 to 511.
pub const OCP_SMART_GUID: [u8; 16] =
    [0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf];

/// What an OCP drive says beyond SMART.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OcpSmart {
    /// Bytes written to the media.
    pub media_bytes_written: u128,
    /// Bytes read from the media.
    pub media_bytes_read: u128,
    /// How often thermal throttling started. Eight bits: stops counting at 255.
    pub throttle_events: u8,
    /// Throttling now: 0 none, 1 to 3 the level.
    pub throttle_level: u8,
    /// Free blocks in percent.
    pub free_blocks_percent: u8,
    /// Health of the power-loss capacitor in percent of the least needed.
    pub capacitor_health_percent: u16,
    /// Power losses without a shutdown notice.
    pub incomplete_shutdowns: u32,
    /// I/Os that were not aligned to the drive's inner unit.
    pub unaligned_ios: u64,
    /// How often the power state changed.
    pub power_state_changes: u64,
    /// Highest temperature ever recorded, in the drive's own unit; `None` when not kept.
    pub max_temperature_raw: Option<u8>,
    /// Largest peak power the drive can have; raw, `None` when not kept.
    pub max_peak_power_raw: Option<u16>,
    /// Largest average power in the present state; raw, `None` when not kept.
    pub current_max_average_power_raw: Option<u16>,
    /// Revision of the page.
    pub page_version: u16,
}

impl OcpSmart {
    /// Decodes the page.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 512 bytes; [`DecodeError::Value`] when the GUID is not
    /// OCP's, which means that this vendor's page C0h is something else.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        const WHAT: &str = "the OCP SMART log (C0h)";
        let wire: &OcpWire = wire::layout(WHAT, page)?;
        if wire.guid != OCP_SMART_GUID {
            return Err(DecodeError::Value {
                what: WHAT,
                field: "Log Page GUID",
                value: U64::from_bytes(wire.guid.first_chunk().copied().unwrap_or([0; 8])).get(),
                why: "only OCP's GUID marks this page; the drive uses C0h for something else",
            });
        }
        let kept = |raw: U16| Some(raw.get()).filter(|value| *value != 0);
        Ok(Self {
            media_bytes_written: wire.media_written.get(),
            media_bytes_read: wire.media_read.get(),
            throttle_events: wire.throttle_events,
            throttle_level: wire.throttle_level,
            free_blocks_percent: wire.free_blocks,
            capacitor_health_percent: wire.capacitor_health.get(),
            incomplete_shutdowns: wire.incomplete_shutdowns.get(),
            unaligned_ios: wire.unaligned_ios.get(),
            power_state_changes: wire.power_state_changes.get(),
            max_temperature_raw: Some(wire.max_temperature).filter(|value| *value != 0),
            max_peak_power_raw: kept(wire.max_peak_power),
            current_max_average_power_raw: kept(wire.current_max_average_power),
            page_version: wire.page_version.get(),
        })
    }

    /// Encodes the page with OCP's GUID; fields not decoded are zero.
    pub fn encode(&self) -> [u8; OCP_SMART_LEN] {
        let mut wire = OcpWire::new_zeroed();
        wire.media_written = self.media_bytes_written.into();
        wire.media_read = self.media_bytes_read.into();
        wire.throttle_events = self.throttle_events;
        wire.throttle_level = self.throttle_level;
        wire.free_blocks = self.free_blocks_percent;
        wire.capacitor_health = self.capacitor_health_percent.into();
        wire.incomplete_shutdowns = self.incomplete_shutdowns.into();
        wire.unaligned_ios = self.unaligned_ios.into();
        wire.power_state_changes = self.power_state_changes.into();
        wire.max_temperature = self.max_temperature_raw.unwrap_or(0);
        wire.max_peak_power = self.max_peak_power_raw.unwrap_or(0).into();
        wire.current_max_average_power = self.current_max_average_power_raw.unwrap_or(0).into();
        wire.page_version = self.page_version.into();
        wire.guid = OCP_SMART_GUID;
        zerocopy::transmute!(wire)
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct OcpWire {
    media_written: U128,
    media_read: U128,
    errors32: [u8; 64],
    throttle_events: u8,
    throttle_level: u8,
    versions98: [u8; 6],
    link_errors: U64,
    incomplete_shutdowns: U32,
    reserved116: [u8; 4],
    free_blocks: u8,
    reserved121: [u8; 7],
    capacitor_health: U16,
    versions130: [u8; 6],
    unaligned_ios: U64,
    security_version: U64,
    total_used: U64,
    power_loss_starts: U128,
    endurance_estimate: U128,
    link_retrains: U64,
    power_state_changes: U64,
    versions208: [u8; 14],
    max_temperature: u8,
    form_factor: u8,
    wear224: [u8; 36],
    max_peak_power: U16,
    current_max_average_power: U16,
    lifetime_power: [u8; 6],
    firmware270: [u8; 224],
    page_version: U16,
    guid: [u8; 16],
}
assert_layout!(OcpWire, 512, {
    throttle_events: 96,
    throttle_level: 97,
    incomplete_shutdowns: 112,
    free_blocks: 120,
    capacitor_health: 128,
    unaligned_ios: 136,
    power_state_changes: 200,
    max_temperature: 222,
    max_peak_power: 260,
    current_max_average_power: 262,
    lifetime_power: 264,
    page_version: 494,
    guid: 496,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_without_the_guid_is_another_vendors() {
        let error = OcpSmart::decode(&[0; OCP_SMART_LEN]).expect_err("no GUID");
        assert!(error.to_string().contains("uses C0h for something else"), "{error}");
    }

    proptest! {
        #[test]
        fn pages_round_trip(page in prop::collection::vec(any::<u8>(), 496)) {
            let page = [page, OCP_SMART_GUID.to_vec()].concat();
            let log = OcpSmart::decode(&page).expect("marked");
            prop_assert_eq!((log.throttle_events, log.throttle_level), (page[96], page[97]));
            prop_assert_eq!(OcpSmart::decode(&log.encode()), Ok(log));
        }
    }
}
