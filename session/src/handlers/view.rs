//! `session_view`: what a client sees of a session: where it stands, what it waits for, and all its
//! messages.

use quixos_protocol::{Handler as CalledBy, MessageTree, TreeNode};
use quixos_runtime::CallError;
use serde::Serialize;
use serde_json::Value;

use crate::Sessions;
use crate::past::Past;
use crate::sessions::session_view::{Context, Handler, Input, Output};
use crate::sessions::{CallData, InterruptData, Live, SessionData, Usage};
use crate::standing::Status;
use crate::status::{CLIENT, PENDING, SERVER};
use crate::stored::{self, StoredCall};
use crate::{messages, tree};

/// A session as a client sees it.
#[derive(Serialize)]
struct View {
    session_id: String,
    agent_id: String,
    status: &'static str,
    turn_id: Option<String>,
    /// Open interrupts, on any branch.
    interrupts: Vec<OpenInterrupt>,
    /// Calls under way.
    calls: Vec<OpenCall>,
    messages: Vec<quixos_protocol::Message>,
    message_tree: MessageTree,
    usage: Spent,
    sub_agents: Spent,
}

#[derive(Serialize)]
struct OpenInterrupt {
    interrupt_id: String,
    /// Who may resume it, at the least.
    origin: String,
    reason: String,
    payload: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
}

#[derive(Serialize)]
struct OpenCall {
    id: String,
    kind: String,
    status: String,
    attempt: u32,
    handler: CalledBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
}

#[derive(Serialize)]
struct Spent {
    usage: Value,
    cost: String,
}

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, _input: Input) -> Result<Output, CallError> {
        let (binding, data, live) = (cx.binding().read()?, cx.data().read()?, cx.live().read()?);
        let status = status(&data, &live);
        let path = tree::path(cx, data.head.as_deref())?;
        let nodes = cx.nodes()?.into_iter().map(|node| {
            Ok(TreeNode { message: messages::message(&node)?, parent_id: node.parent })
        });
        let view = View {
            session_id: binding.session_id,
            agent_id: binding.agent_id,
            status,
            turn_id: data.turn.map(|turn| turn.id),
            interrupts: live.interrupts.iter().map(interrupt).collect::<Result<_, _>>()?,
            calls: live.calls.iter().map(|it| call(cx, it)).collect::<Result<_, _>>()?,
            messages: path.iter().map(messages::message).collect::<Result<_, _>>()?,
            message_tree: MessageTree {
                nodes: nodes.collect::<Result<_, CallError>>()?,
                head_id: data.head,
            },
            usage: spent(&data.usage)?,
            sub_agents: spent(&data.sub_agents)?,
        };
        stored::json_text(&view)
    }
}

/// Returns the status in a client's words: what is under way it is told call by call.
fn status(data: &SessionData, live: &Live) -> &'static str {
    match Status::of(data, live) {
        status @ (Status::Cancelled | Status::Interrupted) => status.word(),
        Status::Working | Status::Waiting | Status::Done | Status::Idle if data.done => {
            Status::Done.word()
        }
        Status::Working | Status::Waiting | Status::Done | Status::Idle => Status::Idle.word(),
    }
}

fn interrupt(open: &InterruptData) -> Result<OpenInterrupt, CallError> {
    Ok(OpenInterrupt {
        interrupt_id: open.id.clone(),
        origin: open.origin.clone(),
        reason: open.reason.clone(),
        payload: stored::read_text(&open.payload, "the payload of an interrupt")?,
        turn_id: open.turn.clone(),
    })
}

fn call(past: &impl Past, call: &CallData) -> Result<OpenCall, CallError> {
    let open = OpenCall {
        id: call.id.clone(),
        kind: call.kind.clone(),
        status: call.status.clone(),
        attempt: call.attempt,
        handler: match call.handler.as_str() {
            SERVER => CalledBy::Server,
            CLIENT => CalledBy::Client,
            _ => CalledBy::Worker,
        },
        name: None,
        arguments: None,
        deadline: call.deadline.clone().filter(|_| call.status == PENDING),
        session_id: None,
        agent_id: None,
    };
    Ok(match stored::call_of(past, call)? {
        StoredCall::ToolCall { name, arguments } => {
            OpenCall { name: Some(name), arguments: Some(arguments), ..open }
        }
        StoredCall::SubAgent { session_id, agent_id } => {
            OpenCall { session_id: Some(session_id), agent_id: Some(agent_id), ..open }
        }
        StoredCall::LlmCall { .. } => open,
    })
}

fn spent(usage: &Usage) -> Result<Spent, CallError> {
    let counts = stored::read_text(&usage.counts, "counts of usage")?;
    Ok(Spent { usage: counts, cost: usage.cost.clone() })
}
