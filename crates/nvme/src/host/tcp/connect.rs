//! From an address to a queue: TCP, the initialisation of the connection, and Connect.

use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::patience::{AnswerWait, SLICE};
use super::queue::{Broken, Direction, TcpQueue};
use super::{TcpAddress, TcpOptions};
use crate::command::{Completion, Sqe};
use crate::fabrics::{
    AuthRequirement, CONNECT_DATA_LEN, Connect, ConnectData, ConnectParameter, FabricsCommand,
};
use crate::host::HostError;
use crate::tcp::{Framing, IcReq, IcResp, Pdu, PduEvent, PduLimits, PduReader, Side};

/// Most data of one PDU that we take: no command of ours moves more.
const DATA_MAX: u32 = 1 << 30;

/// What a queue shall be.
pub(super) struct QueueSpec<'a> {
    pub(super) address: &'a TcpAddress,
    pub(super) options: &'a TcpOptions,
    /// 0 is the admin queue.
    pub(super) id: u16,
    /// Controller to connect to, or FFFFh.
    pub(super) controller_id: u16,
    /// Commands in flight.
    pub(super) slots: usize,
    /// Entries of the queue, at least one more than commands.
    pub(super) entries: u32,
    /// Most bytes of one command.
    pub(super) stride: usize,
    /// Bytes of data that fit into a command.
    pub(super) in_capsule_max: usize,
}

impl QueueSpec<'_> {
    /// Makes the connection and the queue; returns the queue and the controller's identifier.
    pub(super) fn open(&self) -> Result<(TcpQueue, u16), HostError> {
        let device = self.address.to_string();
        let failed = |what: &str, why: String| HostError::Connection {
            device: device.clone(),
            what: what.to_owned(),
            why,
        };
        let stream = self
            .dial()
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .and_then(|stream| stream.set_nonblocking(true).map(|()| stream))
            .map_err(|error| failed("a TCP connection", error.to_string()))?;
        let limits = PduLimits { capsule_data_max: 0, data_max: DATA_MAX };
        let reader = PduReader::new(Side::Host, limits);
        let mut queue = TcpQueue::new(stream, device.clone(), reader, self.slots, self.stride);
        queue.give_up = self.options.give_up.clone();
        let agreed = initialise(&mut queue, self.options).map_err(|broken| queue.break_off(broken))?;
        queue.framing = Framing {
            header_digest: agreed.header_digest,
            data_digest: agreed.data_digest,
            data_alignment_dwords: agreed.data_alignment_dwords,
        };
        // The alignment is the receiver's wish, and ours is none.
        queue.reader.agree(Framing { data_alignment_dwords: 1, ..queue.framing }, limits);
        queue.h2c_data_max = agreed.h2c_data_max as usize;
        queue.in_capsule_max = self.in_capsule_max;
        let (controller_id, requirement) = self.connect(&mut queue)?;
        self.authenticate(&mut queue, requirement)?;
        Ok((queue, controller_id))
    }

    /// A TCP connection. A thread waits for it: the system call cannot be told to end, and the thread can be left behind.
    fn dial(&self) -> io::Result<TcpStream> {
        let (socket, TcpOptions { timeout, give_up, .. }) = (self.address.socket, self.options.clone());
        let (to, answer) = channel();
        thread::Builder::new()
            .name("nvme-tcp-dial".to_owned())
            .spawn(move || to.send(TcpStream::connect_timeout(&socket, timeout)))?;
        loop {
            match answer.recv_timeout(SLICE) {
                Ok(dialled) => return dialled,
                Err(RecvTimeoutError::Timeout) if give_up.is_raised() => {
                    return Err(io::Error::other("nobody had answered when the user ended the wait"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the thread that waits for it ended"));
                }
            }
        }
    }

    fn connect(&self, queue: &mut TcpQueue) -> Result<(u16, AuthRequirement), HostError> {
        let data = ConnectData {
            host_id: self.options.host_id,
            controller_id: self.controller_id,
            subsystem_nqn: self.address.nqn.clone(),
            host_nqn: self.options.host_nqn.clone(),
        };
        let keep_alive = if self.id == 0 { self.options.keep_alive } else { Duration::ZERO };
        let command = FabricsCommand::Connect(Connect {
            record_format: 0,
            queue_id: self.id,
            queue_entries: self.entries,
            attributes: Connect::NO_FLOW_CONTROL,
            keep_alive_ms: u32::try_from(keep_alive.as_millis()).unwrap_or(u32::MAX),
        });
        queue.memory(0)[..CONNECT_DATA_LEN].copy_from_slice(&data.encode());
        // Connect's data always travels inside the command, whatever later ones may.
        let later = std::mem::replace(&mut queue.in_capsule_max, CONNECT_DATA_LEN);
        let completion =
            queue.command(&command.encode(), Direction::write(CONNECT_DATA_LEN), self.options.timeout);
        queue.in_capsule_max = later;
        let completion = completion?;
        if completion.status.is_success() {
            return Ok((completion.dword0() as u16, AuthRequirement::decode(completion.dword0())));
        }
        let (name, sentence) = completion.status.describe(crate::command::opcode::FABRICS);
        let parameter = match ConnectParameter::decode(completion.dword0()) {
            ConnectParameter::SUBSYSTEM_NQN => " It is the name of the subsystem.",
            ConnectParameter::HOST_NQN | ConnectParameter::HOST_ID => " It is the name of the host.",
            _ => "",
        };
        Err(queue.error("Connect", format!("{name}. {sentence}{parameter}")))
    }
}

impl TcpQueue {
    /// Sends one command in slot 0 and waits for its end. Nothing else may be in flight.
    pub(super) fn command(
        &mut self,
        command: &Sqe,
        direction: Direction,
        timeout: Duration,
    ) -> Result<Completion, HostError> {
        self.submit(0, command, direction);
        self.flush()?;
        let mut done = Vec::with_capacity(1);
        let mut wait = AnswerWait::new(self.now(), timeout, &self.give_up);
        loop {
            if let Some((_, completion)) = done.pop() {
                return Ok(completion);
            }
            let Some(slice) = wait.slice(self.now()) else {
                return Err(self.break_off(Broken::Target(wait.why())));
            };
            self.wait(slice, &mut done)?;
        }
    }
}

/// Exchanges ICReq and ICResp.
fn initialise(queue: &mut TcpQueue, options: &TcpOptions) -> Result<IcResp, Broken> {
    let request = IcReq::new(options.header_digest, options.data_digest);
    queue.outbox.add(|out| Pdu::IcReq(request).encode(Framing::PLAIN, &[], out));
    let response = queue.first_pdu(options.timeout)?;
    let Pdu::IcResp(response) = response else {
        return Err(Broken::Target(match response {
            Pdu::C2hTermReq(term) => format!("the target refused it: {}", term.status.name()),
            other => format!("the target answered with {}", other.name()),
        }));
    };
    if (response.header_digest && !options.header_digest) || (response.data_digest && !options.data_digest) {
        return Err(Broken::Target("the target grants digests that nobody asked for".to_owned()));
    }
    Ok(response)
}

impl TcpQueue {
    /// The first PDU of the target.
    fn first_pdu(&mut self, timeout: Duration) -> Result<Pdu, Broken> {
        use std::io::Read as _;
        let mut wait = AnswerWait::new(self.now(), timeout, &self.give_up);
        loop {
            let Some(slice) = wait.slice(self.now()) else { return Err(Broken::Target(wait.why())) };
            self.outbox.send(&self.stream, &self.memory)?;
            let (used, event) =
                self.reader.feed(&self.received[self.received_at..self.received_end]).map_err(Broken::Pdu)?;
            self.received_at += used;
            match event {
                PduEvent::Header(pdu) => return Ok(pdu),
                PduEvent::Data(_) | PduEvent::End { .. } => continue,
                PduEvent::NeedMore => {}
            }
            match (&self.stream).read(&mut self.received) {
                Ok(0) => return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
                Ok(came) => (self.received_at, self.received_end) = (0, came),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => self.pause(slice),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
