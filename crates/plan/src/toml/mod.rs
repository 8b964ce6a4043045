//! The plan format of our own: TOML, both ways.
//!
//! `docs/PLANS.md` documents it for people. [`Plan::from_toml`] and [`Plan::to_toml`] are inverses: what is
//! written has everything filled in, so that a plan taken out of a record runs the same thing again.
//!
//! It checks only what can be said without a target; the rest is [`super::check`].

mod read;
mod shape;
mod table;
#[cfg(test)]
mod test;
mod write;

use super::{Plan, PlanError};
pub(crate) use write::whole_bytes;

impl Plan {
    /// Reads a plan from TOML. `file` is for errors; its stem is the name of a plan that has none.
    ///
    /// # Errors
    /// [`PlanError::Line`] at the first thing that is not understood, with the nearest valid names.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, PlanError> {
        read::plan(text, file)
    }

    /// The plan as TOML with everything filled in.
    pub fn to_toml(&self) -> String {
        write::plan(self)
    }
}

/// Words of the format and what they stand for, shared by both directions.
mod words {
    use crate::{Data, Mix, Order, Sharing};

    /// Operations that name order and mix in one word.
    pub(super) const OPS: [(&str, (Order, Mix)); 6] = [
        ("read", (Order::Sequential, Mix::READ)),
        ("write", (Order::Sequential, Mix::WRITE)),
        ("randread", (Order::Random, Mix::READ)),
        ("randwrite", (Order::Random, Mix::WRITE)),
        ("trim", (Order::Sequential, Mix::TRIM)),
        ("randtrim", (Order::Random, Mix::TRIM)),
    ];
    pub(super) const ORDERS: [(&str, Order); 2] =
        [("sequential", Order::Sequential), ("random", Order::Random)];
    pub(super) const SHARINGS: [(&str, Sharing); 2] =
        [("split", Sharing::Split), ("overlap", Sharing::Overlap)];
    pub(super) const DATA: [(&str, Data); 2] =
        [("incompressible", Data::Incompressible), ("zeroes", Data::Zeroes)];

    /// The word for a value of one of the lists above, all of whose values have one.
    pub(super) fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
        words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
    }
}
