//! What every store asks of a batch and of a range before it looks at its own data.

use std::ops::Bound;

use bytes::Bytes;

use super::{Batch, CommitError, RESERVED, StoreLimits};

/// Refuses a batch that breaks a rule of [`Batch`] or a limit.
pub(super) fn check_batch(batch: &Batch, limits: &StoreLimits) -> Result<(), CommitError> {
    let mut size = 0;
    let mut before: Option<&Bytes> = None;
    for (key, value) in &batch.writes {
        match key.first() {
            None => return Err(CommitError::Malformed("a key is empty".to_owned())),
            Some(&RESERVED) => {
                let message = "a key begins with the byte that the store keeps for itself";
                return Err(CommitError::Malformed(message.to_owned()));
            }
            Some(_) => {}
        }
        if before.is_some_and(|before| before >= key) {
            return Err(CommitError::Malformed("keys are not in ascending order".to_owned()));
        }
        let length = value.as_ref().map_or(0, Bytes::len);
        within("key", key.len(), limits.key)?;
        within("value", length, limits.value)?;
        size += key.len() + length;
        before = Some(key);
    }
    within("batch", size, limits.batch)
}

fn within(what: &str, size: usize, limit: usize) -> Result<(), CommitError> {
    if size <= limit {
        return Ok(());
    }
    Err(CommitError::TooLarge(format!("a {what} of {size} bytes, of at most {limit}")))
}

/// A start and an end.
pub(super) type KeyRange<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Cuts a range to the keys that may be read. Returns `None` when nothing is left, so that ordered
/// maps, some of which panic at a range that ends before it starts, are never asked for one.
pub(super) fn readable_range<'a>(
    start: Bound<&'a [u8]>,
    end: Bound<&'a [u8]>,
) -> Option<KeyRange<'a>> {
    const LAST: &[u8] = &[RESERVED];
    let end = match end {
        Bound::Included(key) | Bound::Excluded(key) if key < LAST => end,
        Bound::Included(_) | Bound::Excluded(_) | Bound::Unbounded => Bound::Excluded(LAST),
    };
    let empty = match (start, end) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end))
        | (Bound::Excluded(start), Bound::Included(end)) => start >= end,
    };
    (!empty).then_some((start, end))
}
