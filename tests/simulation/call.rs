//! What hosts and people send, and what they are answered.

use quixos_package::agent_runtime::{
    AgentQuestionObject, ItemData, RequestState, question_answer, request_ask, request_claim,
    request_finish, request_transition, request_upsert_item,
};
use quixos_runtime::{CallError, Fence, Ref};

use crate::support::{Desk, Request, answer, ask, finish, item, transition};

/// A call, decided when it was sent: sent again, it is the same.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// What is there to do?
    Scan,
    Claim {
        request: Request,
        attempt: String,
        expected: u32,
        recover: bool,
        at: String,
    },
    Look {
        request: Request,
    },
    Write {
        request: Request,
        fence: Fence,
        version: u64,
        at: String,
    },
    Ask {
        request: Request,
        fence: Fence,
        at: String,
        until: String,
    },
    Read {
        question: Ref<AgentQuestionObject>,
    },
    Resume {
        request: Request,
        fence: Fence,
    },
    Finish {
        request: Request,
        fence: Fence,
        status: &'static str,
        at: String,
    },
    Publish {
        request: Request,
    },
    /// A person's.
    Answer {
        request: Request,
        question: Ref<AgentQuestionObject>,
        fence: Fence,
        at: String,
    },
    /// A person's.
    Cancel {
        request: Request,
    },
}

/// What a call was answered.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Work { pending: Vec<(Request, RequestState)>, untold: Vec<Request> },
    Claim(request_claim::Output),
    Progress(RequestState),
    Done(bool),
    Asked(Ref<AgentQuestionObject>),
    Question { status: String },
    Failed(CallError),
}

impl Call {
    /// Returns the request that it is about, and the fence that it bears, if it bears one.
    pub(super) fn about(&self) -> Option<(Request, Option<&Fence>)> {
        match self {
            Self::Scan | Self::Read { .. } => None,
            Self::Claim { request, .. }
            | Self::Look { request }
            | Self::Publish { request }
            | Self::Cancel { request } => Some((*request, None)),
            Self::Write { request, fence, .. }
            | Self::Ask { request, fence, .. }
            | Self::Resume { request, fence }
            | Self::Finish { request, fence, .. }
            | Self::Answer { request, fence, .. } => Some((*request, Some(fence))),
        }
    }

    /// Does it.
    pub(super) async fn perform(&self, desk: &Desk) -> Reply {
        self.call(desk).await.unwrap_or_else(Reply::Failed)
    }

    async fn call(&self, desk: &Desk) -> Result<Reply, CallError> {
        let reply = match self.clone() {
            Self::Scan => {
                let mut pending = Vec::new();
                for request in desk.directory().pending().await? {
                    pending.push((request, desk.request(request).progress().await?));
                }
                Reply::Work { pending, untold: desk.directory().notifications().await? }
            }
            Self::Claim { request, attempt, expected, recover, at } => {
                let input = request_claim::Input {
                    attempt,
                    expected_generation: expected,
                    started_at: at,
                    recover,
                };
                Reply::Claim(desk.request(request).claim(&input).await?)
            }
            Self::Look { request } => Reply::Progress(desk.request(request).progress().await?),
            Self::Write { request, fence: Fence { attempt, generation }, version, at } => {
                let data =
                    ItemData { created_at: at.clone(), updated_at: at, ..item("m1", version) };
                let input = request_upsert_item::Input { attempt, generation, data, subject: None };
                desk.request(request).upsert_item(&input).await?;
                Reply::Done(true)
            }
            Self::Ask { request, fence: Fence { attempt, generation }, at, until } => {
                let input = request_ask::Input {
                    attempt,
                    generation,
                    created_at: at,
                    expires_at: until,
                    ..ask("q1")
                };
                Reply::Asked(desk.request(request).ask(&input).await?)
            }
            Self::Read { question } => {
                Reply::Question { status: desk.question_data(question).await.status }
            }
            Self::Resume { request, fence: Fence { attempt, generation } } => {
                let input =
                    request_transition::Input { attempt, generation, ..transition("running", "") };
                Reply::Done(desk.request(request).transition(&input).await?)
            }
            Self::Finish { request, fence: Fence { attempt, generation }, status, at } => {
                let input =
                    request_finish::Input { attempt, generation, ended_at: at, ..finish(status) };
                Reply::Done(desk.request(request).finish(&input).await?)
            }
            Self::Publish { request } => {
                Reply::Done(desk.request(request).publish_completion().await?)
            }
            Self::Answer { question, fence: Fence { attempt, generation }, at, .. } => {
                let input = question_answer::Input {
                    attempt,
                    generation,
                    answered_at: at,
                    ..answer("yes")
                };
                Reply::Done(desk.question(question).answer(&input).await?)
            }
            Self::Cancel { request } => Reply::Done(desk.request(request).cancel().await?),
        };
        Ok(reply)
    }
}
