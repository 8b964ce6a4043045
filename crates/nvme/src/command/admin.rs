//! Admin commands by their meaning, in both directions.
//!
//! Builds and reads command dwords only; the answers are decoded in `identify`, `feature` and
//! `log`. Layouts: NVMe Base 2.3, Admin Command Set.

use std::fmt;

use super::{NSID_ALL, Sqe, opcode};
use crate::feature::{FeatureId, Select};
use crate::log::LogId;
use crate::log::self_test::SelfTestCode;

/// An admin command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminCommand {
    /// Identify (06h).
    Identify(Identify),
    /// Get Log Page (02h).
    GetLogPage(GetLogPage),
    /// Get Features (0Ah).
    GetFeatures(GetFeatures),
    /// Set Features (09h).
    SetFeatures(SetFeatures),
    /// Abort (08h) of the command `cid` on queue `sq_id`.
    Abort {
        /// Submission queue of the command to abort.
        sq_id: u16,
        /// Identifier of the command to abort.
        cid: u16,
    },
    /// Asynchronous Event Request (0Ch).
    AsyncEventRequest,
    /// Device Self-test (14h).
    SelfTest {
        /// Namespace to test; 0 for the controller alone, [`NSID_ALL`] for all.
        nsid: u32,
        /// Which test, or the end of the one that runs.
        code: SelfTestCode,
    },
    /// Keep Alive (18h).
    KeepAlive,
    /// Format NVM (80h): destroys data.
    Format(FormatNvm),
    /// Any other opcode, as it came.
    Other(Sqe),
}

/// The fields of Format NVM. Metadata settings are left out: 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatNvm {
    /// Namespace; [`NSID_ALL`] for all.
    pub nsid: u32,
    /// Number of the format among those of Identify Namespace (LBAFU, LBAFL), 0 to 63.
    pub format_idx: u8,
    /// Protection information (PI), three bits; 0 for none.
    pub protection: u8,
    /// What becomes of the data.
    pub erase: SecureErase,
}

/// Secure Erase Settings (SES).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecureErase {
    /// 0: they may stay on the media.
    None,
    /// 1: they are erased.
    UserData,
    /// 2: their key is.
    Cryptographic,
    /// 3 to 7.
    Reserved,
}

/// What Identify asks for, "CNS". An open set: unknown values survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cns(pub u8);

impl Cns {
    /// Identify Namespace, NVM command set.
    pub const NAMESPACE: Self = Self(0x00);
    /// Identify Controller.
    pub const CONTROLLER: Self = Self(0x01);
    /// Active Namespace ID list.
    pub const ACTIVE_NAMESPACES: Self = Self(0x02);
    /// Namespace Identification Descriptor list.
    pub const NAMESPACE_IDS: Self = Self(0x03);
    /// I/O command set specific Identify Namespace.
    pub const CSI_NAMESPACE: Self = Self(0x05);
    /// I/O command set specific Identify Controller.
    pub const CSI_CONTROLLER: Self = Self(0x06);
    /// I/O command set independent Identify Namespace.
    pub const INDEPENDENT_NAMESPACE: Self = Self(0x08);

    /// What is asked for, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NAMESPACE => "Namespace",
            Self::CONTROLLER => "Controller",
            Self::ACTIVE_NAMESPACES => "Active Namespace list",
            Self::NAMESPACE_IDS => "Namespace Identification Descriptors",
            Self::CSI_NAMESPACE => "Namespace of a command set",
            Self::CSI_CONTROLLER => "Controller for a command set",
            Self::INDEPENDENT_NAMESPACE => "Namespace independent of command sets",
            _ => "with an unnamed CNS",
        }
    }
}

/// The fields of Identify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identify {
    /// What is asked for.
    pub cns: Cns,
    /// Namespace, or the starting point of a list; 0 where none is meant.
    pub nsid: u32,
    /// Controller identifier (CNTID); 0 where none is meant.
    pub controller_id: u16,
    /// CNS Specific Identifier (15:0 of dword 11).
    pub specific_id: u16,
    /// Command set identifier: 0 is the NVM command set.
    pub csi: u8,
}

impl Identify {
    /// Bytes of every answer.
    pub const LEN: usize = 4096;

    /// Identify Controller. Namespace 0: some drives count any other as an error.
    pub const fn controller() -> Self {
        Self::new(Cns::CONTROLLER, 0)
    }

    /// Identify Namespace.
    pub const fn namespace(nsid: u32) -> Self {
        Self::new(Cns::NAMESPACE, nsid)
    }

    /// Any other answer that needs no more than a namespace.
    pub const fn new(cns: Cns, nsid: u32) -> Self {
        Self { cns, nsid, controller_id: 0, specific_id: 0, csi: 0 }
    }
}

/// The fields of Get Log Page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetLogPage {
    /// Which page.
    pub lid: LogId,
    /// Namespace; [`NSID_ALL`] for the whole controller.
    pub nsid: u32,
    /// Bytes wanted: at least 4, rounded up to whole dwords, at most 16 GiB.
    pub len_bytes: u64,
    /// First byte wanted; a multiple of 4.
    pub offset: u64,
    /// Log Specific Parameter, 7 bits (for the persistent event log, see [`log_action`]).
    pub specific: u8,
    /// Log Specific Identifier.
    pub specific_id: u16,
    /// Retain Asynchronous Event: reading does not clear the event that announced the page.
    pub retain_event: bool,
    /// UUID index, 7 bits: whose vendor page is meant; 0 where none.
    pub uuid_index: u8,
    /// Command set identifier.
    pub csi: u8,
}

impl GetLogPage {
    /// The first `len_bytes` of a page of the controller.
    ///
    /// Does not ask to retain events: drives before NVMe 1.3 know no such bit and may refuse it, and
    /// neither the kernel's hwmon nor smartctl sets it.
    pub const fn controller(lid: LogId, len_bytes: u64) -> Self {
        Self {
            lid,
            nsid: NSID_ALL,
            len_bytes,
            offset: 0,
            specific: 0,
            specific_id: 0,
            retain_event: false,
            uuid_index: 0,
            csi: 0,
        }
    }

    /// The same page from `offset` on.
    pub const fn at(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }
}

/// Log Specific Parameters of the persistent event log (0Dh): what to do with its context.
pub mod log_action {
    /// Read the page as it was when the context was established.
    pub const READ: u8 = 0;
    /// Establish a context and read.
    pub const ESTABLISH_AND_READ: u8 = 1;
    /// Release the context; no data.
    pub const RELEASE: u8 = 2;
}

/// The fields of Get Features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetFeatures {
    /// Which feature.
    pub fid: FeatureId,
    /// Which of its values.
    pub select: Select,
    /// Namespace; 0 where the feature belongs to the controller.
    pub nsid: u32,
    /// Dword 11: selectors inside the feature, such as the sensor of a temperature threshold.
    pub dword11: u32,
    /// UUID index, 7 bits; 0 where none.
    pub uuid_index: u8,
}

impl GetFeatures {
    /// A value of a feature of the controller that needs no selector.
    pub const fn controller(fid: FeatureId, select: Select) -> Self {
        Self { fid, select, nsid: 0, dword11: 0, uuid_index: 0 }
    }
}

/// The fields of Set Features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetFeatures {
    /// Which feature.
    pub fid: FeatureId,
    /// Whether the value shall outlive power cycles and resets (SV).
    pub save: bool,
    /// Namespace; 0 where the feature belongs to the controller.
    pub nsid: u32,
    /// Dwords 11, 12, 13 and 15: the value. (Dword 14 holds the UUID index.)
    pub dwords: [u32; 4],
    /// UUID index, 7 bits; 0 where none.
    pub uuid_index: u8,
}

impl SetFeatures {
    /// A value of a feature of the controller whose value is dword 11 alone.
    pub const fn controller(fid: FeatureId, dword11: u32, save: bool) -> Self {
        Self { fid, save, nsid: 0, dwords: [dword11, 0, 0, 0], uuid_index: 0 }
    }
}

impl fmt::Display for AdminCommand {
    /// The specification's name, and what it is about.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identify(command) => write!(f, "Identify {}", command.cns.name()),
            Self::GetLogPage(command) => write!(f, "Get Log Page {}", command.lid),
            Self::GetFeatures(command) => write!(f, "Get Features {}", command.fid),
            Self::SetFeatures(command) => write!(f, "Set Features {}", command.fid),
            Self::Abort { cid, .. } => write!(f, "Abort of command {cid}"),
            Self::AsyncEventRequest => write!(f, "Asynchronous Event Request"),
            Self::SelfTest { .. } => write!(f, "Device Self-test"),
            Self::KeepAlive => write!(f, "Keep Alive"),
            Self::Format(_) => write!(f, "Format NVM"),
            Self::Other(sqe) => write!(f, "admin command {:02X}h", sqe.opcode),
        }
    }
}

const SAVE: u32 = 1 << 31;
const RETAIN_EVENT: u32 = 1 << 15;
const UUID_INDEX_MASK: u32 = 0x7f;

impl AdminCommand {
    /// The opcode.
    pub const fn opcode(&self) -> u8 {
        match self {
            Self::Identify(_) => opcode::IDENTIFY,
            Self::GetLogPage(_) => opcode::GET_LOG_PAGE,
            Self::GetFeatures(_) => opcode::GET_FEATURES,
            Self::SetFeatures(_) => opcode::SET_FEATURES,
            Self::Abort { .. } => opcode::ABORT,
            Self::AsyncEventRequest => opcode::ASYNC_EVENT_REQUEST,
            Self::SelfTest { .. } => opcode::SELF_TEST,
            Self::KeepAlive => opcode::KEEP_ALIVE,
            Self::Format(_) => opcode::FORMAT,
            Self::Other(sqe) => sqe.opcode,
        }
    }

    /// Bytes of data this command moves; `None` where only the command's own definition knows.
    ///
    /// A buffer of any other length is a danger, not a convenience: the drive moves what the command
    /// says, not what the buffer holds.
    pub fn data_len(&self) -> Option<u64> {
        match self {
            Self::Identify(_) => Some(Identify::LEN as u64),
            Self::GetLogPage(command) if command.is_release() => None,
            Self::GetLogPage(command) => Some(command.len_bytes.div_ceil(4).max(1) * 4),
            Self::GetFeatures(command) if command.select == Select::Supported => Some(0),
            Self::GetFeatures(GetFeatures { fid, .. }) | Self::SetFeatures(SetFeatures { fid, .. }) => {
                fid.data_len()
            }
            Self::Abort { .. }
            | Self::AsyncEventRequest
            | Self::SelfTest { .. }
            | Self::KeepAlive
            | Self::Format(_) => Some(0),
            Self::Other(_) => None,
        }
    }

    /// Reads the meaning of an entry that came on the admin queue. Reserved bits are ignored.
    pub fn decode(sqe: &Sqe) -> Self {
        let [dword10, dword11, dword12, dword13, dword14, dword15] = sqe.cdw;
        let uuid_index = (dword14 & UUID_INDEX_MASK) as u8;
        match sqe.opcode {
            opcode::IDENTIFY => Self::Identify(Identify {
                cns: Cns(dword10 as u8),
                nsid: sqe.nsid,
                controller_id: (dword10 >> 16) as u16,
                specific_id: dword11 as u16,
                csi: (dword11 >> 24) as u8,
            }),
            opcode::GET_LOG_PAGE => {
                let dwords_z = dword10 >> 16 | (dword11 & 0xffff) << 16;
                Self::GetLogPage(GetLogPage {
                    lid: LogId(dword10 as u8),
                    nsid: sqe.nsid,
                    len_bytes: (u64::from(dwords_z) + 1) * 4,
                    offset: u64::from(dword12) | u64::from(dword13) << 32,
                    specific: (dword10 >> 8) as u8 & 0x7f,
                    specific_id: (dword11 >> 16) as u16,
                    retain_event: dword10 & RETAIN_EVENT != 0,
                    uuid_index,
                    csi: (dword14 >> 24) as u8,
                })
            }
            opcode::GET_FEATURES => Self::GetFeatures(GetFeatures {
                fid: FeatureId(dword10 as u8),
                select: Select::from_wire((dword10 >> 8) as u8),
                nsid: sqe.nsid,
                dword11,
                uuid_index,
            }),
            opcode::SET_FEATURES => Self::SetFeatures(SetFeatures {
                fid: FeatureId(dword10 as u8),
                save: dword10 & SAVE != 0,
                nsid: sqe.nsid,
                dwords: [dword11, dword12, dword13, dword15],
                uuid_index,
            }),
            opcode::ABORT => Self::Abort { sq_id: dword10 as u16, cid: (dword10 >> 16) as u16 },
            opcode::ASYNC_EVENT_REQUEST => Self::AsyncEventRequest,
            opcode::SELF_TEST => Self::SelfTest { nsid: sqe.nsid, code: SelfTestCode(dword10 as u8 & 0xf) },
            opcode::KEEP_ALIVE => Self::KeepAlive,
            opcode::FORMAT => Self::Format(FormatNvm::decode(sqe.nsid, dword10)),
            _ => Self::Other(*sqe),
        }
    }

    /// The entry to send; command identifier and data pointer are the transport's to fill in.
    pub fn encode(&self) -> Sqe {
        match self {
            Self::Identify(command) => Sqe::new(opcode::IDENTIFY, command.nsid)
                .with_dword(10, u32::from(command.cns.0) | u32::from(command.controller_id) << 16)
                .with_dword(11, u32::from(command.specific_id) | u32::from(command.csi) << 24),
            Self::GetLogPage(command) => command.encode(),
            Self::GetFeatures(command) => Sqe::new(opcode::GET_FEATURES, command.nsid)
                .with_dword(10, u32::from(command.fid.0) | u32::from(command.select.as_wire()) << 8)
                .with_dword(11, command.dword11)
                .with_dword(14, u32::from(command.uuid_index) & UUID_INDEX_MASK),
            Self::SetFeatures(command) => Sqe::new(opcode::SET_FEATURES, command.nsid)
                .with_dword(10, u32::from(command.fid.0) | if command.save { SAVE } else { 0 })
                .with_dword(11, command.dwords[0])
                .with_dword(12, command.dwords[1])
                .with_dword(13, command.dwords[2])
                .with_dword(14, u32::from(command.uuid_index) & UUID_INDEX_MASK)
                .with_dword(15, command.dwords[3]),
            Self::Abort { sq_id, cid } => {
                Sqe::new(opcode::ABORT, 0).with_dword(10, u32::from(*sq_id) | u32::from(*cid) << 16)
            }
            Self::AsyncEventRequest => Sqe::new(opcode::ASYNC_EVENT_REQUEST, 0),
            Self::SelfTest { nsid, code } => {
                Sqe::new(opcode::SELF_TEST, *nsid).with_dword(10, u32::from(code.0 & 0xf))
            }
            Self::KeepAlive => Sqe::new(opcode::KEEP_ALIVE, 0),
            Self::Format(command) => command.encode(),
            Self::Other(sqe) => *sqe,
        }
    }
}

impl GetLogPage {
    /// Whether this only releases the context of the persistent event log, which moves no data.
    const fn is_release(&self) -> bool {
        matches!(self.lid, LogId::PERSISTENT_EVENTS) && self.specific == log_action::RELEASE
    }

    fn encode(&self) -> Sqe {
        let dwords_z = self.len_bytes.div_ceil(4).saturating_sub(1);
        let dwords_z = u32::try_from(dwords_z).unwrap_or(u32::MAX);
        let retain = if self.retain_event { RETAIN_EVENT } else { 0 };
        let low = u32::from(self.lid.0) | (u32::from(self.specific) & 0x7f) << 8 | retain;
        Sqe::new(opcode::GET_LOG_PAGE, self.nsid)
            .with_dword(10, low | dwords_z << 16)
            .with_dword(11, dwords_z >> 16 | u32::from(self.specific_id) << 16)
            .with_dword(12, self.offset as u32)
            .with_dword(13, (self.offset >> 32) as u32)
            .with_dword(14, u32::from(self.uuid_index) & UUID_INDEX_MASK | u32::from(self.csi) << 24)
    }
}

impl FormatNvm {
    /// Dword 10: LBAFL 3:0, PI 7:5, SES 11:9, LBAFU 13:12.
    const fn decode(nsid: u32, dword10: u32) -> Self {
        let erase = match dword10 >> 9 & 0b111 {
            0 => SecureErase::None,
            1 => SecureErase::UserData,
            2 => SecureErase::Cryptographic,
            _ => SecureErase::Reserved,
        };
        let format_idx = (dword10 & 0xf | (dword10 >> 12 & 0b11) << 4) as u8;
        Self { nsid, format_idx, protection: (dword10 >> 5 & 0b111) as u8, erase }
    }

    fn encode(self) -> Sqe {
        let erase = match self.erase {
            SecureErase::None => 0,
            SecureErase::UserData => 1,
            SecureErase::Cryptographic => 2,
            SecureErase::Reserved => 7,
        };
        let format = u32::from(self.format_idx);
        let dword10 = format & 0xf
            | (u32::from(self.protection) & 0b111) << 5
            | erase << 9
            | (format >> 4 & 0b11) << 12;
        Sqe::new(opcode::FORMAT, self.nsid).with_dword(10, dword10)
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// Goal: the dwords that other tools send, so that a shift cannot be wrong on both sides.
    /// Method: nvme-cli's own command lines with the dwords they are known to produce.
    #[test]
    fn commands_have_the_dwords_that_other_tools_send() {
        let smart = AdminCommand::GetLogPage(GetLogPage::controller(LogId::SMART, 512)).encode();
        // As smartctl: 127 dwords more than one, page 02h.
        assert_eq!((smart.nsid, smart.dword(10), smart.dword(11)), (NSID_ALL, 0x007f_0002, 0));

        let identify = AdminCommand::Identify(Identify::controller()).encode();
        assert_eq!((identify.opcode, identify.nsid, identify.dword(10)), (0x06, 0, 1));

        // nvme get-feature -f 0x10 -s 3
        let get = GetFeatures::controller(FeatureId::HCTM, Select::Supported);
        assert_eq!(AdminCommand::GetFeatures(get).encode().dword(10), 0x310);

        // nvme set-feature -f 0x10 -v 0x01530158 -s
        let set = SetFeatures::controller(FeatureId::HCTM, 0x0153_0158, true);
        let set = AdminCommand::SetFeatures(set).encode();
        assert_eq!((set.dword(10), set.dword(11)), (0x8000_0010, 0x0153_0158));
    }

    #[test]
    fn long_pages_use_both_halves_of_the_length() {
        let command = GetLogPage::controller(LogId::PERSISTENT_EVENTS, 1 << 20).at(1 << 33);
        let sqe = AdminCommand::GetLogPage(command).encode();
        assert_eq!((sqe.dword(10) >> 16, sqe.dword(11) & 0xffff), (0xffff, 3));
        assert_eq!((sqe.dword(12), sqe.dword(13)), (0, 2));
        assert_eq!(AdminCommand::decode(&sqe), AdminCommand::GetLogPage(command));
    }

    /// Goal: a buffer that does not fit its command is found before the drive writes into it.
    #[test]
    fn commands_know_how_much_they_move() {
        let log = |len| AdminCommand::GetLogPage(GetLogPage::controller(LogId::SMART, len));
        assert_eq!(log(512).data_len(), Some(512));
        assert_eq!(log(510).data_len(), Some(512));
        assert_eq!(AdminCommand::Identify(Identify::controller()).data_len(), Some(4096));
        let get = |fid, select| AdminCommand::GetFeatures(GetFeatures::controller(fid, select)).data_len();
        assert_eq!(get(FeatureId::HCTM, Select::Current), Some(0));
        assert_eq!(get(FeatureId::APST, Select::Current), Some(256));
        assert_eq!(get(FeatureId::APST, Select::Supported), Some(0));
        assert_eq!(get(FeatureId(0xd0), Select::Current), None);
    }

    proptest! {
        /// What was read from any entry survives being sent.
        #[test]
        fn commands_round_trip(
            opcode in prop::sample::select(vec![0x02, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x14, 0x18, 0x7f, 0x80, 0xc0]),
            nsid in any::<u32>(), cdw in any::<[u32; 6]>(),
        ) {
            let sqe = Sqe { cdw, ..Sqe::new(opcode, nsid) };
            let command = AdminCommand::decode(&sqe);
            prop_assert_eq!(AdminCommand::decode(&command.encode()), command);
            prop_assert_eq!(command.opcode(), opcode);
        }
    }
}
