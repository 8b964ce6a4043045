//! The reader against our own encoder, against hand-made violations, and against noise.

use proptest::prelude::*;

use super::*;

const LIMITS: PduLimits = PduLimits { capsule_data_max: 8192, data_max: 1 << 20 };
const DIGESTS: Framing = Framing { header_digest: true, data_digest: true, data_alignment_dwords: 1 };

/// What a reader found: headers, the data of each, and whether its digest was right.
#[derive(Debug, Default, PartialEq)]
struct Found {
    pdus: Vec<(Pdu, Vec<u8>)>,
    digests_ok: Vec<bool>,
}

/// Feeds everything, in pieces of at most `piece` bytes.
fn read(reader: &mut PduReader, bytes: &[u8], piece: usize) -> Result<Found, PduError> {
    let mut found = Found::default();
    for mut bytes in bytes.chunks(piece.max(1)) {
        loop {
            let expected = reader.data_expected();
            let (used, event) = reader.feed(bytes)?;
            assert!(used <= bytes.len());
            bytes = &bytes[used..];
            match event {
                PduEvent::NeedMore => {
                    assert!(bytes.is_empty(), "everything is taken before more is asked for");
                    break;
                }
                PduEvent::Header(pdu) => found.pdus.push((pdu, Vec::new())),
                PduEvent::Data(data) => {
                    assert!(!data.is_empty() && (expected == 0 || data.len() <= expected));
                    found.pdus.last_mut().expect("a header came first").1.extend(data);
                }
                PduEvent::End { digest_ok } => found.digests_ok.push(digest_ok),
            }
        }
    }
    Ok(found)
}

fn encode(pdu: Pdu, framing: Framing, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    pdu.encode(framing, data, &mut out);
    out
}

const IC_REQ: Pdu = Pdu::IcReq(IcReq {
    format: 0,
    data_alignment_dwords: 1,
    header_digest: false,
    data_digest: false,
    r2t_max: 1,
});

/// A controller's reader after its ICReq.
fn controller(framing: Framing) -> PduReader {
    let mut reader = PduReader::new(Side::Controller, LIMITS);
    let begun = read(&mut reader, &encode(IC_REQ, Framing::PLAIN, &[]), 7).expect("a good ICReq");
    assert_eq!(begun.pdus, [(IC_REQ, vec![])]);
    reader.agree(framing, LIMITS);
    reader
}

fn ic_resp(h2c_data_max: u32) -> Pdu {
    Pdu::IcResp(IcResp {
        format: 0,
        data_alignment_dwords: 1,
        header_digest: false,
        data_digest: false,
        h2c_data_max,
    })
}

/// A host's reader after its ICResp.
fn host(framing: Framing) -> PduReader {
    let mut reader = PduReader::new(Side::Host, LIMITS);
    read(&mut reader, &encode(ic_resp(131_072), Framing::PLAIN, &[]), 128).expect("a good ICResp");
    reader.agree(framing, LIMITS);
    reader
}

fn h2c(len: u32) -> Pdu {
    Pdu::H2cData(DataPdu { cid: 1, tag: 2, offset: 0, len, last: true, success: false })
}

#[test]
fn wrong_data_digests_end_the_command_and_not_the_connection() {
    let mut bytes = encode(h2c(4), DIGESTS, &[1, 2, 3, 4]);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    bytes.extend(encode(h2c(2), DIGESTS, &[5, 6]));
    let found = read(&mut controller(DIGESTS), &bytes, 3).expect("the connection goes on");
    assert_eq!(found.digests_ok, [false, true]);
    assert_eq!(found.pdus[1], (h2c(2), vec![5, 6]));
}

#[test]
fn a_wrong_header_digest_ends_the_connection_for_good() {
    let mut bytes = encode(h2c(4), DIGESTS, &[1, 2, 3, 4]);
    bytes[9] ^= 0x80;
    let mut reader = controller(DIGESTS);
    let error = read(&mut reader, &bytes, 5).expect_err("broken header");
    assert_eq!(error.status(), FatalError::HEADER_DIGEST);
    assert_eq!(reader.offending_header().len(), 28);
    assert_eq!(reader.feed(&[0; 64]), Err(error), "a failed reader stays failed");
}

/// The bit that the digests cannot see: it makes a PDU that has none of data that has both.
#[test]
fn data_is_not_taken_for_a_termination_when_its_type_flips() {
    let mut bytes = encode(h2c(4), DIGESTS, &[1, 2, 3, 4]);
    bytes[0] ^= kind::H2C_DATA ^ kind::H2C_TERM_REQ;
    let error = read(&mut controller(DIGESTS), &bytes, 50).expect_err("a termination with digests");
    assert_eq!((error.status(), error.information()), (FatalError::INVALID_HEADER, 1));
}

/// Each hand-made violation with the status and information that the specification wants.
#[test]
fn violations_are_named_and_have_their_status() {
    let plain = Framing::PLAIN;
    let patched = |pdu: Pdu, data: &[u8], patches: &[(usize, u8)]| {
        let mut bytes = encode(pdu, plain, data);
        for (at, byte) in patches {
            bytes[*at] = *byte;
        }
        bytes
    };
    let capsule = |data_len| Pdu::CapsuleCmd { sqe: Sqe::new(1, 1), data_len };
    let header = FatalError::INVALID_HEADER;
    let cases: [(&str, Vec<u8>, FatalError, u32); 17] = [
        ("unknown type", patched(h2c(4), &[0; 4], &[(0, 0x42)]), header, 0),
        (
            "a type of the other direction",
            encode(Pdu::CapsuleResp(Completion::success(0, 0)), plain, &[]),
            header,
            0,
        ),
        ("a second initialisation", encode(IC_REQ, plain, &[]), FatalError::SEQUENCE, 0),
        ("header length", patched(h2c(4), &[0; 4], &[(2, 25)]), header, 2),
        (
            "an unagreed header digest",
            encode(h2c(4), Framing { header_digest: true, ..plain }, &[0; 4]),
            header,
            1,
        ),
        (
            "an unagreed data digest",
            encode(h2c(4), Framing { data_digest: true, ..plain }, &[0; 4]),
            header,
            1,
        ),
        ("data offset inside the header", patched(h2c(4), &[0; 4], &[(3, 20)]), header, 3),
        ("data offset off the dword", patched(h2c(4), &[0; 4], &[(3, 26)]), header, 3),
        ("data offset at the end", patched(h2c(4), &[0; 4], &[(3, 28)]), header, 4),
        ("shorter than its header", patched(h2c(4), &[0; 4], &[(4, 23)]), header, 4),
        ("no data in a data PDU", patched(h2c(4), &[0; 4], &[(4, 24)]), header, 4),
        ("data length that differs", patched(h2c(4), &[0; 4], &[(16, 5)]), header, 16),
        ("success from a host", patched(h2c(4), &[0; 4], &[(1, 12)]), header, 1),
        (
            "offset beyond 4 GiB",
            patched(h2c(4), &[0; 4], &[(12, 0xff), (13, 0xff), (14, 0xff), (15, 0xff)]),
            FatalError::OUT_OF_RANGE,
            0,
        ),
        ("too much in a capsule", encode(capsule(8196), plain, &[0; 8196]), FatalError::LIMIT_EXCEEDED, 0),
        (
            "too much in a data PDU",
            encode(h2c((1 << 20) + 4), plain, &vec![0; (1 << 20) + 4]),
            FatalError::LIMIT_EXCEEDED,
            0,
        ),
        (
            "a termination with too much in it",
            patched(
                Pdu::H2cTermReq(TermReq { status: FatalError(1), information: 0, data_len: 0 }),
                &[],
                &[(4, 153)],
            ),
            header,
            4,
        ),
    ];
    for (case, bytes, status, information) in cases {
        let error = read(&mut controller(plain), &bytes, 1000).expect_err(case);
        assert_eq!((error.status(), error.information()), (status, information), "{case}: {error}");
    }
}

#[test]
fn what_a_host_refuses() {
    let plain = Framing::PLAIN;
    let r2t = |len| Pdu::R2t(R2t { cid: 0, tag: 0, offset: 0, len });
    let error = read(&mut host(plain), &encode(r2t(0), plain, &[]), 9).expect_err("asks for nothing");
    assert_eq!(error.to_string(), "R2T: R2TL is 0, which cannot be: an R2T asks for something");
    let early = Pdu::C2hData(DataPdu { cid: 0, tag: 0, offset: 0, len: 1, last: false, success: true });
    assert!(read(&mut host(plain), &encode(early, plain, &[0]), 9).is_err(), "success before the end");

    for h2c_data_max in [0, 4095, 4098] {
        let mut reader = PduReader::new(Side::Host, LIMITS);
        let error = read(&mut reader, &encode(ic_resp(h2c_data_max), plain, &[]), 9).expect_err("too small");
        assert_eq!((error.status(), error.information()), (FatalError::INVALID_HEADER, 12));
    }
}

#[test]
fn a_connection_begins_with_its_initialisation() {
    let mut reader = PduReader::new(Side::Controller, LIMITS);
    let error = read(&mut reader, &encode(h2c(4), Framing::PLAIN, &[0; 4]), 9).expect_err("too early");
    assert_eq!(error.status(), FatalError::SEQUENCE);

    let mut bytes = encode(IC_REQ, Framing::PLAIN, &[]);
    bytes[8] = 1;
    let mut reader = PduReader::new(Side::Controller, LIMITS);
    let error = read(&mut reader, &bytes, 9).expect_err("format 1");
    assert_eq!((error.status(), error.information()), (FatalError::UNSUPPORTED, 8));
}

/// Goal: a caller may read straight to where data belongs. Method: ask, read that much, show it.
#[test]
fn data_can_be_read_to_its_place() {
    let mut reader = controller(DIGESTS);
    let bytes = encode(h2c(6), DIGESTS, &[1, 2, 3, 4, 5, 6]);
    let (used, event) = reader.feed(&bytes[..28]).expect("a header");
    assert_eq!((used, event), (28, PduEvent::Header(h2c(6))));
    assert_eq!(reader.feed(&[]), Ok((0, PduEvent::NeedMore)));
    assert_eq!(reader.data_expected(), 6);
    let place = &bytes[28..34];
    assert_eq!(reader.feed(place), Ok((6, PduEvent::Data(place))));
    assert_eq!(reader.data_expected(), 0);
    assert_eq!(reader.feed(&bytes[34..]), Ok((4, PduEvent::End { digest_ok: true })));
}

fn framings() -> impl Strategy<Value = Framing> {
    (any::<bool>(), any::<bool>(), 1_u8..=32).prop_map(
        |(header_digest, data_digest, data_alignment_dwords)| Framing {
            header_digest,
            data_digest,
            data_alignment_dwords,
        },
    )
}

fn sqes() -> impl Strategy<Value = Sqe> {
    (any::<[u8; 32]>(), any::<[u8; 32]>())
        .prop_map(|(low, high)| Sqe::decode(&[low, high].concat()).expect("64 bytes"))
}

fn data_pdus(to_host: bool) -> impl Strategy<Value = (DataPdu, Vec<u8>)> {
    let data = prop::collection::vec(any::<u8>(), 1..600);
    (any::<(u16, u16, bool, bool)>(), 0_u32..0x1000_0000, data).prop_map(
        move |((cid, tag, last, success), offset, data)| {
            let success = success && last && to_host;
            (DataPdu { cid, tag, offset, len: data.len() as u32, last, success }, data)
        },
    )
}

/// What digests apply to: all but the termination requests.
fn digested_to_controller() -> impl Strategy<Value = (Pdu, Vec<u8>)> {
    prop_oneof![
        (sqes(), prop::collection::vec(any::<u8>(), 0..300))
            .prop_map(|(sqe, data)| (Pdu::CapsuleCmd { sqe, data_len: data.len() as u32 }, data)),
        data_pdus(false).prop_map(|(pdu, data)| (Pdu::H2cData(pdu), data)),
    ]
}

fn to_controller() -> impl Strategy<Value = (Pdu, Vec<u8>)> {
    prop_oneof![
        2 => digested_to_controller(),
        1 => (any::<u16>(), any::<u32>(), prop::collection::vec(any::<u8>(), 0..=128)).prop_map(
            |(status, information, data)| {
                let status = FatalError(status);
                (Pdu::H2cTermReq(TermReq { status, information, data_len: data.len() as u32 }), data)
            }
        ),
    ]
}

fn to_host() -> impl Strategy<Value = (Pdu, Vec<u8>)> {
    prop_oneof![
        any::<[u8; 16]>()
            .prop_map(|bytes| { (Pdu::CapsuleResp(Completion::decode(&bytes).expect("16 bytes")), vec![]) }),
        data_pdus(true).prop_map(|(pdu, data)| (Pdu::C2hData(pdu), data)),
        (any::<u16>(), any::<u16>(), 0_u32..1 << 20, 1_u32..1 << 20)
            .prop_map(|(cid, tag, offset, len)| (Pdu::R2t(R2t { cid, tag, offset, len }), vec![])),
    ]
}

fn round_trip(mut reader: PduReader, framing: Framing, pdus: &[(Pdu, Vec<u8>)], piece: usize) {
    let mut bytes = Vec::new();
    for (pdu, data) in pdus {
        pdu.encode(framing, data, &mut bytes);
    }
    let found = read(&mut reader, &bytes, piece).expect("our own bytes");
    assert_eq!(found.pdus, pdus);
    let with_data = pdus.iter().filter(|(_, data)| !data.is_empty()).count();
    assert_eq!(found.digests_ok, vec![true; with_data]);
}

proptest! {
    #[test]
    fn any_stream_in_any_pieces_comes_out_as_it_went_in(
        framing in framings(), piece in 1_usize..700,
        up in prop::collection::vec(to_controller(), 0..6),
        down in prop::collection::vec(to_host(), 0..6),
    ) {
        round_trip(controller(framing), framing, &up, piece);
        round_trip(host(framing), framing, &down, piece);
    }

    #[test]
    fn initialisation_round_trips(
        alignment in 1_u8..=32, header_digest in any::<bool>(), data_digest in any::<bool>(), number in any::<u32>(),
    ) {
        let request = Pdu::IcReq(IcReq {
            format: 0, data_alignment_dwords: alignment, header_digest, data_digest, r2t_max: u64::from(number) + 1,
        });
        let mut reader = PduReader::new(Side::Controller, LIMITS);
        let found = read(&mut reader, &encode(request, Framing::PLAIN, &[]), 50).expect("a good ICReq");
        prop_assert_eq!(found.pdus, vec![(request, vec![])]);
        let response = Pdu::IcResp(IcResp {
            format: 0, data_alignment_dwords: alignment, header_digest, data_digest,
            h2c_data_max: (number & !3).max(4096),
        });
        let mut reader = PduReader::new(Side::Host, LIMITS);
        let found = read(&mut reader, &encode(response, Framing::PLAIN, &[]), 50).expect("a good ICResp");
        prop_assert_eq!(found.pdus, vec![(response, vec![])]);
    }

    /// Noise ends in an error or in more being wanted; it never panics, hangs or takes what is not there.
    #[test]
    fn noise_is_survived(
        framing in framings(), piece in 1_usize..300, mut bytes in prop::collection::vec(any::<u8>(), 0..2000),
        kind in 0_u8..10,
    ) {
        // A plausible beginning gets deeper than noise from the first byte.
        if let [first, _, hlen, _, ..] = bytes.as_mut_slice() {
            *first = kind;
            *hlen = header_len(kind) as u8;
        }
        let _ = read(&mut controller(framing), &bytes, piece);
        let _ = read(&mut host(framing), &bytes, piece);
        let _ = read(&mut PduReader::new(Side::Controller, LIMITS), &bytes, piece);
    }

    /// A flipped bit anywhere in a stream with digests is never read as something else.
    #[test]
    fn digests_catch_any_flipped_bit(stream in prop::collection::vec(digested_to_controller(), 1..4), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut bytes = Vec::new();
        for (pdu, data) in &stream {
            pdu.encode(DIGESTS, data, &mut bytes);
        }
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        match read(&mut controller(DIGESTS), &bytes, 4096) {
            Err(_) => {}
            // Not finished: the length was hit, and the end is awaited. Finished: the data was hit.
            Ok(found) => {
                let whole = found.digests_ok.len() == stream.iter().filter(|(_, data)| !data.is_empty()).count();
                prop_assert!(!whole || found.digests_ok.contains(&false) || found.pdus.len() < stream.len());
            }
        }
    }
}
