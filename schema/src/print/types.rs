//! Types, and lists between brackets.

use super::{Entry, Printer, start};
use crate::ast::{
    EdgeShape, EdgeTarget, Field, InterfaceExpr, Name, TypeExpr, TypeKind, Use, Verbs,
};
use crate::literal::quoted;
use crate::source::Place;

impl Entry for Field {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        records(&self.ty)
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.name(&self.name);
        printer.push(": ");
        printer.ty(&self.ty, 1);
        printer.push(";");
    }
}

impl Entry for Name {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        Vec::new()
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.name(self);
    }
}

impl Entry for Use {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        Vec::new()
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.push(&flat_use(self));
    }
}

impl Printer<'_> {
    /// Prints a type; so many characters follow on its last line.
    pub(super) fn ty(&mut self, ty: &TypeExpr, rest: usize) {
        let flat = flat(ty);
        let commented = records(ty).into_iter().any(|record| self.comment_in(record));
        if !commented && (records(ty).is_empty() || self.fits(flat.chars().count() + rest)) {
            self.push(&flat);
            return;
        }
        self.broken(ty, rest);
    }

    fn broken(&mut self, ty: &TypeExpr, rest: usize) {
        match &ty.kind {
            TypeKind::Record(fields) => {
                self.block(["record {", "}"], fields, ty.place.end as usize, "");
            }
            TypeKind::Optional(inner) => {
                self.push("optional<");
                self.ty(inner, rest + 1);
                self.push(">");
            }
            TypeKind::List(inner) => {
                self.push("list<");
                self.ty(inner, rest + 1);
                self.push(">");
            }
            TypeKind::InterfaceRef(interface) => {
                self.push("interface-ref<");
                self.interface(interface, rest + 1);
                self.push(">");
            }
            TypeKind::Name(_) | TypeKind::AtomRef(_) | TypeKind::Error => self.push(&flat(ty)),
        }
    }

    /// Prints an interface with its arguments; so many characters follow on its last line.
    pub(super) fn interface(&mut self, interface: &InterfaceExpr, rest: usize) {
        self.name(&interface.name);
        for (at, argument) in interface.arguments.iter().enumerate() {
            self.push(if at == 0 { "<" } else { ", " });
            self.ty(argument, rest + 1);
        }
        if !interface.arguments.is_empty() {
            self.push(">");
        }
    }

    /// Prints ` INPUT -> OUTPUT`: on the line if it fits. If not, the first of them that is a
    /// record gets a line for each field; without records it gets a line of its own.
    pub(super) fn signature(&mut self, input: &TypeExpr, output: &TypeExpr, rest: usize) {
        let output_width = " -> ".len() + flat(output).chars().count() + rest;
        let width = " ".len() + flat(input).chars().count() + output_width;
        let records = !records(input).is_empty() || !records(output).is_empty();
        if records || self.fits(width) {
            self.push(" ");
        } else {
            self.push("\n");
            self.depth += 1;
            self.start_line();
            self.depth -= 1;
        }
        self.ty(input, output_width);
        self.push(" -> ");
        self.ty(output, rest);
    }

    /// Prints the shape of an edge; so many characters follow on its last line.
    pub(super) fn shape(&mut self, shape: &EdgeShape, rest: usize) {
        self.name(&shape.cardinality);
        let keyed = shape.keyed.as_ref().map(|key| format!(" keyed {}", quoted(&key.value)));
        let keyed = keyed.unwrap_or_default();
        match &shape.target {
            EdgeTarget::Atom(atom) => {
                self.push(" atom ");
                self.name(atom);
            }
            EdgeTarget::Interface(interface) => {
                self.push(" interface ");
                self.interface(interface, keyed.chars().count() + rest);
            }
            EdgeTarget::Error(_) => self.push(" ?"),
        }
        self.push(&keyed);
    }

    /// Prints `[read, write]`; so many characters follow on its last line.
    pub(super) fn verbs(&mut self, verbs: &Verbs, rest: usize) {
        self.list(&verbs.words, verbs.place, rest, |word| word.value.clone());
    }

    /// Prints a list between brackets that ends before a place.
    pub(super) fn list<E: Entry>(
        &mut self,
        entries: &[E],
        place: Place,
        rest: usize,
        flat: impl FnMut(&E) -> String,
    ) {
        let line = format!("[{}]", entries.iter().map(flat).collect::<Vec<_>>().join(", "));
        if !self.comment_in(place) && self.fits(line.chars().count() + rest) {
            self.push(&line);
        } else {
            self.block(["[", "]"], entries, place.end as usize, ",");
        }
    }
}

/// The records of a type that are in no other, in order.
pub(super) fn records(ty: &TypeExpr) -> Vec<Place> {
    match &ty.kind {
        TypeKind::Record(_) => vec![ty.place],
        TypeKind::Optional(inner) | TypeKind::List(inner) => records(inner),
        TypeKind::InterfaceRef(interface) => argument_records(interface),
        TypeKind::Name(_) | TypeKind::AtomRef(_) | TypeKind::Error => Vec::new(),
    }
}

/// The records in the arguments of an interface.
pub(super) fn argument_records(interface: &InterfaceExpr) -> Vec<Place> {
    interface.arguments.iter().flat_map(records).collect()
}

/// The records in the shape of an edge.
pub(super) fn shape_records(shape: &EdgeShape) -> Vec<Place> {
    match &shape.target {
        EdgeTarget::Interface(interface) => argument_records(interface),
        EdgeTarget::Atom(_) | EdgeTarget::Error(_) => Vec::new(),
    }
}

/// `member.verb`
pub(super) fn flat_use(used: &Use) -> String {
    format!("{}.{}", used.member.value, used.verb.value)
}

/// A type on one line.
fn flat(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Name(name) => name.clone(),
        TypeKind::Optional(inner) => format!("optional<{}>", flat(inner)),
        TypeKind::List(inner) => format!("list<{}>", flat(inner)),
        TypeKind::Record(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|field| format!("{}: {};", field.name.value, flat(&field.ty)))
                .collect();
            format!("record {{{}}}", fields.join(" "))
        }
        TypeKind::AtomRef(atom) => format!("atom-ref<{}>", atom.value),
        TypeKind::InterfaceRef(interface) => {
            let mut text = format!("interface-ref<{}", interface.name.value);
            for (at, argument) in interface.arguments.iter().enumerate() {
                text.push_str(if at == 0 { "<" } else { ", " });
                text.push_str(&flat(argument));
            }
            text.push_str(if interface.arguments.is_empty() { ">" } else { ">>" });
            text
        }
        TypeKind::Error => "?".to_owned(),
    }
}

/// The place between two others of one file, the first and the second not included.
pub(super) fn between(before: Place, behind: Place) -> Place {
    Place { source: before.source, start: before.end, end: behind.start.max(before.end) }
}

/// The place from behind one to the end of another.
pub(super) fn from_behind(before: Place, whole: Place) -> Place {
    debug_assert!(start(whole) <= start(before));
    Place { source: whole.source, start: before.end, end: whole.end }
}
