//! What is wrong with a peer's bytes, and how a connection says so before it ends.

use thiserror::Error;

/// Why a connection has to end. Each variant is one fatal error status of a termination request.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PduError {
    /// A field of a header is impossible.
    #[error("{pdu}: {field} is {value}, which cannot be: {why}")]
    Header {
        /// Name of the PDU.
        pdu: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Its offset in the header.
        offset: u32,
        /// Its value.
        value: u32,
        /// What it may be.
        why: &'static str,
    },
    /// A PDU came where it has no place.
    #[error("{pdu} came out of turn: {why}")]
    Sequence {
        /// Name of the PDU.
        pdu: &'static str,
        /// What should have come.
        why: &'static str,
    },
    /// The header's digest is wrong: nothing in it can be believed.
    #[error("{pdu}: the header digest is {got:#010x} and should be {computed:#010x}")]
    HeaderDigest {
        /// Name of the PDU.
        pdu: &'static str,
        /// The digest that came.
        got: u32,
        /// The digest of what came.
        computed: u32,
    },
    /// Data lies outside its command's or its R2T's range.
    #[error("{pdu}: data at {offset} with {len} bytes lies outside the {allowed} bytes it may fill")]
    OutOfRange {
        /// Name of the PDU.
        pdu: &'static str,
        /// Where it begins.
        offset: u32,
        /// How much there is.
        len: u32,
        /// How much there may be.
        allowed: u32,
    },
    /// More data in one PDU than was agreed.
    #[error("{pdu}: {len} bytes of data are more than the agreed {limit}")]
    TooMuchData {
        /// Name of the PDU.
        pdu: &'static str,
        /// How much there is.
        len: u32,
        /// The limit.
        limit: u32,
    },
    /// A parameter of the connection that we do not know.
    #[error("{pdu}: {field} is {value}, which is not supported: {why}")]
    Unsupported {
        /// Name of the PDU.
        pdu: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Its offset in the header.
        offset: u32,
        /// Its value.
        value: u32,
        /// What is supported.
        why: &'static str,
    },
}

/// Fatal error status of a termination request (FES). An open set: unknown values survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FatalError(pub u16);

impl FatalError {
    /// Invalid PDU header field.
    pub const INVALID_HEADER: Self = Self(0x01);
    /// PDU sequence error.
    pub const SEQUENCE: Self = Self(0x02);
    /// Header digest error.
    pub const HEADER_DIGEST: Self = Self(0x03);
    /// Data transfer out of range.
    pub const OUT_OF_RANGE: Self = Self(0x04);
    /// Data transfer or R2T limit exceeded.
    pub const LIMIT_EXCEEDED: Self = Self(0x05);
    /// Unsupported parameter.
    pub const UNSUPPORTED: Self = Self(0x06);

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::INVALID_HEADER => "Invalid PDU Header Field",
            Self::SEQUENCE => "PDU Sequence Error",
            Self::HEADER_DIGEST => "Header Digest Error",
            Self::OUT_OF_RANGE => "Data Transfer Out of Range",
            Self::LIMIT_EXCEEDED => "Data Transfer Limit Exceeded",
            Self::UNSUPPORTED => "Unsupported Parameter",
            _ => "unknown fatal error",
        }
    }
}

impl PduError {
    /// The status that a termination request carries (FES).
    pub const fn status(&self) -> FatalError {
        match self {
            Self::Header { .. } => FatalError::INVALID_HEADER,
            Self::Sequence { .. } => FatalError::SEQUENCE,
            Self::HeaderDigest { .. } => FatalError::HEADER_DIGEST,
            Self::OutOfRange { .. } => FatalError::OUT_OF_RANGE,
            Self::TooMuchData { .. } => FatalError::LIMIT_EXCEEDED,
            Self::Unsupported { .. } => FatalError::UNSUPPORTED,
        }
    }

    /// The information beside it (FEI): the offset of the field, or the digest that came.
    pub const fn information(&self) -> u32 {
        match self {
            Self::Header { offset, .. } | Self::Unsupported { offset, .. } => *offset,
            Self::HeaderDigest { got, .. } => *got,
            Self::Sequence { .. } | Self::OutOfRange { .. } | Self::TooMuchData { .. } => 0,
        }
    }
}
