//! `question_cancel`

use quixos_package::agent_runtime::QuestionData;

use crate::support::{Desk, answer, ask};

#[tokio::test]
async fn cancel_takes_back_an_open_question_and_the_request_goes_on_waiting() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    let before = desk.question_data(question).await;
    desk.question(question).cancel().await.unwrap();
    let expected = QuestionData { status: "cancelled".to_owned(), ..before };
    assert_eq!(desk.question_data(question).await, expected);
    assert_eq!(desk.status(request).await, "waiting");
    desk.world.keeps(desk.question(question).cancel()).await;
}

#[tokio::test]
async fn cancel_of_an_answered_question_changes_nothing() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());
    desk.world.keeps(desk.question(question).cancel()).await;
}
