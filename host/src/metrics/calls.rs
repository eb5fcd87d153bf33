//! What goes through the runtime: calls and what they come to, groups, and what sessions log.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use quixos_package::agent_runtime::{AgentAdmission, AgentRequestClaimOutput};
use quixos_runtime::{AnsweredCall, CallError, Did, Observer, WrittenGroup};
use quixos_session::sessions::SessionEvent;
use serde::Deserialize;
use serde_json::Value;

use super::{Names, Words, amounts, bytes, seconds};

/// The operation by which requests come into a queue.
const ADMIT: &str = "directory_admit";
/// The operation by which an attempt takes a request.
const CLAIM: &str = "request_claim";
/// The log of sessions.
const LOG: &str = "SessionObject.events";
/// The event that says what a model call used.
const REPLIED: &str = "llm.call.completed";

/// What is read of a reply. The rest of it, however long, is passed over: callers wait meanwhile.
#[derive(Deserialize)]
struct Reply {
    response: Option<Box<Self>>,
    usage: Option<Value>,
    cost: Option<Value>,
}

/// What the runtime tells.
#[derive(Debug)]
pub(crate) struct Calls {
    calls: Family<Call, Counter>,
    call_seconds: Histogram,
    refusals: Family<Reason, Counter>,
    admissions: Counter,
    claims: Family<Claim, Counter>,
    stale_fences: Counter,
    events: Family<Event, Counter>,
    tokens: Family<Tokens, Counter>,
    dollars: Counter<f64, std::sync::atomic::AtomicU64>,
    groups: Family<Group, Counter>,
    group_transactions: Histogram,
    group_bytes: Histogram,
    group_seconds: Histogram,
    reasons: Words,
    kinds: Words,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    operation: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Claim {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Event {
    event: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Tokens {
    direction: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Group {
    outcome: &'static str,
}

impl Calls {
    pub(super) fn new(names: &mut Names) -> Self {
        let help = "Calls of operations that may write, by what they came to";
        let calls = names.put("calls", help, Family::default());
        let help = "From when a call came into the queue until its answer was durable";
        let call_seconds = names.put("call_seconds", help, seconds());
        let help = "What a rule of a package said no to, by the reason";
        let refusals = names.put("refusals", help, Family::default());
        let help = "Requests that were admitted to a queue";
        let admissions = names.put("admissions", help, Counter::default());
        let help = "Claims of requests by attempts";
        let claims = names.put("claims", help, Family::default());
        let help = "Writes of attempts that no longer held their request";
        let stale_fences = names.put("stale_fences", help, Counter::default());
        let help = "Events in the logs of sessions";
        let events = names.put("session_events", help, Family::default());
        let help = "Tokens of model calls";
        let tokens = names.put("model_tokens", help, Family::default());
        let help = "Dollars that model calls cost";
        let dollars = names.put("model_dollars", help, Counter::default());
        let help = "Groups of transactions that went to the store";
        let groups = names.put("groups", help, Family::default());
        let help = "Transactions in a group";
        let group_transactions = names.put("group_transactions", help, amounts());
        let help = "Bytes in a group";
        let group_bytes = names.put("group_bytes", help, bytes());
        let help = "How long the store took to write and sync a group";
        let group_seconds = names.put("group_seconds", help, seconds());
        Self {
            calls,
            call_seconds,
            refusals,
            admissions,
            claims,
            stale_fences,
            events,
            tokens,
            dollars,
            groups,
            group_transactions,
            group_bytes,
            group_seconds,
            reasons: Words::default(),
            kinds: Words::default(),
        }
    }

    fn refused(&self, reason: &str) {
        let reason = self.reasons.bounded(reason);
        self.refusals.get_or_create(&Reason { reason }).inc();
    }

    fn logged(&self, event: SessionEvent) {
        if event.r#type == REPLIED {
            self.used(&event.payload);
        }
        let event = self.kinds.bounded(&event.r#type);
        self.events.get_or_create(&Event { event }).inc();
    }

    /// Adds what a model call used. Providers have their own names for it.
    fn used(&self, payload: &str) {
        let Ok(reply) = serde_json::from_str::<Reply>(payload) else { return };
        let response = reply.response.as_deref().unwrap_or(&reply);
        let usage = response.usage.as_ref();
        let count = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| usage?.get(name)?.as_u64());
            found.unwrap_or_default()
        };
        for (direction, names) in [
            ("input", ["prompt_tokens", "input_tokens"]),
            ("output", ["completion_tokens", "output_tokens"]),
        ] {
            self.tokens.get_or_create(&Tokens { direction }).inc_by(count(names));
        }
        let cost = response.cost.as_ref().and_then(Value::as_str);
        let dollars = cost.and_then(|cost| cost.parse::<f64>().ok());
        if let Some(dollars) = dollars.filter(|it| it.is_finite() && *it >= 0.0) {
            self.dollars.inc_by(dollars);
        }
    }
}

impl Observer for Calls {
    fn watches(&self, what: &str) -> bool {
        [ADMIT, CLAIM, LOG].contains(&what)
    }

    fn answered(&self, call: &AnsweredCall<'_>) {
        let operation = call.operation.to_owned();
        let outcome = call.error.map_or("done", CallError::code);
        self.calls.get_or_create(&Call { operation, outcome }).inc();
        self.call_seconds.observe(call.took.as_secs_f64());
        match call.error {
            Some(CallError::Refused { reason }) => self.refused(reason),
            Some(CallError::StaleFence { .. }) => {
                self.stale_fences.inc();
            }
            Some(
                CallError::Invalid { .. }
                | CallError::Conflict { .. }
                | CallError::Busy { .. }
                | CallError::StaleVersion { .. }
                | CallError::NotFound { .. }
                | CallError::Capability(_)
                | CallError::Limit { .. }
                | CallError::Unavailable { .. }
                | CallError::Storage { .. }
                | CallError::Corrupt { .. },
            )
            | None => {}
        }
    }

    fn did(&self, did: &Did<'_>) {
        match did.what {
            ADMIT => match did.decode::<AgentAdmission>() {
                Ok(AgentAdmission { accepted: true, .. }) => {
                    self.admissions.inc();
                }
                Ok(AgentAdmission { reason, .. }) => self.refused(&reason.unwrap_or_default()),
                Err(error) => tracing::error!(%error, "an admission could not be counted"),
            },
            CLAIM => match did.decode::<AgentRequestClaimOutput>() {
                Ok(AgentRequestClaimOutput { claimed, .. }) => {
                    let outcome = if claimed { "claimed" } else { "held" };
                    self.claims.get_or_create(&Claim { outcome }).inc();
                }
                Err(error) => tracing::error!(%error, "a claim could not be counted"),
            },
            _ => match did.decode::<SessionEvent>() {
                Ok(event) => self.logged(event),
                Err(error) => tracing::error!(%error, "an event could not be counted"),
            },
        }
    }

    fn written(&self, group: &WrittenGroup<'_>) {
        let outcome = if group.error.is_none() { "written" } else { "lost" };
        self.groups.get_or_create(&Group { outcome }).inc();
        #[allow(clippy::cast_precision_loss, reason = "a histogram rounds anyway")]
        {
            self.group_transactions.observe(group.transactions as f64);
            self.group_bytes.observe(group.bytes as f64);
        }
        self.group_seconds.observe(group.took.as_secs_f64());
    }
}
