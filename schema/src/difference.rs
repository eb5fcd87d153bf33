//! Where two types part.
//!
//! Names are for readers: two types are the same if their shapes are. Atoms and interfaces are
//! compared by id, so that the two types may come from two revisions. What did not resolve (an
//! index that leads nowhere, see `check/unknown.rs`) is the same as everything: its fault was
//! reported where it stands.

use std::collections::BTreeSet;

use crate::definitions::{
    Definitions, EdgeShape, EdgeTarget, Field, InterfaceType, Record, Type, TypeIndex,
};

/// How deep types are compared: deeper than any but those that lead on and on through the
/// arguments of interfaces, which are taken for different.
const DEEPEST: usize = 512;

/// A type with the definitions that its indices are of.
pub(crate) struct In<'a, T> {
    pub(crate) definitions: &'a Definitions,
    pub(crate) value: &'a T,
}

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

// Not derived: a type need not be `Copy` for a reference to it to be.
impl<T> Copy for In<'_, T> {}

impl<'a, T> In<'a, T> {
    pub(crate) fn new(definitions: &'a Definitions, value: &'a T) -> Self {
        Self { definitions, value }
    }

    pub(crate) fn with<U>(self, value: &'a U) -> In<'a, U> {
        In { definitions: self.definitions, value }
    }
}

/// The first place where two types part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    /// `control.generation`, `items[].key`; empty at the top, and for an element of a list
    /// there.
    pub(crate) path: String,
    /// What is different there.
    pub(crate) what: What,
}

/// What is different.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// Two types.
    Types { left: String, right: String },
    /// A field that only the left has.
    OnlyLeft(String),
    /// A field that only the right has.
    OnlyRight(String),
    /// The same fields in another order, which is another layout.
    Order,
}

impl Difference {
    /// Says the difference, with words for either side (``in the member``): ``field `x` is
    /// `string` in the member and `bool` in the slot``. Nothing if the types as a whole differ.
    pub(crate) fn describe(&self, left: &str, right: &str) -> Option<String> {
        let inside =
            if self.path.is_empty() { String::new() } else { format!(" of `{}`", self.path) };
        match &self.what {
            What::Types { .. } if self.path.is_empty() => None,
            What::Types { left: one, right: other } => {
                Some(format!("`{}` is `{one}` {left} and `{other}` {right}", self.path))
            }
            What::OnlyLeft(name) => {
                Some(format!("the field `{name}`{inside} is only {left}, not {right}"))
            }
            What::OnlyRight(name) => {
                Some(format!("the field `{name}`{inside} is only {right}, not {left}"))
            }
            What::Order => {
                Some(format!("the fields{inside} stand in another order {left} than {right}"))
            }
        }
    }
}

/// Returns where two types part, or nothing if they are the same.
pub(crate) fn difference(left: In<'_, Type>, right: In<'_, Type>) -> Option<Difference> {
    Walk::default().types(left, right)
}

/// Tells whether two interfaces are the same, with arguments of the same shape.
pub(crate) fn same_interface(left: In<'_, InterfaceType>, right: In<'_, InterfaceType>) -> bool {
    Walk::default().interfaces(left, right)
}

/// Tells whether two edges lead to the same.
pub(crate) fn same_target(left: In<'_, EdgeTarget>, right: In<'_, EdgeTarget>) -> bool {
    match (left.value, right.value) {
        (EdgeTarget::Atom(a), EdgeTarget::Atom(b)) => {
            match (left.definitions.atoms.get(a.get()), right.definitions.atoms.get(b.get())) {
                (Some(a), Some(b)) => a.id == b.id,
                _ => true,
            }
        }
        (EdgeTarget::Interface(a), EdgeTarget::Interface(b)) => {
            same_interface(left.with(a), right.with(b))
        }
        (EdgeTarget::Atom(at), EdgeTarget::Interface(_)) => {
            left.definitions.atoms.get(at.get()).is_none()
        }
        (EdgeTarget::Interface(_), EdgeTarget::Atom(at)) => {
            right.definitions.atoms.get(at.get()).is_none()
        }
    }
}

/// Tells whether two edges have the same shape. Of one whose target did not resolve, nothing is
/// known for sure.
pub(crate) fn same_shape(left: In<'_, EdgeShape>, right: In<'_, EdgeShape>) -> bool {
    let unknown = |shape: In<'_, EdgeShape>| match &shape.value.target {
        EdgeTarget::Atom(at) => shape.definitions.atoms.get(at.get()).is_none(),
        EdgeTarget::Interface(_) => false,
    };
    unknown(left)
        || unknown(right)
        || left.value.cardinality == right.value.cardinality
            && left.value.keyed == right.value.keyed
            && same_target(left.with(&left.value.target), right.with(&right.value.target))
}

/// One comparison. A type may contain itself through the arguments of an interface: a pair of
/// names that is being compared already is taken for equal, or the walk would not end.
#[derive(Default)]
struct Walk {
    path: Vec<String>,
    assumed: BTreeSet<(TypeIndex, TypeIndex)>,
    depth: usize,
}

impl Walk {
    fn types(&mut self, left: In<'_, Type>, right: In<'_, Type>) -> Option<Difference> {
        if std::ptr::eq(left.definitions, right.definitions) && left.value == right.value {
            return None;
        }
        if let (Type::Named(a), Type::Named(b)) = (left.value, right.value)
            && !self.assumed.insert((*a, *b))
        {
            return None;
        }
        if self.depth == DEEPEST {
            return Some(self.part(left, right));
        }
        self.depth += 1;
        let found = self.shapes(left, right);
        self.depth -= 1;
        found
    }

    fn shapes(&mut self, left: In<'_, Type>, right: In<'_, Type>) -> Option<Difference> {
        let (one, other) = (shape(left)?, shape(right)?);
        match (one.value, other.value) {
            (Type::Optional(a), Type::Optional(b)) => {
                self.types(one.with(a.as_ref()), other.with(b.as_ref()))
            }
            (Type::List(a), Type::List(b)) => {
                let field = self.path.pop();
                self.path.push(format!("{}[]", field.as_deref().unwrap_or_default()));
                let found = self.types(one.with(a.as_ref()), other.with(b.as_ref()));
                self.path.pop();
                self.path.extend(field);
                found
            }
            (Type::Record(a), Type::Record(b)) => self.records(one.with(a), other.with(b)),
            (Type::AtomRef(a), Type::AtomRef(b)) => {
                let a = one.definitions.atoms.get(a.get())?;
                let b = other.definitions.atoms.get(b.get())?;
                (a.id != b.id).then(|| self.part(left, right))
            }
            (Type::InterfaceRef(a), Type::InterfaceRef(b)) => {
                (!self.interfaces(one.with(a), other.with(b))).then(|| self.part(left, right))
            }
            (a, b) => (a != b).then(|| self.part(left, right)),
        }
    }

    fn records(&mut self, left: In<'_, Record>, right: In<'_, Record>) -> Option<Difference> {
        let (a, b) = (&left.value.fields, &right.value.fields);
        let lacks = |fields: &[Field], name: &str| fields.iter().all(|field| field.name != name);
        let what = if let Some(field) = a.iter().find(|field| lacks(b, &field.name)) {
            What::OnlyLeft(field.name.clone())
        } else if let Some(field) = b.iter().find(|field| lacks(a, &field.name)) {
            What::OnlyRight(field.name.clone())
        } else if a.iter().zip(b).any(|(a, b)| a.name != b.name) {
            What::Order
        } else {
            return a.iter().zip(b).find_map(|(a, b)| {
                self.path.push(a.name.clone());
                let found = self.types(left.with(&a.ty), right.with(&b.ty));
                self.path.pop();
                found
            });
        };
        Some(Difference { path: self.path(), what })
    }

    fn interfaces(&mut self, left: In<'_, InterfaceType>, right: In<'_, InterfaceType>) -> bool {
        let (Some(a), Some(b)) = (
            left.definitions.interfaces.get(left.value.interface.get()),
            right.definitions.interfaces.get(right.value.interface.get()),
        ) else {
            return true;
        };
        let arguments = (&left.value.arguments, &right.value.arguments);
        a.id == b.id
            && arguments.0.len() == arguments.1.len()
            && arguments
                .0
                .iter()
                .zip(arguments.1)
                .all(|(a, b)| self.types(left.with(a), right.with(b)).is_none())
    }

    fn part(&self, left: In<'_, Type>, right: In<'_, Type>) -> Difference {
        Difference {
            path: self.path(),
            what: What::Types {
                left: left.definitions.type_text(left.value),
                right: right.definitions.type_text(right.value),
            },
        }
    }

    fn path(&self) -> String {
        let path = self.path.join(".");
        if path.chars().all(|it| matches!(it, '[' | ']')) { String::new() } else { path }
    }
}

/// Returns what a named type stands for, or nothing if it did not resolve.
fn shape(ty: In<'_, Type>) -> Option<In<'_, Type>> {
    let mut value = ty.value;
    while let Type::Named(at) = value {
        value = &ty.definitions.types.get(at.get())?.ty;
    }
    Some(ty.with(value))
}
