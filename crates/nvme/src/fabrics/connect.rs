//! The data of Connect: who connects to what.

use zerocopy::little_endian::U16;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::identify::{put_text, text};
use crate::wire::{self, assert_layout};

/// Bytes of the data.
pub const CONNECT_DATA_LEN: usize = 1024;
/// Most bytes of a qualified name, without its ending zero.
const NQN_LEN_MAX: usize = 223;

/// Who connects to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectData {
    /// Identifier of the host; never all zero.
    pub host_id: [u8; 16],
    /// Controller to connect to, or FFFFh for a new one (admin queue only).
    pub controller_id: u16,
    /// Name of the subsystem.
    pub subsystem_nqn: String,
    /// Name of the host.
    pub host_nqn: String,
}

/// A parameter of Connect that is wrong, as the result of the completion tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectParameter {
    /// A byte of the command.
    Command(u16),
    /// A byte of the data.
    Data(u16),
}

impl ConnectParameter {
    /// The queue identifier in the command.
    pub const QUEUE_ID: Self = Self::Command(42);
    /// The queue size in the command.
    pub const QUEUE_SIZE: Self = Self::Command(44);
    /// The host identifier in the data.
    pub const HOST_ID: Self = Self::Data(0);
    /// The controller identifier in the data.
    pub const CONTROLLER_ID: Self = Self::Data(16);
    /// The subsystem's name in the data.
    pub const SUBSYSTEM_NQN: Self = Self::Data(256);
    /// The host's name in the data.
    pub const HOST_NQN: Self = Self::Data(512);

    /// Result of the completion: byte offset in 15:0, bit 16 set when it is an offset into the data.
    pub const fn encode(self) -> u32 {
        match self {
            Self::Command(offset) => offset as u32,
            Self::Data(offset) => offset as u32 | 1 << 16,
        }
    }

    /// Decodes the result of the completion.
    pub const fn decode(dword: u32) -> Self {
        if dword & 1 << 16 == 0 { Self::Command(dword as u16) } else { Self::Data(dword as u16) }
    }
}

impl ConnectData {
    /// Decodes the data.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 1024 bytes, [`DecodeError::Value`] for a name that does
    /// not end within its field, which the specification limits to 223 bytes and a zero.
    pub fn decode(data: &[u8]) -> Result<Self, DecodeError> {
        let wire: &ConnectWire = wire::layout(WHAT, data)?;
        check_nqn("SUBNQN", &wire.subnqn)?;
        check_nqn("HOSTNQN", &wire.hostnqn)?;
        Ok(Self {
            host_id: wire.hostid,
            controller_id: wire.cntlid.get(),
            subsystem_nqn: text(&wire.subnqn),
            host_nqn: text(&wire.hostnqn),
        })
    }

    /// Encodes the data; names are cut off at 223 bytes.
    pub fn encode(&self) -> [u8; CONNECT_DATA_LEN] {
        let mut wire = ConnectWire::new_zeroed();
        wire.hostid = self.host_id;
        wire.cntlid = self.controller_id.into();
        put_text(&mut wire.subnqn[..NQN_LEN_MAX], &self.subsystem_nqn, 0);
        put_text(&mut wire.hostnqn[..NQN_LEN_MAX], &self.host_nqn, 0);
        zerocopy::transmute!(wire)
    }
}

const WHAT: &str = "the data of Connect";

fn check_nqn(field: &'static str, nqn: &[u8]) -> Result<(), DecodeError> {
    let len = nqn.iter().position(|byte| *byte == 0).unwrap_or(nqn.len());
    if len <= NQN_LEN_MAX {
        return Ok(());
    }
    Err(DecodeError::Value { what: WHAT, field, value: len as u64, why: "a name has at most 223 bytes" })
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct ConnectWire {
    hostid: [u8; 16],
    cntlid: U16,
    reserved18: [u8; 238],
    subnqn: [u8; 256],
    hostnqn: [u8; 256],
    reserved768: [u8; 256],
}
assert_layout!(ConnectWire, 1024, { cntlid: 16, subnqn: 256, hostnqn: 512, reserved768: 768 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_lie_where_the_specification_puts_them() {
        let connect = ConnectData {
            host_id: [7; 16],
            controller_id: 0xffff,
            subsystem_nqn: "nqn.2026-01.org.example:ssd1".to_owned(),
            host_nqn: "nqn.2014-08.org.nvmexpress:uuid:0".to_owned(),
        };
        let data = connect.encode();
        assert_eq!((data[15], data[16], data[256], data[512]), (7, 0xff, b'n', b'n'));
        assert_eq!(ConnectData::decode(&data), Ok(connect));
        assert!(ConnectData::decode(&data[..1023]).is_err());
    }

    #[test]
    fn a_name_without_end_is_refused() {
        let mut data = [b'x'; CONNECT_DATA_LEN];
        assert!(matches!(ConnectData::decode(&data), Err(DecodeError::Value { field: "SUBNQN", .. })));
        data[256 + 223] = 0;
        assert!(matches!(ConnectData::decode(&data), Err(DecodeError::Value { field: "HOSTNQN", .. })));
    }

    #[test]
    fn a_bad_name_is_told_as_the_kernel_reads_it() {
        assert_eq!(ConnectParameter::SUBSYSTEM_NQN.encode(), 0x0001_0100);
        assert_eq!(ConnectParameter::decode(0x0001_0100), ConnectParameter::SUBSYSTEM_NQN);
        assert_eq!(ConnectParameter::decode(42), ConnectParameter::QUEUE_ID);
    }

    proptest! {
        #[test]
        fn decoded_data_round_trips(mut data in prop::collection::vec(any::<u8>(), CONNECT_DATA_LEN)) {
            data[256 + 100] = 0;
            data[512 + 100] = 0;
            let connect = ConnectData::decode(&data).expect("names end");
            prop_assert_eq!(ConnectData::decode(&connect.encode()), Ok(connect));
        }
    }
}
