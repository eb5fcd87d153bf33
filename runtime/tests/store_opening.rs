//! Which folders open as a store, which do not, and what is said about it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod store_support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use quixos_runtime::store::{Durability, OpenError, SledOptions, SledStore, Store, StoreError};
use store_support::{batch, child, child_folder, copy, get, open, open_error, options, put};
use tempfile::tempdir;

#[test]
fn an_absent_folder_becomes_a_store() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a/b/store");
    put(&open(&path), "a", "1").unwrap();
    assert_eq!(get(&open(&path), "a").as_deref(), Some("1"));
}

#[test]
fn an_empty_folder_becomes_a_store() {
    let folder = tempdir().unwrap();
    assert_eq!(open(folder.path()).view().unwrap().version(), 0);
    let store = open(folder.path());
    assert_eq!(put(&store, "a", "1"), Ok(1));
    drop(store);
    assert_eq!(open(folder.path()).view().unwrap().version(), 1);
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("letter.txt"), "dear").unwrap();
    let error = open_error(folder.path());
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was created");
    let file = folder.path().join("letter.txt");
    assert!(matches!(open_error(&file), OpenError::NotAStore { .. }));
    assert_eq!(fs::read_to_string(file).unwrap(), "dear");
}

#[test]
fn a_folder_of_sleds_alone_is_not_a_store() {
    let folder = tempdir().unwrap();
    drop(sled::open(folder.path()).unwrap());
    assert!(matches!(open_error(folder.path()), OpenError::NotAStore { .. }));
}

#[test]
fn the_marker_is_for_people_too() {
    let folder = tempdir().unwrap();
    drop(open(folder.path()));
    let marker = fs::read_to_string(folder.path().join("store.json")).unwrap();
    let expected = r#"{
  "about": "A Quixos store. Its files belong together: copy or move the whole folder, while no program uses it.",
  "format": 1,
  "engine": "sled 0.34",
  "segment_bytes": 8388608,
  "state": "ready"
}
"#;
    assert_eq!(marker, expected);
}

/// Opens a store whose marker was changed, and sees that sled's files were not touched.
fn open_with_marker(change: impl Fn(String) -> String) -> OpenError {
    let folder = tempdir().unwrap();
    put(&open(folder.path()), "a", "1").unwrap();
    let marker = folder.path().join("store.json");
    fs::write(&marker, change(fs::read_to_string(&marker).unwrap())).unwrap();
    let log = folder.path().join("data/db");
    let before = fs::read(&log).unwrap();
    let error = open_error(folder.path());
    assert!(fs::read(&log).unwrap() == before, "sled opened it");
    error
}

#[test]
fn another_format_says_what_differs() {
    let error = open_with_marker(|_| r#"{"format": 2, "engine": ["of the future"]}"#.to_owned());
    assert!(matches!(error, OpenError::OtherFormat { .. }));
    let text = error.to_string();
    assert!(text.contains("holds a store of format 2, and"), "{text}");
    assert!(
        text.contains("reads a store of format 1 (sled 0.34, segments of 8388608 bytes)"),
        "{text}"
    );

    let error = open_with_marker(|marker| marker.replace("8388608", "524288"));
    assert!(error.to_string().contains("segments of 524288 bytes"), "{error}");
    let error = open_with_marker(|marker| marker.replace("sled 0.34", "sled 1.0"));
    assert!(error.to_string().contains("(sled 1.0, "), "{error}");
}

#[test]
fn an_unreadable_marker_is_damage() {
    for text in ["", "{", "[]", "{\"format\": 1}"] {
        let error = open_with_marker(|_| text.to_owned());
        assert!(matches!(error, OpenError::Corrupt { .. }), "{text:?}: {error}");
        assert!(error.to_string().contains("`store.json`"), "{error}");
    }
}

#[test]
fn a_store_that_was_never_finished_is_made_anew() {
    let folder = tempdir().unwrap();
    drop(open(folder.path()));
    let marker = folder.path().join("store.json");
    let text = fs::read_to_string(&marker).unwrap();
    fs::write(&marker, text.replace("ready", "creating")).unwrap();
    fs::write(folder.path().join("data/db"), "half").unwrap();
    fs::remove_file(folder.path().join("progress")).unwrap();
    put(&open(folder.path()), "a", "1").unwrap();
    assert_eq!(get(&open(folder.path()), "a").as_deref(), Some("1"));

    // Killed before there was a marker.
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("lock"), "").unwrap();
    fs::write(folder.path().join("store.json.new"), "{").unwrap();
    drop(open(folder.path()));
}

#[test]
fn missing_files_are_damage_and_not_an_empty_store() {
    for missing in ["progress", "data/db", "data"] {
        let folder = tempdir().unwrap();
        put(&open(folder.path()), "a", "1").unwrap();
        let path = folder.path().join(missing);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        let error = open_error(folder.path());
        assert!(matches!(error, OpenError::Corrupt { .. }), "{missing}: {error}");
    }
}

#[test]
fn a_snapshot_that_sled_did_not_finish_does_not_matter() {
    let folder = tempdir().unwrap();
    put(&open(folder.path()), "a", "1").unwrap();
    fs::write(folder.path().join("data/snap.00000000FFFFFFFF.generating"), "half").unwrap();
    assert_eq!(get(&open(folder.path()), "a").as_deref(), Some("1"));
}

#[test]
fn a_store_is_open_once() {
    let folder = tempdir().unwrap();
    let store = open(folder.path());
    let error = open_error(folder.path());
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    let view = store.view().unwrap();
    drop(store);
    assert!(matches!(open_error(folder.path()), OpenError::Locked { .. }), "a view is left");
    drop(view);
    drop(open(folder.path()));
}

#[test]
fn another_process_is_told_at_once() {
    let folder = tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "a", "1").unwrap();
    let since = Instant::now();
    let output = child("child_opens", folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("Locked"), "{said}");
    assert!(since.elapsed() < Duration::from_secs(5), "it waited");
    drop(store);
    let output = child("child_opens", folder.path()).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("opened, Some(\"1\")"));
}

#[test]
fn a_killed_process_leaves_no_lock() {
    let folder = tempdir().unwrap();
    let mut process = child("child_holds", folder.path()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("holding")));
    assert!(matches!(open_error(folder.path()), OpenError::Locked { .. }));
    process.kill().unwrap();
    process.wait().unwrap();
    drop(open(folder.path()));
}

#[test]
fn child_opens() {
    let Some(folder) = child_folder() else { return };
    match SledStore::open(&folder, options()) {
        Ok(store) => println!("opened, {:?}", get(&store, "a")),
        Err(error) => println!("{error:?}"),
    }
}

#[test]
fn child_holds() {
    let Some(folder) = child_folder() else { return };
    let _store = open(&folder);
    println!("holding");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_store_can_be_copied_while_closed() {
    let folder = tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    put(&open(&from), "a", "1").unwrap();
    copy(&from, &to);
    assert_eq!(get(&open(&to), "a").as_deref(), Some("1"));
}

#[test]
fn what_was_buffered_is_there_after_closing() {
    let folder = tempdir().unwrap();
    let store = open(folder.path());
    store.commit(batch(&[("a", Some("1"))]), Durability::Buffered).unwrap();
    drop(store);
    assert_eq!(get(&open(folder.path()), "a").as_deref(), Some("1"));
}

#[test]
fn a_commit_outlives_the_store() {
    let folder = tempdir().unwrap();
    let store = open(folder.path());
    let commit = store.submit(batch(&[("a", Some("1"))]), Durability::Durable).unwrap();
    let view = store.view().unwrap();
    drop(store);
    assert_eq!(commit.wait(), Ok(1));
    assert_eq!(view.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    drop(view);
    assert_eq!(get(&open(folder.path()), "a").as_deref(), Some("1"));
}

/// What cannot be opened is not taken for what is not there.
#[test]
fn a_file_that_cannot_be_opened_is_the_systems_error() {
    for file in ["store.json", "progress", "data/db"] {
        let folder = tempdir().unwrap();
        put(&open(folder.path()), "a", "1").unwrap();
        let file = folder.path().join(file);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let error = open_error(folder.path());
        assert!(matches!(error, OpenError::Io { .. }), "{error}");
    }
}

#[test]
fn what_the_system_says_comes_with_the_path() {
    let error = SledStore::open(Path::new("/dev/null/store"), SledOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert!(error.to_string().contains("/dev/null/store"), "{error}");
}

#[test]
fn views_expire_rather_than_show_what_came_later() {
    let folder = tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "a", "1").unwrap();
    let before = store.view().unwrap();
    let commit = store.submit(batch(&[("a", Some("2"))]), Durability::Durable).unwrap();
    assert_eq!(before.get(b"a").unwrap().as_deref(), Some(&b"1"[..]), "nothing is written yet");
    commit.wait().unwrap();
    assert_eq!(before.get(b"a"), Err(StoreError::Expired));
}
