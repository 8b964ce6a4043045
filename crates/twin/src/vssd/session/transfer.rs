//! Data on their way from the host: which R2T they answer, and where they go.

use std::collections::VecDeque;

use nvme::command::Completion;
use nvme::tcp::{DataPdu, PduError};

use crate::controller::{Blocks, Ticket};

/// Most bytes that are asked for at once and kept until they are whole. Data of the namespace go
/// straight to it and are not counted.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// One command whose data are on their way.
#[derive(Debug)]
pub(super) struct TicketTransfer {
    pub(super) taker: Taker,
    pub(super) cid: u16,
    pub(super) to: To,
    len: u32,
    /// Bytes that came.
    pub(super) came: u32,
    /// Something was wrong with them: the command fails when they are whole.
    pub(super) failed: bool,
}

/// Who goes on with a command when its data are whole.
#[derive(Debug)]
pub(super) enum Taker {
    /// The controller.
    Controller(Ticket),
    /// The lock: they are a message of authentication. This is the command's completion.
    Lock(Completion),
}

/// Where data go.
#[derive(Debug)]
pub(super) enum To {
    /// To the namespace.
    Blocks(Blocks),
    /// Into memory, until they are whole.
    Memory(Vec<u8>),
}

/// All transfers of a connection. A tag is the place in a table, so it is found at once.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    open: Vec<Option<TicketTransfer>>,
    /// Not asked for yet, because too much is kept already.
    waiting: VecDeque<TicketTransfer>,
    kept_bytes: usize,
}

impl Transfers {
    /// Adds a command that wants `len` bytes; they are asked for when it comes out of [`Transfers::next`].
    pub(super) fn add(&mut self, taker: Taker, cid: u16, to: To, len: u32) {
        self.waiting.push_back(TicketTransfer { taker, cid, to, len, came: 0, failed: false });
    }

    /// The next command to ask for data: its identifier, the tag, and how much.
    pub(super) fn next(&mut self) -> Option<(u16, u16, u32)> {
        let front = self.waiting.front()?;
        let keeps = matches!(front.to, To::Memory(_));
        let len = front.len as usize;
        if keeps && self.kept_bytes > 0 && self.kept_bytes + len > KEPT_BYTES_MAX {
            return None;
        }
        let transfer = self.waiting.pop_front()?;
        if keeps {
            self.kept_bytes += len;
        }
        let (cid, len) = (transfer.cid, transfer.len);
        let free = self.open.iter().position(Option::is_none);
        let tag = free.unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.open[tag] = Some(transfer);
        // A queue has at most 65,536 entries and each one transfer.
        Some((cid, tag as u16, len))
    }

    /// The transfer that `data` belongs to.
    ///
    /// # Errors
    /// There is none, or the data are not the next of it.
    pub(super) fn begin(&mut self, data: &DataPdu) -> Result<u16, PduError> {
        let header = |field, offset, value: u16| PduError::Header {
            pdu: "H2CData",
            field,
            offset,
            value: value.into(),
            why: "no such transfer is under way",
        };
        let transfer = self.open.get(usize::from(data.tag)).and_then(Option::as_ref);
        // TTAG and CCCID: bytes 10 and 8 of the header.
        let transfer = transfer.ok_or_else(|| header("TTAG", 10, data.tag))?;
        if transfer.cid != data.cid {
            return Err(header("CCCID", 8, data.cid));
        }
        let end = transfer.came.checked_add(data.len).filter(|end| *end <= transfer.len);
        let in_order =
            data.offset == transfer.came && end.is_some_and(|end| data.last == (end == transfer.len));
        if !in_order {
            return Err(PduError::OutOfRange {
                pdu: "H2CData",
                offset: data.offset,
                len: data.len,
                allowed: transfer.len - transfer.came,
            });
        }
        Ok(data.tag)
    }

    /// A transfer under way.
    pub(super) fn get(&mut self, tag: u16) -> Option<&mut TicketTransfer> {
        self.open.get_mut(usize::from(tag))?.as_mut()
    }

    /// Takes a transfer out if all of its data came.
    pub(super) fn take_whole(&mut self, tag: u16) -> Option<TicketTransfer> {
        let place = self.open.get_mut(usize::from(tag))?;
        let transfer = place.take_if(|transfer| transfer.came == transfer.len)?;
        if matches!(transfer.to, To::Memory(_)) {
            self.kept_bytes -= transfer.len as usize;
        }
        Some(transfer)
    }
}
