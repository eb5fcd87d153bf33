//! One way to read an edge, whether it is stored with the object or derived from those of others.

use quixos_schema::Cardinality;

use crate::capability::EdgePlace;
use crate::edge;
use crate::error::CallError;
use crate::inverse;
use crate::model::{AtomModel, EdgeModel, InverseModel, Model};
use crate::overlay::Read;
use crate::reference::ObjectRef;

/// An edge of an atom, found.
pub(crate) enum Resolved<'m> {
    /// One that is stored with its source.
    Edge(&'m EdgeModel),
    /// One that is derived, with the atom whose edges it is derived from.
    Inverse(&'m InverseModel, &'m AtomModel),
}

/// Finds an edge of an atom.
pub(crate) fn place<'m>(model: &'m Model, atom: &'m AtomModel, place: EdgePlace) -> Resolved<'m> {
    match place {
        EdgePlace::Edge(at) => Resolved::Edge(&atom.edges[at]),
        EdgePlace::Inverse(at) => {
            let inverse = &atom.inverses[at];
            Resolved::Inverse(inverse, model.atom(inverse.source))
        }
    }
}

impl Resolved<'_> {
    pub(crate) fn cardinality(&self) -> Cardinality {
        match self {
            Self::Edge(edge) => edge.cardinality,
            Self::Inverse(..) => Cardinality::ManyUnique,
        }
    }

    pub(crate) fn is_keyed(&self) -> bool {
        match self {
            Self::Edge(edge) => edge.keyed,
            Self::Inverse(inverse, _) => inverse.key.is_some(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Edge(edge) => &edge.name,
            Self::Inverse(inverse, _) => &inverse.name,
        }
    }

    /// Refuses a way of reading that is not the edge's.
    fn is_read_as(&self, cardinality: Cardinality, keyed: bool) -> Result<(), CallError> {
        if (self.cardinality(), self.is_keyed()) == (cardinality, keyed) {
            return Ok(());
        }
        let message = "the edge has another cardinality, or is keyed where this is not";
        Err(CallError::invalid(self.name(), message))
    }

    pub(crate) fn one(&self, read: &impl Read, object: ObjectRef) -> Result<ObjectRef, CallError> {
        self.is_read_as(Cardinality::One, false)?;
        match self {
            Self::Edge(edge) => edge::only(read, object, edge),
            Self::Inverse(inverse, _) => Err(no_target(inverse, object)),
        }
    }

    pub(crate) fn optional(
        &self,
        read: &impl Read,
        object: ObjectRef,
    ) -> Result<Option<ObjectRef>, CallError> {
        self.is_read_as(Cardinality::OptionalOne, false)?;
        match self {
            Self::Edge(edge) => edge::target(read, object, edge),
            Self::Inverse(inverse, _) => Err(no_target(inverse, object)),
        }
    }

    pub(crate) fn contains(
        &self,
        read: &impl Read,
        object: ObjectRef,
        target: ObjectRef,
    ) -> Result<bool, CallError> {
        match self {
            Self::Edge(edge) => {
                self.is_read_as(Cardinality::ManyUnique, false)?;
                edge::contains(read, object, edge, target)
            }
            Self::Inverse(inverse, atom) => inverse::contains(read, object, inverse, atom, target),
        }
    }

    pub(crate) fn page(
        &self,
        read: &impl Read,
        object: ObjectRef,
        after: Option<ObjectRef>,
        limit: usize,
    ) -> Result<Vec<ObjectRef>, CallError> {
        self.is_read_as(Cardinality::ManyUnique, false)?;
        match self {
            Self::Edge(edge) => edge::page(read, object, edge, after, limit),
            Self::Inverse(inverse, _) => inverse::page(read, object, inverse, after, limit),
        }
    }

    pub(crate) fn at(
        &self,
        read: &impl Read,
        object: ObjectRef,
        key: &str,
    ) -> Result<Vec<ObjectRef>, CallError> {
        self.is_read_as(Cardinality::ManyUnique, true)?;
        match self {
            Self::Edge(edge) => Ok(edge::at(read, object, edge, key)?.into_iter().collect()),
            Self::Inverse(inverse, _) => inverse::at(read, object, inverse, key),
        }
    }

    pub(crate) fn entries(
        &self,
        read: &impl Read,
        object: ObjectRef,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ObjectRef)>, CallError> {
        self.is_read_as(Cardinality::ManyUnique, true)?;
        match self {
            Self::Edge(edge) => edge::entries(read, object, edge, after, limit),
            Self::Inverse(inverse, _) => inverse::entries(read, object, inverse, after, limit),
        }
    }
}

fn no_target(inverse: &InverseModel, object: ObjectRef) -> CallError {
    CallError::Corrupt { message: format!("{object:?} has no target of `{}`", inverse.name) }
}
