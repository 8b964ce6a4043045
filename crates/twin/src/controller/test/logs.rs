//! Log pages: their bytes, their pieces, and what they count.

use nvme::command::log_action;
use nvme::log::errors::ErrorEntry;
use nvme::log::ocp::OcpSmart;
use nvme::log::supported;
use nvme::smart::SmartLog;

use super::*;

#[test]
fn every_page_that_is_said_to_be_there_is() {
    let mut host = host("ssd1");
    let ids = supported::decode(&host.get_log(LogId::SUPPORTED, 1024).expect("a page")).expect("a page");
    assert_eq!(ids.iter().map(|id| id.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 0x0d, 0xc0]);
    for lid in 0..=u8::MAX {
        let page = host.get_log(LogId(lid), 512);
        match page {
            Ok(_) => assert!(ids.contains(&LogId(lid))),
            // Read without a context.
            Err(status) if lid == 0x0d => assert!(status.is(Status::COMMAND_SEQUENCE_ERROR)),
            Err(status) => {
                assert!(status.is(Status::INVALID_LOG_PAGE) && !ids.contains(&LogId(lid)), "{lid:#x}");
            }
        }
    }
}

#[test]
fn pieces_of_a_page_fit_together() {
    let mut host = host("ssd1");
    host.write(0, &[1; 4096]).expect("in range");
    let whole = host.get_log(LogId::SMART, 512).expect("a page");
    let queue = host.admin;
    let mut piece = |offset: u64, len: usize| {
        let command = GetLogPage::controller(LogId::SMART, len as u64).at(offset);
        host.send(queue, AdminCommand::GetLogPage(command).encode(), len, &[]).map(|(_, piece)| piece)
    };
    assert_eq!(piece(192, 40).as_deref(), Ok(&whole[192..232]));
    assert_eq!(piece(508, 8).expect("its end")[..4], whole[508..]);
    assert_eq!(piece(512, 4), Ok(vec![0; 4]));
    assert_eq!(piece(516, 4), Err(never(Status::INVALID_FIELD)), "beyond it");
    assert_eq!(piece(2, 4), Err(never(Status::INVALID_FIELD)), "no dword begins there");
    assert_eq!(piece(0, (1 << 20) + 4), Err(never(Status::INVALID_FIELD)), "more than MDTS");
}

/// Golden bytes: where nvme-cli looks for them.
#[test]
fn the_health_log_counts() {
    let mut host = host("ssd1");
    let read = |host: &mut Host<Subsystem>| host.get_log(LogId::SMART, 512).expect("a page");
    let before = read(&mut host);
    // 45 °C idle, whole kelvins at bytes 2:1.
    assert_eq!(u16::from_le_bytes([before[1], before[2]]), 318);
    assert_eq!((before[0], before[3], before[5]), (0, 100, 0));
    assert_eq!(before[112], 1, "switched on once");
    for lba in 0..4 {
        host.write(lba * 2048, &vec![1; 1 << 20]).expect("in range");
    }
    host.read_blocks(0, 512_000).expect("in range");
    assert!(host.get_log(LogId(0x99), 512).is_err());
    let after = SmartLog::decode(&read(&mut host)).expect("a page");
    // 4 MiB are 8.2 units of 512,000 bytes, rounded up.
    assert_eq!((after.data_units_written.as_u128(), after.data_units_read.as_u128()), (9, 1));
    assert_eq!((after.host_writes, after.host_reads, after.error_log_entries), (4, 1, 1));
    let errors = ErrorEntry::decode_all(&host.get_log(LogId::ERRORS, 128).expect("a page")).expect("entries");
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].number, errors[0].sq_id, errors[0].opcode), (1, Some(0), Some(2)));
    assert_eq!((errors[0].status, errors[0].parameter_location), (never(Status::INVALID_LOG_PAGE), 40));
}

#[test]
fn the_diary_is_read_in_a_context() {
    let mut host = host("ssd1");
    let queue = host.admin;
    let mut read = |specific: u8| {
        let command = GetLogPage { specific, ..GetLogPage::controller(LogId::PERSISTENT_EVENTS, 512) };
        host.send(queue, AdminCommand::GetLogPage(command).encode(), 512, &[]).map(|(_, page)| page)
    };
    assert_eq!(read(log_action::READ), Err(never(Status::COMMAND_SEQUENCE_ERROR)));
    let page = read(log_action::ESTABLISH_AND_READ).expect("a context");
    assert_eq!(page[0], 0x0d);
    assert_eq!(read(log_action::READ).as_ref(), Ok(&page));
    assert_eq!(read(log_action::ESTABLISH_AND_READ), Err(never(Status::COMMAND_SEQUENCE_ERROR)));
    assert_eq!(read(log_action::RELEASE), Ok(vec![]));
    assert_eq!(read(3), Err(never(Status::INVALID_FIELD)));
}

#[test]
fn ocp_recognises_its_page() {
    let mut host = host("ssd1");
    host.pass(Duration::from_secs(2));
    let page = OcpSmart::decode(&host.get_log(LogId::OCP_SMART, 512).expect("a page")).expect("its GUID");
    assert_eq!((page.throttle_events, page.throttle_level, page.max_temperature_raw), (0, 0, Some(45)));
}
