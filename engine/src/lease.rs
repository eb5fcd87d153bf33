//! Leases: how engines on one store know of each other who lives.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use quixos_runtime::CallError;
use quixos_session::sessions::{Lease, SessionRegistry};
use tracing::warn;

use crate::engine::Shared;

/// Says that this engine lives, for as long as its lease runs.
pub(crate) async fn renew(shared: &Shared) -> Result<(), CallError> {
    let lease = chrono::Duration::from_std(shared.options.lease).unwrap_or(chrono::Duration::MAX);
    let until = shared.clock.now().checked_add_signed(lease).unwrap_or(DateTime::<Utc>::MAX_UTC);
    let until = until.to_rfc3339_opts(SecondsFormat::Millis, true);
    let lease = Lease { engine: shared.options.id.clone(), until };
    SessionRegistry::on(&shared.caller, shared.registry).lease(&lease).await
}

/// Renews the lease three times in the time that it runs.
pub(crate) async fn keep(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(shared.options.lease / 3).await;
        if let Err(error) = renew(&shared).await {
            warn!(%error, "the lease could not be renewed");
        }
    }
}

/// Says whether an engine counts as alive.
pub(crate) async fn is_alive(shared: &Shared, engine: &str) -> Result<bool, CallError> {
    let leases = SessionRegistry::on(&shared.caller, shared.registry).leases().await?;
    let now = shared.clock.now();
    Ok(leases
        .iter()
        .filter(|lease| lease.engine == engine)
        .any(|lease| DateTime::parse_from_rfc3339(&lease.until).is_ok_and(|until| until > now)))
}
