//! Which objects a caller means by the numbers of a step, and the fences that it believes in.
//!
//! Callers know objects from answers, which they share on a board, and fences from claims. A choice
//! keeps what was meant, in the order in which the step names it, so that the same step can later
//! be said in the numbers of the model.

use std::collections::{BTreeMap, HashMap};

use quixos_package::agent_runtime::{
    AgentDirectoryObject, AgentItemObject, AgentObject, AgentQuestionObject, AgentRequestObject,
    AgentThreadObject, RequestState,
};
use quixos_package::workspace::{DocumentObject, WorkspaceObject};
use quixos_runtime::{Atom, CallError, ObjectRef, Snapshot, Tag};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outside::found;
use crate::step::{Given, Step, Submission, Writing};

/// The object of its kind that the caller itself was last answered.
pub(super) const MINE: usize = usize::MAX;

/// What the steps name by numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Kind {
    Workspace,
    Subject,
    Directory,
    Agent,
    Thread,
    Request,
    Item,
    Question,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Workspace,
        Self::Subject,
        Self::Directory,
        Self::Agent,
        Self::Thread,
        Self::Request,
        Self::Item,
        Self::Question,
    ];

    pub(crate) fn tag(self) -> Tag {
        Tag::of(self.atom())
    }

    /// Returns the id of the atom.
    pub(super) fn atom(self) -> &'static str {
        match self {
            Self::Workspace => WorkspaceObject::ID,
            Self::Subject => DocumentObject::ID,
            Self::Directory => AgentDirectoryObject::ID,
            Self::Agent => AgentObject::ID,
            Self::Thread => AgentThreadObject::ID,
            Self::Request => AgentRequestObject::ID,
            Self::Item => AgentItemObject::ID,
            Self::Question => AgentQuestionObject::ID,
        }
    }
}

/// Returns the kind of an object.
pub(crate) fn kind_of(object: ObjectRef) -> Kind {
    Kind::ALL.into_iter().find(|kind| kind.tag() == object.atom).unwrap()
}

/// What a step names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Name {
    Object(ObjectRef),
    Fence(String, u32),
}

/// Says the names of a step anew.
pub(super) trait Naming {
    /// Returns the new number of an object; none, if there is no such thing.
    fn object(&mut self, kind: Kind, number: usize) -> Option<usize>;

    /// Returns the new fence for an object, which is given by its new number.
    fn fence(&mut self, of: usize, given: &Given) -> Option<Given>;
}

/// Returns a step with its names said anew, in the order in which they stand here.
pub(super) fn renamed(step: &Step, naming: &mut impl Naming) -> Option<Step> {
    let mut step = step.clone();
    let n = naming;
    match &mut step {
        Step::Wait(_) | Step::Reopen => {}
        Step::Present { subject, .. } => object(n, Kind::Subject, subject)?,
        Step::Install { workspace, .. } => object(n, Kind::Workspace, workspace)?,
        Step::Initialize { directory, .. }
        | Step::CreateAgent { directory, .. }
        | Step::Advertise { directory, .. }
        | Step::Repair { directory, .. } => object(n, Kind::Directory, directory)?,
        Step::CreateThread { directory, agent, contexts, .. } => {
            object(n, Kind::Directory, directory)?;
            object(n, Kind::Agent, agent)?;
            subjects(n, contexts)?;
        }
        Step::Admit { directory, agent, thread, submission, .. } => {
            object(n, Kind::Directory, directory)?;
            object(n, Kind::Agent, agent)?;
            optional(n, Kind::Thread, thread)?;
            links(n, submission)?;
        }
        Step::Update { agent, .. } => object(n, Kind::Agent, agent)?,
        Step::AgentThread { agent, contexts, .. } => {
            object(n, Kind::Agent, agent)?;
            subjects(n, contexts)?;
        }
        Step::AgentRequest { agent, submission, .. } => {
            object(n, Kind::Agent, agent)?;
            links(n, submission)?;
        }
        Step::Send { thread, submission } => {
            object(n, Kind::Thread, thread)?;
            links(n, submission)?;
        }
        Step::Rename { thread, .. } | Step::Archive { thread, .. } => {
            object(n, Kind::Thread, thread)?;
        }
        Step::Claim { request, .. }
        | Step::Cancel { request }
        | Step::Publish { request }
        | Step::Correct { request, .. } => object(n, Kind::Request, request)?,
        Step::Reclaim { request, attempt } => {
            object(n, Kind::Request, request)?;
            let Given::Other { generation, .. } = n.fence(*request, &Given::Stored)? else {
                return None;
            };
            // What is stored is the model's to know; a caller claims what it has seen.
            return Some(Step::Claim {
                request: *request,
                attempt,
                expected: generation,
                at: Some(3),
                recover: true,
            });
        }
        Step::Transition { request, fence, .. }
        | Step::Finish { request, fence, .. }
        | Step::Steer { request, fence, .. }
        | Step::Ask { request, fence, .. } => {
            object(n, Kind::Request, request)?;
            *fence = n.fence(*request, fence)?;
        }
        Step::Upsert { request, writing } => {
            object(n, Kind::Request, request)?;
            self::writing(n, *request, writing)?;
        }
        Step::Checkpoint { item, writing } => {
            object(n, Kind::Item, item)?;
            self::writing(n, *item, writing)?;
        }
        Step::Answer { question, fence, .. } => {
            object(n, Kind::Question, question)?;
            *fence = n.fence(*question, fence)?;
        }
        Step::TakeBack { question } => object(n, Kind::Question, question)?,
    }
    Some(step)
}

fn object(naming: &mut impl Naming, kind: Kind, number: &mut usize) -> Option<()> {
    *number = naming.object(kind, *number)?;
    Some(())
}

fn optional(naming: &mut impl Naming, kind: Kind, number: &mut Option<usize>) -> Option<()> {
    number.as_mut().map_or(Some(()), |number| object(naming, kind, number))
}

fn subjects(naming: &mut impl Naming, numbers: &mut [usize]) -> Option<()> {
    numbers.iter_mut().try_for_each(|number| object(naming, Kind::Subject, number))
}

fn links(naming: &mut impl Naming, submission: &mut Submission) -> Option<()> {
    subjects(naming, &mut submission.contexts)?;
    optional(naming, Kind::Request, &mut submission.related)?;
    optional(naming, Kind::Request, &mut submission.retry_of)?;
    optional(naming, Kind::Request, &mut submission.root)
}

fn writing(naming: &mut impl Naming, of: usize, writing: &mut Writing) -> Option<()> {
    writing.fence = naming.fence(of, &writing.fence)?;
    if let Some(control) = &mut writing.control {
        *control = naming.fence(of, control)?;
    }
    optional(naming, Kind::Subject, &mut writing.subject)
}

/// What callers know of the store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    objects: BTreeMap<Kind, Vec<ObjectRef>>,
    /// The newest fence that was seen of a request.
    fences: HashMap<ObjectRef, (&'static str, u32)>,
    /// The request of an item or a question.
    requests: HashMap<ObjectRef, ObjectRef>,
}

impl Board {
    /// Reads everything that is there.
    pub(crate) fn read(snapshot: &Snapshot<'_>) -> Result<Self, CallError> {
        let mut board = Self::default();
        for kind in Kind::ALL {
            for object in snapshot.objects(kind.tag(), None, usize::MAX)? {
                board.add(object);
                if kind == Kind::Request {
                    let bytes = snapshot.state_bytes(object, "progress")?;
                    let progress: RequestState = postcard::from_bytes(&bytes).unwrap();
                    board.saw(object, &progress.attempt, progress.generation);
                }
                if [Kind::Item, Kind::Question].contains(&kind) {
                    let request = snapshot.edge(object, "request", None, 1)?[0].object;
                    board.requests.insert(object, request);
                }
            }
        }
        Ok(board)
    }

    /// Adds an object, if it is new.
    pub(crate) fn add(&mut self, object: ObjectRef) {
        let known = self.objects.entry(kind_of(object)).or_default();
        if !known.contains(&object) {
            known.push(object);
        }
    }

    /// Remembers who holds a request, unless something newer is known.
    fn saw(&mut self, request: ObjectRef, attempt: &str, generation: u32) {
        let known = self.fences.entry(request).or_insert(("", 0));
        if generation >= known.1 {
            *known = (word(attempt), generation);
        }
    }

    /// Learns what a caller was answered; what is new is also its own.
    pub(crate) fn learn(
        &mut self,
        choice: &Choice,
        answer: &Value,
        mine: &mut HashMap<Kind, ObjectRef>,
    ) {
        for object in found(answer) {
            self.add(object);
            mine.insert(kind_of(object), object);
            if [Kind::Item, Kind::Question].contains(&kind_of(object)) {
                self.requests.insert(object, choice.objects[0]);
            }
            if let Step::Repair { attempt, generation, .. } = choice.step {
                self.saw(object, attempt, generation);
            }
        }
        if let Step::Claim { attempt, .. } = choice.step
            && answer["claimed"] == true
        {
            let generation = answer["generation"].as_u64().unwrap().try_into().unwrap();
            self.saw(choice.objects[0], attempt, generation);
        }
    }

    fn of(&self, kind: Kind) -> &[ObjectRef] {
        self.objects.get(&kind).map_or(&[], Vec::as_slice)
    }

    fn fence(&self, of: ObjectRef) -> (&'static str, u32) {
        let request = self.requests.get(&of).unwrap_or(&of);
        self.fences.get(request).copied().unwrap_or(("", 0))
    }
}

/// Returns an attempt as the model's steps have it.
pub(super) fn word(attempt: &str) -> &'static str {
    ["", "a", "b"].into_iter().find(|word| *word == attempt).unwrap()
}

/// A step with what was meant by it.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// The step; its numbers are places among the objects.
    pub(crate) step: Step,
    /// What it names, in the order in which it does.
    pub(crate) names: Vec<Name>,
    pub(crate) objects: Vec<ObjectRef>,
}

impl Choice {
    /// Decides what a step means; none, if it names what is not there yet.
    pub(crate) fn make(
        step: &Step,
        board: &Board,
        mine: &HashMap<Kind, ObjectRef>,
    ) -> Option<Self> {
        let mut choosing = Choosing { board, mine, names: Vec::new(), objects: Vec::new() };
        let step = renamed(step, &mut choosing)?;
        Some(Self { step, names: choosing.names, objects: choosing.objects })
    }

    /// Returns the choice whose names were kept.
    pub(crate) fn again(step: &Step, names: &[Name]) -> Self {
        let mut repeating = Repeating { names: names.iter(), objects: Vec::new() };
        let step = renamed(step, &mut repeating).unwrap();
        Self { step, names: names.to_vec(), objects: repeating.objects }
    }
}

struct Repeating<'n> {
    names: std::slice::Iter<'n, Name>,
    objects: Vec<ObjectRef>,
}

impl Naming for Repeating<'_> {
    fn object(&mut self, _: Kind, _: usize) -> Option<usize> {
        let Name::Object(object) = self.names.next()? else { return None };
        self.objects.push(*object);
        Some(self.objects.len() - 1)
    }

    fn fence(&mut self, _: usize, _: &Given) -> Option<Given> {
        let Name::Fence(attempt, generation) = self.names.next()? else { return None };
        Some(Given::Other { attempt: word(attempt), generation: *generation })
    }
}

struct Choosing<'b> {
    board: &'b Board,
    mine: &'b HashMap<Kind, ObjectRef>,
    names: Vec<Name>,
    objects: Vec<ObjectRef>,
}

impl Naming for Choosing<'_> {
    fn object(&mut self, kind: Kind, number: usize) -> Option<usize> {
        let known = self.board.of(kind);
        let object = match number {
            MINE => *self.mine.get(&kind)?,
            number => *known.get(number.checked_rem(known.len())?)?,
        };
        self.names.push(Name::Object(object));
        self.objects.push(object);
        Some(self.objects.len() - 1)
    }

    fn fence(&mut self, of: usize, given: &Given) -> Option<Given> {
        let (attempt, generation) = match given {
            Given::Stored => self.board.fence(self.objects[of]),
            Given::Other { attempt, generation } => (*attempt, *generation),
        };
        self.names.push(Name::Fence(attempt.to_owned(), generation));
        Some(Given::Other { attempt, generation })
    }
}
