//! Both sides against values computed elsewhere, against each other, and against what goes wrong.

use super::*;

/// The key of the specification's example of a secret.
const KEY: &str = "ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n";
/// Another one, made by `nvme gen-dhchap-key`.
const OTHER: &str = "DHHC-1:00:9wCYVQqDvADjGIZo6q/v2SfmXZqqkNa9TcvYu97Ly3Q/gajh:";
const TRANSACTION: u16 = 0x0102;

/// Responses to the challenges of [`controller_nonces`] and [`host_nonces`], computed with Python's `hashlib`, `hmac`
/// and `pow` from the formulas of the specification.
struct Vector {
    hash: HashFunction,
    group: DhGroup,
    /// The two digits of the secrets: of the host's, of the controller's.
    transforms: (&'static str, &'static str),
    host_response: &'static str,
    controller_response: &'static str,
}

const VECTORS: [Vector; 4] = [
    Vector {
        hash: HashFunction::Sha256,
        group: DhGroup::Null,
        transforms: ("00", "01"),
        host_response: "a3d2f820cd8ddf4da4e00454cdbbaae32319d4cdd8dddd1075b3595b26c462f1",
        controller_response: "5259e9a02b763a7ecaa5c93f1bd92873202477493860deaf924635fa29af6054",
    },
    Vector {
        hash: HashFunction::Sha384,
        group: DhGroup::Ffdhe2048,
        transforms: ("01", "03"),
        host_response: "aa083ef493391c9f86dfd7268504ffadecc72a93df100e060ea72afe68c21e77decabdd9449b83911ecfd43b021f7136",
        controller_response: "e68729cb9dad9715fb1627e7dd21749cd2e193f257c0ee42c5fc67e93b195de3c13af10b6d2e699eaf359c47746a15a9",
    },
    Vector {
        hash: HashFunction::Sha512,
        group: DhGroup::Ffdhe3072,
        transforms: ("03", "02"),
        host_response: "44855b7646cf1648c310f7d1f23ed6210d6b5c6caa426ed9911632e0ce5f39a20dedd33979e46926b3cd9fe261ff295a\
              c147a22488eae106a9011679bc49e44a",
        controller_response: "88d7d196be0e8d9a28af44a704e6b3ff3aeeae1b426b3d83bb18091e2ae858ad6af76fd64932fd7acc135d5437bda14e\
              ca7c3dd5d39130763c103f97fde09b18",
    },
    Vector {
        hash: HashFunction::Sha256,
        group: DhGroup::Ffdhe8192,
        transforms: ("02", "00"),
        host_response: "127c83a9d48b10d25f392125a5f5d4274aa1498d34c0d9e5d9c5b616866c0e6f",
        controller_response: "7461dd28d342d888a5cf0e8774d825d79222ea07ade21f14b3c0efbe982deb6c",
    },
];

fn secret(transform: &str) -> Secret {
    Secret::parse(&format!("DHHC-1:{transform}:{KEY}:")).expect("the example")
}

fn names() -> AuthNames {
    AuthNames {
        host: "nqn.2014-08.org.nvmexpress:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6".to_owned(),
        subsystem: "nqn.2026-11.invalid.heatsoak:lab1".to_owned(),
    }
}

fn controller_nonces() -> Nonces {
    Nonces { challenge: std::array::from_fn(|at| at as u8), exponent: [9; 64], sequence: 0x0102_0304 }
}

fn host_nonces() -> Nonces {
    Nonces { challenge: std::array::from_fn(|at| at as u8 + 100), exponent: [7; 64], sequence: 5 }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Both sides with secrets of their own.
struct Pair {
    host: HostAuth,
    controller: ControllerAuth,
}

impl Pair {
    /// Both know the same, in both directions.
    fn alike(hash: Option<HashFunction>, group: Option<DhGroup>) -> Self {
        let host = HostAuth { secret: secret("01"), controller_secret: Some(secret("03")) };
        let controller =
            ControllerAuth { host_secret: secret("01"), controller_secret: Some(secret("03")), hash, group };
        Self { host, controller }
    }

    fn exchange(&self) -> ControllerExchange {
        ControllerExchange::new(self.controller.clone(), names())
    }

    fn host(&self) -> HostExchange<'_> {
        HostExchange::new(&self.host, names(), TRANSACTION, host_nonces())
    }

    /// From the first message to the last; how the host took it, and the controller's side afterwards.
    fn run(&self) -> (Result<(), AuthError>, ControllerExchange) {
        let mut controller = self.exchange();
        let ended = self.converse(&mut controller);
        (ended, controller)
    }

    fn converse(&self, controller: &mut ControllerExchange) -> Result<(), AuthError> {
        let mut host = self.host();
        controller.send(&host.negotiate());
        let reply = host.reply(&fetched(controller))?;
        controller.send(&reply);
        match host.finish(&fetched(controller)) {
            Ok(last) => {
                last.iter().for_each(|last| controller.send(last));
                Ok(())
            }
            Err(error) => {
                controller.send(&host.failure(&error));
                Err(error)
            }
        }
    }
}

/// What the host fetches, in a buffer that is longer, as Linux does.
fn fetched(controller: &mut ControllerExchange) -> Vec<u8> {
    let mut bytes =
        controller.receive(&controller_nonces(), MESSAGE_LEN_MAX).expect("room for every message");
    bytes.resize(MESSAGE_LEN_MAX, 0);
    bytes
}

fn reason(message: &[u8]) -> FailureReason {
    match AuthMessage::decode(message) {
        Ok(AuthMessage::Failure1 { reason, .. }) => reason,
        other => panic!("{other:?} is no failure"),
    }
}

#[test]
fn responses_are_those_of_an_implementation_of_its_own() {
    for vector in VECTORS {
        let mut pair = Pair::alike(Some(vector.hash), Some(vector.group));
        (pair.host.secret, pair.controller.host_secret) =
            (secret(vector.transforms.0), secret(vector.transforms.0));
        (pair.host.controller_secret, pair.controller.controller_secret) =
            (Some(secret(vector.transforms.1)), Some(secret(vector.transforms.1)));
        let (mut host, mut controller) = (pair.host(), pair.exchange());
        controller.send(&host.negotiate());
        let reply = host.reply(&fetched(&mut controller)).expect("a challenge");
        let Ok(AuthMessage::Reply(decoded)) = AuthMessage::decode(&reply) else { panic!("no reply") };
        assert_eq!(hex(&decoded.response), vector.host_response, "{} {}", vector.hash, vector.group);
        controller.send(&reply);
        let success = fetched(&mut controller);
        let Ok(AuthMessage::Success1 { response: Some(response), .. }) = AuthMessage::decode(&success) else {
            panic!("no success")
        };
        assert_eq!(hex(&response), vector.controller_response, "{} {}", vector.hash, vector.group);
        let last = host.finish(&success).expect("the controller is genuine").expect("it is told so");
        assert!(!controller.is_authenticated(), "the host has the last word");
        controller.send(&last);
        assert!(controller.is_authenticated() && !controller.is_over());
    }
}

#[test]
fn without_a_choice_of_its_own_the_controller_takes_the_first_group_that_hides_the_exchange() {
    let pair = Pair::alike(None, None);
    let mut controller = pair.exchange();
    controller.send(&pair.host().negotiate());
    let Ok(AuthMessage::Challenge(challenge)) = AuthMessage::decode(&fetched(&mut controller)) else {
        panic!("no challenge")
    };
    assert_eq!((challenge.hash, challenge.group), (HashFunction::Sha256.id(), DhGroup::Ffdhe2048.id()));
    let only_null = |groups: Vec<u8>| {
        let mut controller = pair.exchange();
        let negotiate = Negotiate { transaction: 1, secure_channel: 0, hashes: vec![9, 3], groups };
        controller.send(&AuthMessage::Negotiate(negotiate).encode());
        AuthMessage::decode(&fetched(&mut controller)).expect("a message")
    };
    assert!(matches!(only_null(vec![77, 0]), AuthMessage::Challenge(Challenge { hash: 3, group: 0, .. })));
    assert!(matches!(only_null(vec![77]), AuthMessage::Failure1 { reason: FailureReason::GROUP, .. }));
}

#[test]
fn a_wrong_secret_on_either_side_is_found_by_the_other() {
    let wrong = Secret::parse(OTHER).expect("a secret");
    let mut pair = Pair::alike(None, None);
    pair.host.secret = wrong.clone();
    let (ended, controller) = pair.run();
    assert_eq!(ended, Err(AuthError::Refused(FailureReason::FAILED)));
    assert!(!controller.is_authenticated() && controller.is_over());

    let mut pair = Pair::alike(None, None);
    pair.controller.controller_secret = Some(wrong);
    let (ended, controller) = pair.run();
    assert_eq!(ended, Err(AuthError::NotProved));
    assert!(!controller.is_authenticated() && controller.is_over());

    // The same key with another transformation is another secret.
    let mut pair = Pair::alike(None, None);
    pair.host.secret = secret("00");
    assert_eq!(pair.run().0, Err(AuthError::Refused(FailureReason::FAILED)));
}

#[test]
fn one_direction_is_enough_where_the_host_asks_for_no_more() {
    let mut pair = Pair::alike(Some(HashFunction::Sha512), Some(DhGroup::Null));
    pair.host.controller_secret = None;
    let (ended, controller) = pair.run();
    assert_eq!(ended, Ok(()));
    assert!(controller.is_authenticated());

    // A controller that cannot prove itself says no to whoever asks it to.
    let mut pair = Pair::alike(None, None);
    pair.controller.controller_secret = None;
    assert_eq!(pair.run().0, Err(AuthError::Refused(FailureReason::FAILED)));
}

#[test]
fn a_reply_heard_before_is_of_no_use() {
    let pair = Pair::alike(None, None);
    let (mut host, mut controller) = (pair.host(), pair.exchange());
    controller.send(&host.negotiate());
    let reply = host.reply(&fetched(&mut controller)).expect("a challenge");
    // On another connection, where the challenge is another one.
    let mut other = pair.exchange();
    other.send(&host.negotiate());
    let nonces = Nonces { challenge: [1; 64], ..controller_nonces() };
    other.receive(&nonces, MESSAGE_LEN_MAX).expect("a challenge");
    other.send(&reply);
    assert_eq!(reason(&fetched(&mut other)), FailureReason::FAILED);
    // On the same one, twice.
    controller.send(&reply);
    controller.send(&reply);
    assert_eq!(reason(&fetched(&mut controller)), FailureReason::MESSAGE);
    assert!(!controller.is_authenticated());
}

#[test]
fn messages_out_of_order_end_it() {
    let pair = Pair::alike(None, None);
    let host = pair.host();
    let success2 = AuthMessage::Success2 { transaction: TRANSACTION }.encode();
    for first in [success2.clone(), AuthMessage::Success2 { transaction: 0 }.encode(), vec![1, 2], Vec::new()]
    {
        let mut controller = pair.exchange();
        controller.send(&first);
        assert!(matches!(reason(&fetched(&mut controller)), FailureReason::MESSAGE | FailureReason::PAYLOAD));
        assert!(!controller.is_authenticated() && controller.is_over());
        // What comes after the end changes nothing.
        for more in [&host.negotiate()[..], &first, &[7]] {
            controller.send(more);
            assert!(controller.is_over());
        }
    }
    // Nothing was sent, and something is fetched.
    let mut controller = pair.exchange();
    assert_eq!(reason(&fetched(&mut controller)), FailureReason::MESSAGE);
    // The good end claimed before the reply.
    let mut controller = pair.exchange();
    controller.send(&host.negotiate());
    fetched(&mut controller);
    controller.send(&success2);
    assert_eq!(reason(&fetched(&mut controller)), FailureReason::MESSAGE);
    // A reply of another transaction.
    let mut controller = pair.exchange();
    controller.send(&host.negotiate());
    let reply = pair.host().reply(&fetched(&mut controller)).expect("a challenge");
    controller.send(&[&reply[..4], &[9, 9], &reply[6..]].concat());
    assert_eq!(reason(&fetched(&mut controller)), FailureReason::PAYLOAD);
}

#[test]
fn a_reply_cut_short_or_changed_in_any_byte_is_refused() {
    let pair = Pair::alike(None, Some(DhGroup::Null));
    let mut first = pair.exchange();
    let mut host = pair.host();
    first.send(&host.negotiate());
    let reply = host.reply(&fetched(&mut first)).expect("a challenge");
    let accepts = |reply: &[u8]| {
        let mut controller = pair.exchange();
        controller.send(&pair.host().negotiate());
        fetched(&mut controller);
        controller.send(reply);
        matches!(AuthMessage::decode(&fetched(&mut controller)), Ok(AuthMessage::Success1 { .. }))
    };
    assert!(accepts(&reply));
    for len in 0..reply.len() {
        assert!(!accepts(&reply[..len]), "{len}");
    }
    // Header, and the response itself; what follows is the host's own challenge.
    for at in (0..2).chain(4..7).chain(16..48) {
        let mut changed = reply.clone();
        changed[at] ^= 1;
        assert!(!accepts(&changed), "byte {at}");
    }
}

#[test]
fn the_host_believes_no_answer_that_does_not_belong_to_its_question() {
    let pair = Pair::alike(None, None);
    let mut controller = pair.exchange();
    controller.send(&pair.host().negotiate());
    let challenge = fetched(&mut controller);
    let changed = |at: usize, value: u8| {
        let mut changed = challenge.clone();
        changed[at] = value;
        pair.host().reply(&changed).expect_err("it was changed")
    };
    assert!(matches!(changed(4, 9), AuthError::Transaction { .. }));
    assert!(matches!(changed(8, 9), AuthError::Hash { id: 9, len: 32 }));
    assert!(matches!(changed(6, 31), AuthError::Hash { id: 1, len: 31 }));
    assert!(matches!(changed(9, 9), AuthError::Group { id: 9, .. }));
    assert!(matches!(changed(9, 0), AuthError::Group { id: 0, .. }), "a number where the group has none");
    assert!(matches!(changed(1, 3), AuthError::Unexpected("DH-HMAC-CHAP_Success1")));
    assert!(matches!(changed(1, 0x77), AuthError::Decode(_)));
    // The good end without a question, and one without the proof that was asked for.
    let success = AuthMessage::Success1 { transaction: TRANSACTION, hash_len: 32, response: None }.encode();
    assert!(matches!(pair.host().finish(&success), Err(AuthError::Unexpected(_))));
    let mut host = pair.host();
    host.reply(&challenge).expect("a challenge");
    assert_eq!(host.finish(&success), Err(AuthError::NotProved));
}

#[test]
fn what_does_not_fit_the_hosts_buffer_is_not_sent_and_not_lost() {
    let pair = Pair::alike(None, Some(DhGroup::Null));
    let mut controller = pair.exchange();
    controller.send(&pair.host().negotiate());
    assert_eq!(controller.receive(&controller_nonces(), 47), None);
    assert_eq!(controller.receive(&controller_nonces(), 48).map(|bytes| bytes.len()), Some(48));
}

#[test]
fn a_host_may_prove_itself_anew_and_loses_what_it_had_when_it_cannot() {
    let mut pair = Pair::alike(None, Some(DhGroup::Null));
    let (ended, mut controller) = pair.run();
    assert_eq!(ended, Ok(()));
    assert_eq!(pair.converse(&mut controller), Ok(()));
    assert!(controller.is_authenticated());
    pair.host.secret = Secret::parse(OTHER).expect("a secret");
    assert!(pair.converse(&mut controller).is_err());
    assert!(!controller.is_authenticated() && controller.is_over());
}

#[test]
fn nonces_use_every_random_byte_once_and_no_sequence_number_is_zero() {
    let bytes: [u8; Nonces::LEN] = std::array::from_fn(|at| at as u8);
    let nonces = Nonces::from_random(&bytes);
    assert_eq!((nonces.challenge[63], nonces.exponent[0], nonces.exponent[63]), (63, 64, 127));
    assert_eq!(nonces.sequence, 0x8382_8180);
    assert_eq!(Nonces::from_random(&[0; Nonces::LEN]).sequence, 1);
    assert!(!format!("{nonces:?}").contains("63"));
}
