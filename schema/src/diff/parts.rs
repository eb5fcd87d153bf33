//! The parts in which two types differ.
//!
//! A named type is compared by its name alone where both revisions have it: how it changed inside
//! is told of the type itself.

use super::Impact;
use super::roles::Role;
use crate::definitions::{NamedType, Record, Type, TypeIndex};
use crate::difference::{In, difference};

/// One difference.
pub(super) struct Part {
    /// `control.generation`; empty for the type as a whole.
    path: String,
    kind: Kind,
}

enum Kind {
    /// A field is new.
    Added { ty: String, optional: bool },
    /// A field is gone.
    Removed,
    /// The fields stand in another order.
    Order,
    /// It may be absent now.
    Optional,
    /// It is always there now.
    Required,
    /// The same shape under another name.
    Renamed { old: String, new: String },
    /// Another type.
    Other { old: String, new: String },
}

impl Part {
    /// Says the difference, about a type called `subject`.
    pub(super) fn message(&self, subject: &str) -> String {
        let path = &self.path;
        let part = if path.is_empty() { String::new() } else { format!("`{path}` ") };
        let what = match &self.kind {
            Kind::Added { ty, .. } => format!("field `{path}: {ty}` added"),
            Kind::Removed => format!("field `{path}` removed"),
            Kind::Order if path.is_empty() => "fields in another order".to_owned(),
            Kind::Order => format!("fields of `{path}` in another order"),
            Kind::Optional => format!("{part}may be absent now"),
            Kind::Required => format!("{part}is always there now"),
            Kind::Renamed { old, new } => {
                format!("{part}was `{old}`, is `{new}`, which has the same shape")
            }
            Kind::Other { old, new } => format!("{part}was `{old}`, is `{new}`"),
        };
        format!("{subject}: {what}")
    }

    /// Returns what the difference means for a type in a role.
    pub(super) fn impact(&self, role: Role) -> Impact {
        let safe = match (&self.kind, role) {
            // A layout has no names, but an order.
            (Kind::Renamed { .. }, Role::Stored | Role::Input | Role::Output)
            | (Kind::Order, Role::Input | Role::Output | Role::Taken | Role::Given)
            | (Kind::Optional, Role::Input)
            | (Kind::Required | Kind::Added { .. }, Role::Output)
            | (Kind::Added { .. }, Role::Taken) => true,
            (Kind::Added { optional, .. }, Role::Input) => *optional,
            (
                Kind::Added { .. }
                | Kind::Removed
                | Kind::Order
                | Kind::Optional
                | Kind::Required
                | Kind::Renamed { .. }
                | Kind::Other { .. },
                Role::Stored | Role::Input | Role::Output | Role::Taken | Role::Given,
            ) => false,
        };
        match role {
            _ if safe => Impact::Safe,
            Role::Stored => Impact::NeedsMigration,
            Role::Input | Role::Output | Role::Taken | Role::Given => Impact::Breaking,
        }
    }
}

/// Returns the parts in which two types differ.
pub(super) fn parts(old: In<'_, Type>, new: In<'_, Type>) -> Vec<Part> {
    let mut walk = Walk { path: Vec::new(), parts: Vec::new() };
    walk.types(old, new);
    walk.parts
}

struct Walk {
    path: Vec<String>,
    parts: Vec<Part>,
}

impl Walk {
    fn types(&mut self, old: In<'_, Type>, new: In<'_, Type>) {
        let same = difference(old, new).is_none();
        match (old.value, new.value) {
            (Type::Named(a), Type::Named(b)) => {
                let (from, to) = (named(old, *a), named(new, *b));
                if key(from) == key(to) {
                    return;
                }
                if same {
                    let (old, new) = texts(old, new);
                    self.push(Kind::Renamed { old, new });
                } else {
                    self.shapes(old, new);
                }
            }
            (Type::Named(_), _) | (_, Type::Named(_)) if !same => self.shapes(old, new),
            (Type::Named(_), _) | (_, Type::Named(_)) => {
                let (old, new) = texts(old, new);
                self.push(Kind::Renamed { old, new });
            }
            (Type::Optional(a), Type::Optional(b)) => {
                self.types(old.with(a.as_ref()), new.with(b.as_ref()));
            }
            (Type::Optional(a), _) if difference(old.with(a.as_ref()), new).is_none() => {
                self.push(Kind::Required);
            }
            (_, Type::Optional(b)) if difference(old, new.with(b.as_ref())).is_none() => {
                self.push(Kind::Optional);
            }
            (Type::List(a), Type::List(b)) => {
                let field = self.path.pop();
                self.path.push(format!("{}[]", field.as_deref().unwrap_or_default()));
                self.types(old.with(a.as_ref()), new.with(b.as_ref()));
                self.path.pop();
                self.path.extend(field);
            }
            (Type::Record(a), Type::Record(b)) => self.records(old.with(a), new.with(b)),
            _ if same => {}
            _ => {
                let (old, new) = texts(old, new);
                self.push(Kind::Other { old, new });
            }
        }
    }

    /// Compares what two types stand for, of which one has a name. The name is told where they
    /// have nothing in common.
    fn shapes(&mut self, old: In<'_, Type>, new: In<'_, Type>) {
        let (from, to) = (shape(old), shape(new));
        let alike = std::mem::discriminant(from.value) == std::mem::discriminant(to.value);
        let optional = |ty: In<'_, Type>| matches!(ty.value, Type::Optional(_));
        if alike || optional(from) || optional(to) {
            self.types(from, to);
        } else {
            let (old, new) = texts(old, new);
            self.push(Kind::Other { old, new });
        }
    }

    fn records(&mut self, old: In<'_, Record>, new: In<'_, Record>) {
        let (before, after) = (&old.value.fields, &new.value.fields);
        for field in before {
            self.path.push(field.name.clone());
            match after.iter().find(|it| it.name == field.name) {
                Some(now) => self.types(old.with(&field.ty), new.with(&now.ty)),
                None => self.push(Kind::Removed),
            }
            self.path.pop();
        }
        for field in after {
            if before.iter().all(|it| it.name != field.name) {
                self.path.push(field.name.clone());
                let ty = new.definitions.type_text(&field.ty);
                let optional = matches!(new.definitions.shape(&field.ty), Type::Optional(_));
                self.push(Kind::Added { ty, optional });
                self.path.pop();
            }
        }
        let kept_before = before.iter().filter(|it| after.iter().any(|f| f.name == it.name));
        let kept_after = after.iter().filter(|it| before.iter().any(|f| f.name == it.name));
        if kept_before.zip(kept_after).any(|(a, b)| a.name != b.name) {
            self.push(Kind::Order);
        }
    }

    fn push(&mut self, kind: Kind) {
        self.parts.push(Part { path: self.path.join("."), kind });
    }
}

fn texts(old: In<'_, Type>, new: In<'_, Type>) -> (String, String) {
    (old.definitions.type_text(old.value), new.definitions.type_text(new.value))
}

fn shape(ty: In<'_, Type>) -> In<'_, Type> {
    ty.with(ty.definitions.shape(ty.value))
}

fn named<'d>(ty: In<'d, Type>, at: TypeIndex) -> In<'d, NamedType> {
    ty.with(&ty.definitions.types[at.get()])
}

/// What a named type is known by: its package and its name.
fn key<'d>(named: In<'d, NamedType>) -> (&'d str, &'d str) {
    (&named.definitions.package(named.value.package).id, &named.value.name)
}
