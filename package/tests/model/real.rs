//! The runtime's side of a history, and which of its objects is which number of the model.

mod call;
mod compare;

use quixos_package::agent_runtime::{
    AgentDirectoryObject, AgentItemObject, AgentObject, AgentQuestionObject, AgentRequest,
    AgentRequestObject, AgentSubmission, AgentThreadObject,
};
use quixos_package::workspace::{DocumentData, DocumentObject, Workspace, WorkspaceObject};
use quixos_runtime::{CallError, Interface, InterfaceRef, Ref};

use crate::plain::{SUBJECTS, WORKSPACES, pick};
use crate::step::{Minute, Submission};
use crate::support::{World, minute, submission};

/// A runtime, with its objects in the order in which they were made.
pub(crate) struct Real {
    world: World,
    workspaces: Vec<Ref<WorkspaceObject>>,
    subjects: Vec<Ref<DocumentObject>>,
    directories: Vec<Ref<AgentDirectoryObject>>,
    agents: Vec<Ref<AgentObject>>,
    threads: Vec<Ref<AgentThreadObject>>,
    requests: Vec<Ref<AgentRequestObject>>,
    items: Vec<Ref<AgentItemObject>>,
    questions: Vec<Ref<AgentQuestionObject>>,
}

impl Real {
    pub(crate) async fn new() -> Self {
        let world = World::new();
        let mut workspaces = Vec::new();
        for _ in 0..WORKSPACES {
            workspaces.push(world.workspace().await);
        }
        let mut subjects = Vec::new();
        for number in 0..SUBJECTS {
            let data =
                DocumentData { title: number.to_string(), body: String::new(), presentable: true };
            let home = Workspace::on(&world.session, workspaces[0]);
            subjects.push(home.create_document(&data).await.unwrap());
        }
        Self {
            world,
            workspaces,
            subjects,
            directories: Vec::new(),
            agents: Vec::new(),
            threads: Vec::new(),
            requests: Vec::new(),
            items: Vec::new(),
            questions: Vec::new(),
        }
    }

    fn agent(&mut self, agent: Ref<AgentObject>) -> usize {
        number(&mut self.agents, agent)
    }

    fn thread(&mut self, thread: Ref<AgentThreadObject>) -> usize {
        number(&mut self.threads, thread)
    }

    /// Returns the number of a request, which is new with its first item if it is new.
    async fn request(&mut self, request: Ref<AgentRequestObject>) -> Result<usize, CallError> {
        let known = self.requests.len();
        let found = number(&mut self.requests, request);
        if found == known {
            let items = AgentRequest::on(&self.world.session, request).items_at("prompt").await?;
            self.items.extend(items);
        }
        Ok(found)
    }

    fn subjects<I: Interface>(&self, contexts: &[usize]) -> Vec<InterfaceRef<I>>
    where
        DocumentObject: quixos_runtime::Implements<I>,
    {
        contexts.iter().map(|subject| self.subjects[*subject].into()).collect()
    }

    fn submission(&self, given: &Submission) -> AgentSubmission {
        let link = |number: Option<usize>| number.map(|number| at(&self.requests, number));
        let owned = |text: Option<&str>| text.map(str::to_owned);
        AgentSubmission {
            profile: owned(given.profile),
            response: owned(given.response),
            source_kind: given.source.to_owned(),
            publication: owned(given.publication),
            created_at: time(given.at),
            contexts: self.subjects(&given.contexts),
            related: link(given.related),
            retry_of: link(given.retry_of),
            root: link(given.root),
            causal_depth: given.depth,
            ..submission(given.text)
        }
    }
}

/// Returns the number of an object, which is the next if it is new.
fn number<A>(known: &mut Vec<Ref<A>>, object: Ref<A>) -> usize {
    known.iter().position(|it| *it == object).unwrap_or_else(|| {
        known.push(object);
        known.len() - 1
    })
}

/// Returns the object that a number of a step means.
fn at<A>(known: &[Ref<A>], number: usize) -> Ref<A> {
    known[pick(number, known.len()).unwrap()]
}

/// Returns a time as an input has it.
fn time(at: Minute) -> String {
    at.map_or_else(|| "soon".to_owned(), minute)
}
