//! Frames that come from another machine.

use ::remote::frame::{Downward, Upward};

use crate::FuzzEntry;

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[("remote_frames", frames)];

/// Frames: what is one encodes to the bytes it was read from, and nothing else is taken for one.
pub fn frames(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(frame)) = Downward::read(&mut rest) {
        let read = frame.encode();
        let end = bytes.len() - rest.len();
        assert_eq!(bytes[end - read.len()..end], read, "{frame:?}");
    }
    let mut rest = bytes;
    while let Ok(Some(_)) = Upward::read(&mut rest) {}
}
