//! The plan format of our own: TOML, both ways.
//!
//! `docs/PLANS.md` documents it for people. [`Plan::from_toml`] and [`Plan::to_toml`] are inverses: what is
//! written has everything filled in, so that a plan taken out of a record runs the same thing again.
//! Serde reads and writes it by the types of a plan, so that a key has its name in one place:
//! - `quantity`: values that are typed with a unit or have limits.
//! - `phase`: a phase, whose table has the keys of its one load as well.
//! - `settings`: other tables that are not laid out as they are in memory.
//! - `mistake`: what serde refuses, with its place and what would be right.
//! - `layout`: which tables get a heading of their own.
//!
//! It checks only what can be said without a target; the rest is [`super::check`].

mod layout;
mod mistake;
pub(crate) mod phase;
pub(crate) mod quantity;
pub(crate) mod settings;
#[cfg(test)]
mod test;

use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use super::{Plan, PlanError};
pub(crate) use quantity::whole_bytes;

impl Plan {
    /// Reads a plan from TOML. `file` is for errors; its stem is the name of a plan that has none.
    ///
    /// # Errors
    /// [`PlanError::Line`] at the first thing that is not understood, with the nearest valid names.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, PlanError> {
        let document = DeTable::parse(text)
            .map_err(|error| mistake::at(text, file, error.span(), error.message().trim()))?;
        let mut plan = Self::deserialize(Deserializer::from(document.clone()))
            .map_err(|error| mistake::explain(text, file, &error, document.get_ref()))?;
        if !document.get_ref().contains_key("name") {
            plan.name = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(file).to_owned();
        }
        if plan.phases.is_empty() && plan.rounds.is_none() {
            let why = "the plan has no [[phase]], so there is nothing to do; docs/PLANS.md has examples";
            return Err(mistake::at(text, file, None, why));
        }
        if let Some(rounds) = &mut plan.rounds {
            let key = document.get_ref().get("rounds").and_then(|table| table.get_ref().get("until_steady"));
            let place = key.map(toml::Spanned::span);
            rounds.append_to(&mut plan.phases).map_err(|why| mistake::at(text, file, place, why))?;
        }
        Ok(plan)
    }

    /// The plan as TOML with everything filled in.
    pub fn to_toml(&self) -> String {
        let mut once = self.clone();
        if let Some(rounds) = &self.rounds {
            once.phases.truncate(rounds.first());
        }
        let table = toml::Table::try_from(once).expect("every value of a plan is one of TOML");
        layout::document(&table)
    }
}
