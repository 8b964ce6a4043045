//! The error log (page 01h): the latest commands that failed.
//!
//! Failures of Fabrics commands are not kept: they are the connection's, not the drive's.

use std::collections::VecDeque;

use measure::Lba;
use nvme::command::{Sqe, opcode};
use nvme::log::errors::{ERROR_ENTRY_LEN, ErrorEntry};

use super::super::Queue;
use super::super::command::Failure;

/// Entries kept (ELPE): what consumer drives commonly have.
pub(in super::super) const ERROR_LOG_ENTRIES: u16 = 64;

/// The latest failures, newest first.
#[derive(Debug)]
pub(in super::super) struct ErrorLog {
    entries: VecDeque<ErrorEntry>,
    count: u64,
}

impl ErrorLog {
    /// That of a drive whose former lives had `count` failures.
    pub(in super::super) const fn after(count: u64) -> Self {
        Self { entries: VecDeque::new(), count }
    }

    pub(in super::super) fn add(&mut self, queue: Queue, sqe: &Sqe, failure: &Failure) {
        if sqe.opcode == opcode::FABRICS {
            return;
        }
        self.count = self.count.saturating_add(1);
        self.entries.truncate(usize::from(ERROR_LOG_ENTRIES) - 1);
        self.entries.push_front(ErrorEntry {
            number: self.count,
            sq_id: Some(queue.queue_id),
            cid: Some(sqe.cid),
            status: failure.status,
            parameter_location: failure.location,
            lba: Lba::new(failure.lba),
            nsid: sqe.nsid,
            opcode: Some(sqe.opcode),
            command_specific: 0,
        });
    }

    /// Failures ever (health log, bytes 191:176).
    pub(in super::super) const fn count(&self) -> u64 {
        self.count
    }

    /// The page; slots never used are zero.
    pub(in super::super) fn page(&self) -> Vec<u8> {
        let mut page: Vec<u8> = self.entries.iter().flat_map(ErrorEntry::encode).collect();
        page.resize(usize::from(ERROR_LOG_ENTRIES) * ERROR_ENTRY_LEN, 0);
        page
    }
}
