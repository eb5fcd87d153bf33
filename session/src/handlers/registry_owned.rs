//! `registry_owned`: the sessions that an owner began, a page at a time, the newest first.

use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::machine::waiting;
use crate::sessions::registry_owned::{Context, Handler, Input, Output};
use crate::sessions::{Listed, SessionObject};
use crate::shelf;

/// The most sessions in one page.
const PAGE: usize = 200;

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { tenant, owner_id, after, limit } = input;
        if after.as_deref().is_some_and(|after| !shelf::is_place(after)) {
            return Err(CallError::invalid("after", "is not from where a list goes on"));
        }
        let prefix = shelf::prefix(&tenant, &owner_id);
        let limit = usize::try_from(limit).unwrap_or(PAGE).clamp(1, PAGE);
        let behind = format!("{prefix}{}", after.unwrap_or_default());
        let mut found = cx.owned().page(Some(&behind), limit + 1)?;
        found.retain(|(key, _)| key.starts_with(&prefix));
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| has_more).map(|(_, last)| shelf::place(*last));
        let sessions = found.into_iter().map(|(_, session)| listed(cx, session));
        Ok(Output { sessions: sessions.collect::<Result<_, _>>()?, next })
    }
}

fn listed(cx: &Context<'_>, session: Ref<SessionObject>) -> Result<Listed, CallError> {
    let (binding, data) = (cx.session(session).binding()?, cx.session(session).data()?);
    let thread = cx.conversation(cx.session(session).thread()?).data()?;
    Ok(Listed {
        session,
        session_id: binding.session_id,
        agent_id: binding.agent_id,
        title: thread.title,
        archived: thread.archived,
        cancelled: data.cancelled,
        waiting: data.turn.as_ref().is_some_and(|turn| turn.waiting != waiting::NOTHING),
        turn: data.turn.map(|turn| turn.id),
        created_at: binding.created_at,
        updated_at: thread.updated_at,
    })
}
