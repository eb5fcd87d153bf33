//! Streams: offsets without gaps, each event once and in order to every follower, cursors that
//! last. Against a plain list, over both stores, with restarts.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{CallError, Caller, Follow, Runtime, blocking};
use serde_json::json;
use support::{SHELVING, Seen, Shelf, open, shelving, step};

const LOG: &str = "log";

fn texts(events: &[quixos_runtime::Event]) -> Vec<String> {
    events.iter().map(|event| event.decode::<Seen>().unwrap().text).collect()
}

fn log(shelf: &Shelf, text: &str) {
    shelf.play(&[step("log", text, None)]).unwrap();
}

/// Runs on both stores; opening the same again is a restart.
fn on_both(test: impl Fn(&dyn Fn() -> Arc<dyn Store>)) {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    test(&|| Arc::clone(&memory));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    test(&|| Arc::new(SledStore::open(&path, SledOptions::default()).unwrap()));
}

fn next(follow: &mut Follow) -> Option<quixos_runtime::Event> {
    blocking(follow.next()).unwrap()
}

#[test]
fn a_stream_is_a_list_that_outlives_restarts() {
    on_both(|store| {
        let runtime = open(store());
        let shelf = Shelf::new(&runtime);
        let on = shelf.shelf;
        let mut expected = Vec::new();
        for at in 0..10 {
            log(&shelf, &format!("event {at}"));
            expected.push(format!("event {at}"));
        }
        // Several in one transaction, and the built-in append at the door.
        shelf.play(&[step("log", "two", None), step("log", "three", None)]).unwrap();
        let seen = Seen { text: "four".into(), note: None };
        let offset: u64 =
            blocking(shelf.session.member_call(on, SHELVING, shelving::NOTE, &seen)).unwrap();
        assert_eq!(offset, 12);
        expected.extend(["two", "three", "four"].map(String::from));
        // A failed call appends nothing and leaves no gap.
        shelf.play(&[step("log", "lost", None), step("fail", "", None)]).unwrap_err();
        drop(shelf);
        runtime.close();

        let runtime = open(store());
        let stream = runtime.stream(on, LOG).unwrap();
        assert_eq!(blocking(stream.len()).unwrap(), 13);
        let mut read = Vec::new();
        while let page = blocking(stream.read(read.len() as u64, 4)).unwrap()
            && !page.is_empty()
        {
            read.extend(page);
        }
        assert!(read.iter().map(|event| event.offset).eq(0..13));
        assert_eq!(texts(&read), expected);
        runtime.close();
    });
}

#[test]
fn a_page_ends_with_the_event_that_makes_it_full() {
    on_both(|store| {
        let runtime = open(store());
        let shelf = Shelf::new(&runtime);
        let stream = runtime.stream(shelf.shelf, LOG).unwrap();
        let (small, large) = ("a".repeat(100), "b".repeat(300_000));
        for text in std::iter::repeat_n(&small, 30).chain(std::iter::repeat_n(&large, 12)) {
            log(&shelf, text);
        }
        let page = |from, limit, bytes| {
            let page = blocking(stream.read_within(from, limit, bytes)).unwrap();
            assert!(page.iter().map(|event| event.offset).eq(from..from + page.len() as u64));
            page.len()
        };
        // By number, where all is small, and to the end.
        assert_eq!((page(0, 25, 1 << 20), page(30, 1, 1 << 20), page(40, 25, 1 << 20)), (25, 1, 2));
        assert_eq!(page(42, 25, 1 << 20), 0);
        // By bytes, also where what is small goes before what is not. One at least.
        assert_eq!((page(0, 25, 1000), page(30, 25, 1 << 20), page(30, 25, 600_000)), (10, 4, 2));
        assert_eq!((page(20, 25, 20_000), page(30, 25, 20_000), page(30, 25, 0)), (11, 1, 1));
        let mut follow = stream.follow(0);
        for offset in 0..42 {
            assert_eq!(next(&mut follow).unwrap().offset, offset);
        }
        drop((follow, shelf));
        runtime.close();
    });
}

#[test]
fn followers_see_each_event_once_in_order_from_where_they_begin() {
    on_both(|store| {
        let runtime = open(store());
        let shelf = Shelf::new(&runtime);
        let stream = runtime.stream(shelf.shelf, LOG).unwrap();
        for at in 0..5 {
            log(&shelf, &at.to_string());
        }
        std::thread::scope(|scope| {
            let followers: Vec<_> = (0..4_u64)
                .map(|from| {
                    let mut follow = stream.follow(from);
                    scope.spawn(move || {
                        let mut seen = Vec::new();
                        for expected in from..200 {
                            let event = next(&mut follow).unwrap();
                            assert_eq!(event.offset, expected);
                            if from == 3 {
                                // A slow reader loses nothing and holds nobody back.
                                std::thread::sleep(Duration::from_micros(200));
                            }
                            seen.push(event);
                        }
                        texts(&seen)
                    })
                })
                .collect();
            let writers: Vec<_> = (0..3)
                .map(|writer| {
                    let shelf = shelf.clone();
                    scope.spawn(move || {
                        (0..65).for_each(|at| log(&shelf, &format!("{writer} {at}")))
                    })
                })
                .collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            let all = texts(&blocking(stream.read(0, usize::MAX)).unwrap());
            assert_eq!(all.len(), 200);
            for (from, follower) in followers.into_iter().enumerate() {
                assert_eq!(follower.join().unwrap(), all[from..]);
            }
        });
        drop(shelf);
        drop(stream);
        runtime.close();
    });
}

#[test]
fn a_follower_is_told_when_the_runtime_closes() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let stream = runtime.stream(shelf.shelf, LOG).unwrap();
    let mut follow = stream.follow(0);
    let mut feed = runtime.feed(1);
    log(&shelf, "last");
    let waiting = std::thread::spawn(move || {
        let events = [next(&mut follow).map(|it| it.offset), next(&mut follow).map(|it| it.offset)];
        let entries = [blocking(feed.next()).unwrap(), blocking(feed.next()).unwrap()];
        (events, entries.map(|entry| entry.map(|it| it.commit)))
    });
    std::thread::sleep(Duration::from_millis(20));
    runtime.close();
    assert_eq!(waiting.join().unwrap(), ([Some(0), None], [Some(2), None]));
    // What comes after is answered, not left waiting.
    let mut late = stream.follow(1);
    assert!(next(&mut late).is_none());
    let error = shelf.play(&[step("log", "too late", None)]).unwrap_err();
    assert_eq!(error.code(), "unavailable");
}

#[test]
fn cursors_are_durable_independent_and_go_forward_only() {
    on_both(|store| {
        let runtime = open(store());
        let shelf = Shelf::new(&runtime);
        let on = shelf.shelf;
        (0..9).for_each(|at| log(&shelf, &at.to_string()));
        let stream = runtime.stream(on, LOG).unwrap();
        let mover = Caller::operator("mover");
        assert_eq!(blocking(stream.cursor("reader")).unwrap(), 0);
        assert_eq!(blocking(stream.advance(&mover, "reader", 5)).unwrap(), 5);
        assert_eq!(blocking(stream.advance(&mover, "other", 2)).unwrap(), 2);
        // Repeated after a crash, it takes nothing back.
        assert_eq!(blocking(stream.advance(&mover, "reader", 3)).unwrap(), 5);
        let error = blocking(stream.advance(&mover, "reader", 10)).unwrap_err();
        let CallError::Invalid { path, .. } = &error else { panic!("{error}") };
        assert_eq!(path, "offset");
        assert_eq!(blocking(stream.advance(&mover, "", 1)).unwrap_err().code(), "invalid");
        let moved = blocking(runtime.read(|it| it.recent_history(1))).unwrap();
        assert_eq!(moved[0].actor, "mover");
        drop((shelf, stream));
        runtime.close();

        let runtime = open(store());
        let stream = runtime.stream(on, LOG).unwrap();
        assert_eq!(blocking(stream.cursor("reader")).unwrap(), 5);
        let cursors = blocking(runtime.read(|it| it.cursors(on, LOG))).unwrap();
        assert_eq!(cursors, [("other".to_owned(), 2), ("reader".to_owned(), 5)]);
        assert!(blocking(runtime.verify()).unwrap().is_clean());
        drop(stream);
        runtime.close();
    });
}

#[test]
fn a_stream_is_read_by_json() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    shelf.play(&[step("log", "a", Some(note)), step("log", "b", None)]).unwrap();
    let read =
        |input| blocking(shelf.session.invoke_json(shelf.shelf, "log", &input)).map(|it| it.value);
    let all = read(json!(null)).unwrap();
    assert_eq!(
        all[0],
        json!({
            "offset": 0, "commit": 3, "instant": "2026-01-02T03:04:05.678Z",
            "event": {"text": "a", "note": format!("atom:test:note/{}", note.id)},
        })
    );
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(read(json!({"from": 1, "limit": 1})).unwrap()[0]["event"]["text"], "b");
    for (input, path) in [
        (json!({"from": -1}), "from"),
        (json!({"limit": "x"}), "limit"),
        (json!({"offset": 1}), "offset"),
        (json!(7), "$"),
    ] {
        let error = read(input).unwrap_err();
        let CallError::Invalid { path: at, .. } = &error else { panic!("{error}") };
        assert_eq!(at, path);
    }
}

#[test]
fn a_stream_that_is_not_there_is_not_found() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    assert_eq!(runtime.stream(shelf.shelf, "none").err().unwrap().code(), "not-found");
}

/// Followers on tokio, as a host has them.
#[test]
fn followers_run_on_tokio() {
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let runtime: Runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    executor.block_on(async {
        let mut followers = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let mut follow = runtime.stream(shelf.shelf, LOG).unwrap().follow(0);
            followers.spawn(async move {
                for at in 0..20 {
                    assert_eq!(follow.next().await.unwrap().unwrap().offset, at);
                }
            });
        }
        for at in 0..20_u32 {
            let seen = Seen { text: at.to_string(), note: None };
            let call =
                shelf.session.member_call::<_, u64>(shelf.shelf, SHELVING, shelving::NOTE, &seen);
            call.await.unwrap();
        }
        while let Some(follower) = followers.join_next().await {
            follower.unwrap();
        }
    });
}
