//! An instrument that answers SCPI, by TCP or by a device file of the kernel's USBTMC driver.
//!
//! It is asked one question a reading, and answers in a line of numbers. An answer that comes too late would be taken for
//! that of the next question: the connection is made anew then.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use measure::{Clock as _, Instant, MonotonicClock};
use plan::ScpiPort;

use super::MeterReader;
use super::value::MeterAmount;

/// An answer is a line of some numbers.
const ANSWER_BYTES_MAX: usize = 4096;

/// An instrument.
pub(super) struct ScpiMeter {
    port: ScpiPort,
    ask: String,
    item: u32,
    limit: Duration,
    line: Option<ScpiLine>,
}

/// An open connection.
enum ScpiLine {
    Network(TcpStream),
    Device(File),
}

impl ScpiMeter {
    pub(super) const fn new(port: ScpiPort, ask: String, item: u32, limit: Duration) -> Self {
        Self { port, ask, item, limit, line: None }
    }

    fn name(&self) -> String {
        match &self.port {
            ScpiPort::Network { host, port } => format!("{host}:{port}"),
            ScpiPort::Device(path) => path.display().to_string(),
        }
    }

    /// The answer to a question; what is left of the connection after an error is thrown away.
    fn answer(&mut self, question: &str) -> Result<String, String> {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => self.open()?,
        };
        let answer = line
            .ask(question, self.limit)
            .map_err(|why| format!("{} did not answer {question:?}: {why}", self.name()))?;
        self.line = Some(line);
        Ok(answer)
    }

    fn open(&self) -> Result<ScpiLine, String> {
        let failed = |error: std::io::Error| format!("cannot reach the instrument {}: {error}", self.name());
        match &self.port {
            ScpiPort::Network { host, port } => {
                let stream = connect(host, *port, self.limit).map_err(failed)?;
                Ok(ScpiLine::Network(stream))
            }
            ScpiPort::Device(path) => {
                let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
                Ok(ScpiLine::Device(file))
            }
        }
    }
}

impl MeterReader for ScpiMeter {
    fn read(&mut self, _: Instant) -> Result<Option<MeterAmount>, String> {
        let question = self.ask.clone();
        let answer = self.answer(&question)?;
        let item = answer.split([',', ';']).nth(self.item as usize - 1);
        let amount = item.and_then(MeterAmount::read).ok_or_else(|| {
            format!(
                "{} answered {:?} to {question:?}, which has no power as number {}",
                self.name(),
                answer.trim(),
                self.item
            )
        })?;
        Ok(Some(amount))
    }

    fn about(&mut self) -> Option<String> {
        // IEEE 488.2: maker, model, serial number, firmware.
        self.answer("*IDN?").ok().map(|answer| answer.trim().to_owned())
    }
}

impl ScpiLine {
    fn ask(&mut self, question: &str, limit: Duration) -> Result<String, String> {
        let said = |error: std::io::Error| error.to_string();
        let question = format!("{question}\n");
        match self {
            Self::Network(stream) => {
                drain(stream)?;
                stream.write_all(question.as_bytes()).map_err(said)?;
                read_line(stream, limit)
            }
            // The driver has a limit of its own, 5 s (drivers/usb/class/usbtmc.c).
            Self::Device(file) => {
                file.write_all(question.as_bytes()).map_err(said)?;
                let mut answer = [0; ANSWER_BYTES_MAX];
                let len = file.read(&mut answer).map_err(said)?;
                Ok(String::from_utf8_lossy(&answer[..len]).into_owned())
            }
        }
    }
}

/// Takes away what waits to be read: it answers nothing that was asked.
fn drain(stream: &mut TcpStream) -> Result<(), String> {
    let mut rest = [0; ANSWER_BYTES_MAX];
    stream.set_nonblocking(true).map_err(|error| error.to_string())?;
    let waiting = stream.read(&mut rest);
    stream.set_nonblocking(false).map_err(|error| error.to_string())?;
    match waiting {
        Ok(0) => Err("it has closed the connection".to_owned()),
        _ => Ok(()),
    }
}

fn read_line(stream: &mut TcpStream, limit: Duration) -> Result<String, String> {
    let clock = MonotonicClock::start();
    let mut line = Vec::new();
    let mut part = [0; 512];
    loop {
        let left = limit.checked_sub(clock.now().since(Instant::ZERO)).filter(|left| !left.is_zero());
        let left = left.ok_or_else(|| format!("no whole line within {} ms", limit.as_millis()))?;
        stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match stream.read(&mut part) {
            Ok(0) => return Err("it has closed the connection".to_owned()),
            Ok(len) => line.extend_from_slice(&part[..len]),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
        if line.ends_with(b"\n") {
            return Ok(String::from_utf8_lossy(&line).into_owned());
        }
        if line.len() > ANSWER_BYTES_MAX {
            return Err(format!("more than {ANSWER_BYTES_MAX} B without an end"));
        }
    }
}

/// Whether a wait was over, and no more.
pub(super) fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// A connection to the first of a host's numbers that takes one.
pub(super) fn connect(host: &str, port: u16, limit: Duration) -> std::io::Result<TcpStream> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut failed = std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(limit))?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
