//! Types that contain themselves, or too many types in each other.
//!
//! With a reference between, a type may lead back to itself: references are followed one by one.
//! Without, every value would hold another one. A limit on how deep types are nested, names
//! written out, keeps whatever walks through a type within its stack.

use super::{Checker, unknown};
use crate::ast::{TypeExpr, TypeKind};
use crate::code::Code;
use crate::definitions::Type;
use crate::diagnostic::Diagnostic;
use crate::resolve::Thing;
use crate::source::Place;

/// How deep types may be nested, with the types that they name.
const DEEPEST: usize = 256;

/// How many steps of a cycle are shown.
const SHOWN: usize = 8;

impl Checker<'_, '_, '_> {
    /// Reports every type that contains itself or is too deep, and makes it unknown, so that what
    /// walks through types comes to an end.
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
        let (order, cycles) = Search::new(&contained).run();
        for cycle in cycles {
            self.report_cycle(&cycle);
            for at in cycle {
                self.made.types[at].ty = unknown::TYPE;
            }
        }
        self.cut_depths(&contained, &order);
    }

    /// Reports the types that are nested too deep. The order has every type behind those that it
    /// contains.
    fn cut_depths(&mut self, contained: &[Vec<usize>], order: &[usize]) {
        let mut depths = vec![0; contained.len()];
        for at in order.iter().copied() {
            let depth = depth(&self.made.types[at].ty, &depths);
            depths[at] = depth;
            if depth <= DEEPEST {
                continue;
            }
            // Of all that are too deep, those that contain no other are told.
            if contained[at].iter().all(|inner| depths[*inner] <= DEEPEST) {
                let name = &self.names.types[at].ast.name;
                let message = format!(
                    "`{}` is nested {depth} deep with the types that it names, and {DEEPEST} is \
                     the limit",
                    name.value
                );
                self.report.push(Diagnostic::new(Code::NestedTooDeep, name.place, message));
            }
        }
        for (named, depth) in self.made.types.iter_mut().zip(depths) {
            if depth > DEEPEST {
                named.ty = unknown::TYPE;
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
        let hidden = rest.len().saturating_sub(SHOWN);
        for (at, (place, text)) in rest.into_iter().take(SHOWN).enumerate() {
            let more = if at + 1 == SHOWN && hidden > 0 {
                format!(", and so on through {hidden} more")
            } else {
                String::new()
            };
            diagnostic = diagnostic.also(place, text + &more);
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

/// A depth-first search for cycles. It keeps its own stack: a chain of types may be as long as a
/// file.
struct Search<'c> {
    contained: &'c [Vec<usize>],
    /// The way to where we are: types, and how many of the types in each we have been to.
    path: Vec<(usize, usize)>,
    /// Where a type stands on the path.
    on_path: Vec<Option<usize>>,
    done: Vec<bool>,
    /// The types, each behind those that it contains.
    order: Vec<usize>,
    in_cycle: Vec<bool>,
    cycles: Vec<Vec<usize>>,
}

impl<'c> Search<'c> {
    fn new(contained: &'c [Vec<usize>]) -> Self {
        let count = contained.len();
        Self {
            contained,
            path: Vec::new(),
            on_path: vec![None; count],
            done: vec![false; count],
            order: Vec::new(),
            in_cycle: vec![false; count],
            cycles: Vec::new(),
        }
    }

    /// Returns the types in order, and the cycles.
    fn run(mut self) -> (Vec<usize>, Vec<Vec<usize>>) {
        for at in 0..self.contained.len() {
            self.enter(at);
            while let Some((at, next)) = self.path.last_mut() {
                let at = *at;
                if let Some(inner) = self.contained[at].get(*next) {
                    *next += 1;
                    self.enter(*inner);
                } else {
                    self.path.pop();
                    self.on_path[at] = None;
                    self.done[at] = true;
                    self.order.push(at);
                }
            }
        }
        (self.order, self.cycles)
    }

    fn enter(&mut self, at: usize) {
        if let Some(start) = self.on_path[at] {
            self.close(start);
        } else if !self.done[at] {
            self.on_path[at] = Some(self.path.len());
            self.path.push((at, 0));
        }
    }

    /// Notes the cycle from a place on the path to its end. A long one must have something new,
    /// or there would be more of them than anybody reads.
    fn close(&mut self, start: usize) {
        let cycle: Vec<_> = self.path[start..].iter().map(|(at, _)| *at).collect();
        if cycle.len() <= SHOWN || cycle.iter().any(|at| !self.in_cycle[*at]) {
            for at in &cycle {
                self.in_cycle[*at] = true;
            }
            self.cycles.push(cycle);
        }
    }
}

/// Returns how deep a type is nested, given how deep named types are.
fn depth(ty: &Type, named: &[usize]) -> usize {
    match ty {
        Type::Named(at) => named.get(at.get()).copied().unwrap_or(0),
        Type::Optional(inner) | Type::List(inner) => 1 + depth(inner, named),
        Type::Record(record) => {
            1 + record.fields.iter().map(|it| depth(&it.ty, named)).max().unwrap_or(0)
        }
        Type::Unit
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
        | Type::Parameter(_) => 0,
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
