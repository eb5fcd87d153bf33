//! The work: what is done to one request, step by step, and with what.
//!
//! Requests are numbered, and each system keeps for itself what it calls them. The texts are of the
//! length of real ones, and the same for all systems.

use quixos_package::agent_runtime::{
    AgentItemCheckpointInput, AgentQuestionAnswerInput, AgentRequestAskInput,
    AgentRequestClaimInput, AgentRequestFinishInput, AgentRequestTransitionInput,
    AgentRequestUpsertItemInput, AgentSubmission, AgentWorkspaceInstallInput, ItemData,
};

/// One thing that is done to a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Operation {
    /// It is admitted, with a thread of its own.
    Request,
    /// A worker takes it.
    Claim,
    /// Its item is written in this version; the first creates it.
    Upsert(u8),
    /// Its item, which is there, is checkpointed in this version.
    Checkpoint(u8),
    /// A question is asked.
    Ask,
    /// The question is answered.
    Answer,
    /// It goes on running.
    Transition,
    /// Its progress is read.
    Progress,
    /// It ends.
    Finish,
    /// Its completion is published on the stream.
    Publish,
    /// A page of the stream is read.
    ReadStream,
}

impl Operation {
    /// The ten most used, in an order in which they can follow each other.
    pub(crate) const MOST_USED: [Self; 10] = [
        Self::Request,
        Self::Claim,
        Self::Upsert(1),
        Self::Checkpoint(2),
        Self::Ask,
        Self::Answer,
        Self::Transition,
        Self::Progress,
        Self::Finish,
        Self::Publish,
    ];

    /// The life of a request.
    pub(crate) const LIFE: [Self; 8] = [
        Self::Request,
        Self::Claim,
        Self::Upsert(1),
        Self::Upsert(2),
        Self::Upsert(3),
        Self::Finish,
        Self::Publish,
        Self::ReadStream,
    ];

    /// Returns the name of the member that is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Claim => "claim",
            Self::Upsert(1) => "upsertItem, new",
            Self::Upsert(_) => "upsertItem, again",
            Self::Checkpoint(_) => "checkpoint",
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Transition => "transition",
            Self::Progress => "progress (a read)",
            Self::Finish => "finish",
            Self::Publish => "publishCompletion",
            Self::ReadStream => "events (a read)",
        }
    }
}

/// When all of it happens. Nothing here is about time, but for what must not have expired.
pub(crate) const NOW: &str = "2026-01-31T12:00:00Z";
/// When a question expires, unless it is meant to have expired.
pub(crate) const LATER: &str = "2199-01-31T12:00:00Z";
/// Who holds a request.
pub(crate) const ATTEMPT: &str = "worker-1/attempt-7f3a";
/// The generation under which it is held.
pub(crate) const GENERATION: u32 = 1;
/// The key of the item that is written.
pub(crate) const ITEM: &str = "answer";
/// The key of the question.
pub(crate) const QUESTION: &str = "publish";
/// What a question can be answered with.
pub(crate) const OPTIONS: &str = r#"["publish it","not yet"]"#;
/// The answer.
pub(crate) const ANSWER: &str = "publish it";
/// What the tokens cost.
pub(crate) const USAGE: &str = r#"{"inputTokens":1834,"outputTokens":412}"#;
/// What an agent is told.
pub(crate) const INSTRUCTIONS: &str = "You keep the pages of a small museum. Answer briefly, in \
     the tone of the house, and ask before anything is published.";
/// The settings, with room for as many requests as there can be.
pub(crate) const SETTINGS: &str =
    r#"{"limits":{"maxPending":4294967295,"maxOrdinaryPending":4294967295}}"#;
/// What is asked for.
pub(crate) const PROMPT: &str = "Please go through the opening times on the page for visitors, \
     compare them with the calendar of this quarter, and correct what no longer holds.";
/// What comes of it.
pub(crate) const RESULT: &str = "The opening times on the page were those of last winter. They \
     now are: Tuesday to Sunday, ten to six, Thursday until eight. The note about the closed east \
     wing is gone, since it opened again on the twelfth.";

/// How many events are read at once.
pub(crate) const PAGE: usize = 16;

/// Returns the text of an item in a version: `length` bytes, of which some change.
pub(crate) fn text(version: u8, length: usize) -> String {
    let sentence = "The opening times were compared with the calendar; three of seven differ. ";
    let mut text = format!("[{version}] ");
    while text.len() < length {
        text.push_str(sentence);
    }
    text.truncate(length);
    text
}

/// The length of an item's text, if nothing else is said.
pub(crate) const ITEM_BYTES: usize = 400;

pub(crate) fn install() -> AgentWorkspaceInstallInput {
    AgentWorkspaceInstallInput { instructions: INSTRUCTIONS.into(), settings: SETTINGS.into() }
}

pub(crate) fn submission() -> AgentSubmission {
    AgentSubmission {
        text: PROMPT.into(),
        data: None,
        profile: None,
        response: None,
        source_kind: "user".into(),
        source_label: "Anna".into(),
        publication: None,
        created_at: NOW.into(),
        contexts: Vec::new(),
        related: None,
        retry_of: None,
        root: None,
        causal_depth: 0,
    }
}

pub(crate) fn claim() -> AgentRequestClaimInput {
    AgentRequestClaimInput {
        attempt: ATTEMPT.into(),
        expected_generation: GENERATION - 1,
        started_at: NOW.into(),
        recover: false,
    }
}

pub(crate) fn item(key: &str, version: u8, length: usize) -> ItemData {
    ItemData {
        key: key.into(),
        kind: "message".into(),
        text: text(version, length),
        phase: "streaming".into(),
        activity: None,
        presentation: None,
        sequence: 0,
        version: version.into(),
        created_at: NOW.into(),
        updated_at: NOW.into(),
        control: None,
    }
}

pub(crate) fn upsert(data: ItemData) -> AgentRequestUpsertItemInput {
    AgentRequestUpsertItemInput {
        attempt: ATTEMPT.into(),
        generation: GENERATION,
        data,
        subject: None,
    }
}

pub(crate) fn checkpoint(data: ItemData) -> AgentItemCheckpointInput {
    AgentItemCheckpointInput { attempt: ATTEMPT.into(), generation: GENERATION, data }
}

pub(crate) fn ask(key: &str, created_at: &str, expires_at: &str) -> AgentRequestAskInput {
    AgentRequestAskInput {
        attempt: ATTEMPT.into(),
        generation: GENERATION,
        key: key.into(),
        title: "Publish the corrected page?".into(),
        options: OPTIONS.into(),
        created_at: created_at.into(),
        expires_at: expires_at.into(),
    }
}

pub(crate) fn answer() -> AgentQuestionAnswerInput {
    AgentQuestionAnswerInput {
        answer: ANSWER.into(),
        attempt: ATTEMPT.into(),
        generation: GENERATION,
        answered_at: NOW.into(),
    }
}

pub(crate) fn transition() -> AgentRequestTransitionInput {
    AgentRequestTransitionInput {
        attempt: ATTEMPT.into(),
        generation: GENERATION,
        status: "running".into(),
        reason: "answered".into(),
    }
}

pub(crate) fn finish() -> AgentRequestFinishInput {
    AgentRequestFinishInput {
        attempt: ATTEMPT.into(),
        generation: GENERATION,
        status: "completed".into(),
        result: Some(RESULT.into()),
        raw_output: None,
        usage: Some(USAGE.into()),
        reason: String::new(),
        ended_at: NOW.into(),
    }
}
