//! `agent_update`

use quixos_package::agent_runtime::{AgentData, agent_update};

use crate::support::{Desk, invalid_at, unchanged};

type Change = fn(&mut AgentData);

#[tokio::test]
async fn update_changes_only_what_is_given() {
    let desk = Desk::new().await;
    let text = |text: &str| Some(text.to_owned());
    let mut expected = desk.agent_data().await;
    let updates: [(agent_update::Input, Change); 5] = [
        (unchanged(), |_| {}),
        (agent_update::Input { name: text("scribe"), ..unchanged() }, |data| {
            data.name = "scribe".to_owned();
        }),
        (agent_update::Input { description: text("Writes."), ..unchanged() }, |data| {
            data.description = "Writes.".to_owned();
        }),
        (agent_update::Input { enabled: Some(false), ..unchanged() }, |data| data.enabled = false),
        (agent_update::Input { settings: text(r#"{"limits":{}}"#), ..unchanged() }, |data| {
            data.settings = r#"{"limits":{}}"#.to_owned();
        }),
    ];
    for (update, change) in updates {
        desk.update(&update).await.unwrap();
        change(&mut expected);
        assert_eq!(desk.agent_data().await, expected);
    }
    assert_eq!(desk.agent().instructions().await.unwrap(), "Be kind.");
}

#[tokio::test]
async fn update_refuses_settings_that_are_none_and_changes_nothing_else_either() {
    let desk = Desk::new().await;
    let input = agent_update::Input {
        name: Some("scribe".to_owned()),
        settings: Some(r#"{"limits":{"maxPending":null}}"#.to_owned()),
        ..unchanged()
    };
    let error = desk.world.fails(desk.update(&input)).await;
    assert_eq!(invalid_at(error), "settings.limits.maxPending");
}
