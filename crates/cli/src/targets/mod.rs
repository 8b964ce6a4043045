//! Targets that need more than one of our crates.

pub(crate) mod twin;
