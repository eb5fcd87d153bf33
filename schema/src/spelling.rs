//! How a checked type is written in the language.
//!
//! Named types keep their names, so that a reader sees the words of the definition. A parameter
//! of an interface is written by its position (`T0`) where its name is not at hand.

use std::fmt::Write as _;

use crate::definitions::{
    Cardinality, Definitions, EdgeShape, EdgeTarget, InterfaceType, MemberKind, Type,
};

impl Definitions {
    /// Returns a type as it is written.
    #[must_use]
    pub fn type_text(&self, ty: &Type) -> String {
        let mut text = String::new();
        self.write_type(&mut text, ty, &[]);
        text
    }

    /// Returns an interface with its arguments as it is written.
    #[must_use]
    pub fn interface_text(&self, of: &InterfaceType) -> String {
        let mut text = String::new();
        self.write_interface(&mut text, of, &[]);
        text
    }

    /// Returns the shape of an edge as it is written.
    #[must_use]
    pub fn shape_text(&self, shape: &EdgeShape) -> String {
        let mut text = String::new();
        self.write_shape(&mut text, shape, &[]);
        text
    }

    /// Returns a member without its name: `state string`, `operation unit -> bool`. The
    /// parameters of its interface are written by the names given.
    #[must_use]
    pub fn member_text(&self, kind: &MemberKind, parameters: &[String]) -> String {
        let mut text = String::new();
        match kind {
            MemberKind::State(ty) => {
                text.push_str("state ");
                self.write_type(&mut text, ty, parameters);
            }
            MemberKind::Edge(shape) => {
                text.push_str("edge ");
                self.write_shape(&mut text, shape, parameters);
            }
            MemberKind::Stream(ty) => {
                text.push_str("stream ");
                self.write_type(&mut text, ty, parameters);
            }
            MemberKind::Operation { input, output } => {
                text.push_str("operation ");
                self.write_type(&mut text, input, parameters);
                text.push_str(" -> ");
                self.write_type(&mut text, output, parameters);
            }
        }
        text
    }

    fn write_type(&self, text: &mut String, ty: &Type, parameters: &[String]) {
        match ty {
            Type::Unit => text.push_str("unit"),
            Type::Bool => text.push_str("bool"),
            Type::Int32 => text.push_str("int32"),
            Type::Int64 => text.push_str("int64"),
            Type::Uint32 => text.push_str("uint32"),
            Type::Uint64 => text.push_str("uint64"),
            Type::Float64 => text.push_str("float64"),
            Type::String => text.push_str("string"),
            Type::Bytes => text.push_str("bytes"),
            Type::Optional(inner) => {
                text.push_str("optional<");
                self.write_type(text, inner, parameters);
                text.push('>');
            }
            Type::List(inner) => {
                text.push_str("list<");
                self.write_type(text, inner, parameters);
                text.push('>');
            }
            Type::Record(record) => {
                text.push_str("record {");
                for (at, field) in record.fields.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { " " });
                    text.push_str(&field.name);
                    text.push_str(": ");
                    self.write_type(text, &field.ty, parameters);
                    text.push(';');
                }
                text.push('}');
            }
            Type::Named(at) => {
                text.push_str(self.types.get(at.get()).map_or("?", |named| &named.name));
            }
            Type::AtomRef(at) => {
                text.push_str("atom-ref<");
                text.push_str(self.atoms.get(at.get()).map_or("?", |atom| &atom.name));
                text.push('>');
            }
            Type::InterfaceRef(of) => {
                text.push_str("interface-ref<");
                self.write_interface(text, of, parameters);
                text.push('>');
            }
            Type::Parameter(at) => match parameters.get(*at as usize) {
                Some(name) => text.push_str(name),
                None => {
                    // Writing to a string does not fail.
                    let _ = write!(text, "T{at}");
                }
            },
        }
    }

    fn write_interface(&self, text: &mut String, of: &InterfaceType, parameters: &[String]) {
        text.push_str(self.interfaces.get(of.interface.get()).map_or("?", |it| &it.name));
        for (at, argument) in of.arguments.iter().enumerate() {
            text.push_str(if at == 0 { "<" } else { ", " });
            self.write_type(text, argument, parameters);
        }
        if !of.arguments.is_empty() {
            text.push('>');
        }
    }

    fn write_shape(&self, text: &mut String, shape: &EdgeShape, parameters: &[String]) {
        text.push_str(shape.cardinality.word());
        match &shape.target {
            EdgeTarget::Atom(at) => {
                text.push_str(" atom ");
                text.push_str(self.atoms.get(at.get()).map_or("?", |atom| &atom.name));
            }
            EdgeTarget::Interface(of) => {
                text.push_str(" interface ");
                self.write_interface(text, of, parameters);
            }
        }
        if shape.keyed {
            text.push_str(" keyed \"string\"");
        }
    }
}

impl Cardinality {
    /// Returns the word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::OptionalOne => "optional-one",
            Self::ManyUnique => "many-unique",
        }
    }
}
