//! A file under load keeps its length: a write beyond an end that somebody has cut off would silently make the file
//! longer again, and what is measured then is the file system finding room.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use measure::{Bytes, Instant};

use super::path::PathError;

/// Time between two looks: a load that writes as fast as it goes puts a small file back to its length in some tens of
/// milliseconds, and a look takes a microsecond.
const PERIOD: Duration = Duration::from_millis(5);

/// Watches a file.
#[derive(Debug)]
pub(super) struct LengthWatch {
    file: Arc<File>,
    used: Bytes,
    next: Instant,
}

impl LengthWatch {
    /// A watch over `file`, of which the first `used` bytes are loaded.
    pub(super) const fn new(file: Arc<File>, used: Bytes) -> Self {
        Self { file, used, next: Instant::ZERO }
    }

    /// Looks, if it is time to.
    ///
    /// # Errors
    /// When the file has become shorter than what is used of it.
    #[inline]
    pub(super) fn look_if_due(&mut self, now: Instant) -> Result<(), PathError> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + PERIOD;
        self.look()
    }

    /// Looks.
    ///
    /// # Errors
    /// When the file has become shorter than what is used of it.
    pub(super) fn look(&self) -> Result<(), PathError> {
        // One that cannot be looked at fails its I/O, which says so.
        let now = self.file.metadata().map_or(self.used, |metadata| Bytes::new(metadata.len()));
        if now < self.used { Err(PathError::Truncated { from: self.used, to: now }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_file_that_is_cut_is_seen_and_one_that_grows_is_not() {
        let file = Arc::new(tempfile::tempfile().expect("a scratch file"));
        file.set_len(8192).expect("room");
        let mut watch = LengthWatch::new(Arc::clone(&file), Bytes::new(8192));
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        watch.look_if_due(at(0)).expect("as long as it was");
        file.set_len(9000).expect("room");
        watch.look().expect("longer does no harm");
        file.set_len(4096).expect("shorter");
        watch.look_if_due(at(4)).expect("not yet looked at again");
        let error = watch.look_if_due(at(5)).expect_err("cut").to_string();
        assert!(error.contains("cut from 8 KiB to 4 KiB"), "{error}");
    }
}
