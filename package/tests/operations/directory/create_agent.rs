//! `directory_createAgent`

use quixos_package::agent_runtime::{Agent, AgentData};

use crate::support::{Desk, invalid_at, new_agent};

#[tokio::test]
async fn create_agent_makes_one_that_is_enabled_with_a_stream_of_its_own() {
    let desk = Desk::new().await;
    let input = new_agent("writer", r#"{ "limits": {"maxPending": 2} }"#);
    let agent = desk.directory().create_agent(&input).await.unwrap();
    let client = Agent::on(&desk.world.session, agent);
    let data = AgentData {
        name: "writer".to_owned(),
        description: String::new(),
        enabled: true,
        settings: r#"{ "limits": {"maxPending": 2} }"#.to_owned(),
    };
    assert_eq!(client.data().await.unwrap(), data, "the settings are kept as they were written");
    assert_eq!(client.instructions().await.unwrap(), "Be brief.");
    assert_eq!(client.directory().await.unwrap(), desk.directory);
    assert_ne!(client.completions().await.unwrap(), desk.agent().completions().await.unwrap());
    assert_eq!(desk.directory().agents().await.unwrap(), [desk.agent, agent]);
    desk.world.verify().await;
}

#[tokio::test]
async fn create_agent_takes_a_name_that_another_has() {
    let desk = Desk::new().await;
    let second = desk.directory().create_agent(&new_agent("default", "{}")).await.unwrap();
    assert_ne!(second, desk.agent);
}

#[tokio::test]
async fn create_agent_refuses_settings_that_are_none() {
    let desk = Desk::new().await;
    for (settings, path) in [
        ("{", "settings"),
        (r#"{"model":"x"}"#, "settings.model"),
        (r#"{"limits":{"maxPending":-1}}"#, "settings.limits.maxPending"),
        (r#"{"notifyCompletions":"yes"}"#, "settings.notifyCompletions"),
    ] {
        let input = new_agent("writer", settings);
        let error = desk.world.fails(desk.directory().create_agent(&input)).await;
        assert_eq!(invalid_at(error), path, "{settings}");
    }
}
