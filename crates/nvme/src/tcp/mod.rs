//! NVMe/TCP: protocol data units (PDUs) to and from bytes, without any I/O.
//!
//! # Architecture
//! - [`Pdu`]: one type a PDU, with the header's fields by their meaning; it encodes itself.
//! - [`PduReader`]: takes bytes as they come off a connection, in pieces of any size, and gives
//!   headers and pieces of data. Everything a peer can ask for has a limit, nothing is allocated.
//! - [`Digest`]: CRC32C of headers and data.
//! - [`PduError`]: what is wrong with a peer's bytes, and the termination request to answer with.
//!
//! # What it does not do
//! It opens no socket and keeps no queue. Which command a data PDU belongs to, whether its offset
//! lies within the command, and how many R2Ts are open is the connection's matter: the error for it,
//! [`PduError::OutOfRange`], is here. TLS and the key exchange PDUs are not covered.
//!
//! # Where the numbers come from
//! NVMe TCP Transport Specification 1.1; what Linux 6.1 and 6.12 send and accept
//! (include/linux/nvme-tcp.h, drivers/nvme/host/tcp.c).

mod digest;
mod error;
mod pdu;
mod reader;

pub use digest::Digest;
pub use error::{FatalError, PduError};
pub use pdu::{DataPdu, Framing, IcReq, IcResp, Pdu, R2t, TermReq};
pub use reader::{PduEvent, PduLimits, PduReader};

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that sends commands.
    Host,
    /// The end that completes them.
    Controller,
}

/// The TCP port of NVMe/TCP (IANA).
pub const PORT: u16 = 4420;
/// The TCP port of discovery (IANA).
pub const DISCOVERY_PORT: u16 = 8009;
/// Most data inside an admin command's capsule: fixed by the specification.
pub const ADMIN_CAPSULE_DATA_MAX: u32 = 8192;
