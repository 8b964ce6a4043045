//! Whole runs on simulated drives, whose truth is known: what is found has to be what is so.
//!
//! Everything goes through the binary, as a user would do it: profile and plan in, findings out.

mod acceptance;
mod closed_loop;
mod determinism;
mod hot_room;
mod joint;
mod power;
mod seed_rows;
mod stalls;
mod steady;
