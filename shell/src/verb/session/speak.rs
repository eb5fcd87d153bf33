//! What an operator says to a session: messages, answers, pauses, cancels.
//!
//! Each is a call of one operation, as a program of the operator, for the session's owner and
//! tenant; so the history has the operator's name. What it would come to is shown in the events
//! that it would log.

use quixos_runtime::{Atom, CallError, Change, ObjectRef, Preview, blocking, parse_reference};
use quixos_session::Reader;
use quixos_session::replay::Happened;
use quixos_session::sessions::{Authority, Live, SessionEvent, SessionObject};
use quixos_session::standing::{Hold, Standing};
use serde_json::{Value, json};

use super::{line, target, words};
use crate::failure::Failure;
use crate::language::{Fault, Flags, Named, Speech, Template, Variables as _};
use crate::output::{Answer, Block, Output, counted};
use crate::scope::Scope;
use crate::shell::Shell;
use crate::stop::Stop;

/// The class of an operator's programs.
const MACHINE: &str = "machine";

/// The tenant of a session that is begun here, when nobody says.
const TENANT: &str = "default";

/// A call that is to be made.
struct Said {
    /// The session, or the registry that is to make it.
    on: ObjectRef,
    /// `Interface.member`
    member: &'static str,
    input: Value,
    /// The session's id.
    session: String,
    /// What to ask before it, if it takes work away.
    question: Option<String>,
}

/// Says something to a session.
///
/// # Errors
/// A session that is not there, what the session refuses.
pub(super) fn speak(
    shell: &mut Shell,
    named: &Named,
    speech: &Speech,
    flags: Flags,
    output: &mut Output,
) -> Result<Answer, Stop> {
    let actor = shell.session.caller().actor.clone();
    let said = shell.read(|scope| said(scope, named, speech, &actor))?;
    let refused = |error: CallError| refused(error, &said.session);
    let previewed = |shell: &Shell| {
        let preview = shell.session.preview_json(said.on, said.member, &said.input);
        blocking(preview).map_err(refused)
    };
    if flags.dry_run {
        return preview(&previewed(shell)?);
    }
    if let Some(question) = &said.question
        && !flags.yes
        && shell.asker.is_some()
    {
        output.print(&events(&previewed(shell)?)?)?;
        shell.confirm(&output.named(question), flags)?;
    }
    let answer = shell.session.invoke_json(said.on, said.member, &said.input);
    let answer = blocking(answer).map_err(refused)?.value;
    let outcome = answer.get("outcome").unwrap_or(&answer);
    let goes_on = !matches!(speech, Speech::Cancel { .. } | Speech::Close);
    shell.read(|scope| report(scope, &said.session, outcome, goes_on))
}

fn said(scope: &Scope<'_>, named: &Named, speech: &Speech, actor: &str) -> Result<Said, Stop> {
    let (id, session) = target(scope, named)?;
    let Some(session) = session else {
        return match speech {
            Speech::Send { input, turn, agent: Some(agent), owner, tenant } => {
                let by = Authority {
                    class: MACHINE.to_owned(),
                    tenant: tenant.clone().unwrap_or_else(|| TENANT.to_owned()),
                    owner_id: owner.clone().unwrap_or_else(|| actor.to_owned()),
                };
                let input = client_input(scope, input, Some(agent.as_str()), turn.as_deref())?;
                begun(scope, named, id, &by, &input)
            }
            Speech::Send { .. }
            | Speech::Answer { .. }
            | Speech::Fail { .. }
            | Speech::Pause { .. }
            | Speech::Cancel { .. }
            | Speech::Close => Err(not_there(named, &id, speech)),
        };
    };
    let reader = Reader::on(scope.snapshot, session);
    let binding = reader.binding()?;
    let by = json!({
        "class": MACHINE, "tenant": binding.tenant, "ownerId": binding.owner_id,
    });
    let on = |member, input: Value, question: Option<String>| Said {
        on: session.object(),
        member,
        input,
        session: binding.session_id.clone(),
        question,
    };
    Ok(match speech {
        Speech::Send { input, turn, agent, .. } => {
            let agent = agent.as_deref().unwrap_or(&binding.agent_id);
            let input = client_input(scope, input, Some(agent), turn.as_deref())?;
            on(
                "Session.submit",
                json!({ "by": by, "input": input.to_string(), "followed": false }),
                None,
            )
        }
        Speech::Answer { to, value } => {
            let id = named_in(scope, &reader.live()?, to)?;
            let value = value.as_ref().map_or(Ok(Value::Null), |value| value.evaluate(scope))?;
            if reader.live()?.interrupts.iter().any(|open| open.id == id) {
                let input =
                    json!({ "type": "interrupt.resume", "interrupt_id": id, "payload": value });
                on(
                    "Session.submit",
                    json!({ "by": by, "input": input.to_string(), "followed": false }),
                    None,
                )
            } else {
                on("Session.settle", settled(&by, &id, Some(&value), None), None)
            }
        }
        Speech::Fail { call, error } => {
            let id = named_in(scope, &reader.live()?, call)?;
            on("Session.settle", settled(&by, &id, None, Some(error)), None)
        }
        Speech::Pause { reason, payload } => {
            let payload =
                payload.as_ref().map_or(Ok(Value::Null), |payload| payload.evaluate(scope))?;
            let input =
                json!({ "by": by, "id": null, "reason": reason, "payload": payload.to_string() });
            on("Session.interrupt", input, None)
        }
        Speech::Cancel { turn } => {
            let active = reader.data()?.turn.map(|turn| turn.id);
            let Some(turn) = turn.clone().or(active) else {
                let fault = Fault::new(named.span(), "no turn of this session is active");
                return Err(fault.help("`session close` cancels the session itself").into());
            };
            let question = format!("cancel turn {turn} of {}?", binding.session_id);
            on("Session.cancel", json!({ "by": by, "turn": turn }), Some(question))
        }
        Speech::Close => {
            let question = format!("cancel {} for good?", binding.session_id);
            on("Session.cancel", json!({ "by": by, "turn": null }), Some(question))
        }
    })
}

/// A session that the first message makes.
fn begun(
    scope: &Scope<'_>,
    named: &Named,
    session: String,
    by: &Authority,
    input: &Value,
) -> Result<Said, Stop> {
    if let Named::Path(_) = named {
        return Err(CallError::NotFound { what: session }.into());
    }
    let registries = Reader::registries(scope.snapshot)?;
    let [registry] = registries.as_slice() else {
        let count = counted(registries.len() as u64, "registry").replace("registrys", "registries");
        let fault = Fault::new(named.span(), format!("the store has {count} of sessions"));
        return Err(fault
            .help("`call registry_submit on REGISTRY` begins a session in one of several")
            .into());
    };
    let input = json!({
        "by": { "class": by.class, "tenant": by.tenant, "ownerId": by.owner_id },
        "sessionId": session,
        "metadata": "{}",
        "input": input.to_string(),
        "followed": false,
    });
    let on = registry.object();
    Ok(Said { on, member: "SessionRegistry.submit", input, session, question: None })
}

fn not_there(named: &Named, id: &str, speech: &Speech) -> Stop {
    let what = format!("a session `{id}`");
    match speech {
        Speech::Send { .. } => {
            let failure = Failure::from(CallError::NotFound { what });
            failure.help("`agent NAME` begins one with this message").into()
        }
        Speech::Answer { .. }
        | Speech::Fail { .. }
        | Speech::Pause { .. }
        | Speech::Cancel { .. }
        | Speech::Close => Stop::Call(CallError::NotFound { what }, Some((named.span(), None))),
    }
}

/// Returns the client input that a value stands for: a message's text, its parts, or all of it.
fn client_input(
    scope: &Scope<'_>,
    input: &Template,
    agent: Option<&str>,
    turn: Option<&str>,
) -> Result<Value, Stop> {
    let mut given = match input.evaluate(scope)? {
        Value::Object(given) => given,
        content @ (Value::String(_) | Value::Array(_)) => {
            let message = json!({ "role": "user", "content": content });
            [("type".to_owned(), json!("client.message")), ("message".to_owned(), message)]
                .into_iter()
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let fault = Fault::new(input.span.clone(), "this is nothing that a client sends");
            return Err(fault
                .help("a text, a list of content parts, or an input as a record")
                .into());
        }
    };
    let begins = given.get("type").and_then(Value::as_str).unwrap_or_default();
    if matches!(begins, "client.message" | "client.messages" | "client.action") {
        if let Some(agent) = agent {
            given.entry("agent_id").or_insert_with(|| json!(agent));
        }
        if let Some(turn) = turn {
            given.insert("turn_id".to_owned(), json!(turn));
        }
    }
    Ok(Value::Object(given))
}

fn settled(by: &Value, call: &str, result: Option<&Value>, error: Option<&str>) -> Value {
    let error = error.map(|message| {
        json!({
            "message": message, "retryable": false, "code": null, "detail": null,
            "retryAfter": null,
        })
    });
    json!({
        "by": by, "fence": null, "call": call, "attempt": null,
        "result": result.map(Value::to_string), "error": error, "blocks": [],
    })
}

/// Returns the id of the interrupt or call that is named, by itself or by the question that asks
/// the same.
fn named_in(scope: &Scope<'_>, live: &Live, named: &Named) -> Result<String, Stop> {
    let path = match named {
        Named::Id(id) => return Ok(id.name.clone()),
        Named::Path(path) => path,
    };
    let value = scope.value(path)?;
    let Some(text) = value.as_str() else {
        return Err(Fault::new(named.span(), "this names neither an interrupt nor a call").into());
    };
    if parse_reference(scope.definitions(), text).is_err() {
        return Ok(text.to_owned());
    }
    let interrupts = live.interrupts.iter().map(|it| (&it.question, &it.id));
    let calls = live.calls.iter().map(|it| (&it.question, &it.id));
    let found = interrupts.chain(calls).find(|(question, _)| *question == text);
    match found {
        Some((_, id)) => Ok(id.clone()),
        None => {
            let fault =
                Fault::new(named.span(), "no interrupt and no call of it asks this question");
            Err(fault.help("`session show` lists what is open").into())
        }
    }
}

/// What a step came to, and, if something is to come of it, that nobody is there who goes on with it.
fn report(
    scope: &Scope<'_>,
    session: &str,
    outcome: &Value,
    goes_on: bool,
) -> Result<Answer, Stop> {
    let found = Reader::find(scope.snapshot, session)?;
    let reader = found.first().map(|&session| Reader::on(scope.snapshot, session));
    let standing = reader.map(|reader| reader.standing(scope.now)).transpose()?;
    let applied = outcome.get("applied").and_then(Value::as_bool).unwrap_or_default();
    let turn = outcome.get("turn").and_then(Value::as_str);
    let interrupt = outcome.get("interrupt").and_then(Value::as_str);
    let status = standing.as_ref().map(|standing| standing.status);
    let answer = Answer::new(json!({
        "session": session,
        "object": reader.map(|reader| reader.text()),
        "turn": turn,
        "interrupt": interrupt,
        "applied": applied,
        "status": status,
        "driven": standing.as_ref().map(is_driven),
    }));
    let mut said = if applied { "ok".to_owned() } else { "there was nothing to do".to_owned() };
    if let Some(turn) = turn {
        said.push_str(&format!(": turn {turn} of {session}"));
    }
    if let Some(interrupt) = interrupt {
        said.push_str(&format!(", interrupt {interrupt}"));
    }
    let answer = answer.line(said);
    Ok(match standing.filter(|standing| goes_on && !is_driven(standing)) {
        Some(_) => answer.line(
            "no engine drives it now: this is recorded, and goes on when a host serves the store",
        ),
        None => answer,
    })
}

fn is_driven(standing: &Standing) -> bool {
    let gone = |hold: &Hold| matches!(hold, Hold::Unclaimed | Hold::Lapsed { .. });
    !standing.holds.iter().any(gone)
}

/// What a call would log, and that it did not.
fn preview(preview: &Preview) -> Result<Answer, Stop> {
    let answer = events(preview)?;
    Ok(if preview.changes.is_empty() {
        answer.line("would change nothing")
    } else {
        answer.line("nothing was changed")
    })
}

/// The events that a call would log, session by session.
fn events(preview: &Preview) -> Result<Answer, Stop> {
    let json = json!({
        "dryRun": true,
        "answer": preview.answer,
        "changes": preview.changes,
        "trace": preview.trace,
    });
    let mut sessions: Vec<(&str, Vec<Block>)> = Vec::new();
    for change in &preview.changes {
        let Change::Appended { object, stream, event, .. } = change else { continue };
        if stream != "events" || !object.starts_with(SessionObject::ID) {
            continue;
        }
        let event: SessionEvent = serde_json::from_value(event.clone()).map_err(|error| {
            CallError::Corrupt { message: format!("an event that would be logged: {error}") }
        })?;
        let line = Block::Pieces(vec![line::said(&Happened::read(&event)?)]);
        match sessions.iter_mut().find(|(it, _)| it == object) {
            Some((_, lines)) => lines.push(line),
            None => sessions.push((object, vec![line])),
        }
    }
    Ok(sessions.into_iter().fold(Answer::new(json), |mut answer, (object, lines)| {
        answer = answer.line(format!("would log in {object}"));
        answer.blocks.push(Block::Within(lines));
        answer
    }))
}

/// What to do about a refusal.
fn refused(error: CallError, session: &str) -> Stop {
    if let CallError::Refused { .. } = &error {
        let help = format!("`session explain {}` says why", words::id(session));
        return Failure::from(error).help(help).into();
    }
    error.into()
}
