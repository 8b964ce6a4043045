//! Names of devices.

/// The controller in the name of an NVMe device, and what stands behind it: `nvme0` and `n1` of `nvme0n1`, `nvme0` and `c0n1` of
/// `nvme0c0n1`. `None` for other devices.
pub(super) fn nvme(name: &str) -> Option<(&str, &str)> {
    let digits = name.strip_prefix("nvme")?.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| name.split_at("nvme".len() + digits))
}

/// A device without its folder and namespace: `nvme0` of `/dev/nvme0n1` and of `nvme0c0n1`.
pub(super) fn controller(device: &str) -> String {
    let name = device.trim().trim_start_matches("/dev/");
    nvme(name).map_or(name, |(controller, _)| controller).to_owned()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_namespace_is_no_other_drive() {
        for name in ["nvme0", "/dev/nvme0", "nvme0n1", "/dev/nvme0n2", "nvme0c0n1"] {
            assert_eq!(controller(name), "nvme0");
        }
        assert_eq!(controller("nvme10n1"), "nvme10");
        assert_eq!(controller("/dev/sda [SAT]"), "sda [SAT]");
        assert_eq!(controller("nvme"), "nvme");
    }
}
