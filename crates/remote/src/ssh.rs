//! The command that connects, and a sentence for each way in which that fails.
//!
//! Keys, jump hosts, known hosts and passwords are the business of `ssh` and its configuration. What goes wrong is read
//! off its exit status (255: its own failure; 126 and 127: POSIX shells, "cannot execute" and "not found") and the words
//! of OpenSSH and sudo.

use std::io;
use std::process::{Command, Stdio};

use thiserror::Error;

use crate::{MAGIC, PROTOCOL, VERSION};

/// The command on the other side: always the same, so that sudoers and authorized_keys can name it.
const REMOTE_COMMAND: &str = "heatsoak remote --stdio";

/// How to get to another machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// `[USER@]HOST`, as `ssh` takes it.
    pub host: String,
    /// Another command than `ssh`, with options; a shell takes it apart.
    pub ssh: Option<String>,
    /// Become root there, by `sudo -n`.
    pub sudo: bool,
    /// Where [`crate::install`] has put this binary.
    pub installed: Option<String>,
}

/// Why nothing came of it, or not all.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// No host.
    #[error("{host:?} is no host: write [USER@]HOST as for ssh")]
    Host {
        /// What was typed.
        host: String,
    },
    /// This side cannot start it.
    #[error(
        "cannot start {command}: {source}; install the OpenSSH client, or name another command with --ssh"
    )]
    Start {
        /// What was to be started.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// The key of the host is not the known one, or is not known.
    #[error(
        "{host} is not trusted: {detail}; connect once with `ssh {host}` to accept its key, or find out why it has changed \
         before you do"
    )]
    HostKey {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// No key or password that it takes.
    #[error("{host} refused to let you in: {detail}; `ssh {host}` has to work first")]
    Denied {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// It is not there.
    #[error("cannot connect to {host}: {detail}; `ssh {host}` has to work first")]
    Connect {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// No heatsoak there.
    #[error("{host} has no heatsoak in its PATH: --install puts this one into the cache of the user there")]
    NoBinary {
        /// The host.
        host: String,
    },
    /// It is there and does not start.
    #[error(
        "heatsoak does not start on {host}: {detail}; --install=FILE takes a static binary, or one built for that machine"
    )]
    DoesNotStart {
        /// The host.
        host: String,
        /// What the shell said.
        detail: String,
    },
    /// Another version.
    #[error(
        "{host} has {there}, here it is {VERSION}: both sides have to be the same; --install puts this one there"
    )]
    OtherVersion {
        /// The host.
        host: String,
        /// What it said.
        there: String,
    },
    /// `sudo` wants a password, or does not know the user.
    #[error(
        "cannot become root on {host}: {detail}; permit the line `{REMOTE_COMMAND}` without a password there (visudo: USER \
         ALL=(root) NOPASSWD: /usr/bin/heatsoak remote --stdio), or connect as root"
    )]
    Sudo {
        /// The host.
        host: String,
        /// What sudo said.
        detail: String,
    },
    /// Something else answers.
    #[error(
        "{host} does not answer as heatsoak: its login shell prints {noise:?}; make it print nothing for commands (in \
         .bashrc: return early where the shell is not interactive)"
    )]
    Noise {
        /// The host.
        host: String,
        /// What came first.
        noise: String,
    },
    /// The file system there takes no binary.
    #[error("cannot install heatsoak on {host}: {detail}")]
    Install {
        /// The host.
        host: String,
        /// What went wrong, and what to do.
        detail: String,
    },
    /// The connection broke.
    #[error("the connection to {host} broke: {detail}")]
    Lost {
        /// The host.
        host: String,
        /// What is known of it.
        detail: String,
    },
}

impl Link {
    /// A way to this host.
    ///
    /// # Errors
    /// When that is no name of one: `ssh` would take it for an option.
    pub fn checked(self) -> Result<Self, RemoteError> {
        let is_plain = |c: char| c.is_ascii_graphic() && !"'\"`$\\;|&<>(){}*?!".contains(c);
        let has_name = self.host.rsplit('@').next().is_some_and(|name| !name.is_empty());
        if self.host.starts_with('-') || !has_name || !self.host.chars().all(is_plain) {
            return Err(RemoteError::Host { host: self.host });
        }
        Ok(self)
    }

    /// The command for what runs there.
    pub(crate) fn remote_command(&self) -> String {
        let sudo = if self.sudo { "sudo -n " } else { "" };
        match &self.installed {
            Some(path) => format!("{sudo}{path} remote --stdio"),
            None => format!("{sudo}{REMOTE_COMMAND}"),
        }
    }

    /// `ssh` with all three streams piped. Ctrl-C at the terminal must not end it, because the run has to be ended over it
    /// first: a shell has it ignored, which `ssh` heeds.
    pub(crate) fn command(&self, remote: &str) -> Command {
        let ssh = self.ssh.as_deref().unwrap_or("ssh");
        let mut command = Command::new("sh");
        // It belongs to the user, who typed it for a shell; host and remote command are arguments.
        command.args(["-c", &format!("trap '' INT QUIT; exec {ssh} \"$@\""), "heatsoak"]);
        command.args([
            "-T",
            "-o",
            "ServerAliveInterval=5",
            "-o",
            "ServerAliveCountMax=3",
            "--",
            &self.host,
            remote,
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Why nothing came over a connection, by its end.
    pub(crate) fn failure(&self, code: Option<i32>, stderr: &str, noise: &str) -> RemoteError {
        let host = self.host.clone();
        let line_with = |words: &[&str]| {
            let has = |line: &&str| words.iter().any(|word| line.to_lowercase().contains(word));
            stderr
                .lines()
                .find(has)
                .map(|line| line.trim_matches(|c: char| c.is_whitespace() || "@.".contains(c)).to_owned())
        };
        let last = stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it said nothing")
            .trim()
            .to_owned();
        let changed = line_with(&["host identification has changed"]);
        if let Some(detail) =
            changed.or_else(|| line_with(&["host key verification failed", "host key is known"]))
        {
            return RemoteError::HostKey { host, detail };
        }
        if let Some(detail) = line_with(&["sudo:"]) {
            // sudo's own words; where a shell has no sudo, it stands last.
            if detail.contains("heatsoak: command not found") {
                return RemoteError::NoBinary { host };
            }
            return RemoteError::Sudo { host, detail };
        }
        if code == Some(255) {
            return match line_with(&["permission denied", "too many authentication failures"]) {
                Some(detail) => RemoteError::Denied { host, detail },
                None => RemoteError::Connect { host, detail: last },
            };
        }
        if line_with(&["unrecognized subcommand", "unexpected argument"]).is_some() {
            return RemoteError::OtherVersion {
                host,
                there: "an older heatsoak, without `remote`".to_owned(),
            };
        }
        match code {
            Some(127)
                if line_with(&["not found", "no such file"]).is_some()
                    && line_with(&["ld-linux", "shared lib"]).is_none() =>
            {
                RemoteError::NoBinary { host }
            }
            Some(126 | 127) => RemoteError::DoesNotStart { host, detail: last },
            _ if line_with(&["glibc", "shared librar", "exec format"]).is_some() => {
                RemoteError::DoesNotStart { host, detail: last }
            }
            _ if !noise.trim().is_empty() => RemoteError::Noise { host, noise: shown(noise) },
            _ => RemoteError::Connect { host, detail: last },
        }
    }

    /// Whether the other side's first line is that of the same heatsoak.
    pub(crate) fn check_hello(&self, line: &str) -> Result<(), RemoteError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [MAGIC, protocol, version] if *protocol == PROTOCOL.to_string() && *version == VERSION => Ok(()),
            [MAGIC, protocol, version, ..] => Err(RemoteError::OtherVersion {
                host: self.host.clone(),
                there: format!("heatsoak {} (protocol {})", shown(version), shown(protocol)),
            }),
            _ => Err(RemoteError::Noise { host: self.host.clone(), noise: shown(line) }),
        }
    }
}

/// The beginning of what came from elsewhere, as one line that steers no terminal.
pub(crate) fn shown(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    measure::visible::visible(&line.chars().take(200).collect::<String>()).into_owned()
}

#[cfg(test)]
mod test {
    use super::*;

    fn link(host: &str) -> Link {
        Link { host: host.to_owned(), ..Link::default() }
    }

    #[test]
    fn a_host_is_never_an_option_or_a_command() {
        for host in ["lab", "root@lab.example", "lab-2", "::1", "user@[fe80::1%eth0]", "a_b"] {
            assert!(link(host).checked().is_ok(), "{host}");
        }
        for host in ["-oProxyCommand=x", "", "root@", "a b", "a;b", "$(x)", "a\nb", "`x`", "a'b"] {
            assert!(link(host).checked().is_err(), "{host:?}");
        }
    }

    #[test]
    fn each_failure_has_its_own_sentence() {
        let told = |code, stderr| link("lab").failure(Some(code), stderr, "").to_string();
        let cases = [
            (255, "Host key verification failed.\r\n", "is not trusted"),
            (
                255,
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "is not trusted",
            ),
            (255, "user@lab: Permission denied (publickey).", "refused to let you in"),
            (
                255,
                "ssh: Could not resolve hostname lab: Name or service not known",
                "cannot connect to lab: ssh: Could not",
            ),
            (127, "bash: line 1: heatsoak: command not found", "--install"),
            (1, "sudo: a password is required", "cannot become root"),
            (1, "sudo: heatsoak: command not found", "has no heatsoak"),
            (127, "bash: line 1: sudo: command not found", "cannot become root"),
            (126, "sh: 1: /home/u/heatsoak: Permission denied", "does not start"),
            (
                1,
                "heatsoak: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.39' not found",
                "does not start",
            ),
            (2, "error: unrecognized subcommand 'remote'", "an older heatsoak"),
            (1, "", "cannot connect to lab: it said nothing"),
        ];
        for (code, stderr, expected) in cases {
            assert!(told(code, stderr).contains(expected), "{stderr}: {}", told(code, stderr));
        }
        let noise = link("lab").failure(Some(0), "", "\nWelcome\u{1b}[2J to lab\n").to_string();
        assert!(noise.contains("its login shell prints") && !noise.contains('\u{1b}'), "{noise}");
    }

    #[test]
    fn both_sides_are_the_same_version() {
        assert!(link("lab").check_hello(&format!("{MAGIC} {PROTOCOL} {VERSION}")).is_ok());
        let other = link("lab").check_hello(&format!("{MAGIC} 2 9.9.9")).expect_err("another").to_string();
        assert!(other.contains("heatsoak 9.9.9") && other.contains("--install"), "{other}");
    }
}
