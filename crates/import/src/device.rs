//! Names of devices.

/// The controller in the name of an NVMe device, and what stands behind it: `nvme0` and `n1` of `nvme0n1`, `nvme0` and `c0n1` of
/// `nvme0c0n1`. `None` for other devices.
pub(super) fn nvme(name: &str) -> Option<(&str, &str)> {
    let digits = name.strip_prefix("nvme")?.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| name.split_at("nvme".len() + digits))
}
