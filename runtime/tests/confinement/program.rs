//! What a random handler does: a list of attempts, each any way of using anything, under any
//! requirement and member, on any reference that it can name, guess or remember.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Where a handler takes a reference from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Receiver,
    /// One of its input.
    Given(Index),
    /// One that it got in this call: created, read, resolved, answered.
    Got(Index),
    /// One that was seen before, in this call, one around it, or one long past.
    Remembered(Index),
    /// The same, made from its text.
    Text(Index),
    /// The id behind that of an object that is there.
    Guessed(Index),
    /// The id of an object that is there, as one of another atom.
    Retyped(Index, &'static str),
    /// What was never there.
    Nobody(u128, &'static str),
}

/// Every method that a call has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Way {
    StateRead,
    StateWrite,
    EdgeOne,
    EdgeOptional,
    EdgeContains,
    EdgePage,
    EdgeAt,
    EdgeEntries,
    EdgeConnect,
    EdgeConnectAt,
    EdgeDisconnect,
    EdgeDisconnectAt,
    Create,
    StreamAppend,
    StreamRead,
    StreamLen,
    MemberGet,
    MemberOne,
    MemberOptional,
    MemberContains,
    MemberTargets,
    MemberEntries,
    MemberAt,
    MemberRead,
    MemberCall,
}

pub(crate) const WAYS: [Way; 25] = [
    Way::StateRead,
    Way::StateWrite,
    Way::EdgeOne,
    Way::EdgeOptional,
    Way::EdgeContains,
    Way::EdgePage,
    Way::EdgeAt,
    Way::EdgeEntries,
    Way::EdgeConnect,
    Way::EdgeConnectAt,
    Way::EdgeDisconnect,
    Way::EdgeDisconnectAt,
    Way::Create,
    Way::StreamAppend,
    Way::StreamRead,
    Way::StreamLen,
    Way::MemberGet,
    Way::MemberOne,
    Way::MemberOptional,
    Way::MemberContains,
    Way::MemberTargets,
    Way::MemberEntries,
    Way::MemberAt,
    Way::MemberRead,
    Way::MemberCall,
];

pub(crate) const KEYS: [&str; 3] = ["card", "k", ""];

/// How a requirement and a member are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aim {
    /// Any.
    Blind,
    /// One of the kind that the way is for.
    Kind,
    /// One of the kind that grants it, as by a handler that knows its definition.
    Granted,
}

#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) way: Way,
    /// The requirement and member; one more of each can be named than there are.
    pub(crate) requirement: Index,
    pub(crate) member: Index,
    pub(crate) aim: Aim,
    /// The object or target.
    pub(crate) on: Source,
    /// The references in a value or an input.
    pub(crate) named: Vec<Source>,
    pub(crate) key: &'static str,
    /// What the called operation does, if one is called.
    pub(crate) inner: Option<Program>,
    /// Not tried: answered as if it had been refused.
    pub(crate) struck: bool,
}

/// How a handler ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// Whatever failed, it goes on.
    GoesOn,
    /// The first failure is its own.
    PassesOn,
    /// It fails at the end.
    Fails,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) ending: Ending,
    /// What it answers.
    pub(crate) answers: Vec<Source>,
}

fn any_source() -> impl Strategy<Value = Source> {
    let atom = || select(&[super::world::CELL, super::world::POT, super::world::STRAY][..]);
    let index = any::<Index>;
    prop_oneof![
        3 => Just(Source::Receiver),
        4 => index().prop_map(Source::Given),
        5 => index().prop_map(Source::Got),
        2 => index().prop_map(Source::Remembered),
        1 => index().prop_map(Source::Text),
        1 => index().prop_map(Source::Guessed),
        1 => (index(), atom()).prop_map(|(at, atom)| Source::Retyped(at, atom)),
        1 => (any::<u128>(), atom()).prop_map(|(id, atom)| Source::Nobody(id, atom)),
    ]
}

fn any_attempt(inner: Option<BoxedStrategy<Program>>) -> BoxedStrategy<Attempt> {
    let plain = attempt_of(select(&WAYS[..]).boxed(), Just(None).boxed());
    let Some(inner) = inner else { return plain };
    let call = attempt_of(Just(Way::MemberCall).boxed(), inner.prop_map(Some).boxed());
    prop_oneof![4 => plain, 1 => call].boxed()
}

fn attempt_of(
    way: BoxedStrategy<Way>,
    inner: BoxedStrategy<Option<Program>>,
) -> BoxedStrategy<Attempt> {
    let aim = prop_oneof![1 => Just(Aim::Blind), 1 => Just(Aim::Kind), 3 => Just(Aim::Granted)];
    let place = (any::<Index>(), any::<Index>(), aim);
    let named = prop::collection::vec(any_source(), 0..3);
    (way, place, any_source(), named, select(&KEYS[..]), inner)
        .prop_map(|(way, (requirement, member, aim), on, named, key, inner)| Attempt {
            way,
            requirement,
            member,
            aim,
            on,
            named,
            key,
            inner,
            struck: false,
        })
        .boxed()
}

/// A program whose calls have programs, so deep.
pub(crate) fn any_program(depth: usize) -> BoxedStrategy<Program> {
    let inner = depth.checked_sub(1).map(any_program);
    let most = if inner.is_some() { 24 } else { 8 };
    let ending = prop_oneof![
        6 => Just(Ending::GoesOn),
        1 => Just(Ending::PassesOn),
        1 => Just(Ending::Fails),
    ];
    let answers = prop_oneof![
        3 => prop::collection::vec(select(&[0_u8, 1, 2][..]), 0..3)
            .prop_flat_map(|kinds| kinds.into_iter().map(own_source).collect::<Vec<_>>()),
        1 => prop::collection::vec(any_source(), 0..3),
    ];
    (prop::collection::vec(any_attempt(inner), 1..most), ending, answers)
        .prop_map(|(attempts, ending, answers)| Program { attempts, ending, answers })
        .boxed()
}

/// One that was handed.
fn own_source(kind: u8) -> BoxedStrategy<Source> {
    match kind {
        0 => Just(Source::Receiver).boxed(),
        1 => any::<Index>().prop_map(Source::Given).boxed(),
        _ => any::<Index>().prop_map(Source::Got).boxed(),
    }
}
