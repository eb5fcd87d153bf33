//! The steps of the tour, and what must come of each.

use std::fmt;

use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// A step.
pub(super) struct Step {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) lines: &'static [Line],
}

/// A command.
pub(super) struct Line {
    pub(super) command: &'static str,
    pub(super) expect: Expect,
}

/// What must come of a command.
pub(super) enum Expect {
    /// Anything but a failure.
    Done,
    /// This answer, as JSON.
    Is(&'static str),
    /// This at this pointer (RFC 6901) into the answer.
    At(&'static str, &'static str),
    /// A failure with this code.
    Fails(Exit),
}

impl Expect {
    /// Tells whether what came is what must come.
    pub(super) fn fits(&self, came: &Result<Answer, Failure>) -> bool {
        let same = |value: Option<&Value>, text: &str| {
            value
                .is_some_and(|value| serde_json::from_str(text).is_ok_and(|it: Value| it == *value))
        };
        match (self, came) {
            (Self::Done, Ok(_)) => true,
            (Self::Is(text), Ok(answer)) => same(Some(&answer.json), text),
            (Self::At(pointer, text), Ok(answer)) => same(answer.json.pointer(pointer), text),
            (Self::Fails(exit), Err(failure)) => failure.exit == *exit,
            (Self::Done | Self::Is(_) | Self::At(..), Err(_)) | (Self::Fails(_), Ok(_)) => false,
        }
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("succeed"),
            Self::Is(text) => write!(f, "answer {text}"),
            Self::At(pointer, text) => write!(f, "answer {text} at `{pointer}`"),
            Self::Fails(exit) => write!(f, "fail with `{}`", exit.code()),
        }
    }
}

const fn does(command: &'static str) -> Line {
    Line { command, expect: Expect::Done }
}

const fn is(command: &'static str, answer: &'static str) -> Line {
    Line { command, expect: Expect::Is(answer) }
}

const fn at(command: &'static str, pointer: &'static str, value: &'static str) -> Line {
    Line { command, expect: Expect::At(pointer, value) }
}

const fn fails(command: &'static str, exit: Exit) -> Line {
    Line { command, expect: Expect::Fails(exit) }
}

/// The life of a request.
pub(super) const STEPS: &[Step] = &[
    Step {
        title: "A workspace gets its agents",
        about: "A host has a workspace. Installing gives it a directory, with an agent and a thread.",
        lines: &[
            does("$workspace = create workspace {data: {name: \"Home\"}}"),
            does(
                "$directory = call $workspace.install {instructions: \"Be brief.\", settings: \"{}\"}",
            ),
            does("$agent = $directory.defaultAgent"),
            does("$thread = $directory.initialThread"),
            is("$agent.data.name", "\"default\""),
        ],
    },
    Step {
        title: "The host says what it can do",
        about: "Profiles and availability decide what is admitted.",
        lines: &[
            is(
                "call $directory.advertise {profiles: '[\"fast\", \"careful\"]', availability: \"online\"}",
                "null",
            ),
            is("$directory.data.availability", "\"online\""),
        ],
    },
    Step {
        title: "A request is admitted",
        about: "The one door into the queue. What it will run with is frozen here.",
        lines: &[
            does(
                "$report = call $workspace.createDocument {title: \"Report\", body: \"All is well.\", \
                 presentable: true}",
            ),
            at(
                "$answer = call $agent.request {text: \"Summarise the report\", profile: \"fast\", \
                 sourceKind: \"user\", sourceLabel: \"anna\", createdAt: $now, contexts: [$report], \
                 causalDepth: 0}",
                "/accepted",
                "true",
            ),
            does("$request = $answer.request"),
            is("$request.progress.status", "\"queued\""),
        ],
    },
    Step {
        title: "One that breaks a rule is not",
        about: "A refusal is an answer with its reason, and changes nothing.",
        lines: &[
            at(
                "$refused = call $agent.request {text: \"Hurry\", profile: \"reckless\", sourceKind: \
                 \"user\", sourceLabel: \"anna\", createdAt: $now, contexts: [], causalDepth: 0}",
                "/reason",
                "\"unknown-profile\"",
            ),
            does("explain $refused"),
        ],
    },
    Step {
        title: "A worker claims it",
        about: "A claim gives a fence: the attempt and its generation. Only it may write.",
        lines: &[
            is(
                "call $request.claim {attempt: \"worker-1\", expectedGeneration: 0, startedAt: $now, \
                 recover: false}",
                "{\"claimed\": true, \"generation\": 1}",
            ),
            is("$request.progress.status", "\"running\""),
        ],
    },
    Step {
        title: "A stale claim is refused",
        about: "Another worker that saw it queued comes too late, and is told the generation.",
        lines: &[is(
            "call $request.claim {attempt: \"worker-2\", expectedGeneration: 0, startedAt: $now, \
             recover: false}",
            "{\"claimed\": false, \"generation\": 1}",
        )],
    },
    Step {
        title: "The worker leaves items, and checkpoints them",
        about: "Each item has a key and a version that only grows; a repeat changes nothing.",
        lines: &[
            does(
                "$draft = call $request.upsertItem {attempt: \"worker-1\", generation: 1, data: {key: \
                 \"draft\", kind: \"output\", text: \"The report\", phase: \"draft\", sequence: 0, \
                 version: 1, createdAt: $now, updatedAt: $now}, subject: $report}",
            ),
            is(
                "call $draft.checkpoint {attempt: \"worker-1\", generation: 1, data: {key: \"draft\", \
                 kind: \"output\", text: \"The report says that all is\", phase: \"draft\", sequence: 0, \
                 version: 2, createdAt: $now, updatedAt: $now}}",
                "null",
            ),
            fails(
                "call $draft.checkpoint {attempt: \"worker-1\", generation: 1, data: {key: \"draft\", \
                 kind: \"output\", text: \"An older one\", phase: \"draft\", sequence: 0, version: 1, \
                 createdAt: $now, updatedAt: $now}}",
                Exit::StaleVersion,
            ),
            is("$draft.data.version", "2"),
        ],
    },
    Step {
        title: "It asks a question, and waits",
        about: "The request waits until its runner lets it go on.",
        lines: &[
            does(
                "$question = call $request.ask {attempt: \"worker-1\", generation: 1, key: \"tone\", \
                 title: \"Which tone?\", options: '[\"plain\", \"warm\"]', createdAt: $now, \
                 expiresAt: $now+10m}",
            ),
            is("$request.progress.status", "\"waiting\""),
            does("explain $request"),
        ],
    },
    Step {
        title: "Someone answers",
        about: "An answer counts once, in time, and only one of the options.",
        lines: &[
            fails(
                "call $question.answer {answer: \"loud\", attempt: \"worker-1\", generation: 1, \
                 answeredAt: $now}",
                Exit::Invalid,
            ),
            is(
                "call $question.answer {answer: \"warm\", attempt: \"worker-1\", generation: 1, \
                 answeredAt: $now}",
                "true",
            ),
            is(
                "call $request.transition {attempt: \"worker-1\", generation: 1, status: \"running\", \
                 reason: \"answered\"}",
                "true",
            ),
        ],
    },
    Step {
        title: "The worker is lost, and another takes over",
        about: "Taking over makes a new generation. Should the lost worker wake, its fence is stale. \
                The one that took over finds the answer to the question: asking again changes nothing.",
        lines: &[
            is(
                "call $request.claim {attempt: \"worker-2\", expectedGeneration: 1, startedAt: $now, \
                 recover: true}",
                "{\"claimed\": true, \"generation\": 2}",
            ),
            fails(
                "call $draft.checkpoint {attempt: \"worker-1\", generation: 1, data: {key: \"draft\", \
                 kind: \"output\", text: \"I am back\", phase: \"draft\", sequence: 0, version: 3, \
                 createdAt: $now, updatedAt: $now}}",
                Exit::StaleFence,
            ),
            at(
                "call $request.ask {attempt: \"worker-2\", generation: 2, key: \"tone\", \
                 title: \"Which tone?\", options: '[\"plain\", \"warm\"]', createdAt: $now, \
                 expiresAt: $now+10m} --dry-run",
                "/changes",
                "[]",
            ),
        ],
    },
    Step {
        title: "It finishes",
        about: "Once, under the fence, to a status that nothing leaves.",
        lines: &[
            is(
                "call $request.finish {attempt: \"worker-2\", generation: 2, status: \"completed\", \
                 result: \"All is well.\", reason: \"\", endedAt: $now}",
                "true",
            ),
            is(
                "call $request.finish {attempt: \"worker-2\", generation: 2, status: \"failed\", \
                 reason: \"again\", endedAt: $now}",
                "false",
            ),
            is("$directory.data.pending", "0"),
        ],
    },
    Step {
        title: "Its completion is on the stream, once",
        about: "Whoever follows the agent's stream learns of it, whatever crashes.",
        lines: &[
            is("call $request.publishCompletion", "true"),
            is("call $request.publishCompletion", "false"),
            at("read $agent.completions", "/events/0/event/status", "\"completed\""),
            at("read $agent.completions", "/length", "1"),
            does("cursor $agent.completions mailer advance 1"),
        ],
    },
    Step {
        title: "Everything is as it should be",
        about: "The history is a chain that shows every edit; verify checks every stored byte.",
        lines: &[
            does("history limit 5"),
            at("history verify", "/ok", "true"),
            at("verify", "/ok", "true"),
        ],
    },
];
