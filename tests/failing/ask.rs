//! What is asked of a store that may fail: it is made, a request lives in it from admission to the
//! end that is told, all is read, checked and exported, and it is opened again.
//!
//! Each call has a transaction id of its own, as a careful caller's has, so that what failed may be
//! asked again and is done once.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use quixos_package::agent_runtime::{
    Agent, AgentDirectory, AgentDirectoryObject, AgentItem, AgentItemObject, AgentObject,
    AgentQuestion, AgentQuestionObject, AgentRequest, AgentRequestObject, AgentThreadObject,
    AgentWorkspace, AgentWorkspaceInstallInput, directory_admit, item_checkpoint,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{self, Health, Store};
use quixos_runtime::verify::VerifyKind;
use quixos_runtime::{
    CallError, Caller, ExportError, ManualClock, ObjectRef, OpenError, Ref, Runtime, SeededIds,
    Ulid,
};
use serde::{Deserialize, Serialize};

use crate::support::{START, WORKER, answer, ask, claim, finish, item, minute, submission, upsert};

/// Who reads the completions.
pub(super) const READER: &str = "reader";

/// Something that is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    /// Opens the store, which is closed first if it is open.
    Open,
    Workspace,
    Install,
    /// Reads the agent and the thread that were installed.
    Find,
    Admit,
    Claim,
    Question,
    Answer,
    Upsert,
    Checkpoint,
    Finish,
    Publish,
    /// Reads the completions.
    Read,
    /// Moves the cursor of their reader.
    Advance,
    Verify,
    Export,
    Again,
    /// Admits another request.
    Next,
    Check,
}

impl Ask {
    /// All of it, in order. The store is opened twice.
    pub(crate) const ALL: [Self; 19] = [
        Self::Open,
        Self::Workspace,
        Self::Install,
        Self::Find,
        Self::Admit,
        Self::Claim,
        Self::Question,
        Self::Answer,
        Self::Upsert,
        Self::Checkpoint,
        Self::Finish,
        Self::Publish,
        Self::Read,
        Self::Advance,
        Self::Verify,
        Self::Export,
        Self::Again,
        Self::Next,
        Self::Check,
    ];

    /// Returns those before the store is opened again.
    pub(crate) fn before_again() -> &'static [Self] {
        let end = Self::ALL.iter().position(|it| *it == Self::Again).unwrap();
        &Self::ALL[..end]
    }
}

/// Why something that was asked did not go through.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// Which of [`Ask::ALL`] it was.
    pub(crate) at: usize,
    /// The code of the call's error; `io`, `corrupt` or `other` of a store that did not open.
    pub(crate) code: String,
    pub(crate) message: String,
}

/// Why something that was asked did not go through, its place aside.
pub(super) struct Failed {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}

impl From<OpenError> for Failed {
    fn from(error: OpenError) -> Self {
        let code = match &error {
            OpenError::Read(error) => error.code(),
            OpenError::Write(_) => "storage",
            OpenError::Definitions { .. }
            | OpenError::CodeDigest { .. }
            | OpenError::Code { .. }
            | OpenError::Format { .. }
            | OpenError::Foreign
            | OpenError::Unfinished
            | OpenError::PackageMissing { .. }
            | OpenError::PackageDigest { .. }
            | OpenError::Concurrent
            | OpenError::Thread(_) => "other",
        };
        Self { code, message: error.to_string() }
    }
}

impl From<store::OpenError> for Failed {
    fn from(error: store::OpenError) -> Self {
        let code = match &error {
            store::OpenError::Io { .. } => "io",
            store::OpenError::Corrupt { .. } => "corrupt",
            store::OpenError::Locked { .. }
            | store::OpenError::NotAStore { .. }
            | store::OpenError::OtherFormat { .. } => "other",
        };
        Self { code, message: error.to_string() }
    }
}

/// Opens the store, on whatever it lies.
type Opening<'a> = dyn Fn() -> Result<Arc<dyn Store>, store::OpenError> + 'a;

/// A runtime over a store, with what its caller knows.
pub(crate) struct Host<'a> {
    opening: &'a Opening<'a>,
    runtime: Option<Runtime>,
    known: Known,
}

/// What a caller was answered.
#[derive(Clone, Copy, Default)]
struct Known {
    workspace: Option<Ref<WorkspaceObject>>,
    directory: Option<Ref<AgentDirectoryObject>>,
    agent: Option<Ref<AgentObject>>,
    thread: Option<Ref<AgentThreadObject>>,
    request: Option<Ref<AgentRequestObject>>,
    question: Option<Ref<AgentQuestionObject>>,
    item: Option<Ref<AgentItemObject>>,
    stream: Option<ObjectRef>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(opening: &'a Opening<'a>) -> Self {
        Self { opening, runtime: None, known: Known::default() }
    }

    pub(crate) fn runtime(&self) -> Option<&Runtime> {
        self.runtime.as_ref()
    }

    /// Returns the stream of completions, once it is known.
    pub(crate) fn stream(&self) -> Option<ObjectRef> {
        self.known.stream
    }

    pub(crate) fn close(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.close();
        }
    }

    /// Tells whether the store takes no more writes, and says so.
    pub(super) async fn says_that_it_stopped(&mut self) -> bool {
        let Some(runtime) = &self.runtime else { return true };
        if matches!(runtime.health(), Health::Poisoned { .. }) {
            return true;
        }
        let probed = self.ask(Ask::Workspace).await;
        probed.is_err_and(|it| it.code == "storage" && it.message.contains("no more writes"))
    }

    pub(super) async fn ask(&mut self, what: Ask) -> Result<(), Failed> {
        let runtime = self.runtime.as_ref();
        match what {
            Ask::Open | Ask::Again => self.open(),
            Ask::Verify | Ask::Check => {
                let report = runtime.unwrap().verify().await?;
                let Some(finding) = report.findings.first() else { return Ok(()) };
                let is_unread = finding.kind == VerifyKind::Unreadable
                    || finding.message.contains("cannot be checked: corrupt");
                let code = if is_unread { "corrupt" } else { "found" };
                Err(Failed { code, message: finding.to_string() })
            }
            Ask::Export => match runtime.unwrap().export(std::io::sink()).await {
                Ok(_) => Ok(()),
                Err(ExportError::Store(error)) => Err(error.into()),
                Err(error @ ExportError::Write(_)) => {
                    Err(Failed { code: "found", message: error.to_string() })
                }
            },
            Ask::Workspace
            | Ask::Install
            | Ask::Find
            | Ask::Admit
            | Ask::Claim
            | Ask::Question
            | Ask::Answer
            | Ask::Upsert
            | Ask::Checkpoint
            | Ask::Finish
            | Ask::Publish
            | Ask::Read
            | Ask::Advance
            | Ask::Next => Ok(self.known.learn(what, runtime.unwrap()).await?),
        }
    }

    fn open(&mut self) -> Result<(), Failed> {
        self.close();
        let store = (self.opening)()?;
        let start: DateTime<Utc> = START.parse().unwrap();
        let [agents, workspaces] = quixos_package::packages();
        let runtime = Runtime::builder()
            .package(agents)
            .package(workspaces)
            .clock(Arc::new(ManualClock::at(start)))
            .ids(Arc::new(SeededIds::new(7)))
            .open(store)?;
        self.runtime = Some(runtime);
        Ok(())
    }
}

impl Known {
    /// Makes a call, and keeps what it was answered.
    async fn learn(&mut self, what: Ask, runtime: &Runtime) -> Result<(), CallError> {
        let caller = Caller::operator("anna");
        let id = Ulid::from_parts(1, what as u128);
        let session = &runtime.session(caller.clone()).with_transaction_id(id);
        let request = || AgentRequest::on(session, self.request.unwrap());
        match what {
            Ask::Workspace => {
                let data = WorkspaceData { name: "home".to_owned() };
                let made = WorkspaceObject::create(session, &WorkspaceObjectInput { data }).await?;
                self.workspace = Some(made);
            }
            Ask::Install => {
                let instructions = "Be kind.".to_owned();
                let input = AgentWorkspaceInstallInput { instructions, settings: "{}".to_owned() };
                let workspace = AgentWorkspace::on(session, self.workspace.unwrap());
                self.directory = Some(workspace.install(&input).await?);
            }
            Ask::Find => {
                let directory = AgentDirectory::on(session, self.directory.unwrap());
                let agent = directory.default_agent().await?.unwrap();
                self.thread = directory.initial_thread().await?;
                self.agent = Some(agent);
                self.stream = Some(Agent::on(session, agent).completions().await?.into());
            }
            Ask::Admit => self.request = Some(self.admit(session, "Write it down").await?),
            Ask::Next => drop(self.admit(session, "Write more").await?),
            Ask::Claim => assert!(request().claim(&claim(WORKER, 0)).await?.claimed),
            Ask::Question => self.question = Some(request().ask(&ask("q1")).await?),
            Ask::Answer => {
                let question = AgentQuestion::on(session, self.question.unwrap());
                assert!(question.answer(&answer("yes")).await?);
            }
            Ask::Upsert => self.item = Some(request().upsert_item(&upsert("m1", 1)).await?),
            Ask::Checkpoint => {
                let data = item("m1", 2);
                let input = item_checkpoint::Input { attempt: WORKER.into(), generation: 1, data };
                AgentItem::on(session, self.item.unwrap()).checkpoint(&input).await?;
            }
            Ask::Finish => assert!(request().finish(&finish("completed")).await?),
            Ask::Publish => assert!(request().publish_completion().await?),
            Ask::Read => {
                let events = runtime.stream(self.stream.unwrap(), "events")?.read(0, 10).await?;
                assert_eq!(events.len(), 1);
            }
            Ask::Advance => {
                let stream = runtime.stream(self.stream.unwrap(), "events")?;
                assert_eq!(stream.advance(&caller, READER, 1).await?, 1);
                assert_eq!(stream.cursor(READER).await?, 1);
            }
            Ask::Open | Ask::Again | Ask::Verify | Ask::Check | Ask::Export => {
                unreachable!("these are no calls")
            }
        }
        Ok(())
    }

    async fn admit(
        &self,
        session: &quixos_runtime::Session,
        text: &str,
    ) -> Result<Ref<AgentRequestObject>, CallError> {
        let directory = AgentDirectory::on(session, self.directory.unwrap());
        let input = directory_admit::Input {
            agent: self.agent.unwrap(),
            thread: self.thread,
            submission: quixos_package::agent_runtime::AgentSubmission {
                created_at: minute(1),
                ..submission(text)
            },
            optional_work: false,
        };
        Ok(directory.admit(&input).await?.request.unwrap())
    }
}
