//! Frames: every message of a stream with its length and checksum, so that nothing is decoded but what was written.
//!
//! A stream stays an Arrow IPC stream that any reader takes: a frame is one of its encapsulated messages (continuation
//! marker, length of the metadata, metadata, body), and the padding behind the metadata ends in a trailer:
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `heatsoak` |
//! | 8 | length of the body, little endian |
//! | 4 | 0 |
//! | 4 | CRC32C of the stream's seed, the frame's place in the file and the frame up to here, then of the body |
//!
//! The seed is made of the record's number and the table's name: a frame of another run, of another table or from
//! another place of the same file is none of this stream.

use std::io::{self, Read};

/// Precedes each message; Arrow columnar format, "Encapsulated message format".
const CONTINUATION: [u8; 4] = [0xff; 4];
const MAGIC: [u8; 8] = *b"heatsoak";
const PREFIX: usize = 8;
const TRAILER: usize = 24;
const CHECKSUM: usize = 4;
/// The largest metadata of ours are the schema's, some 4 KiB.
const METADATA_MAX: usize = 1 << 20;

/// What is in the checksums of one stream beside its bytes.
#[derive(Clone, Copy)]
pub(super) struct FrameSeal(u32);

impl FrameSeal {
    /// Of the stream of `table` in the record with this number.
    pub(super) fn new(record_id: u32, table: &str) -> Self {
        Self(crc32c::crc32c_append(crc32c::crc32c(&record_id.to_le_bytes()), table.as_bytes()))
    }

    fn checksum(self, offset: u64, head: &[u8], body: &[u8]) -> u32 {
        let placed = crc32c::crc32c_append(self.0, &offset.to_le_bytes());
        crc32c::crc32c_append(crc32c::crc32c_append(placed, head), body)
    }

    /// One encapsulated message as the frame that stands at `offset`.
    ///
    /// # Errors
    /// When it is no such message, or one with more metadata than is read back.
    pub(super) fn frame(self, message: &[u8], offset: u64) -> io::Result<Vec<u8>> {
        let no_message = || io::Error::other("the encoder made no Arrow message");
        let (prefix, rest) = message.split_at_checked(PREFIX).ok_or_else(no_message)?;
        let metadata = metadata_len(prefix).ok_or_else(no_message)?;
        let (metadata, body) = rest.split_at_checked(metadata).ok_or_else(no_message)?;
        let metadata_len = metadata.len() + TRAILER;
        if metadata_len > METADATA_MAX {
            return Err(io::Error::other("a batch has too much metadata"));
        }
        let mut frame = Vec::with_capacity(message.len() + TRAILER);
        frame.extend_from_slice(&CONTINUATION);
        frame.extend_from_slice(&(metadata_len as u32).to_le_bytes());
        frame.extend_from_slice(metadata);
        frame.extend_from_slice(&MAGIC);
        frame.extend_from_slice(&(body.len() as u64).to_le_bytes());
        frame.extend_from_slice(&[0; 4]);
        let checksum = self.checksum(offset, &frame, body);
        frame.extend_from_slice(&checksum.to_le_bytes());
        frame.extend_from_slice(body);
        Ok(frame)
    }
}

fn metadata_len(prefix: &[u8]) -> Option<usize> {
    let length = prefix.strip_prefix(&CONTINUATION)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}

/// Where a stream stopped being what was written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Break {
    /// The first byte that could not be used.
    pub(super) at: u64,
    /// What was found there.
    pub(super) why: String,
}

/// The bytes of a stream as far as its frames are whole; then its end, be it the file's or a [`Break`].
pub(super) struct WholeFrames<R> {
    source: R,
    seal: FrameSeal,
    /// Bytes of the file, and how many of them have been looked at.
    len: u64,
    offset: u64,
    frame: Vec<u8>,
    /// How much of the frame has been handed on.
    used: usize,
    broken: Option<Break>,
    ended: bool,
}

impl<R: Read> WholeFrames<R> {
    /// The frames in `source`, which has `len` bytes.
    pub(super) const fn new(source: R, len: u64, seal: FrameSeal) -> Self {
        Self { source, seal, len, offset: 0, frame: Vec::new(), used: 0, broken: None, ended: false }
    }

    /// Reads the first frame; whether there is one.
    pub(super) fn begin(&mut self) -> bool {
        self.advance();
        !self.frame.is_empty()
    }

    /// Where the stream breaks off, if it has by now.
    pub(super) const fn broken(&self) -> Option<&Break> {
        self.broken.as_ref()
    }

    /// Has the next frame in hand, or nothing at the end.
    fn advance(&mut self) {
        (self.frame, self.used) = (Vec::new(), 0);
        if self.ended {
            return;
        }
        match self.next_frame() {
            Ok(frame) => self.frame = frame.unwrap_or_default(),
            Err(why) => self.broken = Some(Break { at: self.offset, why }),
        }
        self.ended = self.frame.is_empty();
    }

    /// Reads one frame; `None` at the end of the stream.
    fn next_frame(&mut self) -> Result<Option<Vec<u8>>, String> {
        let left = self.len.saturating_sub(self.offset);
        if left == 0 {
            return Ok(None);
        }
        let mut frame = Vec::new();
        self.take(&mut frame, PREFIX as u64)?;
        let metadata = metadata_len(&frame).ok_or("no batch begins there")?;
        // The end that the format has for a stream, a length of 0, is never written: where it stands is damage.
        if !(TRAILER..=METADATA_MAX).contains(&metadata) {
            return Err(format!("a batch with {metadata} bytes of metadata"));
        }
        self.take(&mut frame, metadata as u64)?;
        let (head, trailer) = frame.split_at(frame.len() - TRAILER);
        let body_len = match (trailer.starts_with(&MAGIC), trailer[MAGIC.len()..].first_chunk::<8>()) {
            (true, Some(length)) => u64::from_le_bytes(*length),
            _ => return Err("a batch without checksum".to_owned()),
        };
        let head_len = head.len() + TRAILER;
        self.take(&mut frame, body_len)?;
        let (head, body) = frame.split_at(head_len);
        let (head, written) = head.split_at(head_len - CHECKSUM);
        if self.seal.checksum(self.offset, head, body).to_le_bytes() != *written {
            return Err("a batch whose checksum is another".to_owned());
        }
        self.offset += frame.len() as u64;
        Ok(Some(frame))
    }

    /// Adds the next `count` bytes; never takes more memory than the file has left.
    fn take(&mut self, frame: &mut Vec<u8>, count: u64) -> Result<(), String> {
        let left = self.len.saturating_sub(self.offset).saturating_sub(frame.len() as u64);
        if count > left {
            return Err(format!("a batch that is not whole: {left} of {count} bytes"));
        }
        let read = self.source.by_ref().take(count).read_to_end(frame).map_err(|error| error.to_string())?;
        if read as u64 == count { Ok(()) } else { Err(format!("{read} of {count} bytes")) }
    }
}

impl<R: Read> Read for WholeFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.frame.len() {
            self.advance();
        }
        let count = buffer.len().min(self.frame.len() - self.used);
        buffer[..count].copy_from_slice(&self.frame[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A message as the format has it, of eight bytes of metadata.
    fn message(body: &[u8]) -> Vec<u8> {
        [&CONTINUATION[..], &8u32.to_le_bytes(), &[1; 8], body].concat()
    }

    fn stream(seal: FrameSeal) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for length in [0, 64, 1000] {
            let frame = seal.frame(&message(&vec![7; length]), bytes.len() as u64).expect("a message");
            bytes.extend(frame);
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    fn read_back(bytes: &[u8], seal: FrameSeal) -> (Vec<u8>, Option<Break>) {
        let mut frames = WholeFrames::new(bytes, bytes.len() as u64, seal);
        let mut whole = Vec::new();
        frames.read_to_end(&mut whole).expect("memory does not fail");
        (whole, frames.broken().cloned())
    }

    /// Goal: a changed bit is found wherever it is, and costs its frame and what follows, no more and no less.
    #[test]
    fn every_bit_counts() {
        let seal = FrameSeal::new(5, "io");
        let (bytes, ends) = stream(seal);
        assert_eq!(read_back(&bytes, seal), (bytes.clone(), None));
        for at in 0..bytes.len() * 8 {
            let mut spoilt = bytes.clone();
            spoilt[at / 8] ^= 1 << (at % 8);
            let (whole, broken) = read_back(&spoilt, seal);
            let before = ends.iter().copied().filter(|end| *end <= at / 8).max().unwrap_or(0);
            assert_eq!(whole.len(), before, "bit {at}");
            assert_eq!(broken.map(|broken| broken.at), Some(before as u64), "bit {at}");
        }
    }

    #[test]
    fn frames_of_another_run_table_or_place_are_none_of_it() {
        let seal = FrameSeal::new(5, "io");
        let (bytes, ends) = stream(seal);
        for other in [FrameSeal::new(6, "io"), FrameSeal::new(5, "ops")] {
            assert!(read_back(&bytes, other).0.is_empty());
        }
        assert!(read_back(&bytes[ends[0]..], seal).0.is_empty());
    }
}
