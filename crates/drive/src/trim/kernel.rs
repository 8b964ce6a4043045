//! How the kernel discards on a SCSI disk, from sysfs: what it believes of the device and what it would send.
//!
//! Layout: Linux `Documentation/ABI/testing/sysfs-class-scsi_disk` and `stable/sysfs-block`. How the kernel comes to it:
//! `drivers/scsi/sd.c`, `sd_config_discard` and `sd_read_block_limits`; docs/TRIM.md tells it in words. sysfs is a
//! parameter, so that made-up trees serve as machines in tests.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sysfs::{entries, text};

/// By which command the kernel discards (`provisioning_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProvisioningMode {
    /// By none: it takes the device for one that cannot deallocate.
    Full,
    /// UNMAP.
    Unmap,
    /// WRITE SAME (16) with its UNMAP bit.
    #[serde(rename = "writesame_16")]
    WriteSame16,
    /// WRITE SAME (10) with its UNMAP bit.
    #[serde(rename = "writesame_10")]
    WriteSame10,
    /// WRITE SAME with zeroes.
    #[serde(rename = "writesame_zero")]
    WriteSameZero,
    /// By none: the device refused.
    Disabled,
}

impl ProvisioningMode {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Full, Self::Unmap, Self::WriteSame16, Self::WriteSame10, Self::WriteSameZero, Self::Disabled];

    /// The kernel's word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Unmap => "unmap",
            Self::WriteSame16 => "writesame_16",
            Self::WriteSame10 => "writesame_10",
            Self::WriteSameZero => "writesame_zero",
            Self::Disabled => "disabled",
        }
    }

    /// Whether the kernel sends anything in it.
    pub const fn discards(self) -> bool {
        !matches!(self, Self::Full | Self::Disabled)
    }
}

impl fmt::Display for ProvisioningMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for ProvisioningMode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|mode| mode.word() == text).ok_or(())
    }
}

/// What the kernel made of a disk. What sysfs does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelDiscard {
    /// LBPME as the kernel saw it.
    pub thin_provisioning: Option<bool>,
    /// By which command it discards; `null` for a word that is not known.
    pub provisioning_mode: Option<ProvisioningMode>,
    /// Most bytes that it sends in one discard; 0 where it sends none.
    pub discard_max_bytes: Option<u64>,
    /// The same as it took it from the device or from its own default.
    pub discard_max_hw_bytes: Option<u64>,
    /// Unit of deallocation that it assumes.
    pub discard_granularity_bytes: Option<u64>,
    /// Where its two knobs are.
    #[serde(skip)]
    pub knobs: DiscardKnobs,
}

/// The kernel's two knobs of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscardKnobs {
    /// `provisioning_mode`; `None` for what is no SCSI disk.
    pub mode: Option<PathBuf>,
    /// `queue/discard_max_bytes`.
    pub max_bytes: PathBuf,
}

impl KernelDiscard {
    /// Of the disk `name`, such as `sda`, below `sys`.
    pub fn read(sys: &Path, name: &str) -> Self {
        let Ok(disk) = fs::canonicalize(sys.join("class/block").join(name)) else { return Self::default() };
        let queue = disk.join("queue");
        let number = |name: &str| text(&queue.join(name))?.parse::<u64>().ok();
        // `scsi_disk` has one folder, which is named by the unit's address.
        let classes = disk.join("device/scsi_disk");
        let class = entries(&classes).first().map(|unit| classes.join(unit));
        let of_class = |name: &str| text(&class.as_ref()?.join(name));
        Self {
            thin_provisioning: of_class("thin_provisioning").map(|text| text == "1"),
            provisioning_mode: of_class("provisioning_mode").and_then(|text| text.parse().ok()),
            discard_max_bytes: number("discard_max_bytes"),
            discard_max_hw_bytes: number("discard_max_hw_bytes"),
            discard_granularity_bytes: number("discard_granularity"),
            knobs: DiscardKnobs {
                mode: class.map(|class| class.join("provisioning_mode")),
                max_bytes: queue.join("discard_max_bytes"),
            },
        }
    }

    /// Whether a discard would be sent now.
    pub fn sends(&self) -> bool {
        self.discard_max_bytes.is_some_and(|most| most > 0)
            && self.provisioning_mode.is_none_or(ProvisioningMode::discards)
    }
}
