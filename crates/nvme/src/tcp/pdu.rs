//! PDUs by their meaning, and their way to bytes. The way back is `reader`'s.
//!
//! Layouts: NVMe TCP Transport Specification 1.1, section 3.6. A header begins with the common
//! header: type, flags, HLEN, PDO (bytes), PLEN (4 bytes).

use super::{Digest, FatalError, PduError, Side};
use crate::command::{Completion, SQE_LEN, Sqe};

/// Bytes of the common header.
pub(super) const COMMON_LEN: usize = 8;
/// Bytes of the longest header, that of the two initialisation PDUs.
pub(super) const HEADER_LEN_MAX: usize = 128;
/// Bytes of a digest.
pub(super) const DIGEST_LEN: usize = 4;
/// Most bytes of an offending header that a termination request carries back.
pub(super) const TERM_DATA_MAX: u32 = 128;

/// One PDU: its header, and how much data goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// Initialize Connection Request (00h), from the host.
    IcReq(IcReq),
    /// Initialize Connection Response (01h), from the controller.
    IcResp(IcResp),
    /// Termination request from the host (02h).
    H2cTermReq(TermReq),
    /// Termination request from the controller (03h).
    C2hTermReq(TermReq),
    /// Command Capsule (04h), from the host.
    CapsuleCmd {
        /// The command.
        sqe: Sqe,
        /// Bytes of data in the capsule.
        data_len: u32,
    },
    /// Response Capsule (05h), from the controller.
    CapsuleResp(Completion),
    /// Data from the host (06h).
    H2cData(DataPdu),
    /// Data from the controller (07h).
    C2hData(DataPdu),
    /// Ready to Transfer (09h), from the controller.
    R2t(R2t),
}

/// What the host wants of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcReq {
    /// Format of the PDUs (PFV); only 0 is defined.
    pub format: u16,
    /// Alignment the host wants of data sent to it, in dwords, 1 to 32 (HPDA, zero-based on the wire).
    pub data_alignment_dwords: u8,
    /// Header digests shall be used.
    pub header_digest: bool,
    /// Data digests shall be used.
    pub data_digest: bool,
    /// Most open R2Ts a command (MAXR2T, zero-based on the wire).
    pub r2t_max: u64,
}

impl IcReq {
    /// What a plain host asks for: any alignment, one R2T at a time.
    pub const fn new(header_digest: bool, data_digest: bool) -> Self {
        Self { format: 0, data_alignment_dwords: 1, header_digest, data_digest, r2t_max: 1 }
    }
}

/// What the controller grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcResp {
    /// Format of the PDUs (PFV); only 0 is defined.
    pub format: u16,
    /// Alignment the controller wants of data sent to it, in dwords (CPDA). Linux accepts only 1.
    pub data_alignment_dwords: u8,
    /// Header digests will be used.
    pub header_digest: bool,
    /// Data digests will be used.
    pub data_digest: bool,
    /// Most data in one PDU to the controller (MAXH2CDATA). Linux wants at least 4096.
    pub h2c_data_max: u32,
}

/// Why the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermReq {
    /// Fatal error status (FES).
    pub status: FatalError,
    /// Fatal error information (FEI).
    pub information: u32,
    /// Bytes of the offending header that follow as data, at most 128.
    pub data_len: u32,
}

/// A piece of a command's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPdu {
    /// Identifier of the command (CCCID).
    pub cid: u16,
    /// Tag of the R2T it answers (TTAG); 0 towards the host.
    pub tag: u16,
    /// Where in the command's data it begins (DATAO).
    pub offset: u32,
    /// Bytes of data (DATAL); never 0.
    pub len: u32,
    /// The last piece: of the R2T towards the controller, of the command towards the host.
    pub last: bool,
    /// The command succeeded and no response follows. Towards the host only.
    pub success: bool,
}

/// The controller is ready for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R2t {
    /// Identifier of the command (CCCID).
    pub cid: u16,
    /// Tag that the data shall carry (TTAG).
    pub tag: u16,
    /// Where in the command's data it shall begin (R2TO).
    pub offset: u32,
    /// How many bytes; never 0 (R2TL).
    pub len: u32,
}

/// How a connection frames its PDUs, as agreed in its initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// A digest follows each header.
    pub header_digest: bool,
    /// A digest follows data.
    pub data_digest: bool,
    /// Alignment the receiver wants of data, in dwords, 1 to 32.
    pub data_alignment_dwords: u8,
}

impl Framing {
    /// No digests, no alignment beyond a dword: what a connection begins with.
    pub const PLAIN: Self = Self { header_digest: false, data_digest: false, data_alignment_dwords: 1 };
}

pub(super) mod kind {
    pub(crate) const IC_REQ: u8 = 0x00;
    pub(crate) const IC_RESP: u8 = 0x01;
    pub(crate) const H2C_TERM_REQ: u8 = 0x02;
    pub(crate) const C2H_TERM_REQ: u8 = 0x03;
    pub(crate) const CAPSULE_CMD: u8 = 0x04;
    pub(crate) const CAPSULE_RESP: u8 = 0x05;
    pub(crate) const H2C_DATA: u8 = 0x06;
    pub(crate) const C2H_DATA: u8 = 0x07;
    pub(crate) const R2T: u8 = 0x09;

    /// The specification's name.
    pub(crate) const fn name(kind: u8) -> &'static str {
        match kind {
            IC_REQ => "ICReq",
            IC_RESP => "ICResp",
            H2C_TERM_REQ => "H2CTermReq",
            C2H_TERM_REQ => "C2HTermReq",
            CAPSULE_CMD => "CapsuleCmd",
            CAPSULE_RESP => "CapsuleResp",
            H2C_DATA => "H2CData",
            C2H_DATA => "C2HData",
            R2T => "R2T",
            _ => "a PDU of unknown type",
        }
    }
}

pub(super) mod flag {
    pub(crate) const HEADER_DIGEST: u8 = 1 << 0;
    pub(crate) const DATA_DIGEST: u8 = 1 << 1;
    pub(crate) const LAST: u8 = 1 << 2;
    pub(crate) const SUCCESS: u8 = 1 << 3;
}

impl Pdu {
    /// The specification's name.
    pub const fn name(&self) -> &'static str {
        kind::name(self.kind())
    }

    /// Bytes of data that go with the header.
    pub const fn data_len(&self) -> u32 {
        match self {
            Self::CapsuleCmd { data_len, .. } => *data_len,
            Self::H2cData(data) | Self::C2hData(data) => data.len,
            Self::H2cTermReq(term) | Self::C2hTermReq(term) => term.data_len,
            Self::IcReq(_) | Self::IcResp(_) | Self::CapsuleResp(_) | Self::R2t(_) => 0,
        }
    }

    /// Writes the whole PDU: header, digests, padding and `data`.
    ///
    /// # Panics
    /// When `data` is not as long as the header says: that is a mistake of ours.
    pub fn encode(&self, framing: Framing, data: &[u8], out: &mut Vec<u8>) {
        assert!(
            data.len() == self.data_len() as usize,
            "{} announces {} bytes of data and is given {}",
            self.name(),
            self.data_len(),
            data.len()
        );
        self.encode_header(framing, out);
        out.extend_from_slice(data);
        if self.has_data_digest(framing) {
            out.extend(Digest::compute(data).encode());
        }
    }

    /// Writes everything before the data: header, header digest and padding.
    ///
    /// For data that is sent from where it lies. After it comes [`Digest::compute`] the data, if
    /// [`Pdu::has_data_digest`].
    pub fn encode_header(&self, framing: Framing, out: &mut Vec<u8>) {
        let begin = out.len();
        let header_len = self.header_len();
        let header_digest = framing.header_digest && !self.is_without_digests();
        let data_digest = self.has_data_digest(framing);
        let digest_len = if header_digest { DIGEST_LEN } else { 0 };
        let data_at = self.data_at(header_len + digest_len, framing);
        let total = data_at + self.data_len() as usize + if data_digest { DIGEST_LEN } else { 0 };

        let flags = self.flags()
            | if header_digest { flag::HEADER_DIGEST } else { 0 }
            | if data_digest { flag::DATA_DIGEST } else { 0 };
        // PDO is 0 without data, and reserved in a termination request.
        let has_offset = self.data_len() > 0 && !self.is_without_digests();
        let data_offset = if has_offset { data_at as u8 } else { 0 };
        out.extend([self.kind(), flags, header_len as u8, data_offset]);
        out.extend((total as u32).to_le_bytes());
        self.encode_fields(out);
        out.resize(begin + header_len, 0);
        if header_digest {
            let digest = Digest::compute(&out[begin..]);
            out.extend(digest.encode());
        }
        out.resize(begin + data_at, 0);
    }

    /// Whether a data digest follows the data.
    pub const fn has_data_digest(&self, framing: Framing) -> bool {
        framing.data_digest && self.data_len() > 0 && !self.is_without_digests()
    }

    /// Where data begins after headers and digest of `before` bytes: aligned as the receiver wants.
    fn data_at(&self, before: usize, framing: Framing) -> usize {
        if self.data_len() == 0 || self.is_without_digests() {
            return before;
        }
        // PDO is one byte: 72 + 4 aligned to 128 fits.
        before.next_multiple_of(usize::from(framing.data_alignment_dwords.clamp(1, 32)) * 4)
    }

    /// Initialisation and termination travel before or beyond what was agreed.
    const fn is_without_digests(&self) -> bool {
        matches!(self, Self::IcReq(_) | Self::IcResp(_) | Self::H2cTermReq(_) | Self::C2hTermReq(_))
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::IcReq(_) => kind::IC_REQ,
            Self::IcResp(_) => kind::IC_RESP,
            Self::H2cTermReq(_) => kind::H2C_TERM_REQ,
            Self::C2hTermReq(_) => kind::C2H_TERM_REQ,
            Self::CapsuleCmd { .. } => kind::CAPSULE_CMD,
            Self::CapsuleResp(_) => kind::CAPSULE_RESP,
            Self::H2cData(_) => kind::H2C_DATA,
            Self::C2hData(_) => kind::C2H_DATA,
            Self::R2t(_) => kind::R2T,
        }
    }

    const fn header_len(&self) -> usize {
        header_len(self.kind())
    }

    const fn flags(&self) -> u8 {
        match self {
            Self::H2cData(data) | Self::C2hData(data) => {
                (if data.last { flag::LAST } else { 0 }) | if data.success { flag::SUCCESS } else { 0 }
            }
            _ => 0,
        }
    }

    fn encode_fields(&self, out: &mut Vec<u8>) {
        let digests = |header: bool, data: bool| u8::from(header) | u8::from(data) << 1;
        match self {
            Self::IcReq(request) => {
                out.extend(request.format.to_le_bytes());
                out.push(request.data_alignment_dwords.clamp(1, 32) - 1);
                out.push(digests(request.header_digest, request.data_digest));
                let r2t_max_z = u32::try_from(request.r2t_max.saturating_sub(1)).unwrap_or(u32::MAX);
                out.extend(r2t_max_z.to_le_bytes());
            }
            Self::IcResp(response) => {
                out.extend(response.format.to_le_bytes());
                out.push(response.data_alignment_dwords.clamp(1, 32) - 1);
                out.push(digests(response.header_digest, response.data_digest));
                out.extend(response.h2c_data_max.to_le_bytes());
            }
            Self::H2cTermReq(term) | Self::C2hTermReq(term) => {
                out.extend(term.status.0.to_le_bytes());
                out.extend(term.information.to_le_bytes());
            }
            Self::CapsuleCmd { sqe, .. } => out.extend(sqe.encode()),
            Self::CapsuleResp(completion) => out.extend(completion.encode()),
            Self::H2cData(DataPdu { cid, tag, offset, len, .. })
            | Self::C2hData(DataPdu { cid, tag, offset, len, .. })
            | Self::R2t(R2t { cid, tag, offset, len }) => {
                out.extend(cid.to_le_bytes());
                out.extend(tag.to_le_bytes());
                out.extend(offset.to_le_bytes());
                out.extend(len.to_le_bytes());
            }
        }
    }
}

impl TermReq {
    /// The last words of `side` to a peer whose bytes were `error`, with what it sent of that header.
    pub fn encode(side: Side, error: &PduError, offending: &[u8], out: &mut Vec<u8>) {
        let offending = &offending[..offending.len().min(TERM_DATA_MAX as usize)];
        let term = Self {
            status: error.status(),
            information: error.information(),
            data_len: offending.len() as u32,
        };
        let pdu = match side {
            Side::Host => Pdu::H2cTermReq(term),
            Side::Controller => Pdu::C2hTermReq(term),
        };
        pdu.encode(Framing::PLAIN, offending, out);
    }
}

/// Bytes of the header of this type; 0 for types that do not exist.
pub(super) const fn header_len(kind: u8) -> usize {
    match kind {
        kind::IC_REQ | kind::IC_RESP => HEADER_LEN_MAX,
        kind::CAPSULE_CMD => COMMON_LEN + SQE_LEN,
        kind::H2C_TERM_REQ
        | kind::C2H_TERM_REQ
        | kind::CAPSULE_RESP
        | kind::H2C_DATA
        | kind::C2H_DATA
        | kind::R2T => 24,
        _ => 0,
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Status;

    fn bytes(pdu: Pdu, framing: Framing, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        pdu.encode(framing, data, &mut out);
        out
    }

    /// Goal: sizes and offsets independent of our reader. Numbers of the specification's figures.
    #[test]
    fn headers_lie_where_the_specification_puts_them() {
        let request = IcReq {
            format: 0,
            data_alignment_dwords: 1,
            header_digest: true,
            data_digest: false,
            r2t_max: 1,
        };
        let icreq = bytes(Pdu::IcReq(request), Framing::PLAIN, &[]);
        assert_eq!(
            (icreq.len(), &icreq[..16]),
            (128, &[0, 0, 128, 0, 128, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0][..])
        );

        let completion = Completion::failure(0x1234, Status::INVALID_FIELD);
        let response = bytes(Pdu::CapsuleResp(completion), Framing::PLAIN, &[]);
        assert_eq!((response.len(), response[0], response[2], response[20]), (24, 5, 24, 0x34));

        let data = DataPdu { cid: 7, tag: 9, offset: 4096, len: 4, last: true, success: true };
        let c2h = bytes(Pdu::C2hData(data), Framing::PLAIN, &[1, 2, 3, 4]);
        assert_eq!(
            c2h,
            [7, 12, 24, 24, 28, 0, 0, 0, 7, 0, 9, 0, 0, 16, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
        );
    }

    #[test]
    fn digests_and_alignment_move_the_data() {
        let framing = Framing { header_digest: true, data_digest: true, data_alignment_dwords: 32 };
        let capsule = Pdu::CapsuleCmd { sqe: Sqe::new(0x01, 1), data_len: 3 };
        let bytes = bytes(capsule, framing, &[1, 2, 3]);
        // 72 header, 4 digest, aligned to 128; then 3 data and 4 digest.
        assert_eq!((bytes[1], bytes[2], bytes[3], bytes[4]), (3, 72, 128, 135));
        assert_eq!(bytes.len(), 135);
        assert_eq!(bytes[72..76], Digest::compute(&bytes[..72]).encode());
        assert_eq!(bytes[128..131], [1, 2, 3]);
        assert_eq!(bytes[131..], Digest::compute(&[1, 2, 3]).encode());
    }

    #[test]
    fn a_capsule_without_data_has_neither_offset_nor_data_digest() {
        let framing = Framing { header_digest: true, data_digest: true, data_alignment_dwords: 1 };
        let bytes = bytes(Pdu::CapsuleCmd { sqe: Sqe::new(0x06, 0), data_len: 0 }, framing, &[]);
        assert_eq!((bytes.len(), bytes[1], bytes[3], bytes[4]), (76, 1, 0, 76));
    }

    #[test]
    fn a_termination_carries_back_the_header_and_never_a_digest() {
        let error = PduError::HeaderDigest { pdu: "R2T", got: 0xdead_beef, computed: 0 };
        let mut out = Vec::new();
        TermReq::encode(Side::Host, &error, &[9; 200], &mut out);
        assert_eq!((out.len(), out[0], out[2], out[4]), (152, 2, 24, 152));
        assert_eq!(out[8..14], [3, 0, 0xef, 0xbe, 0xad, 0xde]);
    }

    #[test]
    #[should_panic(expected = "announces 4 bytes of data and is given 3")]
    fn data_of_another_length_is_our_mistake() {
        let data = DataPdu { cid: 0, tag: 0, offset: 0, len: 4, last: true, success: false };
        bytes(Pdu::H2cData(data), Framing::PLAIN, &[0; 3]);
    }
}
