//! The real binary in scratch folders: help, exit codes, and what it leaves behind.

mod help;
mod show;
mod support;
