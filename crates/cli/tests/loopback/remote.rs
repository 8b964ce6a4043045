//! `--on`: a command on another machine, which is this one with a state of its own.
//!
//! Most cases go through a command that stands for `ssh` and does what its last argument says, as `ssh` has the other
//! side's shell do. One goes through Debian's own `sshd -i` behind a proxy command: no port and no daemon; it says so where
//! sshd is missing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use measure::{Clock as _, MonotonicClock};
use serde_json::Value;

use crate::loopback::drive::Vssd;
use crate::support::{Done, Scratch};

/// A machine gone for longer than this has not put back what it should have: the promise is five seconds, on a machine
/// that may be doing ten other things.
const PATIENCE: Duration = Duration::from_secs(60);

const PLAN: &str = "[settings]\ntmt1 = \"60C\"\ntmt2 = \"70C\"\n[telemetry]\nsmart_period = \"100ms\"\n\
                    [[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\nduration = \"10m\"\n";

/// This machine and the other.
pub(super) struct Machines {
    pub(super) scratch: Scratch,
}

impl Machines {
    pub(super) fn new() -> Self {
        let machines = Self { scratch: Scratch::new() };
        machines.ssh("");
        machines
    }

    /// Makes the command that stands for `ssh`; `before` is what its shell does first.
    pub(super) fn ssh(&self, before: &str) {
        let (there, bin) =
            (self.there(), Path::new(env!("CARGO_BIN_EXE_heatsoak")).parent().expect("a folder"));
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\nexport HEATSOAK_STATE_DIR='{}' PATH='{}':\"$PATH\"\necho $$ > '{}'\n{before}\nexec sh -c \"exec $last\"\n",
            there.display(),
            bin.display(),
            self.scratch.path("ssh.pid").display(),
        );
        let path = self.scratch.path("ssh");
        fs::write(&path, script).expect("room");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    }

    pub(super) fn there(&self) -> PathBuf {
        self.scratch.path("there")
    }

    /// The folder of the only run that is kept there.
    pub(super) fn kept(&self) -> PathBuf {
        let mut runs = fs::read_dir(self.there().join("remote-runs")).expect("it keeps runs");
        runs.next().expect("one run").expect("it can be read").path().join("run")
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.command(args);
        command.args(["--on", "lab", "--ssh", "./ssh"]);
        command
    }

    pub(super) fn run(&self, args: &[&str]) -> Done {
        Done::from(self.command(args).output().expect("the binary runs"))
    }
}

/// Fails unless every file of the record there is here, byte for byte.
pub(super) fn must_be_the_same(there: &Path, here: &Path) {
    for entry in fs::read_dir(there).expect("a run folder") {
        let name = entry.expect("it can be read").file_name();
        if there.join(&name).is_dir() {
            must_be_the_same(&there.join(&name), &here.join(&name));
            continue;
        }
        let (one, other) = (fs::read(there.join(&name)), fs::read(here.join(&name)));
        assert!(one.expect("it is there") == other.expect("it is here"), "{name:?} differs");
    }
}

#[test]
fn a_run_there_arrives_byte_for_byte() {
    let machines = Machines::new();
    let done = machines.run(&["run", "quick", "--out", "here", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let result: Value = serde_json::from_str(&done.stdout).expect("one document");
    crate::support::schema::must_fit("run", &result);
    assert_eq!(result["run_folder"], "here");
    must_be_the_same(&machines.kept(), &machines.scratch.path("here"));
    assert!(machines.scratch.path("here/report.html").is_file(), "the report is made here");
    assert!(!machines.scratch.path("here/arriving.txt").exists());
    // The same run here: the other machine's is no other.
    let local = machines.scratch.run(&["run", "quick", "--out", "local", "--json"]);
    assert_eq!(local.code, Some(0));
    let findings =
        |folder: &str| fs::read(machines.scratch.path(folder).join("findings.json")).expect("findings");
    assert_eq!(findings("here"), findings("local"));
}

#[test]
fn a_plan_file_and_a_sweep_go_there() {
    let machines = Machines::new();
    fs::write(
        machines.scratch.path("mine.toml"),
        "[[phase]]\nop = \"read\"\nblock_size = \"1MiB\"\nduration = \"5s\"\n",
    )
    .expect("room");
    let done = machines.run(&["run", "mine.toml", "--sweep", "ambient=20C,35C", "-o", "here", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(machines.scratch.path("here/compare.html").is_file(), "{}{}", done.stdout, done.stderr);
    let there = machines.there();
    assert!(!done.stdout.contains(&*there.to_string_lossy()), "paths are those here: {}", done.stdout);
}

#[test]
fn commands_without_a_run_answer_as_they_do_here() {
    let machines = Machines::new();
    for args in [
        &["inspect", "twin:ssd1", "--json"][..],
        &["hctm", "twin:ssd1", "--json"],
        &["power-state", "twin:ssd1"],
        &["temp-threshold", "twin:ssd1"],
        &["restore", "--json"],
        &["inspect", "/dev/none-of-that-name"],
    ] {
        let (there, here) = (machines.run(args), machines.scratch.run(args));
        assert_eq!((there.code, &there.stdout), (here.code, &here.stdout), "{args:?}: {}", there.stderr);
        assert_eq!(there.stderr, here.stderr, "{args:?}");
    }
}

#[test]
fn what_is_refused_there_leaves_nothing_here() {
    let machines = Machines::new();
    let done = machines.run(&["run", "full-span", "--drive", "/dev/none-of-that-name", "--out", "here"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("/dev/none-of-that-name") && !machines.scratch.path("here").exists(),
        "{}",
        done.stderr
    );
}

#[test]
fn each_failure_is_a_sentence_of_its_own() {
    let machines = Machines::new();
    let hello = format!("{} {} 9.9.9", remote::MAGIC, remote::PROTOCOL);
    for (ssh, expected) in [
        ("echo 'Host key verification failed.' >&2; exit 255", "is not trusted"),
        ("echo 'sudo: a password is required' >&2; exit 1", "cannot become root"),
        ("echo 'sh: 1: heatsoak: not found' >&2; exit 127", "--install"),
        (&format!("echo '{hello}'; exit 0"), "has heatsoak 9.9.9"),
        ("echo Welcome; exit 0", "its login shell prints"),
        (
            &format!("echo '{} {} {}'; exit 0", remote::MAGIC, remote::PROTOCOL, remote::VERSION),
            "the connection to lab broke",
        ),
        (
            &format!("echo '{} {} {}'; echo noise; exit 0", remote::MAGIC, remote::PROTOCOL, remote::VERSION),
            "no frame of heatsoak",
        ),
    ] {
        machines.ssh(ssh);
        let done = machines.run(&["list"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{ssh}");
        assert!(done.stderr.contains(expected), "{ssh}: {}", done.stderr);
    }
    machines.ssh("echo 'Last login: today'; echo 'You have new mail.'");
    assert_eq!(machines.run(&["inspect", "twin:ssd1"]).code, Some(0), "noise before is passed over");
    let odd = machines.scratch.run(&["list", "--on", "-oProxyCommand=x"]);
    assert_eq!(odd.code, Some(2));
}

/// How the link breaks.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The process that watches over the run there is killed: its number is that of the command that stands for `ssh`.
    There,
    /// This side is killed.
    Here,
}

/// Seeded. `HEATSOAK_CASES` says how many; a case that fails is its number.
#[test]
fn a_link_that_breaks_ends_the_run_and_puts_settings_back() {
    let machines = Machines::new();
    let drive = Vssd::scaled("ssd1", 1000, 1);
    fs::write(machines.scratch.path("mine.toml"), PLAN).expect("room");
    let cases: u64 = std::env::var("HEATSOAK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4);
    let clock = MonotonicClock::start();
    let within = |what: &str, is_so: &mut dyn FnMut() -> bool| {
        let begun = clock.now();
        while !is_so() {
            assert!(clock.now().since(begun) < PATIENCE, "{what}");
            std::thread::yield_now();
        }
    };
    for case in 0..cases {
        let cut = [Cut::There, Cut::Here][case as usize % 2];
        let out = format!("here-{case}");
        let mut command =
            machines.command(&["run", "mine.toml", "--drive", &drive.url(), "--out", &out, "-q"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        // At another moment each time: so many bytes of the record have arrived, from none to some hundred pages.
        let wanted = case * 7919 % 60_000;
        let arrived =
            || fs::metadata(machines.scratch.path(&out).join("smart.arrow")).map_or(0, |about| about.len());
        within(&format!("case {case}: {wanted} bytes"), &mut || arrived() > wanted);
        let pid = match cut {
            Cut::There => fs::read_to_string(machines.scratch.path("ssh.pid"))
                .expect("it says who it is")
                .trim()
                .to_owned(),
            Cut::Here => child.id().to_string(),
        };
        assert!(Command::new("kill").args(["-KILL", &pid]).status().expect("kill is there").success());
        let done = child.wait_with_output().expect("it ends");
        // The run there has put back what it changed and gone.
        within(&format!("case {case}: {cut:?}"), &mut || drive.unit().connections() == 0);
        let journals = fs::read_dir(machines.there()).expect("it is there").flatten();
        let left: Vec<_> =
            journals.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).collect();
        assert!(left.is_empty(), "case {case}: {left:?}");
        let set = machines.run(&["hctm", &drive.url(), "--json"]);
        let set: Value = serde_json::from_str(&set.stdout).expect("one document");
        crate::support::schema::must_fit("hctm", &set);
        assert_eq!(set["hctm"]["current"], set["hctm"]["default"], "case {case}");
        let read = machines.scratch.run(&["analyze", &out, "--json"]);
        assert_eq!(read.code, Some(0), "case {case}: {}", read.stderr);
        if let Cut::There = cut {
            assert_eq!(done.status.code(), Some(2));
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(said.contains("settings are put back") && said.contains("heatsoak fetch "), "{said}");
        }
    }
    let listed = machines.run(&["fetch"]);
    assert_eq!(listed.stdout.lines().count() as u64, cases + 1, "{}", listed.stdout);
    let first = listed
        .stdout
        .lines()
        .nth(1)
        .and_then(|line| line.split_whitespace().next())
        .expect("a run")
        .to_owned();
    let other = machines.run(&["fetch", &first, "--out", "here-1"]);
    assert_eq!(other.code, Some(2), "another run's folder is not written over");
    let done = machines.run(&["fetch", &first, "--out", "here-0"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    must_be_the_same(
        &machines.there().join("remote-runs").join(&first).join("run"),
        &machines.scratch.path("here-0"),
    );
}

#[test]
fn ctrl_c_here_ends_the_run_there() {
    let machines = Machines::new();
    let drive = Vssd::scaled("ssd1", 1000, 1);
    fs::write(machines.scratch.path("mine.toml"), PLAN).expect("room");
    let mut command = machines.command(&["run", "mine.toml", "--drive", &drive.url(), "--out", "here", "-q"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    while !machines.scratch.path("here/smart.arrow").exists() {
        std::thread::yield_now();
    }
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .expect("kill is there")
            .success()
    );
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(3), "{}", String::from_utf8_lossy(&done.stderr));
    must_be_the_same(&machines.kept(), &machines.scratch.path("here"));
    let manifest = fs::read_to_string(machines.scratch.path("here/manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["end"]["reason"], "interrupted");
}

#[test]
fn debians_sshd_carries_it_without_a_port() {
    let sshd = Path::new("/usr/sbin/sshd");
    if !sshd.exists() {
        println!("LEFT OUT: no {}, so the real ssh is not asked (Debian: openssh-server)", sshd.display());
        return;
    }
    let machines = Machines::new();
    let dir = machines.scratch.path("keys");
    fs::create_dir(&dir).expect("room");
    for key in ["user", "host"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(dir.join(key))
            .status();
        assert!(made.expect("ssh-keygen is there").success());
    }
    let (dir, bin) =
        (dir.display().to_string(), Path::new(env!("CARGO_BIN_EXE_heatsoak")).parent().expect("a folder"));
    let config = format!(
        "HostKey {dir}/host\nAuthorizedKeysFile {dir}/user.pub\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nSetEnv \
         PATH={}:/usr/bin:/bin HEATSOAK_STATE_DIR={}\n",
        bin.display(),
        machines.there().display()
    );
    fs::write(format!("{dir}/sshd"), config).expect("room");
    let public = fs::read_to_string(format!("{dir}/host.pub")).expect("a key");
    fs::write(format!("{dir}/known"), format!("lab {public}")).expect("room");
    let user = fs::read_to_string(format!("{dir}/user.pub")).expect("a key");
    fs::write(format!("{dir}/changed"), format!("lab {user}")).expect("room");
    // sshd as root wants this folder, which its service makes.
    if rustix_is_root() {
        fs::create_dir_all("/run/sshd").expect("root may");
    }
    let ssh = |known: &str| {
        format!(
            "ssh -F none -o BatchMode=yes -o ProxyCommand='{} -i -f {dir}/sshd' -o IdentityFile={dir}/user -o IdentitiesOnly=yes \
             -o UserKnownHostsFile={dir}/{known} -o GlobalKnownHostsFile=/dev/null -o HostKeyAlias=lab",
            sshd.display()
        )
    };
    let run = |known: &str, args: &[&str]| {
        let mut command = machines.scratch.command(args);
        command.args(["--on", "lab", "--ssh", &ssh(known)]);
        Done::from(command.output().expect("the binary runs"))
    };
    let done = run("known", &["run", "quick", "--out", "here", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    must_be_the_same(&machines.kept(), &machines.scratch.path("here"));
    let drive = Vssd::scaled("ssd1", 1000, 1);
    fs::write(machines.scratch.path("mine.toml"), PLAN.replace("10m", "2s")).expect("room");
    let done = run("known", &["run", "mine.toml", "--drive", &drive.url(), "--out", "set", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let manifest = fs::read_to_string(machines.scratch.path("set/manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["settings"]["set"]["tmt1_k"], 333, "{}", manifest["settings"]);
    assert_eq!(manifest["settings"]["before"], manifest["settings"]["after"], "{}", manifest["settings"]);
    let watched = run("known", &["watch", "twin:ssd1", "--for", "1m", "--plain", "--out", "watched"]);
    assert_eq!((watched.code, watched.stdout.lines().count()), (Some(0), 60), "{}", watched.stderr);
    let changed = run("changed", &["list"]);
    assert!(changed.code == Some(2) && changed.stderr.contains("lab is not trusted"), "{}", changed.stderr);
    fs::write(format!("{dir}/user.pub"), "").expect("room");
    let denied = run("known", &["list"]);
    assert!(denied.code == Some(2) && denied.stderr.contains("refused to let you in"), "{}", denied.stderr);
}

fn rustix_is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id is there");
    id.stdout.trim_ascii() == b"0"
}
