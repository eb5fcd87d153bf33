//! `quixos serve` from outside: its config, its addresses, its store.

#![cfg(unix)]

mod support;

use std::fs;

use quixos_runtime::store::{SledOptions, SledStore};
use quixos_shell::Exit;
use serde_json::json;
use support::Place;

#[test]
fn a_config_is_checked_without_being_served() {
    let place = Place::new(0, 1);
    let run = place.run(&["serve", "--check"]).ends(Exit::Good);
    assert_eq!(run.out, "`quixos.toml` is good\n");
    assert!(!place.path("quixos-data").exists(), "a check makes no store");
    let run = place.run(&["serve", "--check", "--json"]).ends(Exit::Good);
    assert_eq!(run.json(), [json!({ "ok": true })]);
}

#[test]
fn all_faults_of_a_config_are_shown_with_their_places_and_nothing_is_served() {
    let place = Place::new(0, 1);
    let config = fs::read_to_string(place.path("quixos.toml")).unwrap();
    let config = config
        .replace("stop_secs = 2", "stop_sex = 2")
        .replace("model = \"demo\"", "model = \"other\"");
    place.write("bad.toml", &config);
    for arguments in
        [&["serve", "--config", "bad.toml"][..], &["serve", "--config", "bad.toml", "--check"]]
    {
        let run = place.run(arguments).ends(Exit::Findings);
        assert_eq!(run.out, "");
        assert!(
            run.err.contains("error[C0102]: `stop_sex` is not known in `[engine]`"),
            "{}",
            run.err
        );
        assert!(run.err.contains("--> bad.toml:6:1"), "{}", run.err);
        assert!(run.err.contains("did you mean `stop_secs`?"), "{}", run.err);
        assert!(run.err.contains("error[C0110]"), "{}", run.err);
        let run = place.run(&[arguments, &["--json"]].concat()).ends(Exit::Findings);
        let faults = run.json();
        let codes: Vec<_> = faults[0].as_array().unwrap().iter().map(|it| &it["code"]).collect();
        assert_eq!(codes, ["C0102", "C0110"], "{faults:?}");
        assert_eq!((&faults[0][0]["line"], &faults[0][0]["column"]), (&json!(6), &json!(1)));
    }
    assert!(!place.path("quixos-data").exists());
    place.run(&["serve", "--config", "none.toml"]).ends(Exit::Io);
    place.run(&["serve", "--demo", "--config", "bad.toml"]).ends(Exit::Usage);
}

#[test]
fn a_secret_that_is_missing_is_named_and_none_is_shown() {
    let place = Place::new(0, 1);
    let output = place.command(&["serve"]).env_remove("OPERATOR_TOKEN").output().unwrap();
    let run = support::Run::from(output).ends(Exit::Findings);
    assert!(
        run.err.contains("error[C0105]: the environment variable `OPERATOR_TOKEN`"),
        "{}",
        run.err
    );
    let output = place.command(&["serve"]).env("OPERATOR_TOKEN", support::KEY).output().unwrap();
    let run = support::Run::from(output).ends(Exit::Findings);
    assert!(run.err.contains("error[C0106]: the operator's token is the key"), "{}", run.err);
    assert!(!run.err.contains(support::KEY), "{}", run.err);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let place = Place::new(0, 1);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = place.run(&["serve", "--listen", &address]).ends(Exit::Io);
    assert!(run.err.contains(&address) && run.err.contains("name another port"), "{}", run.err);
    let config = fs::read_to_string(place.path("quixos.toml")).unwrap();
    let config = config.replace("listen = \"127.0.0.1:0\"", &format!("listen = \"{address}\""));
    place.write("quixos.toml", &config);
    let run = place.run(&["serve"]).ends(Exit::Io);
    assert!(run.err.contains(&address), "{}", run.err);
}

#[test]
fn a_store_that_is_in_use_is_not_served() {
    let place = Place::new(0, 1);
    let held = SledStore::open(place.path("quixos-data"), SledOptions::default()).unwrap();
    let run = place.run(&["serve"]).ends(Exit::Busy);
    assert!(run.err.contains("in use"), "{}", run.err);
    drop(held);
    let host = place.serve(&[]);
    let run = place.run(&["serve", "--json"]).ends(Exit::Busy);
    assert!(run.err.contains("shell --connect"), "{}", run.err);
    host.signal("-TERM");
    host.ended().ends(Exit::Good);
    assert!(!place.path("quixos-data/serving.json").exists());
}
