//! What a host holds, and what it refuses: many streams, many turns at once, floods, clients that
//! stall, a full disk, a worker and a host that die.
//!
//! ```sh
//! cargo run --release -p quixos-host --example load             # everything
//! cargo run --release -p quixos-host --example load streams 500 # one part, smaller
//! ```
//!
//! The host is a process of its own, over a store on disk, so that its memory is its own and it can
//! be killed. Nothing outside is needed. Each part prints a line, and fails if anything is lost. A
//! stream takes a file at both ends: `ulimit -n` must be above the number of streams.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command that is run by hand")]

mod client;
mod host;
mod worker;

use std::time::{Duration, Instant};

use client::Client;
use host::Process;

/// The parts, each with how many of everything there are.
const PARTS: [(&str, usize); 7] = [
    ("streams", 10_000),
    ("turns", 1000),
    ("flood", 100_000),
    ("stalled", 1000),
    ("full-disk", 64),
    ("killed-worker", 100),
    ("killed-host", 1000),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if arguments.first().is_some_and(|it| it == "serve") {
        return runtime.block_on(host::serve(&arguments[1..]));
    }
    let known = |name: &str| PARTS.iter().any(|(part, _)| *part == name);
    if let Some(name) = arguments.first().filter(|name| !known(name)) {
        println!("there is no part `{name}`: {:?}", PARTS.map(|(part, _)| part));
        std::process::exit(2);
    }
    for (part, count) in PARTS {
        if arguments.first().is_some_and(|name| name != part) {
            continue;
        }
        let count = arguments.get(1).and_then(|it| it.parse().ok()).unwrap_or(count);
        let said = runtime.block_on(run(part, count));
        println!("{part}: {said}");
    }
}

async fn run(part: &str, count: usize) -> String {
    match part {
        "streams" => streams(count).await,
        "turns" => turns(count).await,
        "flood" => flood(count).await,
        "stalled" => stalled(count).await,
        "full-disk" => full_disk(count).await,
        "killed-worker" => killed_worker(count).await,
        _ => killed_host(count).await,
    }
}

/// Opens streams, and lets one turn be heard by some of them.
async fn streams(count: usize) -> String {
    let process = Process::start(&[]).await;
    let client = process.client();
    client.say("warm", "Hi!").await;
    client.ends("warm").await;
    let (before, begun) = (process.memory(), Instant::now());
    let listeners = count.min(100);
    let named = (0..count)
        .map(|at| if at < listeners { "heard".to_owned() } else { format!("idle-{at}") })
        .collect();
    let mut open = client.streams(named).await;
    let (took, held) = (begun.elapsed(), process.memory());
    let begun = Instant::now();
    client.say("heard", "Hi!").await;
    for stream in open.iter_mut().take(listeners) {
        stream.until(client::COMPLETED).await;
    }
    let heard = begun.elapsed();
    let each = held.saturating_sub(before) * 1024 / count.max(1);
    drop(open);
    format!(
        "{count} open at once, made in {:.1} s, {each} KiB each ({before} MiB before, {held} MiB \
         with them); a turn was heard by {listeners} of them within {} ms",
        took.as_secs_f64(),
        heard.as_millis(),
    )
}

/// Submits turns at one instant, each with a tool call, and waits for all.
async fn turns(count: usize) -> String {
    let process = Process::start(&[]).await;
    let client = process.client();
    let begun = Instant::now();
    let (accepted, refused) = client.burst(count, "turn", "How is the weather?").await;
    let submitted = begun.elapsed();
    let ended = client.all_end(&accepted).await;
    let took = begun.elapsed().as_secs_f64();
    assert_eq!(ended, accepted.len(), "turns were lost");
    let rate = f64::from(u32::try_from(ended).unwrap()) / took;
    format!(
        "{count} at once: {} accepted, {refused} refused (429), submitted in {:.1} s; {ended} ended \
         in {took:.1} s, {rate:.0} a second; {} MiB, {} MiB at most",
        accepted.len(),
        submitted.as_secs_f64(),
        process.memory(),
        process.peak(),
    )
}

/// Sends what is no request, or nobody's, while others go on.
async fn flood(count: usize) -> String {
    let process = Process::start(&[]).await;
    let client = process.client();
    let before = process.memory();
    let begun = Instant::now();
    let flood = tokio::spawn(client.clone().flood(count));
    let mut took = Vec::new();
    while !flood.is_finished() {
        let (session, begun) = (format!("among-{}", took.len()), Instant::now());
        client.say(&session, "Hi!").await;
        assert!(client.ends(&session).await, "a turn was lost among bad requests");
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    let (turns, slow) = (took.len(), took.get(took.len() * 99 / 100).copied().unwrap_or_default());
    let statuses = flood.await.unwrap();
    format!(
        "{count} bad requests in {:.1} s: {statuses:?}; {turns} turns ended among them, p99 \
         {} ms; {before} MiB before, {} MiB after, {} MiB at most",
        begun.elapsed().as_secs_f64(),
        slow.as_millis(),
        process.memory(),
        process.peak(),
    )
}

/// Holds connections up: heads that do not end, streams that nobody reads.
async fn stalled(count: usize) -> String {
    let process = Process::start(&["--head-secs", "5"]).await;
    let client = process.client();
    let before = process.memory();
    let mut heads = Vec::new();
    let mut readers = Vec::new();
    for at in 0..count {
        heads.push(client.half_a_head().await);
        if at % 4 == 0 {
            readers.push(client.stream("talk").await);
        }
    }
    let begun = Instant::now();
    for _ in 0..20 {
        client.say("talk", "Hi!").await;
        client.ends("talk").await;
    }
    let turn = begun.elapsed() / 20;
    let closed = client::all_closed(heads, Duration::from_secs(30)).await;
    assert_eq!(closed, count, "connections are held up");
    // Whoever begins to read late has missed nothing.
    let waiting = readers.len();
    for reader in &mut readers {
        for _ in 0..20 {
            reader.until(client::COMPLETED).await;
        }
    }
    format!(
        "{count} heads that never end, all closed; {waiting} readers that did not read for 20 turns \
         ({} ms each), and then saw every one; {before} MiB before, {} MiB with them, {} MiB at most",
        turn.as_millis(),
        process.memory(),
        process.peak(),
    )
}

/// Fills the disk, as far as the store may, and makes room again.
async fn full_disk(count: usize) -> String {
    let process = Process::start(&["--room-mib", "24"]).await;
    let client = process.client();
    let text = "x".repeat(400_000);
    let (mut accepted, mut refused) = (Vec::new(), 0);
    for at in 0..count {
        let session = format!("full-{at}");
        match client.try_say(&session, &text).await {
            202 => accepted.push(session),
            status => {
                assert!([500, 503].contains(&status), "{status}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "there was room for all");
    // Full is what refuses a large message; the host is ready as long as there is room for a small one.
    let ready = client.status("/ready").await;
    assert!([200, 503].contains(&ready), "{ready}");
    let seen = client.all_seen(&accepted).await;
    assert_eq!(seen, accepted.len(), "what was accepted cannot be read");
    let process = process.again(&[]).await;
    let client = process.client();
    let ended = client.all_end(&accepted).await;
    assert_eq!(ended, accepted.len(), "turns were lost");
    format!(
        "of {count} messages of 400 KB {} were accepted and {refused} refused; /ready said {ready}, \
         all that was accepted could be read; with room again and started anew, {ended} ended",
        accepted.len(),
    )
}

/// Kills the worker among its answers, and lets another take its place.
async fn killed_worker(count: usize) -> String {
    let worker = worker::Served::start(0).await;
    let process = Process::start(&["--worker", &worker.address()]).await;
    let client = process.client();
    let (accepted, _) = client.burst(count, "worker", "Hi!").await;
    let (port, answered) = (worker.port, worker.kill().await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let worker = worker::Served::start(port).await;
    let begun = Instant::now();
    let ended = client.all_end(&accepted).await;
    assert_eq!(ended, accepted.len(), "turns were lost");
    format!(
        "{count} turns, the worker killed after {answered} answers and back 2 s later: {ended} ended, \
         the last {:.1} s after that ({} answers more)",
        begun.elapsed().as_secs_f64(),
        worker.kill().await,
    )
}

/// Kills the host among turns, and starts it again.
async fn killed_host(count: usize) -> String {
    let process = Process::start(&[]).await;
    let client = process.client();
    let (accepted, _) = client.burst(count, "killed", "How is the weather?").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let process = process.again(&[]).await;
    let up = begun.elapsed();
    let client = process.client();
    let ended = client.all_end(&accepted).await;
    assert_eq!(ended, accepted.len(), "turns were lost");
    let once = client.completed_once(&accepted).await;
    assert_eq!(once, accepted.len(), "turns ended twice");
    format!(
        "{} turns under way, killed (SIGKILL), up again in {} ms: {ended} ended, each once, the last \
         {:.1} s after the kill",
        accepted.len(),
        up.as_millis(),
        begun.elapsed().as_secs_f64(),
    )
}

impl Process {
    fn client(&self) -> Client {
        Client::new(&self.address, &self.token)
    }
}
