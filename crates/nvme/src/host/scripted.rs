//! A transport that follows a script: for tests of everything that talks to a drive.
//!
//! Strict by design: the exact opcode, namespace and dwords 10 to 15 are expected, the exact bytes are
//! answered, and an extra, missing or different command fails the test where it happens. Expectations
//! are raw numbers, so that a wrong shift in our own encoders cannot agree with itself.
//!
//! The method is that of libnvme's tests (`test/ioctl/mock.c`).

use std::collections::VecDeque;
use std::io;

use super::{AdminTransport, Data, HostError};
use crate::Status;
use crate::command::{AdminCommand, Completion, Sqe};

/// A transport that expects certain commands in a certain order.
///
/// # Panics
/// When a command differs from the script, comes after its end, or is missing when it is dropped.
#[derive(Debug)]
pub struct ScriptedTransport {
    steps: VecDeque<Step>,
    done: usize,
}

/// One expected command and its answer.
#[derive(Clone, Debug)]
pub struct Step {
    opcode: u8,
    nsid: u32,
    dwords: [u32; 6],
    expected_data: Vec<u8>,
    answer: ScriptedAnswer,
}

#[derive(Clone, Debug)]
enum ScriptedAnswer {
    Completion { data: Vec<u8>, result: u32, status: Status },
    Error(i32),
}

impl Step {
    /// Expects opcode, namespace and dwords 10 to 15; answers success without data.
    pub const fn raw(opcode: u8, nsid: u32, dwords: [u32; 6]) -> Self {
        let answer = ScriptedAnswer::Completion { data: Vec::new(), result: 0, status: Status::SUCCESS };
        Self { opcode, nsid, dwords, expected_data: Vec::new(), answer }
    }

    /// Expects these bytes from the host.
    pub fn expects_data(mut self, data: &[u8]) -> Self {
        self.expected_data = data.to_vec();
        self
    }

    /// Answers with these bytes; the host's buffer must have exactly their length.
    pub fn answers(mut self, bytes: &[u8]) -> Self {
        if let ScriptedAnswer::Completion { data, .. } = &mut self.answer {
            *data = bytes.to_vec();
        }
        self
    }

    /// Answers with `dword` as the result.
    pub fn result(mut self, dword: u32) -> Self {
        if let ScriptedAnswer::Completion { result, .. } = &mut self.answer {
            *result = dword;
        }
        self
    }

    /// Answers with a failing status. Data is not touched, whatever the buffer.
    pub fn fails(mut self, failure: Status) -> Self {
        self.answer = ScriptedAnswer::Completion { data: Vec::new(), result: 0, status: failure };
        self
    }

    /// The system refuses the command with this error number.
    pub fn errors(mut self, raw_os_error: i32) -> Self {
        self.answer = ScriptedAnswer::Error(raw_os_error);
        self
    }
}

impl ScriptedTransport {
    /// A transport that expects `steps` in their order. I/O commands go to namespace 1.
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps: steps.into(), done: 0 }
    }

    /// Ends the script: everything must have been asked for.
    ///
    /// # Panics
    /// When commands are missing.
    pub fn finish(self) {
        drop(self);
    }

    fn follow(&mut self, sqe: &Sqe, command: &str, data: Data<'_>) -> Result<Completion, HostError> {
        let Some(step) = self.steps.pop_front() else {
            panic!("the script ended after {} commands, and then came {command}: {sqe:08x?}", self.done);
        };
        let at = self.done;
        self.done += 1;
        let expected = (step.opcode, step.nsid, step.dwords);
        let got = (sqe.opcode, sqe.nsid, sqe.cdw);
        assert!(
            expected == got,
            "command {at} ({command}) differs from the script: opcode, namespace and dwords 10 to 15 \
             should be {expected:08x?} and are {got:08x?}"
        );
        let written: &[u8] = if let Data::Write(data) = &data { data } else { &[] };
        assert!(
            written == step.expected_data,
            "command {at} ({command}) should carry the data {:02x?} and carries {written:02x?}",
            step.expected_data
        );
        match step.answer {
            ScriptedAnswer::Completion { data: answer, result, status } => {
                if let (Data::Read(buffer), true) = (data, status.is_success()) {
                    assert!(
                        buffer.len() == answer.len(),
                        "command {at} ({command}) brings a buffer of {} bytes for an answer of {}",
                        buffer.len(),
                        answer.len()
                    );
                    buffer.copy_from_slice(&answer);
                }
                Ok(Completion { result: result.into(), sq_head: 0, sq_id: 0, cid: sqe.cid, status })
            }
            ScriptedAnswer::Error(raw_os_error) => Err(HostError::Send {
                device: AdminTransport::name(self).to_owned(),
                command: command.to_owned(),
                source: io::Error::from_raw_os_error(raw_os_error),
            }),
        }
    }
}

impl Drop for ScriptedTransport {
    fn drop(&mut self) {
        // A second panic while the first unwinds would abort the test run and hide both.
        if !std::thread::panicking() {
            assert!(
                self.steps.is_empty(),
                "{} of the script's commands never came; the next would be {:08x?}",
                self.steps.len(),
                self.steps.front()
            );
        }
    }
}

impl AdminTransport for ScriptedTransport {
    fn name(&self) -> &str {
        "the scripted drive"
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        self.follow(&command.encode(), &command.to_string(), data)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn keep_alive(transport: &mut ScriptedTransport) -> Result<Completion, HostError> {
        transport.admin(&AdminCommand::KeepAlive, Data::None)
    }

    #[test]
    #[should_panic(expected = "the script ended after 1 commands")]
    fn an_extra_command_fails() {
        let mut transport = ScriptedTransport::new(vec![Step::raw(0x18, 0, [0; 6])]);
        assert!(keep_alive(&mut transport).is_ok());
        assert!(keep_alive(&mut transport).is_ok());
    }

    #[test]
    #[should_panic(expected = "1 of the script's commands never came")]
    fn a_missing_command_fails() {
        ScriptedTransport::new(vec![Step::raw(0x18, 0, [0; 6])]).finish();
    }

    #[test]
    #[should_panic(expected = "differs from the script")]
    fn a_different_dword_fails() {
        let mut transport = ScriptedTransport::new(vec![Step::raw(0x18, 0, [0, 0, 0, 0, 0, 1])]);
        assert!(keep_alive(&mut transport).is_ok());
    }

    #[test]
    #[should_panic(expected = "a buffer of 4 bytes for an answer of 8")]
    fn a_buffer_of_another_length_fails() {
        let mut transport = ScriptedTransport::new(vec![Step::raw(0x18, 0, [0; 6]).answers(&[0; 8])]);
        assert!(transport.admin(&AdminCommand::KeepAlive, Data::Read(&mut [0; 4])).is_ok());
    }

    #[test]
    fn a_system_error_is_handed_on() {
        let mut transport = ScriptedTransport::new(vec![Step::raw(0x18, 0, [0; 6]).errors(19)]);
        assert!(keep_alive(&mut transport).expect_err("no such device").is_gone());
    }
}
