//! The profiles that come with the tool, by name.

use super::{Profile, ProfileError};

/// Name and text of every built-in profile, in the order they are listed.
const BUILTIN: [(&str, &str); 9] = [
    ("ssd1", include_str!("../../profiles/ssd1.toml")),
    ("ssd2", include_str!("../../profiles/ssd2.toml")),
    ("slc", include_str!("../../profiles/slc.toml")),
    ("relay", include_str!("../../profiles/relay.toml")),
    ("two-level", include_str!("../../profiles/two-level.toml")),
    ("regulator", include_str!("../../profiles/regulator.toml")),
    ("duty-cycled", include_str!("../../profiles/duty-cycled.toml")),
    ("vendor", include_str!("../../profiles/vendor.toml")),
    ("stop", include_str!("../../profiles/stop.toml")),
];

/// How alike two names must be to be proposed (Jaro-Winkler; 0.7 catches one wrong letter in four).
const NEAR: f64 = 0.7;

impl Profile {
    /// The built-in profile called `name`.
    ///
    /// # Errors
    /// An unknown name, with the nearest ones.
    pub fn builtin(name: &str) -> Result<Self, ProfileError> {
        match BUILTIN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::from_toml(text),
            None => Err(ProfileError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name),
                all: Self::builtin_names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// The text of the built-in profile called `name`, with its comments.
    pub fn builtin_toml(name: &str) -> Option<&'static str> {
        BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Names of all built-in profiles.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }
}

fn nearest(name: &str) -> String {
    let mut near: Vec<_> = Profile::builtin_names()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    match near.as_slice() {
        [] => String::new(),
        some => {
            let names: Vec<_> = some.iter().take(3).map(|(_, known)| *known).collect();
            format!("; did you mean {}?", names.join(", "))
        }
    }
}
