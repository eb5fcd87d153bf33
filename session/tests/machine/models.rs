//! Calls of models: how they end, what they cost, and the same prompt for each attempt.

use quixos_protocol::{ErrorCode, Trigger, trigger};
use serde_json::json;

use crate::support::{Talk, World, config, machine, message, retry, says};

fn finished(trigger: &Trigger) -> &trigger::LlmFinished {
    let Trigger::LlmFinished(finished) = trigger else { panic!("{trigger:?}") };
    finished
}

/// Brings a conversation to where a model of the worker's own runs.
async fn worker_runs<'w>(world: &'w World, format: Option<&str>) -> Talk<'w> {
    let mut config = json!({"model": "m", "handler": "worker"});
    if let Some(format) = format {
        config["format"] = json!(format);
    }
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk
}

/// F7: an attempt that times out for the last time is told.
#[tokio::test]
async fn a_model_call_that_times_out_for_good_is_told() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = retry(Some(1), 0, 1, 1);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk.wait(2).await;
    let told = talk.next("llm.finished").await;
    let told = finished(&told.trigger);
    assert_eq!((told.ok, told.code), (false, Some(ErrorCode::DeadlineExceeded)));
    talk.echo("llm.finished").await;
    assert_eq!(talk.view().await["status"], json!("interrupted"));
}

/// F52: a retry sends what was sent.
#[tokio::test]
async fn each_attempt_has_the_same_prompt() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = retry(None, 2, 2, 60);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    let (first, prompt) = talk.prompt().await;
    talk.model_fails(&first, "broken stream", true).await;
    assert!(talk.running().await.is_empty());
    talk.wait(2).await;
    let (second, again) = talk.prompt().await;
    assert_eq!((second.attempt, &second.id), (2, &first.id));
    assert_eq!(again, prompt);
    // What comes late from the first attempt is dropped in silence.
    assert!(!talk.reply_to(&first, &says("late")).await.applied);
    talk.reply_to(&second, &says("Hi")).await;
    assert_eq!(finished(&talk.next("llm.finished").await.trigger).id, first.id);
}

/// F36: a refusal is a failure with a code of its own.
#[tokio::test]
async fn a_refusal_is_no_reply() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    talk.reply(&json!({"model": "m", "content": "", "finish_reason": "content_filter"})).await;
    let told = talk.next("llm.finished").await;
    assert_eq!(finished(&told.trigger).code, Some(ErrorCode::Refused));
}

/// F28: pictures come behind the text.
#[tokio::test]
async fn pictures_are_parts_of_the_reply() {
    let world = World::new().await;
    let talk = worker_runs(&world, None).await;
    let response = json!({"model": "m", "content": "See.", "images": [{"url": "data:,x"}]});
    let answer = json!({"actions": [{"type": "llm.result", "response": response}]});
    talk.answer_next("llm.execute", &answer).await;
    let told = talk.next("llm.finished").await;
    let content = json!(finished(&told.trigger).message.as_ref().unwrap().content);
    assert_eq!(content[0], json!({"type": "text", "text": "See."}));
    assert_eq!(content[1]["type"], json!("image_url"));
}

#[tokio::test]
async fn a_native_reply_is_read_and_an_unreadable_one_is_the_providers_error() {
    let world = World::new().await;
    let talk = worker_runs(&world, Some("openai")).await;
    let Trigger::LlmExecute(execute) = talk.next("llm.execute").await.trigger else { panic!() };
    assert_eq!(execute.request["messages"][0], json!({"role": "user", "content": "Hello"}));
    let body = json!({"model": "m", "choices": [
        {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "length"}]});
    let answer = json!({"actions": [{"type": "llm.result", "response": body}]});
    talk.answer_next("llm.execute", &answer).await;
    assert!(finished(&talk.next("llm.finished").await.trigger).truncated);

    let talk = world.open("s2", &message("t1", "Hello")).await;
    let config = json!({"model": "m", "handler": "worker", "format": "anthropic"});
    talk.answer_next("session.start", &json!({ "agent": config })).await;
    talk.echo("client.messages").await;
    let answer = json!({"actions": [{"type": "llm.result", "response": {"odd": true}}]});
    talk.answer_next("llm.execute", &answer).await;
    let told = talk.next("llm.finished").await;
    assert_eq!(finished(&told.trigger).code, Some(ErrorCode::ProviderError));
}

#[tokio::test]
async fn what_models_cost_is_summed_to_the_last_digit() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let mut reply = says("Hi");
    (reply["cost"], reply["usage"]) = (json!("0.1"), json!({"in": 3}));
    talk.reply(&reply).await;
    let again = json!({"actions": [{"type": "llm.call"}]});
    talk.answer_next("llm.finished", &again).await;
    (reply["cost"], reply["usage"]) = (json!("0.2"), json!({"in": 4, "out": 1}));
    talk.reply(&reply).await;
    talk.echo("llm.finished").await;
    let spent = talk.view().await["usage"].take();
    assert_eq!(spent, json!({"usage": {"in": 7, "out": 1}, "cost": "0.3"}));
    let ends = talk.events_of("turn.completed").await;
    assert_eq!(ends[0].payload["usage"]["cost"], json!("0.3"));
}

#[tokio::test]
async fn no_model_is_called_once_the_budget_is_spent() {
    let settings = json!({"session": {"maxCost": "0.5"}}).to_string();
    let world = World::with(&settings).await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let mut reply = says("Hi");
    reply["cost"] = json!("0.50");
    talk.reply(&reply).await;
    talk.answer_next("llm.finished", &json!({"actions": [{"type": "llm.call"}]})).await;
    assert!(talk.running().await.is_empty());
    let told = talk.next("llm.finished").await;
    assert_eq!(finished(&told.trigger).code, Some(ErrorCode::BudgetExceeded));
}

#[tokio::test]
async fn an_id_that_is_used_loses_the_call_and_one_that_failed_is_issued_again() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let call =
        json!({"actions": [{"type": "llm.call", "id": "m1", "retry": retry(None, 0, 0, 0)}]});
    talk.answer_next("client.messages", &call).await;
    let (due, _) = talk.prompt().await;
    talk.model_fails(&due, "down", false).await;
    talk.answer_next("llm.finished", &call).await;
    let (again, _) = talk.prompt().await;
    assert_eq!((again.id.as_str(), again.attempt), ("m1", 2));
    assert!(!talk.reply_to(&due, &says("late")).await.applied);
    talk.reply_to(&again, &says("Hi")).await;
    talk.answer_next("llm.finished", &call).await;
    assert!(talk.running().await.is_empty());
}

/// F71: what ran when the engine died is run again at once, even under a policy of none.
#[tokio::test]
async fn a_model_call_of_a_dead_engine_is_run_again() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = retry(None, 0, 0, 0);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    let (lost, _) = talk.prompt().await;
    talk.take(true).await;
    let (again, _) = talk.prompt().await;
    assert_eq!((again.attempt, &again.id), (2, &lost.id));
    talk.take(true).await;
    let told = talk.next("llm.finished").await;
    assert!(!finished(&told.trigger).ok);
}

#[tokio::test]
async fn a_stale_engine_changes_nothing() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let (due, _) = talk.prompt().await;
    let stale = talk.fence().await;
    talk.take(true).await;
    let settle = quixos_session::sessions::Settle {
        by: crate::support::system(),
        fence: Some(stale),
        call: due.id,
        attempt: Some(due.attempt),
        result: Some(says("late").to_string()),
        error: None,
        blocks: Vec::new(),
    };
    let client = talk.client();
    let error = talk.refused(client.settle(&settle)).await;
    assert_eq!(error.code(), "stale-fence");
}

#[tokio::test]
async fn a_decision_that_was_delivered_is_delivered_again_to_whoever_takes_over() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    assert_eq!(talk.next("client.messages").await.attempts, 1);
    talk.take(true).await;
    assert_eq!(talk.next("client.messages").await.attempts, 2);
}

/// A model call that the worker puts off waits as long as it takes, if nobody gave it a time.
#[tokio::test]
async fn a_deferred_model_call_waits() {
    let world = World::new().await;
    let talk = worker_runs(&world, None).await;
    let asked = talk.answer_next("llm.execute", &json!({})).await;
    let Trigger::LlmExecute(execute) = asked.trigger else { panic!() };
    talk.wait(1_000_000).await;
    talk.settle_as(machine(), &execute.id, Some(1), &says("At last.")).await.unwrap();
    assert!(finished(&talk.next("llm.finished").await.trigger).ok);
}
