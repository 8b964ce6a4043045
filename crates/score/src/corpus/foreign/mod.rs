//! Drives and rooms that share nothing with `physics`: the foreign half of the corpus.
//!
//! A corpus made by the model that explains it shows that the two agree, and no more. Here heat flows through a ladder of
//! two to five nodes, power leaks more as it gets hot and bends with speed, fans switch, neighbours warm the air, sensors
//! lag, come late, show 2 or 5 K steps and drop readings; firmware has thresholds at any number and goes down in stairs.
//! Settings travel in a [`Profile`](physics::Profile), as the labels ask for them there; nothing else of it is used.

mod draw;
mod drive;
pub(crate) mod world;

pub(super) use draw::{op as foreign_op, recipe};
pub(crate) use drive::ForeignDrive;
pub(crate) use world::World;
