//! `call` and `create`: the runtime does it, or, dry, shows what it would do.

use quixos_runtime::{CallError, Change, ObjectRef, Preview, Session, blocking};
use quixos_schema::{Definitions, MemberKind, Type};
use serde_json::{Value, json};

use super::list::brief;
use crate::failure::Failure;
use crate::language::{Call, Fault, Flags, Place, Segment, Template};
use crate::lookup;
use crate::output::{Answer, Block, Output};
use crate::scope::{Scope, span_of};
use crate::shell::Shell;
use crate::stop::Stop;

/// What is called, looked up.
struct Target {
    on: ObjectRef,
    /// `Interface.member`
    member: String,
    /// Whether it answers nothing but that it is done.
    silent: bool,
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
        output.print(&changes(&preview.map_err(placed)?))?;
        shell.confirm(&output.named(&question), flags)?;
    }
    if flags.dry_run {
        let preview = blocking(session.preview_json(target.on, &target.member, &target.input));
        return Ok(preview_answer(&preview.map_err(placed)?));
    }
    let answer = blocking(session.invoke_json(target.on, &target.member, &target.input));
    let value = answer.map_err(placed)?.value;
    Ok(if target.silent { Answer::new(value).line("ok") } else { Answer::value(value) })
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
    let silent = matches!(&found.kind, MemberKind::Operation { output, .. }
        if *definitions.shape(output) == Type::Unit);
    Ok(Target { on, member: name, silent, internal, operation, input, text })
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
    let answer = changes(preview);
    if preview.changes.is_empty() {
        answer.line("would change nothing")
    } else {
        answer.line("nothing was changed")
    }
}

/// What a call would answer and change, object by object.
fn changes(preview: &Preview) -> Answer {
    let json = json!({
        "dryRun": true,
        "answer": preview.answer,
        "changes": preview.changes,
        "trace": preview.trace,
    });
    let mut objects: Vec<(&str, bool, Rows)> = Vec::new();
    for change in &preview.changes {
        let (object, rows) = change_rows(change);
        let created = rows.is_empty();
        match objects.iter_mut().find(|(it, _, _)| *it == object) {
            Some((_, new, all)) => {
                *new |= created;
                all.extend(rows);
            }
            None => objects.push((object, created, rows)),
        }
    }
    let mut answer = Answer::new(json).line("would answer");
    answer.blocks.push(Block::Within(vec![Block::Value(preview.answer.clone())]));
    objects.into_iter().fold(answer, |answer, (object, new, rows)| {
        let new = if new { ", new" } else { "" };
        answer.line(format!("{object}{new}")).fields(rows)
    })
}

/// Slots or fields, and what becomes of them.
type Rows = Vec<(String, String)>;

/// The object that a change is about, and a row for each slot or field; none for its creation.
fn change_rows(change: &Change) -> (&str, Rows) {
    let keyed = |edge: &str, key: &Option<String>| match key {
        Some(key) => format!("{edge}[{key}]"),
        None => edge.to_owned(),
    };
    match change {
        Change::Created { object } => (object, Vec::new()),
        Change::State { object, slot, before, after } => match (before, after) {
            // Of a record only the fields that differ.
            (Value::Object(old), Value::Object(new)) => {
                let differing = new.iter().filter(|(field, it)| old.get(*field) != Some(it));
                let row = |(field, value): (&String, &Value)| {
                    let old = old.get(field).map(brief).unwrap_or_default();
                    (format!("{slot}.{field}"), format!("{old} -> {}", brief(value)))
                };
                (object, differing.map(row).collect())
            }
            (Value::Null, Value::Object(new)) => {
                let row =
                    |(field, value): (&String, &Value)| (format!("{slot}.{field}"), brief(value));
                (object, new.iter().map(row).collect())
            }
            (Value::Null, after) => (object, vec![(slot.clone(), brief(after))]),
            (before, after) => {
                (object, vec![(slot.clone(), format!("{} -> {}", brief(before), brief(after)))])
            }
        },
        Change::Connected { object, edge, key, target } => {
            (object, vec![(keyed(edge, key), format!("+ {target}"))])
        }
        Change::Disconnected { object, edge, key, target } => {
            (object, vec![(keyed(edge, key), format!("- {target}"))])
        }
        Change::Appended { object, stream, offset, event } => {
            (object, vec![(format!("{stream}[{offset}]"), format!("+ {event}"))])
        }
    }
}
