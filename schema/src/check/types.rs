//! Types: what they mean, and those that cannot be.
//!
//! `unit` is nothing, so it is only ever a whole input or output. An optional of an optional has
//! two nothings that JSON cannot tell apart. A type that contains itself with no reference
//! between would have no end; through a list or an optional it could end, but a value as deep as
//! one likes is what objects and edges are for.

use super::once::Twice;
use super::optional::Later;
use super::{Checker, Scope, unknown};
use crate::ast::{self, TypeExpr, TypeKind};
use crate::code::Code;
use crate::definitions::{Field, InterfaceType, NamedType, Record, Type};
use crate::diagnostic::Diagnostic;
use crate::resolve::check_built_in;
use crate::source::Place;

/// Whether `unit` may stand somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// As the whole input or output of an operation, or input of a creation.
    Allowed,
    /// Where a value is needed.
    Refused,
}

impl Checker<'_, '_, '_> {
    /// Makes the named types.
    pub(super) fn types(&mut self) {
        for owned in &self.names.types {
            let ty = self.ty(Scope::of(owned.package), &owned.ast.ty, Unit::Refused);
            let ty = if self.report.is_unread(owned.ast.place) { unknown::TYPE } else { ty };
            self.made.types.push(NamedType {
                name: owned.ast.name.value.clone(),
                package: owned.package,
                ty,
                place: owned.ast.place,
            });
        }
        self.cut_cycles();
    }

    /// Returns what a type as written means.
    pub(super) fn ty(&mut self, scope: Scope<'_>, expr: &TypeExpr, unit: Unit) -> Type {
        let ty = self.ty_as_read(scope, expr, unit);
        if self.report.is_unread(expr.place) { unknown::TYPE } else { ty }
    }

    fn ty_as_read(&mut self, scope: Scope<'_>, expr: &TypeExpr, unit: Unit) -> Type {
        match &expr.kind {
            TypeKind::Name(name) => self.name(scope, name, expr.place, unit),
            TypeKind::Optional(inner) => {
                let inner_type = self.ty(scope, inner, Unit::Refused);
                self.later.push(Later::Optional { inner: inner_type.clone(), place: inner.place });
                Type::Optional(Box::new(inner_type))
            }
            TypeKind::List(inner) => Type::List(Box::new(self.ty(scope, inner, Unit::Refused))),
            TypeKind::Record(fields) => Type::Record(self.record(scope, fields)),
            TypeKind::AtomRef(name) => {
                self.named_atom(scope.package, name).map_or(unknown::TYPE, Type::AtomRef)
            }
            TypeKind::InterfaceRef(of) => {
                self.interface_type(scope, of).map_or(unknown::TYPE, Type::InterfaceRef)
            }
            TypeKind::Error => unknown::TYPE,
        }
    }

    /// Returns what an interface as written means.
    pub(super) fn interface_type(
        &mut self,
        scope: Scope<'_>,
        expr: &ast::InterfaceExpr,
    ) -> Option<InterfaceType> {
        let interface = self.named_interface(scope.package, &expr.name);
        let arguments: Vec<_> =
            expr.arguments.iter().map(|it| self.ty(scope, it, Unit::Refused)).collect();
        let interface = interface?;
        let defined = self.names.interfaces[interface.get()].ast;
        let wanted = defined.parameters.len();
        if wanted != arguments.len() {
            let parameters: Vec<_> =
                defined.parameters.iter().map(|name| name.value.as_str()).collect();
            let help = if wanted == 0 {
                format!("write `{}`", expr.name.value)
            } else {
                format!("write `{}<{}>`", expr.name.value, parameters.join(", "))
            };
            self.report.push(
                Diagnostic::new(
                    Code::ArgumentCount,
                    expr.place,
                    format!(
                        "`{}` takes {}, not {}",
                        expr.name.value,
                        counted(wanted, "argument"),
                        arguments.len()
                    ),
                )
                .also(defined.name.place, "it is defined here")
                .help(help),
            );
            return None;
        }
        let of = InterfaceType { interface, arguments };
        if wanted > 0 {
            let arguments = expr.arguments.iter().map(|it| it.place).collect();
            self.later.push(Later::Instance { interface: of.clone(), arguments });
        }
        Some(of)
    }

    fn name(&mut self, scope: Scope<'_>, name: &str, place: Place, unit: Unit) -> Type {
        if let Some(at) = scope.parameters.iter().position(|it| it.value == name) {
            return Type::Parameter(u32::try_from(at).expect("fewer parameters than bytes"));
        }
        match name {
            "unit" => {
                if unit == Unit::Refused {
                    self.report.push(
                        Diagnostic::new(
                            Code::UnitValue,
                            place,
                            "`unit` is not a value that can be kept",
                        )
                        .help(
                            "`unit` may only be the whole input or output of an operation, or \
                             the input of a creation",
                        ),
                    );
                    return unknown::TYPE;
                }
                Type::Unit
            }
            "bool" => Type::Bool,
            "int32" => Type::Int32,
            "int64" => Type::Int64,
            "uint32" => Type::Uint32,
            "uint64" => Type::Uint64,
            "float64" => Type::Float64,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            _ => self.named_type(scope.package, name, place).map_or(unknown::TYPE, Type::Named),
        }
    }

    fn record(&mut self, scope: Scope<'_>, fields: &[ast::Field]) -> Record {
        let twice =
            Twice { code: Code::DuplicateField, message: "two fields named {}", help: None };
        self.once(fields.iter().map(|it| (it.name.value.as_str(), it.name.place)), &twice);
        let mut made = Vec::new();
        for field in fields {
            let ty = self.ty(scope, &field.ty, Unit::Refused);
            made.push(Field { name: field.name.value.clone(), ty });
        }
        Record { fields: made }
    }

    /// Checks the names of type parameters.
    pub(super) fn parameters(&mut self, parameters: &[ast::Name]) {
        for name in parameters {
            check_built_in(name, self.report);
        }
        let twice = Twice {
            code: Code::DuplicateName,
            message: "two type parameters named {}",
            help: None,
        };
        self.once(parameters.iter().map(|it| (it.value.as_str(), it.place)), &twice);
    }
}

/// Returns `no arguments`, `1 argument`, `2 arguments`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
