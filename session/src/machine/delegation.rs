//! Sub-agents: sessions of their own that answer a call of this one.
//!
//! A parent stops its children; a child tells its parent of its end. Neither enters a session that
//! is in the middle of a step: a child that its parent stops stays silent, and a parent leaves the
//! child alone that is telling.

use quixos_protocol::ErrorCode;
use quixos_runtime::{CallError, Ref};
use serde_json::Value;

use super::Machine;
use super::settle::{Failure, Tell};
use crate::sessions::{
    Authority, CallData, CallFailure, Cancel, ChildEnded, SessionObject, Spawned, Usage,
};
use crate::status::{PENDING, SUB_AGENT, SYSTEM};
use crate::stored::{self, StoredCall, StoredOutcome};

impl Machine<'_, '_> {
    /// Says whether a child of an id is there, or asked for.
    pub(super) fn has_spawned(&self, session: &str) -> Result<bool, CallError> {
        for call in self.live.calls.iter().filter(|call| call.kind == SUB_AGENT) {
            if let StoredCall::SubAgent { session_id, .. } = stored::call_of(self.cx, call)?
                && session_id == session
            {
                return Ok(true);
            }
        }
        Ok(self.child(session)?.is_some())
    }

    /// Returns the child of an id.
    fn child(&self, session: &str) -> Result<Option<Ref<SessionObject>>, CallError> {
        let registry = self.cx.home(self.cx.registry().resolve()?);
        let Some(&found) = registry.sessions_at(session)?.first() else { return Ok(None) };
        let parent = self.cx.relative(found).parent()?;
        Ok((parent == Some(self.cx.receiver())).then_some(found))
    }

    /// Notes that the session of a sub-agent is there, or cannot be made.
    pub(super) fn spawned(&mut self, spawned: &Spawned) -> Result<(), CallError> {
        self.require_fence(&spawned.fence)?;
        let is_waiting = |call: &&mut CallData| {
            call.id == spawned.call
                && call.kind == SUB_AGENT
                && call.status == PENDING
                && !call.started
        };
        let Some(call) = self.live.calls.iter_mut().find(is_waiting) else {
            self.report.applied = false;
            return Ok(());
        };
        if let Some(error) = &spawned.error {
            let failure = failure("error", error)?;
            return self.call_failed(&spawned.call, &failure, Tell::Worker);
        }
        call.started = true;
        let call = call.clone();
        let StoredCall::SubAgent { session_id, .. } = stored::call_of(self.cx, &call)? else {
            return Ok(());
        };
        self.log_sub_agent_started(&call, &session_id).map(drop)
    }

    /// Notes that a turn of a child has ended; the first one answers the delegation.
    pub(super) fn child_ended(&mut self, child: &ChildEnded) -> Result<(), CallError> {
        self.add_child_usage(&child.usage)?;
        let call = self.call(&child.call).filter(|call| call.kind == SUB_AGENT);
        let request = call.map(|call| stored::call_of(self.cx, call)).transpose()?;
        let answers = matches!(
            request,
            Some(StoredCall::SubAgent { session_id, .. }) if session_id == child.session
        );
        if !answers {
            self.report.applied = false;
            return Ok(());
        }
        let outcome = match &child.error {
            Some(error) => Failure::fatal(error, None).outcome(),
            // A turn that ended because nothing was left to do has nothing to show, and is good.
            None => StoredOutcome::Result { result: text(child.result.as_deref())? },
        };
        self.end_call(&child.call, &outcome, Tell::Worker)
    }

    /// Tells the parent, if there is one, that a turn of this session has ended.
    pub(crate) fn tell_parent(
        &self,
        result: Option<&Value>,
        error: Option<&str>,
        usage: &Usage,
    ) -> Result<(), CallError> {
        let Some(parent) = self.cx.parent().resolve()?.filter(|_| !self.silent) else {
            return Ok(());
        };
        let ended = ChildEnded {
            call: self.binding.delegation.clone(),
            session: self.binding.session_id.clone(),
            result: result.map(Value::to_string),
            error: error.map(str::to_owned),
            usage: usage.clone(),
        };
        self.cx.relative(parent).child_ended(&ended).map(drop)
    }

    /// Cancels a child, and with it its own children.
    pub(super) fn cancel_child(&self, session: &str) -> Result<(), CallError> {
        match self.child(session)? {
            Some(child) => self.cancel_one(child, session),
            None => Ok(()),
        }
    }

    /// Cancels all children.
    pub(crate) fn cancel_children(&self) -> Result<(), CallError> {
        for child in self.cx.relative(self.cx.receiver()).children()? {
            self.cancel_one(child, &self.cx.relative(child).binding()?.session_id)?;
        }
        Ok(())
    }

    fn cancel_one(&self, child: Ref<SessionObject>, session: &str) -> Result<(), CallError> {
        if self.reporting.as_deref() == Some(session) {
            return Ok(());
        }
        let by = Authority {
            class: SYSTEM.to_owned(),
            tenant: self.binding.tenant.clone(),
            owner_id: self.binding.owner_id.clone(),
        };
        self.cx.relative(child).cancel(&Cancel { by, turn: None }).map(drop)
    }
}

/// Reads a failure that somebody outside reports; `path` is the field that it stands in.
pub(super) fn failure(path: &str, failure: &CallFailure) -> Result<Failure, CallError> {
    let code = failure.code.as_ref().map(|code| {
        serde_json::from_value::<ErrorCode>(Value::String(code.clone()))
            .map_err(|error| CallError::invalid(format!("{path}.code"), error.to_string()))
    });
    let detail = failure.detail.as_ref().map(|detail| {
        serde_json::from_str(detail)
            .map_err(|error| CallError::invalid(format!("{path}.detail"), error.to_string()))
    });
    Ok(Failure {
        error: failure.message.clone(),
        retryable: failure.retryable,
        code: code.transpose()?,
        detail: detail.transpose()?,
        retry_after: failure.retry_after,
    })
}

/// Returns what a child was done with as its parent's model reads it.
fn text(result: Option<&str>) -> Result<String, CallError> {
    let result = result.unwrap_or("null");
    Ok(match stored::read_text(result, "what a child was done with")? {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            result.to_owned()
        }
    })
}
