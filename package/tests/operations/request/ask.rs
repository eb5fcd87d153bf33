//! `request_ask`

use quixos_package::agent_runtime::{QuestionData, request_ask};

use crate::support::{Desk, WORKER, answer, ask, finish, invalid_at, minute, takeover, transition};

type Ask = request_ask::Input;

/// The same question, asked by the second worker after it has taken over.
fn second(ask: Ask) -> Ask {
    Ask { attempt: "worker-2".to_owned(), generation: 2, ..ask }
}

#[tokio::test]
async fn ask_opens_a_question_and_waits() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    assert!(desk.request(request).transition(&transition("running", "busy")).await.unwrap());
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    let expected = QuestionData {
        key: "q1".to_owned(),
        title: "Publish it?".to_owned(),
        options: r#"["yes","no"]"#.to_owned(),
        status: "open".to_owned(),
        answer: None,
        created_at: minute(2),
        expires_at: minute(30),
        attempt: WORKER.to_owned(),
        generation: 1,
    };
    assert_eq!(desk.question_data(question).await, expected);
    assert_eq!(desk.question(question).request().await.unwrap(), request);
    let progress = desk.progress(request).await;
    assert_eq!((progress.status.as_str(), progress.reason.as_str()), ("waiting", "busy"));
    assert_eq!(desk.request(request).questions_at("q1").await.unwrap(), [question]);
    desk.world.verify().await;
}

#[tokio::test]
async fn ask_again_while_it_is_open_answers_the_same_and_waits_again() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    let later = Ask { created_at: minute(29), expires_at: minute(50), ..ask("q1") };
    for again in [ask("q1"), later] {
        assert!(desk.request(request).transition(&transition("running", "")).await.unwrap());
        assert_eq!(desk.request(request).ask(&again).await.unwrap(), question);
        assert_eq!(desk.status(request).await, "waiting");
        assert_eq!(desk.question_data(question).await.expires_at, minute(30));
    }
}

#[tokio::test]
async fn ask_after_the_end_of_a_question_opens_a_new_one() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let first = desk.request(request).ask(&ask("q1")).await.unwrap();
    // At its end it has expired.
    let later = Ask { created_at: minute(30), expires_at: minute(40), ..ask("q1") };
    let second = desk.request(request).ask(&later).await.unwrap();
    assert_ne!(first, second);
    assert_eq!(desk.question_data(first).await.status, "open");
    assert_eq!(desk.request(request).questions_at("q1").await.unwrap(), [first, second]);
}

#[tokio::test]
async fn ask_after_a_question_was_taken_back_opens_a_new_one() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let first = desk.request(request).ask(&ask("q1")).await.unwrap();
    desk.question(first).cancel().await.unwrap();
    let second = desk.request(request).ask(&ask("q1")).await.unwrap();
    assert_ne!(first, second);
}

#[tokio::test]
async fn ask_under_another_key_opens_another_question() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let first = desk.request(request).ask(&ask("q1")).await.unwrap();
    assert_ne!(desk.request(request).ask(&ask("q2")).await.unwrap(), first);
}

#[tokio::test]
async fn ask_finds_the_answer_and_leaves_the_status() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());
    assert_eq!(desk.status(request).await, "waiting", "the worker goes on when it wants");
    assert_eq!(desk.world.keeps(desk.request(request).ask(&ask("q1"))).await, question);
    assert!(desk.request(request).transition(&transition("running", "")).await.unwrap());
    assert_eq!(desk.world.keeps(desk.request(request).ask(&ask("q1"))).await, question);
}

#[tokio::test]
async fn ask_of_a_later_attempt_finds_the_answer_that_an_earlier_one_got() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());
    desk.request(request).claim(&takeover("worker-2", 1)).await.unwrap();
    assert_eq!(desk.world.keeps(desk.request(request).ask(&second(ask("q1")))).await, question);
    assert_eq!(desk.status(request).await, "running");
}

#[tokio::test]
async fn ask_of_a_later_attempt_does_not_take_over_an_open_question() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let first = desk.request(request).ask(&ask("q1")).await.unwrap();
    desk.request(request).claim(&takeover("worker-2", 1)).await.unwrap();
    let own = desk.request(request).ask(&second(ask("q1"))).await.unwrap();
    assert_ne!(first, own);
    // And finds its own, past the one that is not.
    assert_eq!(desk.request(request).ask(&second(ask("q1"))).await.unwrap(), own);
}

#[tokio::test]
async fn ask_under_a_stale_fence_is_an_error_even_when_there_is_an_answer() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());
    for stale in [Ask { generation: 2, ..ask("q1") }, Ask { attempt: "x".to_owned(), ..ask("q2") }]
    {
        let error = desk.world.fails(desk.request(request).ask(&stale)).await;
        assert_eq!(error.code(), "stale-fence");
    }
    assert!(desk.request(request).finish(&finish("completed")).await.unwrap());
    let error = desk.world.fails(desk.request(request).ask(&ask("q1"))).await;
    assert_eq!(error.code(), "stale-fence");
}

#[tokio::test]
async fn ask_checks_its_form_before_the_fence() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let text = |text: &str| text.to_owned();
    for (input, path) in [
        (Ask { options: text("yes"), ..ask("q1") }, "options"),
        (Ask { options: text(r#"["yes",null]"#), ..ask("q1") }, "options[1]"),
        (Ask { created_at: text("soon"), ..ask("q1") }, "createdAt"),
        (Ask { expires_at: text("later"), ..ask("q1") }, "expiresAt"),
        (Ask { expires_at: minute(2), ..ask("q1") }, "expiresAt"),
        (Ask { expires_at: minute(1), ..ask("q1") }, "expiresAt"),
    ] {
        let error = desk.world.fails(desk.request(request).ask(&input)).await;
        assert_eq!(invalid_at(error), path);
    }
}
