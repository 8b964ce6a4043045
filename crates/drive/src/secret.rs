//! Secrets for authentication, each in a file of its own: on a command line everybody on the machine could read them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use measure::{input, patient};
use nvme::auth::Secret;

use crate::DriveError;

/// Permissions of others, which a file with a secret must not have.
const OTHERS: u32 = 0o077;
/// A secret of 64 bytes has 105 letters; nothing longer is read.
const LEN_MAX: u64 = 4096;

/// Reads a file that holds one secret (`DHHC-1:hh:base64:`), and space around it.
///
/// # Errors
/// The file cannot be read, others may read it too, or what is in it is no secret.
pub fn read(path: &Path) -> Result<Secret, DriveError> {
    use std::io::Read as _;
    let io = |source| DriveError::Io { what: "read the secret in", path: path.to_owned(), source };
    let refused = |why: String| DriveError::Secret { path: path.to_owned(), why };
    let file = input::open(path).map_err(io)?;
    let mode = file.metadata().map_err(io)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(refused(format!(
            "others may use the file as well (mode {:04o}); take that away (chmod 600)",
            mode & 0o7777
        )));
    }
    let mut text = String::new();
    patient::Patient::new(file).take(LEN_MAX).read_to_string(&mut text).map_err(io)?;
    Secret::parse(text.trim()).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod test {
    use std::fs::Permissions;

    use super::*;

    const SECRET: &str = "DHHC-1:01:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";

    #[test]
    fn a_secret_is_read_only_from_a_file_of_ones_own() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("secret");
        let write = |text: &str, mode: u32| {
            std::fs::write(&path, text).expect("room");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("ours");
            read(&path)
        };
        assert_eq!(
            write(&format!("  {SECRET}\n"), 0o600).expect("a secret"),
            Secret::parse(SECRET).expect("one")
        );
        assert!(write(SECRET, 0o400).is_ok());
        for mode in [0o640, 0o604, 0o660, 0o601] {
            let error = write(SECRET, mode).expect_err("others can read it").to_string();
            assert!(error.contains("chmod 600") && error.contains(&format!("{mode:04o}")), "{error}");
        }
        let error = write("DHHC-1:01:short:", 0o600).expect_err("no secret").to_string();
        assert!(error.contains("cannot use the secret in") && !error.contains("short:"), "{error}");
        assert!(write("", 0o600).is_err());
        assert!(read(&folder.path().join("missing")).expect_err("missing").to_string().contains("missing"));
        assert!(read(folder.path()).expect_err("a folder").to_string().contains("a folder"));
    }
}
