//! What the host has configured for an agent's sessions: the key `session` of the agent's settings.

use quixos_protocol::{AgentConfig, RetryPolicy};
use quixos_runtime::CallError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::usage::Decimal;

/// What the settings of an agent say about its sessions, defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct SessionSettings {
    /// The config that `session.start` proposes.
    pub(crate) agent: Option<AgentConfig>,
    /// How decisions are delivered.
    pub(crate) decision_retry: RetryPolicy,
    /// How model calls are tried that say nothing about it themselves.
    pub(crate) model_retry: RetryPolicy,
    /// What a session may spend on models, in dollars.
    pub(crate) max_cost: Option<Decimal>,
}

/// The key `session` as it is written.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WrittenSettings {
    /// The config that `session.start` proposes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
    /// How decisions are delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_retry: Option<RetryPolicy>,
    /// How model calls are tried that say nothing about it themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_retry: Option<RetryPolicy>,
    /// What a session may spend on models: dollars, a decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<String>,
}

/// Deliveries of a decision: 300 s each, 9 more, waiting 2, 4, 8 … 60 s.
const DECISION_RETRY: RetryPolicy = RetryPolicy {
    timeout_secs: Some(300),
    max_retries: 9,
    backoff_base_secs: 2,
    backoff_max_secs: 60,
};

/// A model call of the engine's: 180 s a try, 2 more, waiting 2 and 4 s.
const MODEL_RETRY: RetryPolicy = RetryPolicy {
    timeout_secs: Some(180),
    max_retries: 2,
    backoff_base_secs: 2,
    backoff_max_secs: 30,
};

impl SessionSettings {
    /// Reads the settings of an agent, and its instructions, which are the system prompt of a
    /// config that has none.
    pub(crate) fn read(settings: &str, instructions: &str) -> Result<Self, CallError> {
        let corrupt =
            |error: String| CallError::Corrupt { message: format!("an agent's settings: {error}") };
        let mut settings: Value =
            serde_json::from_str(settings).map_err(|error| corrupt(error.to_string()))?;
        let written = settings.get_mut("session").map(Value::take).unwrap_or_default();
        let written = Option::<WrittenSettings>::deserialize(written)
            .map_err(|error| corrupt(error.to_string()))?
            .unwrap_or_default();
        let max_cost = written.max_cost.as_deref().map(str::parse).transpose();
        Ok(Self {
            agent: written.agent.map(|config| instructed(config, instructions)),
            decision_retry: written.decision_retry.unwrap_or(DECISION_RETRY),
            model_retry: written.model_retry.unwrap_or(MODEL_RETRY),
            max_cost: max_cost.map_err(|_| corrupt("`maxCost` is not a decimal".to_owned()))?,
        })
    }
}

fn instructed(config: AgentConfig, instructions: &str) -> AgentConfig {
    let instructions = Some(instructions).filter(|text| !text.trim().is_empty());
    AgentConfig { system: config.system.or_else(|| instructions.map(str::to_owned)), ..config }
}
