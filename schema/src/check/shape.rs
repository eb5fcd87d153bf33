//! The shape of an edge: how many targets, of what, by which key.

use super::types::Unit;
use super::{Checker, Scope, unknown};
use crate::ast;
use crate::code::Code;
use crate::definitions::{Cardinality, EdgeShape, EdgeTarget, Field, Record, Type};
use crate::diagnostic::Diagnostic;
use crate::resolve::listed;

const CARDINALITIES: [Cardinality; 3] =
    [Cardinality::One, Cardinality::OptionalOne, Cardinality::ManyUnique];

impl Checker<'_, '_, '_> {
    /// Returns what the shape of an edge as written means.
    pub(super) fn edge_shape(&mut self, scope: Scope<'_>, written: &ast::EdgeShape) -> EdgeShape {
        let target = match &written.target {
            ast::EdgeTarget::Atom(name) => {
                self.named_atom(scope.package, name).map(EdgeTarget::Atom)
            }
            ast::EdgeTarget::Interface(of) => {
                self.interface_type(scope, of).map(EdgeTarget::Interface)
            }
            ast::EdgeTarget::Error(_) => None,
        };
        let cardinality = self.cardinality(&written.cardinality);
        if let Some(key) = &written.keyed {
            self.key(cardinality, &written.cardinality, key);
        }
        match (cardinality, target) {
            (Some(cardinality), Some(target)) if !self.report.is_unread(written.place) => {
                EdgeShape { cardinality, target, keyed: written.keyed.is_some() }
            }
            _ => unknown::SHAPE,
        }
    }

    fn cardinality(&mut self, word: &ast::Name) -> Option<Cardinality> {
        let found = CARDINALITIES.into_iter().find(|it| it.word() == word.value);
        if found.is_none() {
            let words = CARDINALITIES.map(Cardinality::word);
            let help = self
                .report
                .did_you_mean(&word.value, words)
                .unwrap_or_else(|| format!("the cardinalities are {}", listed(&words)));
            let message = format!("no cardinality `{}`", word.value);
            self.report
                .push(Diagnostic::new(Code::UnknownCardinality, word.place, message).help(help));
        }
        found
    }

    fn key(&mut self, cardinality: Option<Cardinality>, word: &ast::Name, key: &ast::Text) {
        if cardinality.is_some_and(|it| it != Cardinality::ManyUnique) {
            let message = format!("an edge that is `{}` has no keys", word.value);
            self.report.push(
                Diagnostic::new(Code::KeyedNotMany, key.place, message)
                    .also(word.place, "only `many-unique` edges are keyed")
                    .help("remove `keyed`, or make it `many-unique`"),
            );
        }
        if key.value != "string" {
            let message = format!("a key is a `string`, not `{}`", key.value);
            self.report.push(
                Diagnostic::new(Code::KeyType, key.place, message).help("write `keyed \"string\"`"),
            );
        }
    }

    /// Returns the type of what fills an edge when its object is created.
    pub(super) fn filling(&self, shape: &EdgeShape) -> Type {
        if *shape == unknown::SHAPE {
            return unknown::TYPE;
        }
        let reference = match &shape.target {
            EdgeTarget::Atom(at) => Type::AtomRef(*at),
            EdgeTarget::Interface(of) => Type::InterfaceRef(of.clone()),
        };
        match (shape.cardinality, shape.keyed) {
            (Cardinality::One, _) => reference,
            (Cardinality::OptionalOne, _) => Type::Optional(Box::new(reference)),
            (Cardinality::ManyUnique, false) => Type::List(Box::new(reference)),
            (Cardinality::ManyUnique, true) => {
                let field = |name: &str, ty| Field { name: name.to_owned(), ty };
                let fields = vec![field("key", Type::String), field("target", reference)];
                Type::List(Box::new(Type::Record(Record { fields })))
            }
        }
    }

    /// Returns what an input or output as written means: any type, or `unit`.
    pub(super) fn payload(&mut self, scope: Scope<'_>, written: &ast::TypeExpr) -> Type {
        self.ty(scope, written, Unit::Allowed)
    }
}
