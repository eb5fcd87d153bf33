//! Who works for which agent, and which provider runs which model.

use std::collections::HashMap;
use std::sync::Arc;

use crate::provider::Provider;
use crate::worker::Worker;

/// Who works for which agent, and which provider runs which model.
#[derive(Clone, Default)]
pub struct Roster {
    workers: HashMap<String, Arc<dyn Worker>>,
    providers: Vec<(String, Arc<dyn Provider>)>,
}

impl Roster {
    /// Returns a roster of nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a worker decide for an agent.
    #[must_use]
    pub fn worker(mut self, agent: impl Into<String>, worker: Arc<dyn Worker>) -> Self {
        self.workers.insert(agent.into(), worker);
        self
    }

    /// Lets a provider run the models whose names begin with a prefix. The longest prefix counts;
    /// the empty one is for all others.
    #[must_use]
    pub fn provider(mut self, prefix: impl Into<String>, provider: Arc<dyn Provider>) -> Self {
        self.providers.push((prefix.into(), provider));
        self
    }

    /// Returns who decides for an agent.
    #[must_use]
    pub fn worker_of(&self, agent: &str) -> Option<&Arc<dyn Worker>> {
        self.workers.get(agent)
    }

    /// Returns who runs a model.
    #[must_use]
    pub fn provider_of(&self, model: &str) -> Option<&Arc<dyn Provider>> {
        self.fitting(model).map(|(_, provider)| provider)
    }

    /// Returns the prefix by which a model's provider is found.
    #[must_use]
    pub fn prefix_of(&self, model: &str) -> Option<&str> {
        self.fitting(model).map(|(prefix, _)| prefix.as_str())
    }

    fn fitting(&self, model: &str) -> Option<&(String, Arc<dyn Provider>)> {
        let fitting = self.providers.iter().filter(|(prefix, _)| model.starts_with(prefix));
        fitting.max_by_key(|(prefix, _)| prefix.len())
    }

    /// Says whether anybody decides for an agent.
    #[must_use]
    pub fn knows(&self, agent: &str) -> bool {
        self.workers.contains_key(agent)
    }
}
