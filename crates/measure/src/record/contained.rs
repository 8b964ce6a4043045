//! The decoders of Arrow and Parquet on bytes without a checksum: a panic of theirs becomes an error.
//!
//! Both crates check much and not all: arrow-ipc 60 panics on some torn pages, where a buffer ends before it begins.
//! It catches nothing of ours: only their calls are made in it.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// What `decode` says; "not decodable" where it panics. Whatever it worked on is not to be used after that.
pub(super) fn contained<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CONTAINED.get() {
                before(info);
            }
        }));
    });
    CONTAINED.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(decode));
    CONTAINED.set(false);
    done.unwrap_or_else(|_| Err("its content cannot be decoded".to_owned()))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_and_anything_else_stays() {
        assert_eq!(contained(|| Ok(1)), Ok(1));
        assert_eq!(contained::<()>(|| Err("no".to_owned())), Err("no".to_owned()));
        let past_the_end = |bytes: &[u8]| bytes[bytes.len()];
        assert!(contained(|| Ok(past_the_end(&[]))).expect_err("a panic").contains("cannot be decoded"));
    }
}
