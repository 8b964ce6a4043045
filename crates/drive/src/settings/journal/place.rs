//! Where journals lie on this machine.
//!
//! Root's lie in one place whoever has become root, so that a run under `sudo` and a `restore` after a reboot look
//! at the same: `/var/lib` (Filesystem Hierarchy Standard 3.0, 5.8). Everybody else's lie below the folder for
//! state of the XDG Base Directory Specification 0.8.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Journals;

/// Names another folder; for tests, and for machines whose `/var/lib` does not outlive a restart.
pub const STATE_DIR_ENV: &str = "HEATSOAK_STATE_DIR";

const ROOT_DIR: &str = "/var/lib/heatsoak";

/// The journals of this process first, then others that it looks at: root's, when it is not root.
pub fn places() -> Vec<Journals> {
    let folders = folders(&|name| std::env::var_os(name), rustix::process::geteuid().is_root());
    folders.into_iter().map(Journals::in_folder).collect()
}

/// The folder of this process's journals, for what else has to outlive it.
pub fn state_folder() -> Option<PathBuf> {
    let folders = folders(&|name| std::env::var_os(name), rustix::process::geteuid().is_root());
    folders.into_iter().next()
}

fn folders(env: &dyn Fn(&str) -> Option<OsString>, root: bool) -> Vec<PathBuf> {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(named) = env(STATE_DIR_ENV).filter(|named| !named.is_empty()) {
        return vec![named.into()];
    }
    if root {
        return vec![ROOT_DIR.into()];
    }
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let own = state.map(|state| state.join("heatsoak"));
    own.into_iter().chain([ROOT_DIR.into()]).collect()
}

#[cfg(test)]
mod test {
    use std::path::Path;

    use super::*;

    fn places_of(set: &[(&str, &str)], root: bool) -> Vec<PathBuf> {
        let env = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        folders(&env, root)
    }

    #[test]
    fn root_has_one_place_whoever_has_become_it() {
        assert_eq!(places_of(&[("XDG_STATE_HOME", "/home/a/state")], true), [Path::new(ROOT_DIR)]);
        let user = places_of(&[("XDG_STATE_HOME", "/home/a/state"), ("HOME", "/home/a")], false);
        assert_eq!(user, [Path::new("/home/a/state/heatsoak"), Path::new(ROOT_DIR)]);
        // A relative path is to be ignored (XDG Base Directory Specification).
        let user = places_of(&[("XDG_STATE_HOME", "state"), ("HOME", "/home/a")], false);
        assert_eq!(user[0], Path::new("/home/a/.local/state/heatsoak"));
        assert_eq!(places_of(&[(STATE_DIR_ENV, "/x"), ("HOME", "/home/a")], false), [Path::new("/x")]);
    }
}
