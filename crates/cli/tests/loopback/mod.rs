//! The virtual SSD on loopback with known truth <- our initiator <- capture <- analysis: what is found has to be
//! what is so. And what hosts must not be able to do to a server, over real sockets.
//!
//! Real time passes here, so drives live faster than that: see `drive`. Nothing sleeps: a run takes its time, and
//! everything else waits for what it waits for.

mod auth;
mod drive;
mod forecast;
mod hostile;
mod initiator;
mod kills;
mod lifetime;
mod mischief;
mod remote;
mod remote_watch;
mod serve;
mod settings;
mod silent;
mod truth;
