//! The rules that refuse work, by the word that a refusal carries: what is refused and what to do.

/// A rule that refuses work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The word of the refusal.
    pub(crate) word: &'static str,
    /// When it refuses.
    pub(crate) when: &'static str,
    /// What would let the work in.
    pub(crate) release: &'static str,
}

/// Every rule, in the order in which `admit` asks them, then those of other operations.
const RULES: &[Rule] = &[
    Rule {
        word: "unknown-agent",
        when: "the agent belongs to another directory",
        release: "name an agent of this directory",
    },
    Rule {
        word: "agent-disabled",
        when: "the agent is not enabled",
        release: "enable it: `call AGENT.update {enabled: true}`",
    },
    Rule {
        word: "wrong-thread",
        when: "the thread belongs to another agent",
        release: "name a thread of this agent, or none",
    },
    Rule {
        word: "thread-archived",
        when: "the thread is archived and admits nothing new",
        release: "use another thread, or bring it back: `call THREAD.archive false`",
    },
    Rule { word: "empty", when: "the text has nothing but white space", release: "send a text" },
    Rule {
        word: "unavailable",
        when: "the work is optional, and the host says that it is offline",
        release: "wait until the host advertises `online` or `degraded`, or request it in earnest",
    },
    Rule {
        word: "unknown-profile",
        when: "the profile is not among those that the host advertises",
        release: "use one of them, or none, or have the host advertise it",
    },
    Rule {
        word: "causal-depth",
        when: "more requests led to this one than `limits.maxCausalDepth` of the agent allows",
        release: "end the chain, or raise the limit in the agent's settings",
    },
    Rule {
        word: "capacity",
        when: "as much is pending in the directory as the agent's limits allow",
        release: "wait until requests finish, finish those that nobody works on, or raise the limits",
    },
    Rule {
        word: "child-limit",
        when: "the root of the request has spawned 64 already",
        release: "begin a new root",
    },
    Rule {
        word: "not-running",
        when: "the request waits, and only a running one is steered",
        release: "its runner has to transition it to `running` first",
    },
];

/// The rules of sessions.
const SESSION_RULES: &[Rule] = &[
    Rule {
        word: "turn-already-active",
        when: "another turn of the session is active",
        release: "wait until it ends, or cancel it: `session cancel SESSION`",
    },
    Rule {
        word: "interrupted",
        when: "an interrupt pauses the conversation at its head",
        release: "answer the interrupt: `session answer SESSION INTERRUPT JSON`",
    },
    Rule {
        word: "cancelled",
        when: "the session was cancelled, which is for good",
        release: "begin another session",
    },
    Rule {
        word: "not-owner",
        when: "the session is another owner's",
        release: "use a token of its owner, or a program's key",
    },
    Rule {
        word: "wrong-tenant",
        when: "the session is another tenant's",
        release: "use a key of its tenant",
    },
    Rule {
        word: "wrong-agent",
        when: "the session is bound to another agent, for good",
        release: "name that agent, or begin another session",
    },
    Rule {
        word: "not-privileged",
        when: "only an operator's program may do this",
        release: "use a program's key, or this shell",
    },
    Rule {
        word: "wrong-handler",
        when: "the call is not the caller's to settle: the engine runs it, or a sub-agent answers it",
        release: "wait for its end, or cancel the turn: `session cancel SESSION`",
    },
    Rule {
        word: "unknown-call",
        when: "the session never had a call of that id",
        release: "`session show SESSION` says which calls there are",
    },
    Rule {
        word: "not-pending",
        when: "the call waits for its turn or its next try, or is over",
        release: "`session show SESSION` says how far it is",
    },
    Rule {
        word: "attempt-mismatch",
        when: "the call is at another attempt than the one that was named",
        release: "name the attempt that it is at, or none",
    },
    Rule {
        word: "no-active-turn",
        when: "no turn is active that a result could belong to",
        release: "begin one: `session send SESSION TEXT`",
    },
    Rule {
        word: "role",
        when: "a turn is to begin with a message that is not a user's",
        release: "send a message of a user",
    },
    Rule {
        word: "ambiguous-agent",
        when: "several agents of the directory have the name",
        release: "rename all but one: `call AGENT.update {name: \"…\"}`",
    },
    Rule {
        word: "key-reused",
        when: "its client sent something else under the same key before",
        release: "send it under a key of its own",
    },
];

/// Returns every rule.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(SESSION_RULES)
}

/// Finds a rule by the word of a refusal, whatever that names behind a colon; where AgentRuntime
/// did not admit a turn, the rule is the one behind it.
pub(crate) fn find(word: &str) -> Option<&'static Rule> {
    let word = word.strip_prefix("not-admitted:").unwrap_or(word);
    let word = word.split_once(':').map_or(word, |(word, _)| word);
    all().find(|rule| rule.word == word)
}
