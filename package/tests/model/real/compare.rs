//! All that is stored, against the model.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use quixos_package::agent_runtime::{
    Agent, AgentCompletion, AgentDirectory, AgentItem, AgentQuestion, AgentRequest, AgentThread,
    AgentWorkspace, EventStream, RequestData,
};
use quixos_runtime::{Atom, Interface, InterfaceRef, Ref};

use super::Real;
use crate::plain::{Configuration, Model};

impl Real {
    pub(crate) async fn findings(&self) -> Vec<String> {
        self.world.findings().await
    }

    pub(crate) async fn compare(&self, model: &Model) -> Result<(), TestCaseError> {
        self.compare_directories(model).await?;
        self.compare_agents(model).await?;
        self.compare_threads(model).await?;
        self.compare_requests(model).await?;
        self.compare_writings(model).await
    }

    async fn compare_directories(&self, model: &Model) -> Result<(), TestCaseError> {
        for (workspace, installed) in self.workspaces.iter().zip(&model.installed) {
            let found = AgentWorkspace::on(&self.world.session, *workspace).agents().await.unwrap();
            prop_assert_eq!(found, installed.map(|number| self.directories[number]));
        }
        prop_assert_eq!(self.directories.len(), model.directories.len());
        for (directory, expected) in self.directories.iter().zip(&model.directories) {
            let client = AgentDirectory::on(&self.world.session, *directory);
            prop_assert_eq!(&client.data().await.unwrap(), &expected.data);
            let agent = expected.default_agent.map(|number| self.agents[number]);
            prop_assert_eq!(client.default_agent().await.unwrap(), agent);
            let thread = expected.initial_thread.map(|number| self.threads[number]);
            prop_assert_eq!(client.initial_thread().await.unwrap(), thread);
            let pending = self.numbers(client.pending().await.unwrap());
            prop_assert_eq!(&pending, &expected.pending);
            let notifications = self.numbers(client.notifications().await.unwrap());
            prop_assert_eq!(&notifications, &expected.notifications);
            let repairs: Vec<_> = expected
                .repairs
                .iter()
                .map(|(key, number)| (key.clone(), self.requests[*number]))
                .collect();
            prop_assert_eq!(client.repairs().await.unwrap(), repairs);
        }
        Ok(())
    }

    async fn compare_agents(&self, model: &Model) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.agents.len(), model.agents.len());
        for (agent, expected) in self.agents.iter().zip(&model.agents) {
            let client = Agent::on(&self.world.session, *agent);
            prop_assert_eq!(&client.data().await.unwrap(), &expected.data);
            prop_assert_eq!(&client.instructions().await.unwrap(), &expected.instructions);
            let directory = client.directory().await.unwrap();
            prop_assert_eq!(directory, self.directories[expected.directory]);
            let stream = client.completions().await.unwrap();
            let told = EventStream::on(&self.world.session, stream).events(0, 1000).await.unwrap();
            let expected: Vec<_> = expected
                .told
                .iter()
                .map(|(request, thread, status)| AgentCompletion {
                    request: self.requests[*request],
                    thread: self.threads[*thread],
                    status: status.clone(),
                })
                .collect();
            prop_assert_eq!(told, expected);
        }
        Ok(())
    }

    async fn compare_threads(&self, model: &Model) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.threads.len(), model.threads.len());
        for (thread, expected) in self.threads.iter().zip(&model.threads) {
            let client = AgentThread::on(&self.world.session, *thread);
            prop_assert_eq!(&client.data().await.unwrap(), &expected.data);
            let directory = client.directory().await.unwrap();
            prop_assert_eq!(directory, self.directories[expected.directory]);
            prop_assert_eq!(client.agent().await.unwrap(), self.agents[expected.agent]);
            let active = expected.active.map(|number| self.requests[number]);
            prop_assert_eq!(client.active().await.unwrap(), active);
            self.compare_contexts(client.contexts().await.unwrap(), &expected.contexts)?;
        }
        Ok(())
    }

    async fn compare_requests(&self, model: &Model) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.requests.len(), model.requests.len());
        for (request, expected) in self.requests.iter().zip(&model.requests) {
            let client = AgentRequest::on(&self.world.session, *request);
            let configuration = self.configuration(&expected.configuration);
            let admission = RequestData {
                configuration_digest: blake3::hash(configuration.as_bytes()).to_hex().to_string(),
                configuration,
                ..expected.admission.clone()
            };
            prop_assert_eq!(client.admission().await.unwrap(), admission);
            prop_assert_eq!(&client.progress().await.unwrap(), &expected.progress);
            prop_assert_eq!(client.spawned().await.unwrap(), expected.spawned);
            prop_assert_eq!(client.thread().await.unwrap(), self.threads[expected.thread]);
            let directory = client.directory().await.unwrap();
            prop_assert_eq!(directory, self.directories[expected.directory]);
            self.compare_contexts(client.contexts().await.unwrap(), &expected.contexts)?;
            let link = |number: Option<usize>| number.map(|number| self.requests[number]);
            prop_assert_eq!(client.related().await.unwrap(), link(expected.related));
            prop_assert_eq!(client.retry_of().await.unwrap(), link(expected.retry_of));
            prop_assert_eq!(client.root().await.unwrap(), link(expected.root));
            prop_assert_eq!(client.correction().await.unwrap(), link(expected.correction));
        }
        Ok(())
    }

    async fn compare_writings(&self, model: &Model) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.items.len(), model.items.len());
        for (item, expected) in self.items.iter().zip(&model.items) {
            let client = AgentItem::on(&self.world.session, *item);
            prop_assert_eq!(&client.data().await.unwrap(), &expected.data);
            prop_assert_eq!(client.thread().await.unwrap(), self.threads[expected.thread]);
            prop_assert_eq!(client.request().await.unwrap(), self.requests[expected.request]);
            let subject = expected.subject.map(|number| self.subjects[number].into());
            prop_assert_eq!(client.subject().await.unwrap(), subject);
            let mount = client.presentation_mount().await.unwrap();
            prop_assert_eq!(mount.is_some(), expected.subject.is_some());
        }
        prop_assert_eq!(self.questions.len(), model.questions.len());
        for (question, expected) in self.questions.iter().zip(&model.questions) {
            let client = AgentQuestion::on(&self.world.session, *question);
            prop_assert_eq!(&client.data().await.unwrap(), &expected.data);
            prop_assert_eq!(client.request().await.unwrap(), self.requests[expected.request]);
        }
        Ok(())
    }

    fn compare_contexts<I: Interface>(
        &self,
        found: Vec<(String, InterfaceRef<I>)>,
        expected: &BTreeSet<usize>,
    ) -> Result<(), TestCaseError> {
        let found: Vec<_> = found.into_iter().map(|(key, target)| (key, target.object())).collect();
        let subject = |number: &usize| {
            let subject = self.subjects[*number];
            (self.world.text(subject), subject.object())
        };
        prop_assert_eq!(found, expected.iter().map(subject).collect::<Vec<_>>());
        Ok(())
    }

    fn numbers<A: Atom>(&self, requests: Vec<Ref<A>>) -> BTreeSet<usize> {
        let position = |request: Ref<A>| {
            self.requests.iter().position(|it| it.object() == request.object()).unwrap()
        };
        requests.into_iter().map(position).collect()
    }

    fn configuration(&self, of: &Configuration) -> String {
        match of {
            Configuration::Verbatim(text) => text.clone(),
            Configuration::Frozen { agent, instructions, profile, settings } => {
                let agent = self.world.text(self.agents[*agent]);
                let profile = serde_json::json!(profile);
                let instructions = serde_json::json!(instructions);
                // The settings of histories are canonical as they are written.
                format!(
                    r#"{{"agent":"{agent}","instructions":{instructions},"profile":{profile},"settings":{settings}}}"#
                )
            }
        }
    }
}
