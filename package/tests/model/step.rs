//! What can happen in a history. Objects are named by small numbers, taken modulo how many there
//! are; a step on what is not there yet is left out.

use proptest::prelude::*;

/// A time in an input: a minute after the start, or something that is none.
pub(crate) type Minute = Option<u32>;

/// A fence in an input: the one that the object's request has now, or some other.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    Stored,
    Other { attempt: &'static str, generation: u32 },
}

/// A subject in an input, by its number.
pub(crate) type Subject = usize;

#[derive(Clone, Debug)]
pub(crate) struct Submission {
    pub(crate) text: &'static str,
    pub(crate) profile: Option<&'static str>,
    pub(crate) response: Option<&'static str>,
    pub(crate) source: &'static str,
    pub(crate) publication: Option<&'static str>,
    pub(crate) at: Minute,
    pub(crate) contexts: Vec<Subject>,
    pub(crate) related: Option<usize>,
    pub(crate) retry_of: Option<usize>,
    pub(crate) root: Option<usize>,
    pub(crate) depth: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(crate) fence: Given,
    pub(crate) key: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
    pub(crate) version: u64,
    pub(crate) at: Minute,
    pub(crate) control: Option<Given>,
    pub(crate) subject: Option<Subject>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Wait(u32),
    Reopen,
    Present {
        subject: Subject,
        presentable: bool,
    },
    Install {
        workspace: usize,
        settings: &'static str,
    },
    Initialize {
        directory: usize,
        settings: &'static str,
    },
    CreateAgent {
        directory: usize,
        settings: &'static str,
    },
    Advertise {
        directory: usize,
        profiles: &'static str,
        availability: &'static str,
    },
    CreateThread {
        directory: usize,
        agent: usize,
        at: Minute,
        contexts: Vec<Subject>,
    },
    Admit {
        directory: usize,
        agent: usize,
        thread: Option<usize>,
        submission: Submission,
        optional: bool,
    },
    Repair {
        directory: usize,
        key: &'static str,
        text: &'static str,
        times: [Minute; 3],
        attempt: &'static str,
        generation: u32,
    },
    Update {
        agent: usize,
        enabled: Option<bool>,
        settings: Option<&'static str>,
    },
    AgentThread {
        agent: usize,
        at: Minute,
        contexts: Vec<Subject>,
    },
    AgentRequest {
        agent: usize,
        submission: Submission,
        optional: bool,
    },
    Send {
        thread: usize,
        submission: Submission,
    },
    Rename {
        thread: usize,
        title: &'static str,
    },
    Archive {
        thread: usize,
        archived: bool,
    },
    Claim {
        request: usize,
        attempt: &'static str,
        expected: u32,
        at: Minute,
        recover: bool,
    },
    Reclaim {
        request: usize,
        attempt: &'static str,
    },
    Transition {
        request: usize,
        fence: Given,
        status: &'static str,
        reason: &'static str,
    },
    Finish {
        request: usize,
        fence: Given,
        status: &'static str,
        usage: Option<&'static str>,
        at: Minute,
    },
    Cancel {
        request: usize,
    },
    Steer {
        request: usize,
        fence: Given,
        key: &'static str,
        text: &'static str,
        profile: Option<&'static str>,
        at: Minute,
    },
    Upsert {
        request: usize,
        writing: Writing,
    },
    Ask {
        request: usize,
        fence: Given,
        key: &'static str,
        options: &'static str,
        at: Minute,
        expires: Minute,
    },
    Publish {
        request: usize,
    },
    Correct {
        request: usize,
        errors: usize,
        most: u32,
        at: Minute,
    },
    Checkpoint {
        item: usize,
        writing: Writing,
    },
    Answer {
        question: usize,
        fence: Given,
        answer: &'static str,
        at: Minute,
    },
    TakeBack {
        question: usize,
    },
}

/// Histories: an installation, then anything.
pub(crate) fn history() -> impl Strategy<Value = Vec<Step>> {
    let install = Step::Install { workspace: 0, settings: "{}" };
    prop::collection::vec(step(), 1..80).prop_map(move |mut steps| {
        steps.insert(0, install.clone());
        steps
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => around(),
        6 => queueing(),
        10 => working(),
        4 => writing_steps(),
    ]
}

fn around() -> impl Strategy<Value = Step> {
    let place = 0..2_usize;
    prop_oneof![
        (1..3_u32).prop_map(Step::Wait),
        Just(Step::Reopen),
        (subject(), any::<bool>())
            .prop_map(|(subject, presentable)| Step::Present { subject, presentable }),
        (place.clone(), settings())
            .prop_map(|(workspace, settings)| Step::Install { workspace, settings }),
        (place.clone(), settings())
            .prop_map(|(directory, settings)| Step::Initialize { directory, settings }),
        (place.clone(), settings())
            .prop_map(|(directory, settings)| Step::CreateAgent { directory, settings }),
        (
            place,
            words(&["[]", r#"["fast"]"#, r#"["fast",1]"#]),
            words(&["online", "offline", "away"])
        )
            .prop_map(|(directory, profiles, availability)| Step::Advertise {
                directory,
                profiles,
                availability,
            }),
        (small(), prop::option::of(any::<bool>()), prop::option::of(settings()))
            .prop_map(|(agent, enabled, settings)| Step::Update { agent, enabled, settings }),
        (small(), words(&["", "Talk"])).prop_map(|(thread, title)| Step::Rename { thread, title }),
        (small(), prop::bool::weighted(0.3))
            .prop_map(|(thread, archived)| Step::Archive { thread, archived }),
    ]
}

fn queueing() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0..2_usize, small(), minute(), contexts()).prop_map(|(directory, agent, at, contexts)| {
            Step::CreateThread { directory, agent, at, contexts }
        }),
        1 => (0..2_usize, small(), prop::option::weighted(0.8, small()), submission(), any::<bool>())
            .prop_map(|(directory, agent, thread, submission, optional)| Step::Admit {
                directory,
                agent,
                thread,
                submission,
                optional,
            }),
        1 => (
            0..2_usize,
            words(&["r1", "r2"]),
            words(&["Mend", "Mend it"]),
            [minute(), minute(), minute()],
            words(&["a", "b", ""]),
            0..3_u32,
        )
            .prop_map(|(directory, key, text, times, attempt, generation)| Step::Repair {
                directory,
                key,
                text,
                times,
                attempt,
                generation,
            }),
        1 => (small(), minute(), contexts())
            .prop_map(|(agent, at, contexts)| Step::AgentThread { agent, at, contexts }),
        1 => (small(), submission(), any::<bool>()).prop_map(|(agent, submission, optional)| {
            Step::AgentRequest { agent, submission, optional }
        }),
        3 => (small(), submission())
            .prop_map(|(thread, submission)| Step::Send { thread, submission }),
        1 => (small(), 0..3_usize, 0..3_u32, minute())
            .prop_map(|(request, errors, most, at)| Step::Correct { request, errors, most, at }),
    ]
}

fn working() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (small(), attempt(), 0..3_u32, minute(), any::<bool>()).prop_map(
            |(request, attempt, expected, at, recover)| Step::Claim {
                request,
                attempt,
                expected,
                at,
                recover,
            }
        ),
        4 => (small(), attempt()).prop_map(|(request, attempt)| Step::Reclaim { request, attempt }),
        1 => (small(), fence(), words(&["running", "waiting", "queued"]), words(&["", "why"])).prop_map(
            |(request, fence, status, reason)| Step::Transition { request, fence, status, reason }
        ),
        3 => (
            small(),
            fence(),
            words(&["completed", "completed", "failed", "failed", "cancelled", "running"]),
            prop::option::of(words(&["{}", "3", "{"])),
            minute(),
        )
            .prop_map(|(request, fence, status, usage, at)| Step::Finish {
                request,
                fence,
                status,
                usage,
                at,
            }),
        1 => small().prop_map(|request| Step::Cancel { request }),
        1 => small().prop_map(|request| Step::Publish { request }),
        2 => (
            small(),
            fence(),
            words(&["q1", "q2"]),
            words(&["[]", r#"["yes","no"]"#, r#"["yes","no"]"#, "yes"]),
            minute(),
            end(),
        )
            .prop_map(|(request, fence, key, options, at, expires)| Step::Ask {
                request,
                fence,
                key,
                options,
                at,
                expires,
            }),
        2 => (small(), fence(), words(&["yes", "perhaps"]), minute()).prop_map(
            |(question, fence, answer, at)| Step::Answer { question, fence, answer, at }
        ),
        1 => small().prop_map(|question| Step::TakeBack { question }),
    ]
}

fn writing_steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (
            small(),
            fence(),
            words(&["k1", "k2", "prompt"]),
            words(&["Shorter", "Longer"]),
            prop::option::weighted(0.3, words(&["fast", "deep"])),
            minute(),
        )
            .prop_map(|(request, fence, key, text, profile, at)| Step::Steer {
                request,
                fence,
                key,
                text,
                profile,
                at,
            }),
        3 => (small(), writing()).prop_map(|(request, writing)| Step::Upsert { request, writing }),
        2 => (small(), writing()).prop_map(|(item, writing)| Step::Checkpoint { item, writing }),
    ]
}

fn writing() -> impl Strategy<Value = Writing> {
    (
        fence(),
        words(&["k1", "k2", "prompt"]),
        words(&["message", "message", "steer"]),
        words(&["one", "two"]),
        0..4_u64,
        minute(),
        prop::option::weighted(0.2, fence()),
        prop::option::weighted(0.3, subject()),
    )
        .prop_map(|(fence, key, kind, text, version, at, control, subject)| Writing {
            fence,
            key,
            kind,
            text,
            version,
            at,
            control,
            subject,
        })
}

fn submission() -> impl Strategy<Value = Submission> {
    let link = || prop::option::weighted(0.2, small());
    let words = (
        words(&["Hello", "Hello", "Two\nlines", " \t"]),
        prop::option::weighted(0.2, words(&["fast", "deep"])),
        prop::option::weighted(0.2, Just("json")),
        words(&["user", "schedule", "correction"]),
        prop::option::weighted(0.2, Just("page")),
    );
    (words, minute(), contexts(), (link(), link(), link()), 0..3_u32).prop_map(
        |((text, profile, response, source, publication), at, contexts, links, depth)| Submission {
            text,
            profile,
            response,
            source,
            publication,
            at,
            contexts,
            related: links.0,
            retry_of: links.1,
            root: links.2,
            depth,
        },
    )
}

fn settings() -> impl Strategy<Value = &'static str> {
    words(&[
        "{}",
        "{}",
        r#"{"limits":{"maxPending":3}}"#,
        r#"{"limits":{"maxOptionalPending":1,"maxOrdinaryPending":2}}"#,
        r#"{"limits":{"maxCausalDepth":1},"notifyCompletions":false}"#,
        r#"{"limits":{"x":1}}"#,
        "[]",
    ])
}

fn words(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(words)
}

fn attempt() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => words(&["a", "b"]), 1 => Just("")]
}

fn fence() -> impl Strategy<Value = Given> {
    prop_oneof![
        4 => Just(Given::Stored),
        1 => (words(&["a", "b", ""]), 0..3_u32)
            .prop_map(|(attempt, generation)| Given::Other { attempt, generation }),
    ]
}

fn minute() -> impl Strategy<Value = Minute> {
    prop::option::weighted(0.97, 0..40_u32)
}

/// When something ends: mostly after what else has a time.
fn end() -> impl Strategy<Value = Minute> {
    prop::option::weighted(0.97, 10..60_u32)
}

/// An object; those that were made early come up more often, and so collide.
fn small() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![3 => 0..3_usize, 1 => 0..20_usize]
}

fn subject() -> impl Strategy<Value = Subject> {
    0..2_usize
}

fn contexts() -> impl Strategy<Value = Vec<Subject>> {
    prop::collection::vec(subject(), 0..3)
}
