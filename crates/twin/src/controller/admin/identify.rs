//! Identify: what the controller and its namespace say about themselves.
//!
//! Which fields decide whether Linux takes the drive is written down beside them; they were tried on
//! Debian's kernels 6.1 and 6.12. Answers that a drive with one namespace has nothing to say to are
//! empty pages; others are refused.

use measure::{Kelvin, Watts};
use nvme::Status;
use nvme::command::{Cns, Identify, NSID_ALL};
use nvme::hctm::HctmLimits;
use nvme::identify::{
    FabricsAttributes, IDENTIFY_LEN, IdentifyController, IdentifyNamespace, IdentifyNvm, NamespaceId,
    PowerState, Simulation, encode_active_namespaces,
};
use nvme::power::ScaledPower;

use super::super::NSID;
use super::super::command::Failure;
use super::super::events::EVENT_REQUESTS_MAX;
use super::super::hosts::{Hosts, KEEP_ALIVE_100MS};
use super::super::{Queue, Subsystem};
use super::errors::ERROR_LOG_ENTRIES;
use super::format::{format_idx, formats};
use super::logs::PERSISTENT_EVENTS_64KIB;
use super::self_test::EXTENDED_MINUTES;

impl Subsystem {
    pub(super) fn identify(&self, queue: Queue, command: Identify) -> Result<Vec<u8>, Failure> {
        const ALLOCATED_NAMESPACES: Cns = Cns(0x10);
        const ALLOCATED_NAMESPACE: Cns = Cns(0x11);
        let invalid_nsid = Failure::in_nsid(Status::INVALID_NAMESPACE);
        match command.cns {
            Cns::NAMESPACE | ALLOCATED_NAMESPACE if command.nsid == NSID => {
                Ok(self.identify_namespace().encode().to_vec())
            }
            Cns::CONTROLLER => Ok(self.identify_controller(queue).encode().to_vec()),
            // Identifiers above the one given; FFFFFFFEh and FFFFFFFFh can have none above.
            Cns::ACTIVE_NAMESPACES | ALLOCATED_NAMESPACES | CSI_ACTIVE_NAMESPACES
                if command.nsid < NSID_ALL - 1 =>
            {
                check_command_set(command)?;
                let list: &[u32] = if command.nsid < NSID { &[NSID] } else { &[] };
                Ok(encode_active_namespaces(list).to_vec())
            }
            Cns::NAMESPACE_IDS if command.nsid == NSID => {
                let names = &self.options.identity;
                let ids = [
                    NamespaceId::Uuid(names.uuid),
                    NamespaceId::Nguid(names.nguid),
                    NamespaceId::Eui64(names.eui64),
                    NamespaceId::CommandSet(0),
                ];
                Ok(NamespaceId::encode_all(&ids).to_vec())
            }
            Cns::CSI_NAMESPACE if command.nsid == NSID => {
                check_command_set(command)?;
                Ok(vec![0; IDENTIFY_LEN])
            }
            Cns::CSI_CONTROLLER => {
                check_command_set(command)?;
                Ok(no_limits().encode().to_vec())
            }
            Cns::INDEPENDENT_NAMESPACE if command.nsid == NSID => {
                let mut page = vec![0; IDENTIFY_LEN];
                // NSTAT, byte 14: ready.
                page[14] = 1;
                Ok(page)
            }
            Cns::NAMESPACE
            | Cns::ACTIVE_NAMESPACES
            | Cns::NAMESPACE_IDS
            | Cns::CSI_NAMESPACE
            | Cns::INDEPENDENT_NAMESPACE
            | CSI_ACTIVE_NAMESPACES
            | ALLOCATED_NAMESPACES
            | ALLOCATED_NAMESPACE => Err(invalid_nsid),
            cns if is_empty(cns) => Ok(vec![0; IDENTIFY_LEN]),
            _ => Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        }
    }

    fn identify_namespace(&self) -> IdentifyNamespace {
        let names = &self.options.identity;
        IdentifyNamespace {
            blocks: self.blocks,
            capacity_blocks: self.blocks,
            used_blocks: self.blocks,
            sharing: u8::from(self.options.multipath),
            // Deallocated blocks read as zeros (1), and Write Zeroes may deallocate (bit 3).
            deallocate_features: 0b1001,
            capacity_bytes: Some(self.capacity_bytes().into()),
            nguid: Some(names.nguid),
            eui64: Some(names.eui64),
            format_idx: format_idx(self.block_bytes),
            formats: formats(),
            ..IdentifyNamespace::unreported()
        }
    }

    fn identify_controller(&self, queue: Queue) -> IdentifyController {
        let profile = &self.options.profile;
        let has_power = profile.limits.power_control;
        let common = common(&self.hosts, queue, &self.options.identity.nqn);
        let states = self.features.power_states();
        let hctm = profile.limits.hctm.as_ref();
        IdentifyController {
            serial: profile.identity.serial.clone(),
            model: profile.identity.model.clone(),
            firmware: profile.identity.firmware.clone(),
            max_transfer_shift: Some(self.options.limits.max_transfer_shift),
            // Several controllers in one subsystem (bit 1).
            multi_path: u8::from(self.options.multipath) << 1,
            // Namespace attribute notices (bit 8): without any, Linux asks for no event at all.
            optional_events: 1 << 8,
            // Bit 20 power limit, bit 21 power measurement.
            attributes: common.attributes | if has_power { 0b11 << 20 } else { 0 },
            controller_type: 1,
            // Format NVM (1), Device Self-test (4).
            optional_admin: 1 << 1 | 1 << 4,
            // Cryptographic erase (2).
            format_attributes: 1 << 2,
            self_test_minutes: Some(EXTENDED_MINUTES),
            // One test at a time in the whole subsystem (0).
            self_test_options: 1,
            abort_limit: 4,
            // One slot (3:1), read only (bit 0).
            firmware_updates: 0b0011,
            // SMART for each namespace (0), effects (1), long pages and offsets (2), persistent events (4).
            log_attributes: 0b1_0111,
            error_log_entries: ERROR_LOG_ENTRIES,
            apst_supported: self.features.has_apst(),
            warning_temperature: Some(Kelvin::from_kelvin(profile.limits.wctemp_k)),
            critical_temperature: Some(Kelvin::from_kelvin(profile.limits.cctemp_k)),
            total_capacity_bytes: Some(self.capacity_bytes().into()),
            hctm: HctmLimits {
                supported: hctm.is_some(),
                min: hctm.and_then(|hctm| Kelvin::from_nvme(hctm.mntmt_k)),
                max: hctm.and_then(|hctm| Kelvin::from_nvme(hctm.mxtmt_k)),
            },
            persistent_events_64kib: Some(PERSISTENT_EVENTS_64KIB),
            power_stop_minutes_max: if has_power { u16::MAX } else { 0 },
            power_sample_interval: has_power.then_some(std::time::Duration::from_millis(10)),
            namespaces: 1,
            // Compare, Dataset Management, Write Zeroes, select and save, timestamp, Verify.
            optional_nvm: 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7,
            // A cache that can be switched (0), and flushed for all namespaces at once (2:1 = 3).
            write_cache: 0b111,
            power_states: states.iter().map(|state| self.power_state_descriptor(*state)).collect(),
            simulation: Some(Simulation {
                time_scale: self.options.scale.time(),
                bandwidth_scale: self.options.scale.bandwidth(),
            }),
            ..common
        }
    }

    /// The descriptor of a power state of the profile; states are in order of speed.
    fn power_state_descriptor(&self, state: u8) -> PowerState {
        let power = &self.options.profile.power;
        let state_profile = &self.options.profile.power_state[usize::from(state)];
        let scaled = |watts: f64| Some(ScaledPower::from_watts(Watts::new(watts)));
        let latency = |us: u32| (us > 0).then(|| std::time::Duration::from_micros(us.into()));
        PowerState {
            max_power: scaled(state_profile.max_power_w),
            non_operational: !state_profile.operational,
            entry_latency: latency(state_profile.entry_us),
            exit_latency: latency(state_profile.exit_us),
            read_throughput_rank: state,
            read_latency_rank: state,
            write_throughput_rank: state,
            write_latency_rank: state,
            idle_power: scaled(state_profile.idle_w.unwrap_or(power.idle_w)),
            ..PowerState::UNREPORTED
        }
    }
}

/// Active namespaces of one command set (CNS 07h).
const CSI_ACTIVE_NAMESPACES: Cns = Cns(0x07);

/// What every controller here says, drive or discovery.
pub(in super::super) fn common(hosts: &Hosts, queue: Queue, nqn: &str) -> IdentifyController {
    let limits = hosts.limits();
    IdentifyController {
        // Must be that of Connect, or Linux gives up.
        controller_id: queue.controller_id(),
        version: hosts.version(),
        // 128-bit host identifiers (bit 0), which Fabrics ask for; keep-alive by traffic (bit 6).
        attributes: 1 | 1 << 6,
        event_limit: EVENT_REQUESTS_MAX,
        // 0 would make Linux refuse the controller.
        keep_alive_100ms: Some(KEEP_ALIVE_100MS),
        submission_entry_size: 0x66,
        completion_entry_size: 0x44,
        // As many as a queue has entries (MQES + 1): Linux takes the smaller and subtracts one.
        max_commands: Some(limits.queue_entries),
        // SGLs of any alignment (1:0 = 1), longer than the data (18: Linux sends a page for any number
        // of ranges to deallocate), in-capsule offsets (20).
        sgl_support: 1 | 1 << 18 | 1 << 20,
        subsystem_nqn: Some(nqn.to_owned()),
        fabrics: FabricsAttributes {
            // A command has 64 bytes, a response 16.
            command_capsule_16b: 4 + limits.in_capsule_bytes / 16,
            response_capsule_16b: 1,
            data_offset_16b: 0,
            attributes: 0,
            sgl_blocks_max: 1,
        },
        ..IdentifyController::unreported()
    }
}

/// Limits of Verify, Write Zeroes and Dataset Management: none.
const fn no_limits() -> IdentifyNvm {
    IdentifyNvm {
        verify_shift: None,
        write_zeroes_shift: None,
        deallocate_ranges: None,
        deallocate_range_blocks: None,
        deallocate_blocks: None,
    }
}

/// The NVM command set is the only one.
fn check_command_set(command: Identify) -> Result<(), Failure> {
    if command.csi == 0 { Ok(()) } else { Err(Failure::in_dword(Status::INVALID_FIELD, 11)) }
}

/// Lists that a drive with one namespace, one controller and no virtualisation has nothing in: sets
/// (04h), controllers (12h, 13h), capabilities of secondary controllers (14h, 15h), granularities
/// (16h), UUIDs (17h), domains (18h), endurance groups (19h), command set combinations (1Ch).
const fn is_empty(cns: Cns) -> bool {
    matches!(cns.0, 0x04 | 0x12..=0x19 | 0x1c)
}
