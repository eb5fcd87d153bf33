//! Faults of time: deadlines, retries, and what comes when it is too late.

use serde_json::json;

use crate::scenes::{called, decisions_by, failure, result, tool, trigger};
use crate::support::{Talk, World, calls, config, machine, message, retry};

/// Brings a conversation to where a tool of the worker's runs under a policy, as `c1`.
async fn runs<'w>(world: &'w World, policy: &serde_json::Value) -> Talk<'w> {
    let talk = world.talk(&config()).await;
    let answer = json!({"actions": [tool("c1", policy)]});
    talk.answer_next("client.messages", &answer).await;
    talk
}

#[tokio::test]
async fn f15_a_result_that_comes_too_late_is_taken_and_dropped() {
    for (retries, stands) in [(0, "tool.finished"), (1, "tool.execute")] {
        let world = World::new().await;
        let talk = runs(&world, &retry(Some(1), retries, 1, 1)).await;
        let asked = talk.next("tool.execute").await;
        world.wait(2);
        let mut answer = result("late");
        answer["state"] = json!({"late": true});
        answer["messages"] = json!([{"role": "user", "content": "late"}]);
        assert!(!talk.answer(&asked, &answer).await.applied);
        talk.wait(1).await;
        let next = talk.next(stands).await;
        assert_eq!(next.state, json!(null));
        assert!(next.messages.is_empty());
        assert!(talk.events_of("tool.call.completed").await.is_empty());
        assert_eq!(talk.events_of("tool.call.errored").await.len(), 1);
    }
}

#[tokio::test]
async fn f31_any_command_sees_what_has_run_out() {
    let world = World::new().await;
    let talk = runs(&world, &retry(Some(5), 0, 1, 1)).await;
    talk.answer_next("tool.execute", &json!({})).await;
    assert_eq!(talk.asked().await, None);
    world.wait(5);
    // No timer: a submit that is a repetition is a command too.
    talk.submit(&message("t1", "Hello")).await.unwrap();
    let told = trigger(&talk.next("tool.finished").await);
    assert_eq!((&told["ok"], &told["error"]), (&json!(false), &json!("deadline exceeded")));
}

#[tokio::test]
async fn f32_a_call_that_waits_behind_another_has_its_whole_time() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let policy = retry(Some(5), 0, 1, 1);
    let both = json!({"actions": [tool("c1", &policy), tool("c2", &policy)]});
    talk.answer_next("client.messages", &both).await;
    talk.next("tool.execute").await;
    talk.wait(6).await;
    let second = talk.next("tool.execute").await;
    let told = trigger(&second);
    assert_eq!((&told["id"], &told["deadline"]), (&json!("c2"), &json!("2026-01-31T12:00:11Z")));
    world.wait(4);
    assert!(talk.answer(&second, &result("in time")).await.applied);
    let ends = talk.events_of("tool.call.completed").await;
    assert_eq!((ends.len(), &ends[0].payload["call_id"]), (1, &json!("c2")));
}

#[tokio::test]
async fn f72_a_cancel_ends_what_waits_for_another_try() {
    // In a turn, and after the turn that asked for it.
    for last in [json!([]), json!([{"type": "done"}])] {
        let world = World::new().await;
        let talk = world.talk(&config()).await;
        let mut actions = json!([tool("c1", &retry(None, 3, 2, 60))]);
        actions.as_array_mut().unwrap().extend(last.as_array().unwrap().clone());
        talk.answer_next("client.messages", &json!({ "actions": actions })).await;
        talk.answer_next("tool.execute", &failure(true)).await;
        assert_eq!(talk.view().await["calls"][0]["status"], json!("retry_scheduled"));
        talk.cancel_as(machine(), None).await.unwrap();
        assert_eq!(talk.events_of("call.voided").await.len(), 1);
        let before = talk.events().await.len();
        talk.wait(3600).await;
        let agenda = talk.agenda().await;
        assert!(agenda.due.is_empty());
        assert_eq!(agenda.wake_at, None);
        assert_eq!(talk.events().await.len(), before);
        assert_eq!(talk.events_of("tool.call.dispatched").await.len(), 1);
    }
}

#[tokio::test]
async fn f73_what_was_cancelled_is_not_tried_again() {
    for whole in [false, true] {
        let world = World::new().await;
        let mut config = config();
        config["retry"] = retry(None, 5, 1, 1);
        let talk = world.talk(&config).await;
        talk.echo("client.messages").await;
        let (due, _) = talk.prompt().await;
        talk.cancel_as(machine(), (!whole).then_some("t1")).await.unwrap();
        let before = talk.events().await.len();
        assert!(!talk.model_fails(&due, "aborted", true).await.applied);
        for _ in 0..5 {
            talk.wait(60).await;
            assert!(talk.agenda().await.due.is_empty());
        }
        assert_eq!(talk.events().await.len(), before);
    }
}

#[tokio::test]
async fn f77_attempts_count_from_one_for_each_call() {
    let world = World::new().await;
    let talk = runs(&world, &retry(None, 2, 1, 1)).await;
    for attempt in 1..=3 {
        assert_eq!(trigger(&talk.next("tool.execute").await)["attempt"], json!(attempt));
        talk.answer_next("tool.execute", &failure(true)).await;
        talk.wait(1).await;
    }
    let another = json!({"actions": [tool("c2", &retry(None, 2, 1, 1))]});
    talk.answer_next("tool.finished", &another).await;
    assert_eq!(trigger(&talk.next("tool.execute").await)["attempt"], json!(1));
}

#[tokio::test]
async fn f78_only_failures_use_up_the_tries() {
    let world = World::with(&decisions_by(&retry(Some(10), 3, 1, 1))).await;
    let talk = world.talk(&config()).await;
    for _ in 0..5 {
        let asked = talk.next("client.messages").await;
        let delivery = talk.delivery(&asked).await;
        assert!(talk.client().redeliver(&delivery).await.unwrap().applied);
    }
    for left in (0..4).rev() {
        talk.next("client.messages").await;
        talk.wait(10).await;
        assert_eq!(talk.asked().await, None);
        assert_eq!(talk.events_of("turn.completed").await.is_empty(), left > 0);
        talk.wait(1).await;
    }
    assert_eq!(talk.events_of("decision.errored").await.len(), 4);
    // The same for a call: timeouts count, and there are four attempts.
    talk.submit(&message("t2", "Again")).await.unwrap();
    let answer = json!({"actions": [tool("c1", &retry(Some(5), 3, 1, 1))]});
    talk.answer_next("client.messages", &answer).await;
    for _ in 0..4 {
        talk.next("tool.execute").await;
        talk.wait(5).await;
        talk.wait(1).await;
    }
    talk.next("tool.finished").await;
    assert_eq!(talk.events_of("tool.call.dispatched").await.len(), 4);
}

#[tokio::test]
async fn f80_each_retry_waits_longer() {
    let world = World::new().await;
    let talk = runs(&world, &retry(None, 3, 2, 3600)).await;
    for delay in [2, 4, 8] {
        talk.answer_next("tool.execute", &failure(true)).await;
        talk.wait(delay - 1).await;
        assert_eq!(talk.asked().await, None, "before {delay} s");
        talk.wait(1).await;
    }
    talk.answer_next("tool.execute", &failure(true)).await;
    talk.next("tool.finished").await;
}

/// F73 for tools: an execute that was cancelled brings nothing, and a new turn is not disturbed.
#[tokio::test]
async fn f73_a_cancelled_tool_settles_nothing() {
    let world = World::new().await;
    let talk = called(&world, &[("a", "worker")], &[("c1", "a")]).await;
    let asked = talk.next("tool.execute").await;
    talk.cancel_as(machine(), Some("t1")).await.unwrap();
    talk.submit(&message("t2", "Again")).await.unwrap();
    let before = talk.events().await.len();
    assert!(!talk.answer(&asked, &failure(true)).await.applied);
    assert_eq!(talk.events().await.len(), before);
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c2", "a")])).await;
    talk.echo("llm.finished").await;
    assert_eq!(trigger(&talk.next("tool.execute").await)["id"], json!("c2"));
}
