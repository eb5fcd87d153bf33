//! What makes drivers look: every commit that touches a session, and now and then all of them.
//!
//! Commits are followed once they are durable, so nothing is begun that a crash could take back.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use quixos_package::agent_runtime::{
    Agent, AgentDirectory, AgentQuestion, AgentQuestionObject, AgentRequest, AgentRequestObject,
    AgentThread,
};
use quixos_runtime::{CallError, HistoryEntry, Ref};
use quixos_session::sessions::{
    Session, SessionObject, SessionRegistry, SessionRegistryAdoptInput,
};
use tokio::sync::Notify;
use tracing::warn;

use crate::driver;
use crate::engine::Shared;

/// How many sessions of those that are awake are read at a time.
const PAGE: usize = 256;
/// How long to wait after a look that failed for a reason that may pass.
const PAUSE: Duration = Duration::from_millis(500);

/// Pokes whoever drives a session that a commit touched, and sweeps now and then.
pub(crate) async fn follow(shared: Arc<Shared>, after: u64) {
    let mut feed = shared.runtime.feed(after);
    let mut sweeps = tokio::time::interval(shared.options.sweep);
    sweeps.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let looked = tokio::select! {
            entry = feed.next() => match entry {
                Ok(Some(entry)) => {
                    let looked = look_at(&shared, &entry).await;
                    shared.looked_at.store(entry.commit, Ordering::Relaxed);
                    looked
                }
                Ok(None) => return,
                Err(error) => Err(error),
            },
            _ = sweeps.tick() => sweep(&shared).await,
        };
        if let Err(error) = looked {
            warn!(%error, "what was committed could not be looked at");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Pokes the sessions that a commit touched. One that touched requests or questions and no session
/// came by another door: what it says to their sessions is taken there.
async fn look_at(shared: &Arc<Shared>, entry: &HistoryEntry) -> Result<(), CallError> {
    let mut requests = BTreeSet::new();
    let mut touched_session = false;
    for touched in &entry.touched {
        if let Some(session) = Ref::<SessionObject>::from_object(touched.object) {
            touched_session = true;
            poke(shared, session);
        }
        if let Some(request) = Ref::<AgentRequestObject>::from_object(touched.object) {
            requests.insert(request);
        }
        if let Some(question) = Ref::<AgentQuestionObject>::from_object(touched.object) {
            requests.insert(AgentQuestion::on(&shared.caller, question).request().await?);
        }
    }
    if touched_session || requests.is_empty() {
        return Ok(());
    }
    let registry = SessionRegistry::on(&shared.caller, shared.registry);
    for request in requests {
        let thread = AgentRequest::on(&shared.caller, request).thread().await?;
        for session in registry.threads_at(&thread.to_string()).await? {
            Session::on(&shared.caller, session).wake().await?;
        }
        adopt(shared, request).await?;
    }
    Ok(())
}

/// Lets whoever drives a session look at it, and makes a driver where there is none.
pub(crate) fn poke(shared: &Arc<Shared>, session: Ref<SessionObject>) {
    let mut drivers = shared.drivers.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(driver) = drivers.get(&session) {
        driver.notify_one();
        return;
    }
    let wake = Arc::new(Notify::new());
    wake.notify_one();
    drivers.insert(session, Arc::clone(&wake));
    drop(drivers);
    shared.spawn(driver::drive(Arc::clone(shared), session, wake));
}

/// Pokes every session that has something to do, and takes up requests that came by other doors.
pub(crate) async fn sweep(shared: &Arc<Shared>) -> Result<(), CallError> {
    let registry = SessionRegistry::on(&shared.caller, shared.registry);
    let mut after = None;
    loop {
        let page = registry.awake_page(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(*last);
        for session in page {
            poke(shared, session);
        }
    }
    adopt_pending(shared).await
}

/// Takes up the requests of the directory that nobody told of.
async fn adopt_pending(shared: &Shared) -> Result<(), CallError> {
    let registry = SessionRegistry::on(&shared.caller, shared.registry);
    let directory = registry.directory().await?;
    for request in AgentDirectory::on(&shared.caller, directory).pending().await? {
        adopt(shared, request).await?;
    }
    Ok(())
}

/// Takes up a request of the directory, if it is queued for an agent that somebody decides for. One
/// that a session knows stays as it is.
async fn adopt(shared: &Shared, request: Ref<AgentRequestObject>) -> Result<(), CallError> {
    let registry = SessionRegistry::on(&shared.caller, shared.registry);
    let work = AgentRequest::on(&shared.caller, request);
    let is_elsewhere = work.directory().await? != registry.directory().await?;
    if is_elsewhere || work.progress().await?.status != "queued" {
        return Ok(());
    }
    let thread = work.thread().await?;
    let agent = AgentThread::on(&shared.caller, thread).agent().await?;
    let agent_id = Agent::on(&shared.caller, agent).data().await?.name;
    if !shared.roster.knows(&agent_id) {
        return Ok(());
    }
    let tenant = shared.options.tenant.clone();
    let adopt = SessionRegistryAdoptInput { agent_id, tenant, request };
    if let Err(error) = registry.adopt(&adopt).await {
        // A request may have ended meanwhile, or its session be cancelled: it stays as it is.
        warn!(%request, %error, "a request could not be taken up");
    }
    Ok(())
}
