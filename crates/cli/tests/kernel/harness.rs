//! The harness itself: what it promises to the other cases.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::guest::{Guest, Kernel, on_each_kernel};
use crate::vssd::server::Bell;

on_each_kernel!(files_network_and_drives_reach_the_host);

fn files_network_and_drives_reach_the_host(kernel: Kernel) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder");
    std::fs::write(folder.path().join("there"), "from the host\n").expect("a scratch file");
    let bell = Bell::new();
    let guest = Guest::on(kernel).nvme("NVME1").network().share(folder.path()).script(&format!(
        "section there; cat /share/there
         section back; echo from the guest >/share/back
         echo on the drive | dd of=/dev/nvme0n1 conv=sync oflag=direct bs=4096 2>/dev/null
         net_up; {}
         section status; status false",
        bell.ring()
    ));
    let mut rung = false;
    let output = bell.answer(guest, || rung = true);
    assert!(rung, "the guest did not ring");
    assert_eq!(output.section("there"), "from the host\n");
    assert_eq!(output.section("back"), "done\n");
    assert_eq!(output.section("status"), "status 1\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("back")).ok().as_deref(), Some("from the guest\n"));
    let drive = std::fs::read(output.image("NVME1")).expect("the drive's file");
    assert!(drive.starts_with(b"on the drive\n\0"), "{:?}", &drive[..16]);
}

#[test]
fn what_goes_wrong_in_a_guest_fails_the_test_and_says_where() {
    let failure = |guest: Guest| {
        let panic = catch_unwind(AssertUnwindSafe(|| drop(guest.run()))).expect_err("it must not pass");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let script = "section reading; cat /no/such/file; section never";
    let text = failure(Guest::on(Kernel::V6_12).script(script));
    assert!(text.contains("out/reading.err") && text.contains("/no/such/file"), "{text}");
    let text = failure(Guest::on(Kernel::V6_12).script("echo c >/proc/sysrq-trigger"));
    assert!(text.contains("ended in its script") && text.contains("sysrq triggered crash"), "{text}");
    let limit = Duration::from_secs(1);
    let text = failure(Guest::on(Kernel::V6_12).timeout(limit).script("while true; do usleep 100000; done"));
    assert!(text.contains("the guest took over 1s"), "{text}");
    let text = failure(Guest::on(Kernel::V6_12).broken_starts(3).script("section never"));
    assert!(text.contains("died before its script began") && text.contains("Kernel panic"), "{text}");
}

/// Goal: a boot that fails costs no test. Method: two of them; the third start is whole.
#[test]
fn a_guest_that_dies_at_boot_is_started_again() {
    let output = Guest::on(Kernel::V6_1).broken_starts(2).script("section here; echo here").run();
    assert_eq!(output.section("here"), "here\n");
}
