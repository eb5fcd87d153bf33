//! The handlers: they do what their program says, through [`Call`] alone, go around whatever
//! generated code would keep them from, and write down what each attempt came to.
//!
//! A program is not in the input, so that a call bears the same input whatever its handler does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use proptest::sample::Index;
use quixos_runtime::dispatch::{decode_input, encode_output};
use quixos_runtime::{Call, CallError, Handler, ObjectRef, Ulid};
use quixos_schema::Tag;
use serde::{Deserialize, Serialize};

use crate::program::{Aim, Attempt, Ending, Program, Source, Way};
use crate::world::{Member, Requirement, STATES, STREAMS, World};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Card {
    pub(crate) label: String,
    pub(crate) friend: Option<ObjectRef>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Word {
    text: String,
    who: Option<ObjectRef>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) run: u32,
    pub(crate) given: Vec<ObjectRef>,
}

/// What an attempt came to: the references that it answered, or the code of its error.
pub(crate) type Outcome = Result<Vec<ObjectRef>, &'static str>;

/// An attempt as it was made.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) way: Way,
    pub(crate) requirement: usize,
    pub(crate) member: usize,
    pub(crate) on: ObjectRef,
    pub(crate) named: Vec<ObjectRef>,
    pub(crate) outcome: Outcome,
    /// The texts in what was read; they tell from which slot it came.
    pub(crate) texts: Vec<String>,
    /// The operation that the error says was refused.
    pub(crate) refused: Option<String>,
    /// The call that it made.
    pub(crate) inner: Option<Played>,
}

/// A call as it went.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) operation: usize,
    pub(crate) receiver: ObjectRef,
    pub(crate) given: Vec<ObjectRef>,
    pub(crate) tried: Vec<Tried>,
    /// What the handler answered, before the runtime looked at it.
    pub(crate) said: Outcome,
}

/// A call from outside under way.
pub(crate) struct Run {
    pub(crate) world: Arc<World>,
    /// What the next handler does.
    pub(crate) next: Option<Program>,
    /// The references that were ever seen.
    pub(crate) memory: Vec<ObjectRef>,
    /// What the last call did that ended.
    pub(crate) ended: Option<Played>,
}

static RUNS: Mutex<BTreeMap<u32, Run>> = Mutex::new(BTreeMap::new());

fn with<T>(run: u32, act: impl FnOnce(&mut Run) -> T) -> T {
    let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    act(runs.get_mut(&run).expect("the run was begun"))
}

pub(crate) fn begin(number: u32, run: Run) {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, run);
}

pub(crate) fn end(number: u32) -> Run {
    let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    runs.remove(&number).expect("the run was begun")
}

pub(crate) fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("test:act0", act::<0>),
        ("test:act1", act::<1>),
        ("test:act2", act::<2>),
        ("test:act3", act::<3>),
        ("test:act4", act::<4>),
        ("test:act5", act::<5>),
    ]
}

fn act<const OPERATION: usize>(call: &Call<'_>, input: &[u8]) -> Result<Vec<u8>, CallError> {
    let Act { run, given } = decode_input(input)?;
    let (world, program) = with(run, |run| (Arc::clone(&run.world), run.next.take()));
    let program = program.expect("a call has a program");
    let mut player = Player { call, run, operation: OPERATION, world, given, got: Vec::new() };
    let mut tried = Vec::new();
    let mut failed = None;
    for attempt in &program.attempts {
        let (one, error) = player.attempt(attempt);
        tried.push(one);
        if let (Some(error), Ending::PassesOn) = (error, program.ending) {
            failed = Some(error);
            break;
        }
    }
    let failed = failed.or_else(|| {
        (program.ending == Ending::Fails).then(|| CallError::refused("as the program says"))
    });
    let answer = failed.map_or_else(|| Ok(player.all(&program.answers)), Err);
    let said = answer.clone().map_err(|error| error.code());
    let Player { given, .. } = player;
    let played = Played { operation: OPERATION, receiver: call.receiver(), given, tried, said };
    with(run, |run| run.ended = Some(played));
    encode_output(&answer?)
}

struct Player<'p, 't> {
    call: &'p Call<'t>,
    run: u32,
    operation: usize,
    world: Arc<World>,
    given: Vec<ObjectRef>,
    got: Vec<ObjectRef>,
}

/// What an attempt answered.
#[derive(Default)]
struct Answer {
    references: Vec<ObjectRef>,
    texts: Vec<String>,
}

impl Player<'_, '_> {
    fn attempt(&mut self, attempt: &Attempt) -> (Tried, Option<CallError>) {
        let (requirement, member) = self.aim(attempt);
        let (on, named) = (self.find(&attempt.on), self.all(&attempt.named));
        with(self.run, |run| (run.next, run.ended) = (attempt.inner.clone(), None));
        let answer = if attempt.struck {
            // A refusal as good as any other.
            self.call.state_read::<Card>(usize::MAX).map(|_| Answer::default())
        } else {
            self.attempt_at(attempt, requirement, member, on, &named)
        };
        let inner = with(self.run, |run| {
            run.next = None;
            run.ended.take()
        });
        let (outcome, texts, error) = match answer {
            Ok(Answer { references, texts }) => {
                self.got.extend(&references);
                with(self.run, |run| run.memory.extend(&references));
                (Ok(references), texts, None)
            }
            Err(error) => (Err(error.code()), Vec::new(), Some(error)),
        };
        let refused = match &error {
            Some(CallError::Capability(denied)) => Some(denied.operation.clone()),
            _ => None,
        };
        let way = attempt.way;
        let tried = Tried { way, requirement, member, on, named, outcome, texts, refused, inner };
        (tried, error)
    }

    fn attempt_at(
        &self,
        attempt: &Attempt,
        at: usize,
        member: usize,
        on: ObjectRef,
        named: &[ObjectRef],
    ) -> Result<Answer, CallError> {
        let call = self.call;
        let (key, friend) = (attempt.key, named.first().copied());
        match attempt.way {
            Way::StateRead => call.state_read(at).map(card),
            Way::StateWrite => {
                let label = match self.requirement(at) {
                    Some(Requirement::State { at, .. }) => STATES[*at],
                    _ => "?",
                };
                call.state_write(at, &Card { label: label.into(), friend }).map(nothing)
            }
            Way::EdgeOne => call.edge_one(at).map(one),
            Way::EdgeOptional => call.edge_optional(at).map(many),
            Way::EdgeContains => call.edge_contains(at, on).map(nothing),
            Way::EdgePage => call.edge_page(at, friend, 9).map(many),
            Way::EdgeAt => call.edge_at(at, key).map(many),
            Way::EdgeEntries => call.edge_entries(at, None, 9).map(entries),
            Way::EdgeConnect => call.edge_connect(at, on).map(nothing),
            Way::EdgeConnectAt => call.edge_connect_at(at, key, on).map(nothing),
            Way::EdgeDisconnect => call.edge_disconnect(at, on).map(nothing),
            Way::EdgeDisconnectAt => call.edge_disconnect_at(at, key).map(many),
            Way::Create => {
                let card = Card { label: STATES[0].into(), friend };
                let spare = Card { label: STATES[1].into(), friend: named.get(1).copied() };
                match self.requirement(at) {
                    Some(Requirement::CreatePot) => call.create(at, &(card, spare)).map(one),
                    _ => call.create(at, &(card, spare, on)).map(one),
                }
            }
            Way::StreamAppend => {
                let text = match self.requirement(at) {
                    Some(Requirement::Stream { at, .. }) => STREAMS[*at],
                    _ => "?",
                };
                let word = Word { text: text.into(), who: friend };
                call.stream_append(at, &word).map(nothing)
            }
            Way::StreamRead => call.stream_read(at, 0, 9).map(words),
            Way::StreamLen => call.stream_len(at).map(nothing),
            Way::MemberGet => call.member_get(at, member, on).map(card),
            Way::MemberOne => call.member_one(at, member, on).map(one),
            Way::MemberOptional => call.member_optional(at, member, on).map(many),
            Way::MemberContains => {
                call.member_contains(at, member, on, friend.unwrap_or(on)).map(nothing)
            }
            Way::MemberTargets => call.member_targets(at, member, on, friend, 9).map(many),
            Way::MemberEntries => call.member_entries(at, member, on, None, 9).map(entries),
            Way::MemberAt => call.member_at(at, member, on, key).map(many),
            Way::MemberRead => call.member_read(at, member, on, 0, 9).map(words),
            Way::MemberCall => match self.member(at, member) {
                Some(Member::Append) => {
                    let word = Word { text: STREAMS[0].into(), who: friend };
                    call.member_call::<_, u64>(at, member, on, &word).map(nothing)
                }
                _ => {
                    let act = Act { run: self.run, given: named.to_vec() };
                    call.member_call::<_, Vec<ObjectRef>>(at, member, on, &act).map(many)
                }
            },
        }
    }

    fn requirement(&self, at: usize) -> Option<&Requirement> {
        self.world.operations[self.operation].requires.get(at)
    }

    fn member(&self, at: usize, member: usize) -> Option<Member> {
        match self.requirement(at)? {
            Requirement::Interface { of, .. } => of.members().get(member).copied(),
            _ => None,
        }
    }

    /// Chooses a requirement and a member.
    fn aim(&self, attempt: &Attempt) -> (usize, usize) {
        let requires = &self.world.operations[self.operation].requires;
        let any = (attempt.requirement.index(requires.len() + 1), attempt.member.index(13));
        let calls = |member: &Member| match member {
            Member::Operation(_) => attempt.inner.is_some(),
            _ => true,
        };
        let granted = attempt.aim == Aim::Granted;
        let verb = |verbs: &[&str]| !granted || verbs.contains(&verb_of(attempt.way));
        let mut fit = Vec::new();
        for (at, requirement) in requires.iter().enumerate() {
            match requirement {
                Requirement::Interface { of, using, .. } => {
                    let all = of.members().iter().enumerate();
                    let may = |it: &Member| !granted || using.contains(it);
                    let all =
                        all.filter(|(_, it)| is_for(attempt.way, **it) && calls(it) && may(it));
                    fit.extend(all.map(|(member, _)| (at, member)));
                }
                Requirement::State { verbs, .. }
                | Requirement::Edge { verbs, .. }
                | Requirement::Stream { verbs, .. } => {
                    if is_of(attempt.way, requirement) && verb(verbs) {
                        fit.push((at, any.1));
                    }
                }
                Requirement::CreateCell | Requirement::CreatePot => {
                    if attempt.way == Way::Create {
                        fit.push((at, any.1));
                    }
                }
            }
        }
        // An operation that is called needs a program.
        let any_fits = self.member(any.0, any.1).is_none_or(|it| calls(&it));
        let any = if any_fits { any } else { (requires.len(), any.1) };
        let blind = attempt.aim == Aim::Blind || fit.is_empty();
        if blind { any } else { *attempt.requirement.get(&fit) }
    }

    fn all(&self, sources: &[Source]) -> Vec<ObjectRef> {
        sources.iter().map(|source| self.find(source)).collect()
    }

    fn find(&self, source: &Source) -> ObjectRef {
        let receiver = self.call.receiver();
        let one_of = |all: &[ObjectRef], at: &Index| {
            if all.is_empty() { receiver } else { *at.get(all) }
        };
        let known = |at| with(self.run, |run| one_of(&run.memory, at));
        match source {
            Source::Receiver => receiver,
            Source::Given(at) => one_of(&self.given, at),
            Source::Got(at) => one_of(&self.got, at),
            Source::Remembered(at) => known(at),
            Source::Text(at) => {
                let text = self.call.reference_text(known(at));
                let (atom, id) = text.rsplit_once('/').expect("a reference has a slash");
                let id = Ulid::from_string(id).expect("a reference has an id");
                // An atom that is none has a text, too.
                if atom.starts_with('?') {
                    known(at)
                } else {
                    ObjectRef { atom: Tag::of(atom), id }
                }
            }
            Source::Guessed(at) => {
                let known = known(at);
                ObjectRef { id: Ulid(known.id.0.wrapping_add(1)), ..known }
            }
            Source::Retyped(at, atom) => ObjectRef { atom: Tag::of(atom), ..known(at) },
            Source::Nobody(id, atom) => ObjectRef { atom: Tag::of(atom), id: Ulid(*id) },
        }
    }
}

/// Whether a requirement is of the kind that a way is for.
fn is_of(way: Way, requirement: &Requirement) -> bool {
    match way {
        Way::StateRead | Way::StateWrite => matches!(requirement, Requirement::State { .. }),
        Way::EdgeOne
        | Way::EdgeOptional
        | Way::EdgeContains
        | Way::EdgePage
        | Way::EdgeAt
        | Way::EdgeEntries
        | Way::EdgeConnect
        | Way::EdgeConnectAt
        | Way::EdgeDisconnect
        | Way::EdgeDisconnectAt => matches!(requirement, Requirement::Edge { .. }),
        Way::StreamAppend | Way::StreamRead | Way::StreamLen => {
            matches!(requirement, Requirement::Stream { .. })
        }
        _ => false,
    }
}

/// The verb that a way on the receiver takes.
fn verb_of(way: Way) -> &'static str {
    match way {
        Way::StateRead | Way::StreamRead | Way::StreamLen => "read",
        Way::StateWrite => "write",
        Way::EdgeConnect | Way::EdgeConnectAt => "connect",
        Way::EdgeDisconnect | Way::EdgeDisconnectAt => "disconnect",
        Way::StreamAppend => "append",
        _ => "resolve",
    }
}

/// Whether a member is of the kind that a way is for.
fn is_for(way: Way, member: Member) -> bool {
    match member {
        Member::State(_) => way == Way::MemberGet,
        Member::Edge(_) => matches!(
            way,
            Way::MemberOne
                | Way::MemberOptional
                | Way::MemberContains
                | Way::MemberTargets
                | Way::MemberEntries
                | Way::MemberAt
        ),
        Member::Stream(_) => way == Way::MemberRead,
        Member::Append | Member::Operation(_) => way == Way::MemberCall,
    }
}

fn nothing<T>(_: T) -> Answer {
    Answer::default()
}

fn one(reference: ObjectRef) -> Answer {
    Answer { references: vec![reference], ..Answer::default() }
}

fn many(references: impl IntoIterator<Item = ObjectRef>) -> Answer {
    Answer { references: references.into_iter().collect(), ..Answer::default() }
}

fn entries(entries: Vec<(String, ObjectRef)>) -> Answer {
    many(entries.into_iter().map(|(_, reference)| reference))
}

fn card(card: Card) -> Answer {
    Answer { references: card.friend.into_iter().collect(), texts: vec![card.label] }
}

fn words(words: Vec<Word>) -> Answer {
    Answer {
        references: words.iter().filter_map(|word| word.who).collect(),
        texts: words.into_iter().map(|word| word.text).collect(),
    }
}
