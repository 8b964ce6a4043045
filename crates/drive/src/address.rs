//! Drive addresses as people type them: `twin:ssd1`, `file:/var/tmp/t.bin?size=2GiB`, `/dev/nvme0n1`, `null:`.
//!
//! `nvme-tcp://HOST:PORT/NQN` as well. Parsing looks at nothing but the text. Twins are only recognised here: who has a twin glues it.

use std::fmt;
use std::path::PathBuf;

use measure::nearest::nearest;
use measure::{Bytes, parse};
use nvme::host::tcp::TcpAddress;
use thiserror::Error;

/// Size of `null:` without `?size=`: larger than any region that a plan is likely to name.
const NULL_BYTES: Bytes = Bytes::new(1 << 40);

/// How a drive is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    text: String,
    kind: AddressKind,
}

/// The kinds of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// A simulated drive: the name of a built-in profile, or the path of one.
    Twin {
        /// Name or path.
        profile: String,
    },
    /// A file on a file system.
    File(FileAddress),
    /// A block device.
    Device {
        /// Its path below `/dev`.
        path: PathBuf,
    },
    /// A subsystem on a network.
    Fabric(FabricAddress),
    /// Completes at once.
    Null {
        /// Its size.
        size: Bytes,
    },
}

/// A subsystem on a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricAddress {
    /// Where it is, and its name.
    pub subsystem: TcpAddress,
    /// Ask for digests of headers.
    pub header_digest: bool,
    /// Ask for digests of data.
    pub data_digest: bool,
    /// The file with the secret by which we prove who we are.
    pub secret_file: Option<PathBuf>,
    /// The file with the secret by which the subsystem proves who it is.
    pub controller_secret_file: Option<PathBuf>,
}

/// A file on a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAddress {
    /// Its path.
    pub path: PathBuf,
    /// Use this much of it, and make or extend it to this much; `None` takes the file as it is.
    pub size: Option<Bytes>,
    /// Whether data in it that heatsoak did not make may be destroyed.
    pub overwrite: bool,
}

/// Why an address was not understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot use {typed:?} as a drive: {why}")]
pub struct AddressError {
    typed: String,
    why: String,
}

/// How addresses look, for errors: scheme, and an example of it.
const SCHEMES: [(&str, &str); 5] = [
    ("twin:", "twin:ssd1"),
    ("file:", "file:/var/tmp/t.bin?size=4GiB"),
    ("/dev/", "/dev/nvme0n1"),
    ("null:", "null:"),
    ("nvme-tcp://", "nvme-tcp://HOST:PORT/NQN"),
];

impl Address {
    /// Understands a typed address.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it and names the nearest valid form.
    pub fn parse(typed: &str) -> Result<Self, AddressError> {
        let refused = |why: String| AddressError { typed: typed.to_owned(), why };
        let kind = if let Some(profile) = typed.strip_prefix("twin:") {
            if profile.is_empty() {
                return Err(refused("it names no twin; write for example twin:ssd1".to_owned()));
            }
            AddressKind::Twin { profile: profile.to_owned() }
        } else if let Some(rest) = typed.strip_prefix("file:") {
            AddressKind::File(file(rest).map_err(refused)?)
        } else if let Some(rest) = typed.strip_prefix("null:") {
            let AddressOptions { size, .. } =
                options(rest.strip_prefix('?').unwrap_or(rest), &["size"]).map_err(refused)?;
            AddressKind::Null { size: size.unwrap_or(NULL_BYTES) }
        } else if typed.starts_with("nvme-tcp://") {
            AddressKind::Fabric(fabric(typed).map_err(refused)?)
        } else if typed.starts_with("/dev/") {
            AddressKind::Device { path: PathBuf::from(typed) }
        } else {
            return Err(refused(unknown_scheme(typed)));
        };
        Ok(Self { text: typed.to_owned(), kind })
    }

    /// What it is.
    pub const fn kind(&self) -> &AddressKind {
        &self.kind
    }
}

impl fmt::Display for Address {
    /// As it was typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn fabric(typed: &str) -> Result<FabricAddress, String> {
    let (plain, typed_options) = typed.rsplit_once('?').unwrap_or((typed, ""));
    let subsystem = TcpAddress::parse(plain).map_err(|error| error.to_string())?;
    let mut network = false;
    let mut address = FabricAddress {
        subsystem,
        header_digest: false,
        data_digest: false,
        secret_file: None,
        controller_secret_file: None,
    };
    for option in typed_options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("network", "yes")) => network = true,
            // By the names that nvme-cli gives them.
            Some(("hdr-digest", "yes")) => address.header_digest = true,
            Some(("data-digest", "yes")) => address.data_digest = true,
            Some(("dhchap-secret-file", path)) => address.secret_file = Some(PathBuf::from(path)),
            Some(("dhchap-ctrl-secret-file", path)) => {
                address.controller_secret_file = Some(PathBuf::from(path))
            }
            _ => {
                return Err(format!(
                    "there is no option {option:?} here, only network=yes, hdr-digest=yes, data-digest=yes, \
                     dhchap-secret-file=FILE and dhchap-ctrl-secret-file=FILE"
                ));
            }
        }
    }
    if address.controller_secret_file.is_some() && address.secret_file.is_none() {
        return Err(
            "a subsystem proves who it is only to hosts that do so; add dhchap-secret-file=FILE".to_owned()
        );
    }
    if !address.subsystem.is_loopback() && !network {
        let mark = if typed_options.is_empty() { '?' } else { '&' };
        return Err(format!(
            "it is another machine's, to be loaded over a network; if that is meant, add {mark}network=yes"
        ));
    }
    Ok(address)
}

fn file(rest: &str) -> Result<FileAddress, String> {
    // The last question mark: a path may contain one, options do not.
    let (path, typed_options) = rest.rsplit_once('?').unwrap_or((rest, ""));
    if path.is_empty() {
        return Err("it names no file; write for example file:/var/tmp/t.bin?size=4GiB".to_owned());
    }
    if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") {
        return Err(format!("a device is not a file; write {path} without \"file:\""));
    }
    let AddressOptions { size, overwrite } = options(typed_options, &["size", "overwrite"])?;
    Ok(FileAddress { path: PathBuf::from(path), size, overwrite })
}

/// What may stand behind the question mark.
struct AddressOptions {
    size: Option<Bytes>,
    overwrite: bool,
}

fn options(typed: &str, known: &[&str]) -> Result<AddressOptions, String> {
    let mut options = AddressOptions { size: None, overwrite: false };
    for option in typed.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("size", value)) => {
                let size = parse::size(value).map_err(|error| error.to_string())?;
                if size == Bytes::ZERO {
                    return Err("a size of zero leaves nothing to load".to_owned());
                }
                options.size = Some(size);
            }
            Some(("overwrite", "yes")) if known.contains(&"overwrite") => options.overwrite = true,
            Some(("overwrite", "no")) if known.contains(&"overwrite") => options.overwrite = false,
            _ => {
                let known = known.iter().map(|name| format!("{name}=...")).collect::<Vec<_>>();
                return Err(format!("there is no option {option:?} here, only {}", known.join(" and ")));
            }
        }
    }
    Ok(options)
}

fn unknown_scheme(typed: &str) -> String {
    if typed.starts_with(['/', '.', '~']) && !typed.contains(':') {
        return format!("a file is written file:{typed}, with ?size=4GiB behind it if it is to be made");
    }
    let scheme = typed.split_inclusive(':').next().unwrap_or(typed).to_lowercase();
    let near = nearest(&scheme, SCHEMES.map(|(name, _)| name));
    if let Some((_, example)) = SCHEMES.iter().find(|(name, _)| near.first() == Some(name)) {
        return format!("did you mean an address like {example}?");
    }
    let all = SCHEMES.map(|(_, example)| example).join(", ");
    format!("an address looks like one of these: {all}")
}

#[cfg(test)]
mod test {
    use super::*;

    fn kind(typed: &str) -> AddressKind {
        Address::parse(typed).expect("a valid address").kind
    }

    fn why(typed: &str) -> String {
        Address::parse(typed).expect_err("not an address").why
    }

    #[test]
    fn addresses_are_what_they_look_like() {
        assert_eq!(kind("twin:ssd1"), AddressKind::Twin { profile: "ssd1".into() });
        assert_eq!(kind("twin:a/b.toml"), AddressKind::Twin { profile: "a/b.toml".into() });
        assert_eq!(kind("/dev/disk/by-id/x"), AddressKind::Device { path: "/dev/disk/by-id/x".into() });
        assert_eq!(kind("null:"), AddressKind::Null { size: NULL_BYTES });
        assert_eq!(kind("null:?size=1MiB"), AddressKind::Null { size: Bytes::new(1 << 20) });
        let file = |path: &str, size: Option<u64>, overwrite| {
            AddressKind::File(FileAddress { path: path.into(), size: size.map(Bytes::new), overwrite })
        };
        assert_eq!(kind("file:t.bin"), file("t.bin", None, false));
        assert_eq!(kind("file:/t?size=4GiB&overwrite=yes"), file("/t", Some(4 << 30), true));
        assert_eq!(kind("file:/what?.bin?size=1KiB"), file("/what?.bin", Some(1024), false));
    }

    #[test]
    fn secrets_of_a_subsystem_are_named_behind_it() {
        let typed = "nvme-tcp://localhost/nqn.x:y?dhchap-secret-file=/k/host&dhchap-ctrl-secret-file=ctrl";
        let AddressKind::Fabric(address) = kind(typed) else { panic!("not a subsystem") };
        assert_eq!(address.subsystem.nqn, "nqn.x:y");
        assert!(!address.header_digest && !address.data_digest);
        assert_eq!(address.secret_file, Some("/k/host".into()));
        assert_eq!(address.controller_secret_file, Some("ctrl".into()));
        assert_eq!(Address::parse(typed).expect("valid").to_string(), typed);
        let digests = kind("nvme-tcp://localhost/nqn?hdr-digest=yes&data-digest=yes");
        let AddressKind::Fabric(address) = digests else { panic!("not a subsystem") };
        assert!(address.header_digest && address.data_digest);
    }

    #[test]
    fn errors_name_the_nearest_valid_form() {
        assert_eq!(why("twn:ssd1"), "did you mean an address like twin:ssd1?");
        assert_eq!(why("fil:/tmp/x"), "did you mean an address like file:/var/tmp/t.bin?size=4GiB?");
        assert_eq!(
            why("/tmp/x"),
            "a file is written file:/tmp/x, with ?size=4GiB behind it if it is to be made"
        );
        assert!(why("nvme-tcp://h:4420/nqn").contains("nvme-tcp://HOST:PORT/NQN"));
        let elsewhere = format!("nvme-tcp://{}/nqn", std::net::Ipv4Addr::from([10, 1, 2, 3]));
        assert!(why(&elsewhere).contains("?network=yes"));
        assert!(matches!(kind(&format!("{elsewhere}?network=yes")), AddressKind::Fabric(_)));
        assert!(matches!(kind("nvme-tcp://localhost/nqn"), AddressKind::Fabric(_)));
        assert!(why(&format!("{elsewhere}?dhchap-secret-file=/s")).contains("&network=yes"));
        assert!(why("nvme-tcp://localhost/nqn?netwrok=yes").contains("dhchap-ctrl-secret-file=FILE"));
        assert!(
            why("nvme-tcp://localhost/nqn?dhchap-ctrl-secret-file=/c").contains("add dhchap-secret-file")
        );
        assert!(why("zzz").contains("twin:ssd1, file:"));
        assert_eq!(why("file:/dev/sda"), "a device is not a file; write /dev/sda without \"file:\"");
        assert_eq!(
            why("file:x?sise=1GiB"),
            "there is no option \"sise=1GiB\" here, only size=... and overwrite=..."
        );
        assert_eq!(why("null:?overwrite=yes"), "there is no option \"overwrite=yes\" here, only size=...");
        assert!(why("file:x?size=4").contains("4GiB"));
        assert_eq!(why("file:x?size=0B"), "a size of zero leaves nothing to load");
        assert!(why("file:").contains("names no file") && why("twin:").contains("names no twin"));
    }
}
