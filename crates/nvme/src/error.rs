//! Why bytes from a drive (or a host) could not be decoded.

use thiserror::Error;

/// Why a wire layout could not be decoded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// Too few bytes: the other side sent less than the layout needs.
    #[error("{what}: cut short, {needed} bytes are needed and {got} were given")]
    Short {
        /// The layout that was being decoded.
        what: &'static str,
        /// Bytes the layout needs.
        needed: usize,
        /// Bytes there were.
        got: usize,
    },
    /// A field holds a value that the specification forbids there.
    #[error("{what}: {field} is {value:#x}, which is not allowed: {why}")]
    Value {
        /// The layout that was being decoded.
        what: &'static str,
        /// The field, by its name in the specification.
        field: &'static str,
        /// The value found.
        value: u64,
        /// What the specification allows.
        why: &'static str,
    },
}
