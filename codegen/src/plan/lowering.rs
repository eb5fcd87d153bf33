//! From types of the definition to types in Rust; records without a name get one.
//!
//! The name of such a record is the way to it: the record in the field `control` of `ItemData` is
//! `ItemDataControl`.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quixos_schema::{AtomIndex, Creation, Definitions, InterfaceType, Record, Type};

use super::Names;
use super::types::{Body, Declared, FieldPlan, Home, RustType};
use crate::citation;
use crate::error::{GenerateError, Named};
use crate::name::{Scope, pascal, snake};

/// The way from types of the definition to types in Rust, in one module.
pub(super) struct Lowering<'l> {
    pub(super) names: &'l Names,
    pub(super) definitions: &'l Definitions,
    pub(super) home: Home,
    /// The names of the module.
    pub(super) scope: &'l mut Scope,
    /// What the module declares.
    pub(super) declared: &'l mut Vec<Declared>,
    /// Whose types they are, for errors.
    pub(super) owner: &'l Named,
    /// The parameters of the interface that the types stand in, as written and in Rust.
    pub(super) written: &'l [String],
    pub(super) parameters: &'l [Ident],
}

impl Lowering<'_> {
    /// Declares a type under a name that is taken already.
    pub(super) fn declare(
        &mut self,
        name: &Ident,
        doc: &str,
        ty: &Type,
    ) -> Result<(), GenerateError> {
        if let Type::Record(record) = ty {
            return self.declare_record(name, doc.to_owned(), record);
        }
        // The alias stands above the records in it, as a reader wants it.
        let at = self.declared.len();
        let inner = self.ty(ty, &format!("{name}{}", element_suffix(ty)))?;
        let parameters = self.parameters_of(ty).into_iter().map(|(_, name)| name).collect();
        let body = Body::Alias(inner);
        let alias = Declared { name: name.clone(), doc: doc.to_owned(), parameters, body };
        self.declared.insert(at, alias);
        Ok(())
    }

    /// Returns a type; the records without a name in it are declared under `path`.
    pub(super) fn ty(&mut self, ty: &Type, path: &str) -> Result<RustType, GenerateError> {
        Ok(match ty {
            Type::Unit => RustType::Unit,
            Type::Bool => RustType::Bool,
            Type::Int32 => RustType::Int32,
            Type::Int64 => RustType::Int64,
            Type::Uint32 => RustType::Uint32,
            Type::Uint64 => RustType::Uint64,
            Type::Float64 => RustType::Float64,
            Type::String => RustType::String,
            Type::Bytes => RustType::Bytes,
            Type::Optional(inner) => RustType::Option(Box::new(self.ty(inner, path)?)),
            Type::List(inner) => RustType::Vec(Box::new(self.ty(inner, path)?)),
            Type::Record(record) => {
                self.anonymous(path, format!("A record in {}", self.owner.what), record)?
            }
            Type::Named(at) => RustType::Item {
                item: self.names.type_item(self.definitions, *at),
                arguments: Vec::new(),
                copy: is_copy(self.definitions, ty),
            },
            Type::AtomRef(at) => self.atom(*at),
            Type::InterfaceRef(of) => RustType::InterfaceRef(Box::new(self.interface(of, path)?)),
            Type::Parameter(at) => {
                let at = *at as usize;
                RustType::Parameter { at, name: self.parameters[at].clone() }
            }
        })
    }

    /// Returns what an atom is created from, or none for `unit`, which is not handed over at all.
    pub(super) fn creation(
        &mut self,
        creation: &Creation,
        path: &str,
    ) -> Result<Option<RustType>, GenerateError> {
        let ty = &creation.input;
        if *self.definitions.shape(ty) == Type::Unit {
            return Ok(None);
        }
        if let Type::Record(record) = ty {
            let atom = &self.definitions.atom(creation.atom).name;
            let doc = format!("What `{atom}` is created from");
            return self.anonymous(path, doc, record).map(Some);
        }
        self.ty(ty, path).map(Some)
    }

    /// Returns a reference to an atom.
    pub(super) fn atom(&self, at: AtomIndex) -> RustType {
        RustType::Ref(self.names.atom_item(self.definitions, at))
    }

    /// Returns an interface with its arguments, as the type that stands for it.
    pub(super) fn interface(
        &mut self,
        of: &InterfaceType,
        path: &str,
    ) -> Result<RustType, GenerateError> {
        let arguments = self.arguments(of, path)?;
        let item = self.names.interface_item(self.definitions, of.interface);
        Ok(RustType::Item { item, arguments, copy: false })
    }

    /// Returns the arguments of an interface.
    pub(super) fn arguments(
        &mut self,
        of: &InterfaceType,
        path: &str,
    ) -> Result<Vec<RustType>, GenerateError> {
        let mut arguments = Vec::new();
        for (position, argument) in of.arguments.iter().enumerate() {
            arguments.push(self.ty(argument, &format!("{path}Argument{}", counted(position)))?);
        }
        Ok(arguments)
    }

    /// Returns the interface parameters in a type, each once, in order.
    fn parameters_of(&self, ty: &Type) -> Vec<(usize, Ident)> {
        let mut found = BTreeSet::new();
        collect_parameters(ty, &mut found);
        found.into_iter().map(|at| (at, self.parameters[at].clone())).collect()
    }

    /// Returns the arguments of a declared type where it is used beside its declaration.
    pub(super) fn arguments_of(&self, ty: &Type) -> Vec<RustType> {
        let parameters = self.parameters_of(ty).into_iter();
        parameters.map(|(at, name)| RustType::Parameter { at, name }).collect()
    }

    /// Declares a record that has no name in the definition.
    fn anonymous(
        &mut self,
        path: &str,
        doc: String,
        record: &Record,
    ) -> Result<RustType, GenerateError> {
        let name = self.scope.claim(path, "Record", self.owner)?;
        self.declare_record(&name, doc, record)?;
        let arguments = self.arguments_of(&Type::Record(record.clone()));
        Ok(RustType::Item { item: self.home.item(&name), arguments, copy: false })
    }

    fn declare_record(
        &mut self,
        name: &Ident,
        doc: String,
        record: &Record,
    ) -> Result<(), GenerateError> {
        // The record stands above those in its fields.
        let at = self.declared.len();
        let mut scope = Scope::new(&[]);
        let mut fields = Vec::new();
        for field in &record.fields {
            let owner = Named {
                what: format!("field `{}` of {}", field.name, self.owner.what),
                at: self.owner.at.clone(),
            };
            fields.push(FieldPlan {
                name: scope.claim(&snake(&field.name), "", &owner)?,
                citation: citation::field(self.definitions, self.written, field),
                ty: self.ty(&field.ty, &format!("{name}{}", pascal(&field.name)))?,
            });
        }
        let ty = Type::Record(record.clone());
        let body = Body::Record { fields, eq: !has_float(self.definitions, &ty) };
        let parameters = self.parameters_of(&ty).into_iter().map(|(_, name)| name).collect();
        self.declared.insert(at, Declared { name: name.clone(), doc, parameters, body });
        Ok(())
    }
}

/// Returns what tells a name from those before it: nothing, `2`, `3` …
pub(super) fn counted(before: usize) -> String {
    if before == 0 { String::new() } else { (before + 1).to_string() }
}

/// What the record directly in a list or an optional is called after its alias.
fn element_suffix(ty: &Type) -> &'static str {
    if matches!(ty, Type::List(_)) { "Item" } else { "Value" }
}

/// Tells whether a type holds a record without a name, so that its Rust type needs one.
pub(super) fn has_anonymous(ty: &Type) -> bool {
    match ty {
        Type::Record(_) => true,
        Type::Optional(inner) | Type::List(inner) => has_anonymous(inner),
        Type::InterfaceRef(of) => of.arguments.iter().any(has_anonymous),
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
        | Type::Parameter(_) => false,
    }
}

fn collect_parameters(ty: &Type, found: &mut BTreeSet<usize>) {
    match ty {
        Type::Parameter(at) => {
            found.insert(*at as usize);
        }
        Type::Optional(inner) | Type::List(inner) => collect_parameters(inner, found),
        Type::Record(record) => {
            record.fields.iter().for_each(|field| collect_parameters(&field.ty, found));
        }
        Type::InterfaceRef(of) => of.arguments.iter().for_each(|ty| collect_parameters(ty, found)),
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
        | Type::AtomRef(_) => {}
    }
}

/// Tells whether a type holds a `float64`, on which equality is not total.
fn has_float(definitions: &Definitions, ty: &Type) -> bool {
    let shape = definitions.shape(ty);
    if let Type::Optional(inner) | Type::List(inner) = shape {
        return has_float(definitions, inner);
    }
    if let Type::Record(record) = shape {
        return record.fields.iter().any(|field| has_float(definitions, &field.ty));
    }
    *shape == Type::Float64
}

/// As [`RustType::is_copy`], through names.
fn is_copy(definitions: &Definitions, ty: &Type) -> bool {
    let shape = definitions.shape(ty);
    if let Type::Optional(inner) = shape {
        return is_copy(definitions, inner);
    }
    !matches!(
        shape,
        Type::String | Type::Bytes | Type::List(_) | Type::Record(_) | Type::Parameter(_)
    )
}
