//! Authentication over a connection: our initiator and our server, each with secrets of its own, and hosts that try to
//! get by without.

use std::os::unix::fs::PermissionsExt as _;

use nvme::Status;
use nvme::auth::{AuthMessage, ControllerAuth, DhGroup, FailureReason, HashFunction, HostAuth, Secret};
use nvme::command::{Sqe, opcode};
use nvme::fabrics::property::Property;
use nvme::fabrics::{AuthRequirement, FabricsCommand, SecurityTransfer};
use nvme::host::tcp::{TcpController, TcpOptions};
use nvme::host::{Controller, HostError};

use crate::loopback::drive::{Vssd, options};
use crate::loopback::hostile::Raw;
use crate::loopback::lifetime::Process;
use crate::support::Scratch;

/// The example of the specification, transformed, and one of `nvme gen-dhchap-key`.
const HOST: &str = "DHHC-1:01:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";
const OTHER: &str = "DHHC-1:00:9wCYVQqDvADjGIZo6q/v2SfmXZqqkNa9TcvYu97Ly3Q/gajh:";

fn secret(text: &str) -> Secret {
    Secret::parse(text).expect("a secret")
}

/// A drive whose hosts must know [`HOST`], and that proves itself by [`OTHER`].
fn drive(hash: Option<HashFunction>, group: Option<DhGroup>) -> Vssd {
    let auth =
        ControllerAuth { host_secret: secret(HOST), controller_secret: Some(secret(OTHER)), hash, group };
    // Nothing fits into commands of I/O queues: messages are asked for there as other data are.
    let mut options = options("relay", |drive| drive.options.limits.in_capsule_bytes = 0);
    options.auth = Some(auth);
    Vssd::start(options)
}

fn knowing(host: &str, controller: Option<&str>) -> TcpOptions {
    let auth = HostAuth { secret: secret(host), controller_secret: controller.map(secret) };
    TcpOptions { auth: Some(auth), ..TcpOptions::default() }
}

/// What a host is told that does not get in.
fn why(error: &HostError) -> &str {
    match error {
        HostError::Authentication { why, .. } => why,
        other => panic!("{other} is not about authentication"),
    }
}

#[test]
fn every_hash_and_group_lets_in_who_knows_the_secrets_in_one_and_in_both_directions() {
    let groups = [DhGroup::Null, DhGroup::Ffdhe2048, DhGroup::Ffdhe4096];
    for (hash, group) in HashFunction::ALL.into_iter().zip(groups) {
        let drive = drive(Some(hash), Some(group));
        for controller_secret in [None, Some(OTHER)] {
            let options = knowing(HOST, controller_secret);
            let controller =
                TcpController::connect(&drive.address(), &options).expect("both know the secrets");
            // An I/O queue authenticates itself as well.
            controller.io_queue(4, 4096).expect("so does its queue");
            Controller::new(controller).smart_log().expect("and it is served");
        }
    }
}

#[test]
fn a_wrong_secret_or_none_on_either_side_is_refused_in_a_sentence() {
    let drive = drive(None, None);
    let refused =
        |options: &TcpOptions| TcpController::connect(&drive.address(), options).expect_err("refused");
    assert!(why(&refused(&TcpOptions::default())).contains("no secret was given"));
    assert_eq!(why(&refused(&knowing(OTHER, None))), "the subsystem refused it: authentication failed");
    let unproved = refused(&knowing(HOST, Some(HOST)));
    assert_eq!(why(&unproved), "the subsystem did not prove that it knows the controller's secret");
    assert!(unproved.to_string().contains("dhchap-ctrl-secret-file"), "{unproved}");
    // Who wants to know a subsystem that asks nobody for anything is told that it cannot.
    let open = Vssd::quick();
    let error = TcpController::connect(&open.address(), &knowing(HOST, Some(OTHER))).expect_err("refused");
    assert!(why(&error).contains("cannot prove itself"), "{error}");
    TcpController::connect(&open.address(), &knowing(HOST, None)).expect("nobody asked for the secret");
}

/// Goal: whoever has not authenticated himself gets nothing but refusals. Method: a host made by hand.
#[test]
fn no_command_is_carried_out_before_the_host_has_proved_itself() {
    let drive = drive(Some(HashFunction::Sha256), Some(DhGroup::Null));
    let mut host = Raw::initialised(&drive, false, false);
    let connected = host.connect(&drive, 0, 0xffff);
    assert!(connected.status.is_success());
    assert!(AuthRequirement::decode(connected.dword0()).asks());

    let enable = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: 0x46_0001 };
    let identify = Sqe::new(opcode::IDENTIFY, 0).with_dword(10, 1);
    let required = Status::AUTHENTICATION_REQUIRED.do_not_retry();
    for command in [enable.encode(), identify, FabricsCommand::Disconnect.encode()] {
        assert_eq!(host.command(command).status, required);
    }
    // Another protocol, and more than any message has.
    let ours = SecurityTransfer::dh_hmac_chap(72);
    for bad in [
        SecurityTransfer { protocol: 1, ..ours },
        SecurityTransfer { specific: 2, ..ours },
        SecurityTransfer { len: 1 << 20, ..ours },
        SecurityTransfer { len: 0, ..ours },
    ] {
        let refused = host.command(FabricsCommand::AuthenticationSend(bad).encode());
        assert_eq!(refused.status, Status::INVALID_FIELD.do_not_retry(), "{bad:?}");
    }
    // A good end that nobody has agreed to: the news is bad, and the connection ends.
    let success = AuthMessage::Success2 { transaction: 0 }.encode();
    let send = FabricsCommand::AuthenticationSend(SecurityTransfer::dh_hmac_chap(success.len() as u32));
    assert!(
        host.send_message(send.encode(), &success).status.is_success(),
        "a message is taken, whatever it says"
    );
    let receive = FabricsCommand::AuthenticationReceive(SecurityTransfer::dh_hmac_chap(64));
    let news = host.fetch_message(receive.encode(), 64);
    assert_eq!(
        AuthMessage::decode(&news),
        Ok(AuthMessage::Failure1 { transaction: 0, reason: FailureReason::MESSAGE })
    );
    assert_eq!(host.hear(), None, "who fails is thrown out");
}

/// Goal: the whole way as a user goes it. Method: the binary on both sides, secrets in files.
#[test]
fn the_tool_reads_secrets_from_files_and_from_nowhere_else() {
    let scratch = Scratch::new();
    let write = |name: &str, secret: &str| {
        std::fs::write(scratch.path(name), format!("{secret}\n")).expect("room");
        std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(0o600)).expect("ours");
        name.to_owned()
    };
    let (host, other) = (write("host", HOST), write("other", OTHER));
    let (_process, told) = Process::start(
        &scratch,
        &["--dhchap-secret-file", &host, "--dhchap-ctrl-secret-file", &other, "--dhchap-hash", "sha512"],
    );
    let url = told["drives"][0]["url"].as_str().expect("an address").to_owned();
    for (options, code, part) in [
        (String::new(), 2, "no secret was given"),
        (format!("?dhchap-secret-file={other}"), 2, "authentication failed"),
        (format!("?dhchap-secret-file={host}"), 0, ""),
        (format!("?dhchap-secret-file={host}&dhchap-ctrl-secret-file={other}"), 0, ""),
        (format!("?dhchap-secret-file={host}&dhchap-ctrl-secret-file={host}"), 2, "did not prove"),
        ("?dhchap-secret-file=missing".to_owned(), 2, "missing"),
    ] {
        let done = scratch.run(&["inspect", &format!("{url}{options}"), "--json"]);
        assert_eq!(done.code, Some(code), "{options}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{options}: {}", done.stderr);
        assert!(
            !done.stderr.contains("ia6z") && !done.stderr.contains("9wCY"),
            "no part of a secret is shown"
        );
    }
    std::fs::set_permissions(scratch.path("host"), std::fs::Permissions::from_mode(0o644)).expect("ours");
    let done = scratch.run(&["vssd", "--dhchap-secret-file", "host"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("chmod 600"), "{}", done.stderr);
}
