//! The layout of Identify Controller, and the way between it and its values.
//!
//! NVMe Base 2.3, Identify Controller Data Structure. Offsets are asserted at compile time.

use std::time::Duration;

use measure::{Bytes, Kelvin};
use zerocopy::little_endian::{U16, U32, U128};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::power_state::PowerStateWire;
use super::simulation::Simulation;
use super::{
    FabricsAttributes, HostMemoryNeeds, IDENTIFY_LEN, IdentifyController, POWER_STATES_MAX, PowerState,
    Version, put_text, text,
};
use crate::DecodeError;
use crate::fabrics::SIMULATED_NQN_PREFIX;
use crate::feature::hctm::HctmLimits;
use crate::wire::{self, assert_layout};

/// Unit of HMPRE, HMMIN and HMMINDS.
const HOST_MEMORY_UNIT_BYTES: u64 = 4096;

impl IdentifyController {
    /// A controller that reports nothing: every field zero, one power state. A start for building one.
    pub fn unreported() -> Self {
        Self::from_wire(&ControllerWire::new_zeroed())
    }

    /// Decodes a page.
    ///
    /// More than 32 power states are read as 32: there are no more descriptors.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 4096 bytes; every content of 4096 bytes is a page.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        wire::layout("Identify Controller", page).map(Self::from_wire)
    }

    /// Encodes the page; reserved bytes, and vendor bytes that are not ours, are zero. States beyond 32 are left out.
    pub fn encode(&self) -> [u8; IDENTIFY_LEN] {
        let mut wire = ControllerWire::new_zeroed();
        self.put_identity(&mut wire);
        self.put_admin(&mut wire);
        self.put_heat_and_memory(&mut wire);
        self.put_nvm_and_fabrics(&mut wire);
        if let Some(simulation) = self.simulation {
            simulation.put(&mut wire.vendor);
        }
        zerocopy::transmute!(wire)
    }

    fn from_wire(wire: &ControllerWire) -> Self {
        let us = |raw: U32| Some(Duration::from_micros(raw.get().into())).filter(|span| !span.is_zero());
        let count = |raw_z: u8| u16::from(raw_z) + 1;
        let subsystem_nqn = text(&wire.subnqn);
        let states = usize::from(wire.npss_z).saturating_add(1).min(POWER_STATES_MAX);
        Self {
            vendor_id: wire.vid.get(),
            subsystem_vendor_id: wire.ssvid.get(),
            serial: text(&wire.sn),
            model: text(&wire.mn),
            firmware: text(&wire.fr),
            arbitration_burst: wire.rab,
            ieee_oui: u32::from_le_bytes([wire.ieee[0], wire.ieee[1], wire.ieee[2], 0]),
            multi_path: wire.cmic,
            max_transfer_shift: Some(wire.mdts).filter(|shift| *shift != 0),
            controller_id: wire.cntlid.get(),
            version: Version::decode(wire.ver.get()),
            d3_resume: us(wire.rtd3r),
            d3_entry: us(wire.rtd3e),
            optional_events: wire.oaes.get(),
            attributes: wire.ctratt.get(),
            controller_type: wire.cntrltype,
            retry_delays_100ms: wire.crdt.map(U16::get),
            optional_admin: wire.oacs.get(),
            abort_limit: count(wire.acl_z),
            event_limit: count(wire.aerl_z),
            firmware_updates: wire.frmw,
            log_attributes: wire.lpa,
            error_log_entries: count(wire.elpe_z),
            vendor_command_format: wire.avscc,
            apst_supported: wire.apsta & 1 != 0,
            warning_temperature: Kelvin::from_nvme(wire.wctemp.get()),
            critical_temperature: Kelvin::from_nvme(wire.cctemp.get()),
            firmware_pause_100ms: reported16(wire.mtfa),
            host_memory: host_memory(wire),
            total_capacity_bytes: Some(wire.tnvmcap.get()).filter(|bytes| *bytes != 0),
            unallocated_capacity_bytes: wire.unvmcap.get(),
            self_test_minutes: reported16(wire.edstt),
            self_test_options: wire.dsto,
            keep_alive_100ms: reported16(wire.kas),
            hctm: hctm(wire),
            sanitize: wire.sanicap.get(),
            endurance_group_max: wire.endgidmax.get(),
            persistent_events_64kib: Some(wire.pels.get()).filter(|size| *size != 0),
            threshold_hysteresis_max_k: wire.tmpthha & 0b111,
            max_unlimited_power_raw: wire.mup.get(),
            power_sample_interval: sample_interval(wire.ipmsr.get()),
            power_stop_minutes_max: wire.msmt.get(),
            submission_entry_size: wire.sqes,
            completion_entry_size: wire.cqes,
            max_commands: reported16(wire.maxcmd),
            namespaces: wire.nn.get(),
            optional_nvm: wire.oncs.get(),
            fused_operations: wire.fuses.get(),
            format_attributes: wire.fna,
            write_cache: wire.vwc,
            atomic_write_blocks: u32::from(wire.awun_z.get()) + 1,
            atomic_power_fail_blocks: u32::from(wire.awupf_z.get()) + 1,
            sgl_support: wire.sgls.get(),
            // Under any other name these bytes are somebody else's.
            simulation: subsystem_nqn
                .starts_with(SIMULATED_NQN_PREFIX)
                .then(|| Simulation::decode(&wire.vendor).unwrap_or(Simulation::REAL)),
            subsystem_nqn: Some(subsystem_nqn).filter(|nqn| !nqn.is_empty()),
            fabrics: fabrics(wire),
            power_states: wire.psd[..states].iter().map(PowerState::decode).collect(),
        }
    }

    fn put_identity(&self, wire: &mut ControllerWire) {
        let us = |span: Option<Duration>| {
            U32::new(span.map_or(0, |span| u32::try_from(span.as_micros()).unwrap_or(u32::MAX)))
        };
        wire.vid = self.vendor_id.into();
        wire.ssvid = self.subsystem_vendor_id.into();
        put_text(&mut wire.sn, &self.serial, b' ');
        put_text(&mut wire.mn, &self.model, b' ');
        put_text(&mut wire.fr, &self.firmware, b' ');
        wire.rab = self.arbitration_burst;
        wire.ieee.copy_from_slice(&self.ieee_oui.to_le_bytes()[..3]);
        wire.cmic = self.multi_path;
        wire.mdts = self.max_transfer_shift.unwrap_or(0);
        wire.cntlid = self.controller_id.into();
        wire.ver = self.version.encode().into();
        wire.rtd3r = us(self.d3_resume);
        wire.rtd3e = us(self.d3_entry);
        wire.oaes = self.optional_events.into();
        wire.ctratt = self.attributes.into();
        wire.cntrltype = self.controller_type;
        wire.crdt = self.retry_delays_100ms.map(U16::new);
    }

    fn put_admin(&self, wire: &mut ControllerWire) {
        let count_z = |count: u16| u8::try_from(count.saturating_sub(1)).unwrap_or(u8::MAX);
        wire.oacs = self.optional_admin.into();
        wire.acl_z = count_z(self.abort_limit);
        wire.aerl_z = count_z(self.event_limit);
        wire.frmw = self.firmware_updates;
        wire.lpa = self.log_attributes;
        wire.elpe_z = count_z(self.error_log_entries);
        wire.avscc = self.vendor_command_format;
        wire.mtfa = self.firmware_pause_100ms.unwrap_or(0).into();
        wire.tnvmcap = self.total_capacity_bytes.unwrap_or(0).into();
        wire.unvmcap = self.unallocated_capacity_bytes.into();
        wire.edstt = self.self_test_minutes.unwrap_or(0).into();
        wire.dsto = self.self_test_options;
        wire.kas = self.keep_alive_100ms.unwrap_or(0).into();
        wire.sanicap = self.sanitize.into();
        wire.endgidmax = self.endurance_group_max.into();
        wire.pels = self.persistent_events_64kib.unwrap_or(0).into();
    }

    fn put_heat_and_memory(&self, wire: &mut ControllerWire) {
        let kelvin = |temperature: Option<Kelvin>| U16::new(temperature.map_or(0, Kelvin::as_kelvin));
        let units = |memory: Option<Bytes>| {
            let units = memory.map_or(0, |memory| memory.as_u64() / HOST_MEMORY_UNIT_BYTES);
            U32::new(u32::try_from(units).unwrap_or(u32::MAX))
        };
        wire.npss_z = self.power_states.len().clamp(1, POWER_STATES_MAX) as u8 - 1;
        for (descriptor, state) in wire.psd.iter_mut().zip(&self.power_states) {
            *descriptor = state.encode();
        }
        wire.apsta = self.apst_supported.into();
        wire.wctemp = kelvin(self.warning_temperature);
        wire.cctemp = kelvin(self.critical_temperature);
        wire.hctma = u16::from(self.hctm.supported).into();
        wire.mntmt = kelvin(self.hctm.min);
        wire.mxtmt = kelvin(self.hctm.max);
        wire.tmpthha = self.threshold_hysteresis_max_k & 0b111;
        wire.mup = self.max_unlimited_power_raw.into();
        wire.ipmsr = sample_interval_bits(self.power_sample_interval).into();
        wire.msmt = self.power_stop_minutes_max.into();
        wire.hmpre = units(self.host_memory.preferred);
        wire.hmmin = units(self.host_memory.min);
        wire.hmminds = units(self.host_memory.piece_min);
        wire.hmmaxd = self.host_memory.pieces_max.unwrap_or(0).into();
    }

    fn put_nvm_and_fabrics(&self, wire: &mut ControllerWire) {
        let blocks_z = |blocks: u32| U16::new(u16::try_from(blocks.saturating_sub(1)).unwrap_or(u16::MAX));
        wire.sqes = self.submission_entry_size;
        wire.cqes = self.completion_entry_size;
        wire.maxcmd = self.max_commands.unwrap_or(0).into();
        wire.nn = self.namespaces.into();
        wire.oncs = self.optional_nvm.into();
        wire.fuses = self.fused_operations.into();
        wire.fna = self.format_attributes;
        wire.vwc = self.write_cache;
        wire.awun_z = blocks_z(self.atomic_write_blocks);
        wire.awupf_z = blocks_z(self.atomic_power_fail_blocks);
        wire.sgls = self.sgl_support.into();
        put_text(&mut wire.subnqn, self.subsystem_nqn.as_deref().unwrap_or(""), 0);
        wire.ioccsz = self.fabrics.command_capsule_16b.into();
        wire.iorcsz = self.fabrics.response_capsule_16b.into();
        wire.icdoff = self.fabrics.data_offset_16b.into();
        wire.fcatt = self.fabrics.attributes;
        wire.msdbd = self.fabrics.sgl_blocks_max;
    }
}

fn reported16(raw: U16) -> Option<u16> {
    Some(raw.get()).filter(|value| *value != 0)
}

fn hctm(wire: &ControllerWire) -> HctmLimits {
    HctmLimits {
        supported: wire.hctma.get() & 1 != 0,
        min: Kelvin::from_nvme(wire.mntmt.get()),
        max: Kelvin::from_nvme(wire.mxtmt.get()),
    }
}

fn host_memory(wire: &ControllerWire) -> HostMemoryNeeds {
    let memory =
        |units: U32| (units.get() != 0).then(|| Bytes::new(u64::from(units.get()) * HOST_MEMORY_UNIT_BYTES));
    HostMemoryNeeds {
        preferred: memory(wire.hmpre),
        min: memory(wire.hmmin),
        piece_min: memory(wire.hmminds),
        pieces_max: reported16(wire.hmmaxd),
    }
}

fn fabrics(wire: &ControllerWire) -> FabricsAttributes {
    FabricsAttributes {
        command_capsule_16b: wire.ioccsz.get(),
        response_capsule_16b: wire.iorcsz.get(),
        data_offset_16b: wire.icdoff.get(),
        attributes: wire.fcatt,
        sgl_blocks_max: wire.msdbd,
    }
}

/// IPMSR: 7:0 value, 15:8 scale, 1 is 1 microsecond and each step is ten times more, up to 5.
fn sample_interval(raw: u16) -> Option<Duration> {
    let (value, scale) = (u64::from(raw & 0xff), u32::from(raw >> 8));
    let unit_us = (1..=5).contains(&scale).then(|| 10_u64.pow(scale - 1))?;
    Some(Duration::from_micros(value * unit_us)).filter(|span| !span.is_zero())
}

/// The finest scale that holds the interval; at most 2.55 s.
fn sample_interval_bits(interval: Option<Duration>) -> u16 {
    let Some(interval) = interval else { return 0 };
    let fits = |scale: &u16| interval.as_micros() / 10_u128.pow(u32::from(*scale) - 1) <= 255;
    let scale = (1..=5).find(fits).unwrap_or(5);
    let value = (interval.as_micros() / 10_u128.pow(u32::from(scale) - 1)).min(255) as u16;
    value | scale << 8
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct ControllerWire {
    vid: U16,
    ssvid: U16,
    sn: [u8; 20],
    mn: [u8; 40],
    fr: [u8; 8],
    rab: u8,
    ieee: [u8; 3],
    cmic: u8,
    mdts: u8,
    cntlid: U16,
    ver: U32,
    rtd3r: U32,
    rtd3e: U32,
    oaes: U32,
    ctratt: U32,
    reserved100: [u8; 11],
    cntrltype: u8,
    fguid: [u8; 16],
    crdt: [U16; 3],
    reserved134: [u8; 122],
    oacs: U16,
    acl_z: u8,
    aerl_z: u8,
    frmw: u8,
    lpa: u8,
    elpe_z: u8,
    npss_z: u8,
    avscc: u8,
    apsta: u8,
    wctemp: U16,
    cctemp: U16,
    mtfa: U16,
    hmpre: U32,
    hmmin: U32,
    tnvmcap: U128,
    unvmcap: U128,
    rpmbs: U32,
    edstt: U16,
    dsto: u8,
    fwug: u8,
    kas: U16,
    hctma: U16,
    mntmt: U16,
    mxtmt: U16,
    sanicap: U32,
    hmminds: U32,
    hmmaxd: U16,
    nsetidmax: U16,
    endgidmax: U16,
    anatt: u8,
    anacap: u8,
    anagrpmax: U32,
    nanagrpid: U32,
    pels: U32,
    reserved356: [u8; 28],
    tmpthha: u8,
    reserved385: [u8; 5],
    mup: U16,
    ipmsr: U16,
    msmt: U16,
    reserved396: [u8; 116],
    sqes: u8,
    cqes: u8,
    maxcmd: U16,
    nn: U32,
    oncs: U16,
    fuses: U16,
    fna: u8,
    vwc: u8,
    awun_z: U16,
    awupf_z: U16,
    icsvscc: u8,
    nwpc: u8,
    acwu: U16,
    cdfs: U16,
    sgls: U32,
    reserved540: [u8; 228],
    subnqn: [u8; 256],
    reserved1024: [u8; 768],
    ioccsz: U32,
    iorcsz: U32,
    icdoff: U16,
    fcatt: u8,
    msdbd: u8,
    reserved1804: [u8; 244],
    psd: [PowerStateWire; POWER_STATES_MAX],
    vendor: [u8; 1024],
}
assert_layout!(ControllerWire, 4096, {
    ver: 80,
    oaes: 92,
    ctratt: 96,
    cntrltype: 111,
    crdt: 128,
    oacs: 256,
    lpa: 261,
    elpe_z: 262,
    npss_z: 263,
    apsta: 265,
    wctemp: 266,
    cctemp: 268,
    mtfa: 270,
    hmpre: 272,
    hmmin: 276,
    tnvmcap: 280,
    unvmcap: 296,
    edstt: 316,
    kas: 320,
    hctma: 322,
    mntmt: 324,
    mxtmt: 326,
    sanicap: 328,
    hmminds: 332,
    hmmaxd: 336,
    endgidmax: 340,
    pels: 352,
    tmpthha: 384,
    mup: 390,
    ipmsr: 392,
    msmt: 394,
    sqes: 512,
    maxcmd: 514,
    nn: 516,
    oncs: 520,
    vwc: 525,
    sgls: 536,
    subnqn: 768,
    ioccsz: 1792,
    icdoff: 1800,
    msdbd: 1803,
    psd: 2048,
    vendor: 3072,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// Goal: fields at the specification's offsets, independently of the layout struct.
    #[test]
    fn fields_lie_where_the_specification_puts_them() {
        let mut page = vec![0; IDENTIFY_LEN];
        page[4..72].fill(b' ');
        page[4..19].copy_from_slice(b"S3ESNX0J315971L");
        page[77] = 9;
        page[266..268].copy_from_slice(&350_u16.to_le_bytes());
        page[268..270].copy_from_slice(&352_u16.to_le_bytes());
        page[272..276].copy_from_slice(&16_384_u32.to_le_bytes());
        page[280..296].copy_from_slice(&250_059_350_016_u128.to_le_bytes());
        page[322] = 1;
        page[324..326].copy_from_slice(&273_u16.to_le_bytes());
        page[326..328].copy_from_slice(&358_u16.to_le_bytes());
        page[392..394].copy_from_slice(&0x0264_u16.to_le_bytes());
        page[263] = 4;
        let identify = IdentifyController::decode(&page).expect("whole page");
        assert_eq!(identify.serial, "S3ESNX0J315971L");
        assert_eq!(identify.max_transfer_shift, Some(9));
        assert_eq!(identify.warning_temperature, Some(Kelvin::from_kelvin(350)));
        assert_eq!(identify.critical_temperature, Some(Kelvin::from_kelvin(352)));
        assert_eq!(identify.host_memory.preferred, Some(Bytes::new(64 << 20)));
        assert_eq!(identify.host_memory.min, None);
        assert_eq!(identify.total_capacity_bytes, Some(250_059_350_016));
        assert!(identify.hctm.supported);
        assert_eq!(identify.hctm.max, Some(Kelvin::from_kelvin(358)));
        assert_eq!(identify.power_sample_interval, Some(Duration::from_millis(1)));
        assert_eq!(identify.power_states.len(), 5);
        // Not assert_eq: nobody reads 4096 numbers.
        assert!(identify.encode()[..] == page[..], "what was decoded is what is encoded");
    }

    /// Goal: the zeros of a drive that reports little are absences, not -273 °C.
    #[test]
    fn a_zero_page_reports_nothing() {
        let identify = IdentifyController::unreported();
        assert_eq!(identify.warning_temperature, None);
        assert_eq!((identify.hctm.supported, identify.hctm.min, identify.hctm.max), (false, None, None));
        assert_eq!(identify.total_capacity_bytes, None);
        assert_eq!(identify.subsystem_nqn, None);
        assert_eq!(identify.power_states, [PowerState::UNREPORTED]);
    }

    #[test]
    fn the_scales_of_a_virtual_ssd_are_believed_under_our_name_alone() {
        let simulation = Some(Simulation { time_scale: 60, bandwidth_scale: 600 });
        for (name, told) in
            [("nqn.2026-11.invalid.heatsoak:ssd1", simulation), ("nqn.2014-08.com.maker:x", None)]
        {
            let mut identify = IdentifyController::unreported();
            identify.subsystem_nqn = Some(name.to_owned());
            identify.simulation = simulation;
            let page = identify.encode();
            assert_eq!(page[3072..3080], *b"heatsoak");
            assert_eq!(IdentifyController::decode(&page).expect("a page").simulation, told, "{name}");
        }
    }

    #[test]
    fn too_many_power_states_are_read_as_all_there_are() {
        let mut page = vec![0; IDENTIFY_LEN];
        page[263] = 255;
        let identify = IdentifyController::decode(&page).expect("whole page");
        assert_eq!(identify.power_states.len(), POWER_STATES_MAX);
        assert!(IdentifyController::decode(&page[..4095]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn decoded_pages_round_trip(page in prop::collection::vec(any::<u8>(), IDENTIFY_LEN)) {
            let identify = IdentifyController::decode(&page).expect("any 4096 bytes are a page");
            prop_assert_eq!(IdentifyController::decode(&identify.encode()), Ok(identify));
        }
    }
}
