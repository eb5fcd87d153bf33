//! `directory_advertise`

use quixos_package::agent_runtime::{DirectoryData, directory_advertise};

use crate::support::{Desk, invalid_at};

fn input(profiles: &str, availability: &str) -> directory_advertise::Input {
    directory_advertise::Input {
        profiles: profiles.to_owned(),
        availability: availability.to_owned(),
    }
}

#[tokio::test]
async fn advertise_stores_both_as_they_were_written() {
    let desk = Desk::new().await;
    let before = desk.directory_data().await;
    for availability in ["online", "degraded", "offline"] {
        let input = input(r#"[ "fast", "deep" ]"#, availability);
        desk.directory().advertise(&input).await.unwrap();
        let expected = DirectoryData {
            profiles: r#"[ "fast", "deep" ]"#.to_owned(),
            availability: availability.to_owned(),
            ..before.clone()
        };
        assert_eq!(desk.directory_data().await, expected);
    }
}

#[tokio::test]
async fn advertise_refuses_profiles_that_are_no_list_of_strings() {
    let desk = Desk::new().await;
    for (profiles, path) in [
        ("", "profiles"),
        ("{}", "profiles"),
        (r#""fast""#, "profiles"),
        (r#"["a",1]"#, "profiles[1]"),
    ] {
        let input = input(profiles, "online");
        let error = desk.world.fails(desk.directory().advertise(&input)).await;
        assert_eq!(invalid_at(error), path, "{profiles}");
    }
}

#[tokio::test]
async fn advertise_refuses_an_availability_that_is_no_such_word() {
    let desk = Desk::new().await;
    for availability in ["", "Online", "busy"] {
        let input = input("[]", availability);
        let error = desk.world.fails(desk.directory().advertise(&input)).await;
        assert_eq!(invalid_at(error), "availability");
    }
}
