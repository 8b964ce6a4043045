//! Authentication of a queue that has just been connected: the messages of [`crate::auth`] over its connection.

use std::io;

use super::connect::QueueSpec;
use super::queue::{Direction, TcpQueue};
use crate::auth::{AuthError, AuthNames, HostExchange, MESSAGE_LEN_MAX, Nonces};
use crate::command::opcode;
use crate::fabrics::{AuthRequirement, FabricsCommand, SecurityTransfer};
use crate::host::HostError;

const NO_SECRET: &str = "the subsystem asks who we are, and no secret was given";
const SECURE_CHANNEL: &str = "the subsystem asks for a secure channel (TLS), which heatsoak cannot set up";
const NOT_ASKED: &str = "the subsystem does not authenticate hosts, so it cannot prove itself either";

impl QueueSpec<'_> {
    /// Proves who we are, where the subsystem asks for it, and lets it prove itself, where we do.
    pub(super) fn authenticate(
        &self,
        queue: &mut TcpQueue,
        requirement: AuthRequirement,
    ) -> Result<(), HostError> {
        let refused =
            |why: &str| HostError::Authentication { device: self.address.to_string(), why: why.to_owned() };
        if requirement.asks_for_secure_channel() {
            return Err(refused(SECURE_CHANNEL));
        }
        let Some(auth) = &self.options.auth else {
            return if requirement.asks() { Err(refused(NO_SECRET)) } else { Ok(()) };
        };
        if !requirement.asks() {
            // Nobody asked for our secret, so it is not told; but whoever wants to know the subsystem is not fobbed off.
            return if auth.controller_secret.is_some() { Err(refused(NOT_ASKED)) } else { Ok(()) };
        }
        let names = AuthNames { host: self.options.host_nqn.clone(), subsystem: self.address.nqn.clone() };
        let nonces =
            nonces().map_err(|error| refused(&format!("the system gives no random numbers: {error}")))?;
        // One transaction a connection, so that any number is a new one.
        let transaction = self.id;
        self.converse(queue, &mut HostExchange::new(auth, names, transaction, nonces))
    }

    fn converse(&self, queue: &mut TcpQueue, exchange: &mut HostExchange<'_>) -> Result<(), HostError> {
        self.send(queue, &exchange.negotiate())?;
        let challenge = self.receive(queue)?;
        let reply = exchange.reply(&challenge).map_err(|error| self.give_up(queue, exchange, &error))?;
        self.send(queue, &reply).map_err(|error| self.hung_up(error))?;
        let success = self.receive(queue).map_err(|error| self.hung_up(error))?;
        let last = exchange.finish(&success).map_err(|error| self.give_up(queue, exchange, &error))?;
        last.map_or(Ok(()), |last| self.send(queue, &last))
    }

    /// Tells the subsystem why, unless it has told us.
    fn give_up(&self, queue: &mut TcpQueue, exchange: &HostExchange<'_>, error: &AuthError) -> HostError {
        if !matches!(error, AuthError::Refused(_)) {
            // The connection ends in any case.
            let _ = self.send(queue, &exchange.failure(error));
        }
        HostError::Authentication { device: self.address.to_string(), why: error.to_string() }
    }

    /// What the end of the connection on our response means: Linux' target closes it at once where the response is wrong,
    /// and whether its reason comes through before is a race.
    fn hung_up(&self, error: HostError) -> HostError {
        match error {
            HostError::Connection { device, why, .. } => HostError::Authentication {
                device,
                why: format!("authentication failed: on our response, {why}"),
            },
            other => other,
        }
    }

    fn send(&self, queue: &mut TcpQueue, message: &[u8]) -> Result<(), HostError> {
        queue.memory(0)[..message.len()].copy_from_slice(message);
        let command =
            FabricsCommand::AuthenticationSend(SecurityTransfer::dh_hmac_chap(message.len() as u32));
        self.command(queue, &command, "Authentication Send", Direction::write(message.len()))
    }

    fn receive(&self, queue: &mut TcpQueue) -> Result<Vec<u8>, HostError> {
        queue.memory(0)[..MESSAGE_LEN_MAX].fill(0);
        let command =
            FabricsCommand::AuthenticationReceive(SecurityTransfer::dh_hmac_chap(MESSAGE_LEN_MAX as u32));
        self.command(queue, &command, "Authentication Receive", Direction::Read(MESSAGE_LEN_MAX))?;
        Ok(queue.memory(0)[..MESSAGE_LEN_MAX].to_vec())
    }

    fn command(
        &self,
        queue: &mut TcpQueue,
        command: &FabricsCommand,
        name: &str,
        direction: Direction,
    ) -> Result<(), HostError> {
        let completion = queue.command(&command.encode(), direction, self.options.timeout)?;
        if completion.status.is_success() {
            return Ok(());
        }
        let (status, sentence) = completion.status.describe(opcode::FABRICS);
        let why = format!("{name} was refused: {status}. {sentence}");
        Err(HostError::Authentication { device: self.address.to_string(), why })
    }
}

/// Random numbers of the system.
fn nonces() -> io::Result<Nonces> {
    let mut bytes = [0; Nonces::LEN];
    measure::patient::random(&mut bytes)?;
    Ok(Nonces::from_random(&bytes))
}
