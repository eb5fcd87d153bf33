//! `directory_initialize`

use quixos_package::agent_runtime::{AgentData, AgentDirectory, ThreadData, directory_initialize};

use crate::support::{Desk, START, bare_directory, invalid_at};

fn input(settings: &str) -> directory_initialize::Input {
    let instructions = "Be strict.".to_owned();
    directory_initialize::Input { instructions, settings: settings.to_owned() }
}

#[tokio::test]
async fn initialize_makes_the_default_agent_and_its_main_thread() {
    let desk = Desk::with(r#"{"notifyCompletions":true}"#).await;
    let agent = AgentData {
        name: "default".to_owned(),
        description: String::new(),
        enabled: true,
        settings: r#"{"notifyCompletions":true}"#.to_owned(),
    };
    assert_eq!(desk.agent_data().await, agent);
    assert_eq!(desk.agent().instructions().await.unwrap(), "Be kind.");
    let thread = ThreadData {
        title: String::new(),
        kind: "main".to_owned(),
        archived: false,
        sequence: 1,
        pending: 0,
        next_item: 1,
        updated_at: START.to_owned(),
    };
    assert_eq!(desk.thread_data().await, thread);
    assert_eq!(desk.thread().agent().await.unwrap(), desk.agent);
    assert_eq!(desk.thread().directory().await.unwrap(), desk.directory);
}

#[tokio::test]
async fn initialize_again_changes_nothing() {
    let desk = Desk::new().await;
    desk.world.keeps(desk.directory().initialize(&input("{}"))).await;
}

#[tokio::test]
async fn initialize_checks_the_settings_also_when_nothing_is_left_to_do() {
    let desk = Desk::new().await;
    let error = desk.world.fails(desk.directory().initialize(&input("[]"))).await;
    assert_eq!(invalid_at(error), "settings");
}

#[tokio::test]
async fn initialize_is_for_whoever_creates_a_directory() {
    let (world, directory) = bare_directory().await;
    let client = AgentDirectory::on(&world.session, directory);
    let error = world.fails(client.initialize(&input(r#"{"x":1}"#))).await;
    assert_eq!(invalid_at(error), "settings.x");
    client.initialize(&input("{}")).await.unwrap();
    assert!(client.default_agent().await.unwrap().is_some());
    assert!(client.initial_thread().await.unwrap().is_some());
    world.verify().await;
}
