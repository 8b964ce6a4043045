//! Admin commands of a drive: which there are, and where each is carried out.

pub(super) mod errors;
pub(super) mod features;
mod format;
mod identify;
mod logs;
pub(super) mod self_test;

use nvme::Status;
use nvme::command::{AdminCommand, Sqe};

use super::command::{Failure, Success};
use super::subsystem::Flow;
use super::{Payload, Queue, Subsystem, io};

pub(super) use identify::common as common_identify;
pub(super) use logs::slice as slice_of_page;

impl Subsystem {
    /// Carries out an admin command as far as it goes without its data.
    pub(super) fn admin(&mut self, queue: Queue, sqe: &Sqe, capsule_data: &[u8]) -> Flow {
        let done = match AdminCommand::decode(sqe) {
            AdminCommand::Identify(command) => self.identify(queue, command).and_then(|page| send(sqe, page)),
            AdminCommand::GetLogPage(command) => {
                self.log_page(queue, &command).and_then(|page| send(sqe, page))
            }
            AdminCommand::GetFeatures(command) => self.get_features(queue, &command).and_then(|success| {
                io::outgoing_if_any(sqe, success.payload.len_bytes())?;
                Ok(Flow::Done(Ok(success)))
            }),
            AdminCommand::SetFeatures(command) => match features::data_to_set(command.fid) {
                None => self.set_features(queue, &command, &[]).map(|success| Flow::Done(Ok(success))),
                Some(needed) => match self.incoming(sqe, needed, capsule_data) {
                    Ok(io::Incoming::Fetch(len)) => Ok(Flow::Data(len)),
                    Ok(io::Incoming::Here(data)) => Ok(self.admin_data(queue, sqe, data)),
                    Err(failure) => Err(failure),
                },
            },
            AdminCommand::Abort { sq_id, cid } => {
                let queue = self.hosts.controller(queue).and_then(|controller| controller.queue(sq_id));
                Ok(Flow::Abort { queue, cid })
            }
            AdminCommand::AsyncEventRequest => Ok(Flow::Event),
            AdminCommand::SelfTest { nsid, code } => {
                self.self_test(queue, nsid, code).map(|success| Flow::Done(Ok(success)))
            }
            AdminCommand::Format(command) => self.format(command),
            AdminCommand::KeepAlive => Ok(Flow::Done(self.hosts.keep_alive(self.now(), queue))),
            AdminCommand::Other(_) => Err(Failure { location: 0, ..Failure::new(Status::INVALID_OPCODE) }),
        };
        done.unwrap_or_else(Flow::from)
    }

    /// Goes on with an admin command whose data are here.
    pub(super) fn admin_data(&mut self, queue: Queue, sqe: &Sqe, data: &[u8]) -> Flow {
        match AdminCommand::decode(sqe) {
            AdminCommand::SetFeatures(command) => Flow::Done(self.set_features(queue, &command, data)),
            _ => Failure::new(Status::INTERNAL_ERROR).into(),
        }
    }
}

/// Sends a page whole: the host asked for exactly that much.
fn send(sqe: &Sqe, page: Vec<u8>) -> Result<Flow, Failure> {
    io::outgoing_if_any(sqe, page.len())?;
    let payload = if page.is_empty() { Payload::None } else { Payload::Bytes(page) };
    Ok(Flow::Done(Ok(Success { result: 0, payload })))
}
