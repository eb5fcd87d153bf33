//! What the tests of values share: a few definitions made by hand, and random types with random
//! values of them.

use proptest::collection::vec;
use proptest::prelude::*;
use quixos_runtime::ObjectRef;
use quixos_runtime::value::{Layout, Shape, Value};
use quixos_schema::{
    Atom, AtomIndex, Definitions, Field, Implementation, Interface, InterfaceIndex, InterfaceType,
    NamedType, PackageIndex, Place, Record, SourceId, Tag, Type, TypeIndex,
};
use ulid::Ulid;

pub(crate) const THREAD: &str = "atom:test:thread";
pub(crate) const AGENT: &str = "atom:test:agent";
pub(crate) const DOCUMENT: &str = "atom:test:document";

/// Threads and documents are subjects; an agent is nothing. `Point` is a record of two numbers.
pub(crate) fn definitions() -> Definitions {
    let subject = InterfaceType { interface: InterfaceIndex(0), arguments: Vec::new() };
    let numbers = InterfaceType { interface: InterfaceIndex(1), arguments: vec![Type::Uint64] };
    let atoms = vec![
        atom("Thread", THREAD, vec![subject.clone()]),
        atom("Agent", AGENT, Vec::new()),
        atom("Document", DOCUMENT, vec![numbers, subject]),
    ];
    Definitions {
        atom_tags: (0..).map(AtomIndex).zip(&atoms).map(|(at, atom)| (atom.tag, at)).collect(),
        atoms,
        interfaces: vec![interface("Subject", &[]), interface("Stream", &["T"])],
        types: vec![NamedType {
            name: "Point".into(),
            package: PackageIndex(0),
            ty: record(&[("x", Type::Int32), ("y", Type::Int32)]),
            place: place(),
        }],
        ..Definitions::default()
    }
}

pub(crate) fn subject() -> Type {
    Type::InterfaceRef(InterfaceType { interface: InterfaceIndex(0), arguments: Vec::new() })
}

pub(crate) fn stream_of(ty: Type) -> Type {
    Type::InterfaceRef(InterfaceType { interface: InterfaceIndex(1), arguments: vec![ty] })
}

pub(crate) fn thread() -> Type {
    Type::AtomRef(AtomIndex(0))
}

pub(crate) fn point() -> Type {
    Type::Named(TypeIndex(0))
}

pub(crate) fn optional(ty: Type) -> Type {
    Type::Optional(Box::new(ty))
}

pub(crate) fn list(ty: Type) -> Type {
    Type::List(Box::new(ty))
}

pub(crate) fn record(fields: &[(&str, Type)]) -> Type {
    let field = |(name, ty): &(&str, Type)| Field { name: (*name).into(), ty: ty.clone() };
    Type::Record(Record { fields: fields.iter().map(field).collect() })
}

pub(crate) fn object(atom: &str, id: u128) -> ObjectRef {
    ObjectRef { atom: Tag::of(atom), id: Ulid(id) }
}

fn place() -> Place {
    Place { source: SourceId(0), start: 0, end: 0 }
}

fn atom(name: &str, id: &str, implements: Vec<InterfaceType>) -> Atom {
    let implementation =
        |interface| Implementation { interface, members: Vec::new(), place: place() };
    Atom {
        name: name.into(),
        id: id.into(),
        tag: Tag::of(id),
        package: PackageIndex(0),
        states: Vec::new(),
        edges: Vec::new(),
        inverses: Vec::new(),
        streams: Vec::new(),
        root: None,
        implements: implements.into_iter().map(implementation).collect(),
        place: place(),
    }
}

fn interface(name: &str, parameters: &[&str]) -> Interface {
    Interface {
        name: name.into(),
        id: format!("interface:test:{name}"),
        package: PackageIndex(0),
        parameters: parameters.iter().map(|it| (*it).into()).collect(),
        members: Vec::new(),
        place: place(),
    }
}

/// A type, up to four levels deep.
pub(crate) fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Unit),
        Just(Type::Bool),
        Just(Type::Int32),
        Just(Type::Int64),
        Just(Type::Uint32),
        Just(Type::Uint64),
        Just(Type::Float64),
        Just(Type::String),
        Just(Type::Bytes),
        Just(thread()),
        Just(subject()),
        Just(point()),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            inner.clone().prop_map(|ty| match ty {
                // These have no optional.
                Type::Unit | Type::Optional(_) => ty,
                Type::Bool
                | Type::Int32
                | Type::Int64
                | Type::Uint32
                | Type::Uint64
                | Type::Float64
                | Type::String
                | Type::Bytes
                | Type::List(_)
                | Type::Record(_)
                | Type::Named(_)
                | Type::AtomRef(_)
                | Type::InterfaceRef(_)
                | Type::Parameter(_) => optional(ty),
            }),
            inner.clone().prop_map(list),
            vec(inner, 0..5).prop_map(|types| {
                let named = |(at, ty)| Field { name: format!("field{at}"), ty };
                Type::Record(Record { fields: types.into_iter().enumerate().map(named).collect() })
            }),
        ]
    })
}

/// A value of a layout.
pub(crate) fn any_value(layout: &Layout) -> BoxedStrategy<Value> {
    match layout.shape() {
        Shape::Unit => Just(Value::Unit).boxed(),
        Shape::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Shape::Int32 => any::<i32>().prop_map(Value::Int32).boxed(),
        Shape::Int64 => any::<i64>().prop_map(Value::Int64).boxed(),
        Shape::Uint32 => any::<u32>().prop_map(Value::Uint32).boxed(),
        Shape::Uint64 => any::<u64>().prop_map(Value::Uint64).boxed(),
        Shape::Float64 => {
            use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
            (POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO).prop_map(Value::Float64).boxed()
        }
        Shape::String => any::<String>().prop_map(Value::String).boxed(),
        Shape::Bytes => any::<Vec<u8>>().prop_map(Value::Bytes).boxed(),
        Shape::Optional(inner) => proptest::option::of(any_value(inner))
            .prop_map(|value| Value::Optional(value.map(Box::new)))
            .boxed(),
        Shape::List(item) => vec(any_value(item), 0..4).prop_map(Value::List).boxed(),
        Shape::Record(fields) => {
            let all: Vec<_> = fields.iter().map(|field| any_value(&field.layout)).collect();
            all.prop_map(Value::Record).boxed()
        }
        Shape::Reference(expected) => {
            let atoms = expected.atoms().to_vec();
            (proptest::sample::select(atoms), any::<u128>())
                .prop_map(|(atom, id)| Value::Reference(ObjectRef { atom, id: Ulid(id) }))
                .boxed()
        }
        Shape::Unusable => unreachable!("small types are usable"),
    }
}

/// A type with a value of it.
pub(crate) fn any_typed() -> impl Strategy<Value = (std::sync::Arc<Layout>, Value)> {
    any_type().prop_flat_map(|ty| {
        let layout = Layout::of(&definitions(), &ty);
        any_value(&layout).prop_map(move |value| (layout.clone(), value))
    })
}
