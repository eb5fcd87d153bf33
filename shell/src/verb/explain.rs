//! `explain`: why a request is not progressing, or why one was not admitted.
//!
//! Written for who is woken by it: who holds the request and since when, what stands before it,
//! what would release it (as a command to run), and what is refused meanwhile and by which rule.
//! Everything is read from one version of the store; nothing is called.

mod admission;
mod codes;
pub(crate) mod facts;
mod request;
pub(crate) mod rules;
mod session;

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};
use quixos_runtime::{Atom, CallError, ObjectRef, Ref};
use quixos_session::Reader;
use quixos_session::sessions::SessionObject;
use serde_json::{Value, json};

use crate::language::{Explained, Fault, Segment, Variables as _};
use crate::output::Answer;
use crate::scope::{Scope, instant_text, span_of};
use crate::stop::Stop;

const REQUEST: &str = "atom:org.quixos.agent:request";
const THREAD: &str = "atom:org.quixos.agent:thread";
const AGENT: &str = "atom:org.quixos.agent:agent";
const DIRECTORY: &str = "atom:org.quixos.agent:directory";

pub(crate) use session::explain as explain_session;

/// Why something is as it is.
#[derive(Clone, Debug, Default, PartialEq)]
struct Explanation {
    /// In a sentence.
    headline: String,
    /// Names and values that matter.
    facts: Vec<(&'static str, String)>,
    /// What holds it up.
    reasons: Vec<Point>,
    /// What would release it.
    releases: Vec<Point>,
    /// What is refused meanwhile.
    refusals: Vec<Point>,
    /// What one may think holds it up, and does not.
    notes: Vec<Point>,
}

/// A reason, a release or a refusal.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    /// A stable word for the rule.
    rule: &'static str,
    /// What it comes to here.
    text: String,
    /// A command that does it.
    command: Option<String>,
}

impl Point {
    fn new(rule: &'static str, text: impl Into<String>) -> Self {
        Self { rule, text: text.into(), command: None }
    }

    fn run(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

/// Explains what was asked about; a reason on an object with its numbers.
///
/// # Errors
/// A name that is not there, a thing that there is nothing to explain about; that the store cannot
/// be read.
pub(crate) fn explain(
    scope: &Scope<'_>,
    what: &Explained,
    on: Option<ObjectRef>,
) -> Result<Answer, Stop> {
    let path = match what {
        Explained::Reason(word) => return reason(scope, word, on),
        Explained::Path(path) => path,
    };
    let value = scope.value(path)?;
    let Some(text) = value.as_str() else { return answered(scope, &value, on, span_of(path)) };
    match quixos_runtime::parse_reference(scope.definitions(), text) {
        Ok(found) => object(scope, found, span_of(path)),
        // A text that is no reference may be the word of a refusal.
        Err(_) => reason(scope, &Segment { name: text.to_owned(), span: span_of(path) }, on),
    }
}

/// Explains an object: a request, or what requests are admitted by.
///
/// # Errors
/// An object of another kind; that the store cannot be read.
fn object(scope: &Scope<'_>, object: ObjectRef, span: Range<usize>) -> Result<Answer, Stop> {
    let atom = scope.atom(object)?;
    if !scope.snapshot.exists(object)? {
        return Err(CallError::NotFound { what: scope.text(object) }.into());
    }
    match atom.id.as_str() {
        REQUEST => {
            let facts = facts::request(scope, object)?;
            let mut explanation = request::explain(&facts);
            let session = session::of_request(scope, object)?;
            explanation.facts.extend(session.map(|session| ("session", session)));
            Ok(answer(&scope.text(object), explanation))
        }
        THREAD | AGENT | DIRECTORY => {
            let facts = admission::facts(scope, object)?;
            Ok(answer(&scope.text(object), admission::would_admit(&facts)))
        }
        SessionObject::ID => {
            let session = Reader::on(scope.snapshot, Ref::checked(object)?);
            Ok(explain_session(scope, &session, None)?)
        }
        _ => {
            let message = format!("`{}` is nothing to explain", atom.name);
            let help = "a request, a session, an agent, a thread and a directory are";
            Err(Fault::new(span, message).help(help).into())
        }
    }
}

/// Explains what `admit` answered: where the request stands, or why there is none.
///
/// # Errors
/// A value that is no such answer.
fn answered(
    scope: &Scope<'_>,
    value: &Value,
    on: Option<ObjectRef>,
    span: Range<usize>,
) -> Result<Answer, Stop> {
    if let Some(reason) = value.get("reason").and_then(Value::as_str) {
        let word = Segment { name: reason.to_owned(), span };
        return self::reason(scope, &word, on);
    }
    let request = value.get("request").and_then(Value::as_str);
    let request =
        request.and_then(|text| quixos_runtime::parse_reference(scope.definitions(), text).ok());
    match request {
        Some(request) => object(scope, request, span),
        None => Err(Fault::new(span, "this is neither a request nor the answer to one")
            .help("`explain` takes a request, an answer of `admit`, or the word of a refusal")
            .into()),
    }
}

/// Explains the word of a refusal, or the code of a failure; a refusal on an agent, a thread or a directory, with its numbers.
///
/// # Errors
/// A word that no rule has.
fn reason(scope: &Scope<'_>, word: &Segment, on: Option<ObjectRef>) -> Result<Answer, Stop> {
    let Some(rule) = rules::find(&word.name) else {
        if let Some(explanation) = codes::explain(&word.name) {
            return Ok(answer(&word.name, explanation));
        }
        return Err(Fault::new(word.span.clone(), format!("no call fails with `{}`", word.name))
            .suggest(&word.name, rules::all().map(|rule| rule.word).chain(codes::words()))
            .into());
    };
    let facts = match on {
        Some(on) => Some(admission::facts(scope, on)?),
        None => None,
    };
    Ok(answer(rule.word, admission::refused(rule, facts.as_ref())))
}

fn answer(subject: &str, it: Explanation) -> Answer {
    let points = |points: &[Point]| -> Vec<Value> {
        points
            .iter()
            .map(|it| json!({ "rule": it.rule, "text": it.text, "command": it.command }))
            .collect()
    };
    let facts: serde_json::Map<_, _> =
        it.facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let answer = Answer::new(json!({
        "subject": subject,
        "headline": it.headline,
        "facts": facts,
        "reasons": points(&it.reasons),
        "releases": points(&it.releases),
        "refusals": points(&it.refusals),
        "notes": points(&it.notes),
    }))
    .heading(format!("{subject} {}", it.headline))
    .fields(it.facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    let answer = section(answer, "why", &it.reasons);
    let answer = section(answer, "what would release it", &it.releases);
    let answer = section(answer, "what is refused meanwhile", &it.refusals);
    section(answer, "what does not hold it up", &it.notes)
}

fn section(answer: Answer, title: &str, points: &[Point]) -> Answer {
    if points.is_empty() {
        return answer;
    }
    points.iter().fold(answer.heading(title), |answer, point| {
        let answer = answer.line(format!("  {}: {}", point.rule, point.text));
        match &point.command {
            Some(command) => answer.line(format!("    > {command}")),
            None => answer,
        }
    })
}

/// Reads a time as the operations write it.
fn time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|it| it.to_utc())
}

/// A time, and how far it is from now.
pub(crate) fn when(text: &str, now: DateTime<Utc>) -> String {
    let Some(at) = time(text) else { return text.to_owned() };
    let (span, side) = if at <= now { (now - at, "ago") } else { (at - now, "from now") };
    format!("{} ({} {side})", instant_text(at), length(span))
}

/// A span of time in its largest unit.
pub(crate) fn length(span: TimeDelta) -> String {
    for (size, unit) in [(span.num_days(), "d"), (span.num_hours(), "h"), (span.num_minutes(), "m")]
    {
        if size > 0 {
            return format!("{size}{unit}");
        }
    }
    format!("{}s", span.num_seconds())
}
