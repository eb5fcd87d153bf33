//! Types, items and declarations as generated code has them.

use proc_macro2::Ident;
use quixos_schema::PackageIndex;

/// A module of generated code: that of a package, or that of an operation in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Home {
    pub(crate) package: PackageIndex,
    /// The operation's module; none for the package's own.
    pub(crate) module: Option<Ident>,
}

impl Home {
    pub(crate) fn root(package: PackageIndex) -> Self {
        Self { package, module: None }
    }

    pub(crate) fn item(&self, name: &Ident) -> Item {
        Item { home: self.clone(), name: name.clone() }
    }
}

/// Something that generated code declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) home: Home,
    pub(crate) name: Ident,
}

/// A type in Rust.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RustType {
    Unit,
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Float64,
    String,
    Bytes,
    Option(Box<RustType>),
    Vec(Box<RustType>),
    /// A declared record or alias.
    Item {
        item: Item,
        arguments: Vec<RustType>,
        /// Whether it is passed by value: an alias of something small.
        copy: bool,
    },
    /// A reference to an object of an atom.
    Ref(Item),
    /// A reference to an object behind an interface.
    InterfaceRef(Box<RustType>),
    /// The n-th parameter of the interface that the type stands in.
    Parameter {
        at: usize,
        name: Ident,
    },
}

impl RustType {
    /// Replaces the parameters of an interface by its arguments.
    pub(crate) fn substitute(&self, with: &[Self]) -> Self {
        match self {
            Self::Parameter { at, .. } => with[*at].clone(),
            Self::Option(inner) => Self::Option(Box::new(inner.substitute(with))),
            Self::Vec(inner) => Self::Vec(Box::new(inner.substitute(with))),
            Self::InterfaceRef(inner) => Self::InterfaceRef(Box::new(inner.substitute(with))),
            Self::Item { item, arguments, copy } => Self::Item {
                item: item.clone(),
                arguments: arguments.iter().map(|it| it.substitute(with)).collect(),
                copy: *copy,
            },
            Self::Unit
            | Self::Bool
            | Self::Int32
            | Self::Int64
            | Self::Uint32
            | Self::Uint64
            | Self::Float64
            | Self::String
            | Self::Bytes
            | Self::Ref(_) => self.clone(),
        }
    }

    /// Tells whether values are handed over by value, since a copy costs nothing.
    pub(crate) fn is_copy(&self) -> bool {
        match self {
            Self::Unit
            | Self::Bool
            | Self::Int32
            | Self::Int64
            | Self::Uint32
            | Self::Uint64
            | Self::Float64
            | Self::Ref(_)
            | Self::InterfaceRef(_) => true,
            Self::Option(inner) => inner.is_copy(),
            Self::Item { copy, .. } => *copy,
            Self::String | Self::Bytes | Self::Vec(_) | Self::Parameter { .. } => false,
        }
    }
}

/// A type that a module declares.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: Ident,
    /// What it is, for its documentation.
    pub(crate) doc: String,
    /// The parameters of its interface that it uses.
    pub(crate) parameters: Vec<Ident>,
    pub(crate) body: Body,
}

/// What a declared type is.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// `pub struct`
    Record {
        fields: Vec<FieldPlan>,
        /// Whether equality is total: no `float64` in it.
        eq: bool,
    },
    /// `pub type`
    Alias(RustType),
}

/// A field of a record.
#[derive(Clone, Debug)]
pub(crate) struct FieldPlan {
    pub(crate) name: Ident,
    /// The line of the definition.
    pub(crate) citation: String,
    pub(crate) ty: RustType,
}
