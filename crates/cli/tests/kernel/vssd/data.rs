//! What was written to the virtual SSD is what is read, with trims in between, with and without digests.

use super::server::Vssd;
use crate::guest::{Guest, Kernel, on_each_kernel};

on_each_kernel!(data_survive_random_sizes_and_trims);

/// Goal: no block is lost, swapped or torn. Method: fio writes random sizes with a checksum in every block and reads
/// everything again: alone, beside trims of a neighbouring range, with a trim before each write, with both digests,
/// and in blocks that travel inside their commands.
fn data_survive_random_sizes_and_trims(kernel: Kernel) {
    // As fast as it goes: this is about data.
    let vssd = Vssd::start(&["--profile", "ssd1"]);
    let fio = |name: &str, job: &str| {
        format!(
            "section fio-{name}
             fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --iodepth=16 --randseed=7 \\
                 --output-format=json --name={name} --verify=crc32c --verify_fatal=1 {job}\n"
        )
    };
    let sizes = "--rw=randwrite --size=24M --bsrange=512-256k --bs_unaligned=0 --verify_backlog=64";
    let output = Guest::on(kernel)
        .network()
        .modules(&["nvme-tcp", "crc32c_generic"])
        .script("net_up")
        .script(&vssd.connect(0, ""))
        .script("wait_for test -b /dev/nvme0n1")
        .script("dd if=/dev/urandom of=/dev/nvme0n1 bs=1M seek=32 count=16 oflag=direct 2>/dev/null")
        .script(&fio("beside-trims", &format!("{sizes} --name=trims --rw=randtrim --bs=64k --offset=32M --size=16M")))
        .script("section trimmed; dd if=/dev/nvme0n1 bs=1M skip=32 count=16 iflag=direct 2>/dev/null | tr -d '\\0' | wc -c")
        .script(&fio("after-trims", "--rw=randtrimwrite --size=16M --bsrange=4k-256k"))
        .script("nvme disconnect -d nvme0")
        .script(&vssd.connect(0, "--hdr-digest --data-digest"))
        .script("wait_for test -b /dev/nvme0n1")
        .script(&fio("digests", sizes))
        .script(&fio("in-capsule", "--rw=randwrite --bs=4k --size=4M"))
        .run();
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
    assert!(!output.dmesg().contains("I/O error"), "{}", output.dmesg());
}
