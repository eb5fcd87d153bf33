//! The rules of admission, applied to what is known of an agent, a thread and a directory.

use quixos_runtime::{CallError, ObjectRef};
use serde_json::Value;

use super::facts::{flag, number, one, optional, state, text, words};
use super::rules::Rule;
use super::{AGENT, Explanation, Point, REQUEST, THREAD};
use crate::scope::Scope;

/// What is known of where work is admitted.
#[derive(Clone, Debug)]
pub(super) struct AdmissionFacts {
    directory: Value,
    agent: Option<(String, Value)>,
    thread: Option<(String, Value)>,
}

/// The limits of an agent, each with its default.
const LIMITS: [(&str, u64); 4] = [
    ("maxPending", 1024),
    ("maxOrdinaryPending", 768),
    ("maxOptionalPending", 256),
    ("maxCausalDepth", 8),
];

impl AdmissionFacts {
    fn limit(&self, name: &str) -> u64 {
        let default = LIMITS.iter().find(|(it, _)| *it == name).map_or(0, |(_, limit)| *limit);
        let settings = self.agent.as_ref().map_or("", |(_, data)| text(data, "settings"));
        let settings: Value = serde_json::from_str(settings).unwrap_or_default();
        let limit = settings.get("limits").and_then(|limits| limits.get(name));
        limit.and_then(Value::as_u64).unwrap_or(default)
    }

    fn pending(&self) -> u64 {
        number(&self.directory, "pending")
    }

    fn ordinary(&self) -> u64 {
        number(&self.directory, "ordinaryPending")
    }

    /// The three kinds of work, with the first counter that is at its limit.
    fn capacity(&self) -> [(&'static str, Option<String>); 3] {
        let full = |counter: &str, count: u64, name: &str| {
            let limit = self.limit(name);
            (count >= limit).then(|| format!("{counter} is {count}, and {name} is {limit}"))
        };
        let pending = full("pending", self.pending(), "maxPending");
        let ordinary = full("ordinaryPending", self.ordinary(), "maxOrdinaryPending");
        let optional = full("ordinaryPending", self.ordinary(), "maxOptionalPending");
        let ordinary = pending.clone().or(ordinary);
        let optional = ordinary.clone().or(optional);
        [("interactive", pending), ("ordinary", ordinary), ("optional", optional)]
    }
}

/// Reads what is known of where an object admits work: a request's thread, a thread's agent, an
/// agent, a directory's default agent.
pub(super) fn facts(scope: &Scope<'_>, object: ObjectRef) -> Result<AdmissionFacts, CallError> {
    let atom = scope.atom(object)?;
    if atom.id == REQUEST {
        return facts(scope, one(scope, object, "thread")?);
    }
    let (directory, agent, thread) = match atom.id.as_str() {
        THREAD => {
            let agent = one(scope, object, "agent")?;
            (one(scope, object, "directory")?, Some(agent), Some(object))
        }
        AGENT => (one(scope, object, "directory")?, Some(object), None),
        _ => (object, optional(scope, object, "defaultAgent")?, None),
    };
    let named = |object: Option<ObjectRef>| {
        object.map(|it| Ok::<_, CallError>((scope.text(it), state(scope, it, "data")?))).transpose()
    };
    Ok(AdmissionFacts {
        directory: state(scope, directory, "data")?,
        agent: named(agent)?,
        thread: named(thread)?,
    })
}

fn numbers(facts: &AdmissionFacts) -> Vec<(&'static str, String)> {
    let directory = &facts.directory;
    let mut rows = vec![
        ("availability", text(directory, "availability").to_owned()),
        ("profiles", text(directory, "profiles").to_owned()),
        ("pending", format!("{} of {}", facts.pending(), facts.limit("maxPending"))),
        (
            "ordinaryPending",
            format!(
                "{} of {}, for optional work of {}",
                facts.ordinary(),
                facts.limit("maxOrdinaryPending"),
                facts.limit("maxOptionalPending")
            ),
        ),
        ("maxCausalDepth", facts.limit("maxCausalDepth").to_string()),
    ];
    if let Some((agent, data)) = &facts.agent {
        let enabled = if flag(data, "enabled") { "enabled" } else { "disabled" };
        rows.insert(0, ("agent", format!("{agent}, {enabled}")));
    }
    if let Some((thread, data)) = &facts.thread {
        let archived = if flag(data, "archived") { "archived" } else { "open" };
        rows.insert(0, ("thread", format!("{thread}, {archived}")));
    }
    rows
}

/// Explains whether work would be admitted now.
pub(super) fn would_admit(facts: &AdmissionFacts) -> Explanation {
    let mut it = Explanation { facts: numbers(facts), ..Explanation::default() };
    let mut all = false;
    match &facts.agent {
        None => {
            all = true;
            it.reasons.push(Point::new("unknown-agent", "the directory has no default agent"));
        }
        Some((agent, data)) if !flag(data, "enabled") => {
            all = true;
            it.reasons.push(Point::new("agent-disabled", "the agent admits nothing"));
            it.releases.push(
                Point::new("agent-disabled", "enable it")
                    .run(format!("call {agent}.update {{enabled: true}}")),
            );
        }
        Some(_) => {}
    }
    if let Some((thread, data)) = &facts.thread
        && flag(data, "archived")
    {
        all = true;
        it.reasons.push(Point::new("thread-archived", "the thread admits nothing new"));
        it.releases.push(
            Point::new("thread-archived", "bring it back")
                .run(format!("call {thread}.archive false")),
        );
    }
    if text(&facts.directory, "availability") == "offline" {
        it.reasons.push(Point::new("unavailable", "optional work is refused: the host is offline"));
    }
    for (kind, full) in facts.capacity() {
        if let Some(full) = full {
            it.reasons.push(Point::new("capacity", format!("{kind} work is refused: {full}")));
            all |= kind == "interactive";
        }
    }
    let profiles = words(&facts.directory, "profiles");
    if !profiles.is_empty() {
        let text = format!("a profile other than {} is refused", profiles.join(", "));
        it.refusals.push(Point::new("unknown-profile", text));
    }
    it.headline = match (all, it.reasons.is_empty()) {
        (true, _) => "admits no work",
        (false, true) => "admits work of every kind",
        (false, false) => "admits some kinds of work",
    }
    .to_owned();
    it
}

/// Explains a refusal by its rule.
pub(super) fn refused(rule: &Rule, facts: Option<&AdmissionFacts>) -> Explanation {
    Explanation {
        headline: format!("is the answer when {}", rule.when),
        facts: facts.map(numbers).unwrap_or_default(),
        reasons: facts.map(|facts| capacity_reasons(rule, facts)).unwrap_or_default(),
        releases: vec![Point::new(rule.word, rule.release)],
        ..Explanation::default()
    }
}

fn capacity_reasons(rule: &Rule, facts: &AdmissionFacts) -> Vec<Point> {
    if rule.word != "capacity" {
        return Vec::new();
    }
    facts
        .capacity()
        .into_iter()
        .map(|(kind, full)| {
            let text = match full {
                Some(full) => format!("{kind} work is refused now: {full}"),
                None => format!("{kind} work is admitted now"),
            };
            Point::new("capacity", text)
        })
        .collect()
}
