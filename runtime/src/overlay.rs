//! What is written but not yet in the store, laid over what is.
//!
//! Two layers lie over a view of the store: the group being gathered and a transaction's own
//! writes. A scan merges them; a `None` in a layer hides what lies below.
//!
//! The lane gathers in a map of its own. Who reads beside it has a persistent map, which is copied
//! in no time, and costs more to write to: see `shared.rs`.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use bytes::Bytes;
use foldhash::fast::RandomState;
use imbl::OrdMap;

use crate::error::CallError;
use crate::key;
use crate::reference::ObjectRef;
use crate::store::{Direction, Page, StoreError, View};

/// Keys with their new values; `None` is deleted.
pub(crate) type Overlay = OrdMap<Bytes, Option<Bytes>>;

/// A key with its new value.
pub(crate) type Write = (Bytes, Option<Bytes>);

/// A group that is being gathered.
pub(crate) enum Gathered {
    /// The lane's own.
    Own(BTreeMap<Bytes, Option<Bytes>>),
    /// What readers see of it, which nobody adds to.
    Copy(Overlay),
}

impl Gathered {
    /// Makes an empty one for the lane.
    pub(crate) fn new() -> Self {
        Self::Own(BTreeMap::new())
    }

    /// Tells whether nothing was gathered.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Own(writes) => writes.is_empty(),
            Self::Copy(writes) => writes.is_empty(),
        }
    }

    pub(crate) fn insert(&mut self, key: Bytes, value: Option<Bytes>) {
        match self {
            Self::Own(writes) => writes.insert(key, value),
            Self::Copy(writes) => writes.insert(key, value),
        };
    }

    /// Takes all that was gathered, in the order of the keys.
    pub(crate) fn take(&mut self) -> Vec<Write> {
        match std::mem::replace(self, Self::new()) {
            Self::Own(writes) => writes.into_iter().collect(),
            Self::Copy(writes) => writes.into_iter().collect(),
        }
    }

    /// Returns the keys of all that was gathered.
    pub(crate) fn keys(&self) -> Vec<Bytes> {
        match self {
            Self::Own(writes) => writes.keys().cloned().collect(),
            Self::Copy(writes) => writes.keys().cloned().collect(),
        }
    }

    fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        match self {
            Self::Own(writes) => writes.get(key),
            Self::Copy(writes) => writes.get(key),
        }
    }
}

/// A key with its value.
pub(crate) type Entry = (Bytes, Bytes);

/// A range of keys, by its ends.
pub(crate) type Range<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Reads one version of everything.
pub(crate) trait Read {
    /// Reads a value.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, CallError>;

    /// Reads at most `limit` entries of a range, from its start, or backward from its end.
    fn range(
        &self,
        range: Range<'_>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Entry>, CallError>;

    /// Reads the bytes of an object's header. It is remembered, so that whoever asks again, whether
    /// the object is there or where its `one` edges lead, costs no further read.
    fn header(&self, object: ObjectRef) -> Result<Option<Bytes>, CallError>;

    /// Tells whether a key is there.
    fn contains(&self, key: &[u8]) -> Result<bool, CallError> {
        Ok(self.get(key)?.is_some())
    }

    /// Reads at most `limit` of the entries whose keys begin so, from `start` on.
    fn begin_with(
        &self,
        prefix: &[u8],
        start: Option<Bound<&[u8]>>,
        limit: usize,
    ) -> Result<Vec<Entry>, CallError> {
        let end = key::end_of(prefix);
        let start = start.unwrap_or(Bound::Included(prefix));
        self.range((start, borrow(&end)), Direction::Forward, limit)
    }
}

/// One version of everything: a view of the store with the gathered group over it.
pub(crate) struct Base {
    /// The group being gathered.
    pub(crate) over: Gathered,
    view: Box<dyn View>,
    /// The newest commit that shows here.
    pub(crate) commit: u64,
    /// Which run of the lane since its last failed group the commit belongs to.
    pub(crate) epoch: u64,
    expired: Cell<bool>,
    headers: RefCell<Headers>,
}

/// Headers that were read. One never changes, so what was read stays true while the lane adds to the
/// group, and when the group is in the store.
pub(crate) type Headers = HashMap<ObjectRef, Bytes, RandomState>;

/// How many headers are remembered at most: far more than a call reads, and little memory for a
/// walk through all of a store.
const HEADERS: usize = 4096;

impl Base {
    pub(crate) fn new(over: Gathered, view: Box<dyn View>, commit: u64, epoch: u64) -> Self {
        let (expired, headers) = (Cell::new(false), RefCell::default());
        Self { over, view, commit, epoch, expired, headers }
    }

    /// Returns this version with headers that were read from one before it, of which it has all.
    pub(crate) fn with_headers(self, headers: Headers) -> Self {
        Self { headers: RefCell::new(headers), ..self }
    }

    /// Gives up the headers that were read.
    pub(crate) fn take_headers(&mut self) -> Headers {
        self.headers.take()
    }

    /// Returns a header that was read.
    pub(crate) fn known_header(&self, object: ObjectRef) -> Option<Bytes> {
        self.headers.borrow().get(&object).cloned()
    }

    /// Tells whether something was asked that this version could no longer answer. What was
    /// answered after that is worth nothing, whatever a handler made of it.
    pub(crate) fn is_expired(&self) -> bool {
        self.expired.get()
    }

    /// Returns the version of the store below.
    pub(crate) fn version(&self) -> u64 {
        self.view.version()
    }

    fn failed(&self, error: StoreError) -> CallError {
        match error {
            StoreError::Expired => {
                self.expired.set(true);
                CallError::Unavailable { message: error.to_string() }
            }
            StoreError::Corrupt(message) => CallError::Corrupt { message },
            StoreError::Io(_) | StoreError::Closed(_) => {
                CallError::Storage { message: error.to_string() }
            }
        }
    }
}

impl Read for Base {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, CallError> {
        match self.over.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.view.get(key).map_err(|error| self.failed(error)),
        }
    }

    fn range(
        &self,
        range: Range<'_>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Entry>, CallError> {
        if is_empty(range) {
            return Ok(Vec::new());
        }
        let below = |range: Range<'_>, limit| {
            self.view.range(range.0, range.1, direction, limit).map_err(|error| self.failed(error))
        };
        match &self.over {
            Gathered::Own(writes) => {
                merge(writes.range::<[u8], _>(range), below, range, direction, limit)
            }
            Gathered::Copy(writes) => {
                merge(writes.range::<_, [u8]>(range), below, range, direction, limit)
            }
        }
    }

    fn header(&self, object: ObjectRef) -> Result<Option<Bytes>, CallError> {
        if let Some(header) = self.known_header(object) {
            return Ok(Some(header));
        }
        let found = self.get(&key::object(object))?;
        if let Some(header) = &found {
            let mut headers = self.headers.borrow_mut();
            if headers.len() == HEADERS {
                headers.clear();
            }
            headers.insert(object, header.clone());
        }
        Ok(found)
    }
}

/// Tells whether no key can lie in a range. Ordered maps panic on such a range.
pub(crate) fn is_empty(range: Range<'_>) -> bool {
    match range {
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end))
        | (Bound::Excluded(start), Bound::Included(end)) => start >= end,
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
    }
}

/// Merges a layer over what lies below it, which is read page by page: both in `direction`.
pub(crate) fn merge<'a>(
    over: impl DoubleEndedIterator<Item = (&'a Bytes, &'a Option<Bytes>)>,
    below: impl Fn(Range<'_>, usize) -> Result<Page, CallError>,
    range: Range<'_>,
    direction: Direction,
    limit: usize,
) -> Result<Vec<Entry>, CallError> {
    match direction {
        Direction::Forward => merge_onward(over, below, range, direction, limit),
        Direction::Backward => merge_onward(over.rev(), below, range, direction, limit),
    }
}

fn merge_onward<'a>(
    over: impl Iterator<Item = (&'a Bytes, &'a Option<Bytes>)>,
    below: impl Fn(Range<'_>, usize) -> Result<Page, CallError>,
    range: Range<'_>,
    direction: Direction,
    limit: usize,
) -> Result<Vec<Entry>, CallError> {
    let mut over = over.peekable();
    if over.peek().is_none() {
        return Ok(below(range, limit)?.entries);
    }
    let mut below = Below { read: below, direction, rest: Some(own(range)), page: Vec::new() };
    let mut merged = Vec::new();
    while merged.len() < limit {
        let under = below.peek(limit - merged.len())?;
        let first = match (over.peek(), under) {
            (None, None) => break,
            (Some(_), None) => Layer::Over,
            (None, Some(_)) => Layer::Below,
            (Some((upper, _)), Some((lower, _))) => {
                let order = match direction {
                    Direction::Forward => upper.as_ref().cmp(lower.as_ref()),
                    Direction::Backward => lower.as_ref().cmp(upper.as_ref()),
                };
                match order {
                    std::cmp::Ordering::Less => Layer::Over,
                    std::cmp::Ordering::Equal => Layer::Both,
                    std::cmp::Ordering::Greater => Layer::Below,
                }
            }
        };
        if matches!(first, Layer::Below | Layer::Both) {
            let entry = below.page.pop();
            if matches!(first, Layer::Below) {
                merged.extend(entry);
            }
        }
        if matches!(first, Layer::Over | Layer::Both)
            && let Some((key, Some(value))) = over.next()
        {
            merged.push((key.clone(), value.clone()));
        }
    }
    Ok(merged)
}

/// Where the next key of a merge lies.
enum Layer {
    Over,
    Below,
    Both,
}

/// What lies below a layer, read by pages.
struct Below<F> {
    read: F,
    direction: Direction,
    /// What is still to be read.
    rest: Option<(Bound<Bytes>, Bound<Bytes>)>,
    /// What was read, the next at the end.
    page: Vec<Entry>,
}

impl<F: Fn(Range<'_>, usize) -> Result<Page, CallError>> Below<F> {
    fn peek(&mut self, wanted: usize) -> Result<Option<&Entry>, CallError> {
        while self.page.is_empty()
            && let Some((start, end)) = self.rest.take()
        {
            let range = (borrow(&start), borrow(&end));
            let Page { mut entries, more } = (self.read)(range, wanted)?;
            if let Some((last, _)) = entries.last().filter(|_| more) {
                let last = Bound::Excluded(last.clone());
                self.rest = Some(match self.direction {
                    Direction::Forward => (last, end),
                    Direction::Backward => (start, last),
                });
            }
            entries.reverse();
            self.page = entries;
        }
        Ok(self.page.last())
    }
}

fn own((start, end): Range<'_>) -> (Bound<Bytes>, Bound<Bytes>) {
    (start.map(Bytes::copy_from_slice), end.map(Bytes::copy_from_slice))
}

/// Borrows the bytes of a bound.
pub(crate) fn borrow(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(Bytes::as_ref)
}
