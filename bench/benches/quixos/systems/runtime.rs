//! The runtime, used as a host uses it: an agent in an installed workspace, called through typed
//! clients.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use quixos_bench::Durability;
use quixos_package::agent_runtime::{
    Agent, AgentCompletion, AgentDirectory, AgentDirectoryObject, AgentItem, AgentItemObject,
    AgentObject, AgentQuestion, AgentQuestionObject, AgentRequest, AgentRequestObject,
    AgentWorkspace, EventStream,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{self, Store};
use quixos_runtime::{Atom, Caller, InterfaceRef, Ref, Runtime, Session};

use crate::failure::{Failure, done};
use crate::work::{self, Operation};

/// An agent in a workspace, and what has become of the requests that are numbered.
pub(crate) struct Office {
    pub(crate) runtime: Runtime,
    pub(crate) session: Session,
    pub(crate) directory: Ref<AgentDirectoryObject>,
    pub(crate) agent: Ref<AgentObject>,
    pub(crate) completions: InterfaceRef<EventStream<AgentCompletion>>,
    item_bytes: usize,
    /// How many completions are on the stream.
    published: AtomicU64,
    requests: Vec<Numbered>,
}

/// What a numbered request is called by the runtime.
#[derive(Default)]
struct Numbered {
    request: OnceLock<Ref<AgentRequestObject>>,
    item: OnceLock<Ref<AgentItemObject>>,
    question: OnceLock<Ref<AgentQuestionObject>>,
}

impl Office {
    /// Opens a runtime over a store, and installs an agent if there is none.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        durability: Durability,
        requests: usize,
        item_bytes: usize,
    ) -> Result<Self, Failure> {
        let builder = quixos_package::packages()
            .into_iter()
            .fold(Runtime::builder(), |builder, package| builder.package(package));
        let runtime = builder.open(store)?;
        let session = runtime.session(Caller::operator("bench"));
        let directory = install(&runtime, &session).await?;
        let agent = AgentDirectory::on(&session, directory).default_agent().await?;
        let agent = agent.ok_or_else(|| Failure::refused("there is no default agent"))?;
        let completions = Agent::on(&session, agent).completions().await?;
        let published = runtime.stream(completions.object(), "events")?.len().await?;
        let session = session.with_durability(match durability {
            Durability::Durable => store::Durability::Durable,
            Durability::Buffered => store::Durability::Buffered,
        });
        let mut office = Self {
            runtime,
            session,
            directory,
            agent,
            completions,
            item_bytes,
            published: AtomicU64::new(published),
            requests: Vec::new(),
        };
        office.forget(requests);
        Ok(office)
    }

    /// Begins to number requests anew.
    pub(crate) fn forget(&mut self, requests: usize) {
        self.requests.clear();
        self.requests.resize_with(requests, Numbered::default);
    }

    /// Admits a request without a number.
    pub(crate) async fn admit(&self) -> Result<Ref<AgentRequestObject>, Failure> {
        let agent = Agent::on(&self.session, self.agent);
        let admission = agent.request(&work::submission()).await?;
        admission.request.ok_or_else(|| Failure::refused(format!("{:?}", admission.reason)))
    }

    /// Admits a request without a number, and claims it.
    pub(crate) async fn admit_and_claim(&self) -> Result<Ref<AgentRequestObject>, Failure> {
        let request = self.admit().await?;
        self.claim(request).await?;
        Ok(request)
    }

    /// Claims a request.
    pub(crate) async fn claim(&self, request: Ref<AgentRequestObject>) -> Result<(), Failure> {
        let claim = AgentRequest::on(&self.session, request).claim(&work::claim()).await?;
        done(claim.claimed, "claim")
    }

    /// Finishes a request.
    pub(crate) async fn finish(&self, request: Ref<AgentRequestObject>) -> Result<(), Failure> {
        let finished = AgentRequest::on(&self.session, request).finish(&work::finish()).await?;
        done(finished, "finish")
    }

    /// Publishes the completion of a request.
    pub(crate) async fn publish(&self, request: Ref<AgentRequestObject>) -> Result<(), Failure> {
        let published = AgentRequest::on(&self.session, request).publish_completion().await?;
        self.published.fetch_add(1, Ordering::Relaxed);
        done(published, "publishCompletion")
    }

    /// Waits until all that was done is on the disk.
    pub(crate) async fn settle(&self) -> Result<(), Failure> {
        let durable = self.session.with_durability(store::Durability::Durable);
        AgentDirectory::on(&durable, self.directory).data().await?;
        Ok(())
    }

    /// Does an operation on a numbered request.
    pub(crate) async fn perform(&self, operation: Operation, number: usize) -> Result<(), Failure> {
        let numbered = self.numbered(number)?;
        if operation == Operation::Request {
            return keep(&numbered.request, self.admit().await?);
        }
        let request = found(&numbered.request, "request")?;
        let on_request = AgentRequest::on(&self.session, request);
        match operation {
            Operation::Request => Err(Failure::refused("it is admitted above")),
            Operation::Claim => self.claim(request).await,
            Operation::Upsert(version) => {
                let data = work::item(work::ITEM, version, self.item_bytes);
                let item = on_request.upsert_item(&work::upsert(data)).await?;
                if version == 1 { keep(&numbered.item, item) } else { Ok(()) }
            }
            Operation::Checkpoint(version) => {
                let item = AgentItem::on(&self.session, found(&numbered.item, "item")?);
                let data = work::item(work::ITEM, version, self.item_bytes);
                Ok(item.checkpoint(&work::checkpoint(data)).await?)
            }
            Operation::Ask => {
                let ask = work::ask(work::QUESTION, work::NOW, work::LATER);
                keep(&numbered.question, on_request.ask(&ask).await?)
            }
            Operation::Answer => {
                let question = found(&numbered.question, "question")?;
                let question = AgentQuestion::on(&self.session, question);
                done(question.answer(&work::answer()).await?, "answer")
            }
            Operation::Transition => {
                done(on_request.transition(&work::transition()).await?, "transition")
            }
            Operation::Progress => {
                done(on_request.progress().await?.generation == work::GENERATION, "progress")
            }
            Operation::Finish => self.finish(request).await,
            Operation::Publish => self.publish(request).await,
            Operation::ReadStream => {
                let newest = self.published.load(Ordering::Relaxed).saturating_sub(1);
                let stream = EventStream::on(&self.session, self.completions);
                done(!stream.events(newest, work::PAGE).await?.is_empty(), "events")
            }
        }
    }

    fn numbered(&self, number: usize) -> Result<&Numbered, Failure> {
        let numbered = self.requests.get(number);
        numbered.ok_or_else(|| Failure::refused(format!("there is no number {number}")))
    }
}

/// Returns the directory of the first workspace, which is made if there is none.
async fn install(
    runtime: &Runtime,
    session: &Session,
) -> Result<Ref<AgentDirectoryObject>, Failure> {
    let first = runtime.read(|snapshot| snapshot.objects(WorkspaceObject::TAG, None, 1)).await?;
    let workspace = match first.first() {
        Some(workspace) => Ref::checked(*workspace)?,
        None => {
            let data = WorkspaceData { name: "bench".into() };
            WorkspaceObject::create(session, &WorkspaceObjectInput { data }).await?
        }
    };
    Ok(AgentWorkspace::on(session, workspace).install(&work::install()).await?)
}

fn keep<T: Copy>(place: &OnceLock<T>, reference: T) -> Result<(), Failure> {
    place.set(reference).map_err(|_| Failure::refused("a number was used twice"))
}

fn found<T: Copy>(place: &OnceLock<T>, what: &str) -> Result<T, Failure> {
    let found = place.get().copied();
    found.ok_or_else(|| Failure::refused(format!("there is no {what} yet")))
}
