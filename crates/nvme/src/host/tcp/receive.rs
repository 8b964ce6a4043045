//! What a target sends: completions, data, and requests for data. All of it is checked against what
//! was asked for.

use std::io::{self, IoSliceMut, Read as _};

use super::queue::{Broken, Direction, TcpQueue};
use crate::Status;
use crate::command::Completion;
use crate::tcp::{DataPdu, Pdu, PduError, PduEvent, R2t};

/// From so many bytes of data on they are received straight to their place.
const DIRECT_BYTES: usize = 1 << 14;

impl TcpQueue {
    /// Takes what has come, without waiting; false when nothing had.
    pub(super) fn receive(&mut self, done: &mut Vec<(u16, Completion)>) -> Result<bool, Broken> {
        let came = match self.read_socket() {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(_) => true,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                false
            }
            Err(error) => return Err(error.into()),
        };
        if came {
            self.look(done)?;
        }
        Ok(came)
    }

    /// One read from the socket: large data to its slot, everything else to the buffer.
    fn read_socket(&mut self) -> io::Result<usize> {
        debug_assert!(self.received_at == self.received_end, "all that came before was looked at");
        (self.received_at, self.received_end) = (0, 0);
        let expected = self.reader.data_expected();
        let target = self.incoming.filter(|_| expected >= DIRECT_BYTES);
        let Some(at) = target.and_then(|data| self.place(&data, expected)) else {
            let came = (&self.stream).read(&mut self.received)?;
            self.received_end = came;
            return Ok(came);
        };
        let place = &mut self.memory[at..at + expected];
        let mut parts = [IoSliceMut::new(place), IoSliceMut::new(&mut self.received)];
        let came = (&self.stream).read_vectored(&mut parts)?;
        let direct = came.min(expected);
        self.received_end = came - direct;
        // The bytes are in their place; the reader only has to see them.
        let mut shown = 0;
        while shown < direct {
            match self.reader.feed(&self.memory[at + shown..at + direct]) {
                Ok((used, PduEvent::Data(_))) => shown += used,
                // Data was expected, so nothing else can be found in it.
                Ok(_) | Err(_) => break,
            }
        }
        Ok(came)
    }

    /// Where in memory the next byte of a data PDU goes, `left` bytes before its end.
    fn place(&self, data: &DataPdu, left: usize) -> Option<usize> {
        let slot = self.slot_of(data.cid)?;
        Some(slot * self.stride + data.offset as usize + data.len as usize - left)
    }

    /// Looks at all that was received.
    fn look(&mut self, done: &mut Vec<(u16, Completion)>) -> Result<(), Broken> {
        loop {
            let left = self.reader.data_expected();
            let (used, event) =
                self.reader.feed(&self.received[self.received_at..self.received_end]).map_err(Broken::Pdu)?;
            self.received_at += used;
            match event {
                PduEvent::NeedMore => return Ok(()),
                PduEvent::Data(piece) => {
                    // Data of a termination request belongs nowhere.
                    if let Some(data) = self.incoming {
                        // Before the first piece the reader stood at the header or the padding after it.
                        let left = if left == 0 { data.len as usize } else { left };
                        let at = self.place(&data, left).expect("a slot is kept until its data has come");
                        self.memory[at..at + piece.len()].copy_from_slice(piece);
                    }
                }
                PduEvent::Header(pdu) => self.header(&pdu, done)?,
                PduEvent::End { digest_ok } => self.end_of_data(digest_ok, done),
            }
        }
    }

    fn header(&mut self, pdu: &Pdu, done: &mut Vec<(u16, Completion)>) -> Result<(), Broken> {
        match pdu {
            Pdu::CapsuleResp(completion) => self.completion(completion, done),
            Pdu::C2hData(data) => self.data(data),
            Pdu::R2t(r2t) => self.ready_to_transfer(r2t),
            Pdu::C2hTermReq(term) => Err(Broken::Target(format!(
                "the target ended the connection: {} (information {:#x})",
                term.status.name(),
                term.information
            ))),
            other => Err(Broken::Target(format!("the target sent {}, which hosts send", other.name()))),
        }
    }

    fn completion(
        &mut self,
        completion: &Completion,
        done: &mut Vec<(u16, Completion)>,
    ) -> Result<(), Broken> {
        let Some(slot) = self.slot_of(completion.cid) else {
            return Err(unknown_command("CapsuleResp", completion.cid));
        };
        let state = self.slots[slot];
        self.free(slot);
        let mut completion = *completion;
        if completion.status.is_success() {
            if state.damaged {
                completion.status = Status::TRANSIENT_TRANSPORT_ERROR;
            }
            if let Direction::Read(len) | Direction::Write { len, .. } = state.direction
                && state.moved != len
            {
                completion.status = Status::DATA_TRANSFER_ERROR;
            }
        }
        done.push((slot as u16, completion));
        Ok(())
    }

    fn data(&mut self, data: &DataPdu) -> Result<(), Broken> {
        let Some(slot) = self.slot_of(data.cid) else {
            return Err(unknown_command("C2HData", data.cid));
        };
        let state = &mut self.slots[slot];
        let Direction::Read(len) = state.direction else {
            return Err(out_of_range("C2HData", data.offset, data.len, 0));
        };
        // In order and without gaps: so its end says that all of it came.
        if data.offset as usize != state.moved || state.moved + data.len as usize > len {
            return Err(out_of_range("C2HData", data.offset, data.len, len));
        }
        state.moved += data.len as usize;
        self.incoming = Some(*data);
        Ok(())
    }

    fn end_of_data(&mut self, digest_ok: bool, done: &mut Vec<(u16, Completion)>) {
        let Some(data) = self.incoming.take() else { return };
        let Some(slot) = self.slot_of(data.cid) else { return };
        self.slots[slot].damaged |= !digest_ok;
        if data.success {
            let status =
                if self.slots[slot].damaged { Status::TRANSIENT_TRANSPORT_ERROR } else { Status::SUCCESS };
            self.free(slot);
            done.push((slot as u16, Completion { status, ..Completion::success(data.cid, 0) }));
        }
    }

    fn ready_to_transfer(&mut self, r2t: &R2t) -> Result<(), Broken> {
        let Some(slot) = self.slot_of(r2t.cid) else {
            return Err(unknown_command("R2T", r2t.cid));
        };
        let state = &mut self.slots[slot];
        let Direction::Write { len, .. } = state.direction else {
            return Err(out_of_range("R2T", r2t.offset, r2t.len, 0));
        };
        if r2t.offset as usize != state.moved || state.moved + r2t.len as usize > len {
            return Err(out_of_range("R2T", r2t.offset, r2t.len, len));
        }
        let offset = state.moved;
        state.moved += r2t.len as usize;
        self.send_data(slot, r2t.tag, offset, r2t.len as usize);
        Ok(())
    }
}

fn unknown_command(pdu: &'static str, cid: u16) -> Broken {
    // CCCID and the identifier in a completion: bytes 8 and 20 of their headers.
    let (offset, field) = if pdu == "CapsuleResp" { (20, "CID") } else { (8, "CCCID") };
    Broken::Pdu(PduError::Header {
        pdu,
        field,
        offset,
        value: cid.into(),
        why: "no such command is in flight",
    })
}

fn out_of_range(pdu: &'static str, offset: u32, len: u32, allowed: usize) -> Broken {
    Broken::Pdu(PduError::OutOfRange { pdu, offset, len, allowed: allowed as u32 })
}
