//! The profiles that come with the tool, by name.

use std::sync::LazyLock;

use measure::nearest::did_you_mean;

use super::{Profile, ProfileError, power_table};

/// Name and text of the built-in profiles that have a file each; those of the power table follow them.
const BUILTIN: [(&str, &str); 12] = [
    ("ssd1", include_str!("../../profiles/ssd1.toml")),
    ("ssd2", include_str!("../../profiles/ssd2.toml")),
    ("exceria-g2-usb10", EXCERIA),
    ("usb-stick-usb10", STICK),
    ("om8tap4", include_str!("../../profiles/om8tap4.toml")),
    ("slc", include_str!("../../profiles/slc.toml")),
    ("relay", include_str!("../../profiles/relay.toml")),
    ("two-level", include_str!("../../profiles/two-level.toml")),
    ("regulator", include_str!("../../profiles/regulator.toml")),
    ("duty-cycled", include_str!("../../profiles/duty-cycled.toml")),
    ("vendor", include_str!("../../profiles/vendor.toml")),
    ("stop", include_str!("../../profiles/stop.toml")),
];

const EXCERIA: &str = include_str!("../../profiles/exceria-g2-usb10.toml");
const STICK: &str = include_str!("../../profiles/usb-stick-usb10.toml");

/// The same drives under other conditions: name, text, and what differs.
type Variant = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const VARIANTS: [Variant; 3] = [
    (
        "exceria-g2-usb10-fan",
        EXCERIA,
        &[
            ("name = \"exceria-g2-usb10\"", "name = \"exceria-g2-usb10-fan\""),
            ("without fan; held near 82 °C by itself", "with a fan blowing at it; never throttles"),
            (
                "airflow = 1.0                        # chosen: the resistances are for still air",
                "airflow = 3.0                        # chosen: a fan; how much it does is not stated",
            ),
        ],
    ),
    (
        "exceria-g2-usb5",
        EXCERIA,
        &[
            ("name = \"exceria-g2-usb10\"", "name = \"exceria-g2-usb5\""),
            (
                "USB 10 Gb/s case without fan; held near 82 °C by itself",
                "USB 5 Gb/s case without fan; never throttles",
            ),
            (
                "link_bytes_per_s = 7.0e8             # derived: stated 700 MB/s to the end when cooled, so the link is what limits",
                "link_bytes_per_s = 4.3e8             # chosen: 5 Gb/s after 8b/10b and protocol, usual of UAS; only \"lower\" is stated",
            ),
        ],
    ),
    (
        "usb-stick-usb5",
        STICK,
        &[
            ("name = \"usb-stick-usb10\"", "name = \"usb-stick-usb5\""),
            (
                "USB 10 Gb/s SSD with hardly any surface; throttles hard and long",
                "USB 5 Gb/s SSD; never throttles",
            ),
            (
                "link_bytes_per_s = 1.0e9             # chosen: 10 Gb/s after line code and protocol",
                "link_bytes_per_s = 3.8e8             # chosen: 5 Gb/s after 8b/10b and protocol of a simple bridge",
            ),
        ],
    ),
];

static VARIED: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let varied = |(name, text, changes): Variant| {
        (name, changes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to)))
    };
    VARIANTS.into_iter().map(varied).collect()
});

impl Profile {
    /// The built-in profile called `name`.
    ///
    /// # Errors
    /// An unknown name, with the nearest ones.
    pub fn builtin(name: &str) -> Result<Self, ProfileError> {
        match Self::builtin_toml(name) {
            Some(text) => Self::from_toml(text),
            None => Err(ProfileError::Unknown {
                name: name.to_owned(),
                hint: did_you_mean(name, Self::builtin_names()),
                all: Self::builtin_names().count(),
            }),
        }
    }

    /// The text of the built-in profile called `name`, with its comments.
    pub fn builtin_toml(name: &str) -> Option<&'static str> {
        all().find(|(known, _)| *known == name).map(|(_, text)| text)
    }

    /// Names of all built-in profiles.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        all().map(|(name, _)| name)
    }
}

fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let varied = VARIED.iter().map(|(name, text)| (*name, text.as_str()));
    BUILTIN.into_iter().chain(varied).chain(power_table::texts())
}
