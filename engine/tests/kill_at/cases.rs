//! When an engine is killed, what is done before and after it, and what that comes to.

use quixos_engine::provider::scripted::Scripted;
use quixos_protocol::{CallHandler, DecisionRequest, Format, Trigger};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::reply::Reply;
use crate::support::AGENT;
use crate::world::{CHILD, model_of};

/// How much of an answer there is when the engine is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    /// Nothing: it was asked for.
    Asked,
    /// Half of what is sent.
    Halfway,
    /// The engine has read all of it, and taken no step.
    Answered,
}

impl Hold {
    pub(crate) const ALL: [Self; 3] = [Self::Asked, Self::Halfway, Self::Answered];

    fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Halfway => "half answered",
            Self::Answered => "answered",
        }
    }
}

/// What is done while an engine lives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Act {
    /// A client submits an input to the session.
    Submit(Value),
    /// Waits for the n-th event of a type in its log.
    Until(String, usize),
    /// A client cancels the turn.
    Cancel(String),
    /// Ends a call of a tool, or without its name that of a model, from outside.
    Settle { by: String, tool: Option<String>, result: Value },
    /// Waits until the answer at which the engine is killed is held back.
    Held,
}

/// How a turn ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Done,
    Cancelled,
}

/// A moment at which an engine is killed.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What the model calls before it says what it has to say.
    pub(crate) calls: Vec<String>,
    /// In which form models are called; none is our own.
    pub(crate) form: Option<Format>,
    pub(crate) stream: bool,
    pub(crate) handler: CallHandler,
    /// The tools that the client runs.
    pub(crate) client_tools: bool,
    /// What is held back when it is asked for first.
    pub(crate) held: Option<&'static str>,
    pub(crate) hold: Hold,
    /// What fails when it is asked for first, and may be tried again.
    pub(crate) fails_first: Option<&'static str>,
    /// How the worker decides where it does not answer what is proposed.
    pub(crate) decides: fn(&DecisionRequest) -> Option<Value>,
    /// What is done before the engine is killed.
    pub(crate) first: Vec<Act>,
    /// What is done once another one has been started.
    pub(crate) then: Vec<Act>,
    /// What is not asked once: by its name, how often.
    pub(crate) not_once: Vec<(&'static str, usize)>,
    pub(crate) end: End,
    /// The conversation at the end.
    pub(crate) said: Vec<&'static str>,
}

impl Case {
    /// A turn in which a model speaks, asked once more for what was held back.
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            calls: Vec::new(),
            form: Some(Format::Openai),
            stream: false,
            handler: CallHandler::Server,
            client_tools: false,
            held: None,
            hold: Hold::Asked,
            fails_first: None,
            decides: |_| None,
            first: vec![message("t1"), Act::Held],
            then: Vec::new(),
            not_once: Vec::new(),
            end: End::Done,
            said: vec!["user: go", "assistant: It is done."],
        }
    }

    /// Kills it at something that is asked again.
    fn held(self, what: &'static str, hold: Hold) -> Self {
        let name = format!("{}, {what} {}", self.name, hold.word());
        Self { name, held: Some(what), hold, not_once: vec![(what, 2)], ..self }
    }

    /// Kills it once something was done.
    fn after(self, first: Vec<Act>) -> Self {
        Self { first: [vec![message("t1")], first].concat(), ..self }
    }

    fn then(self, then: Vec<Act>) -> Self {
        Self { then, ..self }
    }

    /// Lets the model call tools, or a sub-agent.
    fn calling(self, calls: &[&'static str]) -> Self {
        let mut said = vec!["user: go", "assistant: Let me see."];
        said.extend(calls.iter().map(|name| match *name {
            "look" => "tool: look answered",
            "listen" => "tool: listen answered",
            _ => "tool: It is done.",
        }));
        said.push("assistant: It is done.");
        Self { calls: calls.iter().map(|&name| name.to_owned()).collect(), said, ..self }
    }

    /// Says that the answer to the tool called last is told first.
    fn last_first(mut self) -> Self {
        self.said.swap(2, 3);
        self
    }

    /// Returns the config of the agent, or of its sub-agent.
    pub(crate) fn config(&self, is_child: bool) -> Value {
        let end = if is_child { CHILD } else { "" };
        let model = format!("{}{end}", model_of(self.form, self.handler));
        let handler = if self.client_tools { "client" } else { "worker" };
        let tools = ["look", "listen"].map(|name| json!({"name": name, "handler": handler}));
        let retry = json!({"timeout_secs": 60, "max_retries": 2, "backoff_base_secs": 1,
            "backoff_max_secs": 1});
        let mut config = json!({
            "model": model, "stream": self.stream, "handler": self.handler, "retry": retry,
            "tools": tools, "sub_agents": [{"id": Scripted::RESEARCHER}],
        });
        if self.handler == CallHandler::Worker {
            config["format"] = json!(self.form);
        }
        config
    }
}

/// A client says something, which begins a turn.
fn message(turn: &str) -> Act {
    let message = json!({"role": "user", "content": "go"});
    Act::Submit(json!({"type": "client.message", "agent_id": AGENT, "turn_id": turn,
        "message": message}))
}

fn until(kind: &str, times: usize) -> Act {
    Act::Until(kind.to_owned(), times)
}

fn resume() -> Act {
    Act::Submit(json!({"type": "interrupt.resume", "interrupt_id": "i1", "payload": "yes"}))
}

fn settle(by: &str, tool: Option<&str>, result: Value) -> Act {
    Act::Settle { by: by.to_owned(), tool: tool.map(str::to_owned), result }
}

/// Records what was said, and asks before anything else happens.
fn asks_first(request: &DecisionRequest) -> Option<Value> {
    let Trigger::ClientMessages(_) = request.trigger else { return None };
    let interrupt = json!({"type": "interrupt", "interrupt_id": "i1", "reason": "Really?"});
    Some(json!({"messages": request.proposed.messages, "actions": [interrupt]}))
}

/// Leaves what it is to run for later.
fn defers(request: &DecisionRequest) -> Option<Value> {
    match &request.trigger {
        Trigger::ToolExecute(execute) if execute.name == "look" => Some(json!({})),
        Trigger::LlmExecute(_) => Some(json!({})),
        Trigger::SessionStart
        | Trigger::ClientMessages(_)
        | Trigger::ClientAction(_)
        | Trigger::ToolExecute(_)
        | Trigger::ToolFinished(_)
        | Trigger::LlmFinished(_)
        | Trigger::SubAgentFinished(_)
        | Trigger::InterruptResumed(_) => None,
    }
}

/// Fails the first attempt of a tool, which it has let be tried again.
fn fails_a_tool(request: &DecisionRequest) -> Option<Value> {
    match &request.trigger {
        Trigger::ToolExecute(execute) if execute.attempt == 1 => {
            let error = json!({"type": "tool.error", "error": "busy", "retryable": true});
            Some(json!({ "actions": [error] }))
        }
        Trigger::LlmFinished(_) => {
            let mut decided = json!(request.proposed);
            for action in decided["actions"].as_array_mut()? {
                if action["type"] == "tool.call" {
                    action["retry"] = json!({"timeout_secs": null, "max_retries": 1,
                        "backoff_base_secs": 1, "backoff_max_secs": 1});
                }
            }
            Some(decided)
        }
        Trigger::SessionStart
        | Trigger::ClientMessages(_)
        | Trigger::ClientAction(_)
        | Trigger::ToolExecute(_)
        | Trigger::ToolFinished(_)
        | Trigger::LlmExecute(_)
        | Trigger::SubAgentFinished(_)
        | Trigger::InterruptResumed(_) => None,
    }
}

/// Ends the turn of an action.
fn acts(request: &DecisionRequest) -> Option<Value> {
    let Trigger::ClientAction(_) = request.trigger else { return None };
    Some(json!({"actions": [{"type": "done", "data": 1}]}))
}

/// Returns every moment.
pub(crate) fn cases() -> Vec<Case> {
    [decisions(), models(), tools(), children(), waits(), cancels()].concat()
}

/// A worker is asked to decide, for each trigger.
fn decisions() -> Vec<Case> {
    let plain = || Case::new("a turn");
    let tool = || Case::new("a tool").calling(&["look"]);
    let action = json!({"type": "client.action", "agent_id": AGENT, "turn_id": "t1", "name": "x"});
    let action = Case {
        decides: acts,
        first: vec![Act::Submit(action), Act::Held],
        said: Vec::new(),
        ..Case::new("an action")
    };
    let paused = Case { decides: asks_first, ..Case::new("a pause") };
    let resumed = paused.after(vec![until("session.interrupted", 1), resume(), Act::Held]);
    let own = Case { handler: CallHandler::Worker, form: None, ..Case::new("a worker's model") };
    let child = || Case::new("a child").calling(&[Scripted::RESEARCHER]);
    let triggers = [
        ("session.start", plain()),
        ("client.messages", plain()),
        ("client.action", action),
        ("tool.execute look", tool()),
        ("tool.finished look", tool()),
        ("llm.execute", own),
        ("llm.finished", plain()),
        ("llm.finished again", tool()),
        ("sub_agent.finished", child()),
        ("child session.start", child()),
        ("child client.messages", child()),
        ("child llm.finished", child()),
        ("interrupt.resumed", resumed),
    ];
    let each =
        |(what, case): (&'static str, Case)| Hold::ALL.map(|hold| case.clone().held(what, hold));
    triggers.into_iter().flat_map(each).collect()
}

/// A model is called, by whom and in whatever form.
fn models() -> Vec<Case> {
    let mut cases = Vec::new();
    for handler in [CallHandler::Server, CallHandler::Worker] {
        let (forms, whose, what): (&[_], _, _) = match handler {
            CallHandler::Server => {
                (&[Some(Format::Openai), Some(Format::Anthropic)], "the engine's", "model")
            }
            CallHandler::Worker => (
                &[None, Some(Format::Openai), Some(Format::Anthropic)],
                "the worker's",
                "llm.execute",
            ),
        };
        for &form in forms {
            for stream in [false, true] {
                for hold in Hold::ALL {
                    let how = if stream { "streamed" } else { "in one piece" };
                    let form_name = form.map_or("our own".to_owned(), |form| format!("{form:?}"));
                    let name = format!("{whose} model, {form_name}, {how}");
                    let case = Case { handler, form, stream, ..Case::new(name) };
                    cases.push(case.clone().held(what, hold));
                    // The call that came before it is recorded, and is not paid again.
                    let again = if what == "model" { "model again" } else { "llm.execute again" };
                    cases.push(case.calling(&["look"]).held(again, hold));
                }
            }
        }
    }
    let own = Case { handler: CallHandler::Worker, form: None, ..Case::new("a model, for later") };
    let reply = Reply { model: "own", calls: &[] }.body(None);
    // The start, the message, and the call itself are answered.
    let later = Case { decides: defers, ..own }.after(vec![until("decision.completed", 3)]);
    cases.push(later.then(vec![settle("machine", None, reply)]));
    cases
}

/// Tools are called.
fn tools() -> Vec<Case> {
    let both = || Case::new("two tools").calling(&["look", "listen"]);
    let two = Hold::ALL.map(|hold| both().held("tool.execute listen", hold));
    let told = Hold::ALL.map(|hold| both().held("tool.finished listen", hold));
    let look = || settle("machine", Some("look"), json!("look answered"));
    let deferred = Case { decides: defers, ..Case::new("a tool, for later") }.calling(&["look"]);
    let one_deferred = Case { decides: defers, ..both() }.held("tool.execute listen", Hold::Asked);
    let mut client = Case { client_tools: true, ..Case::new("a client's tool") }.calling(&["look"]);
    client = client.after(vec![until("tool.call.dispatched", 1)]);
    let one_left = Case { client_tools: true, ..Case::new("a client's two tools") }
        .calling(&["look", "listen"])
        .after(vec![
            until("tool.call.dispatched", 2),
            settle("frontend", Some("listen"), json!("listen answered")),
            // The start, the message, the reply, and this.
            until("decision.completed", 4),
        ]);
    let mut cases = Vec::from(two);
    cases.extend(told);
    cases.extend([
        deferred.after(vec![until("decision.completed", 4)]).then(vec![look()]),
        one_deferred.then(vec![until("tool.call.completed", 1), look()]).last_first(),
        client.then(vec![settle("frontend", Some("look"), json!("look answered"))]),
        one_left.then(vec![settle("frontend", Some("look"), json!("look answered"))]).last_first(),
    ]);
    cases
}

/// A sub-agent is at work.
fn children() -> Vec<Case> {
    let mut cases = Vec::new();
    for stream in [false, true] {
        for hold in Hold::ALL {
            let case = Case { stream, ..Case::new(format!("a child, stream {stream}")) };
            cases.push(case.calling(&[Scripted::RESEARCHER]).held("child model", hold));
        }
    }
    let beside = Case::new("a child and a tool").calling(&[Scripted::RESEARCHER, "look"]);
    cases.push(beside.held("child model", Hold::Asked).last_first());
    cases
}

/// Nobody is asked: a client, or a time, is waited for.
fn waits() -> Vec<Case> {
    let paused = Case { decides: asks_first, ..Case::new("a pause") };
    let model = Case { fails_first: Some("model"), ..Case::new("a model's next try") };
    let decision =
        Case { fails_first: Some("client.messages"), ..Case::new("a decision's next try") };
    let tool = Case { decides: fails_a_tool, ..Case::new("a tool's next try") }.calling(&["look"]);
    let twice = |case: Case, what, event| {
        Case { not_once: vec![(what, 2)], ..case }.after(vec![until(event, 1)])
    };
    vec![
        paused.after(vec![until("session.interrupted", 1)]).then(vec![resume()]),
        twice(model, "model", "llm.call.errored"),
        twice(decision, "client.messages", "decision.errored"),
        twice(tool, "tool.execute look", "tool.call.errored"),
    ]
}

/// A turn is cancelled. What was out is not asked for again.
fn cancels() -> Vec<Case> {
    let cancel = || Act::Cancel("t1".to_owned());
    let whole = ["user: go", "assistant: It is done."];
    let cancelled = |case: Case, what: &'static str, said: Vec<&'static str>| {
        let case = case.held(what, Hold::Asked).after(vec![Act::Held, cancel()]);
        Case { not_once: Vec::new(), end: End::Cancelled, said, ..case }
    };
    let model = cancelled(Case::new("a cancel"), "model", vec![whole[0]]);
    let streamed =
        Case { stream: true, form: Some(Format::Anthropic), ..Case::new("a cancel, streamed") };
    let streamed = cancelled(streamed, "model", vec![whole[0]]);
    let calling = vec![whole[0], "assistant: Let me see."];
    let tool =
        cancelled(Case::new("a cancel").calling(&["look"]), "tool.execute look", calling.clone());
    let child =
        cancelled(Case::new("a cancel").calling(&[Scripted::RESEARCHER]), "child model", calling);
    let decision = cancelled(Case::new("a cancel"), "llm.finished", vec![whole[0]]);
    vec![model, streamed, tool, child, decision]
}
