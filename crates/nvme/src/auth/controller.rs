//! The controller's side of an exchange.

use super::group::KeyPair;
use super::{
    AuthMessage, AuthNames, Challenge, DhGroup, FailureReason, HashFunction, Negotiate, Nonces, Reply,
    Secret, Terms,
};

/// What a subsystem asks of hosts.
#[derive(Clone, Debug)]
pub struct ControllerAuth {
    /// The secret that a host must know.
    pub host_secret: Secret,
    /// The secret by which the subsystem proves itself to hosts that ask for it.
    pub controller_secret: Option<Secret>,
    /// The only hash function; without one, the first one of the host's that is known.
    pub hash: Option<HashFunction>,
    /// The only group; without one, the first one of the host's that is known and not NULL.
    pub group: Option<DhGroup>,
}

/// One connection's exchange.
#[derive(Debug)]
pub struct ControllerExchange {
    auth: ControllerAuth,
    names: AuthNames,
    step: Step,
    authenticated: bool,
}

/// What comes next.
enum Step {
    /// The host begins.
    Negotiate,
    /// The host fetches a challenge.
    Challenge { transaction: u16, hash: HashFunction, group: DhGroup },
    /// The host replies to it.
    Reply { transaction: u16, hash: HashFunction, challenge: Vec<u8>, sequence: u32, pair: KeyPair },
    /// The host fetches the good news.
    Success1 { transaction: u16, hash: HashFunction, response: Option<Vec<u8>> },
    /// The host says that the controller's response was right.
    Success2 { transaction: u16 },
    /// The host fetches the bad news.
    Failure1 { transaction: u16, reason: FailureReason },
    /// Nothing: it failed, and the connection is to be closed.
    Over,
}

/// Keys and challenges are nobody's business.
impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Negotiate => "Negotiate",
            Self::Challenge { .. } => "Challenge",
            Self::Reply { .. } => "Reply",
            Self::Success1 { .. } => "Success1",
            Self::Success2 { .. } => "Success2",
            Self::Failure1 { .. } => "Failure1",
            Self::Over => "Over",
        })
    }
}

impl ControllerExchange {
    /// Before the first message of a connection.
    pub fn new(auth: ControllerAuth, names: AuthNames) -> Self {
        Self { auth, names, step: Step::Negotiate, authenticated: false }
    }

    /// Whether the host has proved itself, and takes the controller for genuine if it asked.
    pub const fn is_authenticated(&self) -> bool {
        self.authenticated
    }

    /// Whether it has failed for good, so that the connection is to be closed.
    pub const fn is_over(&self) -> bool {
        matches!(self.step, Step::Over)
    }

    /// Takes what came with Authentication Send. Whatever is wrong with it is told by what the host fetches next.
    pub fn send(&mut self, message: &[u8]) {
        let step = std::mem::replace(&mut self.step, Step::Over);
        if matches!(step, Step::Over) {
            return;
        }
        self.step = match AuthMessage::decode(message) {
            Err(_) => failed(step.transaction(), FailureReason::PAYLOAD),
            // The host's last word.
            Ok(AuthMessage::Failure2 { .. }) => Step::Over,
            // It may begin anew at any time, also long after it has succeeded.
            Ok(AuthMessage::Negotiate(negotiate)) if !matches!(step, Step::Failure1 { .. }) => {
                self.negotiated(&negotiate)
            }
            Ok(message) => self.proceed(step, &message),
        };
        if matches!(self.step, Step::Failure1 { .. } | Step::Over) {
            self.authenticated = false;
        }
    }

    fn proceed(&mut self, step: Step, message: &AuthMessage) -> Step {
        match (step, message) {
            (step @ Step::Failure1 { .. }, _) => step,
            (step @ (Step::Reply { .. } | Step::Success2 { .. }), message)
                if step.transaction() != message.transaction() =>
            {
                failed(step.transaction(), FailureReason::PAYLOAD)
            }
            (Step::Reply { transaction, hash, challenge, sequence, pair }, AuthMessage::Reply(reply)) => {
                match self.checked(transaction, hash, &challenge, sequence, &pair, reply) {
                    Ok(response) => Step::Success1 { transaction, hash, response },
                    Err(reason) => failed(transaction, reason),
                }
            }
            (Step::Success2 { .. }, AuthMessage::Success2 { .. }) => {
                self.authenticated = true;
                Step::Negotiate
            }
            (step, _) => failed(step.transaction(), FailureReason::MESSAGE),
        }
    }

    fn negotiated(&self, negotiate: &Negotiate) -> Step {
        let transaction = negotiate.transaction;
        if negotiate.secure_channel != 0 {
            return failed(transaction, FailureReason::SECURE_CHANNEL);
        }
        let mut hashes = negotiate.hashes.iter().filter_map(|id| HashFunction::from_id(*id));
        let Some(hash) = hashes.find(|hash| self.auth.hash.is_none_or(|only| only == *hash)) else {
            return failed(transaction, FailureReason::HASH);
        };
        let groups: Vec<DhGroup> = negotiate.groups.iter().filter_map(|id| DhGroup::from_id(*id)).collect();
        let group = match self.auth.group {
            Some(only) => groups.contains(&only).then_some(only),
            None => groups.iter().find(|group| **group != DhGroup::Null).or(groups.first()).copied(),
        };
        match group {
            Some(group) => Step::Challenge { transaction, hash, group },
            None => failed(transaction, FailureReason::GROUP),
        }
    }

    /// Checks a reply; returns the response to the host's challenge, if there is one.
    fn checked(
        &self,
        transaction: u16,
        hash: HashFunction,
        challenge: &[u8],
        sequence: u32,
        pair: &KeyPair,
        reply: &Reply,
    ) -> Result<Option<Vec<u8>>, FailureReason> {
        if reply.response.len() != hash.len_bytes() {
            return Err(FailureReason::PAYLOAD);
        }
        let shared = pair.agreed(&reply.dh_value).map_err(|_| FailureReason::PAYLOAD)?;
        let terms = Terms { hash, shared: shared.as_deref(), transaction };
        let expected = terms.host_response(&self.auth.host_secret, challenge, sequence, &self.names);
        if !expected.is(&reply.response) {
            return Err(FailureReason::FAILED);
        }
        let Some((challenge, sequence)) = &reply.challenge else { return Ok(None) };
        let secret = self.auth.controller_secret.as_ref().ok_or(FailureReason::FAILED)?;
        Ok(Some(terms.controller_response(secret, challenge, *sequence, &self.names).bytes()))
    }

    /// What Authentication Receive fetches; `None` where it is longer than `room`, and then nothing has changed.
    pub fn receive(&mut self, nonces: &Nonces, room: usize) -> Option<Vec<u8>> {
        let failure = |transaction, reason| (AuthMessage::Failure1 { transaction, reason }, Step::Over);
        let (message, next) = match &self.step {
            Step::Challenge { transaction, hash, group } => challenge(*transaction, *hash, *group, nonces),
            Step::Success1 { transaction, hash, response } => {
                let message = AuthMessage::Success1 {
                    transaction: *transaction,
                    hash_len: hash.len_bytes() as u8,
                    response: response.clone(),
                };
                let is_asked = response.is_some();
                (
                    message,
                    if is_asked { Step::Success2 { transaction: *transaction } } else { Step::Negotiate },
                )
            }
            Step::Failure1 { transaction, reason } => failure(*transaction, *reason),
            step => failure(step.transaction(), FailureReason::MESSAGE),
        };
        let bytes = message.encode();
        if bytes.len() > room {
            return None;
        }
        match (&message, &next) {
            (AuthMessage::Success1 { .. }, Step::Negotiate) => self.authenticated = true,
            (AuthMessage::Failure1 { .. }, _) => self.authenticated = false,
            _ => {}
        }
        self.step = next;
        Some(bytes)
    }
}

impl Step {
    const fn transaction(&self) -> u16 {
        match self {
            Self::Negotiate | Self::Over => 0,
            Self::Challenge { transaction, .. }
            | Self::Reply { transaction, .. }
            | Self::Success1 { transaction, .. }
            | Self::Success2 { transaction }
            | Self::Failure1 { transaction, .. } => *transaction,
        }
    }
}

const fn failed(transaction: u16, reason: FailureReason) -> Step {
    Step::Failure1 { transaction, reason }
}

fn challenge(transaction: u16, hash: HashFunction, group: DhGroup, nonces: &Nonces) -> (AuthMessage, Step) {
    let pair = KeyPair::new(group, &nonces.exponent);
    let challenge = nonces.challenge[..hash.len_bytes()].to_vec();
    let sequence = nonces.sequence;
    let message = Challenge {
        transaction,
        hash: hash.id(),
        group: group.id(),
        sequence,
        challenge: challenge.clone(),
        dh_value: pair.public(),
    };
    (AuthMessage::Challenge(message), Step::Reply { transaction, hash, challenge, sequence, pair })
}
