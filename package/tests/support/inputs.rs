//! Inputs that are in order. A test changes the one field that it is about.

use quixos_package::agent_runtime::{AgentObject, AgentRequestObject};
use quixos_package::agent_runtime::{
    AgentSubmission, ItemData, directory_create_agent, directory_create_thread,
    directory_reconcile_repair, question_answer, request_ask, request_claim, request_correct,
    request_finish, request_steer, request_transition, request_upsert_item,
};
use quixos_runtime::Ref;

/// Where the clock stands at first.
pub(crate) const START: &str = "2026-01-31T12:00:00Z";

/// The attempt that holds a request in most tests.
pub(crate) const WORKER: &str = "worker-1";

/// Returns the time so many minutes after the start; the first 59.
pub(crate) fn minute(minutes: u32) -> String {
    format!("2026-01-31T12:{minutes:02}:00Z")
}

/// Returns a thing to ask for.
pub(crate) fn submission(text: &str) -> AgentSubmission {
    AgentSubmission {
        text: text.to_owned(),
        data: None,
        profile: None,
        response: None,
        source_kind: "user".to_owned(),
        source_label: "Anna".to_owned(),
        publication: None,
        created_at: START.to_owned(),
        contexts: Vec::new(),
        related: None,
        retry_of: None,
        root: None,
        causal_depth: 0,
    }
}

/// Returns a thing to ask for that nobody sits and waits for.
pub(crate) fn ordinary(text: &str) -> AgentSubmission {
    AgentSubmission { source_kind: "schedule".to_owned(), ..submission(text) }
}

pub(crate) fn new_agent(name: &str, settings: &str) -> directory_create_agent::Input {
    directory_create_agent::Input {
        name: name.to_owned(),
        description: String::new(),
        instructions: "Be brief.".to_owned(),
        settings: settings.to_owned(),
    }
}

pub(crate) fn new_thread(agent: Ref<AgentObject>) -> directory_create_thread::Input {
    directory_create_thread::Input {
        agent,
        title: "Talk".to_owned(),
        kind: "chat".to_owned(),
        created_at: START.to_owned(),
        contexts: Vec::new(),
    }
}

pub(crate) fn repair(key: &str) -> directory_reconcile_repair::Input {
    directory_reconcile_repair::Input {
        key: key.to_owned(),
        text: "Mend the page".to_owned(),
        configuration: r#"{ "profile": "fast" }"#.to_owned(),
        created_at: minute(1),
        confirmed_at: minute(3),
        publication: "page-1".to_owned(),
        attempt: WORKER.to_owned(),
        generation: 4,
        started_at: minute(2),
    }
}

pub(crate) fn claim(attempt: &str, expected_generation: u32) -> request_claim::Input {
    request_claim::Input {
        attempt: attempt.to_owned(),
        expected_generation,
        started_at: minute(1),
        recover: false,
    }
}

pub(crate) fn takeover(attempt: &str, expected_generation: u32) -> request_claim::Input {
    request_claim::Input { recover: true, ..claim(attempt, expected_generation) }
}

pub(crate) fn transition(status: &str, reason: &str) -> request_transition::Input {
    request_transition::Input {
        attempt: WORKER.to_owned(),
        generation: 1,
        status: status.to_owned(),
        reason: reason.to_owned(),
    }
}

pub(crate) fn finish(status: &str) -> request_finish::Input {
    request_finish::Input {
        attempt: WORKER.to_owned(),
        generation: 1,
        status: status.to_owned(),
        result: Some("done".to_owned()),
        raw_output: Some("DONE".to_owned()),
        usage: Some(r#"{"tokens":3}"#.to_owned()),
        reason: "all said".to_owned(),
        ended_at: minute(9),
    }
}

pub(crate) fn steer(key: &str) -> request_steer::Input {
    request_steer::Input {
        attempt: WORKER.to_owned(),
        generation: 1,
        key: key.to_owned(),
        text: "Shorter, please".to_owned(),
        profile: None,
        created_at: minute(2),
    }
}

pub(crate) fn upsert(key: &str, version: u64) -> request_upsert_item::Input {
    request_upsert_item::Input {
        attempt: WORKER.to_owned(),
        generation: 1,
        data: item(key, version),
        subject: None,
    }
}

pub(crate) fn item(key: &str, version: u64) -> ItemData {
    ItemData {
        key: key.to_owned(),
        kind: "message".to_owned(),
        text: format!("text {version}"),
        phase: "streaming".to_owned(),
        activity: None,
        presentation: None,
        sequence: 0,
        version,
        created_at: minute(2),
        updated_at: minute(2),
        control: None,
    }
}

pub(crate) fn ask(key: &str) -> request_ask::Input {
    request_ask::Input {
        attempt: WORKER.to_owned(),
        generation: 1,
        key: key.to_owned(),
        title: "Publish it?".to_owned(),
        options: r#"["yes","no"]"#.to_owned(),
        created_at: minute(2),
        expires_at: minute(30),
    }
}

pub(crate) fn answer(answer: &str) -> question_answer::Input {
    question_answer::Input {
        answer: answer.to_owned(),
        attempt: WORKER.to_owned(),
        generation: 1,
        answered_at: minute(5),
    }
}

pub(crate) fn correct(errors: &[&str], max_corrections: u32) -> request_correct::Input {
    request_correct::Input {
        errors: errors.iter().map(|error| (*error).to_owned()).collect(),
        max_corrections,
        created_at: minute(20),
    }
}

/// What a correction of a request would be, seen from its links.
pub(crate) type Request = Ref<AgentRequestObject>;
