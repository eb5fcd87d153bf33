//! A workspace with agents installed: its directory, the default agent and the first thread.

use quixos_package::agent_runtime::{
    Agent, AgentAdmission, AgentClient, AgentData, AgentDirectory, AgentDirectoryClient,
    AgentDirectoryObject, AgentItem, AgentItemClient, AgentItemObject, AgentObject, AgentQuestion,
    AgentQuestionClient, AgentQuestionObject, AgentRequest, AgentRequestClient, AgentSubmission,
    AgentThread, AgentThreadClient, AgentThreadObject, AgentWorkspace, AgentWorkspaceInstallInput,
    DirectoryData, ItemData, QuestionData, RequestData, RequestState, ThreadData, agent_update,
    directory_admit, directory_advertise,
};
use quixos_package::workspace::{
    Document, DocumentClient, DocumentData, DocumentObject, Workspace, WorkspaceObject,
};
use quixos_runtime::{CallError, Ref};

use super::inputs::{Request, WORKER, claim, submission};
use super::world::World;

/// A place where requests are made.
pub(crate) struct Desk {
    pub(crate) world: World,
    pub(crate) workspace: Ref<WorkspaceObject>,
    pub(crate) directory: Ref<AgentDirectoryObject>,
    pub(crate) agent: Ref<AgentObject>,
    pub(crate) thread: Ref<AgentThreadObject>,
}

impl Desk {
    /// Installs agents whose settings say nothing.
    pub(crate) async fn new() -> Self {
        Self::with("{}").await
    }

    /// Installs agents with settings.
    pub(crate) async fn with(settings: &str) -> Self {
        Self::over(World::new(), settings).await
    }

    /// Installs agents in a world.
    pub(crate) async fn over(world: World, settings: &str) -> Self {
        let workspace = world.workspace().await;
        let directory = AgentWorkspace::on(&world.session, workspace)
            .install(&AgentWorkspaceInstallInput {
                instructions: "Be kind.".to_owned(),
                settings: settings.to_owned(),
            })
            .await
            .unwrap();
        let client = AgentDirectory::on(&world.session, directory);
        let agent = client.default_agent().await.unwrap().unwrap();
        let thread = client.initial_thread().await.unwrap().unwrap();
        Self { world, workspace, directory, agent, thread }
    }

    /// Installs agents in another workspace of the same world.
    pub(crate) async fn second_directory(&self) -> (Ref<AgentDirectoryObject>, Ref<AgentObject>) {
        let workspace = self.world.workspace().await;
        let input =
            AgentWorkspaceInstallInput { instructions: String::new(), settings: "{}".to_owned() };
        let directory =
            AgentWorkspace::on(&self.world.session, workspace).install(&input).await.unwrap();
        let client = AgentDirectory::on(&self.world.session, directory);
        (directory, client.default_agent().await.unwrap().unwrap())
    }

    pub(crate) fn workspace(&self) -> quixos_package::agent_runtime::AgentWorkspaceClient<'_> {
        AgentWorkspace::on(&self.world.session, self.workspace)
    }

    pub(crate) fn directory(&self) -> AgentDirectoryClient<'_> {
        AgentDirectory::on(&self.world.session, self.directory)
    }

    pub(crate) fn agent(&self) -> AgentClient<'_> {
        Agent::on(&self.world.session, self.agent)
    }

    pub(crate) fn thread(&self) -> AgentThreadClient<'_> {
        AgentThread::on(&self.world.session, self.thread)
    }

    pub(crate) fn thread_at(&self, thread: Ref<AgentThreadObject>) -> AgentThreadClient<'_> {
        AgentThread::on(&self.world.session, thread)
    }

    pub(crate) fn request(&self, request: Request) -> AgentRequestClient<'_> {
        AgentRequest::on(&self.world.session, request)
    }

    pub(crate) fn item(&self, item: Ref<AgentItemObject>) -> AgentItemClient<'_> {
        AgentItem::on(&self.world.session, item)
    }

    pub(crate) fn question(&self, question: Ref<AgentQuestionObject>) -> AgentQuestionClient<'_> {
        AgentQuestion::on(&self.world.session, question)
    }

    pub(crate) fn document(&self, document: Ref<DocumentObject>) -> DocumentClient<'_> {
        Document::on(&self.world.session, document)
    }

    pub(crate) async fn directory_data(&self) -> DirectoryData {
        self.directory().data().await.unwrap()
    }

    pub(crate) async fn agent_data(&self) -> AgentData {
        self.agent().data().await.unwrap()
    }

    pub(crate) async fn thread_data(&self) -> ThreadData {
        self.thread().data().await.unwrap()
    }

    pub(crate) async fn admission(&self, request: Request) -> RequestData {
        self.request(request).admission().await.unwrap()
    }

    pub(crate) async fn progress(&self, request: Request) -> RequestState {
        self.request(request).progress().await.unwrap()
    }

    pub(crate) async fn status(&self, request: Request) -> String {
        self.progress(request).await.status
    }

    pub(crate) async fn item_data(&self, item: Ref<AgentItemObject>) -> ItemData {
        self.item(item).data().await.unwrap()
    }

    pub(crate) async fn question_data(&self, question: Ref<AgentQuestionObject>) -> QuestionData {
        self.question(question).data().await.unwrap()
    }

    /// Creates a document to talk about.
    pub(crate) async fn new_document(&self, presentable: bool) -> Ref<DocumentObject> {
        let data = DocumentData { title: "Plan".to_owned(), body: "…".to_owned(), presentable };
        Workspace::on(&self.world.session, self.workspace).create_document(&data).await.unwrap()
    }

    /// Says which profiles there are, and whether anybody is.
    pub(crate) async fn advertise(&self, profiles: &str, availability: &str) {
        let input = directory_advertise::Input {
            profiles: profiles.to_owned(),
            availability: availability.to_owned(),
        };
        self.directory().advertise(&input).await.unwrap();
    }

    /// Changes the settings of the default agent.
    pub(crate) async fn set(&self, settings: &str) {
        let settings = Some(settings.to_owned());
        self.update(&agent_update::Input { settings, ..unchanged() }).await.unwrap();
    }

    /// Switches the default agent on or off.
    pub(crate) async fn enable(&self, enabled: bool) {
        let enabled = Some(enabled);
        self.update(&agent_update::Input { enabled, ..unchanged() }).await.unwrap();
    }

    pub(crate) async fn update(&self, input: &agent_update::Input) -> Result<(), CallError> {
        self.agent().update(input).await
    }

    /// Asks for admission into the first thread.
    pub(crate) fn door(&self, submission: AgentSubmission) -> directory_admit::Input {
        directory_admit::Input {
            agent: self.agent,
            thread: Some(self.thread),
            submission,
            optional_work: false,
        }
    }

    /// Asks for admission and returns why it is refused, having seen that nothing changed.
    pub(crate) async fn refusal(&self, input: &directory_admit::Input) -> String {
        let refused = self.world.keeps(self.directory().admit(input)).await;
        let AgentAdmission { accepted, reason, thread, request } = refused;
        assert_eq!((accepted, thread, request), (false, None, None));
        reason.unwrap()
    }

    /// Admits a submission into the first thread.
    pub(crate) async fn admitted(&self, submission: AgentSubmission) -> Request {
        let admission = self.directory().admit(&self.door(submission)).await.unwrap();
        assert_eq!(admission.reason, None);
        admission.request.unwrap()
    }

    /// Returns a request in the queue.
    pub(crate) async fn queued(&self) -> Request {
        self.admitted(submission("Write it down")).await
    }

    /// Returns a request that the worker holds, at generation 1.
    pub(crate) async fn running(&self) -> Request {
        let request = self.queued().await;
        assert!(self.request(request).claim(&claim(WORKER, 0)).await.unwrap().claimed);
        request
    }

    /// Returns a request that has ended, and whose end was not told yet.
    pub(crate) async fn finished(&self, status: &str) -> Request {
        let request = self.running().await;
        assert!(self.request(request).finish(&super::finish(status)).await.unwrap());
        request
    }
}

/// Returns an update that changes nothing.
pub(crate) fn unchanged() -> agent_update::Input {
    agent_update::Input { name: None, description: None, enabled: None, settings: None }
}
