//! Canonical text: what a definition says, and nothing of how it was laid out.
//!
//! It is printed like formatted text, but without comments, without empty lines of the writer's,
//! and never broken for width, so that neither layout nor a change of the formatter's width
//! reaches the digest. Canonical text is its own canonical text.

use std::collections::BTreeSet;

use crate::ast::{File, Item};
use crate::print::Printer;

/// Returns the canonical text of a file: its items, in their order.
#[must_use]
pub fn canonical(file: &File) -> String {
    Printer::canonical().finish(&file.items)
}

/// Returns the canonical text of a package, which its digest is made of: the items of all its
/// files, each once, in the order of their own canonical texts. How the package is split into
/// files, what they are called and in which order items stand makes no difference, for none of
/// it has a meaning; `part of` says only how it is split, and is left out. The order within an
/// item stays: fields are stored in it.
#[must_use]
pub fn canonical_package<'a>(files: impl IntoIterator<Item = &'a File>) -> String {
    let items = files.into_iter().flat_map(|file| &file.items);
    let texts: BTreeSet<String> = items
        .filter(|item| !matches!(item, Item::PartOf(_)))
        .map(|item| Printer::canonical().finish(std::slice::from_ref(item)))
        .collect();
    texts.into_iter().collect()
}
