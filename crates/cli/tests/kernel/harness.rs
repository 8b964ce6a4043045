//! The harness itself: what it promises to the other cases.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::kernel::case::Case;
use crate::kernel::guest::{Guest, Kernel, again_if_the_kernel_hangs, on_each_kernel, scratch};
use crate::kernel::vssd::server::Bell;

on_each_kernel!(files_network_and_drives_reach_the_host);

fn files_network_and_drives_reach_the_host(kernel: Kernel) {
    let folder = scratch();
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

/// What a test that must fail says.
fn failure(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).expect_err("it must not pass");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn what_goes_wrong_in_a_guest_fails_the_test_and_says_where() {
    let text = failure(|| drop(Guest::on(Kernel::V6_12).script("echo c >/proc/sysrq-trigger").run()));
    assert!(text.contains("ended in its script") && text.contains("sysrq triggered crash"), "{text}");
    let text = failure(|| drop(Guest::on(Kernel::V6_12).broken_starts(3).run()));
    assert!(text.contains("died before its script began") && text.contains("Kernel panic"), "{text}");
}

/// Goal: a boot that fails costs no test. Method: two of them; the third start is whole, and gets as far as its script,
/// which has no end.
#[test]
fn a_guest_that_dies_at_boot_is_started_again() {
    let endless = Guest::on(Kernel::V6_1).broken_starts(2).script("while true; do usleep 100000; done");
    let text = failure(|| drop(endless.timeout(Duration::from_secs(1)).run()));
    assert!(text.contains("the guest took over 1s"), "{text}");
}

/// Goal: a kernel that hangs costs no test, once. Method: guests that end with what a kernel says of a worker that hangs.
#[test]
fn a_test_whose_kernel_hangs_runs_once_more() {
    let hangs = "echo '<3>INFO: task kworker/0:0:7 blocked for more than 120 seconds.' >/dev/kmsg
        section here; echo here; echo c >/proc/sysrq-trigger";
    let mut runs = 0;
    again_if_the_kernel_hangs(|| {
        runs += 1;
        drop(Guest::on(Kernel::V6_1).script(if runs == 1 { hangs } else { "true" }).run());
    });
    assert_eq!(runs, 2);
    let text = failure(|| {
        again_if_the_kernel_hangs(|| drop(Guest::on(Kernel::V6_1).script(hangs).run()));
    });
    assert!(text.contains("hung twice") && text.contains("kworker/0:0:7"), "{text}");
    let other = failure(|| again_if_the_kernel_hangs(|| panic!("for another reason, after {runs}")));
    assert_eq!(other, "for another reason, after 2");
}

#[test]
fn a_case_that_fails_is_named_and_hides_no_other() {
    let mut checked = false;
    let cases = vec![
        Case::new("by-script", "section reading; cat /no/such/file; section never", |_| ()),
        Case::new("by-check", "section here; echo here", |output| {
            assert_eq!(output.section("here"), "there\n");
        }),
        Case::new("well", "section here; echo here; cd /; false || true", |_| checked = true),
    ];
    let text = failure(|| Guest::on(Kernel::V6_12).run_cases(cases));
    assert!(text.contains("by-script: ") && text.contains("out/by-script/reading.err"), "{text}");
    assert!(text.contains("/no/such/file") && !text.contains("never"), "{text}");
    assert!(text.contains("by-check: ") && text.contains("there") && !text.contains("well: "), "{text}");
    assert!(checked, "{text}");
}
