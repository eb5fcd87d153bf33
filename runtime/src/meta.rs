//! What the store says about itself: its format, the packages that wrote it, where its history
//! stands.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::error::CallError;
use crate::key;
use crate::object::{encoded, stored};
use crate::overlay::Read;

/// The version of the table in `key.rs` and of what is stored under its keys.
pub const FORMAT: u32 = 2;

/// Says how another format differs from [`FORMAT`], as far as that is known here.
pub(crate) fn difference(found: u32) -> &'static str {
    match found {
        1 => {
            "in format 1 the target of a `one` edge has a key of its own, and is not in the \
              header of its object; "
        }
        _ => "",
    }
}

pub(crate) const FORMAT_NAME: &str = "format";
pub(crate) const HEAD_NAME: &str = "head";
pub(crate) const PACKAGE_PREFIX: &str = "package/";

/// Where the history stands after the newest commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    /// The newest commit; 0 before the first.
    pub commit: u64,
    /// The hash of its entry.
    pub hash: [u8; 32],
    /// Its instant, in milliseconds since 1970.
    pub millis: i64,
    /// The last id that was given out.
    pub last_id: Ulid,
}

/// A package that a store was written with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredPackage {
    /// The package's id.
    pub id: String,
    /// Its revision.
    pub revision: String,
    /// The digest of its definitions.
    pub digest: String,
    /// Its definition files, by name.
    pub sources: Vec<(String, String)>,
}

/// Reads the format of a store; `None` in one that nothing was written to.
pub(crate) fn format(read: &impl Read) -> Result<Option<u32>, CallError> {
    let found = read.get(&key::meta(FORMAT_NAME))?;
    found.map(|bytes| stored(&bytes, || "the format of the store".into())).transpose()
}

/// Reads where the history stands.
pub(crate) fn head(read: &impl Read) -> Result<Head, CallError> {
    match read.get(&key::meta(HEAD_NAME))? {
        Some(bytes) => stored(&bytes, || "the head of the history".into()),
        None => Ok(Head::default()),
    }
}

/// Reads the packages that a store was written with, in the order of their ids.
pub(crate) fn packages(read: &impl Read) -> Result<Vec<StoredPackage>, CallError> {
    let entries = read.begin_with(&key::meta(PACKAGE_PREFIX), None, usize::MAX)?;
    let package = |(_, bytes): &(Bytes, Bytes)| stored(bytes, || "a package of the store".into());
    entries.iter().map(package).collect()
}

/// Returns what to write for the format.
pub(crate) fn put_format() -> Result<(Bytes, Bytes), CallError> {
    Ok((key::meta(FORMAT_NAME), encoded(&FORMAT)?.into()))
}

/// Returns what to write for a package.
pub(crate) fn put_package(package: &StoredPackage) -> Result<(Bytes, Bytes), CallError> {
    let name = format!("{PACKAGE_PREFIX}{}", package.id);
    Ok((key::meta(&name), encoded(package)?.into()))
}

/// Returns what to write for the head of the history.
pub(crate) fn put_head(head: &Head) -> Result<(Bytes, Bytes), CallError> {
    Ok((key::meta(HEAD_NAME), encoded(head)?.into()))
}
