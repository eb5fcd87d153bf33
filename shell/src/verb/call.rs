//! `call` and `create`: the runtime does it, or, dry, shows what it would do.

use quixos_runtime::{CallError, Change, ObjectRef, Preview, Session, blocking};
use quixos_schema::{Definitions, MemberKind, Type};
use serde_json::{Value, json};

use super::list::brief;
use crate::failure::Failure;
use crate::language::{Call, Fault, Flags, Place, Segment, Template};
use crate::lookup;
use crate::output::{Answer, Output};
use crate::scope::{Scope, span_of};
use crate::shell::Shell;
use crate::stop::Stop;

/// What is called, looked up.
struct Target {
    on: ObjectRef,
    /// `Interface.member`
    member: String,
    /// What it answers.
    output: Type,
    internal: bool,
    /// The operation's name, where one serves it.
    operation: Option<String>,
    input: Value,
    /// For questions: the object as text.
    text: String,
}

/// Calls a member.
///
/// # Errors
/// A name that is not there; whatever the operation answers.
pub(crate) fn call(
    shell: &mut Shell,
    call: &Call,
    input: Option<&Template>,
    flags: Flags,
    output: &mut Output,
) -> Result<Answer, Stop> {
    let target = shell.read(|scope| target(scope, call, input))?;
    let session = session(shell, flags);
    let placed = |error| placed(error, input, &target, flags);
    if !flags.yes
        && !flags.dry_run
        && shell.asker.is_some()
        && let Some(question) = question(&target)
    {
        let preview = blocking(session.preview_json(target.on, &target.member, &target.input));
        output.print(&preview_answer(&preview.map_err(placed)?))?;
        shell.confirm(&question, flags)?;
    }
    if flags.dry_run {
        let preview = blocking(session.preview_json(target.on, &target.member, &target.input));
        return Ok(preview_answer(&preview.map_err(placed)?));
    }
    let answer = blocking(session.invoke_json(target.on, &target.member, &target.input));
    let value = answer.map_err(placed)?.value;
    if *shell.runtime.definitions().shape(&target.output) == Type::Unit {
        return Ok(Answer::new(value).line("ok"));
    }
    Ok(Answer::value(value))
}

fn session(shell: &Shell, flags: Flags) -> Session {
    if flags.internal { shell.session.with_internal() } else { shell.session.clone() }
}

fn target(scope: &Scope<'_>, call: &Call, input: Option<&Template>) -> Result<Target, Stop> {
    let input = input.map_or(Ok(Value::Null), |input| input.evaluate(scope))?;
    let definitions = scope.definitions();
    let (on, interface, member) = match call {
        Call::Member(path) => {
            let member = scope.member(path)?;
            (member.on, member.interface, member.member)
        }
        Call::Operation { operation, on } => {
            let object = scope.object(on)?;
            let door = door(definitions, operation, object, || span_of(on))?;
            let name = door.member.to_owned();
            let member = Segment { name, span: operation.span.clone() };
            (object, Some(door.interface.to_owned()), member)
        }
    };
    let text = scope.text(on);
    let atom = definitions.atom_of_tag(on.atom);
    let atom = atom.ok_or_else(|| CallError::NotFound { what: text.clone() })?;
    let found = lookup::members(definitions, atom, interface.as_deref(), &member.name);
    let found = found.into_iter().next();
    let found = found.ok_or_else(|| CallError::NotFound { what: member.name.clone() })?;
    let name = format!("{}.{}", found.interface.name, found.member.name);
    let operation = definitions.operations.iter().find(|it| {
        lookup::door(definitions, it).is_some_and(|door| {
            door.interface_id == found.interface.id && door.member == found.member.name
        })
    });
    let operation = operation.map(|it| it.name.clone());
    let internal = found.member.internal;
    let output = match found.kind {
        MemberKind::Operation { output, .. } => output,
        // What another kind of member answers is shown as it is.
        MemberKind::State(ty) | MemberKind::Stream(ty) => Type::List(Box::new(ty)),
        MemberKind::Edge(_) => Type::String,
    };
    Ok(Target { on, member: name, output, internal, operation, input, text })
}

/// Finds the member through which an object serves an operation.
fn door<'d>(
    definitions: &'d Definitions,
    operation: &Segment,
    object: ObjectRef,
    span: impl Fn() -> std::ops::Range<usize>,
) -> Result<lookup::Serves<'d>, Fault> {
    let Some(at) = lookup::operation(definitions, &operation.name) else {
        let message = format!("no operation `{}`", operation.name);
        return Err(Fault::new(operation.span.clone(), message)
            .help("`describe operations` lists them")
            .suggest(&operation.name, definitions.operations.iter().map(|it| it.name.as_str())));
    };
    let atom = definitions.atom_of_tag(object.atom);
    atom.and_then(|atom| lookup::served(definitions, at, atom)).ok_or_else(|| {
        let receivers = definitions.operation(at).receivers.iter();
        let names: Vec<&str> = receivers.map(|at| definitions.atom(*at).name.as_str()).collect();
        let of = lookup::atom_name(definitions, object.atom);
        let message = format!("`{of}` does not serve `{}`", operation.name);
        Fault::new(span(), message).help(format!("served by: {}", names.join(", ")))
    })
}

/// Where in the text an error belongs, and what to do about it.
fn placed(error: CallError, input: Option<&Template>, target: &Target, flags: Flags) -> Stop {
    match (&error, input) {
        (CallError::Invalid { path, .. }, Some(input)) => {
            let place = match input.locate(path) {
                Place::Exact(span) => (span, None),
                Place::Within(span) => (span, Some(format!("`{path}` is not as it should be"))),
            };
            Stop::Call(error, Some(place))
        }
        (CallError::Capability(_), _) if target.internal && !flags.internal => {
            let help = "`--internal` overrides this for an operator, and the history says so";
            Stop::Failure(Failure::from(error).help(help))
        }
        (CallError::Refused { reason }, _) => {
            let help = format!("`explain {reason} on {}` says why", target.text);
            let explained = super::explain::rules::find(reason).is_some();
            let failure = Failure::from(error);
            Stop::Failure(if explained { failure.help(help) } else { failure })
        }
        _ => Stop::Call(error, None),
    }
}

/// What to ask before a call that takes work away, or ends it.
fn question(target: &Target) -> Option<String> {
    let says = |field: &str, value: &Value| target.input.get(field) == Some(value);
    let deed = match target.operation.as_deref()? {
        _ if target.internal => "call an internal operation, outside of what it is part of",
        "request_finish" => "finish this request",
        "request_cancel" => "cancel this request",
        "request_claim" if says("recover", &json!(true)) => {
            "take this request over from the attempt that holds it"
        }
        "question_cancel" => "cancel this question",
        "thread_archive" if target.input == json!(true) => "archive this thread",
        "agent_update" if says("enabled", &json!(false)) => "disable this agent",
        _ => return None,
    };
    Some(format!("{deed} ({})?", target.text))
}

/// Creates an object at the door.
///
/// # Errors
/// A name that is not there; an input that does not fit.
pub(crate) fn create(
    shell: &mut Shell,
    word: &Segment,
    input: Option<&Template>,
    flags: Flags,
) -> Result<Answer, Stop> {
    let (atom, json) = shell.read(|scope| {
        let definitions = scope.definitions();
        let atom = definitions.atom(lookup::atom(definitions, word)?);
        if atom.root.is_none() {
            let roots = definitions.atoms.iter().filter(|it| it.root.is_some());
            let roots: Vec<&str> = roots.map(|it| it.name.as_str()).collect();
            let message = format!("`{}` is not created at the door", atom.name);
            let help = format!("operations create it; what you may create: {}", roots.join(", "));
            return Err(Fault::new(word.span.clone(), message).help(help).into());
        }
        let input = input.map_or(Ok(Value::Null), |input| input.evaluate(scope))?;
        Ok((atom.id.clone(), input))
    })?;
    let placed = |error: CallError| match (&error, input) {
        (CallError::Invalid { path, .. }, Some(input)) => {
            let (Place::Exact(span) | Place::Within(span)) = input.locate(path);
            Stop::Call(error, Some((span, None)))
        }
        _ => Stop::Call(error, None),
    };
    if flags.dry_run {
        let preview = blocking(shell.session.preview_create_json(&atom, &json));
        return Ok(preview_answer(&preview.map_err(placed)?));
    }
    let answer = blocking(shell.session.create_json(&atom, &json)).map_err(placed)?;
    Ok(Answer::value(answer.value))
}

/// What a call would come to.
fn preview_answer(preview: &Preview) -> Answer {
    let json = json!({
        "dryRun": true,
        "answer": preview.answer,
        "changes": preview.changes,
        "trace": preview.trace,
    });
    let mut rows = Vec::new();
    for change in &preview.changes {
        change_rows(change, &mut rows);
    }
    let answer = Answer::new(json)
        .line(format!("would answer: {}", brief(&preview.answer)))
        .table(&["change", "object", "slot", "before", "after"], rows);
    if preview.changes.is_empty() {
        answer.line("would change nothing")
    } else {
        answer.line("nothing was changed")
    }
}

fn change_rows(change: &Change, rows: &mut Vec<Vec<String>>) {
    let row = |change: &str, object: &str, slot: &str, before: String, after: String| {
        vec![change.to_owned(), object.to_owned(), slot.to_owned(), before, after]
    };
    let keyed = |edge: &str, key: &Option<String>| match key {
        Some(key) => format!("{edge}[{key}]"),
        None => edge.to_owned(),
    };
    let none = String::new;
    match change {
        Change::Created { object } => rows.push(row("create", object, "", none(), none())),
        Change::State { object, slot, before, after } => match (before, after) {
            // Of a record only the fields that differ.
            (Value::Object(old), Value::Object(new)) => {
                for (field, value) in new.iter().filter(|(field, it)| old.get(*field) != Some(it)) {
                    let old = old.get(field).map(brief).unwrap_or_default();
                    rows.push(row("write", object, &format!("{slot}.{field}"), old, brief(value)));
                }
            }
            (Value::Null, after) => rows.push(row("write", object, slot, none(), brief(after))),
            (before, after) => {
                rows.push(row("write", object, slot, brief(before), brief(after)));
            }
        },
        Change::Connected { object, edge, key, target } => {
            rows.push(row("connect", object, &keyed(edge, key), none(), target.clone()));
        }
        Change::Disconnected { object, edge, key, target } => {
            rows.push(row("disconnect", object, &keyed(edge, key), target.clone(), none()));
        }
        Change::Appended { object, stream, offset, event } => {
            let slot = format!("{stream}[{offset}]");
            rows.push(row("append", object, &slot, none(), brief(event)));
        }
    }
}
