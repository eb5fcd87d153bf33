//! The outer form of an export: a line of text, then blocks, each with its checksum.
//!
//! | bytes | what |
//! | --- | --- |
//! | `quixos export 1\n` | what it is, and the version |
//! | blocks | kind (1), length of the payload (4), payload, BLAKE3 (32) |
//!
//! A block's checksum is over its number from 0 (8), its kind, its length and its payload, so that
//! blocks cannot change places. The last block holds the checksum of all bytes before it. Numbers
//! are big-endian. What the payloads are: `export.rs`.

use std::io::{self, Read, Write};

use crate::export::{Damage, ImportError};

/// The version of the form.
pub(super) const VERSION: u32 = 1;

/// What every version begins with.
const MAGIC: &[u8] = b"quixos export ";

/// Bytes that a payload may have: an entry of the greatest key and value, and then some.
pub(super) const MAX_PAYLOAD: u32 = 64 << 20;

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum BlockKind {
    /// What was exported.
    Header = 1,
    /// Keys and values.
    Entries = 2,
    /// How many there were, and the checksum of the whole.
    End = 3,
}

/// Writes blocks.
pub(super) struct BlockWriter<W> {
    to: W,
    number: u64,
    total: blake3::Hasher,
}

impl<W: Write> BlockWriter<W> {
    /// Writes what the file begins with.
    pub(super) fn new(to: W) -> io::Result<Self> {
        let mut this = Self { to, number: 0, total: blake3::Hasher::new() };
        this.put(MAGIC)?;
        this.put(format!("{VERSION}\n").as_bytes())?;
        Ok(this)
    }

    /// Writes a block.
    pub(super) fn block(&mut self, kind: BlockKind, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).ok().filter(|length| *length <= MAX_PAYLOAD);
        let length = length.ok_or_else(|| io::Error::other("an entry is too long for a block"))?;
        let head = head(kind as u8, length);
        let checksum = checksum(self.number, head, payload);
        self.put(&head)?;
        self.put(payload)?;
        self.put(checksum.as_bytes())?;
        self.number += 1;
        Ok(())
    }

    /// Returns the checksum of all bytes so far.
    pub(super) fn total(&self) -> blake3::Hash {
        self.total.finalize()
    }

    /// Makes sure that all bytes went out.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.total.update(bytes);
        self.to.write_all(bytes)
    }
}

/// A block that was read and whose checksum fits.
pub(super) struct Block {
    /// Its number, from 0.
    pub(super) number: u64,
    /// Where it begins.
    pub(super) offset: u64,
    pub(super) kind: u8,
    pub(super) payload: Vec<u8>,
    /// The checksum of all bytes before it.
    pub(super) total: blake3::Hash,
}

impl Block {
    /// Returns the error of something wrong with this block.
    pub(super) fn damaged(&self, damage: Damage) -> ImportError {
        ImportError::Corrupt { block: self.number, offset: self.offset, damage }
    }
}

/// Reads blocks.
pub(super) struct BlockReader<R> {
    from: R,
    number: u64,
    offset: u64,
    total: blake3::Hasher,
}

impl<R: Read> BlockReader<R> {
    /// Reads what the file begins with.
    pub(super) fn new(from: R) -> Result<Self, ImportError> {
        let mut this = Self { from, number: 0, offset: 0, total: blake3::Hasher::new() };
        if this.take(MAGIC.len())? != MAGIC {
            return Err(ImportError::NotAnExport);
        }
        let mut version = String::new();
        loop {
            match this.take(1)?[..] {
                [b'\n'] => break,
                [digit] if digit.is_ascii_digit() && version.len() < 10 => {
                    version.push(char::from(digit));
                }
                _ => return Err(ImportError::NotAnExport),
            }
        }
        if version != VERSION.to_string() {
            return Err(ImportError::Version { found: version, known: VERSION });
        }
        Ok(this)
    }

    /// Reads the next block. That there is none is an error: whoever asks has not seen the end.
    pub(super) fn block(&mut self) -> Result<Block, ImportError> {
        let (number, offset) = (self.number, self.offset);
        let total = self.total.finalize();
        let damaged = |damage| ImportError::Corrupt { block: number, offset, damage };
        let [kind, length @ ..] = self.fixed::<5>()?.ok_or_else(|| damaged(Damage::Truncated))?;
        let length = u32::from_be_bytes(length);
        if length > MAX_PAYLOAD {
            return Err(damaged(Damage::TooLong(length)));
        }
        let payload = self.take(length as usize)?;
        let written = self.fixed::<32>()?.ok_or_else(|| damaged(Damage::Truncated))?;
        if checksum(number, head(kind, length), &payload) != written {
            return Err(damaged(Damage::Checksum));
        }
        self.number += 1;
        Ok(Block { number, offset, kind, payload, total })
    }

    /// Checks that nothing follows.
    pub(super) fn end(&mut self) -> Result<(), ImportError> {
        let (block, offset) = (self.number, self.offset);
        if self.take(1)?.is_empty() {
            return Ok(());
        }
        Err(ImportError::Corrupt { block, offset, damage: Damage::Trailing })
    }

    fn fixed<const N: usize>(&mut self) -> Result<Option<[u8; N]>, ImportError> {
        Ok(self.take(N)?.try_into().ok())
    }

    /// Reads bytes, fewer where the file ends. Memory grows with what is there, not with what is
    /// asked for.
    fn take(&mut self, count: usize) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::with_capacity(count.min(64 << 10));
        let limited = &mut self.from.by_ref().take(count as u64);
        limited.read_to_end(&mut bytes).map_err(ImportError::Read)?;
        self.total.update(&bytes);
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }
}

fn head(kind: u8, length: u32) -> [u8; 5] {
    let [a, b, c, d] = length.to_be_bytes();
    [kind, a, b, c, d]
}

fn checksum(number: u64, head: [u8; 5], payload: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&number.to_be_bytes()).update(&head).update(payload);
    hasher.finalize()
}
