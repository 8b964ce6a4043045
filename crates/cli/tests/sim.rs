//! Whole runs on simulated drives: [`simulated`].

mod known;
mod simulated;
mod support;
