//! The real binary in scratch folders: help, exit codes, and what it leaves behind.

mod data;
mod explain;
mod export;
mod file_run;
mod folders;
mod forecast;
mod found;
mod govern;
mod help;
mod hostile_names;
mod logs;
mod meter;
mod run;
mod settings;
mod show;
mod sweep;
mod trim;
mod validate;
mod watch;
mod words;
