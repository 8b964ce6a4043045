//! A copy of this binary on the other machine, in the cache of the user there: `~/.cache/heatsoak/VERSION-HASH/heatsoak`.
//!
//! The name is that of its content, so what is there already is used, and two versions do not get into each other's way.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use rustix::system::uname;
use sha2::{Digest as _, Sha256};

use crate::VERSION;
use crate::ssh::{Link, RemoteError, shown};

/// Says for which machine binaries are, and whether there is one of that name.
const PROBE: &str = "uname -sm; if test -x FILE; then echo heatsoak-there; else echo heatsoak-missing; fi";

/// Takes the binary from standard input; it has its name only once all of it is there and starts.
const TAKE: &str = "umask 077; mkdir -p DIR && cat > FILE.new && test $(wc -c < FILE.new) -eq BYTES && chmod 700 FILE.new \
                    && mv FILE.new FILE && FILE --version";

/// Sees to it that `binary` is there, and says where. Nothing is asked of the other side that its shell could take for
/// something else: the names are made of digits and letters.
///
/// # Errors
/// Why it is not.
pub fn install(link: &Link, binary: &Path) -> Result<String, RemoteError> {
    let failed = |detail: String| RemoteError::Install { host: link.host.clone(), detail };
    let bytes = fs::read(binary)
        .map_err(|error| failed(format!("cannot read {} here: {error}", binary.display())))?;
    let hash: String = Sha256::digest(&bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let dir = format!("$HOME/.cache/heatsoak/{VERSION}-{hash}");
    let file = format!("{dir}/heatsoak");
    let named =
        |script: &str| script.replace("FILE", &format!("\"{file}\"")).replace("DIR", &format!("\"{dir}\""));
    let probe = over(link, &named(PROBE), &[])?;
    let told = String::from_utf8_lossy(&probe.stdout);
    if !told.contains("heatsoak-there") && !told.contains("heatsoak-missing") {
        return Err(link.failure(probe.status.code(), &String::from_utf8_lossy(&probe.stderr), &told));
    }
    let here = uname();
    let machine = format!("{} {}", here.sysname().to_string_lossy(), here.machine().to_string_lossy());
    if !told.lines().any(|line| line.trim() == machine) {
        return Err(failed(format!(
            "it is a {}, and this binary is for {machine}; install the package for that machine there",
            shown(&told)
        )));
    }
    if told.contains("heatsoak-missing") {
        let taken = over(link, &named(TAKE).replace("BYTES", &bytes.len().to_string()), &bytes)?;
        let version = String::from_utf8_lossy(&taken.stdout);
        if !taken.status.success() || !version.contains(VERSION) {
            let stderr = String::from_utf8_lossy(&taken.stderr);
            let why = stderr
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty())
                .unwrap_or("the copy is not what was sent");
            return Err(failed(advised(&shown(why))));
        }
    }
    Ok(format!("\"{file}\""))
}

/// What to do about it.
fn advised(why: &str) -> String {
    let advice = if why.contains("No space left") || why.contains("quota") {
        "make room in ~/.cache there"
    } else if why.contains("GLIBC") || why.contains("not found") {
        "its C library is older: give a static binary with --install=FILE, or install the package for that system"
    } else if why.contains("Permission denied") {
        "its home may not hold programs (noexec): install the package there"
    } else {
        "install the package there"
    };
    format!("{why}; {advice}")
}

/// Runs a script there with this on its standard input.
fn over(link: &Link, script: &str, input: &[u8]) -> Result<Output, RemoteError> {
    let failed =
        |source| RemoteError::Start { command: link.ssh.clone().unwrap_or_else(|| "ssh".to_owned()), source };
    let mut child = link.command(script).spawn().map_err(failed)?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // A script that ends before it has read everything says so by its status.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output().map_err(failed)
    })
}
