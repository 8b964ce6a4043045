//! One connection as a state machine: bytes in, commands to a service, bytes out. No socket, no
//! thread, no clock, so that it can be tested and fuzzed as it is.
//!
//! # What it checks
//! That PDUs come in order and fit what was agreed; that data belong to a command, in order and
//! within it. What breaks the protocol ends the connection with a termination request. What a
//! command itself gets wrong is the controller's to answer.

mod lock;
mod outbox;
mod transfer;

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

use measure::Instant;
use nvme::Status;
use nvme::command::{Completion, Sqe};
use nvme::fabrics::{AuthRequirement, ConnectParameter};
use nvme::tcp::{
    ADMIN_CAPSULE_DATA_MAX, DataPdu, Digest, Framing, IcReq, IcResp, Pdu, PduError, PduEvent, PduLimits,
    PduReader, R2t, Side, TermReq,
};

use super::shelf::{Mail, Mailbox, Shelf, Unit};
use crate::controller::{Accepted, ConnectRequest, Connected, Payload, Queue, Reply};
use lock::AuthLock;
use outbox::SessionOutbox;
use transfer::{Taker, To, Transfers};

/// Most data in one PDU from a host: that of the largest command, so that few headers are sent.
const H2C_DATA_MAX: u32 = 1 << 20;
/// Answers up to this size are copied behind their header; larger ones are sent from where they lie.
const COPY_BYTES_MAX: usize = 16 << 10;
/// While more waits to be sent than this, nothing more is made ready: what a slow host costs.
const SEND_AHEAD_BYTES: usize = 2 << 20;

/// One connection.
#[derive(Debug)]
pub struct HostSession {
    shelf: Arc<Shelf>,
    mailbox: Arc<Mailbox>,
    reader: PduReader,
    framing: Framing,
    stage: SessionStage,
    /// Keeps commands away from the controller until the host has proved who it is.
    lock: Option<Box<AuthLock>>,
    /// The data of the PDU that is being read.
    incoming: IncomingData,
    transfers: Transfers,
    /// Commands that have ended and are not yet in the outbox.
    ready: VecDeque<Reply>,
    outbox: SessionOutbox,
    ended: Option<SessionEnd>,
    in_flight: usize,
}

/// How far a connection has come.
#[derive(Debug)]
enum SessionStage {
    /// Waits for ICReq.
    New,
    /// Waits for Connect.
    Initialised,
    /// Is a queue.
    Connected { unit: Arc<Unit>, connected: Connected },
}

/// What to do with data.
#[derive(Debug)]
enum IncomingData {
    /// Not in data, or nothing.
    Nothing,
    /// Inside a command.
    Capsule { sqe: Sqe, data: Vec<u8> },
    /// Of a transfer.
    Transfer(u16),
}

/// Why a connection ends. What waits to be sent is sent first, where the host takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The host broke the protocol.
    Protocol(PduError),
    /// The host said that we did, or what it sent made no sense to it.
    ByHost,
    /// Connect was refused, or the queue is no more.
    Closed,
}

impl HostSession {
    /// A connection to the services of `shelf`, before its first byte. What other threads have for
    /// it comes through `mailbox`.
    pub fn new(shelf: Arc<Shelf>, mailbox: Arc<Mailbox>) -> Self {
        let limits = PduLimits { capsule_data_max: ADMIN_CAPSULE_DATA_MAX, data_max: H2C_DATA_MAX };
        Self {
            shelf,
            mailbox,
            reader: PduReader::new(Side::Controller, limits),
            framing: Framing::PLAIN,
            stage: SessionStage::New,
            lock: None,
            incoming: IncomingData::Nothing,
            transfers: Transfers::default(),
            ready: VecDeque::new(),
            outbox: SessionOutbox::default(),
            ended: None,
            in_flight: 0,
        }
    }

    /// Why the connection is to be closed; `None` while it goes on.
    pub const fn ended(&self) -> Option<&SessionEnd> {
        self.ended.as_ref()
    }

    /// Whether it has become a queue.
    pub const fn is_connected(&self) -> bool {
        matches!(self.stage, SessionStage::Connected { .. })
    }

    /// Whether its host has still to prove who it is.
    pub const fn is_locked(&self) -> bool {
        match &self.lock {
            Some(lock) => !lock.is_open(),
            None => false,
        }
    }

    /// The drive or discovery service behind it, once it is a queue.
    pub fn unit(&self) -> Option<&Arc<Unit>> {
        match &self.stage {
            SessionStage::Connected { unit, .. } => Some(unit),
            _ => None,
        }
    }

    /// Whether I/O commands wait for the drive, so that somebody has to look at the time for them.
    pub fn waits_for_drive(&self) -> bool {
        self.in_flight > 0 && self.queue().is_some_and(|queue| !queue.is_admin())
    }

    /// Whether more bytes of the host are welcome. Not so while it does not take our answers: this is
    /// what bounds the memory of a connection.
    pub fn wants_bytes(&self) -> bool {
        self.ended.is_none() && self.outbox.waiting_bytes() < SEND_AHEAD_BYTES
    }

    /// Bytes that wait to be sent.
    pub const fn waiting_bytes(&self) -> usize {
        self.outbox.waiting_bytes()
    }

    /// The next bytes to send; says how many slices were filled.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        self.outbox.slices(slices)
    }

    /// Notes that the next `bytes` were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.outbox.sent(bytes);
        self.fill_outbox();
    }

    fn queue(&self) -> Option<Queue> {
        match &self.stage {
            SessionStage::Connected { connected, .. } => Some(connected.queue),
            _ => None,
        }
    }

    /// Takes bytes that came at `now`, all of them.
    pub fn receive(&mut self, now: Instant, mut bytes: &[u8]) {
        while self.ended.is_none() {
            let (used, event) = match self.reader.feed(bytes) {
                Ok(found) => found,
                Err(error) => return self.break_off(error),
            };
            bytes = &bytes[used..];
            let done = match event {
                PduEvent::NeedMore => return self.fill_outbox(),
                PduEvent::Header(pdu) => self.header(now, &pdu),
                PduEvent::Data(piece) => {
                    self.data(piece);
                    Ok(())
                }
                PduEvent::End { digest_ok } => {
                    self.end_of_data(now, digest_ok);
                    Ok(())
                }
            };
            if let Err(error) = done {
                return self.break_off(error);
            }
        }
    }

    /// Takes what other threads left for it.
    pub fn take_mail(&mut self) {
        for mail in self.mailbox.take() {
            match mail {
                Mail::Reply(reply) => self.reply(reply),
                Mail::Close => self.close(SessionEnd::Closed),
            }
        }
        self.fill_outbox();
    }

    /// Ends it: the service forgets its queue.
    pub fn hang_up(&mut self, now: Instant) {
        if let SessionStage::Connected { unit, connected } = &self.stage {
            unit.disconnect(now, connected.queue);
        }
        self.close(SessionEnd::Closed);
    }

    fn close(&mut self, why: SessionEnd) {
        self.ended.get_or_insert(why);
    }

    /// The last words to a host that broke the protocol.
    fn break_off(&mut self, error: PduError) {
        let offending = self.reader.offending_header();
        self.outbox.add(|out| TermReq::encode(Side::Controller, &error, offending, out));
        self.close(SessionEnd::Protocol(error));
    }
}

/// What comes from the host.
impl HostSession {
    fn header(&mut self, now: Instant, pdu: &Pdu) -> Result<(), PduError> {
        match pdu {
            Pdu::IcReq(request) => self.initialise(request),
            Pdu::CapsuleCmd { sqe, data_len: 0 } => {
                self.command(now, sqe, &[]);
                Ok(())
            }
            Pdu::CapsuleCmd { sqe, data_len } => {
                let data = Vec::with_capacity(*data_len as usize);
                self.incoming = IncomingData::Capsule { sqe: *sqe, data };
                Ok(())
            }
            Pdu::H2cData(data) => self.begin_data(data),
            Pdu::H2cTermReq(_) => {
                self.incoming = IncomingData::Nothing;
                self.close(SessionEnd::ByHost);
                Ok(())
            }
            // The reader lets nothing else come this way.
            _ => Ok(()),
        }
    }

    fn initialise(&mut self, request: &IcReq) -> Result<(), PduError> {
        if !matches!(self.stage, SessionStage::New) {
            return Err(PduError::Sequence { pdu: "ICReq", why: "the connection is initialised already" });
        }
        let IcReq { header_digest, data_digest, data_alignment_dwords, .. } = *request;
        let response = IcResp {
            format: 0,
            data_alignment_dwords: 1,
            header_digest,
            data_digest,
            h2c_data_max: H2C_DATA_MAX,
        };
        self.outbox.add(|out| Pdu::IcResp(response).encode(Framing::PLAIN, &[], out));
        self.framing = Framing { header_digest, data_digest, data_alignment_dwords };
        let limits = PduLimits { capsule_data_max: ADMIN_CAPSULE_DATA_MAX, data_max: H2C_DATA_MAX };
        self.reader.agree(Framing { data_alignment_dwords: 1, ..self.framing }, limits);
        self.stage = SessionStage::Initialised;
        Ok(())
    }

    fn begin_data(&mut self, data: &DataPdu) -> Result<(), PduError> {
        self.incoming = IncomingData::Transfer(self.transfers.begin(data)?);
        Ok(())
    }

    fn data(&mut self, piece: &[u8]) {
        match &mut self.incoming {
            IncomingData::Nothing => {}
            IncomingData::Capsule { data, .. } => data.extend_from_slice(piece),
            IncomingData::Transfer(tag) => {
                let Some(transfer) = self.transfers.get(*tag) else { return };
                let at = transfer.came;
                transfer.came += piece.len() as u32;
                match &mut transfer.to {
                    To::Memory(bytes) => bytes.extend_from_slice(piece),
                    To::Blocks(blocks) => {
                        let SessionStage::Connected { unit, .. } = &self.stage else { return };
                        let offset = blocks.offset_bytes + u64::from(at);
                        transfer.failed |= !unit.write(offset, piece);
                    }
                }
            }
        }
    }

    fn end_of_data(&mut self, now: Instant, digest_ok: bool) {
        match std::mem::replace(&mut self.incoming, IncomingData::Nothing) {
            IncomingData::Nothing => {}
            IncomingData::Capsule { sqe, data } if digest_ok => self.command(now, &sqe, &data),
            IncomingData::Capsule { sqe, .. } => {
                let completion = Completion::failure(sqe.cid, Status::TRANSIENT_TRANSPORT_ERROR);
                self.in_flight += 1;
                self.reply(Reply { completion, payload: Payload::None });
            }
            IncomingData::Transfer(tag) => {
                if let Some(transfer) = self.transfers.get(tag) {
                    transfer.failed |= !digest_ok;
                }
                self.end_of_transfer(now, tag);
            }
        }
    }

    /// Goes on with a command if its data are whole.
    fn end_of_transfer(&mut self, now: Instant, tag: u16) {
        let Some(transfer) = self.transfers.take_whole(tag) else { return };
        let SessionStage::Connected { unit, connected } = &self.stage else { return };
        let ticket = match transfer.taker {
            Taker::Controller(ticket) => ticket,
            Taker::Lock(completion) => {
                return self.authentication_data(completion, &transfer.to, transfer.failed);
            }
        };
        let accepted = match transfer.to {
            _ if transfer.failed => unit.fail(now, ticket, Status::TRANSIENT_TRANSPORT_ERROR),
            To::Memory(bytes) => unit.data(now, ticket, &bytes, connected.queue),
            To::Blocks(_) => unit.stored(now, ticket),
        };
        self.accepted(transfer.cid, accepted);
    }

    fn command(&mut self, now: Instant, sqe: &Sqe, data: &[u8]) {
        match &self.stage {
            // The reader lets no command come before ICReq.
            SessionStage::New => {}
            SessionStage::Initialised => self.connect(now, sqe, data),
            // One entry stays free; the service refuses the same, but says no more than that the queue is to go.
            SessionStage::Connected { connected, .. } if self.in_flight + 1 >= connected.entries as usize => {
                let why = "it has fewer commands under way than its queue has entries";
                self.break_off(PduError::Sequence { pdu: "CapsuleCmd", why });
            }
            SessionStage::Connected { .. } if self.lock.as_ref().is_some_and(|lock| lock.is_for_it(sqe)) => {
                self.locked_command(now, sqe, data);
            }
            SessionStage::Connected { unit, connected } => {
                self.in_flight += 1;
                let accepted = unit.submit(now, connected.queue, sqe, data);
                self.accepted(sqe.cid, accepted);
            }
        }
    }

    fn accepted(&mut self, cid: u16, accepted: Accepted) {
        match accepted {
            Accepted::Done(reply) => self.reply(reply),
            Accepted::Pending => {}
            Accepted::NeedsData { ticket, len_bytes } => {
                let memory = To::Memory(Vec::with_capacity(len_bytes as usize));
                self.transfers.add(Taker::Controller(ticket), cid, memory, len_bytes);
            }
            Accepted::NeedsBlocks { ticket, blocks } => {
                self.transfers.add(Taker::Controller(ticket), cid, To::Blocks(blocks), blocks.len_bytes);
            }
            Accepted::Close => self.close(SessionEnd::Closed),
        }
    }

    fn connect(&mut self, now: Instant, sqe: &Sqe, data: &[u8]) {
        let request = match ConnectRequest::decode(sqe, data) {
            Ok(request) => request,
            Err(completion) => return self.refuse(completion),
        };
        let Some(unit) = self.shelf.find(&request.data.subsystem_nqn) else {
            return self.refuse(request.refuse(ConnectParameter::SUBSYSTEM_NQN));
        };
        if !unit.is_present(now) {
            return self.close(SessionEnd::Closed);
        }
        match unit.connect(now, &request, &self.mailbox) {
            Ok(connected) => {
                let mut completion = connected.completion;
                self.lock = AuthLock::of(&unit, &request).map(Box::new);
                // Newer kernels put as much into Fabrics commands of every queue as into those of the admin queue
                // (drivers/nvme/host/tcp.c, nvme_tcp_inline_data_size).
                let capsule_data_max = if connected.queue.is_admin() || self.lock.is_some() {
                    ADMIN_CAPSULE_DATA_MAX.max(connected.in_capsule_bytes)
                } else {
                    connected.in_capsule_bytes
                };
                if self.lock.is_some() {
                    completion.result |= u64::from(AuthRequirement::TRANSACTION);
                }
                let limits = PduLimits { capsule_data_max, data_max: H2C_DATA_MAX };
                self.reader.agree(Framing { data_alignment_dwords: 1, ..self.framing }, limits);
                self.stage = SessionStage::Connected { unit, connected };
                self.send_completion(completion);
            }
            Err(completion) => self.refuse(completion),
        }
    }

    fn refuse(&mut self, completion: Completion) {
        self.send_completion(completion);
        self.close(SessionEnd::Closed);
    }
}

/// What goes to the host.
impl HostSession {
    fn reply(&mut self, reply: Reply) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.ready.push_back(reply);
    }

    /// Makes PDUs of what is ready, and asks for data, as far as the host takes what we send.
    fn fill_outbox(&mut self) {
        // A termination request is the last word.
        if matches!(self.ended, Some(SessionEnd::Protocol(_))) {
            return;
        }
        while self.outbox.waiting_bytes() < SEND_AHEAD_BYTES
            && let Some((cid, tag, len)) = self.transfers.next()
        {
            let r2t = Pdu::R2t(R2t { cid, tag, offset: 0, len });
            let framing = self.framing;
            self.outbox.add(|out| r2t.encode(framing, &[], out));
        }
        while self.outbox.waiting_bytes() < SEND_AHEAD_BYTES
            && let Some(reply) = self.ready.pop_front()
        {
            self.send(reply);
        }
    }

    fn send(&mut self, reply: Reply) {
        let completion = reply.completion;
        let may_shorten =
            matches!(&self.stage, SessionStage::Connected { connected, .. } if connected.no_flow_control);
        let success = may_shorten && completion.status.is_success() && completion.result == 0;
        let header = |len: usize| {
            let data =
                DataPdu { cid: completion.cid, tag: 0, offset: 0, len: len as u32, last: true, success };
            Pdu::C2hData(data)
        };
        let framing = self.framing;
        match &reply.payload {
            Payload::None => return self.send_completion(completion),
            Payload::Bytes(bytes) => {
                self.outbox.add(|out| header(bytes.len()).encode(framing, bytes, out));
            }
            Payload::Blocks(blocks) => {
                let len = blocks.len_bytes as usize;
                if !self.send_blocks(&header(len), blocks.offset_bytes, len) {
                    return self.send_completion(reply.failed(Status::UNRECOVERED_READ).completion);
                }
            }
        }
        if !success {
            self.send_completion(completion);
        }
    }

    /// Sends data of the namespace; false when they cannot be had.
    fn send_blocks(&mut self, header: &Pdu, offset: u64, len: usize) -> bool {
        let SessionStage::Connected { unit, .. } = &self.stage else { return false };
        let Some(backing) = unit.backing() else { return false };
        let framing = self.framing;
        let pieces = if len > COPY_BYTES_MAX { backing.pieces(offset, len).ok().flatten() } else { None };
        let Some(pieces) = pieces else {
            let mut read = true;
            self.outbox.add(|out| {
                let begin = out.len();
                header.encode_header(framing, out);
                let at = out.len();
                out.resize(at + len, 0);
                if backing.read_at(offset, &mut out[at..]).is_err() {
                    out.truncate(begin);
                    read = false;
                } else if header.has_data_digest(framing) {
                    let digest = Digest::compute(&out[at..]);
                    out.extend(digest.encode());
                }
            });
            return read;
        };
        self.outbox.add(|out| header.encode_header(framing, out));
        let mut digest = Digest::new();
        let with_digest = header.has_data_digest(framing);
        for piece in pieces {
            if with_digest {
                digest.update(&piece);
            }
            self.outbox.add_piece(piece);
        }
        if with_digest {
            self.outbox.add(|out| out.extend(digest.encode()));
        }
        true
    }

    fn send_completion(&mut self, completion: Completion) {
        let framing = self.framing;
        self.outbox.add(|out| Pdu::CapsuleResp(completion).encode(framing, &[], out));
    }
}
