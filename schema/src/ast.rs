//! What was written, with places. Nothing here is resolved or checked.
//!
//! Every node keeps its place, and the file keeps its comments, so that the formatter loses
//! nothing. Start at [`File`].

use crate::source::{Place, SourceId};

/// A piece of text with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub place: Place,
}

/// A name as written.
pub type Name = Spanned<String>;
/// The contents of a string literal, unescaped. Empty where one is missing; a diagnostic of that
/// place says so.
pub type Text = Spanned<String>;

/// One definition file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Which source it was read from.
    pub source: SourceId,
    /// The items, in order.
    pub items: Vec<Item>,
    /// Every comment, in order.
    pub comments: Vec<Comment>,
}

/// `// …` or `/* … */`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// The comment with its marks, without the line end.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// A top-level item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// `part of PACKAGE;`: this file belongs to a package whose block stands in another.
    PartOf(PartOf),
    /// `external atom NAME id "…";`
    ExternalAtom(ExternalAtom),
    /// `import interface|type|operation NAME [from PACKAGE];`
    Import(Import),
    /// `type NAME = TYPE;`
    TypeAlias(TypeAlias),
    /// `interface NAME<T> id "…" { … }`
    Interface(Interface),
    /// `atom NAME id "…" { … }`
    Atom(Atom),
    /// `package NAME id "…" revision "…" { … }`
    Package(Package),
}

/// `part of PACKAGE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartOf {
    /// The package.
    pub package: Name,
    /// The whole item.
    pub place: Place,
}

/// `external atom NAME id "…";`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalAtom {
    /// The name it has in this package.
    pub name: Name,
    /// The id of the atom, defined in this package or another.
    pub id: Text,
    /// The whole item.
    pub place: Place,
}

/// What an import brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportKind {
    /// An interface.
    Interface,
    /// A named type.
    Type,
    /// An operation, to be bound by an atom of this package.
    Operation,
}

/// `import interface NAME;` or `import interface NAME from PACKAGE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// What kind of thing.
    pub kind: Spanned<ImportKind>,
    /// Its name.
    pub name: Name,
    /// Where from; without it, this package first, then the one package that defines it.
    pub from: Option<Name>,
    /// The whole item.
    pub place: Place,
}

/// `type NAME = TYPE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeAlias {
    /// The name.
    pub name: Name,
    /// What it stands for.
    pub ty: TypeExpr,
    /// The whole item.
    pub place: Place,
}

/// A type as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeExpr {
    /// Its shape.
    pub kind: TypeKind,
    /// Where.
    pub place: Place,
}

/// The shape of a type as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// A scalar word (`string`, `uint32`, …), a named type or a type parameter.
    Name(String),
    /// `optional<T>`
    Optional(Box<TypeExpr>),
    /// `list<T>`
    List(Box<TypeExpr>),
    /// `record {a: T; …}`
    Record(Vec<Field>),
    /// `atom-ref<A>`
    AtomRef(Name),
    /// `interface-ref<I<…>>`
    InterfaceRef(InterfaceExpr),
    /// What stood here did not parse; a diagnostic says so.
    Error,
}

/// `NAME: TYPE;` in a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The field's name.
    pub name: Name,
    /// Its type.
    pub ty: TypeExpr,
    /// The whole field.
    pub place: Place,
}

/// `I` or `I<T, …>`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterfaceExpr {
    /// The interface.
    pub name: Name,
    /// Its arguments.
    pub arguments: Vec<TypeExpr>,
    /// Where.
    pub place: Place,
}

/// `interface NAME<T> id "…" { members }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// The name.
    pub name: Name,
    /// The type parameters.
    pub parameters: Vec<Name>,
    /// The id.
    pub id: Text,
    /// The members.
    pub members: Vec<Member>,
    /// The whole item.
    pub place: Place,
}

/// A member of an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// `internal`, if it stands there.
    pub internal: Option<Place>,
    /// The name.
    pub name: Name,
    /// What it is.
    pub kind: MemberKind,
    /// The whole member.
    pub place: Place,
}

/// What a member is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemberKind {
    /// `state NAME: TYPE [get];`
    State {
        /// The type.
        ty: TypeExpr,
        /// What may be done.
        verbs: Verbs,
    },
    /// `edge NAME: CARDINALITY TARGET [keyed "string"] [resolve];`
    Edge {
        /// Its shape.
        shape: EdgeShape,
        /// What may be done.
        verbs: Verbs,
    },
    /// `stream NAME: TYPE [read];`
    Stream {
        /// The type of an event.
        ty: TypeExpr,
        /// What may be done.
        verbs: Verbs,
    },
    /// `operation NAME: INPUT -> OUTPUT;`
    Operation {
        /// The input.
        input: TypeExpr,
        /// The output.
        output: TypeExpr,
    },
}

/// `[read, write]`, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verbs {
    /// The words.
    pub words: Vec<Name>,
    /// With the brackets.
    pub place: Place,
}

/// `CARDINALITY atom|interface TARGET [keyed "string"]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeShape {
    /// `one`, `optional-one`, `many-unique`, or a word that is none of them.
    pub cardinality: Name,
    /// What it leads to.
    pub target: EdgeTarget,
    /// The type of its keys, if keyed.
    pub keyed: Option<Text>,
    /// The whole shape.
    pub place: Place,
}

/// What an edge leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EdgeTarget {
    /// `atom A`
    Atom(Name),
    /// `interface I<…>`
    Interface(InterfaceExpr),
    /// Did not parse.
    Error(Place),
}

/// `atom NAME id "…" { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Atom {
    /// The name.
    pub name: Name,
    /// The id.
    pub id: Text,
    /// What it has.
    pub parts: Vec<AtomPart>,
    /// The whole item.
    pub place: Place,
}

/// A line or block in an atom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AtomPart {
    /// `state NAME id "…": TYPE;`
    State(StateSlot),
    /// `edge NAME id "…": SHAPE;`
    Edge(EdgeSlot),
    /// `inverse NAME id "…": ATOM.EDGE [keyed STATE.FIELD];`
    Inverse(InverseSlot),
    /// `stream NAME id "…": TYPE;`
    Stream(StreamSlot),
    /// `root input TYPE;`: a host may create one at its door.
    Root(Root),
    /// `implements I<…> { … }` or `implements I<…>;`
    Implements(Implements),
}

/// `state NAME id "…": TYPE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateSlot {
    /// The name.
    pub name: Name,
    /// The slot's id.
    pub id: Text,
    /// The type.
    pub ty: TypeExpr,
    /// The whole line.
    pub place: Place,
}

/// `edge NAME id "…": SHAPE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeSlot {
    /// The name.
    pub name: Name,
    /// The slot's id.
    pub id: Text,
    /// The shape.
    pub shape: EdgeShape,
    /// The whole line.
    pub place: Place,
}

/// `inverse NAME id "…": ATOM.EDGE [keyed STATE.FIELD];`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InverseSlot {
    /// The name.
    pub name: Name,
    /// The slot's id.
    pub id: Text,
    /// The atom that the edges come from.
    pub atom: Name,
    /// The edge slot there.
    pub edge: Name,
    /// The state slot and the fields below it, whose string is the key.
    pub key: Option<Vec<Name>>,
    /// The whole line.
    pub place: Place,
}

/// `stream NAME id "…": TYPE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamSlot {
    /// The name.
    pub name: Name,
    /// The slot's id.
    pub id: Text,
    /// The type of an event.
    pub ty: TypeExpr,
    /// The whole line.
    pub place: Place,
}

/// `root input TYPE;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// What it is created from.
    pub input: TypeExpr,
    /// The whole line.
    pub place: Place,
}

/// `implements I<…> { MEMBER = SOURCE; … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Implements {
    /// The interface.
    pub interface: InterfaceExpr,
    /// Which operation or slot serves which member. A member that is not listed is served by
    /// the slot of its name.
    pub bindings: Vec<Binding>,
    /// The whole block.
    pub place: Place,
}

/// `MEMBER = NAME;` or `MEMBER = STREAM.append;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// The member.
    pub member: Name,
    /// The operation or slot.
    pub source: Name,
    /// The built-in operation of the slot (`append` of a stream).
    pub builtin: Option<Name>,
    /// The whole line.
    pub place: Place,
}

/// `package NAME id "…" revision "…" { operations }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// The name.
    pub name: Name,
    /// The id.
    pub id: Text,
    /// The revision.
    pub revision: Text,
    /// The operations.
    pub operations: Vec<Operation>,
    /// The whole item.
    pub place: Place,
}

/// `operation NAME id "…": INPUT -> OUTPUT mode M execution E targets [T] receiver R requires {…};`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The name.
    pub name: Name,
    /// The id.
    pub id: Text,
    /// The input.
    pub input: TypeExpr,
    /// The output.
    pub output: TypeExpr,
    /// `call`
    pub mode: Name,
    /// `transaction` or `query`
    pub execution: Name,
    /// `[server]`
    pub targets: Verbs,
    /// `any`
    pub receiver: Name,
    /// What it may touch.
    pub requirements: Vec<Requirement>,
    /// The whole operation.
    pub place: Place,
}

/// One line of a `requires` block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// The name.
    pub name: Name,
    /// The id: for state, edge and stream the slot of the receiver.
    pub id: Text,
    /// What it grants.
    pub kind: RequirementKind,
    /// The whole line.
    pub place: Place,
}

/// What a requirement grants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequirementKind {
    /// `state NAME id "…": TYPE [read, write];`
    State {
        /// The type.
        ty: TypeExpr,
        /// The verbs.
        verbs: Verbs,
    },
    /// `edge NAME id "…": SHAPE [resolve, connect, disconnect];`
    Edge {
        /// The shape.
        shape: EdgeShape,
        /// The verbs.
        verbs: Verbs,
    },
    /// `stream NAME id "…": TYPE [append, read];`
    Stream {
        /// The type of an event.
        ty: TypeExpr,
        /// The verbs.
        verbs: Verbs,
    },
    /// `creation NAME id "…": ATOM input TYPE;`
    Creation {
        /// The atom.
        atom: Name,
        /// What it is created from.
        input: TypeExpr,
    },
    /// `interface NAME id "…": I<…> using [member.verb, …] from input;`
    Interface {
        /// The interface.
        interface: InterfaceExpr,
        /// What may be used.
        using: Vec<Use>,
        /// `input`
        from: Name,
    },
}

/// `member.verb`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Use {
    /// The member.
    pub member: Name,
    /// The verb.
    pub verb: Name,
    /// Where.
    pub place: Place,
}
