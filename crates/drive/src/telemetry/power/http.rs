//! One number in a JSON document, by HTTP: Shelly, Tasmota, Home Assistant, ESPHome, scripts.
//!
//! Only what was typed is asked: a redirection is not followed. An answer has a limit of time and of size. HTTP/1.1 by
//! hand (RFC 9112): one GET, `Connection: close`, a body by length, in chunks or to the end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use measure::{Clock as _, Instant, MonotonicClock, input};
use plan::HttpMeter;
use serde_json::Value;

use super::MeterReader;
use super::scpi::{connect, is_timeout};
use super::value::MeterAmount;

/// A status page of a plug is some hundred bytes, of a large one some thousand.
const ANSWER_BYTES_MAX: usize = 65_536;

/// A number in a document.
pub(super) struct JsonMeter {
    meter: HttpMeter,
    limit: Duration,
}

impl JsonMeter {
    pub(super) const fn new(meter: HttpMeter, limit: Duration) -> Self {
        Self { meter, limit }
    }

    fn name(&self) -> String {
        // What came from a file of secrets is not in it.
        format!("http://{}:{}{}", self.meter.host, self.meter.port, self.meter.target)
    }

    fn amount(&self) -> Result<MeterAmount, String> {
        let answer = self.answer()?;
        let body = body(&answer)?;
        let document: Value =
            serde_json::from_slice(&body).map_err(|error| format!("its answer is no JSON: {error}"))?;
        let pointer = &self.meter.pointer;
        let value =
            document.pointer(pointer).ok_or_else(|| format!("its answer has nothing at {pointer}"))?;
        let amount = match value {
            Value::Number(number) => number.as_f64().map(MeterAmount::bare),
            Value::String(text) => MeterAmount::read(text),
            _ => None,
        };
        amount.ok_or_else(|| {
            format!("its answer has {} at {pointer}, which is no power", shortened(&value.to_string()))
        })
    }

    fn answer(&self) -> Result<Vec<u8>, String> {
        let HttpMeter { host, port, .. } = &self.meter;
        let clock = MonotonicClock::start();
        let request = self.request()?;
        let mut stream = connect(host, *port, self.limit).map_err(|error| error.to_string())?;
        stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        read_all(&mut stream, &clock, self.limit)
    }

    fn request(&self) -> Result<String, String> {
        let HttpMeter { host, target, header_file, query_file, .. } = &self.meter;
        let secret = |path: &std::path::Path| {
            input::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let mut target = target.clone();
        if let Some(path) = query_file {
            let query = secret(path)?;
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(query.trim());
        }
        let mut headers = String::new();
        if let Some(path) = header_file {
            for line in secret(path)?.lines().filter(|line| line.contains(':')) {
                headers.push_str(line.trim());
                headers.push_str("\r\n");
            }
        }
        if target.chars().any(|c| c.is_control() || c == ' ') {
            return Err("the file of the query has a space or several lines".to_owned());
        }
        let agent = concat!("heatsoak/", env!("CARGO_PKG_VERSION"));
        Ok(format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: application/json\r\n{headers}Connection: close\r\n\r\n"
        ))
    }
}

impl MeterReader for JsonMeter {
    fn read(&mut self, _: Instant) -> Result<Option<MeterAmount>, String> {
        self.amount().map(Some).map_err(|why| format!("cannot read power from {}: {why}", self.name()))
    }
}

/// Everything up to the end of the connection, or of a body whose length is known.
fn read_all(stream: &mut TcpStream, clock: &MonotonicClock, limit: Duration) -> Result<Vec<u8>, String> {
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        let left = limit.checked_sub(clock.now().since(Instant::ZERO)).filter(|left| !left.is_zero());
        let left =
            left.ok_or_else(|| format!("it did not answer in full within {} ms", limit.as_millis()))?;
        stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match stream.read(&mut part) {
            Ok(0) => return Ok(answer),
            Ok(len) => answer.extend_from_slice(&part[..len]),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(format!("its answer is longer than {ANSWER_BYTES_MAX} B"));
        }
        if is_whole(&answer) {
            return Ok(answer);
        }
    }
}

/// Whether head and body are there; never of a body that goes on to the end of the connection.
fn is_whole(answer: &[u8]) -> bool {
    let Some((head, rest)) = split_head(answer) else { return false };
    match header(&head, "content-length").and_then(|len| len.parse::<usize>().ok()) {
        Some(len) => rest.len() >= len,
        None => is_chunked(&head) && rest.ends_with(b"0\r\n\r\n"),
    }
}

/// The body of an answer that is a document.
fn body(answer: &[u8]) -> Result<Vec<u8>, String> {
    let (head, rest) = split_head(answer).ok_or("its answer is no HTTP")?;
    let status =
        head.split(' ').nth(1).and_then(|code| code.parse::<u16>().ok()).ok_or("its answer is no HTTP")?;
    match status {
        200 => {}
        300..=399 => {
            let to =
                header(&head, "location").map_or_else(String::new, |to| format!(" to {}", shortened(to)));
            return Err(format!("it redirects{to}, which is not followed; name the final address"));
        }
        401 | 403 => {
            return Err(format!(
                "it refuses ({status}); put its \"Authorization: ...\" line into a file and add header-file=FILE"
            ));
        }
        status => return Err(format!("it answers with status {status}")),
    }
    if is_chunked(&head) {
        return unchunked(rest).ok_or_else(|| "its answer is cut off".to_owned());
    }
    match header(&head, "content-length").and_then(|len| len.parse::<usize>().ok()) {
        Some(len) if rest.len() < len => Err("its answer is cut off".to_owned()),
        Some(len) => Ok(rest[..len].to_vec()),
        None => Ok(rest.to_vec()),
    }
}

fn split_head(answer: &[u8]) -> Option<(String, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    head.starts_with("HTTP/1.").then_some((head, &answer[end + 4..]))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn is_chunked(head: &str) -> bool {
    header(head, "transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
}

/// RFC 9112, 7.1: chunks with their length in hexadecimal, the last one empty.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n")?;
        let digits = std::str::from_utf8(&rest[..line]).ok()?.split(';').next()?.trim();
        let len = usize::from_str_radix(digits, 16).ok()?;
        rest = &rest[line + 2..];
        if len == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..len)?);
        rest = rest.get(len.checked_add(2)?..)?;
    }
}

fn shortened(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    if shown.chars().count() < text.chars().count() { format!("{shown}...") } else { shown }
}
