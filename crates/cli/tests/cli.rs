//! The binary as a user meets it: [`commands`].

mod commands;
mod support;
