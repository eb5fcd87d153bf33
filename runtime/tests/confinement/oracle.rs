//! What each attempt must come to, from two things: what the operation requires, and which
//! references this call was handed. It knows nothing of the runtime but what it answered.

use std::collections::{BTreeMap, BTreeSet};

use quixos_runtime::ObjectRef;
use quixos_schema::Tag;

use crate::handler::{Outcome, Played, Tried};
use crate::program::Way;
use crate::world::{
    CELL, Edge, Interface, Member, Operation, POT, Requirement, STATES, STREAMS, Shape, World,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// `capability`, and no other error.
    Refused,
    /// Granted, but a value of another type, or a way of reading that the edge does not have.
    Invalid,
    /// Granted, and fitting.
    Done,
}

use Expected::{Done, Invalid, Refused};

/// How many attempts came to what.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) done: BTreeMap<Way, usize>,
    pub(crate) refused: BTreeMap<Way, usize>,
    /// Of the refused: those that were granted, on a reference that was not handed.
    pub(crate) not_handed: usize,
    pub(crate) invalid: usize,
}

/// Judges a call and all that it called, and returns what it must answer.
pub(crate) fn judge(
    world: &World,
    played: &Played,
    counts: &mut Counts,
) -> Result<Outcome, String> {
    let mut handed: BTreeSet<ObjectRef> = played.given.iter().copied().collect();
    handed.insert(played.receiver);
    for tried in &played.tried {
        judge_one(world, played, tried, &handed, counts)
            .map_err(|fault| format!("{fault}\n{tried:#?}\nhanded: {handed:#?}\n"))?;
        handed.extend(tried.outcome.iter().flatten());
    }
    let Ok(answer) = &played.said else { return Ok(played.said.clone()) };
    Ok(match given(answer, is_thing, &handed) {
        Done => Ok(answer.clone()),
        Invalid => Err("invalid"),
        Refused => Err("capability"),
    })
}

fn judge_one(
    world: &World,
    played: &Played,
    tried: &Tried,
    handed: &BTreeSet<ObjectRef>,
    counts: &mut Counts,
) -> Result<(), String> {
    let case = Case { operation: &world.operations[played.operation], tried, handed };
    let mut expected = case.expected();
    let mut refuses = played.operation;
    if let (Done, Some(Member::Operation(called))) = (expected, case.called()) {
        match &tried.inner {
            Some(inner) => {
                let same = inner.operation == called
                    && inner.receiver == tried.on
                    && inner.given == tried.named;
                let answered = judge(world, inner, counts)?;
                *counts.done.entry(tried.way).or_default() += 1;
                return told(same && answered == tried.outcome, || {
                    format!("operation {called} was to answer {answered:?}")
                });
            }
            // Not for this host.
            None if world.operations[called].away => (expected, refuses) = (Refused, called),
            None => return Err(format!("operation {called} was not called")),
        }
    }
    told(tried.inner.is_none(), || "an operation was called".to_owned())?;
    let conflicts = matches!(tried.way, Way::EdgeConnect | Way::EdgeConnectAt);
    let right = match (expected, &tried.outcome) {
        (Done, Ok(_)) => true,
        (Done, Err(code)) => conflicts && *code == "conflict",
        (Invalid, outcome) => *outcome == Err("invalid"),
        (Refused, outcome) => *outcome == Err("capability"),
    };
    told(right, || format!("expected {expected:?}"))?;
    match expected {
        Done => *counts.done.entry(tried.way).or_default() += 1,
        Invalid => counts.invalid += 1,
        Refused => {
            *counts.refused.entry(tried.way).or_default() += 1;
            counts.not_handed += usize::from(case.with_everything_handed() != Refused);
            let name = format!("test:act{refuses}");
            told(tried.refused.as_deref() == Some(name.as_str()), || "another refused it".into())?;
        }
    }
    let slot = case.slot();
    told(tried.texts.iter().all(|text| Some(text.as_str()) == slot), || {
        format!("expected to read {slot:?}")
    })
}

fn told(right: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if right { Ok(()) } else { Err(fault()) }
}

fn is_pot(reference: ObjectRef) -> bool {
    reference.atom == Tag::of(POT)
}

fn is_cell(reference: ObjectRef) -> bool {
    reference.atom == Tag::of(CELL)
}

fn is_thing(reference: ObjectRef) -> bool {
    is_cell(reference) || is_pot(reference)
}

/// What giving references away comes to, in the order in which they stand.
fn given<'r>(
    references: impl IntoIterator<Item = &'r ObjectRef>,
    is_of_type: fn(ObjectRef) -> bool,
    handed: &BTreeSet<ObjectRef>,
) -> Expected {
    let one = |reference: &ObjectRef| match (is_of_type(*reference), handed.contains(reference)) {
        (false, _) => Invalid,
        (true, false) => Refused,
        (true, true) => Done,
    };
    references.into_iter().map(one).find(|it| *it != Done).unwrap_or(Done)
}

struct Case<'c> {
    operation: &'c Operation,
    tried: &'c Tried,
    handed: &'c BTreeSet<ObjectRef>,
}

impl Case<'_> {
    fn requirement(&self) -> Option<&Requirement> {
        self.operation.requires.get(self.tried.requirement)
    }

    /// The member that is named, granted or not.
    fn called(&self) -> Option<Member> {
        match self.requirement()? {
            Requirement::Interface { of, .. } => of.members().get(self.tried.member).copied(),
            _ => None,
        }
    }

    /// The name of the slot that a granted read reads.
    fn slot(&self) -> Option<&'static str> {
        match (self.requirement()?, self.called()) {
            (Requirement::State { at, .. }, _) => Some(STATES[*at]),
            (Requirement::Stream { at, .. }, _) => Some(STREAMS[*at]),
            (_, Some(Member::State(at))) => Some(STATES[at]),
            (_, Some(Member::Stream(at))) => Some(STREAMS[at]),
            _ => None,
        }
    }

    fn with_everything_handed(&self) -> Expected {
        let mut handed: BTreeSet<_> = self.tried.named.iter().copied().collect();
        handed.insert(self.tried.on);
        Case { handed: &handed, ..*self }.expected()
    }

    fn expected(&self) -> Expected {
        let (on, named) = (self.tried.on, &self.tried.named);
        let friend = || given(named.first(), is_thing, self.handed);
        match self.tried.way {
            Way::StateRead => self.granted_state("read"),
            Way::StateWrite => self.granted_state("write").then(friend),
            Way::EdgeOne => self.edge(|shape| shape == Shape::One),
            Way::EdgeOptional => self.edge(|shape| shape == Shape::Optional),
            Way::EdgePage => self.edge(|shape| shape == Shape::Set),
            Way::EdgeAt | Way::EdgeEntries => self.edge(|shape| shape == Shape::Map),
            Way::EdgeContains => match self.granted_edge("resolve") {
                Some(edge) => self.contains(edge, on),
                None => Refused,
            },
            Way::EdgeConnect => self.connect(on, |shape| shape != Shape::Map),
            Way::EdgeConnectAt => self.connect(on, |shape| shape == Shape::Map),
            Way::EdgeDisconnect => match self.granted_edge("disconnect") {
                Some(edge) if self.handed.contains(&on) => fits(edge.shape() != Shape::Map),
                _ => Refused,
            },
            Way::EdgeDisconnectAt => match self.granted_edge("disconnect") {
                Some(edge) => fits(edge.shape() == Shape::Map),
                None => Refused,
            },
            Way::Create => {
                let cards = || given(named.iter().take(2), is_thing, self.handed);
                match self.requirement() {
                    Some(Requirement::CreateCell) => {
                        cards().then(|| given([&on], is_pot, self.handed))
                    }
                    Some(Requirement::CreatePot) => cards(),
                    _ => Refused,
                }
            }
            Way::StreamAppend => self.granted_stream("append").then(friend),
            Way::StreamRead | Way::StreamLen => self.granted_stream("read"),
            Way::MemberGet => match self.member() {
                Some(Member::State(_)) => Done,
                _ => Refused,
            },
            Way::MemberRead => match self.member() {
                Some(Member::Stream(_)) => Done,
                _ => Refused,
            },
            Way::MemberOne => self.member_edge(|shape| shape == Shape::One),
            Way::MemberOptional => self.member_edge(|shape| shape == Shape::Optional),
            Way::MemberTargets => self.member_edge(|shape| shape == Shape::Set),
            Way::MemberAt | Way::MemberEntries => self.member_edge(|shape| shape == Shape::Map),
            Way::MemberContains => match self.member() {
                Some(Member::Edge(edge)) => {
                    self.contains(edge, named.first().copied().unwrap_or(on))
                }
                _ => Refused,
            },
            Way::MemberCall => match self.member() {
                Some(Member::Append) => friend(),
                Some(Member::Operation(_)) => given(named, is_thing, self.handed),
                _ => Refused,
            },
        }
    }

    fn granted_state(&self, verb: &str) -> Expected {
        match self.requirement() {
            Some(Requirement::State { verbs, .. }) if verbs.contains(&verb) => Done,
            _ => Refused,
        }
    }

    fn granted_stream(&self, verb: &str) -> Expected {
        match self.requirement() {
            Some(Requirement::Stream { verbs, .. }) if verbs.contains(&verb) => Done,
            _ => Refused,
        }
    }

    fn granted_edge(&self, verb: &str) -> Option<Edge> {
        match self.requirement()? {
            Requirement::Edge { edge, verbs } if verbs.contains(&verb) => Some(*edge),
            _ => None,
        }
    }

    fn edge(&self, is_so: fn(Shape) -> bool) -> Expected {
        self.granted_edge("resolve").map_or(Refused, |edge| fits(is_so(edge.shape())))
    }

    /// An inverse can be asked for its source in whatever order it is kept.
    fn contains(&self, edge: Edge, target: ObjectRef) -> Expected {
        if !self.handed.contains(&target) {
            return Refused;
        }
        fits(edge.shape() == Shape::Set || edge.is_inverse())
    }

    fn connect(&self, target: ObjectRef, is_so: fn(Shape) -> bool) -> Expected {
        let Some(edge) = self.granted_edge("connect") else { return Refused };
        if !self.handed.contains(&target) {
            return Refused;
        }
        let is_of_type = if edge == Edge::First { is_cell } else { is_thing };
        fits(is_so(edge.shape()) && is_of_type(target))
    }

    /// The member that is named, if it is granted and the object, which was handed, has it.
    fn member(&self) -> Option<Member> {
        let Some(Requirement::Interface { of, using, .. }) = self.requirement() else {
            return None;
        };
        let member = self.called()?;
        let on = self.tried.on;
        let implements = match of {
            Interface::Thing => is_thing(on),
            Interface::Owned => is_cell(on),
            Interface::Owning => is_pot(on),
        };
        (using.contains(&member) && self.handed.contains(&on) && implements).then_some(member)
    }

    fn member_edge(&self, is_so: fn(Shape) -> bool) -> Expected {
        match self.member() {
            Some(Member::Edge(edge)) => fits(is_so(edge.shape())),
            _ => Refused,
        }
    }
}

fn fits(so: bool) -> Expected {
    if so { Done } else { Invalid }
}

impl Expected {
    fn then(self, next: impl FnOnce() -> Self) -> Self {
        if self == Done { next() } else { self }
    }
}
