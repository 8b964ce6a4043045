//! The USB bridge that a disk is behind, as sysfs shows it: who it is, by which protocol it is spoken to, and what link
//! it has beside what link it could have.
//!
//! Layout: Linux `Documentation/ABI/stable/sysfs-bus-usb` and `testing/sysfs-bus-usb`; descriptors: USB 3.2, section 9.6.
//! Nothing is opened but sysfs, whose folder is a parameter.
//!
//! # What it does not do
//! It knows no drive behind a bridge: that is told by SMART alone. The table of chips is short, and a chip that it does
//! not have is `None`: one USB id can be several products.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::sysfs::text;

/// Mass storage, SCSI transparent command set (USB Mass Storage Class Overview 1.4).
const MASS_STORAGE_SCSI: [u8; 2] = [0x08, 0x06];
/// Protocols of it.
const BULK_ONLY: u8 = 0x50;
const UAS: u8 = 0x62;
/// Descriptor types, USB 3.2, table 9-6.
const INTERFACE: u8 = 0x04;
const DEVICE_CAPABILITY: u8 = 0x10;
/// Device capabilities, USB 3.2, table 9-14.
const SUPERSPEED: u8 = 0x03;
const SUPERSPEED_PLUS: u8 = 0x0a;

/// Chips by USB vendor and product, as far as bridges for SSDs are known by them.
/// Sources: smartmontools' `drivedb.h` (USB section) and the makers' own ids in it.
const CHIPS: [(&str, &str, &str, BridgedWorld); 16] = [
    ("0bda", "9210", "Realtek RTL9210", BridgedWorld::NvmeOrSata),
    ("0bda", "9211", "Realtek RTL9211", BridgedWorld::NvmeOrSata),
    ("0bda", "9220", "Realtek RTL9220", BridgedWorld::Nvme),
    ("174c", "2362", "ASMedia ASM2362", BridgedWorld::Nvme),
    ("174c", "2364", "ASMedia ASM2364", BridgedWorld::Nvme),
    ("174c", "2464", "ASMedia ASM2464PD", BridgedWorld::Nvme),
    ("174c", "55aa", "ASMedia ASM1051/1053/1153", BridgedWorld::Sata),
    ("174c", "235c", "ASMedia ASM235CM", BridgedWorld::Sata),
    ("152d", "0583", "JMicron JMS583", BridgedWorld::NvmeOrSata),
    ("152d", "0581", "JMicron JMS581", BridgedWorld::NvmeOrSata),
    ("152d", "a583", "JMicron JMS583", BridgedWorld::Nvme),
    ("152d", "0578", "JMicron JMS578", BridgedWorld::Sata),
    ("152d", "1561", "JMicron JMS561", BridgedWorld::Sata),
    ("152d", "0562", "JMicron JMS562/567/583", BridgedWorld::NvmeOrSata),
    ("2109", "0715", "VIA VL715/716", BridgedWorld::Sata),
    ("1f75", "0611", "Innostor IS611", BridgedWorld::Sata),
];

/// What drives a chip bridges to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BridgedWorld {
    /// NVMe drives.
    Nvme,
    /// SATA drives.
    Sata,
    /// Either, under one id.
    NvmeOrSata,
}

/// By which protocol a bridge is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsbProtocol {
    /// USB Attached SCSI: many commands at once.
    Uas,
    /// Bulk-Only Transport: one command at a time.
    BulkOnly,
}

impl UsbProtocol {
    /// Its short name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uas => "UAS",
            Self::BulkOnly => "BOT",
        }
    }
}

/// A bridge and its link. What sysfs does not have is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsbBridge {
    /// Vendor id, four hexadecimal digits.
    pub vendor_id: String,
    /// Product id, four hexadecimal digits.
    pub product_id: String,
    /// Its version (bcdDevice), four digits: one id can be several products.
    pub version: Option<String>,
    /// Maker, as it says itself.
    pub manufacturer: Option<String>,
    /// Product, as it says itself.
    pub product: Option<String>,
    /// The enclosure's serial number.
    pub serial: Option<String>,
    /// Its chip, where the id is known.
    pub chip: Option<&'static str>,
    /// What that chip bridges to.
    pub world: Option<BridgedWorld>,
    /// Protocol in use.
    pub protocol: Option<UsbProtocol>,
    /// Whether it offers UAS.
    pub offers_uas: Option<bool>,
    /// Negotiated speed, in Mb/s: 480, 5000, 10000, 20000.
    pub speed_mbps: Option<u32>,
    /// What the bridge itself can do, in Mb/s; `null` where its descriptors do not say.
    pub able_mbps: Option<u32>,
    /// What the hub or port before it runs at, in Mb/s.
    pub port_mbps: Option<u32>,
    /// Lanes in use.
    pub lanes: Option<u32>,
    /// Current it asks the port for, in mA.
    pub max_power_ma: Option<u32>,
    /// Commands that the kernel has under way at most.
    pub queue_depth: Option<u32>,
    /// The kernel's name of it: `2-1`.
    pub port: String,
}

impl UsbBridge {
    /// The bridge of the disk `name` below `sys`; `None` for a disk behind none.
    pub fn of_disk(sys: &Path, name: &str) -> Option<Self> {
        let place = fs::canonicalize(sys.join("class/block").join(name)).ok()?;
        let device = place.ancestors().find(|folder| folder.join("idVendor").is_file())?;
        Self::at(device, &place)
    }

    /// One of which nothing but its id is known.
    #[cfg(any(test, feature = "fakes"))]
    pub fn unknown(vendor_id: &str, product_id: &str) -> Self {
        Self {
            vendor_id: vendor_id.to_owned(),
            product_id: product_id.to_owned(),
            version: None,
            manufacturer: None,
            product: None,
            serial: None,
            chip: None,
            world: None,
            protocol: None,
            offers_uas: None,
            speed_mbps: None,
            able_mbps: None,
            port_mbps: None,
            lanes: None,
            max_power_ma: None,
            queue_depth: None,
            port: String::new(),
        }
    }

    /// The bridge whose folder is `device`, of the disk at `place`.
    pub(crate) fn at(device: &Path, place: &Path) -> Option<Self> {
        let of = |name: &str| text(&device.join(name));
        let number = |name: &str| of(name)?.parse::<f64>().ok().map(|value| value as u32);
        let (vendor_id, product_id) = (of("idVendor")?, of("idProduct")?);
        let chip = known_chip(&vendor_id, &product_id);
        let interface = place
            .ancestors()
            .take_while(|folder| *folder != device)
            .find(|folder| folder.join("bInterfaceProtocol").is_file());
        let protocol = interface.and_then(|folder| {
            let alternate = text(&folder.join("bInterfaceProtocol"));
            match u8::from_str_radix(&alternate?, 16).ok()? {
                UAS => Some(UsbProtocol::Uas),
                BULK_ONLY => Some(UsbProtocol::BulkOnly),
                _ => None,
            }
        });
        let descriptors = fs::read(device.join("descriptors")).ok();
        let capabilities = fs::read(device.join("bos_descriptors")).ok();
        Some(Self {
            chip: chip.map(|(chip, _)| chip),
            world: chip.map(|(_, world)| world),
            version: of("bcdDevice"),
            manufacturer: of("manufacturer"),
            product: of("product"),
            serial: of("serial"),
            protocol,
            offers_uas: descriptors.map(|bytes| offers_uas(&bytes)),
            speed_mbps: number("speed"),
            able_mbps: capabilities.and_then(|bytes| able_mbps(&bytes)),
            port_mbps: device.parent().and_then(|hub| text(&hub.join("speed"))?.parse().ok()),
            lanes: number("rx_lanes"),
            max_power_ma: of("bMaxPower").and_then(|text| text.trim_end_matches("mA").parse().ok()),
            queue_depth: text(&place.join("device/queue_depth")).and_then(|text| text.parse().ok()),
            port: device.file_name()?.to_str()?.to_owned(),
            vendor_id,
            product_id,
        })
    }

    /// Its id as it is written everywhere: `0bda:9210`.
    pub fn id(&self) -> String {
        format!("{}:{}", self.vendor_id, self.product_id)
    }

    /// What to remember about it under: id and version, because one id is not one product.
    pub fn key(&self) -> String {
        format!("bridge {}", self.id_and_version())
    }

    /// Its id, and its version where there is one: `0bda:9210 2001`.
    pub fn id_and_version(&self) -> String {
        format!("{} {}", self.id(), self.version.as_deref().unwrap_or_default()).trim_end().to_owned()
    }

    /// In a line: chip or product, id, version.
    pub fn text(&self) -> String {
        let name = self.chip.map(str::to_owned).or_else(|| self.product.clone());
        let version = self.version.as_ref().map_or(String::new(), |version| format!(" version {version}"));
        format!("{} ({}{version})", name.as_deref().unwrap_or("unknown chip"), self.id())
    }

    /// The fastest link that bridge and port could have, in Mb/s, where that is more than they have.
    pub fn possible_mbps(&self) -> Option<u32> {
        let (speed, able) = (self.speed_mbps?, self.able_mbps?);
        (able > speed).then_some(able)
    }

    /// Why the link is slower than the bridge can; `None` where it is not.
    pub fn slow_link(&self) -> Option<String> {
        let (speed, able) = (self.speed_mbps?, self.possible_mbps()?);
        let where_it_is = match self.port_mbps {
            // A hub of USB 2 beside that of USB 3 is what every port has: a bad contact falls back to it.
            Some(port) if port <= speed && port > 480 => {
                format!("the port or hub before it runs at {port} Mb/s: use a faster port")
            }
            _ => "check cable, port and hub".to_owned(),
        };
        Some(format!("the bridge can do {able} Mb/s and is connected at {speed} Mb/s; {where_it_is}"))
    }
}

/// The chip of an id, and what it bridges to.
fn known_chip(vendor: &str, product: &str) -> Option<(&'static str, BridgedWorld)> {
    let is_it = |(known_vendor, known_product, ..): &&(&str, &str, &str, BridgedWorld)| {
        (*known_vendor, *known_product) == (vendor, product)
    };
    CHIPS.iter().find(is_it).map(|(_, _, chip, world)| (*chip, *world))
}

/// What the chip of an id bridges to.
#[cfg(test)]
pub(crate) fn world_of(vendor: &str, product: &str) -> Option<BridgedWorld> {
    known_chip(vendor, product).map(|(_, world)| world)
}

/// Whether a configuration has an interface of UAS among its alternate settings.
fn offers_uas(descriptors: &[u8]) -> bool {
    each_descriptor(descriptors).any(|one| {
        matches!(one, [_, INTERFACE, _, _, _, class, subclass, UAS, ..] if [*class, *subclass] == MASS_STORAGE_SCSI)
    })
}

/// The fastest speed that the capabilities of a binary object store name (USB 3.2, 9.6.2).
fn able_mbps(capabilities: &[u8]) -> Option<u32> {
    let one = |descriptor: &[u8]| match descriptor {
        // bmAttributes at 4, wFunctionalitySupport at 8, bmSublinkSpeedAttr from 12 on: exponent in bits 5:4, mantissa
        // in bits 31:16. Lanes: bits 11:8 and 15:12 of wFunctionalitySupport are the least of receive and transmit.
        [_, DEVICE_CAPABILITY, SUPERSPEED_PLUS, rest @ ..] => {
            let lanes = u32::from(rest.get(6).copied().unwrap_or(0x11) & 0x0f).max(1);
            let speeds = rest.get(9..).unwrap_or_default().as_chunks::<4>().0;
            let of = |speed: &[u8; 4]| {
                let word = u32::from_le_bytes(*speed);
                let mantissa = word >> 16;
                match word >> 4 & 3 {
                    2 => Some(mantissa),
                    3 => mantissa.checked_mul(1000),
                    _ => None,
                }
            };
            speeds.iter().filter_map(of).max().and_then(|speed| speed.checked_mul(lanes))
        }
        // wSpeedsSupported at 4: bit 3 is 5 Gb/s.
        [_, DEVICE_CAPABILITY, SUPERSPEED, _, speeds, ..] if speeds & 0x08 != 0 => Some(5000),
        _ => None,
    };
    each_descriptor(capabilities).filter_map(one).max()
}

/// Descriptors one after the other, each with its length first; ends where one has none.
fn each_descriptor(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let len = usize::from(*rest.first()?);
        let (one, after) = rest.split_at_checked(len).filter(|_| len >= 2)?;
        rest = after;
        Some(one)
    })
}

#[cfg(test)]
pub(crate) mod test;
