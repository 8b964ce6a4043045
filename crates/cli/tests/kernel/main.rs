//! The tool inside a QEMU guest with Debian's stock kernels, beside nvme-cli, smartctl and fio.
//!
//! Run by `cargo xtask test kernel`, which prepares the guest; a plain `cargo test` leaves this target
//! out. How to add a case: docs/HACKING.md.

mod bulk_only;
mod case;
mod drives;
mod features;
mod guarded;
mod guest;
mod harness;
mod output;
mod resets;
mod runs;
#[path = "../support/schema.rs"]
#[expect(dead_code, reason = "shared with targets that know which command wrote a document")]
mod schema;
mod settings;
mod trim;
mod vssd;
mod watch;
