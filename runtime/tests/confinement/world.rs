//! The package that random handlers are let loose in: two atoms with the same slots in another
//! order, and six operations, each with requirements that are drawn.
//!
//! What is drawn here is written down twice: as the definition that the runtime loads, and as the
//! plain values that the oracle looks at.

use proptest::prelude::*;
use proptest::sample::subsequence;

/// How many operations there are.
pub(crate) const OPERATIONS: usize = 6;

/// The states and streams of both atoms. What is written to one begins with its name.
pub(crate) const STATES: [&str; 2] = ["card", "spare"];
pub(crate) const STREAMS: [&str; 2] = ["told", "heard"];

/// The atoms by id. A stray is no `Thing`.
pub(crate) const CELL: &str = "atom:test:cell";
pub(crate) const POT: &str = "atom:test:pot";
pub(crate) const STRAY: &str = "atom:test:stray";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Edge {
    First,
    Set,
    Map,
    Owner,
    Held,
    Cells,
}

/// How an edge is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    One,
    Optional,
    Set,
    Map,
}

impl Edge {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Set => "set",
            Self::Map => "map",
            Self::Owner => "owner",
            Self::Held => "held",
            Self::Cells => "cells",
        }
    }

    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::First => Shape::Optional,
            Self::Set | Self::Held => Shape::Set,
            Self::Map | Self::Cells => Shape::Map,
            Self::Owner => Shape::One,
        }
    }

    /// Inverses are kept by the runtime.
    pub(crate) fn is_inverse(self) -> bool {
        matches!(self, Self::Held | Self::Cells)
    }

    fn declared(self) -> &'static str {
        match self {
            Self::First => "optional-one atom Cell",
            Self::Set => "many-unique interface Thing",
            Self::Map => "many-unique interface Thing keyed \"string\"",
            Self::Owner => "one atom Pot",
            Self::Held => "many-unique atom Cell",
            Self::Cells => "many-unique atom Cell keyed \"string\"",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Member {
    State(usize),
    Edge(Edge),
    Stream(usize),
    Append,
    Operation(usize),
}

impl Member {
    fn name(self) -> String {
        match self {
            Self::State(at) => STATES[at].to_owned(),
            Self::Edge(edge) => edge.name().to_owned(),
            Self::Stream(at) => STREAMS[at].to_owned(),
            Self::Append => "note".to_owned(),
            Self::Operation(at) => format!("act{at}"),
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::State(_) => "get",
            Self::Edge(_) => "resolve",
            Self::Stream(_) => "read",
            Self::Append | Self::Operation(_) => "call",
        }
    }
}

/// `Thing` is implemented by both atoms, `Owned` by cells, `Owning` by pots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interface {
    Thing,
    Owned,
    Owning,
}

impl Interface {
    pub(crate) const ALL: [Self; 3] = [Self::Thing, Self::Owned, Self::Owning];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Thing => "interface:test:thing",
            Self::Owned => "interface:test:owned",
            Self::Owning => "interface:test:owning",
        }
    }

    pub(crate) fn members(self) -> &'static [Member] {
        use Member::{Append, Operation, State, Stream};
        match self {
            Self::Thing => &[
                State(0),
                State(1),
                Member::Edge(Edge::First),
                Member::Edge(Edge::Set),
                Member::Edge(Edge::Map),
                Stream(0),
                Stream(1),
                Append,
                Operation(0),
                Operation(1),
                Operation(2),
            ],
            Self::Owned => {
                &[Member::Edge(Edge::Owner), Member::Edge(Edge::Held), Operation(3), Operation(4)]
            }
            Self::Owning => &[Operation(5), Member::Edge(Edge::Cells)],
        }
    }

    /// Where an operation is a member.
    pub(crate) fn of_operation(operation: usize) -> (Self, usize) {
        let position = |of: Self| {
            of.members().iter().position(|member| *member == Member::Operation(operation))
        };
        let found = Self::ALL.into_iter().find_map(|of| Some((of, position(of)?)));
        found.expect("each operation is a member")
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Requirement {
    State { at: usize, verbs: Vec<&'static str> },
    Edge { edge: Edge, verbs: Vec<&'static str> },
    Stream { at: usize, verbs: Vec<&'static str> },
    CreateCell,
    CreatePot,
    Interface { name: &'static str, of: Interface, using: Vec<Member> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Operation {
    pub(crate) query: bool,
    /// Not for this host.
    pub(crate) away: bool,
    pub(crate) requires: Vec<Requirement>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct World {
    pub(crate) operations: Vec<Operation>,
}

/// What an operation may require, before verbs and members are drawn.
fn candidates(operation: usize) -> Vec<Requirement> {
    let edge = |edge| Requirement::Edge { edge, verbs: Vec::new() };
    let interface = |name, of| Requirement::Interface { name, of, using: Vec::new() };
    let mut all = vec![
        Requirement::State { at: 0, verbs: Vec::new() },
        Requirement::State { at: 1, verbs: Vec::new() },
        edge(Edge::First),
        edge(Edge::Set),
        edge(Edge::Map),
        Requirement::Stream { at: 0, verbs: Vec::new() },
        Requirement::Stream { at: 1, verbs: Vec::new() },
        Requirement::CreateCell,
        Requirement::CreatePot,
        interface("thing", Interface::Thing),
        interface("other", Interface::Thing),
        interface("owned", Interface::Owned),
        interface("owning", Interface::Owning),
    ];
    match operation {
        3 | 4 => all.extend([edge(Edge::Owner), edge(Edge::Held)]),
        5 => all.push(edge(Edge::Cells)),
        _ => {}
    }
    all
}

type Drawn = (bool, bool, Vec<(Requirement, u16)>);

fn drawn(operation: usize) -> impl Strategy<Value = Drawn> {
    let all = candidates(operation);
    let some = subsequence(all.clone(), 3..=all.len()).prop_shuffle();
    let verbs = prop::collection::vec(any::<u16>(), all.len());
    let requires = (some, verbs).prop_map(|(some, verbs)| some.into_iter().zip(verbs).collect());
    (prop::bool::weighted(0.2), prop::bool::weighted(0.1), requires)
}

impl World {
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let all: Vec<_> = (0..OPERATIONS).map(|at| drawn(at).boxed()).collect();
        all.prop_map(|drawn| {
            let queries: Vec<bool> = drawn.iter().map(|(query, ..)| *query).collect();
            let operation = |(query, away, requires): Drawn| Operation {
                query,
                away,
                requires: requires
                    .into_iter()
                    .filter_map(|(requirement, mask)| settle(requirement, mask, query, &queries))
                    .collect(),
            };
            Self { operations: drawn.into_iter().map(operation).collect() }
        })
    }

    /// The definition.
    pub(crate) fn text(&self) -> String {
        let interfaces = Interface::ALL.map(interface_text).concat();
        let operations: String =
            self.operations.iter().enumerate().map(|(at, it)| operation_text(at, it)).collect();
        format!(
            "{TYPES}{interfaces}{ATOMS}package Things id \"package:test:things\" revision \"package:test:things@1\" {{\n{operations}}}\n"
        )
    }
}

/// Draws the verbs and members of a requirement; none is no requirement.
fn settle(drawn: Requirement, mask: u16, query: bool, queries: &[bool]) -> Option<Requirement> {
    let verbs = |of: &[&'static str], read: &str| -> Option<Vec<&'static str>> {
        let chosen = of.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0);
        let may = chosen.map(|(_, verb)| *verb).filter(|verb| !query || *verb == read);
        Some(may.collect()).filter(|chosen: &Vec<_>| !chosen.is_empty())
    };
    Some(match drawn {
        Requirement::State { at, .. } => {
            Requirement::State { at, verbs: verbs(&["read", "write"], "read")? }
        }
        Requirement::Edge { edge, .. } if edge.is_inverse() || edge == Edge::Owner => {
            Requirement::Edge { edge, verbs: vec!["resolve"] }
        }
        Requirement::Edge { edge, .. } => {
            let verbs = verbs(&["resolve", "connect", "disconnect"], "resolve")?;
            Requirement::Edge { edge, verbs }
        }
        Requirement::Stream { at, .. } => {
            Requirement::Stream { at, verbs: verbs(&["append", "read"], "read")? }
        }
        Requirement::CreateCell | Requirement::CreatePot if query => return None,
        Requirement::CreateCell | Requirement::CreatePot => drawn,
        Requirement::Interface { name, of, .. } => {
            let writes = |member: Member| match member {
                Member::Append => true,
                Member::Operation(at) => !queries[at],
                Member::State(_) | Member::Edge(_) | Member::Stream(_) => false,
            };
            let chosen = of.members().iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0);
            let may = chosen.map(|(_, member)| *member).filter(|it| !query || !writes(*it));
            let using: Vec<_> = may.collect();
            if using.is_empty() {
                return None;
            }
            Requirement::Interface { name, of, using }
        }
    })
}

const TYPES: &str = r"
type Card = record {label: string; friend: optional<interface-ref<Thing>>;};
type Word = record {text: string; who: optional<interface-ref<Thing>>;};
type Act = record {run: uint32; given: list<interface-ref<Thing>>;};
";

const ATOMS: &str = r#"
atom Cell id "atom:test:cell" {
  state card id "card": Card;
  state spare id "spare": Card;
  edge owner id "owner": one atom Pot;
  edge first id "first": optional-one atom Cell;
  edge set id "set": many-unique interface Thing;
  edge map id "map": many-unique interface Thing keyed "string";
  inverse held id "held": Cell.first;
  stream told id "told": Word;
  stream heard id "heard": Word;
  root input record {card: Card; spare: Card; owner: atom-ref<Pot>;};
  implements Thing {
    note = told.append;
    act0 = act0;
    act1 = act1;
    act2 = act2;
  }
  implements Owned {
    act3 = act3;
    act4 = act4;
  }
}

atom Pot id "atom:test:pot" {
  stream heard id "heard": Word;
  stream told id "told": Word;
  edge map id "map": many-unique interface Thing keyed "string";
  edge set id "set": many-unique interface Thing;
  edge first id "first": optional-one atom Cell;
  inverse cells id "cells": Cell.owner keyed card.label;
  state spare id "spare": Card;
  state card id "card": Card;
  root input record {card: Card; spare: Card;};
  implements Thing {
    note = told.append;
    act0 = act0;
    act1 = act1;
    act2 = act2;
  }
  implements Owning {
    act5 = act5;
  }
}

atom Stray id "atom:test:stray" {
  state card id "card": Card;
  root input record {card: Card;};
}

"#;

fn interface_text(of: Interface) -> String {
    let member = |member: &Member| {
        let name = member.name();
        match member {
            Member::State(_) => format!("  state {name}: Card [get];\n"),
            Member::Edge(edge) => format!("  edge {name}: {} [resolve];\n", edge.declared()),
            Member::Stream(_) => format!("  stream {name}: Word [read];\n"),
            Member::Append => format!("  operation {name}: Word -> uint64;\n"),
            Member::Operation(_) => {
                format!("  operation {name}: Act -> list<interface-ref<Thing>>;\n")
            }
        }
    };
    let members: String = of.members().iter().map(member).collect();
    format!("interface {of:?} id \"{}\" {{\n{members}}}\n", of.id())
}

fn operation_text(at: usize, operation: &Operation) -> String {
    let execution = if operation.query { "query" } else { "transaction" };
    let target = if operation.away { "worker" } else { "server" };
    let requires: String = operation.requires.iter().map(requirement_text).collect();
    format!(
        "  operation act{at} id \"test:act{at}\": Act -> list<interface-ref<Thing>> mode call \
         execution {execution} targets [{target}] receiver any requires {{\n{requires}  }};\n"
    )
}

fn requirement_text(requirement: &Requirement) -> String {
    match requirement {
        Requirement::State { at, verbs } => {
            let name = STATES[*at];
            format!("    state {name} id \"{name}\": Card [{}];\n", verbs.join(", "))
        }
        Requirement::Edge { edge, verbs } => {
            let (name, declared) = (edge.name(), edge.declared());
            format!("    edge {name} id \"{name}\": {declared} [{}];\n", verbs.join(", "))
        }
        Requirement::Stream { at, verbs } => {
            let name = STREAMS[*at];
            format!("    stream {name} id \"{name}\": Word [{}];\n", verbs.join(", "))
        }
        Requirement::CreateCell => "    creation cell id \"cell\": Cell input record {card: Card; \
                                    spare: Card; owner: atom-ref<Pot>;};\n"
            .to_owned(),
        Requirement::CreatePot => {
            "    creation pot id \"pot\": Pot input record {card: Card; spare: Card;};\n".to_owned()
        }
        Requirement::Interface { name, of, using } => {
            let using: Vec<_> =
                using.iter().map(|member| format!("{}.{}", member.name(), member.verb())).collect();
            let using = using.join(", ");
            format!("    interface {name} id \"{name}\": {of:?} using [{using}] from input;\n")
        }
    }
}
