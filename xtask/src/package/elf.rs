//! Which glibc a binary needs, read off its table of version needs, and one entry of it lowered.
//!
//! glibc 2.35 gave `hypot` and `hypotf` a new version for what they do with `errno`, which nobody here looks at; the first
//! version of both is in every glibc since, and computes the same. Libraries call them (drawing), so that no source of
//! ours could leave them out; the linker takes the newest it finds. Lowering the one entry of the table is what a
//! `.symver` directive would have done.
//!
//! Layout: System V ABI, ELF-64; Linux Standard Base 5.0, 10.7 "Symbol Versioning".

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context as _, Result, bail};

/// A version of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The version with the `hypot` to be rid of.
const NEW_HYPOT: &str = "GLIBC_2.35";
/// The first version that glibc had on each machine (its `shlib-versions`).
const FIRST: [(&str, &str); 2] = [("x86_64", "GLIBC_2.2.5"), ("aarch64", "GLIBC_2.17")];

/// SHT_GNU_verneed of the ABI.
const VERNEED: u32 = 0x6fff_fffe;

/// One entry of the table: where it lies in the file, its version, and the library that has it.
struct Need {
    at: usize,
    version: String,
    library: String,
}

/// Versions of glibc that the binary asks for, with the libraries that it asks.
pub(super) fn glibc_needed(elf: &[u8]) -> Result<BTreeMap<Version, String>> {
    let mut versions: BTreeMap<Version, String> = BTreeMap::new();
    for need in needs(elf)? {
        if let Some(version) = need.version.strip_prefix("GLIBC_").and_then(parse) {
            let libraries = versions.entry(version).or_default();
            *libraries += &format!(" {}", need.library);
        }
    }
    Ok(versions)
}

/// Makes what asks libm for the new version ask for the first one; the version that it asks for now.
pub(super) fn lower_hypot(elf: &mut [u8]) -> Result<String> {
    let needs = needs(elf)?;
    let first = FIRST.iter().find(|(machine, _)| *machine == std::env::consts::ARCH).map(|(_, name)| *name);
    let first =
        first.with_context(|| format!("glibc's first version on {} is not known", std::env::consts::ARCH))?;
    let Some(need) = needs.iter().find(|need| need.version == NEW_HYPOT && need.library == "libm.so.6")
    else {
        return Ok("no new version".to_owned());
    };
    // The name is there already, because half of glibc has it.
    let known = needs.iter().find(|need| need.version == first);
    let known = known.with_context(|| format!("the binary has nothing of {first}"))?;
    let name = u32_at(elf, known.at + 8)?;
    let (at, hash) = (need.at, elf_hash(first));
    elf[at..at + 4].copy_from_slice(&hash.to_le_bytes());
    elf[at + 8..at + 12].copy_from_slice(&name.to_le_bytes());
    Ok(first.to_owned())
}

/// The table of needs.
fn needs(elf: &[u8]) -> Result<Vec<Need>> {
    if elf.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("it is no ELF file of 64 bits, little endian");
    }
    let sections = usize::try_from(u64_at(elf, 0x28)?)?;
    let (size, count) = (u16_at(elf, 0x3a)?, u16_at(elf, 0x3c)?);
    elf.get(sections..sections + count * size).context("its table of sections is cut short")?;
    let header = |index: usize| sections + index * size;
    let table = (0..count).map(header).find(|at| u32_at(elf, at + 4).is_ok_and(|kind| kind == VERNEED));
    let Some(table) = table else { return Ok(Vec::new()) };
    let offset = |header: usize| -> Result<usize> { Ok(usize::try_from(u64_at(elf, header + 0x18)?)?) };
    let strings = offset(header(u32_at(elf, table + 0x28)? as usize))?;
    let libraries = u32_at(elf, table + 0x2c)?;
    let mut found = Vec::new();
    let mut library = offset(table)?;
    for _ in 0..libraries {
        let file = string_at(elf, strings + u32_at(elf, library + 4)? as usize)?;
        let mut at = library + u32_at(elf, library + 8)? as usize;
        for _ in 0..u16_at(elf, library + 2)? {
            let version = string_at(elf, strings + u32_at(elf, at + 8)? as usize)?;
            found.push(Need { at, version, library: file.clone() });
            at += u32_at(elf, at + 12)? as usize;
        }
        library += u32_at(elf, library + 12)? as usize;
    }
    Ok(found)
}

/// A version out of its two numbers.
pub(super) fn parse(version: &str) -> Option<Version> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some(Version(numbers.next()??, numbers.next()??))
}

/// The hash of the ABI for names of symbols and versions.
fn elf_hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

fn bytes_at<const N: usize>(elf: &[u8], at: usize) -> Result<[u8; N]> {
    let bytes = elf.get(at..at + N).context("it is cut short")?;
    Ok(bytes.try_into()?)
}

fn u16_at(elf: &[u8], at: usize) -> Result<usize> {
    Ok(u16::from_le_bytes(bytes_at(elf, at)?).into())
}

fn u32_at(elf: &[u8], at: usize) -> Result<u32> {
    Ok(u32::from_le_bytes(bytes_at(elf, at)?))
}

fn u64_at(elf: &[u8], at: usize) -> Result<u64> {
    Ok(u64::from_le_bytes(bytes_at(elf, at)?))
}

fn string_at(elf: &[u8], at: usize) -> Result<String> {
    let rest = elf.get(at..).context("a name lies beyond the end")?;
    let end = rest.iter().position(|byte| *byte == 0).context("a name has no end")?;
    Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_abi() {
        // As readelf shows them of any dynamic program.
        assert_eq!(elf_hash("GLIBC_2.2.5"), 0x0969_1a75);
        assert_eq!(elf_hash("GLIBC_2.34"), 0x0696_91b4);
    }

    /// Goal: this very test program, whose needs are known to the linker, is read.
    #[test]
    fn a_program_tells_what_it_needs() {
        let path = std::env::current_exe().expect("a program");
        let elf = std::fs::read(path).expect("a readable program");
        let needed = glibc_needed(&elf).expect("an ELF file");
        assert!(needed.keys().next().is_some_and(|first| *first >= Version(2, 2)), "{needed:?}");
        assert!(glibc_needed(b"#!/bin/sh").is_err() && glibc_needed(&elf[..100]).is_err());
    }
}
