//! Versions of state and config: read at the head, written by an answer.

use quixos_protocol::AgentConfig;
use quixos_runtime::CallError;
use serde_json::Value;

use super::Machine;
use crate::sessions::VersionData;
use crate::sessions::session_apply::CreateVersion;
use crate::stored;
use crate::versions::{self, AGENT, STATE};

impl Machine<'_, '_> {
    /// Returns the config that counts at the head.
    pub(crate) fn config(&self) -> Result<Option<AgentConfig>, CallError> {
        let value = versions::numbered(self.cx, AGENT, self.data.agent)?;
        value.map(|value| stored::read(value, "a config")).transpose()
    }

    /// Returns the config that counts at some message.
    pub(super) fn config_at(&self, head: Option<&str>) -> Result<Option<AgentConfig>, CallError> {
        let version = versions::resolve(self.cx, AGENT, head)?;
        version.map(|version| stored::read_text(&version.value, "a config")).transpose()
    }

    /// Looks up again what counts, after the head has gone elsewhere.
    pub(super) fn resolve_versions(&mut self) -> Result<(), CallError> {
        let head = self.data.head.as_deref();
        let number = |version: VersionData| version.number;
        let state = versions::resolve(self.cx, STATE, head)?.map(number);
        let agent = versions::resolve(self.cx, AGENT, head)?.map(number);
        (self.data.state, self.data.agent) = (state, agent);
        Ok(())
    }

    /// Writes a value, unless it is the one that counts already.
    pub(super) fn set_version(
        &mut self,
        kind: &'static str,
        value: &Value,
        turn: Option<&str>,
    ) -> Result<(), CallError> {
        let current = if kind == STATE { self.data.state } else { self.data.agent };
        if versions::numbered(self.cx, kind, current)?.as_ref() == Some(value) {
            return Ok(());
        }
        let number = self.order();
        let data = VersionData {
            kind: kind.to_owned(),
            number,
            place: versions::place(kind, number),
            anchor: self.data.head.clone(),
            value: stored::json_text(value)?,
        };
        self.log_version(turn, &data)?;
        let number = Some(data.number);
        if kind == STATE {
            self.data.state = number
        } else {
            self.data.agent = number
        }
        let session = self.cx.receiver();
        self.cx.create_version(&CreateVersion { data, session }).map(drop)
    }
}
