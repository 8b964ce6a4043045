//! The frames of another machine, on noise and on spoilt good ones in every test run.

use fuzz_entries::remote::ENTRIES;
use proptest::prelude::*;
use remote::frame::{Downward, Upward};

use crate::shared::{assert_targets, enter_all, spoilt};

#[test]
fn every_entry_has_its_target() {
    assert_targets(&["remote_"], ENTRIES);
}

fn good() -> Vec<Vec<u8>> {
    let piece = Downward::Append { name: "io.arrow".to_owned(), offset: 64, bytes: vec![7; 100] };
    let frames = [
        Downward::Ping,
        Downward::Folder("/runs/x".to_owned()),
        piece,
        Downward::End(b"{\"code\":0}".to_vec()),
    ];
    vec![frames.iter().flat_map(Downward::encode).collect(), Upward::Request(b"{}".to_vec()).encode()]
}

proptest! {
    #[test]
    fn the_entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..600)) {
        enter_all(ENTRIES, &noise);
    }

    #[test]
    fn the_entries_hold_on_spoilt_frames(bytes in spoilt(good())) {
        enter_all(ENTRIES, &bytes);
    }
}
