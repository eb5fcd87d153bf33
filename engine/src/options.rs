//! How an engine is to be: who it is, how long its lease runs, how much it does at once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::observer::Observer;
use crate::trace::Tracer;

/// How an engine is to be.
#[derive(Clone)]
pub struct Options {
    /// Its name, the same after a restart: what it drove before, it goes on with at once.
    pub id: String,
    /// The tenant of what no key or token says a tenant of.
    pub tenant: String,
    /// How long it counts as alive after it said so. Another engine takes over what this one
    /// drove once that has run out.
    pub lease: Duration,
    /// Deliveries and model calls at once, over all sessions.
    pub at_once: usize,
    /// How often the text of a running reply is put into the store.
    pub checkpoint: Duration,
    /// How often it looks for work that nothing told it of.
    pub sweep: Duration,
    /// Who is told what it does, if anybody.
    pub observer: Option<Arc<dyn Observer>>,
    /// Who exports the spans of what it does, if anybody.
    pub tracer: Option<Arc<dyn Tracer>>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("lease", &self.lease)
            .field("at_once", &self.at_once)
            .field("checkpoint", &self.checkpoint)
            .field("sweep", &self.sweep)
            .finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            id: "engine".to_owned(),
            tenant: "default".to_owned(),
            lease: Duration::from_secs(30),
            at_once: 1024,
            checkpoint: Duration::from_secs(1),
            sweep: Duration::from_secs(30),
            observer: None,
            tracer: None,
        }
    }
}
