//! What the store writes into sled: keys, and records with a checksum.
//!
//! | key | record |
//! | --- | --- |
//! | a key of the caller's | `WHOLE` value, or `PARTS` when the value is long |
//! | `FF 00` | `NUMBER` of the newest batch |
//! | `FF 01` transaction id | `NUMBER` of the batch that it was in |
//! | `FF 02` key, index (u32) | `PART` of the value under that key |
//!
//! A record is 8 bytes of checksum, a kind, and a body. The checksum is a BLAKE3 hash, cut short,
//! of the key's length, the key, the kind and the body, so that a record under the wrong key is
//! found out too. `PARTS` is the value's length (u64) and the checksum of each part, so that parts
//! of two values never pass for one. Numbers in keys are big-endian, in bodies little-endian.
//!
//! These layouts are part of the store's format: to change one is to count the format up.

use std::fmt;

use crate::store::{RESERVED, TransactionId, Version};

/// A record is no longer than this, or sled's pages would outgrow its segments.
const RECORD_BYTES: usize = 32 << 10;
const CHECKSUM_BYTES: usize = 8;
const HEADER_BYTES: usize = CHECKSUM_BYTES + 1;
/// Bytes of a value in one record.
pub(super) const PART_BYTES: usize = RECORD_BYTES - HEADER_BYTES;

/// The key of the newest batch's number.
pub(super) const NEWEST: &[u8] = &[RESERVED, 0];

const OUTCOME: [u8; 2] = [RESERVED, 1];
const PART: [u8; 2] = [RESERVED, 2];

/// Returns the key of a transaction's outcome.
pub(super) fn outcome_key(transaction: TransactionId) -> [u8; 18] {
    let mut key = [0; 18];
    key[..2].copy_from_slice(&OUTCOME);
    key[2..].copy_from_slice(&transaction.to_bytes());
    key
}

/// Returns the key of a part of a value.
pub(super) fn part_key(key: &[u8], index: u32) -> Vec<u8> {
    [&PART, key, &index.to_be_bytes()].concat()
}

/// Returns the keys between which the parts of the values under keys with a first byte lie.
/// No key begins with the last byte that there is.
pub(super) fn parts_between(first: u8) -> ([u8; 3], [u8; 3]) {
    let [reserved, part] = PART;
    ([reserved, part, first], [reserved, part, first + 1])
}

/// What a record holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Kind {
    Whole = 0,
    Parts = 1,
    Part = 2,
    Number = 3,
}

/// A stored value is not what was written under its key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is not what was written there")]
pub(super) struct Damaged(String);

impl Damaged {
    /// Names what lies under a key: the kind, which comes first in it, and enough of the rest to
    /// find it again.
    pub(super) fn under(key: &[u8]) -> Damaged {
        let (what, key) = match key {
            [RESERVED, 0, ..] => return Damaged("the number of the newest batch".to_owned()),
            [RESERVED, 1, id @ ..] => {
                let id = id.try_into().map(TransactionId::from_bytes).unwrap_or_default();
                return Damaged(format!("the outcome of transaction {id}"));
            }
            [RESERVED, 2, key @ .., _, _, _, _] => ("a part of the value", key),
            _ => ("the value", key),
        };
        let kind = key.first().copied().unwrap_or_default();
        let start = &key[..key.len().min(32)];
        Damaged(format!("{what} under a key of kind {kind:#04x} ({})", Hex(start)))
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Makes records, in one buffer.
#[derive(Default)]
pub(super) struct Encoder {
    buffer: Vec<u8>,
}

impl Encoder {
    /// Makes the records of a value: each goes to `put` with its key. Returns how many parts the
    /// value was cut into; none when it is stored whole.
    pub(super) fn value(
        &mut self,
        key: &[u8],
        value: &[u8],
        mut put: impl FnMut(&[u8], &[u8]),
    ) -> u32 {
        if value.len() <= PART_BYTES {
            put(key, self.record(key, Kind::Whole, value));
            return 0;
        }
        let mut body = (value.len() as u64).to_le_bytes().to_vec();
        let mut count = 0;
        for part in value.chunks(PART_BYTES) {
            let part_key = part_key(key, count);
            let record = self.record(&part_key, Kind::Part, part);
            body.extend_from_slice(&record[..CHECKSUM_BYTES]);
            put(&part_key, record);
            count += 1;
        }
        put(key, self.record(key, Kind::Parts, &body));
        count
    }

    /// Makes the record of a number.
    pub(super) fn number(&mut self, key: &[u8], number: Version) -> &[u8] {
        self.record(key, Kind::Number, &number.to_le_bytes())
    }

    fn record(&mut self, key: &[u8], kind: Kind, body: &[u8]) -> &[u8] {
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; CHECKSUM_BYTES]);
        self.buffer.push(kind as u8);
        self.buffer.extend_from_slice(body);
        let checksum = checksum(key, &self.buffer[CHECKSUM_BYTES..]);
        self.buffer[..CHECKSUM_BYTES].copy_from_slice(&checksum);
        &self.buffer
    }
}

/// A value as it is stored.
pub(super) enum Stored<'a> {
    /// It begins here in the record, and ends with it.
    Whole(usize),
    /// It lies in parts.
    Parts(Parts<'a>),
}

/// The parts that a value lies in.
pub(super) struct Parts<'a> {
    /// Bytes of the value.
    pub(super) length: usize,
    checksums: &'a [[u8; CHECKSUM_BYTES]],
}

impl<'a> Parts<'a> {
    fn read(kind: u8, body: &'a [u8]) -> Option<Parts<'a>> {
        let (length, checksums) = body.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (checksums, rest) = checksums.as_chunks();
        let fits = rest.is_empty() && checksums.len() == length.div_ceil(PART_BYTES);
        (kind == Kind::Parts as u8 && fits).then_some(Parts { length, checksums })
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.checksums.len()).unwrap_or(u32::MAX)
    }

    /// Appends a part to the value, if it is one of this value.
    pub(super) fn append(
        &self,
        key: &[u8],
        index: u32,
        record: &[u8],
        value: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        let (kind, body) = open(key, record)?;
        let expected = self.checksums.get(index as usize);
        if kind != Kind::Part as u8 || expected.is_none_or(|sum| !record.starts_with(sum)) {
            return Err(Damaged::under(key));
        }
        value.extend_from_slice(body);
        Ok(())
    }
}

/// Reads the record under a key of the caller's.
pub(super) fn read_value<'a>(key: &[u8], record: &'a [u8]) -> Result<Stored<'a>, Damaged> {
    let (kind, body) = open(key, record)?;
    if kind == Kind::Whole as u8 {
        return Ok(Stored::Whole(HEADER_BYTES));
    }
    Parts::read(kind, body).map(Stored::Parts).ok_or_else(|| Damaged::under(key))
}

/// Reads the record of a number.
pub(super) fn read_number(key: &[u8], record: &[u8]) -> Result<Version, Damaged> {
    let (kind, body) = open(key, record)?;
    let number = body.try_into().ok().filter(|_| kind == Kind::Number as u8);
    number.map(Version::from_le_bytes).ok_or_else(|| Damaged::under(key))
}

/// Returns how many parts belong to a record that is about to be overwritten. Does not ask whether
/// it is damaged: overwriting is what mends it.
pub(super) fn part_count(record: &[u8]) -> u32 {
    let Some((_, [kind, body @ ..])) = record.split_at_checked(CHECKSUM_BYTES) else { return 0 };
    Parts::read(*kind, body).map_or(0, |parts| parts.count())
}

/// Splits a record into its kind and its body, if the checksum fits.
fn open<'a>(key: &[u8], record: &'a [u8]) -> Result<(u8, &'a [u8]), Damaged> {
    match record.split_first_chunk() {
        Some((sum, content @ [kind, body @ ..])) if *sum == checksum(key, content) => {
            Ok((*kind, body))
        }
        _ => Err(Damaged::under(key)),
    }
}

fn checksum(key: &[u8], content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(content);
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(&hasher.finalize().as_bytes()[..CHECKSUM_BYTES]);
    sum
}
