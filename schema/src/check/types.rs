//! Types: what they mean, and those that cannot be.
//!
//! `unit` is nothing, so it is only ever a whole input or output. An optional of an optional has
//! two nothings that JSON cannot tell apart. A type that contains itself with no reference
//! between would have no end; through a list or an optional it could end, but a value as deep as
//! one likes is what objects and edges are for.

use std::collections::BTreeSet;

use super::{Checker, Scope, unknown};
use crate::ast::{self, TypeExpr, TypeKind};
use crate::code::Code;
use crate::definitions::{
    EdgeShape, EdgeTarget, Field, InterfaceType, MemberKind, NamedType, Record, Type, TypeIndex,
};
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

/// What can be checked only when every type is known.
pub(super) enum Later {
    /// An optional of this type.
    Optional { inner: Type, place: Place },
    /// An interface with arguments.
    Instance { interface: InterfaceType, arguments: Vec<Place> },
}

/// A parameter of an interface, by positions.
type Parameter = (usize, usize);

impl Checker<'_, '_, '_> {
    /// Makes the named types.
    pub(super) fn types(&mut self) {
        for owned in &self.names.types {
            let ty = self.ty(Scope::of(owned.package), &owned.ast.ty, Unit::Refused);
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

    /// Checks what had to wait until every type was known.
    pub(super) fn settle_types(&mut self) {
        let optional = self.optional_parameters();
        for later in std::mem::take(&mut self.later) {
            match later {
                Later::Optional { inner, place } => {
                    if matches!(self.shape(&inner), Some(Type::Optional(_))) {
                        self.report_nested(place);
                    }
                }
                Later::Instance { interface, arguments } => {
                    for (at, (argument, place)) in
                        interface.arguments.iter().zip(arguments).enumerate()
                    {
                        if optional.contains(&(interface.interface.get(), at))
                            && matches!(self.shape(argument), Some(Type::Optional(_)))
                        {
                            self.report_nested_argument(&interface, at, place);
                        }
                    }
                }
            }
        }
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
        let mut made = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            let name = &field.name;
            if let Some(first) = fields[..at].iter().find(|it| it.name.value == name.value) {
                let message = format!("two fields named `{}`", name.value);
                self.report.push(
                    Diagnostic::new(Code::DuplicateField, name.place, message)
                        .also(first.name.place, "the first stands here"),
                );
            }
            let ty = self.ty(scope, &field.ty, Unit::Refused);
            made.push(Field { name: name.value.clone(), ty });
        }
        Record { fields: made }
    }

    /// Checks the names of type parameters.
    pub(super) fn parameters(&mut self, parameters: &[ast::Name]) {
        for (at, name) in parameters.iter().enumerate() {
            check_built_in(name, self.report);
            if let Some(first) = parameters[..at].iter().find(|it| it.value == name.value) {
                let message = format!("two type parameters named `{}`", name.value);
                self.report.push(
                    Diagnostic::new(Code::DuplicateName, name.place, message)
                        .also(first.place, "the first stands here"),
                );
            }
        }
    }

    fn report_nested(&mut self, place: Place) {
        self.report.push(
            Diagnostic::new(
                Code::NestedOptional,
                place,
                "an optional of an optional has two ways to be absent, which JSON cannot tell \
                 apart",
            )
            .label("already optional")
            .help("remove one `optional`, or put a record between them"),
        );
    }

    fn report_nested_argument(&mut self, of: &InterfaceType, at: usize, place: Place) {
        let interface = self.names.interfaces[of.interface.get()].ast;
        let parameter = &interface.parameters[at];
        let message = format!(
            "`{}` makes `{}` optional, and this argument is optional already",
            interface.name.value, parameter.value
        );
        self.report.push(
            Diagnostic::new(Code::NestedOptional, place, message)
                .label("already optional")
                .also(parameter.place, "this parameter"),
        );
    }

    /// Returns the parameters that some interface makes optional, itself or by handing them to
    /// another interface that does.
    fn optional_parameters(&self) -> BTreeSet<Parameter> {
        let mut found = BTreeSet::new();
        loop {
            let before = found.len();
            for (at, interface) in self.made.interfaces.iter().enumerate() {
                for member in &interface.members {
                    for ty in member_types(&member.kind) {
                        made_optional(ty, at, &mut found);
                    }
                    if let MemberKind::Edge(EdgeShape {
                        target: EdgeTarget::Interface(of), ..
                    }) = &member.kind
                    {
                        handed_on(of, at, &mut found);
                    }
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Reports every type that contains itself, and makes it unknown, so that what walks through
    /// types comes to an end.
    fn cut_cycles(&mut self) {
        let contained: Vec<_> = self
            .made
            .types
            .iter()
            .map(|named| {
                let mut names = Vec::new();
                contents(&named.ty, &mut names);
                names
            })
            .collect();
        let mut search = Search {
            contained: &contained,
            path: Vec::new(),
            done: vec![false; contained.len()],
            cycles: Vec::new(),
        };
        for at in 0..contained.len() {
            search.visit(at);
        }
        for cycle in search.cycles {
            self.report_cycle(&cycle);
            for at in cycle {
                self.made.types[at].ty = unknown::TYPE;
            }
        }
    }

    fn report_cycle(&mut self, cycle: &[usize]) {
        let first = cycle.iter().copied().min().unwrap_or_default();
        let start = cycle.iter().position(|at| *at == first).unwrap_or_default();
        let steps = (0..cycle.len()).map(|step| {
            let at = |step: usize| cycle[(start + step) % cycle.len()];
            (at(step), at(step + 1))
        });
        let mut diagnostic: Option<Diagnostic> = None;
        for (from, to) in steps {
            let target = TypeIndex(u32::try_from(to).expect("fewer types than bytes"));
            let (holder, held) = (&self.names.types[from], &self.names.types[to].ast.name.value);
            let place = mention(&holder.ast.ty, &|name| {
                self.names.thing(holder.package, name) == Some(crate::resolve::Thing::Type(target))
            })
            .unwrap_or(holder.ast.name.place);
            diagnostic = Some(match diagnostic {
                None => {
                    let name = &holder.ast.name.value;
                    let text = if cycle.len() == 1 {
                        "it stands in itself".to_owned()
                    } else {
                        format!("it contains `{held}`")
                    };
                    Diagnostic::new(Code::RecursiveType, place, format!("`{name}` contains itself"))
                        .label(text)
                        .help(
                            "put a reference between: `atom-ref<…>` or `interface-ref<…>` to an \
                         object that holds the inner one",
                        )
                }
                Some(diagnostic) => {
                    let name = &holder.ast.name.value;
                    diagnostic.also(place, format!("`{name}` contains `{held}`"))
                }
            });
        }
        if let Some(diagnostic) = diagnostic {
            self.report.push(diagnostic);
        }
    }
}

/// A depth-first search for cycles.
struct Search<'c> {
    contained: &'c [Vec<usize>],
    path: Vec<usize>,
    done: Vec<bool>,
    cycles: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, at: usize) {
        if let Some(start) = self.path.iter().position(|it| *it == at) {
            self.cycles.push(self.path[start..].to_vec());
            return;
        }
        if self.done[at] {
            return;
        }
        self.path.push(at);
        for inner in &self.contained[at] {
            self.visit(*inner);
        }
        self.path.pop();
        self.done[at] = true;
    }
}

/// Collects the named types that a value of the type holds a value of.
fn contents(ty: &Type, names: &mut Vec<usize>) {
    match ty {
        Type::Named(at) if *ty != unknown::TYPE => names.push(at.get()),
        Type::Optional(inner) | Type::List(inner) => contents(inner, names),
        Type::Record(record) => {
            for field in &record.fields {
                contents(&field.ty, names);
            }
        }
        Type::Named(_)
        | Type::Unit
        | Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Uint32
        | Type::Uint64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::AtomRef(_)
        | Type::InterfaceRef(_)
        | Type::Parameter(_) => {}
    }
}

/// Returns where a type mentions a name, references left out.
fn mention(expr: &TypeExpr, is: &dyn Fn(&str) -> bool) -> Option<Place> {
    match &expr.kind {
        TypeKind::Name(name) => is(name).then_some(expr.place),
        TypeKind::Optional(inner) | TypeKind::List(inner) => mention(inner, is),
        TypeKind::Record(fields) => fields.iter().find_map(|field| mention(&field.ty, is)),
        TypeKind::AtomRef(_) | TypeKind::InterfaceRef(_) | TypeKind::Error => None,
    }
}

/// Returns the types that stand in a member.
fn member_types(kind: &MemberKind) -> Vec<&Type> {
    match kind {
        MemberKind::State(ty) | MemberKind::Stream(ty) => vec![ty],
        MemberKind::Edge(_) => Vec::new(),
        MemberKind::Operation { input, output } => vec![input, output],
    }
}

/// Adds the parameters of the interface at a position that a type makes optional.
fn made_optional(ty: &Type, interface: usize, found: &mut BTreeSet<Parameter>) {
    match ty {
        Type::Optional(inner) => {
            if let Type::Parameter(at) = inner.as_ref() {
                found.insert((interface, *at as usize));
            }
            made_optional(inner, interface, found);
        }
        Type::List(inner) => made_optional(inner, interface, found),
        Type::Record(record) => {
            for field in &record.fields {
                made_optional(&field.ty, interface, found);
            }
        }
        Type::InterfaceRef(of) => handed_on(of, interface, found),
        Type::Unit
        | Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Uint32
        | Type::Uint64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::Named(_)
        | Type::AtomRef(_)
        | Type::Parameter(_) => {}
    }
}

/// Adds the parameters that an interface hands on to one that makes them optional.
fn handed_on(of: &InterfaceType, interface: usize, found: &mut BTreeSet<Parameter>) {
    for (at, argument) in of.arguments.iter().enumerate() {
        if let Type::Parameter(parameter) = argument
            && found.contains(&(of.interface.get(), at))
        {
            found.insert((interface, *parameter as usize));
        }
        made_optional(argument, interface, found);
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
