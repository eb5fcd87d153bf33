//! An engine that is killed at any moment: what it had taken is ended by the next one, once.
//!
//! The test runs itself as a process that talks in many sessions and is killed; then the store is
//! opened, and every session that was told to be taken must come to its end, with every message
//! there once. `QUIXOS_KILLS` says how often, `QUIXOS_SEED` how.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "the process tells its parent by its output")]

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use quixos_runtime::{Atom as _, Ref, Runtime};
use quixos_session::sessions::SessionRegistryObject;

mod support;

use support::{folder, is_done, open, said, say, set_up, start, wait_for};

/// Where the process that is killed finds its store.
const FOLDER: &str = "QUIXOS_KILL_FOLDER";
/// Which life of it this is.
const LIFE: &str = "QUIXOS_KILL_LIFE";
/// Sessions that each life begins.
const SESSIONS: usize = 6;

/// What is said in a session, by its number, and how many messages that comes to.
fn task(n: usize) -> (&'static str, usize) {
    match n % 3 {
        0 => ("How is the weather?", 4),
        1 => ("research moss", 4),
        _ => ("hello", 2),
    }
}

async fn registry(runtime: &Runtime) -> Ref<SessionRegistryObject> {
    let found = runtime
        .read(|snapshot| snapshot.objects(SessionRegistryObject::TAG, None, 1))
        .await
        .unwrap();
    match found.first() {
        Some(&object) => Ref::from_object(object).unwrap(),
        None => set_up(runtime).await,
    }
}

/// The life of the process that is killed. Does nothing when it is run as a test among others.
#[test]
fn life() {
    let (Ok(home), Ok(life)) = (env::var(FOLDER), env::var(LIFE)) else { return };
    let life: usize = life.parse().unwrap();
    let threads = tokio::runtime::Runtime::new().unwrap();
    threads.block_on(async {
        let runtime = open(folder(Path::new(&home)));
        let registry = registry(&runtime).await;
        let engine = start(&runtime, registry, "one").await;
        for n in life * SESSIONS..(life + 1) * SESSIONS {
            say(&engine, &format!("s{n}"), "t", task(n).0).await.unwrap();
            println!("taken {n}");
        }
        std::future::pending::<()>().await;
    });
}

#[test]
fn whatever_was_taken_comes_to_its_end_once() {
    let kills = env::var("QUIXOS_KILLS").map_or(8, |kills| kills.parse().unwrap());
    let seed: u64 = env::var("QUIXOS_SEED").map_or(1, |seed| seed.parse().unwrap());
    let home = tempfile::tempdir().unwrap();
    let mut taken = BTreeMap::new();
    for life in 0..kills {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "life", "--nocapture"])
            .env(FOLDER, home.path())
            .env(LIFE, life.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines
                .filter_map(|line| line.strip_prefix("taken ")?.parse::<usize>().ok())
                .collect::<Vec<_>>()
        });
        // From the first moments of a life to where most of its turns have ended.
        let draw = (seed + life as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        std::thread::sleep(Duration::from_millis(60 + draw % 900));
        process.kill().unwrap();
        process.wait().unwrap();
        for n in reader.join().unwrap() {
            taken.insert(n, life);
        }
    }
    let threads = tokio::runtime::Runtime::new().unwrap();
    threads.block_on(async {
        let runtime = open(folder(home.path()));
        let registry = registry(&runtime).await;
        let engine = start(&runtime, registry, "one").await;
        for (&n, life) in &taken {
            let what = format!("done, of life {life}");
            let view = wait_for(&engine, &format!("s{n}"), &what, is_done).await;
            let (_, messages) = task(n);
            assert_eq!(said(&view).len(), messages, "{view:#}");
            let nodes = view["message_tree"]["nodes"].as_array().unwrap();
            assert_eq!(nodes.len(), messages, "a message twice, or a branch: {view:#}");
        }
        engine.stop().await;
        let report = runtime.verify().await.unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        runtime.close();
    });
    println!("{kills} kills, {} sessions taken, all at their end", taken.len());
    assert!(!taken.is_empty() || kills == 0, "every process was killed before it took anything");
}
