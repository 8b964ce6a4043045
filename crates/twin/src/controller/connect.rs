//! Connect: from the command that opens a queue to the queue.

use nvme::Status;
use nvme::command::{Completion, Sqe};
use nvme::fabrics::{Connect, ConnectData, ConnectParameter, FabricsCommand};

use super::Queue;

/// A Connect command with its data, read and understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// Identifier of the command.
    pub cid: u16,
    /// What the command says.
    pub command: Connect,
    /// What its data say: among others the subsystem's name.
    pub data: ConnectData,
}

/// A connection that has become a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The queue.
    pub queue: Queue,
    /// The completion to send; its result is the controller's identifier.
    pub completion: Completion,
    /// Data that a command on this queue may carry inside its capsule, in bytes.
    pub in_capsule_bytes: u32,
    /// Entries of the queue: the host has fewer commands than that under way.
    pub entries: u32,
    /// Whether the host does without flow control of the submission queue, so that successes may be
    /// told by the last data PDU alone.
    pub no_flow_control: bool,
}

impl ConnectRequest {
    /// Reads the first command of a connection.
    ///
    /// # Errors
    /// The completion to refuse it with: it is no Connect, or its data are none.
    pub fn decode(sqe: &Sqe, data: &[u8]) -> Result<Self, Completion> {
        let refuse = |status: Status| Err(Completion::failure(sqe.cid, status.do_not_retry()));
        let FabricsCommand::Connect(command) = FabricsCommand::decode(sqe) else {
            return refuse(Status::COMMAND_SEQUENCE_ERROR);
        };
        if command.record_format != 0 {
            return refuse(Status::CONNECT_FORMAT);
        }
        match ConnectData::decode(data) {
            Ok(data) => Ok(Self { cid: sqe.cid, command, data }),
            Err(nvme::DecodeError::Short { .. }) => refuse(Status::SGL_DATA_LENGTH),
            Err(nvme::DecodeError::Value { field, .. }) => {
                let parameter = match field {
                    "SUBNQN" => ConnectParameter::SUBSYSTEM_NQN,
                    _ => ConnectParameter::HOST_NQN,
                };
                Err(invalid(sqe.cid, parameter))
            }
        }
    }

    /// The completion that refuses it because of one parameter, for example a subsystem's name that
    /// nobody here has.
    pub fn refuse(&self, parameter: ConnectParameter) -> Completion {
        invalid(self.cid, parameter)
    }

    /// The completion that refuses it with a status of its own: for good, or for now. Linux tries no
    /// more to come back once it was refused for good.
    pub(super) const fn refuse_with(&self, status: Status) -> Completion {
        Completion::failure(self.cid, status)
    }
}

fn invalid(cid: u16, parameter: ConnectParameter) -> Completion {
    let result = parameter.encode().into();
    Completion { result, ..Completion::failure(cid, Status::CONNECT_INVALID_PARAMETERS.do_not_retry()) }
}
