//! What was meant: the checked and linked model, indexed by id.
//!
//! A [`Definitions`] exists only for a set of packages without errors, so its readers look
//! nothing up by name twice and check nothing again. Positions ([`AtomIndex`] and its like) are
//! stable within one value only; what is stored or sent uses ids and [`Tag`]s.
//!
//! Everything is in the order of the sources, so that what is made of it is the same every time.

use std::collections::BTreeMap;

use crate::difference::{In, difference};
use crate::source::{Place, Sources};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// Returns the position as `usize`.
            #[must_use]
            pub fn get(self) -> usize { self.0 as usize }
        }
    };
}
index!(/// A package of a [`Definitions`].
    PackageIndex);
index!(/// A named type of a [`Definitions`].
    TypeIndex);
index!(/// An interface of a [`Definitions`].
    InterfaceIndex);
index!(/// An atom of a [`Definitions`].
    AtomIndex);
index!(/// An operation of a [`Definitions`].
    OperationIndex);

/// Four bytes that stand for an id wherever a store would repeat it: the first four bytes of the
/// BLAKE3 hash of the id. Two ids of one kind with the same tag are an error of the definition.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct Tag(pub [u8; 4]);

impl Tag {
    /// Returns the tag of an id.
    #[must_use]
    pub fn of(id: &str) -> Self {
        let hash = blake3::hash(id.as_bytes());
        let bytes = hash.as_bytes();
        Self([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// A set of packages that were resolved, checked and linked together.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The texts.
    pub sources: Sources,
    /// The packages.
    pub packages: Vec<Package>,
    /// The named types.
    pub types: Vec<NamedType>,
    /// The interfaces.
    pub interfaces: Vec<Interface>,
    /// The atoms.
    pub atoms: Vec<Atom>,
    /// The operations.
    pub operations: Vec<Operation>,
    /// Atoms by tag.
    pub atom_tags: BTreeMap<Tag, AtomIndex>,
}

/// A package.
#[derive(Clone, Debug)]
pub struct Package {
    /// `AgentRuntime`
    pub name: String,
    /// `package:org.quixos.agent:runtime`
    pub id: String,
    /// `package:org.quixos.agent:runtime@1`
    pub revision: String,
    /// BLAKE3 of the canonical text of the package, comments left out, in hex.
    pub digest: String,
    /// The files, in the order of the sources.
    pub sources: Vec<crate::source::SourceId>,
    /// Packages whose interfaces, atoms, types or operations it uses.
    pub uses: Vec<PackageIndex>,
    /// Where.
    pub place: Place,
}

/// `type NAME = …;`
#[derive(Clone, Debug)]
pub struct NamedType {
    /// The name.
    pub name: String,
    /// The package that defines it.
    pub package: PackageIndex,
    /// What it stands for.
    pub ty: Type,
    /// Where.
    pub place: Place,
}

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
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
    /// `string`, UTF-8
    String,
    /// `bytes`
    Bytes,
    /// `optional<T>`
    Optional(Box<Type>),
    /// `list<T>`
    List(Box<Type>),
    /// `record {…}`
    Record(Record),
    /// A named type. Names are for readers: two types are the same if their shapes are.
    Named(TypeIndex),
    /// `atom-ref<A>`
    AtomRef(AtomIndex),
    /// `interface-ref<I<…>>`
    InterfaceRef(InterfaceType),
    /// The n-th parameter of the interface it stands in.
    Parameter(u32),
}

/// `record {…}`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The fields, in the order written, which is the order stored.
    pub fields: Vec<Field>,
}

/// A field of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// An interface with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterfaceType {
    /// The interface.
    pub interface: InterfaceIndex,
    /// One type a parameter.
    pub arguments: Vec<Type>,
}

/// An interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The package that defines it.
    pub package: PackageIndex,
    /// The names of its type parameters.
    pub parameters: Vec<String>,
    /// Its members, in order.
    pub members: Vec<Member>,
    /// Where.
    pub place: Place,
}

/// A member of an interface.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name.
    pub name: String,
    /// Only operations that are granted it may call it; a host may not.
    pub internal: bool,
    /// What it is.
    pub kind: MemberKind,
    /// Where.
    pub place: Place,
}

/// What a member is, and so which verb it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemberKind {
    /// Takes `get`.
    State(Type),
    /// Takes `resolve`.
    Edge(EdgeShape),
    /// Takes `read`.
    Stream(Type),
    /// Takes `call`.
    Operation {
        /// The input.
        input: Type,
        /// The output.
        output: Type,
    },
}

/// How many targets an edge has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cardinality {
    /// Exactly one, set at creation, never changed.
    One,
    /// At most one.
    OptionalOne,
    /// A set in the order of the targets' ids; keyed, a map.
    ManyUnique,
}

/// The shape of an edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeShape {
    /// How many.
    pub cardinality: Cardinality,
    /// Of what.
    pub target: EdgeTarget,
    /// Whether each target has a string key. Only with [`Cardinality::ManyUnique`].
    pub keyed: bool,
}

/// What an edge leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EdgeTarget {
    /// Objects of one atom.
    Atom(AtomIndex),
    /// Objects of any atom that implements the interface.
    Interface(InterfaceType),
}

/// An atom: a durable object type.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The tag of the id.
    pub tag: Tag,
    /// The package that defines it.
    pub package: PackageIndex,
    /// The state slots.
    pub states: Vec<StateSlot>,
    /// The edges that are stored with it.
    pub edges: Vec<EdgeSlot>,
    /// The edges that the runtime derives from those of others.
    pub inverses: Vec<InverseSlot>,
    /// The streams.
    pub streams: Vec<StreamSlot>,
    /// What a host may create it from, if it may.
    pub root: Option<Creation>,
    /// The interfaces, in order.
    pub implements: Vec<Implementation>,
    /// Where.
    pub place: Place,
}

/// `state NAME id "…": TYPE;`
#[derive(Clone, Debug)]
pub struct StateSlot {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The tag of the id.
    pub tag: Tag,
    /// The type.
    pub ty: Type,
    /// Where.
    pub place: Place,
}

/// `edge NAME id "…": SHAPE;`
#[derive(Clone, Debug)]
pub struct EdgeSlot {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The tag of the id.
    pub tag: Tag,
    /// The shape.
    pub shape: EdgeShape,
    /// Where.
    pub place: Place,
}

/// `inverse NAME id "…": ATOM.EDGE [keyed STATE.FIELD];` Its shape is many-unique, of that atom.
#[derive(Clone, Debug)]
pub struct InverseSlot {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The tag of the id.
    pub tag: Tag,
    /// The atom that the edges come from.
    pub atom: AtomIndex,
    /// The position of the edge in that atom's `edges`.
    pub edge: usize,
    /// Where the key is found in the source object: a state slot (its position in `states`) and
    /// the positions of the fields below it, which end at a `string`. Several sources may have
    /// one key.
    pub key: Option<KeyPath>,
    /// Where.
    pub place: Place,
}

/// The way to a key in an object's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyPath {
    /// The position of the state slot.
    pub state: usize,
    /// The positions of the record fields below it.
    pub fields: Vec<usize>,
}

/// `stream NAME id "…": TYPE;`
#[derive(Clone, Debug)]
pub struct StreamSlot {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The tag of the id.
    pub tag: Tag,
    /// The type of an event.
    pub ty: Type,
    /// Where.
    pub place: Place,
}

/// An interface of an atom, with what serves each member.
#[derive(Clone, Debug)]
pub struct Implementation {
    /// The interface.
    pub interface: InterfaceType,
    /// One for each member of the interface, in its order.
    pub members: Vec<Served>,
    /// Where.
    pub place: Place,
}

/// What serves a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Served {
    /// The state slot at this position.
    State(usize),
    /// The edge slot at this position.
    Edge(usize),
    /// The inverse slot at this position.
    Inverse(usize),
    /// The stream slot at this position.
    Stream(usize),
    /// An operation.
    Operation(OperationIndex),
    /// The built-in append of the stream slot at this position: event in, `uint64` offset out.
    Append(usize),
}

/// How an atom is created: which field of the input fills which slot.
#[derive(Clone, Debug)]
pub struct Creation {
    /// The atom.
    pub atom: AtomIndex,
    /// `unit` or a record.
    pub input: Type,
    /// One for each field of the input, in its order.
    pub fills: Vec<Fill>,
}

/// The slot that a field of a creation's input fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// The state slot at this position.
    State(usize),
    /// The edge slot at this position. `one` takes a reference, `optional-one` an optional one,
    /// `many-unique` a list of them, keyed a list of `record {key; target}`.
    Edge(usize),
}

/// How an operation is invoked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// It is called and answers.
    Call,
}

/// How an operation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Execution {
    /// As a transaction that may write.
    Transaction,
    /// As a transaction that only reads, beside the writing lane.
    Query,
}

/// What kind of host may run an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// A host that keeps the store.
    Server,
    /// A worker.
    Worker,
    /// A client.
    Client,
}

/// What an operation may be bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receiver {
    /// Any atom that binds the operation and has what it requires.
    Any,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The package that defines it.
    pub package: PackageIndex,
    /// The input.
    pub input: Type,
    /// The output.
    pub output: Type,
    /// How it is invoked.
    pub mode: Mode,
    /// How it runs.
    pub execution: Execution,
    /// Where it may run.
    pub targets: Vec<Target>,
    /// What it may be bound to.
    pub receiver: Receiver,
    /// What it may touch, in order.
    pub requirements: Vec<Requirement>,
    /// The atoms that bind it to a member, in order; none is a warning.
    pub receivers: Vec<AtomIndex>,
    /// Where.
    pub place: Place,
}

/// A line of a `requires` block.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The name.
    pub name: String,
    /// The id; of state, edge and stream requirements, the id of the receiver's slot.
    pub id: String,
    /// What it grants.
    pub kind: RequirementKind,
    /// Where.
    pub place: Place,
}

/// What a requirement grants.
#[derive(Clone, Debug)]
pub enum RequirementKind {
    /// State of the receiver: `read`, `write`.
    State {
        /// The type.
        ty: Type,
        /// The verbs, in the order of [`Verb`].
        verbs: Vec<Verb>,
    },
    /// An edge of the receiver: `resolve`, `connect`, `disconnect`.
    Edge {
        /// The shape.
        shape: EdgeShape,
        /// The verbs, in the order of [`Verb`].
        verbs: Vec<Verb>,
    },
    /// A stream of the receiver: `append`, `read`.
    Stream {
        /// The type of an event.
        ty: Type,
        /// The verbs, in the order of [`Verb`].
        verbs: Vec<Verb>,
    },
    /// The creation of an atom.
    Creation(Creation),
    /// Members of an interface, on references that the call was handed.
    Interface {
        /// The interface.
        interface: InterfaceType,
        /// The members that may be used, in the order written; each takes the one verb of its
        /// kind.
        using: Vec<Use>,
    },
}

/// `member.verb`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The position of the member in the interface.
    pub member: usize,
    /// The verb.
    pub verb: Verb,
}

/// What may be done through a requirement.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Of state and streams.
    Read,
    /// Of state.
    Write,
    /// Of edges.
    Resolve,
    /// Of edges.
    Connect,
    /// Of edges.
    Disconnect,
    /// Of streams.
    Append,
    /// Of state members.
    Get,
    /// Of operation members.
    Call,
    /// Of a creation.
    Create,
}

impl Verb {
    /// Returns the word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Disconnect => "disconnect",
            Self::Append => "append",
            Self::Get => "get",
            Self::Call => "call",
            Self::Create => "create",
        }
    }
}

impl std::fmt::Display for Verb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl Definitions {
    /// Returns a package.
    #[must_use]
    pub fn package(&self, at: PackageIndex) -> &Package {
        &self.packages[at.get()]
    }

    /// Returns an interface.
    #[must_use]
    pub fn interface(&self, at: InterfaceIndex) -> &Interface {
        &self.interfaces[at.get()]
    }

    /// Returns an atom.
    #[must_use]
    pub fn atom(&self, at: AtomIndex) -> &Atom {
        &self.atoms[at.get()]
    }

    /// Returns an operation.
    #[must_use]
    pub fn operation(&self, at: OperationIndex) -> &Operation {
        &self.operations[at.get()]
    }

    /// Returns what a named type stands for, through any number of names; any other type as is.
    #[must_use]
    pub fn shape<'a>(&'a self, mut ty: &'a Type) -> &'a Type {
        while let Type::Named(at) = ty {
            ty = &self.types[at.get()].ty;
        }
        ty
    }

    /// Returns the type with the parameters of an interface replaced by its arguments.
    #[must_use]
    pub fn substitute(&self, ty: &Type, arguments: &[Type]) -> Type {
        match ty {
            Type::Parameter(at) => arguments[*at as usize].clone(),
            Type::Optional(inner) => Type::Optional(Box::new(self.substitute(inner, arguments))),
            Type::List(inner) => Type::List(Box::new(self.substitute(inner, arguments))),
            Type::Record(record) => Type::Record(Record {
                fields: record
                    .fields
                    .iter()
                    .map(|field| Field {
                        name: field.name.clone(),
                        ty: self.substitute(&field.ty, arguments),
                    })
                    .collect(),
            }),
            Type::InterfaceRef(of) => Type::InterfaceRef(self.substitute_interface(of, arguments)),
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
            | Type::AtomRef(_) => ty.clone(),
        }
    }

    /// The same, for the arguments of an interface.
    #[must_use]
    pub fn substitute_interface(&self, of: &InterfaceType, arguments: &[Type]) -> InterfaceType {
        InterfaceType {
            interface: of.interface,
            arguments: of.arguments.iter().map(|ty| self.substitute(ty, arguments)).collect(),
        }
    }

    /// Returns a member of an interface with the parameters replaced by its arguments.
    #[must_use]
    pub fn member_kind(&self, of: &InterfaceType, member: usize) -> MemberKind {
        let kind = &self.interface(of.interface).members[member].kind;
        if of.arguments.is_empty() {
            return kind.clone();
        }
        let replaced = |ty| self.substitute(ty, &of.arguments);
        match kind {
            MemberKind::State(ty) => MemberKind::State(replaced(ty)),
            MemberKind::Stream(ty) => MemberKind::Stream(replaced(ty)),
            MemberKind::Operation { input, output } => {
                MemberKind::Operation { input: replaced(input), output: replaced(output) }
            }
            MemberKind::Edge(shape) => {
                let target = match &shape.target {
                    EdgeTarget::Atom(at) => EdgeTarget::Atom(*at),
                    EdgeTarget::Interface(to) => {
                        EdgeTarget::Interface(self.substitute_interface(to, &of.arguments))
                    }
                };
                MemberKind::Edge(EdgeShape { target, ..shape.clone() })
            }
        }
    }

    /// Tells whether two types have the same shape.
    #[must_use]
    pub fn same(&self, left: &Type, right: &Type) -> bool {
        difference(In::new(self, left), In::new(self, right)).is_none()
    }

    /// Tells whether two interfaces are the same, with arguments of the same shape.
    #[must_use]
    pub fn same_interface(&self, left: &InterfaceType, right: &InterfaceType) -> bool {
        left.interface == right.interface
            && left.arguments.len() == right.arguments.len()
            && left.arguments.iter().zip(&right.arguments).all(|(a, b)| self.same(a, b))
    }

    /// Returns how an atom implements an interface, if it does.
    #[must_use]
    pub fn implementation(&self, atom: AtomIndex, of: &InterfaceType) -> Option<&Implementation> {
        self.atom(atom).implements.iter().find(|it| self.same_interface(&it.interface, of))
    }

    /// Returns every atom with its index.
    pub fn atoms(&self) -> impl Iterator<Item = (AtomIndex, &Atom)> {
        (0u32..).map(AtomIndex).zip(&self.atoms)
    }

    /// Returns every interface with its index.
    pub fn interfaces(&self) -> impl Iterator<Item = (InterfaceIndex, &Interface)> {
        (0u32..).map(InterfaceIndex).zip(&self.interfaces)
    }

    /// Returns every operation with its index.
    pub fn operations(&self) -> impl Iterator<Item = (OperationIndex, &Operation)> {
        (0u32..).map(OperationIndex).zip(&self.operations)
    }

    /// Returns every package with its index.
    pub fn packages(&self) -> impl Iterator<Item = (PackageIndex, &Package)> {
        (0u32..).map(PackageIndex).zip(&self.packages)
    }

    /// Returns the atom of a tag.
    #[must_use]
    pub fn atom_of_tag(&self, tag: Tag) -> Option<AtomIndex> {
        self.atom_tags.get(&tag).copied()
    }

    /// Returns the atom of an id.
    #[must_use]
    pub fn atom_of_id(&self, id: &str) -> Option<AtomIndex> {
        self.atom_of_tag(Tag::of(id)).filter(|at| self.atom(*at).id == id)
    }
}
