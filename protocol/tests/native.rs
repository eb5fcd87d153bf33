//! Model calls in the forms of two providers: what is sent, what is read, whole and in pieces.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use expect_test::{Expect, expect};
use quixos_protocol::native::{self, NativeError, Stream};
use quixos_protocol::{
    Content, DraftMessage, Format, LlmRequest, LlmResponse, StreamDelta, parse_value,
};
use serde_json::{Value, json};

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

fn check(format: Format, request: &Value, expected: &Expect) {
    let request: LlmRequest = parse_value(request.clone()).unwrap();
    expected.assert_eq(&pretty(&native::request(format, &request)));
}

/// A conversation with a bit of everything.
fn conversation() -> Value {
    let pixel = "data:image/png;base64,AAAA";
    json!({
        "model": "m",
        "messages": [
            {"id": "msg_1", "role": "system", "content": "Be brief."},
            {"id": "msg_2", "role": "user", "name": "zoe", "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": pixel}},
                {"type": "image_url", "image_url": {"url": "https://host/cat.png"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"}},
                {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;charset=utf-8;base64,aMOp"}},
                {"type": "file", "file": {"filename": "a.zip", "file_data": "data:application/zip;base64,CCCC"}},
                {"type": "input_audio", "input_audio": {"data": "DDDD", "format": "wav"}},
                {"type": "video_url", "video_url": {"url": "https://host/cat.mp4"}},
            ]},
            {"id": "call_1", "role": "assistant", "content": "Let me see.", "tool_calls": [
                {"id": "toolu.1", "type": "function", "function": {"name": "find", "arguments": "{\"q\": 1}"}},
                {"id": "b", "type": "function", "function": {"name": "now", "arguments": " "}},
            ]},
            {"id": "msg_3", "role": "tool", "tool_call_id": "toolu.1", "name": "find", "content": "one"},
            {"id": "msg_4", "role": "tool", "tool_call_id": "b", "name": "now", "content": [
                {"type": "text", "text": "two"},
                {"type": "image_url", "image_url": {"url": pixel}},
            ]},
            {"id": "msg_5", "role": "user", "content": "And?"},
            {"id": "call_2", "role": "assistant", "content": [
                {"type": "text", "text": "There."},
                {"type": "image_url", "image_url": {"url": pixel}},
            ]},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [
            {"name": "find", "description": "Finds.", "input": {"type": "object", "properties": {"q": {"type": "integer"}}},
             "output": {"type": "string"}},
            {"name": "now", "description": "Says the time."},
        ],
        "temperature": 0.5,
    })
}

#[test]
fn a_conversation_as_chat_completions() {
    check(
        Format::Openai,
        &conversation(),
        &expect![[r#"
        {
          "model": "m",
          "messages": [
            {
              "role": "system",
              "content": "Be brief."
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Look."
                },
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "data:image/png;base64,AAAA"
                  }
                },
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "https://host/cat.png"
                  }
                },
                {
                  "type": "file",
                  "file": {
                    "filename": "a.pdf",
                    "file_data": "data:application/pdf;base64,BBBB"
                  }
                },
                {
                  "type": "file",
                  "file": {
                    "filename": "a.txt",
                    "file_data": "data:text/plain;charset=utf-8;base64,aMOp"
                  }
                },
                {
                  "type": "file",
                  "file": {
                    "filename": "a.zip",
                    "file_data": "data:application/zip;base64,CCCC"
                  }
                },
                {
                  "type": "input_audio",
                  "input_audio": {
                    "data": "DDDD",
                    "format": "wav"
                  }
                },
                {
                  "type": "video_url",
                  "video_url": {
                    "url": "https://host/cat.mp4"
                  }
                }
              ],
              "name": "zoe"
            },
            {
              "role": "assistant",
              "content": "Let me see.",
              "tool_calls": [
                {
                  "id": "toolu.1",
                  "type": "function",
                  "function": {
                    "name": "find",
                    "arguments": "{\"q\": 1}"
                  }
                },
                {
                  "id": "b",
                  "type": "function",
                  "function": {
                    "name": "now",
                    "arguments": "{}"
                  }
                }
              ]
            },
            {
              "role": "tool",
              "content": "one",
              "tool_call_id": "toolu.1"
            },
            {
              "role": "tool",
              "content": "two\n[a picture that is not shown here]",
              "tool_call_id": "b"
            },
            {
              "role": "user",
              "content": "And?"
            },
            {
              "role": "assistant",
              "content": "There.\n[a picture that is not shown here]"
            },
            {
              "role": "user",
              "content": "Thanks."
            }
          ],
          "tools": [
            {
              "type": "function",
              "function": {
                "name": "find",
                "description": "Finds.",
                "parameters": {
                  "type": "object",
                  "properties": {
                    "q": {
                      "type": "integer"
                    }
                  }
                }
              }
            },
            {
              "type": "function",
              "function": {
                "name": "now",
                "description": "Says the time.",
                "parameters": {
                  "type": "object",
                  "properties": {}
                }
              }
            }
          ],
          "temperature": 0.5
        }
    "#]],
    );
}

#[test]
fn a_conversation_as_messages() {
    check(
        Format::Anthropic,
        &conversation(),
        &expect![[r#"
        {
          "model": "m",
          "max_tokens": 8192,
          "system": "Be brief.",
          "messages": [
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Look."
                },
                {
                  "type": "image",
                  "source": {
                    "type": "base64",
                    "media_type": "image/png",
                    "data": "AAAA"
                  }
                },
                {
                  "type": "image",
                  "source": {
                    "type": "url",
                    "url": "https://host/cat.png"
                  }
                },
                {
                  "type": "document",
                  "source": {
                    "type": "base64",
                    "media_type": "application/pdf",
                    "data": "BBBB"
                  },
                  "title": "a.pdf"
                },
                {
                  "type": "document",
                  "source": {
                    "type": "text",
                    "media_type": "text/plain",
                    "data": "hé"
                  },
                  "title": "a.txt"
                },
                {
                  "type": "text",
                  "text": "[the file a.zip, not shown here]"
                },
                {
                  "type": "text",
                  "text": "[a recording that is not played here]"
                },
                {
                  "type": "text",
                  "text": "[a film that is not shown here]"
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "text",
                  "text": "Let me see."
                },
                {
                  "type": "tool_use",
                  "id": "toolu_1",
                  "name": "find",
                  "input": {
                    "q": 1
                  }
                },
                {
                  "type": "tool_use",
                  "id": "b",
                  "name": "now",
                  "input": {}
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "tool_result",
                  "tool_use_id": "toolu_1",
                  "content": "one"
                },
                {
                  "type": "tool_result",
                  "tool_use_id": "b",
                  "content": [
                    {
                      "type": "text",
                      "text": "two"
                    },
                    {
                      "type": "image",
                      "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": "AAAA"
                      }
                    }
                  ]
                },
                {
                  "type": "text",
                  "text": "And?"
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "text",
                  "text": "There."
                },
                {
                  "type": "text",
                  "text": "[a picture that is not shown here]"
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Thanks."
                }
              ]
            }
          ],
          "tools": [
            {
              "name": "find",
              "description": "Finds.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "q": {
                    "type": "integer"
                  }
                }
              }
            },
            {
              "name": "now",
              "description": "Says the time.",
              "input_schema": {
                "type": "object",
                "properties": {}
              }
            }
          ],
          "temperature": 0.5
        }
    "#]],
    );
}

#[test]
fn nothing_of_the_engine_is_sent_and_nothing_on_streaming() {
    let request: LlmRequest = parse_value(conversation()).unwrap();
    for format in [Format::Openai, Format::Anthropic] {
        let text = native::request(format, &request).to_string();
        for word in ["msg_", "call_1", "call_2", "output", "stream"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

fn asked(request: Value) -> Value {
    let mut request = request;
    request["model"] = "m".into();
    if request.get("messages").is_none() {
        request["messages"] = json!([{"role": "user", "content": "Go."}]);
    }
    let request: LlmRequest = parse_value(request).unwrap();
    native::request(Format::Anthropic, &request)
}

#[test]
fn thinking_has_a_budget_within_the_reply() {
    let budget = |request| {
        let body = asked(request);
        (body["max_tokens"].as_u64().unwrap(), body["thinking"]["budget_tokens"].as_u64())
    };
    assert_eq!(budget(json!({})), (8192, None));
    assert_eq!(budget(json!({"max_completion_tokens": 100})), (100, None));
    assert_eq!(budget(json!({"reasoning": {"effort": "low"}})), (10_240, Some(2048)));
    assert_eq!(budget(json!({"reasoning": {"max_tokens": 10}})), (9216, Some(1024)));
    let both = json!({"reasoning": {"effort": "high"}, "max_completion_tokens": 5000});
    assert_eq!(budget(both), (5000, Some(4999)));
    let little = json!({"reasoning": {"enabled": true}, "max_completion_tokens": 1000});
    assert_eq!(budget(little), (1000, None));
    for off in [json!({"effort": "none"}), json!({"enabled": false, "effort": "high"})] {
        assert_eq!(budget(json!({"reasoning": off})), (8192, None));
    }
    let thoughtful = asked(json!({"reasoning": {"effort": "low"}, "temperature": 0.1}));
    assert_eq!(thoughtful.get("temperature"), None);
}

#[test]
fn a_model_that_called_tools_goes_on_without_thinking() {
    let messages = json!([
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "[1"}}]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
    ]);
    let body = asked(json!({"messages": messages, "reasoning": {"effort": "high"}}));
    assert_eq!(body.get("thinking"), None);
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"arguments": "[1"}));
    let answer = json!([{"type": "tool_result", "tool_use_id": "a"}]);
    assert_eq!(body["messages"][2]["content"], answer);
}

#[test]
fn efforts_have_their_words_in_chat_completions() {
    for (reasoning, word) in [
        (json!({"effort": "xhigh"}), json!("xhigh")),
        (json!({"enabled": false}), json!("none")),
        (json!({"max_tokens": 5}), Value::Null),
    ] {
        let request = json!({"model": "m", "messages": [], "reasoning": reasoning});
        let body = native::request(Format::Openai, &parse_value(request).unwrap());
        assert_eq!(body["reasoning_effort"], word, "{reasoning}");
    }
}

#[test]
fn a_whole_reply_of_chat_completions() {
    let body = json!({
        "model": "m-1", "usage": {"prompt_tokens": 3, "cost": 0.00012, "prompt_tokens_details": {"cached_tokens": 1}},
        "choices": [{"finish_reason": "tool_calls", "message": {
            "content": [{"type": "text", "text": "See "}, {"type": "text", "text": "this."}],
            "images": [{"type": "image_url", "image_url": {"url": "data:,x"}}],
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "", "function": {"name": "g", "arguments": {"x": 1}}},
            ],
        }}],
    });
    let reply = native::response(Format::Openai, &body).unwrap();
    assert_eq!(reply.content.as_deref(), Some("See this."));
    assert_eq!(reply.images.len(), 1);
    let calls: Vec<_> =
        reply.tool_calls.iter().map(|call| (&*call.id, &*call.function.arguments)).collect();
    assert_eq!(calls, [("a", "{}"), ("call_1", r#"{"x":1}"#)]);
    assert_eq!(reply.cost.as_deref(), Some("0.00012"));
    let counts = json!({"prompt_tokens": 3, "prompt_tokens_details.cached_tokens": 1});
    assert_eq!(reply.usage, Some(counts));
}

#[test]
fn a_whole_reply_of_messages() {
    let body = json!({
        "type": "message", "model": "m-1", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Let me "}, {"type": "text", "text": "see."},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"q": 1}},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 4, "service_tier": "standard"},
    });
    let reply = native::response(Format::Anthropic, &body).unwrap();
    assert_eq!(reply.content.as_deref(), Some("Let me see."));
    assert_eq!(reply.tool_calls[0].function.arguments, r#"{"q":1}"#);
    assert_eq!(reply.finish_reason.as_deref(), Some("tool_calls"));
    assert_eq!(reply.usage, Some(json!({"input_tokens": 3, "output_tokens": 4})));
}

#[test]
fn reasons_have_their_neutral_words() {
    for (reason, neutral) in [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause_turn"),
    ] {
        let body = json!({"content": [], "stop_reason": reason});
        let reply = native::response(Format::Anthropic, &body).unwrap();
        assert_eq!(reply.finish_reason.as_deref(), Some(neutral));
    }
}

#[test]
fn a_refusal_is_an_error_of_its_own() {
    let refused = |text: &str| Err(NativeError::Refused(text.to_owned()));
    let choice = |message: Value, reason: &str| {
        let body = json!({"choices": [{"message": message, "finish_reason": reason}]});
        native::response(Format::Openai, &body)
    };
    assert_eq!(choice(json!({"content": ""}), "content_filter"), refused("the model refused"));
    assert_eq!(choice(json!({"content": null, "refusal": "No."}), "stop"), refused("No."));
    let body = json!({"content": [{"type": "text", "text": "I won't."}], "stop_reason": "refusal"});
    assert_eq!(native::response(Format::Anthropic, &body), refused("I won't."));
}

#[test]
fn what_is_no_reply_is_an_error() {
    for format in [Format::Openai, Format::Anthropic] {
        for body in
            [json!(null), json!("x"), json!({}), json!({"choices": []}), json!({"content": 1})]
        {
            let error = native::response(format, &body).unwrap_err();
            assert!(matches!(error, NativeError::Unreadable(_)), "{body}: {error}");
        }
        let body =
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
        let failed = NativeError::Failed {
            message: "busy".to_owned(),
            kind: Some("overloaded_error".to_owned()),
        };
        assert_eq!(native::response(format, &body), Err(failed));
    }
}

fn streamed(
    format: Format,
    events: &[Value],
) -> (Vec<StreamDelta>, Result<LlmResponse, NativeError>) {
    let mut stream = Stream::new(format);
    let deltas = events.iter().filter_map(|event| stream.event(event)).collect();
    (deltas, stream.finish())
}

fn chunk(delta: Value, reason: Value) -> Value {
    json!({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

#[test]
fn pieces_of_chat_completions_come_to_the_same_reply() {
    let piece = |index: u64, id: Value, name: Value, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        chunk(
            json!({"tool_calls": [{"index": index, "id": id, "function": function}]}),
            Value::Null,
        )
    };
    let (deltas, reply) = streamed(
        Format::Openai,
        &[
            chunk(json!({"role": "assistant", "content": ""}), Value::Null),
            chunk(json!({"reasoning_content": "Hm."}), Value::Null),
            chunk(json!({"content": "Let me"}), Value::Null),
            json!("nonsense"),
            chunk(json!({"content": " see."}), Value::Null),
            piece(0, json!("a"), json!("f"), ""),
            piece(0, Value::Null, Value::Null, "{\"q\""),
            piece(0, Value::Null, Value::Null, ":1}"),
            // Some servers give every call the same index.
            piece(0, json!("b"), json!("g"), "{}"),
            chunk(json!({}), json!("tool_calls")),
            json!({"choices": [], "usage": {"prompt_tokens": 2}}),
        ],
    );
    let reply = reply.unwrap();
    assert_eq!(reply.content.as_deref(), Some("Let me see."));
    let calls: Vec<_> =
        reply.tool_calls.iter().map(|call| (&*call.id, &*call.function.arguments)).collect();
    assert_eq!(calls, [("a", r#"{"q":1}"#), ("b", "{}")]);
    assert_eq!(reply.usage, Some(json!({"prompt_tokens": 2})));
    assert_eq!(deltas.len(), 8);
    assert_eq!(deltas[0].reasoning.as_deref(), Some("Hm."));
    assert_eq!(deltas[4].tool_calls[0].id, "a");
    assert_eq!(deltas[7].finish_reason.as_deref(), Some("tool_calls"));
}

#[test]
fn pieces_of_messages_come_to_the_same_reply() {
    let grown = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let begun = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let (deltas, reply) = streamed(
        Format::Anthropic,
        &[
            json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 5, "output_tokens": 1}}}),
            json!({"type": "ping"}),
            begun(0, json!({"type": "thinking", "thinking": ""})),
            grown(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
            grown(0, json!({"type": "signature_delta", "signature": "s"})),
            begun(1, json!({"type": "text", "text": ""})),
            grown(1, json!({"type": "text_delta", "text": "See."})),
            begun(2, json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
            grown(2, json!({"type": "input_json_delta", "partial_json": ""})),
            grown(2, json!({"type": "input_json_delta", "partial_json": "{\"q\":1}"})),
            begun(3, json!({"type": "tool_use", "id": "b", "name": "g", "input": {}})),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
            json!({"type": "message_stop"}),
        ],
    );
    let reply = reply.unwrap();
    assert_eq!((reply.content.as_deref(), reply.model.as_str()), (Some("See."), "m-1"));
    let calls: Vec<_> =
        reply.tool_calls.iter().map(|call| (&*call.id, &*call.function.arguments)).collect();
    assert_eq!(calls, [("a", r#"{"q":1}"#), ("b", "{}")]);
    assert_eq!(reply.usage, Some(json!({"input_tokens": 5, "output_tokens": 9})));
    assert_eq!(deltas.len(), 6);
    assert_eq!(deltas[0].reasoning.as_deref(), Some("Hm."));
    assert_eq!(deltas[5].finish_reason.as_deref(), Some("tool_calls"));
}

#[test]
fn a_stream_that_stops_half_way_is_cut() {
    let half = [chunk(json!({"content": "Let"}), Value::Null)];
    assert_eq!(streamed(Format::Openai, &half).1, Err(NativeError::Cut));
    let half = [json!({"type": "message_start", "message": {}})];
    assert_eq!(streamed(Format::Anthropic, &half).1, Err(NativeError::Cut));
    let mut marked = Stream::new(Format::Openai);
    marked.event(&chunk(json!({"content": "Hi"}), Value::Null));
    assert!(!marked.is_over());
    assert_eq!(marked.data(b"[DONE]"), None);
    assert!(marked.is_over());
    assert_eq!(marked.finish().unwrap().content.as_deref(), Some("Hi"));
}

#[test]
fn a_failure_in_the_midst_of_a_stream_is_the_providers() {
    let failure = json!({"error": {"message": "busy", "code": 503}});
    for format in [Format::Openai, Format::Anthropic] {
        let mut stream = Stream::new(format);
        assert_eq!(stream.event(&failure), None);
        assert!(stream.is_over());
        let failed =
            NativeError::Failed { message: "busy".to_owned(), kind: Some("503".to_owned()) };
        assert_eq!(stream.finish(), Err(failed));
    }
}

#[test]
fn an_empty_message_is_left_out_where_it_is_refused() {
    let request = LlmRequest {
        model: "m".to_owned(),
        messages: vec![
            DraftMessage::user("Go."),
            DraftMessage { content: Some(Content::from_text(" ")), ..DraftMessage::assistant("") },
        ],
        ..LlmRequest::default()
    };
    let body = native::request(Format::Anthropic, &request);
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
}

/// Calls `each` with every value that is `whole` but for one place, in which something else is.
fn with_something_else(whole: &Value, each: &mut dyn FnMut(&Value)) {
    let others = [
        json!(null),
        json!(-1),
        json!("x"),
        json!([]),
        json!([{}]),
        json!({}),
        json!({"index": 7}),
    ];
    for other in &others {
        each(other);
    }
    match whole {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                with_something_else(item, &mut |other| {
                    let mut items = items.clone();
                    items[index] = other.clone();
                    each(&Value::Array(items));
                });
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                with_something_else(field, &mut |other| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), other.clone());
                    each(&Value::Object(fields));
                });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn whatever_a_provider_sends_there_is_a_reply_or_an_error() {
    let call = json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let said = json!({"content": "x", "reasoning": "x", "tool_calls": [call], "images": [{"image_url": {"url": "x"}}]});
    let whole = json!({"model": "m", "choices": [{"message": said, "delta": said, "finish_reason": "stop"}],
        "usage": {"a": {"b": 1}, "cost": 0.1}});
    let message = json!({"model": "m", "content": [{"type": "text", "text": "x"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}}], "stop_reason": "end_turn",
        "usage": {"a": {"b": 1}}});
    let events = json!([
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"a": 1}},
    ]);
    let mut read = 0;
    let mut check = |format, body: &Value| {
        let reply = native::response(format, body);
        let list = std::slice::from_ref(body);
        let (_, pieces) = streamed(format, body.as_array().map_or(list, Vec::as_slice));
        // What was read can be written.
        for reply in [reply, pieces].into_iter().flatten() {
            assert!(serde_json::to_value(&reply).is_ok());
            read += 1;
        }
    };
    with_something_else(&whole, &mut |body| check(Format::Openai, body));
    with_something_else(&message, &mut |body| check(Format::Anthropic, body));
    with_something_else(&events, &mut |body| check(Format::Anthropic, body));
    assert!(read > 200, "{read}");
}
