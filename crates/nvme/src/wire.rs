//! From bytes to a wire layout: the one place where lengths are checked.
//!
//! A page may be longer than its layout (hosts read with a fixed buffer, and later revisions
//! append), never shorter.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::DecodeError;

/// The layout at the beginning of `bytes`.
pub(crate) fn layout<'a, T>(what: &'static str, bytes: &'a [u8]) -> Result<&'a T, DecodeError>
where
    T: FromBytes + KnownLayout + Immutable + zerocopy::Unaligned,
{
    match T::ref_from_prefix(bytes) {
        Ok((layout, _)) => Ok(layout),
        Err(_) => Err(DecodeError::Short { what, needed: size_of::<T>(), got: bytes.len() }),
    }
}

/// Asserts at compile time that fields lie where the specification puts them.
macro_rules! assert_layout {
    ($layout:ty, $size:literal, { $($field:ident: $offset:literal),* $(,)? }) => {
        const _: () = assert!(size_of::<$layout>() == $size);
        $(const _: () = assert!(std::mem::offset_of!($layout, $field) == $offset);)*
    };
}
pub(crate) use assert_layout;
