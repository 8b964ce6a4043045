//! What tells a record from a damaged one: checksums of its closed tables and of its manifest.
//!
//! A checksum of each whole file, and not the CRC that Parquet may have for a page: that one covers neither page headers
//! nor the footer, which decide what the pages mean, and does not tell a table from that of another run.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RecordError;

/// The manifest's member `seal`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Seal {
    /// Tells the streams of this record from those of others; see [`super::frame`].
    pub(super) record_id: u32,
    /// The closed tables.
    pub(super) tables: Vec<SealedTable>,
}

/// A closed table as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct SealedTable {
    /// The file's name.
    pub(super) file: String,
    /// Its length.
    pub(super) bytes: u64,
    /// CRC32C of its bytes, in hexadecimal.
    pub(super) crc32c: String,
}

impl Seal {
    /// What is known of a closed table; `None` in records from before there were seals.
    pub(super) fn table(&self, file: &str) -> Option<&SealedTable> {
        self.tables.iter().find(|table| table.file == file)
    }
}

impl SealedTable {
    /// Refuses a file that is not the one that was written; leaves it at its beginning.
    ///
    /// # Errors
    /// With what differs.
    pub(super) fn check(&self, path: &Path, file: &mut File) -> Result<(), RecordError> {
        let failed = |source| RecordError::Io { what: "read", path: path.to_owned(), source };
        let damaged = |why: String| RecordError::Damaged { path: path.to_owned(), why };
        let found = file.metadata().map_err(failed)?.len();
        if found != self.bytes {
            return Err(damaged(format!("it has {found} bytes and was written with {}", self.bytes)));
        }
        let mut sum = Summing::new(io::sink());
        io::copy(&mut file.take(found), &mut sum).map_err(failed)?;
        if sum.crc32c() != self.crc32c {
            return Err(damaged("its checksum is not the one that the manifest has of it".to_owned()));
        }
        file.rewind().map_err(failed)
    }
}

/// Hands on what is written, and sums it up.
pub(super) struct Summing<W> {
    to: W,
    bytes: u64,
    sum: u32,
}

impl<W> Summing<W> {
    pub(super) const fn new(to: W) -> Self {
        Self { to, bytes: 0, sum: 0 }
    }

    fn crc32c(&self) -> String {
        format!("{:08x}", self.sum)
    }

    /// What was written under this name.
    pub(super) fn sealed(&self, file: String) -> SealedTable {
        SealedTable { file, bytes: self.bytes, crc32c: self.crc32c() }
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.sum = crc32c::crc32c_append(self.sum, &bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The manifest's last member: CRC32C of the text before it.
const CHECKSUM_MEMBER: &str = ",\n  \"crc32c\": \"";

/// Ends the text of a JSON object with its checksum.
pub(super) fn with_checksum(json: &str) -> String {
    let open = json.trim_end();
    let open = open.strip_suffix('}').unwrap_or(open).trim_end();
    format!("{open}{CHECKSUM_MEMBER}{:08x}\"\n}}\n", crc32c::crc32c(open.as_bytes()))
}

/// Whether the text is as [`with_checksum`] left it.
pub(super) fn checksum_holds(text: &str) -> bool {
    let Some((open, rest)) = text.rsplit_once(CHECKSUM_MEMBER) else { return false };
    rest == format!("{:08x}\"\n}}\n", crc32c::crc32c(open.as_bytes()))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_changed_letter_of_the_manifest_is_found() {
        let sealed = with_checksum("{\n  \"a\": {\n    \"b\": 1\n  }\n}");
        serde_json::from_str::<serde_json::Value>(&sealed).expect("JSON");
        assert!(checksum_holds(&sealed), "{sealed}");
        assert!(!checksum_holds(&sealed.replace('1', "2")) && !checksum_holds("{}"));
    }
}
