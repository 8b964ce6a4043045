//! `heatsoak trim` without a drive: what is refused, and in which words.

use crate::support::Scratch;

#[test]
fn what_cannot_be_is_a_sentence_and_exit_2() {
    let scratch = Scratch::new();
    for (args, sentence) in [
        (&["trim", "twin:ssd1"][..], "name a block device, such as /dev/sda"),
        (&["trim", "file:x"][..], "name a block device"),
        (&["trim", "/dev/no-such-drive"][..], "check the path, or run `heatsoak list`"),
        (&["trim", "/dev/null"][..], "cannot find the disk of /dev/null"),
        (&["trim", "/dev/null", "--prove"][..], "--destroy <SERIAL>"),
        (&["trim", "/dev/null", "--enable", "--disable"][..], "cannot be used with"),
        (&["trim", "/dev/null", "--resume"][..], "--prove"),
        (&["trim", "/dev/null", "--destroy", "X"][..], "--prove"),
        (&["trim", "/dev/null", "--prove", "--destroy", "X", "--udev-rule"][..], "cannot be used with"),
        (&["trim"][..], "<DRIVE>"),
    ] {
        let done = scratch.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.stderr.contains(sentence), "{args:?}: {}", done.stderr);
    }
}
