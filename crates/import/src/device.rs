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

/// What to say where a file has nothing of the device that a user named, but of these.
pub(super) fn nothing_of(wanted: &str, there_are: &str) -> String {
    format!("it has nothing of {wanted}; there are {there_are}")
}

/// The controller that a file's name tells: `nvme0` of `smart/nvme0n1-2026-11-21.json`. Of several none is told.
pub(super) fn in_file_name(file: &str) -> Option<String> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut found = words.filter_map(|word| {
        let (controller, namespace) = nvme(word)?;
        let is_namespace = |c: char| c == 'c' || c == 'n' || c.is_ascii_digit();
        (namespace.is_empty() || namespace.contains('n') && namespace.chars().all(is_namespace))
            .then_some(controller)
    });
    let first = found.next()?;
    found.all(|other| other == first).then(|| first.to_owned())
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

    #[test]
    fn a_file_name_tells_a_device() {
        for (name, device) in [
            ("nvme9/nvme0n1-2026-11-21.json", Some("nvme0")),
            ("smart_nvme10.json", Some("nvme10")),
            ("nvme0n1.nvme0.json", Some("nvme0")),
            ("nvme0-nvme1.json", None),
            ("nvme-1.json", None),
            ("nvme2024x.json", None),
            ("after.json", None),
        ] {
            assert_eq!(in_file_name(name).as_deref(), device, "{name}");
        }
    }
}
