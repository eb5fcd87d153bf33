//! Whatever our side can say is valid by the schema, and read back as it was said. Whatever the
//! other side sends is read or refused, and what is read is no longer changed by writing it.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use quixos_protocol::{
    Action, AgentConfig, AgentTool, AudioData, Call, CallHandler, CallKind, CallStatus,
    ClientContext, ClientInput, Content, ContentPart, DecisionRequest, DecisionResponse,
    DraftMessage, Effort, ErrorCode, FileData, Format, Handler, LlmTool, MediaUrl, Message,
    MessageTree, ReasoningConfig, RetryPolicy, Role, SubAgent, ToolCall, ToolHandler, ToolInput,
    TreeNode, Trigger, WorkerIdentity, action, input, parse, parse_value, schema, trigger,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn validator(name: &str) -> Validator {
    let mut document = schema::document();
    document["$ref"] = json!(format!("#/$defs/{name}"));
    jsonschema::draft202012::new(&document).unwrap()
}

static REQUEST: LazyLock<Validator> = LazyLock::new(|| validator("DecisionRequest"));
static RESPONSE: LazyLock<Validator> = LazyLock::new(|| validator("DecisionResponse"));
static INPUT: LazyLock<Validator> = LazyLock::new(|| validator("ClientInput"));

fn round_trip<T>(value: &T, validator: &Validator) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(value).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let fault = validator.validate(&json).err().map(|error| error.to_string());
    prop_assert_eq!(fault, None);
    let seen: T = parse(text.as_bytes(), text.len()).unwrap();
    prop_assert_eq!(&seen, value);
    // Also by another door than ours, and byte for byte.
    prop_assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    prop_assert_eq!(serde_json::to_string(&seen).unwrap(), text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_request_is_read_back_as_it_was_said(request in request()) {
        round_trip(&request, &REQUEST)?;
    }

    #[test]
    fn a_response_is_read_back_as_it_was_said(response in response()) {
        round_trip(&response, &RESPONSE)?;
    }

    #[test]
    fn an_input_is_read_back_as_it_was_said(input in client_input()) {
        round_trip(&input, &INPUT)?;
    }

    #[test]
    fn any_json_with_our_words_is_read_or_refused(value in nearly(), bytes: Vec<u8>) {
        settled::<Action>(&value)?;
        settled::<Trigger>(&value)?;
        settled::<ClientInput>(&value)?;
        settled::<DecisionResponse>(&value)?;
        settled::<DraftMessage>(&value)?;
        prop_assert!(parse::<DecisionRequest>(&bytes, bytes.len()).is_err());
    }
}

/// What is read of a value is written so that the same is read of it.
fn settled<T>(value: &Value) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    if let Ok(seen) = parse_value::<T>(value.clone()) {
        let written = serde_json::to_value(&seen).unwrap();
        prop_assert_eq!(parse_value::<T>(written).unwrap(), seen);
    }
    Ok(())
}

/// JSON in which the names are ours and what stands under them is anything.
fn nearly() -> impl Strategy<Value = Value> {
    let keys = || {
        select(vec![
            "type",
            "id",
            "role",
            "content",
            "messages",
            "actions",
            "state",
            "agent",
            "model",
            "tools",
            "name",
            "arguments",
            "result",
            "error",
            "input",
            "status",
            "value",
            "attempt",
            "retry",
            "ok",
            "truncated",
            "image_url",
            "url",
            "text",
            "client",
            "agent_id",
            "reason",
        ])
        .prop_map(str::to_owned)
    };
    let words =
        select([Action::KINDS, Trigger::KINDS, ClientInput::KINDS, ContentPart::KINDS].concat());
    let leaf = prop_oneof![
        words.prop_map(|word| json!(word)),
        select(vec!["user", "valid", "worker", ""]).prop_map(|word| json!(word)),
        any::<bool>().prop_map(|value| json!(value)),
        (0_u8..3).prop_map(|value| json!(value)),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            btree_map(keys(), inner, 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

// Boxed, because the type of a request's strategy would not fit on a test's stack.
fn text() -> BoxedStrategy<String> {
    prop_oneof!["[a-z_.]{0,8}", "\\PC{0,6}", Just("\u{0}\"\\\u{1F600}".to_owned())].boxed()
}

fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<u64>().prop_map(|value| json!(value)),
        proptest::num::f64::NORMAL.prop_map(|value| json!(value)),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            btree_map(text(), inner, 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
    .boxed()
}

/// A value where `null` reads as left out.
fn something() -> BoxedStrategy<Value> {
    value().prop_filter("null is nothing", |value| !value.is_null()).boxed()
}

fn content() -> BoxedStrategy<Content> {
    let url = || text().prop_map(|url| MediaUrl { url });
    let part = prop_oneof![
        text().prop_map(|text| ContentPart::Text { text }),
        url().prop_map(|image_url| ContentPart::ImageUrl { image_url }),
        (text(), text()).prop_map(|(filename, file_data)| ContentPart::File {
            file: FileData { filename, file_data }
        }),
        (text(), text()).prop_map(|(data, format)| ContentPart::InputAudio {
            input_audio: AudioData { data, format }
        }),
        url().prop_map(|video_url| ContentPart::VideoUrl { video_url }),
    ];
    prop_oneof![text().prop_map(Content::Text), vec(part, 0..3).prop_map(Content::Parts)].boxed()
}

fn draft() -> BoxedStrategy<DraftMessage> {
    let role = select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    let call = (text(), text(), text())
        .prop_map(|(id, name, arguments)| ToolCall::function(id, name, arguments));
    (of(text()), role, of(content()), vec(call, 0..2), of(text()), of(text()))
        .prop_map(|(id, role, content, tool_calls, tool_call_id, name)| DraftMessage {
            id,
            role,
            content,
            tool_calls,
            tool_call_id,
            name,
        })
        .boxed()
}

fn drafts() -> BoxedStrategy<Vec<DraftMessage>> {
    vec(draft(), 0..3).boxed()
}

fn message() -> BoxedStrategy<Message> {
    (draft(), text()).prop_map(|(draft, id)| draft.into_message(id)).boxed()
}

fn retry() -> BoxedStrategy<RetryPolicy> {
    any::<(Option<u64>, u32, u64, u64)>()
        .prop_map(|(timeout_secs, max_retries, backoff_base_secs, backoff_max_secs)| RetryPolicy {
            timeout_secs,
            max_retries,
            backoff_base_secs,
            backoff_max_secs,
        })
        .boxed()
}

fn call_handler() -> BoxedStrategy<CallHandler> {
    select(vec![CallHandler::Server, CallHandler::Worker]).boxed()
}

fn tool_handler() -> BoxedStrategy<ToolHandler> {
    select(vec![ToolHandler::Worker, ToolHandler::Client]).boxed()
}

fn format() -> BoxedStrategy<Format> {
    select(vec![Format::Openai, Format::Anthropic]).boxed()
}

fn tool() -> BoxedStrategy<AgentTool> {
    (text(), of(text()), of(something()), of(something()), of(tool_handler()))
        .prop_map(|(name, description, input, output, handler)| AgentTool {
            name,
            description,
            input,
            output,
            handler,
        })
        .boxed()
}

fn config() -> BoxedStrategy<AgentConfig> {
    let sub_agent = (text(), of(text())).prop_map(|(id, description)| SubAgent { id, description });
    (
        text(),
        of(text()),
        any::<Option<bool>>(),
        of(call_handler()),
        of(format()),
        of(retry()),
        of(vec(tool(), 0..3)),
        of(vec(sub_agent, 0..2)),
    )
        .prop_map(|(model, system, stream, handler, format, retry, tools, sub_agents)| {
            AgentConfig { model, system, stream, handler, format, retry, tools, sub_agents }
        })
        .boxed()
}

fn context() -> BoxedStrategy<ClientContext> {
    (vec(tool(), 0..2), of(vec(value(), 0..2)), of(value()), of(value()))
        .prop_map(|(tools, context, state, forwarded_props)| ClientContext {
            tools,
            context,
            state,
            forwarded_props,
        })
        .boxed()
}

fn code() -> BoxedStrategy<ErrorCode> {
    select(vec![
        ErrorCode::ProviderError,
        ErrorCode::RateLimited,
        ErrorCode::Refused,
        ErrorCode::BudgetExceeded,
        ErrorCode::DeadlineExceeded,
    ])
    .boxed()
}

fn trigger() -> BoxedStrategy<Trigger> {
    let tool_input = prop_oneof![
        value().prop_map(|value| ToolInput::Valid { value }),
        (value(), text()).prop_map(|(value, error)| ToolInput::Invalid { value, error }),
        text().prop_map(|error| ToolInput::Malformed { error }),
    ];
    prop_oneof![
        Just(Trigger::SessionStart),
        (drafts(), 0_usize..9, context()).prop_map(|(messages, new_from, client)| {
            Trigger::ClientMessages(trigger::ClientMessages { messages, new_from, client })
        }),
        (text(), of(value())).prop_map(|(name, args)| {
            Trigger::ClientAction(trigger::ClientAction { name, args })
        }),
        (text(), text(), text(), tool_input, any::<u32>(), of(text())).prop_map(
            |(id, name, arguments, input, attempt, deadline)| {
                let execute =
                    trigger::ToolExecute { id, name, arguments, input, attempt, deadline };
                Trigger::ToolExecute(execute)
            }
        ),
        (text(), any::<bool>(), text(), of(text()), of(text())).prop_map(
            |(id, ok, name, result, error)| {
                Trigger::ToolFinished(trigger::ToolFinished { id, ok, name, result, error })
            }
        ),
        (text(), value(), of(format()), any::<bool>(), any::<u32>(), of(text())).prop_map(
            |(id, request, format, stream, attempt, deadline)| {
                let execute =
                    trigger::LlmExecute { id, request, format, stream, attempt, deadline };
                Trigger::LlmExecute(execute)
            }
        ),
        (
            (text(), any::<bool>(), of(draft()), any::<bool>(), of(something())),
            (of(text()), of(text()), of(code()), of(value())),
        )
            .prop_map(
                |((id, ok, message, truncated, usage), (cost, error, code, detail))| {
                    Trigger::LlmFinished(trigger::LlmFinished {
                        id,
                        ok,
                        message,
                        truncated,
                        usage,
                        cost,
                        error,
                        code,
                        detail,
                    })
                }
            ),
        (text(), any::<bool>(), text(), text(), of(text()), of(text())).prop_map(
            |(id, ok, session_id, agent_id, result, error)| {
                Trigger::SubAgentFinished(trigger::SubAgentFinished {
                    id,
                    ok,
                    session_id,
                    agent_id,
                    result,
                    error,
                })
            }
        ),
        (text(), of(value())).prop_map(|(interrupt_id, payload)| {
            Trigger::InterruptResumed(trigger::InterruptResumed { interrupt_id, payload })
        }),
    ]
    .boxed()
}

fn llm_call() -> BoxedStrategy<action::LlmCall> {
    let tool = (text(), text(), of(something()), of(something())).prop_map(
        |(name, description, input, output)| LlmTool { name, description, input, output },
    );
    let effort = select(vec![
        Effort::Xhigh,
        Effort::High,
        Effort::Medium,
        Effort::Low,
        Effort::Minimal,
        Effort::None,
    ]);
    let reasoning = (of(effort), any::<(Option<u64>, Option<bool>, Option<bool>)>()).prop_map(
        |(effort, (max_tokens, exclude, enabled))| ReasoningConfig {
            effort,
            max_tokens,
            exclude,
            enabled,
        },
    );
    (
        (of(text()), of(text()), of(drafts()), of(vec(tool, 0..2)), of(0.0..2.0)),
        (
            any::<Option<u64>>(),
            of(reasoning),
            any::<Option<bool>>(),
            of(retry()),
            of(call_handler()),
        ),
    )
        .prop_map(
            |(
                (id, model, messages, tools, temperature),
                (max_completion_tokens, reasoning, stream, retry, handler),
            )| action::LlmCall {
                id,
                model,
                messages,
                tools,
                temperature,
                max_completion_tokens,
                reasoning,
                stream,
                retry,
                handler,
            },
        )
        .boxed()
}

fn actions() -> BoxedStrategy<Vec<Action>> {
    let failure = || {
        (of(text()), any::<Option<u32>>(), text(), any::<bool>(), of(code()), of(value())).prop_map(
            |(id, attempt, error, retryable, code, detail)| action::Failure {
                id,
                attempt,
                error,
                retryable,
                code,
                detail,
            },
        )
    };
    let settled = || (of(text()), any::<Option<u32>>(), value());
    let action = prop_oneof![
        llm_call().prop_map(Action::LlmCall),
        (of(text()), text(), value(), of(tool_handler()), of(retry())).prop_map(
            |(id, name, arguments, handler, retry)| {
                Action::ToolCall(action::ToolCall { id, name, arguments, handler, retry })
            }
        ),
        settled().prop_map(|(id, attempt, result)| {
            Action::ToolResult(action::ToolResult { id, attempt, result })
        }),
        failure().prop_map(Action::ToolError),
        settled().prop_map(|(id, attempt, response)| {
            Action::LlmResult(action::LlmResult { id, attempt, response })
        }),
        failure().prop_map(Action::LlmError),
        (text(), text(), text(), of(retry())).prop_map(
            |(session_id, agent_id, tool_call_id, retry)| {
                let spawn = action::SubAgentSpawn { session_id, agent_id, tool_call_id, retry };
                Action::SubAgentSpawn(spawn)
            }
        ),
        (text(), draft()).prop_map(|(session_id, message)| {
            Action::MessageSend(action::MessageSend { session_id, message })
        }),
        (of(text()), text(), of(value())).prop_map(|(interrupt_id, reason, payload)| {
            Action::Interrupt(action::Interrupt { interrupt_id, reason, payload })
        }),
        of(value()).prop_map(|data| Action::Done(action::Done { data })),
    ];
    vec(action, 0..4).boxed()
}

fn response() -> BoxedStrategy<DecisionResponse> {
    (of(drafts()), actions(), of(something()), of(config()))
        .prop_map(|(messages, actions, state, agent)| DecisionResponse {
            messages,
            actions,
            state,
            agent,
        })
        .boxed()
}

fn call() -> BoxedStrategy<Call> {
    let kind = select(vec![CallKind::ToolCall, CallKind::LlmCall, CallKind::SubAgent]);
    let status = select(vec![
        CallStatus::Pending,
        CallStatus::Completed,
        CallStatus::Failed,
        CallStatus::RetryScheduled,
        CallStatus::Queued,
    ]);
    let handler = select(vec![Handler::Server, Handler::Worker, Handler::Client]);
    (
        (text(), kind, status, any::<u32>(), of(text()), of(text())),
        (of(text()), of(text()), of(handler), any::<Option<bool>>(), of(text()), of(text())),
    )
        .prop_map(
            |(
                (id, kind, status, attempt, deadline, anchor),
                (name, arguments, handler, stream, agent_id, session_id),
            )| Call {
                id,
                kind,
                status,
                attempt,
                deadline,
                anchor,
                name,
                arguments,
                handler,
                stream,
                agent_id,
                session_id,
            },
        )
        .boxed()
}

fn request() -> BoxedStrategy<DecisionRequest> {
    let node =
        (message(), of(text())).prop_map(|(message, parent_id)| TreeNode { message, parent_id });
    let tree =
        (vec(node, 0..3), of(text())).prop_map(|(nodes, head_id)| MessageTree { nodes, head_id });
    let identity = (of(text()), of(btree_map(text(), text(), 0..3)))
        .prop_map(|(id, metadata)| WorkerIdentity { id, metadata });
    (
        (text(), text(), text(), identity, trigger(), response()),
        (value(), of(config()), vec(call(), 0..3), 0_usize..9, vec(message(), 0..3), tree),
        (vec(text(), 0..3), any::<u32>(), of(text()), of(text())),
    )
        .prop_map(
            |(
                (session_id, decision_id, agent_id, identity, trigger, proposed),
                (state, agent, calls, pending_calls, messages, message_tree),
                (ancestry, attempts, deadline, turn_id),
            )| DecisionRequest {
                session_id,
                decision_id,
                agent_id,
                identity,
                trigger,
                proposed,
                state,
                agent,
                calls,
                pending_calls,
                messages,
                message_tree,
                ancestry,
                attempts,
                deadline,
                turn_id,
            },
        )
        .boxed()
}

fn client_input() -> BoxedStrategy<ClientInput> {
    let head = || (text(), of(text()));
    prop_oneof![
        (head(), draft(), any::<Option<bool>>()).prop_map(
            |((agent_id, turn_id), message, stream)| {
                let message = input::ClientMessage { agent_id, turn_id, message, stream };
                ClientInput::ClientMessage(message)
            }
        ),
        (head(), drafts(), any::<Option<bool>>(), of(context())).prop_map(
            |((agent_id, turn_id), messages, stream, client)| {
                let view = input::ClientMessages { agent_id, turn_id, messages, stream, client };
                ClientInput::ClientMessages(view)
            }
        ),
        (head(), text(), of(value())).prop_map(|((agent_id, turn_id), name, args)| {
            ClientInput::ClientAction(input::ClientAction { agent_id, turn_id, name, args })
        }),
        (text(), of(value())).prop_map(|(interrupt_id, payload)| {
            ClientInput::InterruptResume(input::InterruptResume { interrupt_id, payload })
        }),
        (text(), any::<Option<u32>>(), of(value())).prop_map(|(id, attempt, result)| {
            ClientInput::ToolResult(input::ToolResult { id, attempt, result })
        }),
        (text(), text(), any::<bool>(), any::<Option<u32>>()).prop_map(
            |(id, error, retryable, attempt)| {
                ClientInput::ToolError(input::ToolError { id, error, retryable, attempt })
            }
        ),
    ]
    .boxed()
}
