//! Through the whole store, page by page, in the order of the keys.

use std::ops::Bound;

use bytes::Bytes;

use crate::error::CallError;
use crate::overlay::{Read, borrow};
use crate::store::{Direction, RESERVED};

/// How many entries are read at once. An entry may have megabytes, so they are few.
const PAGE: usize = 16;

/// Who walks.
pub(crate) trait Visitor {
    /// Why a walk may end early.
    type Error: From<CallError>;

    /// Sees an entry.
    fn entry(&mut self, key: &Bytes, value: &Bytes) -> Result<(), Self::Error>;

    /// Is told that the store cannot be read behind a key, and why. The walk goes on with the next
    /// kind of keys.
    fn broken(&mut self, after: &[u8], message: String) -> Result<(), Self::Error>;
}

/// Hands out every entry.
pub(crate) fn walk<V: Visitor>(read: &impl Read, visitor: &mut V) -> Result<(), V::Error> {
    let end = Bound::Excluded(&[RESERVED][..]);
    let mut start = Bound::Unbounded;
    let mut limit = PAGE;
    loop {
        let page = match read.range((borrow(&start), end), Direction::Forward, limit) {
            Ok(page) => page,
            // One by one up to what cannot be read.
            Err(CallError::Corrupt { .. }) if limit > 1 => {
                limit = 1;
                continue;
            }
            Err(CallError::Corrupt { message }) => {
                let after = match &start {
                    Bound::Included(key) | Bound::Excluded(key) => key.clone(),
                    Bound::Unbounded => Bytes::new(),
                };
                visitor.broken(&after, message)?;
                let next = after.first().map_or(1, |kind| kind.saturating_add(1));
                if next == RESERVED {
                    return Ok(());
                }
                start = Bound::Included(Bytes::copy_from_slice(&[next]));
                limit = PAGE;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for (key, value) in &page {
            visitor.entry(key, value)?;
        }
        match page.last() {
            Some((last, _)) if page.len() == limit => start = Bound::Excluded(last.clone()),
            Some(_) | None => return Ok(()),
        }
    }
}
