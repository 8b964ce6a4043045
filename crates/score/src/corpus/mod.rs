//! The labelled corpus: runs of simulated drives as some tool might have logged them, each with its truth.
//!
//! Run number N is made from seed N and nothing else. Even numbers are there to tune on; odd numbers are only ever
//! scored. Both halves are drawn from the same [`recipe`].
//!
//! What is asked of a verdict was fixed before the scored half was scored: [`truth`] has the rules.

pub(crate) mod build;
pub(crate) mod draw;
pub(crate) mod foreign;
mod log;
pub(crate) mod recipe;
mod truth;

use trace::Trace;

pub(crate) use recipe::{Recipe, RecipeKind};
pub(crate) use truth::{Episode, TrueCause, Truth, composite_usable};

/// A log and what really happened.
pub(crate) struct Labelled {
    pub(crate) recipe: Recipe,
    pub(crate) trace: Trace,
    pub(crate) truth: Truth,
}

/// What run `number` of a corpus is made of.
pub(crate) fn drawn(foreign: bool, number: u64) -> Recipe {
    if foreign { foreign::recipe(number) } else { build::recipe(number) }
}

/// Run `number` of our own corpus.
pub(crate) fn labelled(number: u64) -> Labelled {
    label(drawn(false, number))
}

/// Run `number` of the foreign one.
pub(crate) fn foreign(number: u64) -> Labelled {
    label(drawn(true, number))
}

/// The run of any recipe.
pub(crate) fn label(recipe: Recipe) -> Labelled {
    let (trace, steps) = log::record(&recipe);
    let truth = truth::label(&recipe, &steps);
    Labelled { recipe, trace, truth }
}
