//! The host's side of an exchange.

use thiserror::Error;

use super::group::KeyPair;
use super::{
    AuthMessage, AuthNames, Challenge, DhGroup, FailureReason, HashFunction, Negotiate, Nonces, Reply,
    Secret, Terms,
};
use crate::DecodeError;

/// What a host knows.
#[derive(Clone, Debug)]
pub struct HostAuth {
    /// The secret by which it proves itself.
    pub secret: Secret,
    /// The secret by which the subsystem must prove itself.
    pub controller_secret: Option<Secret>,
}

/// Why an exchange came to no good end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AuthError {
    /// The controller says so.
    #[error("the subsystem refused it: {0}")]
    Refused(FailureReason),
    /// What the controller sent is no message.
    #[error("the subsystem sent {0}")]
    Decode(#[from] DecodeError),
    /// What the controller sent does not belong here.
    #[error("the subsystem sent {0}, which is not what comes next")]
    Unexpected(&'static str),
    /// It belongs to another exchange.
    #[error("the subsystem answered in transaction {got:#x} what was asked in {wanted:#x}")]
    Transaction {
        /// Ours.
        wanted: u16,
        /// Its.
        got: u16,
    },
    /// A hash function that was not offered, or a value of another length than its.
    #[error("the subsystem chose hash function {id:#04x} with values of {len} bytes, which was not offered")]
    Hash {
        /// Its identifier.
        id: u8,
        /// Bytes of the value.
        len: usize,
    },
    /// A group that was not offered, or a number that is none of it.
    #[error(
        "the subsystem chose Diffie-Hellman group {id:#04x} with a number of {len} bytes, which does not do"
    )]
    Group {
        /// Its identifier.
        id: u8,
        /// Bytes of the number.
        len: usize,
    },
    /// The controller's response is missing or wrong.
    #[error("the subsystem did not prove that it knows the controller's secret")]
    NotProved,
}

impl AuthError {
    /// What the controller is told.
    pub const fn reason(&self) -> FailureReason {
        match self {
            Self::Refused(reason) => *reason,
            Self::Decode(_) | Self::Transaction { .. } => FailureReason::PAYLOAD,
            Self::Unexpected(_) => FailureReason::MESSAGE,
            Self::Hash { .. } => FailureReason::HASH,
            Self::Group { .. } => FailureReason::GROUP,
            Self::NotProved => FailureReason::FAILED,
        }
    }
}

/// One connection's exchange: negotiate, reply to the challenge, check the success.
pub struct HostExchange<'a> {
    auth: &'a HostAuth,
    names: AuthNames,
    transaction: u16,
    nonces: Nonces,
    agreed: Option<Agreed>,
}

/// What the challenge decided.
struct Agreed {
    hash: HashFunction,
    shared: Option<Vec<u8>>,
}

impl<'a> HostExchange<'a> {
    /// Before the first message.
    pub const fn new(auth: &'a HostAuth, names: AuthNames, transaction: u16, nonces: Nonces) -> Self {
        Self { auth, names, transaction, nonces, agreed: None }
    }

    /// The first message: everything is offered, in the order of Linux.
    pub fn negotiate(&self) -> Vec<u8> {
        AuthMessage::Negotiate(Negotiate {
            transaction: self.transaction,
            secure_channel: 0,
            hashes: HashFunction::ALL.map(HashFunction::id).to_vec(),
            groups: DhGroup::ALL.map(DhGroup::id).to_vec(),
        })
        .encode()
    }

    /// The reply to a challenge.
    ///
    /// # Errors
    /// What is wrong with what came.
    pub fn reply(&mut self, message: &[u8]) -> Result<Vec<u8>, AuthError> {
        let challenge = match self.take(message)? {
            AuthMessage::Challenge(challenge) => challenge,
            other => return Err(AuthError::Unexpected(other.name())),
        };
        let Challenge { hash, group, sequence, challenge, dh_value, .. } = challenge;
        let function = HashFunction::from_id(hash).filter(|hash| hash.len_bytes() == challenge.len());
        let function = function.ok_or(AuthError::Hash { id: hash, len: challenge.len() })?;
        let bad_group = AuthError::Group { id: group, len: dh_value.len() };
        let pair = DhGroup::from_id(group).map(|group| KeyPair::new(group, &self.nonces.exponent));
        let pair = pair.ok_or_else(|| bad_group.clone())?;
        let shared = pair.agreed(&dh_value).map_err(|_| bad_group)?;
        let terms = Terms { hash: function, shared: shared.as_deref(), transaction: self.transaction };
        let response = terms.host_response(&self.auth.secret, &challenge, sequence, &self.names).bytes();
        self.agreed = Some(Agreed { hash: function, shared });
        let asks = self.auth.controller_secret.is_some();
        let reply = Reply {
            transaction: self.transaction,
            response,
            challenge: asks.then(|| (self.own_challenge(function).to_vec(), self.nonces.sequence)),
            dh_value: pair.public(),
        };
        Ok(AuthMessage::Reply(reply).encode())
    }

    /// Checks the controller's last message; returns what is to be sent, if anything.
    ///
    /// # Errors
    /// What is wrong with what came.
    pub fn finish(&mut self, message: &[u8]) -> Result<Option<Vec<u8>>, AuthError> {
        let response = match self.take(message)? {
            AuthMessage::Success1 { response, .. } => response,
            other => return Err(AuthError::Unexpected(other.name())),
        };
        let Some(Agreed { hash, shared }) = &self.agreed else {
            return Err(AuthError::Unexpected("DH-HMAC-CHAP_Success1"));
        };
        let Some(secret) = &self.auth.controller_secret else { return Ok(None) };
        let terms = Terms { hash: *hash, shared: shared.as_deref(), transaction: self.transaction };
        let own = self.own_challenge(*hash);
        let expected = terms.controller_response(secret, own, self.nonces.sequence, &self.names);
        if !response.is_some_and(|response| expected.is(&response)) {
            return Err(AuthError::NotProved);
        }
        Ok(Some(AuthMessage::Success2 { transaction: self.transaction }.encode()))
    }

    /// What tells the controller that it came to no good end.
    pub fn failure(&self, error: &AuthError) -> Vec<u8> {
        AuthMessage::Failure2 { transaction: self.transaction, reason: error.reason() }.encode()
    }

    fn own_challenge(&self, hash: HashFunction) -> &[u8] {
        &self.nonces.challenge[..hash.len_bytes()]
    }

    fn take(&self, message: &[u8]) -> Result<AuthMessage, AuthError> {
        let message = AuthMessage::decode(message)?;
        if let AuthMessage::Failure1 { reason, .. } = message {
            return Err(AuthError::Refused(reason));
        }
        if message.transaction() != self.transaction {
            return Err(AuthError::Transaction { wanted: self.transaction, got: message.transaction() });
        }
        Ok(message)
    }
}
