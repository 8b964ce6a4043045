//! The lock before a queue: until its host has proved who it is, no command but those of authentication goes on to
//! the controller. What the messages say is decided in [`nvme::auth`].

use measure::Instant;
use nvme::Status;
use nvme::auth::{AuthNames, ControllerExchange, MESSAGE_LEN_MAX, Nonces};
use nvme::command::{Completion, Sqe, opcode};
use nvme::fabrics::{FabricsCommand, SecurityTransfer};

use super::transfer::{Taker, To};
use super::{HostSession, SessionEnd, SessionStage};
use crate::controller::{ConnectRequest, Payload, Reply};
use crate::vssd::shelf::Unit;

/// A connection's lock.
#[derive(Debug)]
pub(super) struct AuthLock {
    exchange: ControllerExchange,
}

impl AuthLock {
    /// The lock of a queue, if its drive has one.
    pub(super) fn of(unit: &Unit, request: &ConnectRequest) -> Option<Self> {
        let names = AuthNames { host: request.data.host_nqn.clone(), subsystem: unit.nqn().to_owned() };
        unit.auth().map(|auth| Self { exchange: ControllerExchange::new(auth.clone(), names) })
    }

    pub(super) const fn is_open(&self) -> bool {
        self.exchange.is_authenticated()
    }

    /// Whether a command ends here: all while it is closed, those of authentication always.
    pub(super) fn is_for_it(&self, sqe: &Sqe) -> bool {
        let is_authentication = sqe.opcode == opcode::FABRICS
            && matches!(
                FabricsCommand::decode(sqe),
                FabricsCommand::AuthenticationSend(_) | FabricsCommand::AuthenticationReceive(_)
            );
        is_authentication || !self.is_open()
    }
}

impl HostSession {
    /// Takes a command that ends at the lock.
    pub(super) fn locked_command(&mut self, now: Instant, sqe: &Sqe, data: &[u8]) {
        let SessionStage::Connected { unit, connected } = &self.stage else { return };
        // It counts for keep-alive and flow control like any other.
        let Some(sq_head) = unit.note(now, connected.queue) else { return self.close(SessionEnd::Closed) };
        let sq_id = connected.queue.queue_id();
        let completion = Completion { sq_head, sq_id, ..Completion::success(sqe.cid, 0) };
        self.in_flight += 1;
        match FabricsCommand::decode(sqe) {
            FabricsCommand::AuthenticationSend(transfer) => {
                self.authentication_send(completion, transfer, data)
            }
            FabricsCommand::AuthenticationReceive(transfer) => {
                self.authentication_receive(completion, transfer)
            }
            _ => self.answer(completion, Status::AUTHENTICATION_REQUIRED.do_not_retry()),
        }
    }

    fn authentication_send(&mut self, completion: Completion, transfer: SecurityTransfer, data: &[u8]) {
        let len = transfer.len as usize;
        if !is_ours(transfer) || len == 0 || len > MESSAGE_LEN_MAX {
            return self.answer(completion, Status::INVALID_FIELD.do_not_retry());
        }
        if data.is_empty() {
            let memory = To::Memory(Vec::with_capacity(len));
            self.transfers.add(Taker::Lock(completion), completion.cid, memory, transfer.len);
        } else if data.len() == len {
            self.authentication_message(completion, data);
        } else {
            self.answer(completion, Status::SGL_DATA_LENGTH.do_not_retry());
        }
    }

    /// Takes a message whose data came behind its command.
    pub(super) fn authentication_data(&mut self, completion: Completion, to: &To, failed: bool) {
        match to {
            To::Memory(message) if !failed => self.authentication_message(completion, message),
            _ => self.answer(completion, Status::TRANSIENT_TRANSPORT_ERROR),
        }
    }

    fn authentication_message(&mut self, completion: Completion, message: &[u8]) {
        if let Some(lock) = &mut self.lock {
            lock.exchange.send(message);
        }
        self.answer(completion, Status::SUCCESS);
        self.end_if_failed();
    }

    fn authentication_receive(&mut self, completion: Completion, transfer: SecurityTransfer) {
        let room = transfer.len as usize;
        if !is_ours(transfer) || room > MESSAGE_LEN_MAX {
            return self.answer(completion, Status::INVALID_FIELD.do_not_retry());
        }
        let mut random = [0; Nonces::LEN];
        if measure::patient::random(&mut random).is_err() {
            return self.answer(completion, Status::INTERNAL_ERROR);
        }
        let nonces = Nonces::from_random(&random);
        let message = self.lock.as_mut().and_then(|lock| lock.exchange.receive(&nonces, room));
        match message {
            Some(mut message) => {
                // Linux asks for more than any message has, and wants all of it, as nvmet sends it.
                message.resize(room, 0);
                self.reply(Reply { completion, payload: Payload::Bytes(message) });
            }
            None => self.answer(completion, Status::INVALID_FIELD.do_not_retry()),
        }
        self.end_if_failed();
    }

    fn answer(&mut self, completion: Completion, status: Status) {
        self.reply(Reply { completion: Completion { status, ..completion }, payload: Payload::None });
    }

    /// A host that could not prove itself is told so, and then its connection ends.
    fn end_if_failed(&mut self) {
        if self.lock.as_ref().is_some_and(|lock| lock.exchange.is_over()) {
            self.fill_outbox();
            self.close(SessionEnd::Closed);
        }
    }
}

/// Whether it is a message of the one protocol that there is.
fn is_ours(transfer: SecurityTransfer) -> bool {
    transfer == SecurityTransfer::dh_hmac_chap(transfer.len)
}
