//! What waits to go out on one connection, in order: bytes of our own and data from where they lie.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::controller::ChunkPiece;

/// Sent bytes that may stay in front of a run before it is given up.
const RUN_BYTES: usize = 1 << 16;

/// Bytes to be sent.
#[derive(Debug, Default)]
pub(super) struct SessionOutbox {
    parts: VecDeque<Part>,
    /// Bytes of the first part that are sent already.
    sent: usize,
    waiting_bytes: usize,
    /// A buffer to be used again.
    spare: Vec<u8>,
}

#[derive(Debug)]
enum Part {
    Own(Vec<u8>),
    Data(ChunkPiece),
}

impl Part {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Data(piece) => piece,
        }
    }
}

impl SessionOutbox {
    /// Bytes that wait.
    pub(super) const fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Appends what `write` appends.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if !matches!(self.parts.back(), Some(Part::Own(bytes)) if bytes.len() < RUN_BYTES) {
            let mut fresh = std::mem::take(&mut self.spare);
            fresh.clear();
            self.parts.push_back(Part::Own(fresh));
        }
        let Some(Part::Own(bytes)) = self.parts.back_mut() else { return };
        let before = bytes.len();
        write(bytes);
        self.waiting_bytes += bytes.len() - before;
    }

    /// Appends a piece of the namespace.
    pub(super) fn add_piece(&mut self, piece: ChunkPiece) {
        self.waiting_bytes += piece.len();
        self.parts.push_back(Part::Data(piece));
    }

    /// The next bytes, for one gathered write; says how many slices were filled.
    pub(super) fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut skip = self.sent;
        let mut count = 0;
        for (slice, part) in slices.iter_mut().zip(&self.parts) {
            *slice = IoSlice::new(&part.bytes()[skip..]);
            skip = 0;
            count += 1;
        }
        count
    }

    /// Notes that the next `bytes` were sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.waiting_bytes -= bytes;
        self.sent += bytes;
        while let Some(front) = self.parts.front() {
            let len = front.bytes().len();
            if len > self.sent {
                return;
            }
            self.sent -= len;
            if let Some(Part::Own(bytes)) = self.parts.pop_front()
                && bytes.capacity() > self.spare.capacity()
            {
                self.spare = bytes;
            }
        }
    }
}
