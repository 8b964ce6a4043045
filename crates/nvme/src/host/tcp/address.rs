//! Addresses of NVMe/TCP subsystems: `nvme-tcp://HOST:PORT/NQN`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use thiserror::Error;

use crate::tcp::PORT;

/// Where a subsystem is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpAddress {
    /// IP address and port.
    pub socket: SocketAddr,
    /// Name of the subsystem.
    pub nqn: String,
}

/// Why an address was not understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{why}; write nvme-tcp://HOST:PORT/NQN, for example nvme-tcp://127.0.0.1:4420/NAME")]
pub struct TcpAddressError {
    why: String,
}

/// Most bytes of a qualified name (NVMe Base 2.3, NVMe Qualified Names).
const NQN_LEN_MAX: usize = 223;

impl TcpAddress {
    /// The scheme of these addresses.
    pub const SCHEME: &'static str = "nvme-tcp://";

    /// Reads an address. Without a port it is the one that IANA gave to NVMe/TCP.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn parse(typed: &str) -> Result<Self, TcpAddressError> {
        let refused = |why: String| TcpAddressError { why };
        let rest = typed
            .strip_prefix(Self::SCHEME)
            .ok_or_else(|| refused(format!("it does not begin with {}", Self::SCHEME)))?;
        let (place, nqn) = rest
            .split_once('/')
            .ok_or_else(|| refused("it has no name of a subsystem behind the port".to_owned()))?;
        if nqn.is_empty() || nqn.len() > NQN_LEN_MAX {
            return Err(refused(format!("the name of a subsystem has 1 to {NQN_LEN_MAX} bytes")));
        }
        Ok(Self { socket: socket(place).map_err(refused)?, nqn: nqn.to_owned() })
    }

    /// Whether it is this machine.
    pub const fn is_loopback(&self) -> bool {
        self.socket.ip().is_loopback()
    }
}

fn socket(place: &str) -> Result<SocketAddr, String> {
    let place = place
        .strip_prefix("localhost")
        .map_or_else(|| place.to_owned(), |rest| format!("{}{rest}", Ipv4Addr::LOCALHOST));
    if let Ok(socket) = place.parse::<SocketAddr>() {
        return Ok(socket);
    }
    let bare = place.trim_start_matches('[').trim_end_matches(']');
    let ip: IpAddr =
        bare.parse().map_err(|_| format!("{place:?} is neither an IP address nor localhost, with a port"))?;
    Ok(SocketAddr::new(ip, PORT))
}

impl fmt::Display for TcpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}/{}", Self::SCHEME, self.socket, self.nqn)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_a_port() {
        for (typed, shown) in [
            ("nvme-tcp://127.0.0.1:4421/nqn.x", "nvme-tcp://127.0.0.1:4421/nqn.x"),
            ("nvme-tcp://localhost:1/a:b/c", "nvme-tcp://127.0.0.1:1/a:b/c"),
            ("nvme-tcp://localhost/a", "nvme-tcp://127.0.0.1:4420/a"),
            ("nvme-tcp://[::1]/a", "nvme-tcp://[::1]:4420/a"),
            ("nvme-tcp://[::1]:9/a", "nvme-tcp://[::1]:9/a"),
        ] {
            let address = TcpAddress::parse(typed).expect(typed);
            assert_eq!(address.to_string(), shown);
            assert!(address.is_loopback());
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_form() {
        for typed in ["nvme-tcp://127.0.0.1:4420", "nvme-tcp://127.0.0.1:4420/", "tcp://x", "nvme-tcp://:1/a"]
        {
            let error = TcpAddress::parse(typed).expect_err(typed);
            assert!(error.to_string().contains("nvme-tcp://HOST:PORT/NQN"), "{error}");
        }
        let long = format!("nvme-tcp://localhost/{}", "x".repeat(224));
        assert!(TcpAddress::parse(&long).is_err());
    }
}
