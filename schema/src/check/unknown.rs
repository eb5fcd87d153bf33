//! What stands for something that did not resolve.
//!
//! Its fault is reported where it stands; everything after that takes it for right
//! (`difference.rs`), or one wrong name would make ten reports. An unknown index leads nowhere:
//! it is only ever looked up with `get`.

use crate::definitions::{AtomIndex, Cardinality, EdgeShape, EdgeTarget, Type, TypeIndex};

/// An atom that did not resolve.
pub(super) const ATOM: AtomIndex = AtomIndex(u32::MAX);

/// A type that did not resolve.
pub(super) const TYPE: Type = Type::Named(TypeIndex(u32::MAX));

/// An edge that did not resolve.
pub(super) const SHAPE: EdgeShape = EdgeShape {
    cardinality: Cardinality::OptionalOne,
    target: EdgeTarget::Atom(ATOM),
    keyed: false,
};
