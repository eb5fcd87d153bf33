//! Any definition that can be written, as a tree without places.
//!
//! It need not mean anything: names are drawn from a few, words of the language among them.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use quixos_schema::ast::*;
use quixos_schema::{Place, SourceId};

const NOWHERE: Place = Place { source: SourceId(0), start: 0, end: 0 };

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned { value, place: NOWHERE }
}

/// Any file without comments.
pub(crate) fn file() -> impl Strategy<Value = File> {
    vec(item(), 0..6).prop_map(|items| File { source: SourceId(0), items, comments: Vec::new() })
}

const NAMES: &[&str] = &[
    "a",
    "B_2",
    "_",
    "AgentThreadObject",
    "data",
    "state",
    "edge",
    "interface",
    "atom",
    "id",
    "operation",
    "input",
    "from",
    "keyed",
    "mode",
    "requires",
    "record",
    "optional",
    "list",
    "internal",
    "type",
    "part",
    "aNameSoLongThatLinesOfItDoNotFitIntoTheWidthOfAPage",
];

fn name() -> impl Strategy<Value = Name> {
    select(NAMES).prop_map(|name| spanned(name.to_owned()))
}

const WORDS: &[&str] =
    &["read", "call", "many-unique", "server", "any", "input", "requires", "x-1-y"];

/// A word where no name is made of it.
fn word() -> impl Strategy<Value = Name> {
    select(WORDS).prop_map(|word| spanned(word.to_owned()))
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![Just(String::new()), "[a-z:@.]{1,30}", any::<String>()].prop_map(spanned)
}

fn ty() -> impl Strategy<Value = TypeExpr> {
    let generic = |name: &str| matches!(name, "optional" | "list" | "record");
    let leaf = prop_oneof![
        select(&["string", "uint32", "unit", "bool"][..]).prop_map(|it| TypeKind::Name(it.into())),
        name().prop_filter_map("takes an argument", move |it| {
            (!generic(&it.value)).then_some(TypeKind::Name(it.value))
        }),
        name().prop_map(TypeKind::AtomRef),
    ];
    let place = |kind| TypeExpr { kind, place: NOWHERE };
    leaf.prop_map(place).prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            inner.clone().prop_map(|it| TypeKind::Optional(Box::new(it))),
            inner.clone().prop_map(|it| TypeKind::List(Box::new(it))),
            vec(field(inner.clone()), 0..5).prop_map(TypeKind::Record),
            applied(inner).prop_map(TypeKind::InterfaceRef),
        ]
        .prop_map(place)
    })
}

fn field(ty: impl Strategy<Value = TypeExpr>) -> impl Strategy<Value = Field> {
    (name(), ty).prop_map(|(name, ty)| Field { name, ty, place: NOWHERE })
}

fn applied(ty: impl Strategy<Value = TypeExpr>) -> impl Strategy<Value = InterfaceExpr> {
    (name(), vec(ty, 0..3)).prop_map(|(name, arguments)| InterfaceExpr {
        name,
        arguments,
        place: NOWHERE,
    })
}

fn verbs() -> impl Strategy<Value = Verbs> {
    vec(word(), 1..4).prop_map(|words| Verbs { words, place: NOWHERE })
}

fn shape() -> impl Strategy<Value = EdgeShape> {
    let target = prop_oneof![
        name().prop_map(EdgeTarget::Atom),
        applied(ty()).prop_map(EdgeTarget::Interface)
    ];
    (word(), target, option::of(text())).prop_map(|(cardinality, target, keyed)| EdgeShape {
        cardinality,
        target,
        keyed,
        place: NOWHERE,
    })
}

fn item() -> impl Strategy<Value = Item> {
    let kind = select(&[ImportKind::Interface, ImportKind::Type, ImportKind::Operation][..]);
    prop_oneof![
        name().prop_map(|package| Item::PartOf(PartOf { package, place: NOWHERE })),
        (name(), text()).prop_map(|(name, id)| Item::ExternalAtom(ExternalAtom {
            name,
            id,
            place: NOWHERE
        })),
        (kind, name(), option::of(name())).prop_map(|(kind, name, from)| {
            Item::Import(Import { kind: spanned(kind), name, from, place: NOWHERE })
        }),
        (name(), ty()).prop_map(|(name, ty)| Item::TypeAlias(TypeAlias {
            name,
            ty,
            place: NOWHERE
        })),
        (name(), vec(name(), 0..3), text(), vec(member(), 0..4)).prop_map(
            |(name, parameters, id, members)| {
                Item::Interface(Interface { name, parameters, id, members, place: NOWHERE })
            }
        ),
        (name(), text(), vec(part(), 0..5)).prop_map(|(name, id, parts)| Item::Atom(Atom {
            name,
            id,
            parts,
            place: NOWHERE
        })),
        (name(), text(), text(), vec(operation(), 0..3)).prop_map(
            |(name, id, revision, operations)| {
                Item::Package(Package { name, id, revision, operations, place: NOWHERE })
            }
        ),
    ]
}

fn member() -> impl Strategy<Value = Member> {
    let kind = prop_oneof![
        (ty(), verbs()).prop_map(|(ty, verbs)| MemberKind::State { ty, verbs }),
        (shape(), verbs()).prop_map(|(shape, verbs)| MemberKind::Edge { shape, verbs }),
        (ty(), verbs()).prop_map(|(ty, verbs)| MemberKind::Stream { ty, verbs }),
        (ty(), ty()).prop_map(|(input, output)| MemberKind::Operation { input, output }),
    ];
    (option::of(Just(NOWHERE)), name(), kind).prop_map(|(internal, name, kind)| Member {
        internal,
        name,
        kind,
        place: NOWHERE,
    })
}

fn part() -> impl Strategy<Value = AtomPart> {
    let binding = (name(), name(), option::of(name()))
        .prop_map(|(member, source, builtin)| Binding { member, source, builtin, place: NOWHERE });
    prop_oneof![
        (name(), text(), ty()).prop_map(|(name, id, ty)| AtomPart::State(StateSlot {
            name,
            id,
            ty,
            place: NOWHERE
        })),
        (name(), text(), shape()).prop_map(|(name, id, shape)| AtomPart::Edge(EdgeSlot {
            name,
            id,
            shape,
            place: NOWHERE
        })),
        (name(), text(), name(), name(), option::of(vec(name(), 1..4))).prop_map(
            |(name, id, atom, edge, key)| {
                AtomPart::Inverse(InverseSlot { name, id, atom, edge, key, place: NOWHERE })
            }
        ),
        (name(), text(), ty()).prop_map(|(name, id, ty)| AtomPart::Stream(StreamSlot {
            name,
            id,
            ty,
            place: NOWHERE
        })),
        ty().prop_map(|input| AtomPart::Root(Root { input, place: NOWHERE })),
        (applied(ty()), vec(binding, 0..4)).prop_map(|(interface, bindings)| {
            AtomPart::Implements(Implements { interface, bindings, place: NOWHERE })
        }),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    let signature = (name(), text(), ty(), ty());
    let clauses = (word(), word(), verbs(), word(), vec(requirement(), 0..4));
    (signature, clauses).prop_map(
        |((name, id, input, output), (mode, execution, targets, receiver, requirements))| {
            Operation {
                name,
                id,
                input,
                output,
                mode,
                execution,
                targets,
                receiver,
                requirements,
                place: NOWHERE,
            }
        },
    )
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let used = (name(), word()).prop_map(|(member, verb)| Use { member, verb, place: NOWHERE });
    let kind = prop_oneof![
        (ty(), verbs()).prop_map(|(ty, verbs)| RequirementKind::State { ty, verbs }),
        (shape(), verbs()).prop_map(|(shape, verbs)| RequirementKind::Edge { shape, verbs }),
        (ty(), verbs()).prop_map(|(ty, verbs)| RequirementKind::Stream { ty, verbs }),
        (name(), ty()).prop_map(|(atom, input)| RequirementKind::Creation { atom, input }),
        (applied(ty()), vec(used, 1..5), word()).prop_map(|(interface, using, from)| {
            RequirementKind::Interface { interface, using, from }
        }),
    ];
    (name(), text(), kind).prop_map(|(name, id, kind)| Requirement {
        name,
        id,
        kind,
        place: NOWHERE,
    })
}
