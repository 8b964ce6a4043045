//! The tool inside a QEMU guest with Debian's stock kernels, beside nvme-cli, smartctl and fio.
//!
//! Run by `cargo xtask test kernel`, which prepares the guest; a plain `cargo test` leaves this target
//! out. How to add a case: docs/HACKING.md.

#[expect(dead_code, reason = "shared with targets that run the binary outside of a guest")]
mod support;

/// What is tried in the guest, and how.
mod kernel {
    mod bulk_only;
    mod case;
    mod drives;
    mod features;
    mod govern;
    mod guarded;
    mod guest;
    mod harness;
    mod output;
    mod resets;
    mod runs;
    mod settings;
    mod trim;
    mod vssd;
    mod watch;
}
