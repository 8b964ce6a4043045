//! What was written to the virtual SSD is what is read, with trims in between, with and without digests.

use super::server::Vssd;
use crate::kernel::case::Case;
use crate::kernel::output::Output;

/// Goal: no block is lost, swapped or torn. Method: fio writes random sizes with a checksum in every block and reads
/// everything again: alone, beside trims of a neighbouring range, with a trim before each write, with both digests,
/// and in blocks that travel inside their commands.
pub(super) fn data_survive_random_sizes_and_trims<'a>(ssd1: &Vssd) -> Case<'a> {
    let fio = |name: &str, job: &str| {
        format!(
            "section fio-{name}
             fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --iodepth=16 --randseed=7 \\
                 --output-format=json --name={name} --verify=crc32c --verify_fatal=1 {job}\n"
        )
    };
    let sizes = "--rw=randwrite --size=24M --bsrange=512-256k --bs_unaligned=0 --verify_backlog=64";
    let first = [
        "dd if=/dev/urandom of=/dev/nvme0n1 bs=1M seek=32 count=16 oflag=direct 2>/dev/null\n".to_owned(),
        fio("beside-trims", &format!("{sizes} --name=trims --rw=randtrim --bs=64k --offset=32M --size=16M")),
        TRIMMED.to_owned(),
        fio("after-trims", "--rw=randtrimwrite --size=16M --bsrange=4k-256k"),
    ];
    let again = [
        ssd1.connect(0, "--hdr-digest --data-digest"),
        "wait_for test -b /dev/nvme0n1\n".to_owned(),
        fio("digests", sizes),
        fio("in-capsule", "--rw=randwrite --bs=4k --size=4M"),
        "section log; dmesg; nvme disconnect -d nvme0".to_owned(),
    ];
    let script = ssd1.while_connected(&first.concat()) + &again.concat();
    Case::new("data", script, nothing_is_lost_swapped_or_torn)
}

const TRIMMED: &str = "section trimmed
    dd if=/dev/nvme0n1 bs=1M skip=32 count=16 iflag=direct 2>/dev/null | tr -d '\\0' | wc -c
";

fn nothing_is_lost_swapped_or_torn(output: &Output) {
    for (name, bytes) in [("beside-trims", 24), ("after-trims", 16), ("digests", 24), ("in-capsule", 4)] {
        let job = &output.json(&format!("fio-{name}"))["jobs"][0];
        assert_eq!(job["error"], 0, "{name}: {job}");
        let [written, read] = ["write", "read"].map(|op| job[op]["io_bytes"].as_u64().unwrap_or(0));
        assert_eq!((written, read), (bytes << 20, bytes << 20), "{name}");
    }
    let trims = |name: &str, job: usize| {
        output.json(&format!("fio-{name}"))["jobs"][job]["trim"]["io_bytes"].as_u64()
    };
    assert_eq!((trims("beside-trims", 1), trims("after-trims", 0)), (Some(16 << 20), Some(16 << 20)));
    assert_eq!(output.section("trimmed"), "0\n", "what was trimmed is zero");
    let log = output.section("log");
    assert!(!log.contains("I/O error"), "{log}");
}

/// Goal: every I/O command through nvme-cli. Method: one block written, read, compared with itself and with another,
/// verified, zeroed, and out of range.
pub(super) fn io_commands_do_what_they_say<'a>(drive: &Vssd) -> Case<'a> {
    let script = "
             head -c 512 /dev/urandom >/tmp/one; head -c 512 /dev/urandom >/tmp/other
             block='/dev/nvme0n1 --start-block=1023 --block-count=0'
             section written; nvme write $block --data-size=512 --data=/tmp/one
             section same; nvme read $block --data-size=512 --data=/tmp/read; cmp /tmp/one /tmp/read && echo same
             section equal; status nvme compare $block --data-size=512 --data=/tmp/one
             section unequal; status nvme compare $block --data-size=512 --data=/tmp/other
             section verified; nvme verify $block
             section beyond; status nvme verify /dev/nvme0n1 --start-block=0xffffffffff --block-count=0
             section flushed; nvme flush /dev/nvme0n1 -n 1
             section zeroed; nvme write-zeroes $block
             nvme read $block --data-size=512 --data=/tmp/read; tr -d '\\0' </tmp/read | wc -c";
    Case::new("commands", drive.while_connected(script), every_command_did_what_it_says)
}

fn every_command_did_what_it_says(output: &Output) {
    assert!(output.section("same").ends_with("same\n"), "{}", output.section("same"));
    assert!(output.section("equal").ends_with("status 0\n"), "{}", output.section("equal"));
    let refused = |name: &str, why: &str| {
        let text = output.section(name) + &output.errors(name);
        assert!(text.contains("status 1") && text.contains(why), "{name}: {text}");
    };
    refused("unequal", "Compare Failure");
    refused("beyond", "LBA Out of Range");
    assert!(output.section("zeroed").ends_with("0\n"), "{}", output.section("zeroed"));
}
