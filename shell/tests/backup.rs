//! Backups: taken while a host serves, restored, verified, and the beginning of what it served.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quixos_shell::Exit;
use serde_json::Value;
use support::{Place, Serving};

/// The hashes of a history, by commit.
fn hashes(place: &Place, store: &str) -> Vec<Value> {
    let arguments = ["--store", store, "shell", "--json", "-c", "history limit 1000000"];
    let run = place.run(&arguments).ends(Exit::Good);
    let entries = run.json().remove(0);
    entries.as_array().unwrap().iter().map(|it| it["hash"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_is_a_beginning_of_the_history() {
    let place = Place::new(1, 5);
    let host: Arc<Serving> = Arc::new(place.serve(&[]));
    let over = Arc::new(AtomicBool::new(false));
    let said = Arc::new(AtomicUsize::new(0));
    let talkers: Vec<_> = (0..4)
        .map(|talker| {
            let (host, over, said) = (Arc::clone(&host), Arc::clone(&over), Arc::clone(&said));
            tokio::spawn(async move {
                for turn in 0.. {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let session = format!("{talker}-{turn}");
                    assert_eq!(host.say(&session, "t").await.status(), 202);
                    let stream = host.stream(&session, "t").await.text().await.unwrap();
                    assert!(stream.contains("turn.completed"), "{stream}");
                    said.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let mut commits = Vec::new();
    for number in 0..3 {
        let before = said.load(Ordering::SeqCst);
        while said.load(Ordering::SeqCst) < before + 4 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let file = format!("{number}.backup");
        let run = tokio::task::block_in_place(|| {
            place.run(&["backup", "--json", "--connect", host.operator(), &file])
        });
        commits.push(run.ends(Exit::Good).json()[0]["commit"].as_u64().unwrap());
    }
    over.store(true, Ordering::SeqCst);
    for talker in talkers {
        talker.await.unwrap();
    }
    host.signal("-TERM");
    Arc::into_inner(host).unwrap().ended().ends(Exit::Good);
    let all = hashes(&place, "quixos-data");
    for (number, commit) in commits.iter().enumerate() {
        let (file, store) = (format!("{number}.backup"), format!("store-{number}"));
        let run = place.run(&["--store", &store, "restore", &file]).ends(Exit::Good);
        assert!(run.out.contains("nothing is wrong"), "{}", run.out);
        place.run(&["--store", &store, "verify"]).ends(Exit::Good);
        let restored = hashes(&place, &store);
        assert_eq!(restored.len() as u64, *commit);
        assert!(restored.len() < all.len());
        assert_eq!(restored, all[..restored.len()]);
    }
    assert!(commits.is_sorted_by(|a, b| a < b), "{commits:?}");
    // What is restored is served, and goes on.
    let config = fs::read_to_string(place.path("quixos.toml")).unwrap();
    place.write("quixos.toml", &config);
    let host = place.serve(&["--store", "store-2"]);
    assert_eq!(host.say("later", "t").await.status(), 202);
    assert!(host.stream("later", "t").await.text().await.unwrap().contains("turn.completed"));
    host.signal("-TERM");
    host.ended().ends(Exit::Good);
}

#[test]
fn a_backup_is_whole_or_not_there() {
    let place = Place::new(0, 1);
    let host = place.serve(&[]);
    let backup = |arguments: &[&str]| {
        place.run(&[&["backup", "--connect", host.operator()], arguments].concat())
    };
    backup(&["one"]).ends(Exit::Good);
    backup(&["one"]).ends(Exit::Conflict);
    let run = backup(&["one", "--force"]).ends(Exit::Good);
    assert!(run.out.contains("backed up to `one`, up to commit "), "{}", run.out);
    backup(&["none/one"]).ends(Exit::Io);
    let before = fs::read(place.path("one")).unwrap();
    let run = place.run(&["backup", "--connect", "http://127.0.0.1:1", "one", "--force"]);
    run.ends(Exit::Unavailable);
    assert_eq!(fs::read(place.path("one")).unwrap(), before);
    // Of a store that is in use, and of none.
    place.run(&["backup", "two"]).ends(Exit::Busy);
    assert!(!place.path("two").exists() && !place.path("two.part").exists());
    host.signal("-TERM");
    host.ended().ends(Exit::Good);
    place.run(&["--store", "none", "backup", "two"]).ends(Exit::NotFound);
    place.run(&["backup", "two", "--json"]).ends(Exit::Good);
    place.run(&["export", "three"]).ends(Exit::Good);
    assert_eq!(fs::read(place.path("two")).unwrap(), fs::read(place.path("three")).unwrap());
    let names = fs::read_dir(place.path("")).unwrap().map(|it| it.unwrap().file_name());
    assert!(names.into_iter().all(|it| !it.to_string_lossy().ends_with(".part")));
}

#[test]
fn a_host_that_is_cut_off_leaves_no_backup() {
    use std::io::{Read as _, Write as _};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let cut = std::thread::spawn(move || {
        for body in ["quixos export 1\n", "quixos export 1\n and then what is no block"] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 42\r\n\r\n";
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    let place = Place::new(0, 1);
    place.run(&["backup", "--connect", &url, "one"]).ends(Exit::Unavailable);
    place.run(&["backup", "--connect", &url, "one"]).ends(Exit::Corrupt);
    assert!(!place.path("one").exists() && !place.path("one.part").exists());
    cut.join().unwrap();
}

#[test]
fn what_is_restored_is_verified_and_nothing_is_restored_over() {
    let place = Place::new(0, 1);
    place.run(&["shell", "-c", "create workspace {data: {name: \"Home\"}}"]).ends(Exit::Good);
    place.run(&["backup", "one"]).ends(Exit::Good);
    let run = place.run(&["--store", "again", "restore", "one", "--json"]).ends(Exit::Good);
    assert_eq!(run.json()[0]["verify"]["ok"], true);
    place.run(&["--store", "again", "restore", "one"]).ends(Exit::Conflict);
    let mut bytes = fs::read(place.path("one")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(place.path("edited"), &bytes).unwrap();
    place.run(&["--store", "third", "restore", "edited"]).ends(Exit::Corrupt);
    fs::write(place.path("cut"), &fs::read(place.path("one")).unwrap()[..middle]).unwrap();
    place.run(&["--store", "third", "restore", "cut"]).ends(Exit::Corrupt);
    place.run(&["--store", "third", "restore", "one"]).ends(Exit::Good);
}
