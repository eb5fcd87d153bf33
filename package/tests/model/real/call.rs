//! Does a step to the runtime, through the typed clients.

use quixos_package::agent_runtime::{
    Agent, AgentAdmission, AgentDirectory, AgentItem, AgentQuestion, AgentRequest, AgentThread,
    AgentWorkspace, AgentWorkspaceInstallInput, agent_create_thread, agent_update, directory_admit,
    directory_advertise, directory_create_thread, directory_initialize, directory_reconcile_repair,
    item_checkpoint, question_answer, request_ask, request_claim, request_correct, request_finish,
    request_steer, request_transition, request_upsert_item,
};
use quixos_package::workspace::{Document, DocumentEdit};
use quixos_runtime::{CallError, Fence, Session};

use super::{Real, at, number, time};
use crate::answer::{Answer, Failure, Outcome};
use crate::plain::Model;
use crate::step::{Step, Writing};
use crate::support::{answer, ask, finish, minute, new_agent, repair, steer};

impl Real {
    /// Does a step; `before` is the model as it was before the same step.
    pub(crate) async fn step(&mut self, step: &Step, before: &Model) -> Outcome {
        self.call(step, before).await.map_err(Failure::from)
    }

    async fn call(&mut self, step: &Step, before: &Model) -> Result<Answer, CallError> {
        let session = &self.world.session.clone();
        let owned = |text: &str| text.to_owned();
        match step {
            Step::Wait(minutes) => {
                self.world.wait(u64::from(*minutes));
                Ok(Answer::Done)
            }
            Step::Reopen => {
                self.world.reopen();
                Ok(Answer::Done)
            }
            Step::Present { subject, presentable } => {
                let edit =
                    DocumentEdit { title: None, body: None, presentable: Some(*presentable) };
                Document::on(session, self.subjects[*subject]).edit(&edit).await?;
                Ok(Answer::Done)
            }
            Step::Install { workspace, settings } => {
                let input = AgentWorkspaceInstallInput {
                    instructions: owned("Be kind."),
                    settings: owned(settings),
                };
                let workspace = AgentWorkspace::on(session, self.workspaces[*workspace]);
                let directory = workspace.install(&input).await?;
                let number = number(&mut self.directories, directory);
                let directory = AgentDirectory::on(session, directory);
                let agent = directory.default_agent().await?.unwrap();
                let thread = directory.initial_thread().await?.unwrap();
                self.agent(agent);
                self.thread(thread);
                Ok(Answer::Directory(number))
            }
            Step::Initialize { directory, settings } => {
                let input = directory_initialize::Input {
                    instructions: owned("Be strict."),
                    settings: owned(settings),
                };
                AgentDirectory::on(session, at(&self.directories, *directory))
                    .initialize(&input)
                    .await?;
                Ok(Answer::Done)
            }
            Step::CreateAgent { directory, settings } => {
                let directory = AgentDirectory::on(session, at(&self.directories, *directory));
                let agent = directory.create_agent(&new_agent("writer", settings)).await?;
                Ok(Answer::Agent(self.agent(agent)))
            }
            Step::Advertise { directory, profiles, availability } => {
                let input = directory_advertise::Input {
                    profiles: owned(profiles),
                    availability: owned(availability),
                };
                AgentDirectory::on(session, at(&self.directories, *directory))
                    .advertise(&input)
                    .await?;
                Ok(Answer::Done)
            }
            Step::CreateThread { directory, agent, at: when, contexts } => {
                let input = directory_create_thread::Input {
                    agent: at(&self.agents, *agent),
                    title: owned("Talk"),
                    kind: owned("chat"),
                    created_at: time(*when),
                    contexts: self.subjects(contexts),
                };
                let directory = AgentDirectory::on(session, at(&self.directories, *directory));
                let thread = directory.create_thread(&input).await?;
                Ok(Answer::Thread(self.thread(thread)))
            }
            Step::Admit { directory, agent, thread, submission, optional } => {
                let input = directory_admit::Input {
                    agent: at(&self.agents, *agent),
                    thread: thread.map(|thread| at(&self.threads, thread)),
                    submission: self.submission(submission),
                    optional_work: *optional,
                };
                let directory = AgentDirectory::on(session, at(&self.directories, *directory));
                let admission = directory.admit(&input).await?;
                self.admitted(admission).await
            }
            Step::Repair { directory, key, text, times, attempt, generation } => {
                let input = directory_reconcile_repair::Input {
                    text: owned(text),
                    created_at: time(times[0]),
                    confirmed_at: time(times[1]),
                    started_at: time(times[2]),
                    attempt: owned(attempt),
                    generation: *generation,
                    ..repair(key)
                };
                let directory = AgentDirectory::on(session, at(&self.directories, *directory));
                let request = directory.reconcile_repair(&input).await?;
                Ok(Answer::Request(self.request(request).await?))
            }
            Step::Update { agent, enabled, settings } => {
                let input = agent_update::Input {
                    name: None,
                    description: None,
                    enabled: *enabled,
                    settings: settings.map(owned),
                };
                Agent::on(session, at(&self.agents, *agent)).update(&input).await?;
                Ok(Answer::Done)
            }
            Step::AgentThread { agent, at: when, contexts } => {
                let input = agent_create_thread::Input {
                    title: owned("Talk"),
                    kind: owned("chat"),
                    created_at: time(*when),
                    contexts: self.subjects(contexts),
                };
                let agent = Agent::on(session, at(&self.agents, *agent));
                let thread = agent.create_thread(&input).await?;
                Ok(Answer::Thread(self.thread(thread)))
            }
            Step::AgentRequest { agent, submission, optional } => {
                let submission = self.submission(submission);
                let agent = Agent::on(session, at(&self.agents, *agent));
                let admission = if *optional {
                    agent.try_request(&submission).await?
                } else {
                    agent.request(&submission).await?
                };
                self.admitted(admission).await
            }
            Step::Send { thread, submission } => {
                let submission = self.submission(submission);
                let thread = AgentThread::on(session, at(&self.threads, *thread));
                let request = thread.send(&submission).await?;
                Ok(Answer::Request(self.request(request).await?))
            }
            Step::Rename { thread, title } => {
                AgentThread::on(session, at(&self.threads, *thread)).rename(title).await?;
                Ok(Answer::Done)
            }
            Step::Archive { thread, archived } => {
                AgentThread::on(session, at(&self.threads, *thread)).archive(*archived).await?;
                Ok(Answer::Done)
            }
            Step::Claim { request, attempt, expected, at: when, recover } => {
                let input = request_claim::Input {
                    attempt: owned(attempt),
                    expected_generation: *expected,
                    started_at: time(*when),
                    recover: *recover,
                };
                self.claim(session, *request, &input).await
            }
            Step::Reclaim { request, attempt } => {
                let found = &before.requests[*request % before.requests.len()];
                let input = request_claim::Input {
                    attempt: owned(attempt),
                    expected_generation: found.progress.generation,
                    started_at: minute(3),
                    recover: true,
                };
                self.claim(session, *request, &input).await
            }
            Step::Transition { request, fence, status, reason } => {
                let Fence { attempt, generation } = fence_of(before, *request, fence);
                let input = request_transition::Input {
                    attempt,
                    generation,
                    status: owned(status),
                    reason: owned(reason),
                };
                let request = AgentRequest::on(session, at(&self.requests, *request));
                Ok(Answer::Yes(request.transition(&input).await?))
            }
            Step::Finish { request, fence, status, usage, at: when } => {
                let Fence { attempt, generation } = fence_of(before, *request, fence);
                let input = request_finish::Input {
                    attempt,
                    generation,
                    usage: usage.map(owned),
                    ended_at: time(*when),
                    ..finish(status)
                };
                let request = AgentRequest::on(session, at(&self.requests, *request));
                Ok(Answer::Yes(request.finish(&input).await?))
            }
            Step::Cancel { request } => {
                let request = AgentRequest::on(session, at(&self.requests, *request));
                Ok(Answer::Yes(request.cancel().await?))
            }
            Step::Publish { request } => {
                let request = AgentRequest::on(session, at(&self.requests, *request));
                Ok(Answer::Yes(request.publish_completion().await?))
            }
            Step::Correct { request, errors, most, at: when } => {
                let input = request_correct::Input {
                    errors: vec![owned("wrong"); *errors],
                    max_corrections: *most,
                    created_at: time(*when),
                };
                let request = AgentRequest::on(session, at(&self.requests, *request));
                match request.correct(&input).await? {
                    Some(correction) => Ok(Answer::Request(self.request(correction).await?)),
                    None => Ok(Answer::Nothing),
                }
            }
            Step::Steer { request, fence, key, text, profile, at: when } => {
                let Fence { attempt, generation } = fence_of(before, *request, fence);
                let input = request_steer::Input {
                    attempt,
                    generation,
                    text: owned(text),
                    profile: profile.map(owned),
                    created_at: time(*when),
                    ..steer(key)
                };
                let request = AgentRequest::on(session, at(&self.requests, *request));
                let item = request.steer(&input).await?;
                Ok(Answer::Item(number(&mut self.items, item)))
            }
            Step::Upsert { request, writing } => {
                let found = *request % before.requests.len();
                let Fence { attempt, generation } = before.fence(found, &writing.fence);
                let input = request_upsert_item::Input {
                    attempt,
                    generation,
                    data: written(before, found, writing),
                    subject: writing.subject.map(|subject| self.subjects[subject].into()),
                };
                let request = AgentRequest::on(session, self.requests[found]);
                let item = request.upsert_item(&input).await?;
                Ok(Answer::Item(number(&mut self.items, item)))
            }
            Step::Checkpoint { item, writing } => {
                let found = *item % before.items.len();
                let request = before.items[found].request;
                let Fence { attempt, generation } = before.fence(request, &writing.fence);
                let data = written(before, request, writing);
                let input = item_checkpoint::Input { attempt, generation, data };
                AgentItem::on(session, self.items[found]).checkpoint(&input).await?;
                Ok(Answer::Done)
            }
            Step::Ask { request, fence, key, options, at: when, expires } => {
                let Fence { attempt, generation } = fence_of(before, *request, fence);
                let input = request_ask::Input {
                    attempt,
                    generation,
                    options: owned(options),
                    created_at: time(*when),
                    expires_at: time(*expires),
                    ..ask(key)
                };
                let request = AgentRequest::on(session, at(&self.requests, *request));
                let question = request.ask(&input).await?;
                Ok(Answer::Question(number(&mut self.questions, question)))
            }
            Step::Answer { question, fence, answer: text, at: when } => {
                let found = *question % before.questions.len();
                let request = before.questions[found].request;
                let Fence { attempt, generation } = before.fence(request, fence);
                let input = question_answer::Input {
                    attempt,
                    generation,
                    answered_at: time(*when),
                    ..answer(text)
                };
                let question = AgentQuestion::on(session, self.questions[found]);
                Ok(Answer::Yes(question.answer(&input).await?))
            }
            Step::TakeBack { question } => {
                AgentQuestion::on(session, at(&self.questions, *question)).cancel().await?;
                Ok(Answer::Done)
            }
        }
    }

    async fn claim(
        &self,
        session: &Session,
        request: usize,
        input: &request_claim::Input,
    ) -> Result<Answer, CallError> {
        let request = AgentRequest::on(session, at(&self.requests, request));
        let request_claim::Output { claimed, generation } = request.claim(input).await?;
        Ok(Answer::Claim { claimed, generation })
    }

    async fn admitted(&mut self, admission: AgentAdmission) -> Result<Answer, CallError> {
        let AgentAdmission { accepted, reason, thread, request } = admission;
        if let Some(reason) = reason {
            assert_eq!((accepted, thread, request), (false, None, None));
            return Ok(Answer::Refused(reason));
        }
        assert!(accepted);
        let thread = self.thread(thread.unwrap());
        Ok(Answer::Admitted { thread, request: self.request(request.unwrap()).await? })
    }
}

fn fence_of(before: &Model, request: usize, given: &crate::step::Given) -> Fence {
    before.fence(request % before.requests.len(), given)
}

/// Returns what a step writes, also at a time that is none.
fn written(
    before: &Model,
    request: usize,
    writing: &Writing,
) -> quixos_package::agent_runtime::ItemData {
    let data = before.written(request, writing, writing.at.unwrap_or_default());
    let at = time(writing.at);
    quixos_package::agent_runtime::ItemData { created_at: at.clone(), updated_at: at, ..data }
}
