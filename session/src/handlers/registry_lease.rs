//! `registry_lease`: an engine says that it lives, and until when it will have said so again.
//!
//! Leases that have run out are forgotten: an engine that has none is taken for dead, and what it
//! drove may be taken over.

use quixos_runtime::CallError;

use crate::Sessions;
use crate::instant;
use crate::sessions::registry_lease::{Context, Handler, Input, Output};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, lease: Input) -> Result<Output, CallError> {
        if lease.engine.is_empty() {
            return Err(CallError::invalid("engine", "must not be empty"));
        }
        instant::parse(&lease.until)
            .map_err(|error| CallError::invalid("until", error.to_string()))?;
        let mut leases = Vec::new();
        for other in cx.leases().read()? {
            if other.engine != lease.engine && instant::parse(&other.until)? > cx.instant() {
                leases.push(other);
            }
        }
        leases.push(lease);
        cx.leases().write(&leases)
    }
}
