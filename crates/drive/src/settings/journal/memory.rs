//! A folder that can lose its power, for tests.
//!
//! What was not synced may be there after a power cut, half there, or not: which it is, a seed draws. Names are
//! kept or lost in the order in which they were changed, contents each on their own, as Pillai and others (OSDI
//! 2014) found with ext4 and XFS.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use measure::Seed;

use super::disk::{Disk, JournalLock, Unlock};

/// Burns down with every step of a process, and then the process is dead: nothing it does has an effect any more.
#[derive(Clone, Debug)]
pub struct Fuse {
    left: Arc<Mutex<Option<u64>>>,
    burnt: Arc<Mutex<u64>>,
}

/// What the fuse says to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuseStep {
    /// It happens.
    Alive,
    /// The process dies in the middle of it: it may have happened.
    Cut,
    /// It does not happen.
    Dead,
}

impl Fuse {
    /// Never goes out; counts.
    pub fn endless() -> Self {
        Self { left: Arc::new(Mutex::new(None)), burnt: Arc::default() }
    }

    /// Goes out in step number `steps`, counted from 0.
    pub fn with_steps(steps: u64) -> Self {
        Self { left: Arc::new(Mutex::new(Some(steps + 1))), burnt: Arc::default() }
    }

    /// How many steps there were.
    pub fn burnt(&self) -> u64 {
        *lock(&self.burnt)
    }

    /// One step.
    pub fn step(&self) -> FuseStep {
        *lock(&self.burnt) += 1;
        let mut left = lock(&self.left);
        match left.as_mut() {
            None => FuseStep::Alive,
            Some(0) => FuseStep::Dead,
            Some(left) => {
                *left -= 1;
                if *left == 0 { FuseStep::Cut } else { FuseStep::Alive }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a process finds whose power was cut.
fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

#[derive(Clone, Debug, Default)]
struct File {
    live: Vec<u8>,
    /// What survives for certain; `None`: nothing, not even its length.
    synced: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
enum NameOp {
    Put(String, usize),
    Move(String, String),
    Remove(String),
}

#[derive(Clone, Debug, Default)]
struct CrashDiskState {
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    /// Changes of names since they were last synced.
    pending: Vec<NameOp>,
}

/// A folder that can lose its power. Clones are the same folder.
#[derive(Clone, Debug)]
pub struct CrashDisk {
    state: Arc<Mutex<CrashDiskState>>,
    locked: Arc<Mutex<BTreeSet<String>>>,
    fuse: Fuse,
    seed: Seed,
}

impl CrashDisk {
    /// An empty disk that fails as `fuse` says.
    pub fn new(fuse: &Fuse, seed: Seed) -> Self {
        Self { state: Arc::default(), locked: Arc::default(), fuse: fuse.clone(), seed }
    }

    /// As the next process finds it: after a kill everything that was written is there, after a power cut what was
    /// synced is, and of the rest what the seed draws.
    pub fn reopened(&self, power_cut: bool, fuse: &Fuse) -> Self {
        let mut state = lock(&self.state).clone();
        if power_cut {
            let draw = |what: u64, below: u64| self.seed.part(what).as_u64() % below;
            let kept = draw(1000, state.pending.len() as u64 + 1) as usize;
            let mut names = state.synced_names.clone();
            state.pending.iter().take(kept).for_each(|op| apply(op, &mut names));
            for (number, file) in state.files.iter_mut().enumerate() {
                let number = number as u64 * 2;
                file.live = match (draw(number, 3), &file.synced) {
                    (0, Some(synced)) => synced.clone(),
                    (0, None) => Vec::new(),
                    (1, synced) if synced.as_ref() != Some(&file.live) => {
                        let torn = draw(number + 1, file.live.len() as u64 + 1) as usize;
                        file.live[..torn].to_vec()
                    }
                    _ => file.live.clone(),
                };
                file.synced = Some(file.live.clone());
            }
            state.names = names.clone();
            state.synced_names = names;
            state.pending.clear();
        }
        Self {
            state: Arc::new(Mutex::new(state)),
            locked: Arc::default(),
            fuse: fuse.clone(),
            seed: self.seed.part(7),
        }
    }

    /// Whether a step that the process dies in happened all the same.
    fn happens(&self, step: FuseStep) -> io::Result<bool> {
        match step {
            FuseStep::Alive => Ok(true),
            FuseStep::Cut => Ok(self.seed.part(99).as_u64() & 1 == 0),
            FuseStep::Dead => Err(dead()),
        }
    }

    fn change_name(&self, op: NameOp) -> io::Result<()> {
        let step = self.fuse.step();
        if self.happens(step)? {
            let mut state = lock(&self.state);
            apply(&op, &mut state.names);
            state.pending.push(op);
        }
        if step == FuseStep::Alive { Ok(()) } else { Err(dead()) }
    }
}

fn apply(op: &NameOp, names: &mut BTreeMap<String, usize>) {
    match op {
        NameOp::Put(name, file) => drop(names.insert(name.clone(), *file)),
        NameOp::Move(from, to) => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        NameOp::Remove(name) => drop(names.remove(name)),
    }
}

impl Disk for CrashDisk {
    fn place(&self, name: &str) -> String {
        format!("{name} on a disk that loses its power")
    }

    fn lock(&self, name: &str) -> io::Result<Option<JournalLock>> {
        let free = lock(&self.locked).insert(name.to_owned());
        Ok(free.then(|| JournalLock::new(Unlock { locked: Arc::clone(&self.locked), name: name.to_owned() })))
    }

    fn locked(&self, name: &str) -> io::Result<bool> {
        Ok(lock(&self.locked).contains(name))
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let state = lock(&self.state);
        Ok(state.names.get(name).map(|file| state.files[*file].live.clone()))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let step = self.fuse.step();
        if step == FuseStep::Dead {
            return Err(dead());
        }
        let mut state = lock(&self.state);
        // A process that dies while it writes has written a part.
        let part = if step == FuseStep::Cut {
            self.seed.part(98).as_u64() as usize % (bytes.len() + 1)
        } else {
            bytes.len()
        };
        let file = state.files.len();
        state.files.push(File { live: bytes[..part].to_vec(), synced: None });
        let op = NameOp::Put(name.to_owned(), file);
        apply(&op, &mut state.names);
        state.pending.push(op);
        if step == FuseStep::Alive { Ok(()) } else { Err(dead()) }
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        let step = self.fuse.step();
        if self.happens(step)? {
            let mut state = lock(&self.state);
            let file = *state.names.get(name).ok_or(io::ErrorKind::NotFound)?;
            state.files[file].synced = Some(state.files[file].live.clone());
        }
        if step == FuseStep::Alive { Ok(()) } else { Err(dead()) }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change_name(NameOp::Move(from.to_owned(), to.to_owned()))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change_name(NameOp::Remove(name.to_owned()))
    }

    fn sync_folder(&self) -> io::Result<()> {
        let step = self.fuse.step();
        if self.happens(step)? {
            let mut state = lock(&self.state);
            state.synced_names = state.names.clone();
            state.pending.clear();
        }
        if step == FuseStep::Alive { Ok(()) } else { Err(dead()) }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(lock(&self.state).names.keys().cloned().collect())
    }
}
