//! A client of the agent event protocol: it puts a conversation together from events, and minds the
//! grammar of each stream while it does.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::{PATIENCE, Running};

/// An event as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Came {
    pub(crate) id: Option<String>,
    pub(crate) event: Value,
}

impl Came {
    pub(crate) fn kind(&self) -> &str {
        self.event["event"].as_str().unwrap()
    }
}

/// A stream that is being read.
pub(crate) struct Reading {
    response: Response,
    bytes: Vec<u8>,
    /// What came of it, for whoever waits for more in vain.
    came: Vec<Came>,
    /// How many pieces of the network it came in.
    pub(crate) pieces: usize,
}

impl Reading {
    /// Reads an answer.
    pub(crate) fn of(response: Response) -> Self {
        Self { response, bytes: Vec::new(), came: Vec::new(), pieces: 0 }
    }

    /// Returns the next event; nothing at the end. That the stream is kept alive is no event.
    pub(crate) async fn next(&mut self) -> Option<Came> {
        match tokio::time::timeout(PATIENCE, self.read()).await {
            Ok(came) => {
                self.came.extend(came.clone());
                came
            }
            Err(_) => panic!("nothing came for too long after {:#?}", self.came),
        }
    }

    async fn read(&mut self) -> Option<Came> {
        loop {
            if let Some(end) = find(&self.bytes, b"\n\n") {
                let frame: Vec<u8> = self.bytes.drain(..end + 2).collect();
                match parsed(&String::from_utf8(frame).unwrap()) {
                    Some(came) => return Some(came),
                    None => continue,
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.pieces += 1;
            self.bytes.extend_from_slice(&chunk);
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn parsed(frame: &str) -> Option<Came> {
    let field = |name: &str| {
        let mut lines = frame.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().map(|value| value.trim_start_matches(' ').to_owned())
    };
    let event: Value = serde_json::from_str(&field("data:")?).unwrap();
    assert_eq!(field("event:").as_deref(), event["event"].as_str(), "{frame}");
    Some(Came { id: field("id:"), event })
}

/// What a client has of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) request: String,
    pub(crate) thread: String,
    blocks: Vec<Block>,
    pub(crate) continuations: Vec<Value>,
    /// Where the last stream ended.
    pub(crate) end: Option<Value>,
    pub(crate) last: Option<String>,
    /// What the `done`s say.
    pub(crate) content: Vec<Value>,
    /// Where the present segment begins among the blocks.
    segment: usize,
    is_connected: bool,
    /// Whether events may still be told again.
    is_again: bool,
}

#[derive(Clone, Debug)]
struct Block {
    id: String,
    message: String,
    start: Value,
    text: String,
    deltas: u64,
    stop: Option<Value>,
}

impl Conversation {
    /// Notes that a connection begins.
    pub(crate) fn connect(&mut self) {
        (self.is_connected, self.end, self.is_again) = (false, None, true);
    }

    /// Takes an event.
    pub(crate) fn take(&mut self, came: &Came) {
        let (kind, event) = (came.kind(), &came.event);
        assert!(self.end.is_none(), "{event} behind the end");
        assert!(event["timestamp"].is_string(), "{event}");
        if kind == "metadata" {
            assert!(!self.is_connected, "metadata twice");
            self.is_connected = true;
            self.request = event["requestId"].as_str().unwrap().to_owned();
            self.thread = event["threadId"].as_str().unwrap().to_owned();
            assert!(!event["agentId"].as_str().unwrap().is_empty());
        }
        assert!(self.is_connected, "{event} before the metadata");
        assert_eq!(event["requestId"], json!(self.request));
        let is_delta = event["stage"] == "delta";
        let is_told_out = event["code"] == "stream_timeout";
        assert_eq!(came.id.is_none(), is_delta || is_told_out, "{came:?}");
        if came.id.is_some() {
            self.is_again &= came.id == self.last || self.last.is_none() || kind == "metadata";
            self.last.clone_from(&came.id);
        }
        match event["stage"].as_str() {
            Some("start") => self.start(event),
            Some("delta") => {
                let block = self.open(event);
                assert_eq!(event["deltaIndex"], json!(block.deltas), "{event}");
                block.deltas += 1;
                let delta = event["delta"].as_str().unwrap();
                assert!(!delta.is_empty(), "{event}");
                block.text.push_str(delta);
            }
            Some("stop") => self.open(event).stop = Some(event.clone()),
            _ => {}
        }
        match kind {
            "continuation" => self.continuations.push(event.clone()),
            "done" => {
                self.content.extend(event["content"].as_array().unwrap().iter().cloned());
                self.end(event);
            }
            "error" | "aborted" => self.end(event),
            _ => {}
        }
    }

    fn start(&mut self, event: &Value) {
        let id = event["blockId"].as_str().unwrap().to_owned();
        let message = event["messageId"].as_str().unwrap().to_owned();
        let fresh = Block {
            id: id.clone(),
            message: message.clone(),
            start: event.clone(),
            text: String::new(),
            deltas: 0,
            stop: None,
        };
        if let Some(known) = self.blocks.iter_mut().find(|block| block.id == id) {
            assert!(self.is_again && known.stop.is_none(), "{event} again");
            assert_eq!(known.start, *event, "it is told in the same words");
            *known = fresh;
            return;
        }
        let before = self.blocks.iter().filter(|block| block.message == message).count();
        assert_eq!(event["blockIndex"], json!(before), "{event}");
        self.blocks.push(fresh);
    }

    fn open(&mut self, event: &Value) -> &mut Block {
        let found = self.blocks.iter_mut().find(|block| event["blockId"] == json!(block.id));
        let block = found.unwrap_or_else(|| panic!("{event} of a block that did not begin"));
        assert!(block.stop.is_none(), "{event} of a block that has ended");
        assert_eq!(event["event"], block.start["event"]);
        assert_eq!(event["messageId"], json!(block.message));
        block
    }

    fn end(&mut self, event: &Value) {
        let open = self.blocks.iter().find(|block| block.stop.is_none());
        if event["code"] != "stream_timeout" {
            assert!(open.is_none(), "{open:?} is open at the end");
        }
        self.end = Some(event.clone());
    }

    /// Returns what was put together since the client was last asked, as content.
    pub(crate) fn put_together(&self) -> Vec<Value> {
        self.blocks[self.segment..].iter().map(Block::content).collect()
    }

    /// Returns what all of it was put together to.
    pub(crate) fn all_put_together(&self) -> Vec<Value> {
        self.blocks.iter().map(Block::content).collect()
    }

    /// Begins the next segment, and returns what is asked.
    pub(crate) fn asked(&mut self) -> Vec<Value> {
        self.segment = self.blocks.len();
        std::mem::take(&mut self.continuations)
    }

    pub(crate) fn reason(&self) -> &str {
        self.end.as_ref().and_then(|end| end["finishReason"].as_str()).unwrap_or_default()
    }

    pub(crate) fn has_open_block(&self) -> bool {
        self.blocks.iter().any(|block| block.stop.is_none())
    }
}

impl Block {
    fn content(&self) -> Value {
        let stop = self.stop.as_ref().unwrap_or(&Value::Null);
        let call = || (self.start["toolCallId"].clone(), self.start["tool"].clone());
        match self.start["event"].as_str().unwrap() {
            "tool_call" => {
                let (id, tool) = call();
                let args = if stop["args"].is_null() { json!({}) } else { stop["args"].clone() };
                if !stop["args"].is_null() {
                    let parsed: Value = serde_json::from_str(&self.text).unwrap();
                    assert_eq!(parsed, args, "the fragments are the arguments");
                }
                json!({ "type": "tool_use", "toolCallId": id, "tool": tool, "args": args })
            }
            "tool_result" => {
                let (id, tool) = call();
                json!({
                    "type": "tool_result", "toolCallId": id, "tool": tool,
                    "status": stop["status"], "summary": stop["summary"],
                })
            }
            kind => json!({ "type": kind, "text": self.text }),
        }
    }
}

/// Says what `said` is without `left`: whether the one is the other with pieces left out.
pub(crate) fn is_part(part: &[Value], whole: &[Value]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|wanted| rest.any(|value| value == wanted))
}

/// Returns what a user asks.
pub(crate) fn says(text: &str) -> Value {
    json!({ "messages": [{ "content": [{ "type": "text", "text": text }] }] })
}

/// Returns answers to what was asked, all with the same data.
pub(crate) fn answers(thread: &str, asked: &[Value], data: &Value) -> Value {
    let results: Vec<_> = asked
        .iter()
        .map(|asked| {
            json!({
                "actionId": asked["actionId"], "kind": asked["kind"], "status": "success",
                "data": data,
            })
        })
        .collect();
    json!({ "messages": [], "threadId": thread, "context": { "actionResults": results } })
}

impl Running {
    /// Asks an agent something, as Ann.
    pub(crate) async fn begin(&self, agent: &str, request: &Value) -> Response {
        let path = format!("/v1/agents/{agent}/stream");
        self.ask(Method::POST, &path, Some(self.token()), Some(request.to_string())).await
    }

    /// Asks, and reads the stream.
    pub(crate) async fn read(&self, agent: &str, request: &Value) -> Reading {
        let response = self.begin(agent, request).await;
        assert_eq!(response.status(), 200, "{request}: {}", response.text().await.unwrap());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Reading::of(response)
    }

    /// Follows a turn from behind an event.
    pub(crate) async fn follow(&self, request: &str, after: Option<&str>) -> Reading {
        let mut asked = self
            .client
            .get(format!("{}/v1/requests/{request}/stream", self.url))
            .bearer_auth(self.token());
        if let Some(after) = after {
            asked = asked.header("Last-Event-ID", after);
        }
        let response = asked.send().await.unwrap();
        assert_eq!(response.status(), 200, "{request} after {after:?}");
        Reading::of(response)
    }

    /// Reads a stream to its end.
    pub(crate) async fn to_end(&self, mut reading: Reading, conversation: &mut Conversation) {
        conversation.connect();
        while let Some(came) = reading.next().await {
            conversation.take(&came);
        }
        assert!(conversation.end.is_some(), "the stream has no end: {conversation:?}");
    }

    /// Begins a turn and reads it to its end.
    pub(crate) async fn told(&self, agent: &str, request: &Value) -> Conversation {
        let mut conversation = Conversation::default();
        let reading = self.read(agent, request).await;
        self.to_end(reading, &mut conversation).await;
        conversation
    }
}
