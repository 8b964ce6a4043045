//! Limits on made-up trees of control groups, whose files behave as the kernel's: written by key, removed by `max`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::*;
use crate::settings::journal::{JournalError, JournalIdentity, Journals};

const DISK: &str = "259:0";

/// A tree of groups in memory: each with its limits by disk and key.
#[derive(Debug, Default)]
struct FakeTree {
    state: Mutex<FakeState>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct FakeState {
    groups: BTreeMap<PathBuf, BTreeMap<String, [Option<u64>; 4]>>,
    controllers: String,
    enabled: String,
    /// So many writes more are made, and then the process is dead.
    left: Option<usize>,
    /// Takes what is written and does nothing.
    deaf: bool,
    /// Processes run in every group.
    busy: bool,
}

const KEYS: [&str; 4] = ["rbps", "wbps", "riops", "wiops"];

impl FakeTree {
    fn new() -> Arc<Self> {
        let tree = Self::default();
        tree.change(|state| {
            (state.controllers, state.enabled) = ("cpu io memory".to_owned(), "io memory".to_owned());
            for name in ["init.scope", "system.slice", "system.slice/backup.service", "user.slice"] {
                state.groups.insert(Path::new("/cg").join(name), BTreeMap::new());
            }
            let limited = state.groups.get_mut(Path::new("/cg/system.slice"));
            let limits = limited.expect("made above");
            limits.insert(DISK.to_owned(), [None, Some(50_000_000), Some(120), None]);
            limits.insert("8:0".to_owned(), [Some(7), None, None, None]);
        });
        Arc::new(tree)
    }

    fn change<T>(&self, change: impl FnOnce(&mut FakeState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn groups_now(&self) -> BTreeMap<PathBuf, BTreeMap<String, [Option<u64>; 4]>> {
        self.change(|state| state.groups.clone())
    }

    fn tree(self: &Arc<Self>) -> CgroupTree {
        let files: Arc<dyn CgroupFiles> = self.clone();
        CgroupTree::at(PathBuf::from("/cg"), files, false).expect("io is on")
    }

    /// Counts a step; dead processes make none.
    fn step(state: &mut FakeState) -> io::Result<()> {
        match &mut state.left {
            Some(0) => Err(io::Error::other("the process is dead")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl CgroupFiles for FakeTree {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.change(|state| {
            let (group, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
            match (group == Path::new("/cg"), name.to_str()) {
                (true, Some("cgroup.controllers")) => return Ok(state.controllers.clone()),
                (true, Some("cgroup.subtree_control")) => return Ok(state.enabled.clone()),
                _ => {}
            }
            let limits = state.groups.get(group).ok_or(io::ErrorKind::NotFound)?;
            let line = |(number, limits): (&String, &[Option<u64>; 4])| {
                let text = |limit: &Option<u64>| limit.map_or("max".to_owned(), |limit| limit.to_string());
                let words = KEYS.iter().zip(limits).map(|(key, limit)| format!("{key}={}", text(limit)));
                format!("{number} {}\n", words.collect::<Vec<_>>().join(" "))
            };
            Ok(limits.iter().filter(|(_, limits)| limits.iter().any(Option::is_some)).map(line).collect())
        })
    }

    fn write(&self, path: &Path, line: &str) -> io::Result<()> {
        self.change(|state| {
            Self::step(state)?;
            if state.deaf {
                return Ok(());
            }
            let group = path.parent().unwrap_or(path);
            let limits = state.groups.get_mut(group).ok_or(io::ErrorKind::NotFound)?;
            let (number, words) = line.split_once(' ').ok_or(io::ErrorKind::InvalidInput)?;
            let mut of_disk = limits.get(number).copied().unwrap_or_default();
            for word in words.split(' ') {
                let (key, value) = word.split_once('=').ok_or(io::ErrorKind::InvalidInput)?;
                let at = KEYS.iter().position(|known| *known == key).ok_or(io::ErrorKind::InvalidInput)?;
                of_disk[at] = if value == "max" { None } else { value.parse().ok() };
            }
            // A disk without a limit has no line.
            limits.remove(number);
            if of_disk.iter().any(Option::is_some) {
                limits.insert(number.to_owned(), of_disk);
            }
            Ok(())
        })
    }

    fn groups(&self, path: &Path) -> io::Result<Vec<String>> {
        self.change(|state| {
            if path != Path::new("/cg") && !state.groups.contains_key(path) {
                return Err(io::ErrorKind::NotFound.into());
            }
            let below = state.groups.keys().filter(|group| group.parent() == Some(path));
            Ok(below.filter_map(|group| Some(group.file_name()?.to_string_lossy().into_owned())).collect())
        })
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        self.change(|state| {
            Self::step(state)?;
            state.groups.insert(path.to_owned(), BTreeMap::new());
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(|state| {
            Self::step(state)?;
            if state.busy {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            state.groups.remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
        })
    }
}

fn disk() -> LimitedDisk {
    let identity = JournalIdentity { model: "M".to_owned(), serial: "S".to_owned(), subsystem_nqn: None };
    LimitedDisk { device: "/dev/nvme0n1".to_owned(), number: DISK.to_owned(), identity }
}

fn boot() -> Option<String> {
    Some("this boot".to_owned())
}

fn claimed(fake: &Arc<FakeTree>, journals: &Journals) -> Result<HeldLimits, CgroupError> {
    HeldLimits::claim(fake.tree(), disk(), journals, "govern --below 68C", 0, boot())
}

const TIGHT: IoMax = IoMax { rbps: Some(4_000_000), wbps: Some(4_000_000) };

/// What a governor does, up to where it dies: all groups and one of ours, several limits, and back.
fn governed(fake: &Arc<FakeTree>, journals: &Journals) -> Result<Vec<String>, CgroupError> {
    let mut held = claimed(fake, journals)?;
    held.add(&fake.tree().top()?, false)?;
    let ours = held.make("heatsoak-1")?;
    for limit in [TIGHT, IoMax { rbps: Some(9), wbps: None }] {
        for group in ["/cg/init.scope", "/cg/system.slice", "/cg/user.slice"] {
            held.set(Path::new(group), limit)?;
        }
        held.set(&ours, limit)?;
    }
    Ok(held.put_back())
}

#[test]
fn limits_are_put_back_as_they_were_found() {
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let before = fake.groups_now();
    assert_eq!(governed(&fake, &journals).expect("nothing fails"), Vec::<String>::new());
    assert_eq!(fake.groups_now(), before);
    assert!(journals.all().expect("a folder").is_empty(), "the journal is gone");
}

/// Goal: wherever a process dies, `restore` brings back what was found, once and for all, and until then nobody begins.
/// Method: killed after each of its steps.
#[test]
fn a_kill_at_any_step_is_mended() {
    let mut died = 0;
    for steps in 0..40 {
        let (fake, journals) = (FakeTree::new(), Journals::in_memory());
        let before = fake.groups_now();
        fake.change(|state| state.left = Some(steps));
        let ended = governed(&fake, &journals);
        fake.change(|state| state.left = None);
        if ended.is_ok_and(|problems| problems.is_empty()) {
            assert_eq!(fake.groups_now(), before);
            continue;
        }
        if journals.all().expect("a folder").is_empty() {
            assert_eq!(fake.groups_now(), before, "nothing is changed without a journal");
            continue;
        }
        died += 1;
        let refused = claimed(&fake, &journals).expect_err("a journal is there").to_string();
        assert!(refused.contains("govern --below 68C") && refused.contains("heatsoak restore"), "{refused}");
        let restored = restore_limits(&fake.tree(), &journals, &disk().identity, boot().as_deref());
        let problems = restored.expect("it can").expect("a journal").problems;
        assert_eq!(problems, Vec::<String>::new(), "step {steps}");
        assert_eq!(fake.groups_now(), before, "step {steps}");
        let again = restore_limits(&fake.tree(), &journals, &disk().identity, boot().as_deref());
        assert!(again.expect("it can").is_none());
    }
    assert!(died >= 9, "{died}: the test kills nothing");
}

#[test]
fn groups_that_have_gone_are_no_problem_and_a_reboot_takes_all_limits() {
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let mut held = claimed(&fake, &journals).expect("free");
    held.add(&fake.tree().top().expect("groups"), false).expect("groups");
    fake.change(|state| state.groups.remove(Path::new("/cg/user.slice")));
    assert!(held.set(Path::new("/cg/user.slice"), TIGHT).expect_err("gone").is_gone());
    assert_eq!(held.put_back(), Vec::<String>::new());
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let mut held = claimed(&fake, &journals).expect("free");
    held.add(&[PathBuf::from("/cg/init.scope")], false).expect("a group");
    fake.change(|state| state.left = Some(0));
    drop(held);
    let restored = restore_limits(&fake.tree(), &journals, &disk().identity, Some("the next boot"));
    assert_eq!(restored.expect("it can"), Some(RestoredLimits::default()));
    assert!(journals.all().expect("a folder").is_empty());
}

/// Goal: a kernel that takes a limit and does not keep it is a problem that is told, and the journal stays.
#[test]
fn what_is_not_as_it_was_is_told() {
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let mut held = claimed(&fake, &journals).expect("free");
    held.add(&[PathBuf::from("/cg/system.slice")], false).expect("a group");
    held.set(Path::new("/cg/system.slice"), TIGHT).expect("a limit");
    fake.change(|state| state.deaf = true);
    let problems = held.put_back();
    assert!(
        problems[0].starts_with("io.max of system.slice was not put back to rbps=max wbps=50000000"),
        "{problems:?}"
    );
    fake.change(|state| state.deaf = false);
    assert_eq!(held.put_back(), Vec::<String>::new());
}

/// Goal: what a command leaves running is not limited any more, and `restore` can remove its group later.
#[test]
fn a_group_of_ours_that_is_still_used_is_told_and_unlimited() {
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let before = fake.groups_now();
    let mut held = claimed(&fake, &journals).expect("free");
    let group = held.make("heatsoak-govern-1").expect("a group");
    held.set(&group, TIGHT).expect("a limit");
    fake.change(|state| state.busy = true);
    let problems = held.put_back();
    assert!(problems[0].starts_with("the control group heatsoak-govern-1 was not removed"), "{problems:?}");
    assert!(fake.groups_now()[&group].is_empty());
    fake.change(|state| state.busy = false);
    drop(held);
    assert_eq!(fake.groups_now(), before);
    assert!(journals.all().expect("a folder").is_empty());
}

/// Goal: a panic of ours leaves nothing limited, and who may not write leaves no journal.
#[test]
fn dropped_is_put_back() {
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let before = fake.groups_now();
    let mut held = claimed(&fake, &journals).expect("free");
    held.add(&fake.tree().top().expect("groups"), false).expect("groups");
    held.set(Path::new("/cg/user.slice"), TIGHT).expect("a limit");
    drop(held);
    assert_eq!(fake.groups_now(), before);
    fake.change(|state| state.left = Some(0));
    let mut held = claimed(&fake, &journals).expect("free");
    held.add(&fake.tree().top().expect("groups"), false).expect_err("it may not write");
    assert!(journals.all().expect("a folder").is_empty());
}

#[test]
fn two_do_not_govern_one_disk() {
    let (fake, journals) = (FakeTree::new(), Journals::in_memory());
    let _held = claimed(&fake, &journals).expect("free");
    let error = claimed(&fake, &journals).expect_err("held");
    assert!(matches!(error, CgroupError::Journal(JournalError::InUse { .. })), "{error}");
}

#[test]
fn groups_are_found_by_name_and_errors_say_what_to_do() {
    let fake = FakeTree::new();
    let tree = fake.tree();
    let names: Vec<_> =
        tree.top().expect("groups").iter().map(|group| tree.name(group).into_owned()).collect();
    assert_eq!(names, ["init.scope", "system.slice", "user.slice"]);
    let backup = PathBuf::from("/cg/system.slice/backup.service");
    for typed in
        ["system.slice/backup.service", "/system.slice/backup.service", "/cg/system.slice/backup.service"]
    {
        assert_eq!(tree.group(Path::new(typed)).expect(typed), backup);
    }
    let refused = |typed: &str| tree.group(Path::new(typed)).expect_err(typed).to_string();
    assert!(refused("/").contains("the root group"));
    assert!(refused("nobody.slice").contains("systemd-cgls"));
    assert!(refused("../etc").contains("there is no control group"));
    fake.change(|state| state.enabled = "memory".to_owned());
    let files: Arc<dyn CgroupFiles> = fake.clone();
    let off = CgroupTree::at(PathBuf::from("/cg"), files.clone(), false).expect_err("off").to_string();
    assert!(off.contains("echo +io > /cg/cgroup.subtree_control"), "{off}");
    fake.change(|state| state.controllers = "memory".to_owned());
    let hybrid = CgroupTree::at(PathBuf::from("/cg"), files.clone(), true).expect_err("v1").to_string();
    assert!(
        hybrid.contains("cgroup v1") && hybrid.contains("systemd.unified_cgroup_hierarchy=1"),
        "{hybrid}"
    );
    let none = CgroupTree::at(PathBuf::from("/cg"), files, false).expect_err("none").to_string();
    assert!(none.contains("CONFIG_BLK_DEV_THROTTLING"), "{none}");
}

#[test]
fn mounts_are_told_apart() {
    let hybrid = "25 30 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n26 30 0:23 / /sys/fs/cgroup/blkio rw shared:3 - cgroup cgroup rw,blkio\n";
    assert_eq!(mounted(hybrid), Some(PathBuf::from("/sys/fs/cgroup/unified")));
    assert!(has_v1(hybrid));
    let unified = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    assert_eq!((mounted(unified), has_v1(unified)), (Some(PathBuf::from("/sys/fs/cgroup")), false));
    assert_eq!((mounted("garbage"), has_v1("garbage")), (None, false));
}
