//! The entry of the virtual SSD's fuzz target, run on noise in every test run.

use fuzz_entries::vssd as entries;
use proptest::prelude::*;

/// Goal: streams get past the gates: a read of one block that was led by the hand, and some time.
#[test]
fn a_stream_gets_somewhere() {
    // Both connected; on the I/O connection a read in namespace 1, then a quarter of a second.
    let read = [2 << 1 | 1, 2, 1, 9, 0, 0, 0, 1, 0];
    let stream = [&[2][..], &read, &[6 << 1, 250]].concat();
    let nothing = entries::answered(&[2]);
    assert_eq!(entries::answered(&stream), nothing + 1);
    assert!(nothing >= 4, "Connect twice, enable, and the number of queues: {nothing}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_entry_holds_on_noise(beginning in 0..4_u8, noise in prop::collection::vec(any::<u8>(), 0..600)) {
        for (_, entry) in entries::ENTRIES {
            entry(&[&[beginning][..], &noise].concat());
        }
    }
}
