//! A type made ready: names resolved, what must be looked at known beforehand.
//!
//! Made once for each slot, input and output when definitions are loaded; nothing is looked up
//! by name after that. Named types that occur more than once are shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use quixos_schema::{Definitions, Type, TypeIndex};

use crate::value::Expected;

/// How deep a type may be nested.
const MAX_DEPTH: u32 = 64;

/// How many parts a type may have, not counting the repetition of lists.
const MAX_PARTS: u32 = 1 << 16;

/// A type made ready for reading and writing values of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    shape: Shape,
    references: bool,
    conditions: bool,
    depth: u32,
    parts: u32,
    hollow: bool,
}

/// What a type is, all names resolved.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Nothing.
    Unit,
    /// `bool`
    Bool,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
    /// `float64`
    Float64,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `optional<T>`
    Optional(Arc<Layout>),
    /// `list<T>`
    List(Arc<Layout>),
    /// `record {…}`
    Record(Vec<FieldLayout>),
    /// `atom-ref<A>` or `interface-ref<I>`
    Reference(Expected),
    /// No value can be had of it: nested too deeply, too many parts, an open parameter, or an
    /// optional of what has nothing or is optional itself, which JSON could not tell apart.
    /// Checked definitions have only the first two.
    Unusable,
}

/// A field of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldLayout {
    /// The name.
    pub name: String,
    /// The type.
    pub layout: Arc<Layout>,
}

impl Layout {
    /// Makes a type ready.
    #[must_use]
    pub fn of(definitions: &Definitions, ty: &Type) -> Arc<Self> {
        let mut maker = Maker { definitions, named: BTreeMap::new() };
        maker.make(ty, MAX_DEPTH).unwrap_or_else(|| Arc::new(Self::leaf(Shape::Unusable)))
    }

    /// Returns what the type is.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Tells whether a value can hold references.
    #[must_use]
    pub fn has_references(&self) -> bool {
        self.references
    }

    /// Tells whether bytes that a Rust type of this definition wrote can still be wrong: whether
    /// there are floats, which must be finite, or lists of nothing, which must be bounded.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        self.conditions
    }

    /// Tells whether a value takes no bytes at all.
    pub(super) fn is_hollow(&self) -> bool {
        self.hollow
    }

    /// Returns how many parts a value has, not counting the repetition of lists.
    pub(super) fn parts(&self) -> u32 {
        self.parts
    }

    fn leaf(shape: Shape) -> Self {
        Self {
            references: matches!(shape, Shape::Reference(_)),
            conditions: matches!(shape, Shape::Float64 | Shape::Unusable),
            hollow: matches!(shape, Shape::Unit),
            depth: 1,
            parts: 1,
            shape,
        }
    }

    fn optional(inner: Arc<Self>) -> Self {
        Self {
            references: inner.references,
            conditions: inner.conditions,
            hollow: false,
            depth: inner.depth + 1,
            parts: inner.parts.saturating_add(1),
            shape: Shape::Optional(inner),
        }
    }

    fn list(item: Arc<Self>) -> Self {
        Self {
            references: item.references,
            conditions: item.conditions || item.hollow,
            hollow: false,
            depth: item.depth + 1,
            parts: item.parts.saturating_add(1),
            shape: Shape::List(item),
        }
    }

    fn record(fields: Vec<FieldLayout>) -> Self {
        let all = || fields.iter().map(|field| &field.layout);
        Self {
            references: all().any(|it| it.references),
            conditions: all().any(|it| it.conditions),
            hollow: all().all(|it| it.hollow),
            depth: all().map(|it| it.depth).max().unwrap_or(0) + 1,
            parts: all().fold(1, |sum, it| sum.saturating_add(it.parts)),
            shape: Shape::Record(fields),
        }
    }
}

impl Shape {
    /// Returns what a value is, with its article: `a string`.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Bool => "a bool",
            Self::Int32 => "an int32",
            Self::Int64 => "an int64",
            Self::Uint32 => "a uint32",
            Self::Uint64 => "a uint64",
            Self::Float64 => "a float64",
            Self::String => "a string",
            Self::Bytes => "bytes",
            Self::Optional(_) => "an optional",
            Self::List(_) => "a list",
            Self::Record(_) => "a record",
            Self::Reference(_) => "a reference",
            Self::Unusable => "nothing that can be",
        }
    }
}

struct Maker<'d> {
    definitions: &'d Definitions,
    named: BTreeMap<TypeIndex, Arc<Layout>>,
}

impl Maker<'_> {
    /// Makes a layout at most `room` levels deep; `None` when the type is unusable.
    fn make(&mut self, ty: &Type, room: u32) -> Option<Arc<Layout>> {
        if room == 0 {
            return None;
        }
        let layout = match ty {
            Type::Named(at) => return self.named(*at, room),
            Type::Unit => Layout::leaf(Shape::Unit),
            Type::Bool => Layout::leaf(Shape::Bool),
            Type::Int32 => Layout::leaf(Shape::Int32),
            Type::Int64 => Layout::leaf(Shape::Int64),
            Type::Uint32 => Layout::leaf(Shape::Uint32),
            Type::Uint64 => Layout::leaf(Shape::Uint64),
            Type::Float64 => Layout::leaf(Shape::Float64),
            Type::String => Layout::leaf(Shape::String),
            Type::Bytes => Layout::leaf(Shape::Bytes),
            Type::Optional(inner) => {
                let inner = self.make(inner, room - 1)?;
                if matches!(inner.shape, Shape::Unit | Shape::Optional(_)) {
                    return None;
                }
                Layout::optional(inner)
            }
            Type::List(item) => Layout::list(self.make(item, room - 1)?),
            Type::Record(record) => Layout::record(
                record
                    .fields
                    .iter()
                    .map(|field| {
                        let layout = self.make(&field.ty, room - 1)?;
                        Some(FieldLayout { name: field.name.clone(), layout })
                    })
                    .collect::<Option<_>>()?,
            ),
            Type::AtomRef(atom) => {
                Layout::leaf(Shape::Reference(Expected::atom(self.definitions, *atom)))
            }
            Type::InterfaceRef(of) => {
                Layout::leaf(Shape::Reference(Expected::interface(self.definitions, of)))
            }
            Type::Parameter(_) => return None,
        };
        (layout.parts <= MAX_PARTS).then(|| Arc::new(layout))
    }

    fn named(&mut self, at: TypeIndex, room: u32) -> Option<Arc<Layout>> {
        if let Some(layout) = self.named.get(&at) {
            return (layout.depth <= room).then(|| Arc::clone(layout));
        }
        // Copied out of `self`, so that `make` may borrow it.
        let definitions = self.definitions;
        let layout = self.make(definitions.shape(&Type::Named(at)), room)?;
        self.named.insert(at, Arc::clone(&layout));
        Some(layout)
    }
}
