//! Frames: a byte that says what it is, the length of what follows (32 bits, little-endian), and that.
//!
//! Both sides refuse what is longer than [`LEN_MAX`], so that nobody can make the other one allocate.

use std::io::{self, Read};

/// The longest content: plans and pieces of files.
pub const LEN_MAX: usize = 4 << 20;

/// What goes to the machine of the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upward {
    /// What to do, as JSON; the first frame.
    Request(Vec<u8>),
    /// The lifeline: this side is there.
    Ping,
    /// End the run: cleanly, and the second time at once.
    Stop,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Downward {
    /// The other side is there.
    Ping,
    /// The command's standard output.
    Stdout(Vec<u8>),
    /// Its standard error.
    Stderr(Vec<u8>),
    /// The run folder there.
    Folder(String),
    /// A piece of a file of it that only grows, at its offset.
    Append {
        /// Name within the folder.
        name: String,
        /// Where the piece begins.
        offset: u64,
        /// The piece.
        bytes: Vec<u8>,
    },
    /// A piece of a file that appears whole, at its offset.
    Piece {
        /// Name within the folder.
        name: String,
        /// Where the piece begins.
        offset: u64,
        /// The piece.
        bytes: Vec<u8>,
    },
    /// All pieces of that file are there.
    Whole(String),
    /// A file that is gone.
    Gone(String),
    /// All files at the end: JSON.
    Files(Vec<u8>),
    /// How it ended: JSON; the last frame.
    End(Vec<u8>),
}

impl Upward {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Request(json) => framed(b'R', &[json]),
            Self::Ping => framed(b'P', &[]),
            Self::Stop => framed(b'S', &[]),
        }
    }

    /// Reads the next one; `None` where the stream ends between two.
    ///
    /// # Errors
    /// What the stream says, or that it is no frame.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some((kind, content)) = read_frame(from)? else { return Ok(None) };
        match kind {
            b'R' => Ok(Some(Self::Request(content))),
            b'P' if content.is_empty() => Ok(Some(Self::Ping)),
            b'S' if content.is_empty() => Ok(Some(Self::Stop)),
            _ => Err(broken()),
        }
    }
}

impl Downward {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Ping => framed(b'p', &[]),
            Self::Stdout(bytes) => framed(b'o', &[bytes]),
            Self::Stderr(bytes) => framed(b'e', &[bytes]),
            Self::Folder(path) => framed(b'd', &[path.as_bytes()]),
            Self::Append { name, offset, bytes } => framed(b'a', &[&piece_head(name, *offset), bytes]),
            Self::Piece { name, offset, bytes } => framed(b'f', &[&piece_head(name, *offset), bytes]),
            Self::Whole(name) => framed(b'w', &[name.as_bytes()]),
            Self::Gone(name) => framed(b'x', &[name.as_bytes()]),
            Self::Files(json) => framed(b'l', &[json]),
            Self::End(json) => framed(b'z', &[json]),
        }
    }

    /// Reads the next one; `None` where the stream ends between two.
    ///
    /// # Errors
    /// What the stream says, or that it is no frame.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some((kind, content)) = read_frame(from)? else { return Ok(None) };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|_| broken());
        Ok(Some(match kind {
            b'p' if content.is_empty() => Self::Ping,
            b'o' => Self::Stdout(content),
            b'e' => Self::Stderr(content),
            b'd' => Self::Folder(text(content)?),
            b'a' => {
                let (name, offset, bytes) = piece(&content)?;
                Self::Append { name, offset, bytes }
            }
            b'f' => {
                let (name, offset, bytes) = piece(&content)?;
                Self::Piece { name, offset, bytes }
            }
            b'w' => Self::Whole(text(content)?),
            b'x' => Self::Gone(text(content)?),
            b'l' => Self::Files(content),
            b'z' => Self::End(content),
            _ => return Err(broken()),
        }))
    }
}

fn framed(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    assert!(len <= LEN_MAX, "a frame of {len} bytes: what is longer goes in pieces");
    let mut bytes = Vec::with_capacity(5 + len);
    bytes.push(kind);
    bytes.extend((len as u32).to_le_bytes());
    parts.iter().for_each(|part| bytes.extend(*part));
    bytes
}

fn piece_head(name: &str, offset: u64) -> Vec<u8> {
    let mut head = (name.len() as u32).to_le_bytes().to_vec();
    head.extend(name.as_bytes());
    head.extend(offset.to_le_bytes());
    head
}

fn piece(content: &[u8]) -> io::Result<(String, u64, Vec<u8>)> {
    let (len, rest) = content.split_first_chunk::<4>().ok_or_else(broken)?;
    let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(broken)?;
    let (offset, bytes) = rest.split_first_chunk::<8>().ok_or_else(broken)?;
    let name = std::str::from_utf8(name).map_err(|_| broken())?;
    Ok((name.to_owned(), u64::from_le_bytes(*offset), bytes.to_vec()))
}

fn read_frame(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    if from.read(&mut kind)? == 0 {
        return Ok(None);
    }
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > LEN_MAX {
        return Err(broken());
    }
    let mut content = Vec::new();
    // As much as comes, not as much as is said.
    if from.take(len as u64).read_to_end(&mut content)? < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((kind[0], content)))
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what came is no frame of heatsoak")
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn downward() -> impl Strategy<Value = Downward> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..64);
        prop_oneof![
            Just(Downward::Ping),
            bytes().prop_map(Downward::Stdout),
            bytes().prop_map(Downward::Stderr),
            any::<String>().prop_map(Downward::Folder),
            (any::<String>(), any::<u64>(), bytes()).prop_map(|(name, offset, bytes)| Downward::Append {
                name,
                offset,
                bytes
            }),
            (any::<String>(), any::<u64>(), bytes()).prop_map(|(name, offset, bytes)| Downward::Piece {
                name,
                offset,
                bytes
            }),
            any::<String>().prop_map(Downward::Whole),
            any::<String>().prop_map(Downward::Gone),
            bytes().prop_map(Downward::Files),
            bytes().prop_map(Downward::End),
        ]
    }

    proptest! {
        #[test]
        fn frames_come_as_they_went(frames in prop::collection::vec(downward(), 0..8)) {
            let bytes: Vec<u8> = frames.iter().flat_map(Downward::encode).collect();
            let mut from = bytes.as_slice();
            for frame in frames {
                prop_assert_eq!(Downward::read(&mut from).expect("a frame"), Some(frame));
            }
            prop_assert_eq!(Downward::read(&mut from).expect("the end"), None);
        }

        #[test]
        fn a_cut_is_never_taken_for_an_end(frame in downward(), cut: prop::sample::Index) {
            let bytes = frame.encode();
            let kept = cut.index(bytes.len());
            let read = Downward::read(&mut &bytes[..kept]);
            let is_told = if kept == 0 { matches!(read, Ok(None)) } else { read.is_err() };
            prop_assert!(is_told);
        }

        #[test]
        fn no_bytes_are_too_much(bytes: Vec<u8>) {
            let _ = (Downward::read(&mut bytes.as_slice()), Upward::read(&mut bytes.as_slice()));
        }
    }

    #[test]
    fn a_length_is_not_believed() {
        let mut bytes = vec![b'o'];
        bytes.extend(u32::MAX.to_le_bytes());
        assert!(Downward::read(&mut bytes.as_slice()).is_err());
        for frame in [Upward::Request(b"{}".to_vec()), Upward::Ping, Upward::Stop] {
            assert_eq!(Upward::read(&mut frame.encode().as_slice()).expect("a frame"), Some(frame));
        }
    }
}
