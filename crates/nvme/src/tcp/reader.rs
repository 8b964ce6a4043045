//! PDUs from bytes, as they come off a connection in pieces of any size.
//!
//! Holds one header at most and passes data through without copying it: the caller reads from its
//! socket wherever it likes, also straight to where the data belongs, and shows the bytes here.

use super::pdu::{COMMON_LEN, DIGEST_LEN, HEADER_LEN_MAX, TERM_DATA_MAX, flag, header_len, kind};
use super::{DataPdu, Digest, FatalError, Framing, IcReq, IcResp, Pdu, PduError, R2t, Side, TermReq};
use crate::command::{Completion, Sqe};

/// What a reader allows its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PduLimits {
    /// Most data in a command capsule. On the admin queue always 8192.
    pub capsule_data_max: u32,
    /// Most data in a data PDU. Towards a controller its own MAXH2CDATA.
    pub data_max: u32,
}

/// What a reader has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PduEvent<'a> {
    /// All bytes are taken and nothing more can be said without others.
    NeedMore,
    /// A header is whole and possible. If it has data, [`PduEvent::Data`] and [`PduEvent::End`] follow.
    Header(Pdu),
    /// A piece of the data, as it lies in the bytes that were shown.
    Data(&'a [u8]),
    /// The data is whole. A wrong digest ends the command, not the connection.
    End {
        /// Whether the data's digest is right; true without digests.
        digest_ok: bool,
    },
}

/// Reads one direction of one connection.
#[derive(Debug)]
pub struct PduReader {
    side: Side,
    limits: PduLimits,
    framing: Framing,
    state: ReaderState,
    /// Initialised: the peer's first PDU came.
    began: bool,
    header: [u8; HEADER_LEN_MAX + DIGEST_LEN],
    /// Bytes in `header`.
    filled: usize,
    data_digest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReaderState {
    /// In the common header.
    Common,
    /// In the header that the common header announced, of so many bytes with its digest.
    Header { len: usize, shape: Shape },
    /// Between header and data.
    Padding { left: usize, data: usize, digest: bool },
    /// In the data.
    Data { left: usize, digest: bool },
    /// In the data's digest; so many of its bytes are in `header`.
    Digest,
    /// Nothing more can be read.
    Failed(PduError),
}

/// What the common header says about what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    header_digest: bool,
    padding: usize,
    data: u32,
    data_digest: bool,
}

impl PduReader {
    /// A reader for what comes to `side`, before the connection is initialised.
    pub const fn new(side: Side, limits: PduLimits) -> Self {
        Self {
            side,
            limits,
            framing: Framing::PLAIN,
            state: ReaderState::Common,
            began: false,
            header: [0; HEADER_LEN_MAX + DIGEST_LEN],
            filled: 0,
            data_digest: Digest::new(),
        }
    }

    /// Changes what the peer may do from the next PDU on: after the initialisation, and after Connect.
    pub const fn agree(&mut self, framing: Framing, limits: PduLimits) {
        self.framing = framing;
        self.limits = limits;
    }

    /// Bytes of data that come next, 0 outside data: so many may be read straight to their place.
    pub const fn data_expected(&self) -> usize {
        match self.state {
            ReaderState::Data { left, .. } => left,
            _ => 0,
        }
    }

    /// What came of the present header: for a termination request.
    pub fn offending_header(&self) -> &[u8] {
        &self.header[..self.filled.min(TERM_DATA_MAX as usize)]
    }

    /// Looks at `bytes` and says how many were taken and what was found in them.
    ///
    /// To be called with what was not taken until it answers [`PduEvent::NeedMore`], also with nothing
    /// left: the end of data may be known already.
    ///
    /// # Errors
    /// [`PduError`] when the connection has to end; then always the same.
    pub fn feed<'a>(&mut self, bytes: &'a [u8]) -> Result<(usize, PduEvent<'a>), PduError> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match self.state {
                ReaderState::Common => {
                    used += self.fill(rest, COMMON_LEN);
                    if self.filled < COMMON_LEN {
                        return Ok((used, PduEvent::NeedMore));
                    }
                    let (len, shape) = self.common_header().map_err(|error| self.fail(error))?;
                    self.state = ReaderState::Header { len, shape };
                }
                ReaderState::Header { len, shape } => {
                    used += self.fill(rest, len);
                    if self.filled < len {
                        return Ok((used, PduEvent::NeedMore));
                    }
                    let pdu = self.whole_header(shape).map_err(|error| self.fail(error))?;
                    self.after_header(shape);
                    return Ok((used, PduEvent::Header(pdu)));
                }
                ReaderState::Padding { left, data, digest } => {
                    let skipped = left.min(rest.len());
                    used += skipped;
                    if skipped < left {
                        self.state = ReaderState::Padding { left: left - skipped, data, digest };
                        return Ok((used, PduEvent::NeedMore));
                    }
                    self.state = ReaderState::Data { left: data, digest };
                }
                ReaderState::Data { left: 0, digest: false } => {
                    self.next_pdu();
                    return Ok((used, PduEvent::End { digest_ok: true }));
                }
                ReaderState::Data { left: 0, digest: true } => {
                    self.filled = 0;
                    self.state = ReaderState::Digest;
                }
                ReaderState::Data { left, digest } => {
                    if rest.is_empty() {
                        return Ok((used, PduEvent::NeedMore));
                    }
                    let piece = &rest[..left.min(rest.len())];
                    if digest {
                        self.data_digest.update(piece);
                    }
                    self.state = ReaderState::Data { left: left - piece.len(), digest };
                    return Ok((used + piece.len(), PduEvent::Data(piece)));
                }
                ReaderState::Digest => {
                    used += self.fill(rest, DIGEST_LEN);
                    if self.filled < DIGEST_LEN {
                        return Ok((used, PduEvent::NeedMore));
                    }
                    let digest_ok = self.header[..DIGEST_LEN] == self.data_digest.encode();
                    self.next_pdu();
                    return Ok((used, PduEvent::End { digest_ok }));
                }
                ReaderState::Failed(ref error) => return Err(error.clone()),
            }
        }
    }

    /// Takes bytes into the header until it has `len`; says how many were taken.
    fn fill(&mut self, bytes: &[u8], len: usize) -> usize {
        let taken = (len - self.filled).min(bytes.len());
        self.header[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        taken
    }

    fn fail(&mut self, error: PduError) -> PduError {
        self.state = ReaderState::Failed(error.clone());
        error
    }

    const fn next_pdu(&mut self) {
        self.filled = 0;
        self.state = ReaderState::Common;
    }

    const fn after_header(&mut self, shape: Shape) {
        if shape.data == 0 {
            self.next_pdu();
            return;
        }
        self.data_digest = Digest::new();
        let (data, digest) = (shape.data as usize, shape.data_digest);
        self.state = ReaderState::Padding { left: shape.padding, data, digest };
    }

    /// Judges the first eight bytes: bytes of the header with its digest, and what follows it.
    fn common_header(&mut self) -> Result<(usize, Shape), PduError> {
        let [kind, flags, hlen, pdo] = [0, 1, 2, 3].map(|at| self.header[at]);
        let plen = self.u32_at(4);
        self.check_turn(kind)?;
        let bad = |field, offset, value: u32, why| PduError::Header {
            pdu: kind::name(kind),
            field,
            offset,
            value,
            why,
        };
        let header_len = header_len(kind);
        if usize::from(hlen) != header_len {
            return Err(bad("HLEN", 2, hlen.into(), "each type has a header of one length"));
        }
        if matches!(kind, kind::IC_REQ | kind::IC_RESP) && plen as usize != header_len {
            return Err(bad("PLEN", 4, plen, "it is nothing but its header"));
        }
        if matches!(kind, kind::H2C_TERM_REQ | kind::C2H_TERM_REQ) {
            // Its flags are reserved. One bit away from it lies H2CData, which digests would have covered.
            if flags & (flag::HEADER_DIGEST | flag::DATA_DIGEST) != 0 {
                return Err(bad("FLAGS", 1, flags.into(), "it travels without digests"));
            }
            let data = plen.checked_sub(header_len as u32).filter(|data| *data <= TERM_DATA_MAX);
            let data =
                data.ok_or_else(|| bad("PLEN", 4, plen, "it carries a header of at most 128 bytes"))?;
            return Ok((header_len, Shape { header_digest: false, padding: 0, data, data_digest: false }));
        }
        let shape = self.shape(kind, flags, pdo, plen)?;
        Ok((header_len + if shape.header_digest { DIGEST_LEN } else { 0 }, shape))
    }

    /// Judges flags, data offset and length of the PDUs that digests apply to.
    fn shape(&self, kind: u8, flags: u8, pdo: u8, plen: u32) -> Result<Shape, PduError> {
        let pdu = kind::name(kind);
        let bad = |field, offset, value: u32, why| PduError::Header { pdu, field, offset, value, why };
        let header_digest = self.framing.header_digest && !matches!(kind, kind::IC_REQ | kind::IC_RESP);
        if header_digest != (flags & flag::HEADER_DIGEST != 0) {
            return Err(bad("FLAGS", 1, flags.into(), "header digests are used as was agreed"));
        }
        let before = header_len(kind) as u32 + if header_digest { DIGEST_LEN as u32 } else { 0 };
        let may_have_data = matches!(kind, kind::CAPSULE_CMD | kind::H2C_DATA | kind::C2H_DATA);
        if plen == before {
            let needs_data = matches!(kind, kind::H2C_DATA | kind::C2H_DATA);
            return if needs_data {
                Err(bad("PLEN", 4, plen, "there is data in it"))
            } else {
                Ok(Shape { header_digest, padding: 0, data: 0, data_digest: false })
            };
        }
        if !may_have_data || plen < before {
            return Err(bad("PLEN", 4, plen, "it ends where its header and digest end"));
        }
        // Without data digests the flag must be clear: it would change where the data ends.
        let data_digest = self.framing.data_digest;
        if data_digest != (flags & flag::DATA_DIGEST != 0) {
            return Err(bad("FLAGS", 1, flags.into(), "data digests are used as was agreed"));
        }
        let pdo = u32::from(pdo);
        if pdo < before || !pdo.is_multiple_of(4) {
            return Err(bad("PDO", 3, pdo, "data begins on a dword after the header and its digest"));
        }
        let digest_len = if data_digest { DIGEST_LEN as u32 } else { 0 };
        let data = plen.checked_sub(pdo + digest_len).filter(|data| *data > 0);
        let data = data.ok_or_else(|| bad("PLEN", 4, plen, "there is data between PDO and the end"))?;
        let limit =
            if kind == kind::CAPSULE_CMD { self.limits.capsule_data_max } else { self.limits.data_max };
        if data > limit {
            return Err(PduError::TooMuchData { pdu, len: data, limit });
        }
        Ok(Shape { header_digest, padding: (pdo - before) as usize, data, data_digest })
    }

    /// Whether a PDU of this type may come to this side, now.
    fn check_turn(&mut self, kind: u8) -> Result<(), PduError> {
        let pdu = kind::name(kind);
        let begins = match self.side {
            Side::Host => kind::IC_RESP,
            Side::Controller => kind::IC_REQ,
        };
        let goes_on: &[u8] = match self.side {
            Side::Host => &[kind::C2H_TERM_REQ, kind::CAPSULE_RESP, kind::C2H_DATA, kind::R2T],
            Side::Controller => &[kind::H2C_TERM_REQ, kind::CAPSULE_CMD, kind::H2C_DATA],
        };
        if kind != begins && !goes_on.contains(&kind) {
            let why = "no such PDU goes this way";
            return Err(PduError::Header { pdu, field: "PDU-Type", offset: 0, value: kind.into(), why });
        }
        let terminates = matches!(kind, kind::H2C_TERM_REQ | kind::C2H_TERM_REQ);
        match (self.began, kind == begins) {
            (false, false) if !terminates => {
                Err(PduError::Sequence { pdu, why: "the first PDU initialises the connection" })
            }
            (true, true) => Err(PduError::Sequence { pdu, why: "the connection is initialised already" }),
            _ => {
                self.began = true;
                Ok(())
            }
        }
    }

    /// Judges a whole header and reads its meaning.
    fn whole_header(&self, shape: Shape) -> Result<Pdu, PduError> {
        let kind = self.header[0];
        let pdu = kind::name(kind);
        let len = header_len(kind);
        if shape.header_digest {
            let computed = Digest::compute(&self.header[..len]);
            let got = self.u32_at(len);
            if got != computed.as_u32() {
                return Err(PduError::HeaderDigest { pdu, got, computed: computed.as_u32() });
            }
        }
        match kind {
            kind::IC_REQ => self.ic_req().map(Pdu::IcReq),
            kind::IC_RESP => self.ic_resp().map(Pdu::IcResp),
            kind::H2C_TERM_REQ => Ok(Pdu::H2cTermReq(self.term_req(shape.data))),
            kind::C2H_TERM_REQ => Ok(Pdu::C2hTermReq(self.term_req(shape.data))),
            kind::CAPSULE_CMD => Ok(Pdu::CapsuleCmd { sqe: self.sqe(), data_len: shape.data }),
            kind::CAPSULE_RESP => Ok(Pdu::CapsuleResp(self.completion())),
            kind::H2C_DATA => self.data_pdu(shape.data).map(Pdu::H2cData),
            kind::C2H_DATA => self.data_pdu(shape.data).map(Pdu::C2hData),
            _ => self.r2t().map(Pdu::R2t),
        }
    }

    fn u16_at(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.header[at], self.header[at + 1]])
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from(self.u16_at(at)) | u32::from(self.u16_at(at + 2)) << 16
    }

    fn sqe(&self) -> Sqe {
        Sqe::decode(&self.header[COMMON_LEN..])
            .expect("the header buffer holds 64 bytes after the common header")
    }

    fn completion(&self) -> Completion {
        Completion::decode(&self.header[COMMON_LEN..])
            .expect("the header buffer holds 16 bytes after the common header")
    }

    /// PFV at 8 and the data alignment at 10, which both initialisation PDUs have.
    fn format_and_alignment(&self, field: &'static str) -> Result<(u16, u8), PduError> {
        let pdu = kind::name(self.header[0]);
        let (format, alignment_z) = (self.u16_at(8), self.header[10]);
        if format != 0 {
            let why = "only format 0 is defined";
            return Err(PduError::Unsupported { pdu, field: "PFV", offset: 8, value: format.into(), why });
        }
        if alignment_z > 31 {
            let why = "0 to 31 dwords beyond one";
            return Err(PduError::Header { pdu, field, offset: 10, value: alignment_z.into(), why });
        }
        Ok((format, alignment_z + 1))
    }

    fn ic_req(&self) -> Result<IcReq, PduError> {
        let (format, data_alignment_dwords) = self.format_and_alignment("HPDA")?;
        Ok(IcReq {
            format,
            data_alignment_dwords,
            header_digest: self.header[11] & 1 != 0,
            data_digest: self.header[11] & 2 != 0,
            r2t_max: u64::from(self.u32_at(12)) + 1,
        })
    }

    fn ic_resp(&self) -> Result<IcResp, PduError> {
        /// The specification's least MAXH2CDATA.
        const H2C_DATA_LEAST: u32 = 4096;
        let (format, data_alignment_dwords) = self.format_and_alignment("CPDA")?;
        let h2c_data_max = self.u32_at(12);
        if h2c_data_max < H2C_DATA_LEAST || !h2c_data_max.is_multiple_of(4) {
            let why = "whole dwords, at least 4096 bytes";
            let (pdu, field) = ("ICResp", "MAXH2CDATA");
            return Err(PduError::Header { pdu, field, offset: 12, value: h2c_data_max, why });
        }
        Ok(IcResp {
            format,
            data_alignment_dwords,
            header_digest: self.header[11] & 1 != 0,
            data_digest: self.header[11] & 2 != 0,
            h2c_data_max,
        })
    }

    fn term_req(&self, data_len: u32) -> TermReq {
        TermReq { status: FatalError(self.u16_at(8)), information: self.u32_at(10), data_len }
    }

    fn data_pdu(&self, data_len: u32) -> Result<DataPdu, PduError> {
        let (pdu, len) = (kind::name(self.header[0]), self.u32_at(16));
        if len != data_len {
            let why = "it is as long as the data between PDO and the end";
            return Err(PduError::Header { pdu, field: "DATAL", offset: 16, value: len, why });
        }
        let flags = self.header[1];
        let last = flags & flag::LAST != 0;
        let success = flags & flag::SUCCESS != 0;
        if success && (!last || self.side == Side::Controller) {
            let why = "success comes with the last data, and only from a controller";
            return Err(PduError::Header { pdu, field: "FLAGS", offset: 1, value: flags.into(), why });
        }
        let offset = self.u32_at(12);
        if offset.checked_add(len).is_none() {
            return Err(PduError::OutOfRange { pdu, offset, len, allowed: u32::MAX });
        }
        Ok(DataPdu { cid: self.u16_at(8), tag: self.u16_at(10), offset, len, last, success })
    }

    fn r2t(&self) -> Result<R2t, PduError> {
        let (offset, len) = (self.u32_at(12), self.u32_at(16));
        if len == 0 {
            let why = "an R2T asks for something";
            return Err(PduError::Header { pdu: "R2T", field: "R2TL", offset: 16, value: 0, why });
        }
        if offset.checked_add(len).is_none() {
            return Err(PduError::OutOfRange { pdu: "R2T", offset, len, allowed: u32::MAX });
        }
        Ok(R2t { cid: self.u16_at(8), tag: self.u16_at(10), offset, len })
    }
}

#[cfg(test)]
mod test;
