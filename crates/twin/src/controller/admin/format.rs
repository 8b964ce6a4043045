//! Format NVM: another block size, and all data gone.
//!
//! NVMe Base 2.3 and NVM Command Set 1.1, Format NVM command. It is done at once: the drive gives back all its flash
//! as it does after a deallocation, and erases that in its own time. Both kinds of secure erase read as zeros.

use nvme::Status;
use nvme::command::{FormatNvm, NSID_ALL, SecureErase};
use nvme::feature::session::{AsyncEvent, AsyncEventConfig};
use nvme::identify::LbaFormat;
use nvme::log::self_test::SelfTestOutcome;

use super::super::command::Failure;
use super::super::io::storage_failure;
use super::super::subsystem::Flow;
use super::super::{NSID, Subsystem};

/// Block sizes that can be chosen, by the number of their format, as powers of two: 512 and 4096 bytes, without
/// metadata, as consumer drives have them.
const DATA_SHIFTS: [u8; 2] = [9, 12];

impl Subsystem {
    pub(super) fn format(&mut self, command: FormatNvm) -> Result<Flow, Failure> {
        if ![NSID, NSID_ALL].contains(&command.nsid) {
            return Err(Failure::in_nsid(Status::INVALID_NAMESPACE));
        }
        let shift = DATA_SHIFTS.get(usize::from(command.format_idx));
        let invalid = Failure::in_dword(Status::INVALID_FORMAT, 10);
        let shift = *shift.filter(|_| command.protection == 0).ok_or(invalid)?;
        if command.erase == SecureErase::Reserved {
            return Err(Failure::in_dword(Status::INVALID_FIELD, 10));
        }
        self.backing.zero(0, self.backing.len_bytes()).map_err(|why| storage_failure(&why))?;
        self.drive.trim(0, self.options.profile.identity.capacity_bytes);
        self.end_self_test(SelfTestOutcome::ABORTED_BY_FORMAT);
        self.block_bytes = 1 << shift;
        self.blocks = self.backing.len_bytes() >> shift;
        self.unsaved = true;
        for controller in self.hosts.controllers_mut() {
            controller.events.namespace_changed = true;
            if controller.events.config & AsyncEventConfig::NAMESPACE_ATTRIBUTE != 0 {
                controller.events.raise(AsyncEvent::NAMESPACE_ATTRIBUTE);
            }
        }
        self.hosts.tell_events();
        Ok(self.metadata_work(measure::record::Op::Trim))
    }
}

/// The formats that Identify Namespace lists.
pub(super) fn formats() -> Vec<LbaFormat> {
    let format =
        |data_shift: &u8| LbaFormat { metadata_bytes: 0, data_shift: *data_shift, relative_performance: 0 };
    DATA_SHIFTS.iter().map(format).collect()
}

/// The number of the format with this block size.
pub(super) fn format_idx(block_bytes: u32) -> u8 {
    DATA_SHIFTS.iter().position(|shift| 1 << shift == block_bytes).unwrap_or(0) as u8
}
