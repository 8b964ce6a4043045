//! The harness itself: what it promises to the other cases.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crate::guest::{Guest, Kernel, on_each_kernel};

on_each_kernel!(files_network_and_drives_reach_the_host);

fn files_network_and_drives_reach_the_host(kernel: Kernel) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder");
    std::fs::write(folder.path().join("there"), "from the host\n").expect("a scratch file");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let guest = Guest::on(kernel).nvme("NVME1").network().share(folder.path()).script(&format!(
        "section there; cat /share/there
         section back; echo from the guest >/share/back
         echo on the drive | dd of=/dev/nvme0n1 conv=sync oflag=direct bs=4096 2>/dev/null
         net_up; echo ping | nc $host {port}
         section status; status false"
    ));
    let output = thread::scope(|scope| {
        let run = scope.spawn(|| guest.run());
        let (mut stream, _) = listener.accept().expect("the guest connects");
        let mut word = [0; 5];
        stream.read_exact(&mut word).expect("it sends");
        stream.write_all(b"pong\n").expect("it listens");
        assert_eq!(&word, b"ping\n");
        drop(stream);
        run.join().expect("the guest ends well")
    });
    assert_eq!(output.section("there"), "from the host\n");
    assert_eq!(output.section("back"), "pong\n");
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
    assert!(text.contains("before its script") && text.contains("sysrq triggered crash"), "{text}");
    let text = failure(Guest::on(Kernel::V6_12).timeout_s(20).script("while true; do usleep 100000; done"));
    assert!(text.contains("the guest took over 20 s"), "{text}");
}
