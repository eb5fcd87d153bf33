//! What stands before there is a queue: workspaces, directories, agents, threads.

use std::collections::{BTreeMap, BTreeSet};

use quixos_package::agent_runtime::{AgentData, DirectoryData, ThreadData};

use super::{Agent, Directory, Model, Thread, invalid, settings, time};
use crate::answer::{Answer, Failure, Outcome};
use crate::step::Minute;
use crate::support::minute;

impl Model {
    pub(super) fn install(&mut self, workspace: usize, settings: &str) -> Outcome {
        if let Some(directory) = self.installed[workspace] {
            return Ok(Answer::Directory(directory));
        }
        let directory = self.directories.len();
        self.directories.push(Directory {
            data: DirectoryData {
                sequence: 0,
                pending: 0,
                ordinary_pending: 0,
                notification_pending: 0,
                profiles: "[]".to_owned(),
                availability: "offline".to_owned(),
            },
            default_agent: None,
            initial_thread: None,
            pending: BTreeSet::new(),
            notifications: BTreeSet::new(),
            repairs: BTreeMap::new(),
        });
        self.installed[workspace] = Some(directory);
        self.initialize(directory, "Be kind.", settings)?;
        Ok(Answer::Directory(directory))
    }

    pub(super) fn initialize(
        &mut self,
        directory: usize,
        instructions: &str,
        text: &str,
    ) -> Result<(), Failure> {
        settings(text)?;
        if self.directories[directory].default_agent.is_none() {
            let agent = self.create_agent(directory, "default", instructions, text)?;
            let now = Some(self.now);
            let thread = self.create_thread(directory, agent, "", "main", now, &[])?;
            self.directories[directory].default_agent = Some(agent);
            self.directories[directory].initial_thread = Some(thread);
        }
        Ok(())
    }

    pub(super) fn create_agent(
        &mut self,
        directory: usize,
        name: &str,
        instructions: &str,
        text: &str,
    ) -> Result<usize, Failure> {
        settings(text)?;
        self.agents.push(Agent {
            data: AgentData {
                name: name.to_owned(),
                description: String::new(),
                enabled: true,
                settings: text.to_owned(),
            },
            instructions: instructions.to_owned(),
            directory,
            told: Vec::new(),
        });
        Ok(self.agents.len() - 1)
    }

    pub(super) fn create_thread(
        &mut self,
        directory: usize,
        agent: usize,
        title: &str,
        kind: &str,
        at: Minute,
        contexts: &[usize],
    ) -> Result<usize, Failure> {
        let at = time("createdAt", at)?;
        if self.agents[agent].directory != directory {
            return invalid("agent");
        }
        let sequence = &mut self.directories[directory].data.sequence;
        *sequence += 1;
        self.threads.push(Thread {
            data: ThreadData {
                title: title.to_owned(),
                kind: kind.to_owned(),
                archived: false,
                sequence: *sequence,
                pending: 0,
                next_item: 1,
                updated_at: minute(at),
            },
            directory,
            agent,
            contexts: contexts.iter().copied().collect(),
            active: None,
        });
        Ok(self.threads.len() - 1)
    }

    pub(super) fn advertise(
        &mut self,
        directory: usize,
        profiles: &str,
        availability: &str,
    ) -> Outcome {
        if profiles.contains('1') {
            return invalid("profiles[1]");
        }
        if availability == "away" {
            return invalid("availability");
        }
        let data = &mut self.directories[directory].data;
        data.profiles = profiles.to_owned();
        data.availability = availability.to_owned();
        Ok(Answer::Done)
    }

    pub(super) fn update(
        &mut self,
        agent: usize,
        enabled: Option<bool>,
        text: Option<&str>,
    ) -> Outcome {
        let data = &mut self.agents[agent].data;
        if let Some(text) = text {
            settings(text)?;
            data.settings = text.to_owned();
        }
        data.enabled = enabled.unwrap_or(data.enabled);
        Ok(Answer::Done)
    }
}
