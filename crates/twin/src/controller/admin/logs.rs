//! Get Log Page: which pages there are, and the piece of one that a host asks for.
//!
//! Every page is made whole when it is asked for, but the persistent events: they are read as they
//! were when the host established a context. NVMe Base 2.3, Get Log Page; OCP 2.0 for C0h.

use nvme::Status;
use nvme::command::{GetLogPage, NSID_ALL, log_action, opcode};
use nvme::identify::encode_active_namespaces;
use nvme::log::LogId;
use nvme::log::effects::{Effects, EffectsLog};
use nvme::log::firmware::FirmwareSlots;
use nvme::log::supported;

use super::super::NSID;
use super::super::command::Failure;
use super::super::{Queue, Subsystem};

/// Largest persistent event log (PELS): its header and [`super::super::health`]'s events fit.
pub(super) const PERSISTENT_EVENTS_64KIB: u32 = 2;

impl Subsystem {
    pub(super) fn log_page(&mut self, queue: Queue, command: &GetLogPage) -> Result<Vec<u8>, Failure> {
        // 1 is the namespace; SMART is kept for the controller, and is the same for it.
        if ![0, NSID, NSID_ALL].contains(&command.nsid) {
            return Err(Failure::in_nsid(Status::INVALID_NAMESPACE));
        }
        self.unsaved |= matches!(command.lid, LogId::SMART | LogId::OCP_SMART | LogId::PERSISTENT_EVENTS);
        let page = match command.lid {
            LogId::SUPPORTED => supported::encode(&self.log_ids()).to_vec(),
            LogId::ERRORS => self.errors.page(),
            LogId::SMART => self.smart_log().encode().to_vec(),
            LogId::FIRMWARE => self.firmware_log().encode().to_vec(),
            LogId::CHANGED_NAMESPACES => self.changed_namespaces(queue, command.retain_event),
            LogId::EFFECTS => effects().encode().to_vec(),
            LogId::SELF_TEST => self.self_test_log().encode().to_vec(),
            LogId::PERSISTENT_EVENTS => return self.persistent_events(queue, command),
            LogId::POWER_MEASUREMENT if self.options.profile.limits.power_control => {
                self.power_measurement_log().encode()
            }
            LogId::OCP_SMART => self.ocp_log().encode().to_vec(),
            _ => return Err(Failure::in_dword(Status::INVALID_LOG_PAGE, 10)),
        };
        let piece = slice(command, &page, self.max_transfer_bytes())?;
        if !command.retain_event
            && let Some(controller) = self.hosts.controller_mut(queue)
        {
            controller.events.log_was_read(command.lid);
            self.hosts.tell_events();
        }
        Ok(piece)
    }

    fn log_ids(&self) -> Vec<LogId> {
        let mut ids = vec![
            LogId::SUPPORTED,
            LogId::ERRORS,
            LogId::SMART,
            LogId::FIRMWARE,
            LogId::CHANGED_NAMESPACES,
            LogId::EFFECTS,
            LogId::SELF_TEST,
            LogId::PERSISTENT_EVENTS,
        ];
        if self.options.profile.limits.power_control {
            ids.push(LogId::POWER_MEASUREMENT);
        }
        ids.push(LogId::OCP_SMART);
        ids
    }

    /// The namespaces that changed since this controller's host last asked.
    fn changed_namespaces(&mut self, queue: Queue, retain: bool) -> Vec<u8> {
        let events = self.hosts.controller_mut(queue).map(|controller| &mut controller.events);
        let changed = events.is_some_and(|events| {
            let changed = events.namespace_changed;
            events.namespace_changed &= retain;
            changed
        });
        encode_active_namespaces(if changed { &[NSID] } else { &[] }).to_vec()
    }

    fn firmware_log(&self) -> FirmwareSlots {
        let mut revisions = [const { None }; 7];
        revisions[0] = Some(self.options.profile.identity.firmware.clone());
        FirmwareSlots { active_slot: 1, next_slot: None, revisions }
    }

    /// The persistent events, which are read in a context: a snapshot that the host asks for first.
    fn persistent_events(&mut self, queue: Queue, command: &GetLogPage) -> Result<Vec<u8>, Failure> {
        let id = queue.controller_id();
        match command.specific & 0b11 {
            log_action::READ if !self.health.has_context(id) => {
                return Err(Failure::in_dword(Status::COMMAND_SEQUENCE_ERROR, 10));
            }
            log_action::READ => {}
            log_action::ESTABLISH_AND_READ if self.health.has_context(id) => {
                return Err(Failure::in_dword(Status::COMMAND_SEQUENCE_ERROR, 10));
            }
            log_action::ESTABLISH_AND_READ => {
                let page = self.persistent_event_log().encode();
                self.health.establish(id, page);
            }
            log_action::RELEASE => {
                self.health.release(id);
                return Ok(Vec::new());
            }
            _ => return Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        }
        slice(command, self.health.context(id), self.max_transfer_bytes())
    }
}

/// The piece of a page that a host asks for; past its end there are zeros.
pub(in super::super) fn slice(command: &GetLogPage, page: &[u8], max: u64) -> Result<Vec<u8>, Failure> {
    if command.len_bytes > max {
        return Err(Failure::in_dword(Status::INVALID_FIELD, 10));
    }
    let offset = usize::try_from(command.offset).ok().filter(|offset| offset.is_multiple_of(4));
    // An offset beyond the page is refused, one at its end has nothing to give but is none.
    let Some(rest) = offset.and_then(|offset| page.get(offset..)) else {
        return Err(Failure::in_dword(Status::INVALID_FIELD, 12));
    };
    let len = command.len_bytes as usize;
    let mut piece = rest[..rest.len().min(len)].to_vec();
    piece.resize(len, 0);
    Ok(piece)
}

/// What the commands of this controller do.
fn effects() -> EffectsLog {
    let mut log = EffectsLog::NONE;
    for code in [
        opcode::GET_LOG_PAGE,
        opcode::IDENTIFY,
        opcode::ABORT,
        opcode::SET_FEATURES,
        opcode::GET_FEATURES,
        opcode::ASYNC_EVENT_REQUEST,
        opcode::SELF_TEST,
        opcode::KEEP_ALIVE,
    ] {
        log.admin[usize::from(code)] = Effects::SUPPORTED;
    }
    let changes = Effects::CONTENT_CHANGE.with(Effects::NAMESPACE_CHANGE).with(Effects::ALONE_IN_NAMESPACE);
    log.admin[usize::from(opcode::FORMAT)] = Effects::SUPPORTED.with(changes);
    for code in [opcode::FLUSH, opcode::READ, opcode::COMPARE, opcode::VERIFY] {
        log.io[usize::from(code)] = Effects::SUPPORTED;
    }
    for code in [opcode::WRITE, opcode::WRITE_ZEROES, opcode::DATASET_MANAGEMENT] {
        log.io[usize::from(code)] = Effects::SUPPORTED.with(Effects::CONTENT_CHANGE);
    }
    log
}
