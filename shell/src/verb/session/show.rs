//! `session show`: where a session stands, and its messages as a tree with the calls that each made.

use std::collections::BTreeMap;

use quixos_protocol::Role;
use quixos_runtime::CallError;
use quixos_session::Reader;
use quixos_session::conversation::{Called, Conversation, Said};
use quixos_session::sessions::{Binding, InterruptData, SessionData, Usage};
use quixos_session::standing::{Standing, Status};
use serde_json::{Value, json};

use super::super::explain::{length, when};
use super::words;
use crate::output::{Answer, Paint, counted};
use crate::scope::Scope;

/// How many messages are shown when nobody says.
const FEW: usize = 50;

/// How many letters of arguments and results are shown.
const LETTERS: usize = 60;

/// A line of the tree.
type Line = Vec<(Paint, String)>;

/// Shows a session.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn show(
    scope: &Scope<'_>,
    reader: &Reader<'_>,
    limit: Option<usize>,
) -> Result<Answer, CallError> {
    let (binding, data) = (reader.binding()?, reader.data()?);
    let standing = reader.standing(scope.now)?;
    let conversation = reader.conversation(limit.unwrap_or(FEW))?;
    let interrupts = reader.live()?.interrupts;
    let children = reader.children()?;
    let children: Vec<(String, Status)> = children
        .iter()
        .map(|child| Ok((child.binding()?.session_id, child.status()?)))
        .collect::<Result<_, CallError>>()?;
    let parent = reader.parent()?.map(|parent| Reader::on(scope.snapshot, parent));
    let parent = parent.map(|parent| parent.binding()).transpose()?;

    let mut fields = fields(scope, reader, &binding, &data, &standing)?;
    if let Some(parent) = &parent {
        fields.insert(2, ("parent".to_owned(), parent.session_id.clone()));
    }
    let json = json!({
        "session": binding.session_id,
        "object": reader.text(),
        "agent": binding.agent_id,
        "owner": binding.owner_id,
        "tenant": binding.tenant,
        "metadata": parsed(&binding.metadata),
        "parent": parent.map(|parent| parent.session_id),
        "children": children
            .iter()
            .map(|(id, status)| json!({ "session": id, "status": status }))
            .collect::<Value>(),
        "created": binding.created_at,
        "events": reader.log_len()?,
        "standing": standing,
        "interrupts": interrupts.iter().map(interrupt_json).collect::<Value>(),
        "usage": usage_json(&data.usage),
        "subAgents": usage_json(&data.sub_agents),
        "conversation": conversation,
    });
    let answer = Answer::new(json).heading(binding.session_id.clone()).fields(fields);
    let answer = messages(answer, scope, &conversation);
    let answer = open(answer, &interrupts);
    let waits = standing.holds.iter().map(|hold| words::brief(hold, scope.now));
    let waits: Vec<String> = waits.collect();
    Ok(if waits.is_empty() {
        answer
    } else {
        let answer = answer.heading("waits for");
        let answer =
            waits.into_iter().fold(answer, |answer, line| answer.line(format!("  {line}")));
        let id = words::id(&binding.session_id);
        answer.line(format!("  `session explain {id}` says more"))
    })
}

fn fields(
    scope: &Scope<'_>,
    reader: &Reader<'_>,
    binding: &Binding,
    data: &SessionData,
    standing: &Standing,
) -> Result<Vec<(String, String)>, CallError> {
    let mut fields = vec![
        ("session", reader.text()),
        ("agent", format!("{} ({})", binding.agent_id, scope.text(reader.agent()?.object()))),
        ("owner", format!("{}, of tenant {}", binding.owner_id, binding.tenant)),
        ("status", status(standing)),
    ];
    if let Some(turn) = &standing.turn {
        let behind = match standing.waiting {
            0 => String::new(),
            count => format!(", {} behind it", counted(count as u64, "turn")),
        };
        fields.push(("turn", format!("{turn}{behind}")));
    }
    if !standing.engine.is_empty() {
        fields.push(("engine", words::engine(standing, scope.now)));
    }
    let spent = |usage: &Usage| words::spent(&parsed(&usage.counts), &usage.cost);
    fields.extend(spent(&data.usage).map(|spent| ("usage", spent)));
    fields.extend(spent(&data.sub_agents).map(|spent| ("sub-agents", spent)));
    fields.push(("created", when(&binding.created_at, scope.now)));
    fields.push(("log", counted(reader.log_len()?, "event")));
    Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn status(standing: &Standing) -> String {
    let word = standing.status.word();
    if standing.start == "failed" {
        format!("{word}; its start has failed")
    } else {
        word.to_owned()
    }
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

fn usage_json(usage: &Usage) -> Value {
    json!({ "counts": parsed(&usage.counts), "cost": usage.cost })
}

fn interrupt_json(interrupt: &InterruptData) -> Value {
    json!({
        "id": interrupt.id,
        "origin": interrupt.origin,
        "reason": interrupt.reason,
        "payload": parsed(&interrupt.payload),
        "anchor": interrupt.anchor,
        "turn": interrupt.turn,
        "question": Some(&interrupt.question).filter(|question| !question.is_empty()),
    })
}

/// The interrupts that are open, wherever they pause.
fn open(answer: Answer, interrupts: &[InterruptData]) -> Answer {
    if interrupts.is_empty() {
        return answer;
    }
    interrupts.iter().fold(answer.heading("open interrupts"), |answer, it| {
        let at =
            it.anchor.as_ref().map_or_else(|| "everything".to_owned(), |at| format!("at {at}"));
        let payload = match it.payload.as_str() {
            "null" => String::new(),
            payload => format!(" {}", words::cut(payload, LETTERS)),
        };
        answer.pieces(vec![
            (Paint::Open, format!("  {}", it.id)),
            (Paint::Plain, format!("  {}{payload}", words::quoted(&it.reason, LETTERS))),
            (Paint::Faint, format!("  by {}, pauses {at}", it.origin)),
        ])
    })
}

/// The messages and their calls. A conversation without branches is a list; where it forks, each
/// branch stands under the message that it left.
fn messages(answer: Answer, scope: &Scope<'_>, conversation: &Conversation) -> Answer {
    if conversation.messages.is_empty() && conversation.calls.is_empty() {
        return answer;
    }
    let mut answer = answer.heading("messages");
    if conversation.earlier > 0 {
        let earlier = counted(conversation.earlier as u64, "message");
        answer = answer.line(format!("  … {earlier} before these; `limit N` shows more"));
    }
    for call in &conversation.calls {
        answer = answer.pieces(call_line(scope, call, "  "));
    }
    lines(scope, conversation).into_iter().fold(answer, Answer::pieces)
}

/// A message that is to be told, and where its line begins.
struct Next<'c> {
    said: &'c Said,
    /// What stands before the line.
    lead: String,
    /// What stands before the lines below it.
    below: String,
}

fn lines(scope: &Scope<'_>, conversation: &Conversation) -> Vec<Line> {
    let shown: BTreeMap<&str, &Said> =
        conversation.messages.iter().map(|said| (said.message.id.as_str(), said)).collect();
    // The messages below each; those whose parent is not shown stand at the top.
    let mut below: BTreeMap<Option<&str>, Vec<&Said>> = BTreeMap::new();
    for said in &conversation.messages {
        let parent = said.parent.as_deref().filter(|parent| shown.contains_key(parent));
        below.entry(parent).or_default().push(said);
    }
    let mut lines = Vec::new();
    // The last is told first: what comes next is at the end.
    let mut next = Vec::new();
    push(&mut next, below.get(&None).map_or(&[], Vec::as_slice), "  ");
    while let Some(Next { said, lead, below: under }) = next.pop() {
        lines.push(message_line(conversation, said, &lead));
        for call in said.calls.iter().filter(|call| !is_told(call, &shown)) {
            lines.push(call_line(scope, call, &format!("{under}    ")));
        }
        let children = below.get(&Some(said.message.id.as_str()));
        push(&mut next, children.map_or(&[], Vec::as_slice), &under);
    }
    lines
}

/// Plans the messages below one: a single one goes on in its column, several branch off.
fn push<'c>(next: &mut Vec<Next<'c>>, children: &[&'c Said], under: &str) {
    let [only] = children else {
        let last = children.len().saturating_sub(1);
        next.extend(children.iter().enumerate().rev().map(|(number, &said)| {
            let (turn, on) = if number == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            Next { said, lead: format!("{under}{turn}"), below: format!("{under}{on}") }
        }));
        return;
    };
    next.push(Next { said: only, lead: under.to_owned(), below: under.to_owned() });
}

/// Says whether a call is told by the message that came of it.
fn is_told(call: &Called, shown: &BTreeMap<&str, &Said>) -> bool {
    call.kind == "llm_call" && call.status == "completed" && shown.contains_key(call.id.as_str())
}

fn message_line(conversation: &Conversation, said: &Said, lead: &str) -> Line {
    let message = &said.message;
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let (role_paint, text_paint) =
        if said.on_path { (Paint::Strong, Paint::Plain) } else { (Paint::Faint, Paint::Faint) };
    let mut line = vec![
        (Paint::Faint, lead.to_owned()),
        (role_paint, format!("{role:<9}")),
        (text_paint, format!("  {}", words::said(message))),
        (Paint::Faint, format!("  {}", message.id)),
    ];
    if conversation.head.as_ref() == Some(&message.id) {
        line.push((Paint::Good, "  <- head".to_owned()));
    }
    line
}

fn call_line(scope: &Scope<'_>, call: &Called, lead: &str) -> Line {
    let what = match (call.kind.as_str(), &call.session) {
        ("sub_agent", Some(session)) => format!("sub-agent {} in {session}", call.name),
        ("llm_call", _) => format!("model {}", call.name),
        (_, _) => {
            let arguments = call.arguments.as_deref().filter(|it| !matches!(*it, "" | "{}"));
            format!("{} {}", call.name, words::cut(arguments.unwrap_or("{}"), LETTERS))
        }
    };
    let (paint, state) = match call.status.as_str() {
        "completed" => (Paint::Good, "completed".to_owned()),
        "failed" => (Paint::Bad, "failed".to_owned()),
        "voided" => (Paint::Faint, "voided".to_owned()),
        status => {
            let due = call.due.as_deref().map(|due| format!(", {}", when(due, scope.now)));
            (Paint::Open, format!("{status} at the {}{}", call.handler, due.unwrap_or_default()))
        }
    };
    let attempt =
        if call.attempt > 1 { format!(", attempt {}", call.attempt) } else { String::new() };
    let took = match (call.requested, call.ended) {
        (Some(from), Some(to)) if (to - from).num_seconds() > 0 => {
            format!(" in {}", length(to - from))
        }
        (_, _) => String::new(),
    };
    let outcome =
        call.outcome.as_deref().map(|text| format!(" -> {}", words::quoted(text, LETTERS)));
    vec![
        (Paint::Faint, format!("{lead}· ")),
        (Paint::Plain, what),
        (paint, format!("  {state}{attempt}{took}")),
        (Paint::Plain, outcome.unwrap_or_default()),
        (Paint::Faint, format!("  {}", call.id)),
    ]
}
