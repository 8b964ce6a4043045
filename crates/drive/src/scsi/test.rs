//! Recorded answers against what sg3_utils made of the same bytes, and answers that are cut short, foreign or refused.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// The answers of a recorded drive, by their command descriptor block's meaning.
fn recorded(name: &str) -> BTreeMap<String, Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scsi").join(name);
    let text = std::fs::read_to_string(path).expect("a fixture");
    let mut answers: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines() {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => section = name.to_owned(),
            None => {
                let bytes = line.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal"));
                answers.entry(section.clone()).or_default().extend(bytes);
            }
        }
    }
    answers
}

/// What `cdb` asks for, as the fixtures name it.
fn asked(cdb: &[u8]) -> String {
    match cdb {
        [0x12, 0, 0, ..] => "inq".to_owned(),
        [0x12, 1, page, ..] => format!("{page:#04x}"),
        [0x9e, 0x10, ..] => "readcap".to_owned(),
        other => panic!("a command that changes things? {other:02x?}"),
    }
}

/// All facts of a drive that gives these answers, each put through `spoil` first.
fn read_facts(
    answers: &BTreeMap<String, Vec<u8>>,
    spoil: impl Fn(&mut Vec<u8>),
) -> Result<ScsiFacts, SgError> {
    facts_from(|command, cdb, buffer| {
        let Some(answer) = answers.get(&asked(cdb)) else {
            return Err(SgError::Refused { command, key: 5, code: 0x24, qualifier: 0 });
        };
        let mut answer = answer.clone();
        spoil(&mut answer);
        let len = answer.len().min(buffer.len());
        buffer[..len].copy_from_slice(&answer[..len]);
        Ok(len)
    })
}

#[test]
fn scsi_debug_is_what_sg3_utils_say() {
    let facts = read_facts(&recorded("scsi-debug.hex"), |_| {}).expect("it answers");
    assert_eq!(
        (facts.inquiry.vendor.as_deref(), facts.inquiry.product.as_deref()),
        (Some("Linux"), Some("scsi_debug"))
    );
    assert_eq!((facts.inquiry.revision.as_deref(), facts.inquiry.version), (Some("0191"), 7));
    assert_eq!((facts.inquiry.device_type, facts.inquiry.removable), (0, false));
    let capacity = facts.capacity.expect("it has one");
    assert_eq!(
        (capacity.last_block, capacity.block_bytes, capacity.bytes()),
        (131_071, 512, Some(67_108_864))
    );
    assert_eq!(
        (capacity.provisioned, capacity.reads_zeroes, capacity.protection),
        (Some(true), Some(true), Some(0))
    );
    assert_eq!(facts.serial.as_deref(), Some("16000"));
    let of_unit: Vec<&str> =
        facts.designators.iter().filter(|one| one.association == 0).map(|one| one.name.as_str()).collect();
    assert_eq!(of_unit, ["Linux   scsi_debug      16000", "3333333000003e80"]);
    assert_eq!(facts.designators.len(), 7);
    assert_eq!(facts.designators[6].name, "naa.3222222000003E7D");
    let limits = BlockLimits {
        transfer_blocks_max: Some(131_072),
        transfer_blocks_best: Some(1024),
        unmap_blocks_max: Some(u32::MAX),
        unmap_ranges_max: Some(256),
        unmap_granularity_blocks: Some(1),
        unmap_alignment_blocks: None,
        write_same_blocks_max: Some(0xffff),
    };
    assert_eq!(facts.limits, Some(limits));
    let still = Characteristics { rotation: Rotation::None, form_factor: Some(5) };
    assert_eq!(facts.characteristics, Some(still));
    let unmap = Provisioning { unmap: true, reads_zeroes: true, ..Provisioning::default() };
    assert_eq!(facts.provisioning, Some(unmap));
    assert_eq!(facts.notes, [""; 0]);
}

#[test]
fn a_sata_disk_and_a_usb_disk_are_what_sg3_utils_say() {
    let sata = read_facts(&recorded("ata-by-libata.hex"), |_| {}).expect("it answers");
    assert_eq!((sata.inquiry.vendor.as_deref(), sata.serial.as_deref()), (Some("ATA"), Some("ATA1")));
    let limits = sata.limits.expect("a page");
    assert_eq!((limits.unmap_blocks_max, limits.write_same_blocks_max), (None, Some(0x3f_ffc0)));
    assert_eq!(sata.characteristics.map(|one| one.rotation), Some(Rotation::Unknown));
    let by_write_same = Provisioning { write_same_16: true, ..Provisioning::default() };
    assert_eq!(sata.provisioning, Some(by_write_same));

    let usb = read_facts(&recorded("qemu-usb-uas.hex"), |_| {}).expect("it answers");
    assert_eq!((usb.serial.as_deref(), usb.designators.len()), (Some("USB1"), 1));
    let limits = usb.limits.expect("a page");
    assert_eq!((limits.transfer_blocks_max, limits.unmap_blocks_max), (Some(4_194_303), Some(2_097_152)));
    assert_eq!((limits.unmap_ranges_max, limits.unmap_granularity_blocks), (Some(255), Some(8)));
    let thin =
        Provisioning { unmap: true, write_same_16: true, write_same_10: true, reads_zeroes: false, kind: 2 };
    assert_eq!(usb.provisioning, Some(thin));
}

#[test]
fn rotation_is_a_rate_nothing_or_unknown() {
    let page = |rate: u16| {
        let [high, low] = rate.to_be_bytes();
        characteristics_of(&[0, 0xb1, 0, 4, high, low, 0, 2])
    };
    assert_eq!(page(7200).rotation, Rotation::Rpm(7200));
    assert_eq!((page(1).rotation, page(1).form_factor), (Rotation::None, Some(2)));
    for unknown in [0, 2, 0x400, 0xffff] {
        assert_eq!(page(unknown).rotation, Rotation::Unknown);
    }
    assert_eq!(characteristics_of(&[0, 0xb1, 0, 0]).rotation, Rotation::Unknown, "an empty page");
}

fn characteristics_of(page: &[u8]) -> Characteristics {
    vpd::characteristics(page).expect("that page")
}

#[test]
fn a_drive_that_refuses_everything_but_inquiry_says_so_page_by_page() {
    let mut answers = recorded("scsi-debug.hex");
    answers.retain(|name, _| name == "inq");
    let facts = read_facts(&answers, |_| {}).expect("it answers INQUIRY");
    assert_eq!((facts.capacity, facts.serial.as_deref(), facts.limits), (None, None, None));
    assert_eq!(facts.notes.len(), 6);
    assert!(facts.notes[0].contains("refused READ CAPACITY (16): sense key 0x5"), "{:?}", facts.notes);
}

#[test]
fn a_bridge_that_gives_one_page_for_all_is_seen() {
    let answers = recorded("scsi-debug.hex");
    let serial = answers["0x80"].clone();
    let facts = facts_from(|_, cdb, buffer| {
        let answer = if asked(cdb).starts_with("0x") { &serial } else { &answers[&asked(cdb)] };
        let len = answer.len().min(buffer.len());
        buffer[..len].copy_from_slice(&answer[..len]);
        Ok(len)
    })
    .expect("it answers");
    assert_eq!((facts.serial.as_deref(), facts.limits, facts.provisioning), (Some("16000"), None, None));
    assert!(facts.notes.iter().any(|note| note.contains("VPD page 0x80, not 0xb0")), "{:?}", facts.notes);
}

#[test]
fn what_is_no_scsi_device_is_an_error() {
    let lost = |command| SgError::Send { command, source: io::ErrorKind::Unsupported.into() };
    let error = facts_from(|command, _, _| Err(lost(command))).expect_err("no device").to_string();
    assert!(error.starts_with("INQUIRY could not be sent"), "{error}");
    let short = facts_from(|_, _, _| Ok(4)).expect_err("four bytes").to_string();
    assert!(short.contains("has 4 B, and 5 B are the least"), "{short}");
}

/// Goal: what is needed is demanded, and nothing more. Method: libata's 16 bytes of a SATA disk, and fewer.
#[test]
fn a_capacity_is_read_from_as_much_as_came() {
    // 8 GiB in blocks of 512 B, 8 of them to a physical one, deallocation supported and read as zeroes.
    let mut answer = vec![0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0, 0, 2, 0, 0, 3, 0xc0, 0];
    let whole = Capacity {
        last_block: 0xff_ffff,
        block_bytes: 512,
        physical_exponent: Some(3),
        lowest_aligned_block: Some(0),
        provisioned: Some(true),
        reads_zeroes: Some(true),
        protection: Some(0),
    };
    assert_eq!(Capacity::decode(&answer), Ok(whole));
    answer.resize(32, 0);
    assert_eq!(Capacity::decode(&answer), Ok(whole), "what follows says nothing more");
    let size = Capacity::decode(&answer[..12]).expect("the size is in these");
    assert_eq!((size.bytes(), size.physical_exponent, size.provisioned), (Some(8 << 30), None, None));
    assert!(Capacity::decode(&answer[..11]).is_err());
}

#[test]
fn an_inquiry_is_read_from_as_much_as_came() {
    let answer = recorded("scsi-debug.hex")["inq"].clone();
    let cut = |len: usize| Inquiry::decode(&answer[..len]).expect("enough");
    assert_eq!((cut(5).device_type, cut(5).vendor), (0, None));
    assert_eq!((cut(32).product.as_deref(), cut(32).revision), (Some("scsi_debug"), None));
    assert!(Inquiry::decode(&answer[..4]).is_err());
}

proptest! {
    /// Any drive may answer anything: nothing panics, whatever is cut, stretched or spoilt.
    #[test]
    fn spoilt_answers_are_read_or_refused(
        cut in 0_usize..200, at in 0_usize..100, byte in any::<u8>(), noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        for name in ["scsi-debug.hex", "ata-by-libata.hex", "qemu-usb-uas.hex"] {
            let _ = read_facts(&recorded(name), |answer| {
                answer.truncate(cut);
                if let Some(place) = answer.get_mut(at) {
                    *place = byte;
                }
                answer.extend(&noise);
            });
        }
    }
}
