//! The worker and the providers. They outlive the engines that ask them, count what they are asked,
//! and hold back the answer at which the engine is to be killed.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use quixos_protocol::{CallHandler, DecisionRequest, Format, LlmRequest, Role, Trigger};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::cases::{Case, Hold};
use crate::reply::{Reply, frame};
use crate::support::AGENT;
use crate::wire::{Received, answer, receive};

/// The model of the agent that is spoken to, by the form that it is called in, and the end of the
/// name of its sub-agent's.
pub(crate) const OPENAI: &str = "gpt";
pub(crate) const ANTHROPIC: &str = "claude";
pub(crate) const CHILD: &str = "-child";

/// Names what a worker is asked.
pub(crate) fn asked_of_worker(request: &DecisionRequest) -> String {
    let whose = if request.agent_id == AGENT { "" } else { "child " };
    let tool = match &request.trigger {
        Trigger::ToolExecute(execute) => format!(" {}", execute.name),
        Trigger::ToolFinished(finished) => format!(" {}", finished.name),
        Trigger::LlmExecute(_) | Trigger::LlmFinished(_) => {
            later(request.messages.iter().any(|message| message.role == Role::Tool))
        }
        Trigger::SessionStart
        | Trigger::ClientMessages(_)
        | Trigger::ClientAction(_)
        | Trigger::SubAgentFinished(_)
        | Trigger::InterruptResumed(_) => String::new(),
    };
    format!("{whose}{}{tool}", request.trigger.kind())
}

/// Names what a provider is asked.
pub(crate) fn asked_of_provider(request: &LlmRequest) -> String {
    let told = request.messages.iter().any(|message| message.role == Role::Tool);
    asked_of_model(&request.model, told)
}

fn asked_of_model(model: &str, told: bool) -> String {
    let whose = if model.ends_with(CHILD) { "child " } else { "" };
    format!("{whose}model{}", later(told))
}

/// Says whether tools have answered already.
fn later(told: bool) -> String {
    if told { " again".to_owned() } else { String::new() }
}

/// What was asked so far.
#[derive(Default)]
struct Asked {
    counts: BTreeMap<String, usize>,
    /// What each decision asked when it was delivered first, and which delivery was the last.
    decisions: BTreeMap<String, (Value, u32)>,
    /// What was asked in a way that nobody may be asked.
    faults: Vec<String>,
}

/// The world outside of an engine.
pub(crate) struct World {
    pub(crate) url: String,
    shared: Arc<Shared>,
    held: Receiver<()>,
}

struct Shared {
    case: Case,
    asked: Mutex<Asked>,
    hold: Sender<()>,
}

impl World {
    pub(crate) async fn start(case: Case) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (hold, held) = channel();
        let shared = Arc::new(Shared { case, asked: Mutex::default(), hold });
        let served = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&served).serve(connection));
            }
        });
        Self { url, shared, held }
    }

    /// Waits until an answer is held back.
    pub(crate) fn held(&self) {
        self.held.recv_timeout(crate::support::PATIENCE).unwrap();
    }

    /// Returns how often each thing was asked, and what was wrong with how it was asked.
    pub(crate) fn asked(&self) -> (BTreeMap<String, usize>, Vec<String>) {
        let asked = self.shared.asked.lock().unwrap();
        (asked.counts.clone(), asked.faults.clone())
    }
}

/// An answer, in two parts: what comes before the engine is killed half-way, and the rest.
struct Parts(Vec<u8>, Vec<u8>);

impl Parts {
    fn of_body(body: &Value) -> Self {
        let mut first =
            answer("200 OK", "content-type: application/json\r\n", body.to_string().as_bytes());
        let rest = first.split_off(first.len() - body.to_string().len() / 2);
        Self(first, rest)
    }

    /// Of a stream. Half of it is said when some of its frames are whole, and one is not.
    fn of_stream(frames: &[Vec<u8>]) -> Self {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let (whole, open) = frames.split_at(frames.len() / 2);
        let mut first = [head.as_bytes(), &whole.concat()].concat();
        let mut rest = open.concat();
        let begun = rest.split_off(3);
        first.extend(rest);
        Self(first, begun)
    }
}

impl Shared {
    async fn serve(self: Arc<Self>, mut connection: TcpStream) -> std::io::Result<()> {
        connection.set_nodelay(true)?;
        let Some(received) = receive(&mut connection).await else { return Ok(()) };
        let (key, Parts(first, rest)) = self.answer(&received);
        let nth = {
            let mut asked = self.asked.lock().unwrap();
            let count = asked.counts.entry(key.clone()).or_default();
            *count += 1;
            *count
        };
        if nth == 1 && self.case.fails_first == Some(key.as_str()) {
            connection.write_all(&answer("503 Service Unavailable", "", b"")).await?;
            return connection.shutdown().await;
        }
        // Only the engine that is killed waits for ever; it goes with its connection.
        let is_held = nth == 1 && self.case.held == Some(key.as_str());
        if is_held && self.case.hold == Hold::Asked {
            let _ = self.hold.send(());
            return std::future::pending().await;
        }
        connection.write_all(&first).await?;
        connection.flush().await?;
        if is_held && self.case.hold == Hold::Halfway {
            let _ = self.hold.send(());
            return std::future::pending().await;
        }
        connection.write_all(&rest).await?;
        connection.shutdown().await
    }

    fn answer(&self, received: &Received) -> (String, Parts) {
        let body: Value = serde_json::from_slice(&received.body).unwrap();
        let path = received.head.split(' ').nth(1).unwrap();
        match path {
            "/worker" => self.decide(body),
            "/openai/chat/completions" => self.model(Format::Openai, &body),
            "/anthropic/v1/messages" => self.model(Format::Anthropic, &body),
            other => panic!("nobody is at {other}"),
        }
    }

    fn model(&self, form: Format, body: &Value) -> (String, Parts) {
        let told = body["messages"].as_array().unwrap().iter().any(|message| {
            let parts = message["content"].as_array();
            message["role"] == "tool"
                || parts.is_some_and(|parts| parts.iter().any(|it| it["type"] == "tool_result"))
        });
        let model = body["model"].as_str().unwrap();
        let key = asked_of_model(model, told);
        let reply = Reply { model, calls: self.calls(model, told) };
        if body["stream"] != true {
            return (key, Parts::of_body(&reply.body(Some(form))));
        }
        let mut frames: Vec<_> = reply
            .events(Some(form))
            .iter()
            .map(|event| match form {
                Format::Openai => frame(None, event),
                Format::Anthropic => frame(event["type"].as_str(), event),
            })
            .collect();
        if form == Format::Openai {
            frames.push(b"data: [DONE]\n\n".to_vec());
        }
        (key, Parts::of_stream(&frames))
    }

    /// Returns which tools a model calls.
    fn calls(&self, model: &str, told: bool) -> &[String] {
        if told || model.ends_with(CHILD) { &[] } else { &self.case.calls }
    }

    fn decide(&self, body: Value) -> (String, Parts) {
        let request: DecisionRequest = serde_json::from_value(body.clone()).unwrap();
        self.look_at(&request, body);
        let key = asked_of_worker(&request);
        let is_halfway = self.case.held == Some(key.as_str()) && self.case.hold == Hold::Halfway;
        if let Some(decided) = (self.case.decides)(&request) {
            return (key, Parts::of_body(&decided));
        }
        let decided = match &request.trigger {
            Trigger::SessionStart => json!({"agent": self.case.config(request.agent_id != AGENT)}),
            Trigger::ToolExecute(execute) => {
                let result = format!("{} answered", execute.name);
                json!({"actions": [{"type": "tool.result", "result": result}]})
            }
            Trigger::LlmExecute(execute) => {
                let told = request.messages.iter().any(|message| message.role == Role::Tool);
                let model = execute.request["model"].as_str().unwrap();
                let reply = Reply { model, calls: self.calls(model, told) };
                let response = reply.body(execute.format);
                let decided = json!({"actions": [{"type": "llm.result", "response": response}]});
                if execute.stream {
                    let deltas = reply.events(execute.format);
                    let mut frames: Vec<_> =
                        deltas.iter().map(|delta| frame(Some("llm.token.delta"), delta)).collect();
                    frames.push(frame(Some("decision.result"), &decided));
                    return (key, Parts::of_stream(&frames));
                }
                decided
            }
            Trigger::ClientMessages(_)
            | Trigger::ClientAction(_)
            | Trigger::ToolFinished(_)
            | Trigger::LlmFinished(_)
            | Trigger::SubAgentFinished(_)
            | Trigger::InterruptResumed(_) => json!(request.proposed),
        };
        // Any answer may come as a stream.
        let parts = if is_halfway {
            Parts::of_stream(&[b": I think\n\n".to_vec(), frame(Some("decision.result"), &decided)])
        } else {
            Parts::of_body(&decided)
        };
        (key, parts)
    }

    /// Checks that a decision which is delivered again asks the same, and says that it is again.
    fn look_at(&self, request: &DecisionRequest, mut body: Value) {
        for field in ["/attempts", "/deadline", "/trigger/deadline"] {
            if let Some(field) = body.pointer_mut(field) {
                *field = Value::Null;
            }
        }
        let mut asked = self.asked.lock().unwrap();
        let Asked { decisions, faults, .. } = &mut *asked;
        let (first, last) =
            decisions.entry(request.decision_id.clone()).or_insert_with(|| (body.clone(), 0));
        if *first != body || *last >= request.attempts {
            let kind = request.trigger.kind();
            faults.push(format!("delivery {} after {last} of a {kind}", request.attempts));
        }
        *last = request.attempts;
    }
}

/// Says who runs the models of a form, and their name.
pub(crate) fn model_of(form: Option<Format>, handler: CallHandler) -> &'static str {
    match (handler, form) {
        (CallHandler::Worker, _) => "own",
        (CallHandler::Server, None | Some(Format::Openai)) => OPENAI,
        (CallHandler::Server, Some(Format::Anthropic)) => ANTHROPIC,
    }
}
