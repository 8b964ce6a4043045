//! What waits to be sent on one connection: headers in one buffer, data from where it lies.
//!
//! Data that is large is never copied: a piece remembers which slot's memory it is in.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Write as _};
use std::net::TcpStream;

/// Pieces handed to one system call (the kernel takes 1024, IOV_MAX; more than this gains nothing).
const PIECES_PER_CALL: usize = 64;
/// Sent bytes that are kept in the buffer before it is moved together.
const COMPACT_BYTES: usize = 1 << 16;

/// Bytes to be sent, in order.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    owned: Vec<u8>,
    /// Absolute position of the first byte of `owned`.
    base: usize,
    pieces: VecDeque<OutboxPiece>,
}

/// A run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutboxPiece {
    /// In the outbox itself: absolute position.
    Owned { at: usize, len: usize },
    /// In the memory of the queue's slots.
    Memory { at: usize, len: usize },
}

impl Outbox {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds the bytes that `write` appends.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.owned.len();
        write(&mut self.owned);
        let (at, len) = (self.base + before, self.owned.len() - before);
        if let Some(OutboxPiece::Owned { at: last, len: run }) = self.pieces.back_mut()
            && *last + *run == at
        {
            *run += len;
        } else {
            self.pieces.push_back(OutboxPiece::Owned { at, len });
        }
    }

    /// Adds `len` bytes at `at` of the queue's memory, which must not change until they are sent.
    pub(super) fn add_memory(&mut self, at: usize, len: usize) {
        self.pieces.push_back(OutboxPiece::Memory { at, len });
    }

    /// Sends what goes without waiting.
    pub(super) fn send(&mut self, mut stream: &TcpStream, memory: &[u8]) -> io::Result<()> {
        while !self.pieces.is_empty() {
            let mut slices = [IoSlice::new(&[]); PIECES_PER_CALL];
            let mut count = 0;
            for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
                *slice = IoSlice::new(match *piece {
                    OutboxPiece::Owned { at, len } => &self.owned[at - self.base..at - self.base + len],
                    OutboxPiece::Memory { at, len } => &memory[at..at + len],
                });
                count += 1;
            }
            match stream.write_vectored(&slices[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => self.sent(sent),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Drops the first `bytes`.
    fn sent(&mut self, mut bytes: usize) {
        while let Some(front) = self.pieces.front_mut() {
            let (OutboxPiece::Owned { at, len } | OutboxPiece::Memory { at, len }) = front;
            if *len > bytes {
                *at += bytes;
                *len -= bytes;
                break;
            }
            bytes -= *len;
            self.pieces.pop_front();
        }
        let first = self.pieces.iter().find_map(|piece| match piece {
            OutboxPiece::Owned { at, .. } => Some(*at),
            OutboxPiece::Memory { .. } => None,
        });
        let end = self.base + self.owned.len();
        let keep_from = first.unwrap_or(end);
        if keep_from == end {
            self.owned.clear();
            self.base = end;
        } else if keep_from - self.base >= COMPACT_BYTES {
            self.owned.drain(..keep_from - self.base);
            self.base = keep_from;
        }
    }
}
