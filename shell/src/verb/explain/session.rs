//! Why a session, or a turn of it, does not go on.
//!
//! Which thing holds it up is said by the crate that has the rules of sessions; here each is put
//! into words, with the commands that release it.

use quixos_runtime::{Atom, CallError, Holder, ObjectRef, Ref};
use quixos_session::Reader;
use quixos_session::sessions::SessionObject;
use quixos_session::standing::{Hold, Standing, Status, Step};

use super::facts::{flag, state, text};
use super::{Explanation, Point, answer, when};
use crate::output::{Answer, counted};
use crate::scope::Scope;
use crate::verb::session::words;

/// How far back the log is searched for why something failed.
const BACK: u64 = 2_000;

/// How many of the turns that wait are named.
const SHOWN: usize = 5;

/// Explains a session, or a turn of it.
///
/// # Errors
/// A turn that is not there; that the store cannot be read.
pub(crate) fn explain(
    scope: &Scope<'_>,
    reader: &Reader<'_>,
    turn: Option<&str>,
) -> Result<Answer, CallError> {
    let standing = reader.standing(scope.now)?;
    let subject = reader.binding()?.session_id;
    match turn.filter(|turn| standing.turn.as_deref() != Some(turn)) {
        Some(turn) => other_turn(scope, reader, &standing, turn),
        None => Ok(answer(&subject, Explaining::of(scope, reader, &standing)?.explanation())),
    }
}

/// Returns the session whose turn a request is, and how that is explained.
pub(super) fn of_request(
    scope: &Scope<'_>,
    request: ObjectRef,
) -> Result<Option<String>, CallError> {
    let thread = super::facts::one(scope, request, "thread")?;
    let holders = scope.snapshot.holders(thread, None, usize::MAX)?;
    let is_session = |it: &&Holder| it.source.atom == SessionObject::TAG && it.edge == "thread";
    let Some(holder) = holders.iter().find(is_session) else { return Ok(None) };
    let session = Reader::on(scope.snapshot, Ref::checked(holder.source)?).binding()?.session_id;
    let id = words::id(&session);
    Ok(Some(format!("{session}, whose engine moves it: `session explain {id}`")))
}

/// A turn that is not the active one: it waits, or is over.
fn other_turn(
    scope: &Scope<'_>,
    reader: &Reader<'_>,
    standing: &Standing,
    turn: &str,
) -> Result<Answer, CallError> {
    let request = reader.turn(turn)?;
    let request =
        request.ok_or_else(|| CallError::NotFound { what: format!("a turn `{turn}`") })?;
    let session = reader.binding()?.session_id;
    let id = words::id(&session);
    let progress = state(scope, request.object(), "progress")?;
    let mut it = Explanation {
        facts: vec![("session", session), ("request", scope.text(request.object()))],
        ..Explanation::default()
    };
    match reader.waiting()?.iter().position(|waiting| *waiting == request) {
        Some(place) => {
            it.headline = "waits for its turn".to_owned();
            if let Some(active) = &standing.turn {
                let text = format!("turn {active} of the session is active");
                it.reasons.push(Point::new("turn-active", text));
                it.releases.push(
                    Point::new("turn-active", "that turn has to end; see where it stands")
                        .run(format!("session explain {id}")),
                );
            }
            if place > 0 {
                let ahead = counted(place as u64, "turn");
                it.reasons.push(Point::new("ahead", format!("{ahead} came before it")));
            }
            it.releases.push(
                Point::new("cancel", "cancelled now, it never begins")
                    .run(format!("session cancel {id} turn {}", words::id(turn))),
            );
        }
        None => {
            let status = text(&progress, "status");
            it.headline = format!("is {status}: it is over");
            it.facts.push(("ended", when(text(&progress, "endedAt"), scope.now)));
            let reason = text(&progress, "reason");
            if !reason.is_empty() {
                it.facts.push(("reason", reason.to_owned()));
            }
        }
    }
    Ok(answer(turn, it))
}

/// A session that is being explained.
struct Explaining<'e> {
    scope: &'e Scope<'e>,
    reader: &'e Reader<'e>,
    standing: &'e Standing,
    /// The session's id, as commands take it.
    id: String,
    agent: String,
    it: Explanation,
}

impl<'e> Explaining<'e> {
    fn of(
        scope: &'e Scope<'e>,
        reader: &'e Reader<'e>,
        standing: &'e Standing,
    ) -> Result<Self, CallError> {
        let binding = reader.binding()?;
        let it = Explanation { headline: headline(standing), ..Explanation::default() };
        let id = words::id(&binding.session_id);
        let mut this = Self { scope, reader, standing, id, agent: binding.agent_id, it };
        this.facts()?;
        for (place, hold) in standing.holds.iter().enumerate() {
            this.hold(place, hold)?;
        }
        this.rest()?;
        Ok(this)
    }

    fn explanation(self) -> Explanation {
        self.it
    }

    fn facts(&mut self) -> Result<(), CallError> {
        let (scope, reader, standing) = (self.scope, self.reader, self.standing);
        let now = scope.now;
        self.fact("status", standing.status.word().to_owned());
        if let Some(turn) = &standing.turn {
            self.fact("turn", turn.clone());
        }
        if let Some(request) = reader.request()? {
            let progress = state(scope, request.object(), "progress")?;
            let text = format!("{}, {}", scope.text(request.object()), text(&progress, "status"));
            self.fact("request", text);
        }
        if standing.waiting > 0 {
            let behind = reader.waiting()?;
            let shown = behind.iter().take(SHOWN).map(|request| scope.text(request.object()));
            let shown = shown.collect::<Vec<_>>().join(", ");
            let count = counted(standing.waiting as u64, "turn");
            let more = if behind.len() > SHOWN { ", …" } else { "" };
            self.fact("behind it", format!("{count}: {shown}{more}"));
        }
        if !standing.engine.is_empty() {
            self.fact("engine", words::engine(standing, now));
        }
        let events = reader.log_len()?;
        if let Some(last) = reader.log(events.saturating_sub(1), 1)?.pop() {
            let at = crate::scope::instant_text(last.instant);
            self.fact("last event", format!("{}, {}", last.event.kind, when(&at, now)));
        }
        let agent = format!("{} ({})", self.agent, scope.text(reader.agent()?.object()));
        self.fact("agent", agent);
        Ok(())
    }

    fn fact(&mut self, name: &'static str, value: String) {
        self.it.facts.push((name, value));
    }

    fn why(&mut self, rule: &'static str, text: impl Into<String>) {
        self.it.reasons.push(Point::new(rule, text));
    }

    fn release(&mut self, rule: &'static str, text: impl Into<String>, command: Option<String>) {
        let point = Point::new(rule, text);
        self.it.releases.push(match command {
            Some(command) => point.run(command),
            None => point,
        });
    }

    fn hold(&mut self, place: usize, hold: &Hold) -> Result<(), CallError> {
        let now = self.scope.now;
        let id = self.id.clone();
        match hold {
            Hold::Unclaimed => {
                self.why("unclaimed", "no engine has taken it, and until then nothing is begun");
                let text = format!(
                    "a host that has a worker for the agent `{}` takes it: `quixos serve`",
                    self.agent
                );
                self.release("unclaimed", text, None);
            }
            Hold::Lapsed { engine, until } => {
                let until = until.as_deref().map(|until| format!(", until {}", when(until, now)));
                let until = until.unwrap_or_default();
                self.why(
                    "engine-gone",
                    format!("the engine `{engine}` no longer says that it lives{until}"),
                );
                let text = "the same engine takes it up when it starts, any other at once: \
                            `quixos serve`";
                self.release("engine-gone", text, None);
            }
            Hold::Interrupt { id: interrupt, origin, reason, .. } => {
                let by = if origin == "machine" {
                    "only an operator resumes it"
                } else {
                    "its client or an operator resumes it"
                };
                self.why("interrupt", format!("{interrupt} pauses it: {reason:?}; {by}"));
                self.release(
                    "interrupt",
                    "answer it; the JSON goes to the worker",
                    Some(format!("session answer {id} {} null", words::id(interrupt))),
                );
            }
            Hold::Decision { id: decision, kind, step, attempts, failures, due, .. } => {
                let due = due.as_deref().map(|due| when(due, now)).unwrap_or_default();
                match step {
                    Step::Pending => {
                        let until = if due.is_empty() {
                            "without a deadline".to_owned()
                        } else {
                            format!("until {due}")
                        };
                        self.why(
                            "worker",
                            format!(
                                "the worker has {decision} ({kind}), delivery {attempts}, {until}"
                            ),
                        );
                        self.failed(decision, *failures)?;
                        let text = format!(
                            "the worker of `{}` answers; after the deadline it is asked again",
                            self.agent
                        );
                        self.release("worker", text, None);
                    }
                    Step::RetryScheduled => {
                        self.why("retry", format!("delivery {attempts} of {decision} ({kind}) failed; the next is at {due}"));
                        self.failed(decision, *failures)?;
                        let text = format!("mend the worker of `{}`, and wait", self.agent);
                        self.release("retry", text, None);
                    }
                    Step::Queued => self.queued(place, &format!("{decision} ({kind})")),
                }
            }
            Hold::Call {
                id: call,
                kind,
                handler,
                name,
                session,
                step,
                attempt,
                failures,
                due,
                ..
            } => {
                let due = due.as_deref().map(|due| when(due, now));
                let what = match (kind.as_str(), session) {
                    ("sub_agent", Some(_)) => format!("the sub-agent {name}"),
                    ("llm_call", _) => format!("the model {name}"),
                    (_, _) => format!("the tool {name}"),
                };
                match step {
                    Step::Queued => {
                        self.queued(place, &format!("{call} ({what})"));
                        return Ok(());
                    }
                    Step::RetryScheduled => {
                        let due = due.unwrap_or_default();
                        self.why(
                            "retry",
                            format!("{call}: {what} failed; attempt {attempt} is at {due}"),
                        );
                        self.failed(call, *failures)?;
                        return Ok(());
                    }
                    Step::Pending => {}
                }
                let until = due
                    .map_or_else(|| "without a deadline".to_owned(), |due| format!("until {due}"));
                let with = match (kind.as_str(), handler.as_str()) {
                    ("sub_agent", _) => "a sub-agent",
                    (_, "client") => "its client",
                    (_, "worker") => "the worker",
                    (_, _) => "the engine",
                };
                self.why("call", format!("{with} has {call} ({what}), attempt {attempt}, {until}"));
                self.failed(call, *failures)?;
                match (kind.as_str(), session) {
                    ("sub_agent", Some(child)) => self.release(
                        "call",
                        "the sub-agent's turn has to end; see where it stands",
                        Some(format!("session explain {}", words::id(child))),
                    ),
                    (_, _) if handler != "server" => {
                        let call = words::id(call);
                        let text = "it is answered, or you answer it";
                        self.release(
                            "call",
                            text,
                            Some(format!("session answer {id} {call} {{}}")),
                        );
                        let text = "or you say that it failed";
                        self.release(
                            "call",
                            text,
                            Some(format!("session fail {id} {call} \"TEXT\"")),
                        );
                    }
                    (_, _) => {}
                }
            }
            Hold::Send { id: send, session } => {
                self.why("message", format!("{send}, a message to {session}, is to be delivered"));
            }
        }
        Ok(())
    }

    /// Something that has not begun: what stands before it has to go first.
    fn queued(&mut self, place: usize, what: &str) {
        let first = self.standing.holds.first().filter(|_| place > 0);
        self.why(
            "queued",
            match first {
                Some(Hold::Unclaimed | Hold::Lapsed { .. }) | None => {
                    format!("{what} waits for its turn")
                }
                Some(hold) => format!("{what} waits behind {}", words::brief(hold, self.scope.now)),
            },
        );
    }

    /// Why the last try of something failed.
    fn failed(&mut self, id: &str, failures: u32) -> Result<(), CallError> {
        if failures == 0 {
            return Ok(());
        }
        let found = self.reader.newest_event(BACK, |event| {
            let about = event.text("decision_id") == Some(id) || event.text("call_id") == Some(id);
            about && event.kind.ends_with(".errored")
        })?;
        let error = found.and_then(|logged| logged.event.text("error").map(str::to_owned));
        if let Some(error) = error {
            let times = counted(failures.into(), "time");
            self.why(
                "failed",
                format!(
                    "it failed {times}, the last time with {}",
                    words::quoted(&error, words::LETTERS)
                ),
            );
        }
        Ok(())
    }

    /// What goes for the session as a whole.
    fn rest(&mut self) -> Result<(), CallError> {
        let (scope, standing, id) = (self.scope, self.standing, self.id.clone());
        if standing.start == "failed" {
            self.why(
                "start-failed",
                "`session.start` failed for good; the next message asks it again",
            );
        }
        let agent = state(scope, self.reader.agent()?.object(), "data")?;
        if !flag(&agent, "enabled") {
            let text = "new turns are refused (`not-admitted:agent-disabled`)";
            self.it.refusals.push(Point::new("agent-disabled", text));
        }
        match standing.status {
            Status::Cancelled => {
                self.it.refusals.push(Point::new("cancelled", "it takes nothing any more"));
                return Ok(());
            }
            Status::Interrupted => {
                let text = "new turns are refused (`interrupted`) while it is paused";
                self.it.refusals.push(Point::new("interrupted", text));
            }
            Status::Working | Status::Waiting => {
                let text = "another turn of a client is refused (`turn-already-active`)";
                self.it.refusals.push(Point::new("turn-already-active", text));
            }
            Status::Done | Status::Idle => {
                self.release(
                    "message",
                    "send it a message",
                    Some(format!("session send {id} \"TEXT\"")),
                );
            }
        }
        if standing.turn.is_some() {
            let text = "its turn is cancelled, with all that runs for it";
            self.release("cancel", text, Some(format!("session cancel {id}")));
        }
        Ok(())
    }
}

fn headline(standing: &Standing) -> String {
    let text = match standing.status {
        Status::Cancelled => "is cancelled, for good",
        Status::Interrupted => "is paused",
        Status::Working
            if matches!(standing.holds.first(), Some(Hold::Unclaimed | Hold::Lapsed { .. })) =>
        {
            "does not go on: no engine drives it"
        }
        Status::Working => "is at work",
        Status::Waiting => "waits for its client",
        Status::Done | Status::Idle => "has nothing to do: it waits for the next message",
    };
    text.to_owned()
}
