//! `workspace_install`

use quixos_package::agent_runtime::{AgentWorkspace, AgentWorkspaceInstallInput, DirectoryData};

use crate::support::{Desk, World, invalid_at};

fn input(settings: &str) -> AgentWorkspaceInstallInput {
    let instructions = "Be kind.".to_owned();
    AgentWorkspaceInstallInput { instructions, settings: settings.to_owned() }
}

#[tokio::test]
async fn install_makes_a_directory_that_counts_nothing_and_is_offline() {
    let desk = Desk::new().await;
    let empty = DirectoryData {
        // One was given to the first thread.
        sequence: 1,
        pending: 0,
        ordinary_pending: 0,
        notification_pending: 0,
        profiles: "[]".to_owned(),
        availability: "offline".to_owned(),
    };
    assert_eq!(desk.directory_data().await, empty);
    assert_eq!(desk.workspace().agents().await.unwrap(), Some(desk.directory));
    desk.world.verify().await;
}

#[tokio::test]
async fn install_again_answers_the_same_and_ignores_its_input() {
    let desk = Desk::new().await;
    for settings in [r#"{"notifyCompletions":false}"#, "not even JSON"] {
        let again = desk.world.keeps(desk.workspace().install(&input(settings))).await;
        assert_eq!(again, desk.directory);
    }
    assert_eq!(desk.agent_data().await.settings, "{}");
}

#[tokio::test]
async fn install_refuses_settings_that_are_none() {
    let world = World::new();
    let workspace = world.workspace().await;
    let workspace = AgentWorkspace::on(&world.session, workspace);
    let error = world.fails(workspace.install(&input(r#"{"limits":{"max":1}}"#))).await;
    assert_eq!(invalid_at(error), "settings.limits.max");
    assert_eq!(workspace.agents().await.unwrap(), None);
}
