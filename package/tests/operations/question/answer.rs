//! `question_answer`

use quixos_package::agent_runtime::{
    AgentQuestionObject, QuestionData, question_answer, request_ask,
};
use quixos_runtime::Ref;

use crate::support::{Desk, Request, answer, ask, finish, invalid_at, minute, takeover};

type Answer = question_answer::Input;

async fn asked(options: &str) -> (Desk, Request, Ref<AgentQuestionObject>) {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let input = request_ask::Input { options: options.to_owned(), ..ask("q1") };
    let question = desk.request(request).ask(&input).await.unwrap();
    (desk, request, question)
}

const YES_NO: &str = r#"["yes","no"]"#;

#[tokio::test]
async fn answer_is_stored_and_the_request_goes_on_waiting() {
    let (desk, request, question) = asked(YES_NO).await;
    let before = desk.question_data(question).await;
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());
    let expected =
        QuestionData { status: "answered".to_owned(), answer: Some("yes".to_owned()), ..before };
    assert_eq!(desk.question_data(question).await, expected);
    assert_eq!(desk.status(request).await, "waiting");
}

#[tokio::test]
async fn answer_is_free_where_there_are_no_options() {
    let (desk, _, question) = asked("[]").await;
    assert!(desk.question(question).answer(&answer("perhaps")).await.unwrap());
}

#[tokio::test]
async fn answer_that_is_no_option_is_invalid() {
    let (desk, _, question) = asked(YES_NO).await;
    let error = desk.world.fails(desk.question(question).answer(&answer("perhaps"))).await;
    assert_eq!(invalid_at(error), "answer");
}

#[tokio::test]
async fn answer_twice_answers_false() {
    let (desk, _, question) = asked(YES_NO).await;
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());
    for again in ["yes", "no", "perhaps"] {
        assert!(!desk.world.keeps(desk.question(question).answer(&answer(again))).await);
    }
}

#[tokio::test]
async fn answer_to_a_question_that_was_taken_back_answers_false() {
    let (desk, _, question) = asked(YES_NO).await;
    desk.question(question).cancel().await.unwrap();
    assert!(!desk.world.keeps(desk.question(question).answer(&answer("yes"))).await);
}

#[tokio::test]
async fn answer_under_a_stale_fence_answers_false() {
    let (desk, _, question) = asked(YES_NO).await;
    for stale in [
        Answer { attempt: "worker-2".to_owned(), ..answer("yes") },
        Answer { generation: 2, ..answer("perhaps") },
    ] {
        assert!(!desk.world.keeps(desk.question(question).answer(&stale)).await);
    }
}

#[tokio::test]
async fn answer_for_an_attempt_that_was_taken_over_answers_false() {
    let (desk, request, question) = asked(YES_NO).await;
    desk.request(request).claim(&takeover("worker-2", 1)).await.unwrap();
    for text in ["yes", "perhaps"] {
        assert!(!desk.world.keeps(desk.question(question).answer(&answer(text))).await);
    }
}

#[tokio::test]
async fn answer_for_an_attempt_that_did_not_ask_answers_false() {
    let (desk, request, question) = asked(YES_NO).await;
    desk.request(request).claim(&takeover("worker-2", 1)).await.unwrap();
    // It holds the request, but the question is another's.
    let other = Answer { attempt: "worker-2".to_owned(), generation: 2, ..answer("yes") };
    assert!(!desk.world.keeps(desk.question(question).answer(&other)).await);
}

#[tokio::test]
async fn answer_for_a_request_that_has_ended_answers_false() {
    let (desk, request, question) = asked(YES_NO).await;
    assert!(desk.request(request).finish(&finish("failed")).await.unwrap());
    assert!(!desk.world.keeps(desk.question(question).answer(&answer("yes"))).await);
}

#[tokio::test]
async fn answer_at_the_end_of_the_question_is_too_late_by_its_own_time() {
    let (desk, _, question) = asked(YES_NO).await;
    for (text, at) in [("yes", minute(30)), ("perhaps", minute(31))] {
        let late = Answer { answered_at: at, ..answer(text) };
        assert!(!desk.world.keeps(desk.question(question).answer(&late)).await);
    }
    let last = Answer { answered_at: "2026-01-31T12:29:59.999Z".to_owned(), ..answer("yes") };
    assert!(desk.question(question).answer(&last).await.unwrap());
}

#[tokio::test]
async fn answer_at_the_end_of_the_question_is_too_late_by_the_clock() {
    let (desk, _, question) = asked(YES_NO).await;
    desk.world.wait(30);
    assert!(!desk.world.keeps(desk.question(question).answer(&answer("yes"))).await);
}

#[tokio::test]
async fn answer_checks_its_form_before_all_else() {
    let (desk, _, question) = asked(YES_NO).await;
    desk.question(question).cancel().await.unwrap();
    let input = Answer { answered_at: "soon".to_owned(), ..answer("yes") };
    let error = desk.world.fails(desk.question(question).answer(&input)).await;
    assert_eq!(invalid_at(error), "answeredAt");
}
