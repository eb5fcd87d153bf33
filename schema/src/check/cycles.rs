//! Types that contain themselves.
//!
//! With a reference between, a type may lead back to itself: references are followed one by one.
//! Without, every value would hold another one.

use super::{Checker, unknown};
use crate::ast::{TypeExpr, TypeKind};
use crate::code::Code;
use crate::definitions::Type;
use crate::diagnostic::Diagnostic;
use crate::resolve::Thing;
use crate::source::Place;

impl Checker<'_, '_, '_> {
    /// Reports every type that contains itself, and makes it unknown, so that what walks through
    /// types comes to an end.
    pub(super) fn cut_cycles(&mut self) {
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
        let start = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or_default();
        let mut steps = (start..start + cycle.len()).map(|step| {
            let holder = &self.names.types[cycle[step % cycle.len()]];
            let held = cycle[(step + 1) % cycle.len()];
            let place = mention(&holder.ast.ty, &|name| {
                matches!(self.names.thing(holder.package, name),
                    Some(Thing::Type(at)) if at.get() == held)
            });
            let (name, held) = (&holder.ast.name, &self.names.types[held].ast.name.value);
            (place.unwrap_or(name.place), format!("`{}` contains `{held}`", name.value))
        });
        let Some((place, text)) = steps.next() else { return };
        let rest: Vec<_> = steps.collect();
        let first = self.names.types[cycle[start]].ast;
        let message = format!("`{}` contains itself", first.name.value);
        let mut diagnostic = Diagnostic::new(Code::RecursiveType, place, message);
        if !rest.is_empty() {
            diagnostic = diagnostic.label(text);
        }
        for (place, text) in rest {
            diagnostic = diagnostic.also(place, text);
        }
        let bare = |at: &usize| matches!(self.names.types[*at].ast.ty.kind, TypeKind::Name(_));
        if !cycle.iter().all(bare) {
            diagnostic = diagnostic.help(
                "put a reference between: `atom-ref<…>` or `interface-ref<…>` to an object that \
                 holds the inner one",
            );
        }
        self.report.push(diagnostic);
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
