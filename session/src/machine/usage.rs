//! What a session and its turn have spent.

use quixos_runtime::CallError;
use serde_json::Value;

use super::Machine;
use crate::sessions::Usage;
use crate::usage::{self, Decimal};

impl Machine<'_, '_> {
    /// Adds what a model call used to the session, and to its turn if that goes on.
    pub(crate) fn add_usage(
        &mut self,
        turn: Option<&str>,
        counts: Option<&Value>,
        cost: Option<&str>,
    ) -> Result<(), CallError> {
        usage::add(&mut self.data.usage, counts, cost)?;
        match &mut self.data.turn {
            Some(active) if turn == Some(active.id.as_str()) => {
                usage::add(&mut active.usage, counts, cost)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Adds what a child used: to the totals of sub-agents, and to the turn that goes on.
    pub(crate) fn add_child_usage(&mut self, spent: &Usage) -> Result<(), CallError> {
        usage::add_all(&mut self.data.sub_agents, spent)?;
        match &mut self.data.turn {
            Some(active) => usage::add_all(&mut active.sub_agents, spent),
            None => Ok(()),
        }
    }

    /// Returns the dollars that the session and its sub-agents have cost.
    pub(super) fn spent(&self) -> Result<Decimal, CallError> {
        let own = usage::amount(&self.data.usage.cost)?;
        let others = usage::amount(&self.data.sub_agents.cost)?;
        own.plus(others).ok_or_else(|| CallError::Limit {
            message: "what the session has cost has too many digits".to_owned(),
        })
    }
}
