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
pub(crate) const RULES: &[Rule] = &[
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

/// Finds a rule by the word of a refusal.
pub(crate) fn find(word: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.word == word)
}
