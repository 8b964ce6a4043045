//! Authentication (DH-HMAC-CHAP) with Linux at the other end: its host and our controller, our host and its target.
//!
//! Debian's 6.12 has both sides of it; 6.1 has neither (`CONFIG_NVME_AUTH` and `CONFIG_NVME_TARGET_AUTH`), so there the
//! kernel has to fail, and our own host in the guest has to get in.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::on_network;
use super::server::Vssd;
use crate::kernel::case::{self, Case};
use crate::kernel::guest::{Kernel, scratch};
use crate::kernel::output::Output;

/// The specification's example, transformed with SHA-256, and one of `nvme gen-dhchap-key`.
const HOST: &str = "DHHC-1:01:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";
const CONTROLLER: &str = "DHHC-1:00:9wCYVQqDvADjGIZo6q/v2SfmXZqqkNa9TcvYu97Ly3Q/gajh:";
/// Our initiator's name, which nvmet has to be told.
const OUR_NQN: &str = "nqn.2014-08.org.nvmexpress:uuid:68656174-736f-616b-2d69-6e69746961746f";

/// A file that only we can read.
fn secret_file(folder: &Path, name: &str, secret: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, secret).expect("room");
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("ours");
    path.display().to_string()
}

/// Shell lines that put both secrets where our host reads them.
fn secrets_inside() -> String {
    format!("umask 077; echo {HOST} >/tmp/host; echo {CONTROLLER} >/tmp/ctrl\n")
}

/// Goal: each side lets the other in that knows the secret, and nobody else; with every hash function and a small and a
/// large group. Method: the kernel's host and target as referees.
pub(super) fn secrets_are_checked_on_both_sides(kernel: Kernel) {
    let folder = scratch();
    let host = secret_file(folder.path(), "host", HOST);
    let controller = secret_file(folder.path(), "controller", CONTROLLER);
    let start = |more: &[&str]| {
        let known =
            ["--profile", "relay", "--dhchap-secret-file", &host, "--dhchap-ctrl-secret-file", &controller];
        Vssd::start(&[&known[..], more].concat())
    };
    let drives = [
        start(&[]),
        start(&["--dhchap-hash", "sha384", "--dhchap-group", "null"]),
        start(&["--dhchap-hash", "sha512", "--dhchap-group", "ffdhe8192"]),
    ];
    let mut cases = vec![Case::new("ours", ours(&drives[0]), ours_gets_in)];
    if kernel == Kernel::V6_1 {
        let refused = format!("section refused; status {}", drives[0].connect(0, ""));
        cases.push(Case::new("without", refused, |output| {
            assert_ne!(status(output, "refused"), 0, "a kernel without authentication does not get in");
        }));
    } else {
        cases.push(Case::new("theirs", theirs(&drives), theirs_gets_in));
        cases.push(Case::new("target", target(), target_lets_us_in));
    }
    let guest = on_network(kernel).with_cases(&cases);
    case::check(guest.run(), cases);
}

/// Our host in the guest.
fn ours(drive: &Vssd) -> String {
    let url = format!("nvme-tcp://$host:{}/{}?network=yes", drive.port(), drive.nqns()[0]);
    secrets_inside()
        + &format!(
            "section none; status heatsoak inspect \"{url}\" --json
             section both; heatsoak inspect \
                \"{url}&dhchap-secret-file=/tmp/host&dhchap-ctrl-secret-file=/tmp/ctrl\" --json"
        )
}

fn ours_gets_in(output: &Output) {
    assert_eq!(status(output, "none"), 2);
    assert!(output.errors("none").contains("no secret was given"), "{}", output.errors("none"));
    assert!(output.json("both")["nvme"]["smart"].is_object());
}

/// The kernel's host: without a secret, with a wrong one, with the right one in one and in both directions.
fn theirs(drives: &[Vssd; 3]) -> String {
    let refused =
        |section: &str, options: &str| format!("section {section}; status {}", drives[0].connect(0, options));
    let mut script = [
        refused("none", ""),
        refused("wrong", &format!("--dhchap-secret={CONTROLLER}")),
        refused("unproved", &format!("--dhchap-secret={HOST} --dhchap-ctrl-secret={HOST}")),
    ]
    .concat();
    let both = format!("--dhchap-secret={HOST} --dhchap-ctrl-secret={CONTROLLER}");
    for (number, options) in
        [(0, format!("--dhchap-secret={HOST}")), (0, both.clone()), (1, both.clone()), (2, both)]
    {
        let nqn = drives[number].nqns()[0];
        script += &format!(
            "section in-{number}
             {}disk() {{ ls /dev/nvme*n1; }}
             wait_for disk
             dd if=$(disk) of=/dev/null bs=64k count=4 iflag=direct
             nvme disconnect -n {nqn}
             gone() {{ ! disk; }}
             wait_for gone\n",
            drives[number].connect(0, &options)
        );
    }
    script
}

fn theirs_gets_in(output: &Output) {
    for section in ["none", "wrong", "unproved"] {
        assert_ne!(status(output, section), 0, "{section}: {}", output.dmesg());
    }
    let dmesg = output.dmesg();
    for (hash, group) in [("sha256", "ffdhe2048"), ("sha384", "null"), ("sha512", "ffdhe8192")] {
        let line = format!("qid 0: authenticated with hash hmac({hash}) dhgroup {group}");
        assert!(dmesg.contains(&line), "{line}\n{dmesg}");
    }
    assert!(dmesg.contains("qid 0: controller authenticated"), "{dmesg}");
    assert!(dmesg.contains("controller authentication failed"), "the unproved one: {dmesg}");
}

/// The kernel's target, which asks our host for secrets with each hash function and three groups.
fn target() -> String {
    let nqn = "nqn.2014-08.org.example:asks";
    let url = format!("nvme-tcp://127.0.0.1:4420/{nqn}");
    let mut script = secrets_inside()
        + &format!(
            "modprobe -a nvmet-tcp brd
             nvmet_subsystem {nqn} /dev/ram0
             nvmet=/sys/kernel/config/nvmet
             mkdir $nvmet/hosts/{OUR_NQN}
             echo -n {HOST} >$nvmet/hosts/{OUR_NQN}/dhchap_key
             echo -n {CONTROLLER} >$nvmet/hosts/{OUR_NQN}/dhchap_ctrl_key
             echo 0 >$nvmet/subsystems/{nqn}/attr_allow_any_host
             ln -s $nvmet/hosts/{OUR_NQN} $nvmet/subsystems/{nqn}/allowed_hosts/{OUR_NQN}
             port=$nvmet/ports/1
             mkdir -p $port
             echo tcp >$port/addr_trtype; echo ipv4 >$port/addr_adrfam
             echo 127.0.0.1 >$port/addr_traddr; echo 4420 >$port/addr_trsvcid
             ln -s $nvmet/subsystems/{nqn} $port/subsystems/{nqn}
             section none; status heatsoak inspect {url} --json
             section wrong; status heatsoak inspect \"{url}?dhchap-secret-file=/tmp/ctrl\" --json
             section unproved
             status heatsoak inspect \"{url}?dhchap-secret-file=/tmp/host&dhchap-ctrl-secret-file=/tmp/host\" --json\n"
        );
    for (hash, group) in TARGETS {
        script += &format!(
            "echo -n 'hmac({hash})' >$nvmet/hosts/{OUR_NQN}/dhchap_hash
             echo -n {group} >$nvmet/hosts/{OUR_NQN}/dhchap_dhgroup
             section {hash}
             heatsoak inspect \"{url}?dhchap-secret-file=/tmp/host&dhchap-ctrl-secret-file=/tmp/ctrl\" --json\n"
        );
    }
    script
}

const TARGETS: [(&str, &str); 3] = [("sha256", "null"), ("sha384", "ffdhe2048"), ("sha512", "ffdhe6144")];

fn target_lets_us_in(output: &Output) {
    for (section, part) in [
        ("none", "no secret was given"),
        ("wrong", "authentication failed"),
        ("unproved", "did not prove that it knows"),
    ] {
        assert_eq!(status(output, section), 2);
        let told = output.errors(section);
        assert!(told.contains(part), "{section}: {told}");
    }
    for (hash, group) in TARGETS {
        assert!(output.json(hash)["nvme"].is_object(), "{hash} {group}");
    }
}

/// What `status` printed.
fn status(output: &Output, section: &str) -> i32 {
    let said = output.section(section);
    let last = said.lines().last().and_then(|line| line.strip_prefix("status "));
    last.and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{section} has no status: {said}"))
}
