//! A step as a call from outside, by JSON, and what the answer says in the words of the model.

use quixos_runtime::{ObjectRef, Ulid};
use serde_json::{Value, json};

use super::choose::{Choice, Kind, kind_of};
use crate::answer::Answer;
use crate::step::{Given, Step, Submission, Writing};
use crate::support::minute;

/// A call from outside.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) on: ObjectRef,
    pub(crate) member: &'static str,
    pub(crate) input: Value,
}

/// Returns the call that a step is.
pub(crate) fn call(choice: &Choice) -> Call {
    let objects = choice.objects.as_slice();
    let at = |number: &usize| text(objects[*number]);
    let all = |numbers: &[usize]| numbers.iter().map(at).collect::<Vec<_>>();
    let time = |at: &Option<u32>| at.map_or_else(|| "soon".to_owned(), minute);
    let (on, member, input) = match &choice.step {
        Step::Wait(_) | Step::Reopen | Step::Reclaim { .. } => {
            unreachable!("a plan has none, and a choice makes a claim of the last")
        }
        Step::Present { subject, presentable } => {
            (subject, "edit", json!({ "presentable": presentable }))
        }
        Step::Install { workspace, settings } => {
            (workspace, "install", json!({ "instructions": "Be kind.", "settings": settings }))
        }
        Step::Initialize { directory, settings } => {
            (directory, "initialize", json!({ "instructions": "Be strict.", "settings": settings }))
        }
        Step::CreateAgent { directory, settings } => {
            let input = json!({
                "name": "writer",
                "description": "",
                "instructions": "Be brief.",
                "settings": settings,
            });
            (directory, "createAgent", input)
        }
        Step::Advertise { directory, profiles, availability } => {
            let input = json!({ "profiles": profiles, "availability": availability });
            (directory, "advertise", input)
        }
        Step::CreateThread { directory, agent, at: when, contexts } => {
            let input = json!({
                "agent": at(agent),
                "title": "Talk",
                "kind": "chat",
                "createdAt": time(when),
                "contexts": all(contexts),
            });
            (directory, "createThread", input)
        }
        Step::Admit { directory, agent, thread, submission, optional } => {
            let input = json!({
                "agent": at(agent),
                "thread": thread.as_ref().map(at),
                "submission": submitted(submission, objects),
                "optionalWork": optional,
            });
            (directory, "admit", input)
        }
        Step::Repair { directory, key, text, times, attempt, generation } => {
            let input = json!({
                "key": key,
                "text": text,
                "configuration": crate::support::repair(key).configuration,
                "createdAt": time(&times[0]),
                "confirmedAt": time(&times[1]),
                "publication": "page-1",
                "attempt": attempt,
                "generation": generation,
                "startedAt": time(&times[2]),
            });
            (directory, "reconcileRepair", input)
        }
        Step::Update { agent, enabled, settings } => {
            (agent, "update", json!({ "enabled": enabled, "settings": settings }))
        }
        Step::AgentThread { agent, at: when, contexts } => {
            let input = json!({
                "title": "Talk",
                "kind": "chat",
                "createdAt": time(when),
                "contexts": all(contexts),
            });
            (agent, "createThread", input)
        }
        Step::AgentRequest { agent, submission, optional } => {
            let member = if *optional { "tryRequest" } else { "request" };
            (agent, member, submitted(submission, objects))
        }
        Step::Send { thread, submission } => (thread, "send", submitted(submission, objects)),
        Step::Rename { thread, title } => (thread, "rename", json!(title)),
        Step::Archive { thread, archived } => (thread, "archive", json!(archived)),
        Step::Claim { request, attempt, expected, at: when, recover } => {
            let input = json!({
                "attempt": attempt,
                "expectedGeneration": expected,
                "startedAt": time(when),
                "recover": recover,
            });
            (request, "claim", input)
        }
        Step::Transition { request, fence, status, reason } => {
            (request, "transition", fenced(fence, json!({ "status": status, "reason": reason })))
        }
        Step::Finish { request, fence, status, usage, at: when } => {
            let input = json!({
                "status": status,
                "result": "done",
                "rawOutput": "DONE",
                "usage": usage,
                "reason": "all said",
                "endedAt": time(when),
            });
            (request, "finish", fenced(fence, input))
        }
        Step::Cancel { request } => (request, "cancel", Value::Null),
        Step::Publish { request } => (request, "publishCompletion", Value::Null),
        Step::Correct { request, errors, most, at: when } => {
            let input = json!({
                "errors": vec!["wrong"; *errors],
                "maxCorrections": most,
                "createdAt": time(when),
            });
            (request, "correct", input)
        }
        Step::Steer { request, fence, key, text, profile, at: when } => {
            let input =
                json!({ "key": key, "text": text, "profile": profile, "createdAt": time(when) });
            (request, "steer", fenced(fence, input))
        }
        Step::Upsert { request, writing } => {
            let subject = writing.subject.as_ref().map(at);
            let input = json!({ "data": written(writing, &time), "subject": subject });
            (request, "upsertItem", fenced(&writing.fence, input))
        }
        Step::Checkpoint { item, writing } => {
            let input = json!({ "data": written(writing, &time) });
            (item, "checkpoint", fenced(&writing.fence, input))
        }
        Step::Ask { request, fence, key, options, at: when, expires } => {
            let input = json!({
                "key": key,
                "title": "Publish it?",
                "options": options,
                "createdAt": time(when),
                "expiresAt": time(expires),
            });
            (request, "ask", fenced(fence, input))
        }
        Step::Answer { question, fence, answer, at: when } => {
            let input = json!({ "answer": answer, "answeredAt": time(when) });
            (question, "answer", fenced(fence, input))
        }
        Step::TakeBack { question } => (question, "cancel", Value::Null),
    };
    Call { on: objects[*on], member, input }
}

fn submitted(given: &Submission, objects: &[ObjectRef]) -> Value {
    let at = |number: &usize| text(objects[*number]);
    json!({
        "text": given.text,
        "profile": given.profile,
        "response": given.response,
        "sourceKind": given.source,
        "sourceLabel": "Anna",
        "publication": given.publication,
        "createdAt": given.at.map_or_else(|| "soon".to_owned(), minute),
        "contexts": given.contexts.iter().map(at).collect::<Vec<_>>(),
        "related": given.related.as_ref().map(at),
        "retryOf": given.retry_of.as_ref().map(at),
        "root": given.root.as_ref().map(at),
        "causalDepth": given.depth,
    })
}

fn written(writing: &Writing, time: &impl Fn(&Option<u32>) -> String) -> Value {
    let control = writing
        .control
        .as_ref()
        .map(|control| fenced(control, json!({ "status": "", "reason": "" })));
    json!({
        "key": writing.key,
        "kind": writing.kind,
        "text": writing.text,
        "phase": "streaming",
        "sequence": 0,
        "version": writing.version,
        "createdAt": time(&writing.at),
        "updatedAt": time(&writing.at),
        "control": control,
    })
}

/// Adds a fence to an input.
fn fenced(fence: &Given, mut input: Value) -> Value {
    let Given::Other { attempt, generation } = fence else {
        unreachable!("a choice says which fence it means");
    };
    input["attempt"] = json!(attempt);
    input["generation"] = json!(generation);
    input
}

/// Returns the objects that an answer names.
pub(crate) fn found(answer: &Value) -> Vec<ObjectRef> {
    let of = |value: &Value| value.as_str().and_then(object);
    match answer.as_object() {
        Some(fields) => fields.values().filter_map(of).collect(),
        None => of(answer).into_iter().collect(),
    }
}

/// Returns what a step was answered, in the words of the model.
pub(crate) fn answered(step: &Step, answer: &Value, number: impl Fn(ObjectRef) -> usize) -> Answer {
    let named = |value: &Value| number(object(value.as_str().unwrap()).unwrap());
    let yes = || Answer::Yes(answer.as_bool().unwrap());
    match step {
        Step::Install { .. } => Answer::Directory(named(answer)),
        Step::CreateAgent { .. } => Answer::Agent(named(answer)),
        Step::CreateThread { .. } | Step::AgentThread { .. } => Answer::Thread(named(answer)),
        Step::Admit { .. } | Step::AgentRequest { .. } => {
            if answer["accepted"] == true {
                let (thread, request) = (named(&answer["thread"]), named(&answer["request"]));
                Answer::Admitted { thread, request }
            } else {
                Answer::Refused(answer["reason"].as_str().unwrap().to_owned())
            }
        }
        Step::Correct { .. } if answer.is_null() => Answer::Nothing,
        Step::Repair { .. } | Step::Send { .. } | Step::Correct { .. } => {
            Answer::Request(named(answer))
        }
        Step::Claim { .. } | Step::Reclaim { .. } => {
            let generation = answer["generation"].as_u64().unwrap().try_into().unwrap();
            Answer::Claim { claimed: answer["claimed"] == true, generation }
        }
        Step::Transition { .. }
        | Step::Finish { .. }
        | Step::Cancel { .. }
        | Step::Publish { .. }
        | Step::Answer { .. } => yes(),
        Step::Steer { .. } | Step::Upsert { .. } => Answer::Item(named(answer)),
        Step::Ask { .. } => Answer::Question(named(answer)),
        Step::Wait(_)
        | Step::Reopen
        | Step::Present { .. }
        | Step::Initialize { .. }
        | Step::Advertise { .. }
        | Step::Update { .. }
        | Step::Rename { .. }
        | Step::Archive { .. }
        | Step::Checkpoint { .. }
        | Step::TakeBack { .. } => Answer::Done,
    }
}

/// Returns the text of a reference.
pub(crate) fn text(object: ObjectRef) -> String {
    format!("{}/{}", kind_of(object).atom(), object.id)
}

/// Reads the text of a reference to one of the objects that steps name.
fn object(text: &str) -> Option<ObjectRef> {
    let (atom, id) = text.rsplit_once('/')?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.atom() == atom)?;
    Some(ObjectRef { atom: kind.tag(), id: Ulid::from_string(id).ok()? })
}
