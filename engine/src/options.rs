//! How an engine is to be: who it is, how long its lease runs, how much it does at once.

use std::time::Duration;

/// How an engine is to be.
#[derive(Clone, Debug)]
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
        }
    }
}
