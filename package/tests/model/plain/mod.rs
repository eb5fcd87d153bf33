//! AgentRuntime in plain collections: objects are places in lists, edges are numbers and sets.
//!
//! It is written from `docs/operations.md` and shares no rule with the package. A step that fails
//! is undone by putting back the copy that was made before.

mod queue;
mod setup;
mod work;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use quixos_package::agent_runtime::{
    AgentData, DirectoryData, ItemData, QuestionData, RequestData, RequestState, ThreadData,
};
use quixos_runtime::Fence;

use crate::answer::{Answer, Failure, Outcome};
use crate::step::{Given, Minute, Step};
use crate::support::minute;

/// How many workspaces and subjects there are from the beginning.
pub(crate) const WORKSPACES: usize = 2;
pub(crate) const SUBJECTS: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub(crate) data: DirectoryData,
    pub(crate) default_agent: Option<usize>,
    pub(crate) initial_thread: Option<usize>,
    pub(crate) pending: BTreeSet<usize>,
    pub(crate) notifications: BTreeSet<usize>,
    pub(crate) repairs: BTreeMap<String, usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) data: AgentData,
    pub(crate) instructions: String,
    pub(crate) directory: usize,
    /// Request, thread and status of each end that was told.
    pub(crate) told: Vec<(usize, usize, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) data: ThreadData,
    pub(crate) directory: usize,
    pub(crate) agent: usize,
    pub(crate) contexts: BTreeSet<usize>,
    pub(crate) active: Option<usize>,
}

/// What a request is run with.
#[derive(Clone, Debug)]
pub(crate) enum Configuration {
    Frozen { agent: usize, instructions: String, profile: Option<String>, settings: String },
    Verbatim(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Without its configuration and the digest.
    pub(crate) admission: RequestData,
    pub(crate) configuration: Configuration,
    pub(crate) progress: RequestState,
    pub(crate) spawned: u32,
    pub(crate) directory: usize,
    pub(crate) thread: usize,
    pub(crate) contexts: BTreeSet<usize>,
    pub(crate) related: Option<usize>,
    pub(crate) retry_of: Option<usize>,
    pub(crate) root: Option<usize>,
    pub(crate) correction: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) data: ItemData,
    pub(crate) thread: usize,
    pub(crate) request: usize,
    pub(crate) subject: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) data: QuestionData,
    pub(crate) request: usize,
}

/// All there is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    now: u32,
    /// The directory of each workspace.
    pub(crate) installed: Vec<Option<usize>>,
    /// Whether each subject can be presented.
    presentable: Vec<bool>,
    pub(crate) directories: Vec<Directory>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) requests: Vec<Request>,
    pub(crate) items: Vec<Item>,
    pub(crate) questions: Vec<Question>,
}

/// Which object of so many a number of a step means.
pub(crate) fn pick(number: usize, count: usize) -> Option<usize> {
    number.checked_rem(count)
}

impl Model {
    pub(crate) fn new() -> Self {
        Self {
            installed: vec![None; WORKSPACES],
            presentable: vec![true; SUBJECTS],
            ..Self::default()
        }
    }

    /// Does a step. None, if there is nothing yet to do it to.
    pub(crate) fn step(&mut self, step: &Step) -> Option<Outcome> {
        let before = self.clone();
        let outcome = self.perform(step);
        if !matches!(outcome, Some(Ok(_))) {
            *self = before;
        }
        outcome
    }

    fn perform(&mut self, step: &Step) -> Option<Outcome> {
        let directory = |number| pick(number, self.directories.len());
        let agent = |number| pick(number, self.agents.len());
        let thread = |number| pick(number, self.threads.len());
        let request = |number| pick(number, self.requests.len());
        Some(match step {
            Step::Wait(minutes) => {
                // As far as the clock face goes.
                self.now = (self.now + minutes < 60).then_some(self.now + minutes)?;
                Ok(Answer::Done)
            }
            Step::Reopen => Ok(Answer::Done),
            Step::Present { subject, presentable } => {
                self.presentable[*subject] = *presentable;
                Ok(Answer::Done)
            }
            Step::Install { workspace, settings } => self.install(*workspace, settings),
            Step::Initialize { directory: at, settings } => {
                self.initialize(directory(*at)?, "Be strict.", settings).map(|()| Answer::Done)
            }
            Step::CreateAgent { directory: at, settings } => self
                .create_agent(directory(*at)?, "writer", "Be brief.", settings)
                .map(Answer::Agent),
            Step::Advertise { directory: at, profiles, availability } => {
                self.advertise(directory(*at)?, profiles, availability)
            }
            Step::CreateThread { directory: at, agent: of, at: when, contexts } => {
                let (at, of) = (directory(*at)?, agent(*of)?);
                self.create_thread(at, of, "Talk", "chat", *when, contexts).map(Answer::Thread)
            }
            Step::Admit { directory: at, agent: of, thread: to, submission, optional } => {
                let to = match to {
                    Some(to) => Some(thread(*to)?),
                    None => None,
                };
                let (at, of) = (directory(*at)?, agent(*of)?);
                let submission = self.submission(submission)?;
                self.admit("submission.", at, of, to, submission, *optional).map(Answer::from)
            }
            Step::Repair { directory: at, key, text, times, attempt, generation } => {
                self.repair(directory(*at)?, key, text, times, attempt, *generation)
            }
            Step::Update { agent: at, enabled, settings } => {
                self.update(agent(*at)?, *enabled, *settings)
            }
            Step::AgentThread { agent: at, at: when, contexts } => {
                let at = agent(*at)?;
                let directory = self.agents[at].directory;
                self.create_thread(directory, at, "Talk", "chat", *when, contexts)
                    .map(Answer::Thread)
            }
            Step::AgentRequest { agent: at, submission, optional } => {
                let at = agent(*at)?;
                let submission = self.submission(submission)?;
                let directory = self.agents[at].directory;
                self.admit("", directory, at, None, submission, *optional).map(Answer::from)
            }
            Step::Send { thread: at, submission } => {
                let at = thread(*at)?;
                let submission = self.submission(submission)?;
                self.send(at, submission).map(Answer::Request)
            }
            Step::Rename { thread: at, title } => {
                let at = thread(*at)?;
                self.threads[at].data.title = (*title).to_owned();
                Ok(Answer::Done)
            }
            Step::Archive { thread: at, archived } => {
                let at = thread(*at)?;
                self.threads[at].data.archived = *archived;
                Ok(Answer::Done)
            }
            Step::Claim { request: at, attempt, expected, at: when, recover } => {
                self.claim(request(*at)?, attempt, *expected, *when, *recover)
            }
            Step::Reclaim { request: at, attempt } => {
                let at = request(*at)?;
                let generation = self.requests[at].progress.generation;
                self.claim(at, attempt, generation, Some(3), true)
            }
            Step::Transition { request: at, fence, status, reason } => {
                self.transition(request(*at)?, fence, status, reason)
            }
            Step::Finish { request: at, fence, status, usage, at: when } => {
                self.finish(request(*at)?, fence, status, *usage, *when)
            }
            Step::Cancel { request: at } => self.cancel(request(*at)?),
            Step::Publish { request: at } => self.publish(request(*at)?),
            Step::Correct { request: at, errors, most, at: when } => {
                self.correct(request(*at)?, *errors, *most, *when)
            }
            Step::Steer { request: at, fence, key, text, profile, at: when } => {
                self.steer(request(*at)?, fence, key, text, *profile, *when).map(Answer::Item)
            }
            Step::Upsert { request: at, writing } => {
                self.upsert_step(request(*at)?, writing).map(Answer::Item)
            }
            Step::Checkpoint { item, writing } => {
                self.checkpoint_step(pick(*item, self.items.len())?, writing)
            }
            Step::Ask { request: at, fence, key, options, at: when, expires } => {
                self.ask(request(*at)?, fence, key, options, *when, *expires)
            }
            Step::Answer { question, fence, answer, at: when } => {
                self.answer(pick(*question, self.questions.len())?, fence, answer, *when)
            }
            Step::TakeBack { question } => self.take_back(pick(*question, self.questions.len())?),
        })
    }

    /// Returns the fence that a step gives for something of a request.
    pub(crate) fn fence(&self, request: usize, given: &Given) -> Fence {
        match given {
            Given::Stored => stored(&self.requests[request].progress),
            Given::Other { attempt, generation } => {
                Fence { attempt: (*attempt).to_owned(), generation: *generation }
            }
        }
    }

    fn holds(&self, request: usize, fence: &Fence) -> bool {
        let progress = &self.requests[request].progress;
        is_held(&progress.status) && stored(progress) == *fence
    }

    fn require(&self, request: usize, fence: &Fence) -> Result<(), Failure> {
        if self.holds(request, fence) {
            return Ok(());
        }
        let held = stored(&self.requests[request].progress);
        Err(Failure::StaleFence { given: fence.clone(), held })
    }

    /// Moves the time of a thread forward.
    fn touch(&mut self, thread: usize, at: u32) {
        let updated_at = &mut self.threads[thread].data.updated_at;
        if at > minutes(updated_at) {
            *updated_at = minute(at);
        }
    }
}

fn stored(progress: &RequestState) -> Fence {
    Fence { attempt: progress.attempt.clone(), generation: progress.generation }
}

fn is_held(status: &str) -> bool {
    ["running", "waiting"].contains(&status)
}

fn is_terminal(status: &str) -> bool {
    ["completed", "failed", "cancelled"].contains(&status)
}

fn invalid<T>(path: &str) -> Result<T, Failure> {
    Err(Failure::Invalid(path.to_owned()))
}

fn time(path: &str, at: Minute) -> Result<u32, Failure> {
    at.map_or_else(|| invalid(path), Ok)
}

/// Returns which minute a stored time is.
fn minutes(text: &str) -> u32 {
    text[14..16].parse().unwrap()
}

/// What settings come to, for the few that histories have.
struct Settings {
    pending: u32,
    ordinary: u32,
    optional: u32,
    depth: u32,
    notify: bool,
}

fn settings(text: &str) -> Result<Settings, Failure> {
    let usual = Settings { pending: 1024, ordinary: 768, optional: 256, depth: 8, notify: true };
    match text {
        "{}" => Ok(usual),
        r#"{"limits":{"maxPending":3}}"# => Ok(Settings { pending: 3, ..usual }),
        r#"{"limits":{"maxOptionalPending":1,"maxOrdinaryPending":2}}"# => {
            Ok(Settings { optional: 1, ordinary: 2, ..usual })
        }
        r#"{"limits":{"maxCausalDepth":1},"notifyCompletions":false}"# => {
            Ok(Settings { depth: 1, notify: false, ..usual })
        }
        r#"{"limits":{"x":1}}"# => invalid("settings.limits.x"),
        _ => invalid("settings"),
    }
}
