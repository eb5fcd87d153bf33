//! The sessions of an owner: listed, named, put away.

use quixos_session::sessions::{
    SessionArchiveInput, SessionRegistryOwnedInput, SessionRegistryOwnedOutput, SessionRenameInput,
};
use serde_json::json;

use crate::support::{
    TENANT, Talk, World, calls, config_with, frontend, machine, message, refusal,
};

async fn page(
    world: &World,
    owner: &str,
    after: Option<String>,
    limit: u32,
) -> SessionRegistryOwnedOutput {
    let (tenant, owner_id) = (TENANT.to_owned(), owner.to_owned());
    let input = SessionRegistryOwnedInput { tenant, owner_id, after, limit };
    world.registry().owned(&input).await.unwrap()
}

fn ids(page: &SessionRegistryOwnedOutput) -> Vec<&str> {
    page.sessions.iter().map(|listed| listed.session_id.as_str()).collect()
}

#[tokio::test]
async fn an_owner_reads_its_own_sessions_newest_first_and_page_by_page() {
    let world = World::new().await;
    for n in 0..5 {
        world.submit(frontend("anna"), &format!("a{n}"), &message("t", "Hi")).await.unwrap();
        world.submit(frontend("ann"), &format!("b{n}"), &message("t", "Hi")).await.unwrap();
        world.wait(1);
    }
    let first = page(&world, "anna", None, 2).await;
    assert_eq!(ids(&first), ["a4", "a3"]);
    // What comes meanwhile does not shift what follows.
    world.submit(frontend("anna"), "a5", &message("t", "Hi")).await.unwrap();
    let second = page(&world, "anna", first.next, 2).await;
    assert_eq!(ids(&second), ["a2", "a1"]);
    let last = page(&world, "anna", second.next, 2).await;
    assert_eq!((ids(&last), last.next.as_deref()), (vec!["a0"], None));
    assert_eq!(ids(&page(&world, "ann", None, 100).await), ["b4", "b3", "b2", "b1", "b0"]);
    assert_eq!(ids(&page(&world, "eve", None, 100).await), Vec::<&str>::new());
    let listed = &page(&world, "anna", None, 1).await.sessions[0];
    assert_eq!((listed.agent_id.as_str(), listed.turn.as_deref()), ("helper", Some("t")));
    let odd = SessionRegistryOwnedInput {
        tenant: TENANT.to_owned(),
        owner_id: "anna".to_owned(),
        after: Some("odd".to_owned()),
        limit: 1,
    };
    assert_eq!(world.registry().owned(&odd).await.unwrap_err().code(), "invalid");
    world.verify().await;
}

#[tokio::test]
async fn sub_agents_are_on_no_shelf() {
    let world = World::new().await;
    world.agent("one", "{}").await;
    let mut config = config_with(&[]);
    config["sub_agents"] = json!([{"id": "one"}]);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "one")])).await;
    talk.echo("llm.finished").await;
    talk.run_errands().await;
    assert_eq!(talk.children().await.len(), 1);
    assert_eq!(ids(&page(&world, "anna", None, 100).await), ["s1"]);
}

async fn archive(talk: &Talk<'_>, archived: bool) -> Result<(), quixos_runtime::CallError> {
    talk.client().archive(&SessionArchiveInput { by: frontend("anna"), archived }).await
}

#[tokio::test]
async fn a_session_is_named_and_put_away_by_its_owner() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[])).await;
    talk.answer_next("client.messages", &json!({})).await;
    let title = "A trip".to_owned();
    let rename = |by| SessionRenameInput { by, title: title.clone() };
    let error = talk.client().rename(&rename(frontend("eve"))).await.unwrap_err();
    assert_eq!(refusal(&error).word(), "not-owner");
    talk.client().rename(&rename(frontend("anna"))).await.unwrap();
    archive(&talk, true).await.unwrap();
    let listed = page(&world, "anna", None, 1).await.sessions.pop().unwrap();
    assert_eq!((listed.title.as_str(), listed.archived), ("A trip", true));
    let error = talk.refused(talk.submit(&message("t2", "More"))).await;
    assert_eq!(refusal(&error).to_string(), "not-admitted:thread-archived");
    archive(&talk, false).await.unwrap();
    talk.submit(&message("t2", "More")).await.unwrap();
    talk.cancel_as(machine(), None).await.unwrap();
    let listed = page(&world, "anna", None, 1).await.sessions.pop().unwrap();
    assert!(listed.cancelled && listed.archived);
    let error = archive(&talk, false).await.unwrap_err();
    assert_eq!(refusal(&error).word(), "cancelled");
}
