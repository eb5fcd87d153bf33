//! The lane under many callers, and over a store that fails: what was told durable is, what was
//! not written never was, and there is nothing in between.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quixos_runtime::store::{Durability, MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{
    Call, CallError, Caller, Door, Limits, ManualClock, ObjectRef, Runtime, SeededIds, Session,
    Snapshot, Ulid, blocking,
};
use serde_json::json;
use support::faulty::{Fault, FaultyStore};
use support::{
    NOTING, Probe, SHELVING, Seen, Shelf, builder, dump, noting, open, package, shelving, start,
    step,
};

/// Calls on a thread of its own; the answer comes when it comes.
fn in_background<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (send, receive) = channel();
    std::thread::spawn(move || drop(send.send(call())));
    receive
}

fn play_later(
    shelf: &Shelf,
    steps: Vec<support::Step>,
) -> Receiver<Result<Vec<ObjectRef>, CallError>> {
    let shelf = shelf.clone();
    in_background(move || shelf.play(&steps))
}

const SOON: Duration = Duration::from_millis(50);
const LATER: Duration = Duration::from_secs(20);

/// Waits until the lane has executed so many commits, durable or not.
fn wait_for_executed(shelf: &Shelf, runtime: &Runtime, buffered_data: &str) {
    let session = shelf.session.with_durability(Durability::Buffered);
    for _ in 0..2000 {
        let data: String =
            blocking(session.member_get(shelf.shelf, SHELVING, shelving::DATA)).unwrap();
        if data == buffered_data {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("not executed, durable is {}", runtime.durable());
}

fn faulty() -> (Arc<FaultyStore>, Runtime, Shelf) {
    let store = Arc::new(FaultyStore::default());
    let runtime = open(Arc::clone(&store) as Arc<dyn Store>);
    let shelf = Shelf::new(&runtime);
    (store, runtime, shelf)
}

fn check_history(runtime: &Runtime) -> u64 {
    let history = blocking(runtime.read(|it| it.history(0, usize::MAX))).unwrap();
    assert!(history.iter().map(|it| it.commit).eq(1..=history.len() as u64));
    let report = blocking(runtime.verify()).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    history.len() as u64
}

#[test]
fn many_callers_each_get_their_answer_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let sled = SledStore::open(folder.path().join("store"), SledOptions::default()).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sled)];
    for store in stores {
        let runtime = open(store);
        let shelf = Shelf::new(&runtime);
        let notes: Vec<ObjectRef> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..16)
                .map(|caller| {
                    let shelf = shelf.clone();
                    scope.spawn(move || {
                        let key = |at| format!("{caller}/{at}");
                        (0..20).map(|at| shelf.create(&key(at))).collect::<Vec<_>>()
                    })
                })
                .collect();
            callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
        });
        let entries =
            shelf.session.member_entries(shelf.shelf, SHELVING, shelving::NOTES, None, usize::MAX);
        let mut kept: Vec<_> = blocking(entries).unwrap().into_iter().map(|it| it.1).collect();
        let mut told = notes;
        kept.sort();
        told.sort();
        assert_eq!(kept, told);
        assert_eq!(check_history(&runtime), 321);
        drop(shelf);
        runtime.close();
    }
}

#[test]
fn the_next_group_is_executed_while_the_last_is_written() {
    let (store, runtime, shelf) = faulty();
    store.stand_still();
    let first = play_later(&shelf, vec![step("say", "one", None)]);
    wait_for_executed(&shelf, &runtime, "one");
    let second = play_later(&shelf, vec![step("say", "two", None)]);
    wait_for_executed(&shelf, &runtime, "two");

    // A buffered answer is there, a durable one is not, nor one that only read.
    let buffered = shelf.session.with_durability(Durability::Buffered);
    let steps = vec![step("say", "three", None)];
    blocking(buffered.member_call::<_, Vec<ObjectRef>>(
        shelf.shelf,
        SHELVING,
        shelving::PLAY,
        &steps,
    ))
    .unwrap();
    let reader = shelf.clone();
    let read = in_background(move || reader.data());
    assert!(first.recv_timeout(SOON).is_err());
    assert!(second.try_recv().is_err());
    assert!(read.try_recv().is_err());
    assert_eq!(runtime.durable(), 1);

    store.go_on();
    first.recv_timeout(LATER).unwrap().unwrap();
    second.recv_timeout(LATER).unwrap().unwrap();
    assert_eq!(read.recv_timeout(LATER).unwrap(), "three");
    assert_eq!(check_history(&runtime), 4);
}

/// Has two groups written of which the disk has none yet. Returns their callers.
fn two_on_their_way(
    store: &FaultyStore,
    shelf: &Shelf,
) -> [Receiver<Result<Vec<ObjectRef>, CallError>>; 2] {
    store.hold_disk();
    let before = store.written();
    ["one", "two"].map(|say| {
        let caller = play_later(shelf, vec![step("say", say, None)]);
        let until = before + if say == "one" { 1 } else { 2 };
        while store.written() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        caller
    })
}

#[test]
fn the_next_group_is_written_while_the_disk_works_and_nobody_is_told_before() {
    let (store, runtime, shelf) = faulty();
    let callers = two_on_their_way(&store, &shelf);
    // What only read waits for both, and so does the end.
    let reader = shelf.clone();
    let read = in_background(move || reader.data());
    let closing = runtime.clone();
    let closed = in_background(move || closing.close());
    std::thread::sleep(SOON);
    assert!(callers.iter().all(|caller| caller.try_recv().is_err()));
    assert!(read.try_recv().is_err());
    assert!(closed.try_recv().is_err());
    assert_eq!(runtime.durable(), 1);

    store.release_disk(false);
    for caller in callers {
        caller.recv_timeout(LATER).unwrap().unwrap();
    }
    assert_eq!(read.recv_timeout(LATER).unwrap(), "two");
    closed.recv_timeout(LATER).unwrap();
    assert_eq!(runtime.durable(), 3);
}

#[test]
fn a_disk_that_fails_takes_the_group_along_that_was_written_meanwhile() {
    let (store, runtime, shelf) = faulty();
    let callers = two_on_their_way(&store, &shelf);
    let third = play_later(&shelf, vec![step("say", "three", None)]);
    wait_for_executed(&shelf, &runtime, "three");
    store.release_disk(true);
    for caller in callers.iter().chain([&third]) {
        let answer = caller.recv_timeout(LATER).unwrap();
        assert!(matches!(answer, Err(CallError::Storage { .. })), "{answer:?}");
    }
    assert_eq!(runtime.durable(), 1);
    let refused = shelf.play(&[step("say", "four", None)]);
    assert!(matches!(refused, Err(CallError::Storage { .. })), "{refused:?}");
}

#[test]
fn what_nobody_waits_for_is_durable_all_the_same() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let buffered = shelf.session.with_durability(Durability::Buffered);
    let shelf = Shelf { session: buffered, ..shelf };
    let before = runtime.durable();
    shelf.play(&[step("say", "quietly", None)]).unwrap();
    let mut looks = 0;
    while runtime.durable() == before {
        looks += 1;
        assert!(looks < 2000, "it never was");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Whoever waits for it need not wait for more to come.
    shelf.play(&[step("say", "aloud", None)]).unwrap();
    let read = in_background(move || blocking(runtime.read(|it| Ok(it.history(0, 100)?.len()))));
    assert_eq!(read.recv_timeout(LATER).unwrap().unwrap(), 3);
}

#[test]
fn what_nobody_waits_for_sets_off_every_two_milliseconds_at_most() {
    let (store, _runtime, shelf) = faulty();
    let session = shelf.session.with_durability(Durability::Buffered);
    let buffered = Shelf { session, ..shelf };
    // Each time anew, for one in which this thread is not put aside.
    for _ in 0..20 {
        let (before, begun) = (store.written(), Instant::now());
        for _ in 0..20 {
            buffered.play(&[step("say", "soon", None)]).unwrap();
        }
        let groups = store.written() - before;
        let took = begun.elapsed();
        // The first may have been gathered before.
        assert!(groups as u128 <= 2 + took.as_millis() / 2, "{groups} groups in {took:?}");
    }
}

#[test]
fn a_group_that_fails_takes_all_on_top_of_it_along() {
    let (store, runtime, shelf) = faulty();
    let note = shelf.create("n");
    let other = shelf.create("o");
    let before = dump(&runtime);
    let mut follow = runtime.stream(shelf.shelf, "log").unwrap().follow(0);

    // One is being written, one rests on it, and one was refused because of it.
    store.stand_still();
    store.fail(Fault::NoSpace);
    let one = play_later(&shelf, vec![step("top", "", Some(note)), step("say", "one", None)]);
    wait_for_executed(&shelf, &runtime, "one");
    let two = play_later(&shelf, vec![step("log", "event", None), step("say", "two", None)]);
    wait_for_executed(&shelf, &runtime, "two");
    let three = play_later(&shelf, vec![step("top", "", Some(other))]);
    let lost = [one, two, three];
    let reader = shelf.clone();
    let read = in_background(move || reader.data());
    let event = in_background(move || blocking(follow.next()).unwrap().unwrap());
    assert!(lost.iter().all(|answer| answer.recv_timeout(SOON).is_err()));

    store.go_on();
    for answer in lost {
        // Also the conflict: what it conflicted with never was.
        let error = answer.recv_timeout(LATER).unwrap().unwrap_err();
        assert_eq!(error.code(), "storage", "{error}");
    }
    assert_eq!(read.recv_timeout(LATER).unwrap(), "a shelf");
    assert_eq!(dump(&runtime), before);

    // There is room again.
    shelf.play(&[step("top", "", Some(other)), step("log", "after", None)]).unwrap();
    let event = event.recv_timeout(LATER).unwrap();
    assert_eq!(event.decode::<support::Seen>().unwrap().text, "after");
    assert_eq!(check_history(&runtime), 4);
}

#[test]
fn a_group_that_is_not_even_taken_fails_alone() {
    let (store, runtime, shelf) = faulty();
    store.stand_still();
    let first = play_later(&shelf, vec![step("say", "under way", None)]);
    wait_for_executed(&shelf, &runtime, "under way");
    store.fail(Fault::NoSpaceAtSubmit);
    let second = play_later(&shelf, vec![step("say", "lost", None)]);
    wait_for_executed(&shelf, &runtime, "lost");
    store.go_on();
    first.recv_timeout(LATER).unwrap().unwrap();
    assert_eq!(second.recv_timeout(LATER).unwrap().unwrap_err().code(), "storage");
    assert_eq!(shelf.data(), "under way");
    assert_eq!(check_history(&runtime), 2);
}

/// A disk that is full now and then, under many callers: what was told is there, and nothing else.
#[test]
fn what_was_told_is_there_and_what_was_refused_is_not() {
    let (store, runtime, shelf) = faulty();
    let told: Vec<ObjectRef> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let (store, shelf) = (Arc::clone(&store), shelf.clone());
                scope.spawn(move || {
                    let call = |at: usize| {
                        if (caller + at).is_multiple_of(7) {
                            store.fail(if at.is_multiple_of(2) {
                                Fault::NoSpace
                            } else {
                                Fault::NoSpaceAtSubmit
                            });
                        }
                        let created = shelf.play(&[step("create", &at.to_string(), None)]);
                        match created {
                            Ok(created) => Some(created[0]),
                            Err(error) => {
                                assert_eq!(error.code(), "storage", "{error}");
                                None
                            }
                        }
                    };
                    (0..100).filter_map(call).collect::<Vec<_>>()
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    store.heal();
    let entries =
        shelf.session.member_entries(shelf.shelf, SHELVING, shelving::NOTES, None, usize::MAX);
    let mut kept: Vec<_> = blocking(entries).unwrap().into_iter().map(|it| it.1).collect();
    let mut told = told;
    kept.sort();
    told.sort();
    assert_eq!(kept, told);
    assert!((1..800).contains(&kept.len()), "some were refused: {}", kept.len());
    assert_eq!(check_history(&runtime), 1 + kept.len() as u64);
}

#[test]
fn a_store_that_takes_no_more_writes_is_still_read() {
    let faults = [Fault::Poisoned, Fault::UnknownLost, Fault::UnknownWritten, Fault::Panic];
    for fault in faults {
        let (store, runtime, shelf) = faulty();
        store.fail(fault);
        let error = shelf.play(&[step("say", "told storage", None)]).unwrap_err();
        assert_eq!(error.code(), "storage", "{fault:?}");
        for _ in 0..2 {
            let error = shelf.play(&[step("say", "later", None)]).unwrap_err();
            assert!(error.to_string().contains("no more writes"), "{error}");
        }
        // An unknown outcome is what the store shows; all others never were.
        let written = fault == Fault::UnknownWritten;
        assert_eq!(shelf.data(), if written { "told storage" } else { "a shelf" });
        let on = shelf.shelf;
        drop(shelf);
        runtime.close();

        // Opened again it goes on from there.
        let runtime = open(store as Arc<dyn Store>);
        let shelf = Shelf { session: runtime.session(Caller::operator("anna")), shelf: on };
        shelf.play(&[step("say", "again", None)]).unwrap();
        assert_eq!(check_history(&runtime), if written { 3 } else { 2 });
    }
}

#[test]
fn what_never_was_is_not_shown_when_the_store_cannot_be_read_either() {
    let (store, runtime, shelf) = faulty();
    store.stand_still();
    store.fail(Fault::Closed);
    let one = play_later(&shelf, vec![step("say", "one", None)]);
    wait_for_executed(&shelf, &runtime, "one");
    // Gathered on top of the group that will fail, and known to its caller, who did not wait. All
    // of it stands in what was gathered: nothing of it needs the store.
    let session = shelf.session.with_durability(Durability::Buffered);
    let note = Shelf { session, shelf: shelf.shelf }.create("gathered");
    store.go_on();
    assert_eq!(one.recv_timeout(LATER).unwrap().unwrap_err().code(), "storage");
    let read = blocking(shelf.session.invoke_json(note, "data", &serde_json::Value::Null));
    assert_eq!(read.map(|answer| answer.value).unwrap_err().code(), "storage");
}

#[test]
fn groups_are_gathered_up_to_the_limit_of_the_store() {
    const EVENT: usize = 200 << 10;
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    // What one more transaction may need is kept free, its part of the history included.
    let store = Arc::new(FaultyStore::with_batch_limit(8 << 20));
    let runtime = builder().limits(limits).open(Arc::clone(&store) as Arc<dyn Store>).unwrap();
    let shelf = Shelf::new(&runtime);
    store.stand_still();
    let large = |at: usize| format!("{at}{}", "x".repeat(EVENT));
    let answers: Vec<_> =
        (0..24).map(|at| play_later(&shelf, vec![step("log", &large(at), None)])).collect();
    wait_until_full(&shelf);
    store.go_on();
    for answer in answers {
        answer.recv_timeout(LATER).unwrap().unwrap();
    }
    assert!(store.largest_batch() > 2 * EVENT, "{}", store.largest_batch());
    assert!(store.largest_batch() < 2 << 20, "{}", store.largest_batch());
}

/// Waits until the lane has executed what it takes, as far as it can be seen from here.
fn wait_until_full(shelf: &Shelf) {
    let session = shelf.session.with_durability(Durability::Buffered);
    let mut seen = 0;
    loop {
        std::thread::sleep(SOON);
        let log = session.member_read::<Seen>(shelf.shelf, SHELVING, shelving::LOG, 0, 99);
        let now = blocking(log).unwrap().len();
        if now > 0 && now == seen {
            return;
        }
        seen = now;
    }
}

#[test]
fn what_was_seen_of_a_group_that_failed_is_not_given_out_again() {
    let store = Arc::new(FaultyStore::default());
    let clock = Arc::new(ManualClock::at(start()));
    let runtime = builder().clock(Arc::clone(&clock) as _).open(Arc::clone(&store) as _).unwrap();
    let shelf = Shelf::new(&runtime);
    let session = shelf.session.with_durability(Durability::Buffered);
    let early = Shelf { session: session.clone(), ..shelf.clone() };
    let late = Duration::from_secs(10);
    clock.advance(late);
    store.fail(Fault::NoSpace);
    let lost = early.create("lost");
    while holds(&session, shelf.shelf, "lost") {
        std::thread::sleep(Duration::from_millis(1));
    }
    clock.set(start());
    let kept = shelf.create("kept");
    assert!(kept.id > lost.id, "{kept:?} after {lost:?}");
    let history = blocking(runtime.read(|it| it.recent_history(1))).unwrap();
    assert!(history[0].instant >= start() + late, "{}", history[0].instant);
}

fn holds(session: &Session, shelf: ObjectRef, key: &str) -> bool {
    !blocking(session.member_at(shelf, SHELVING, shelving::NOTES, key)).unwrap().is_empty()
}

static DOOR: Mutex<()> = Mutex::new(());

/// Set when the lane is there.
static AT_THE_DOOR: AtomicBool = AtomicBool::new(false);

/// Keeps the lane busy until the test lets it go.
fn wait_at_the_door(_: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    AT_THE_DOOR.store(true, Ordering::Relaxed);
    drop(DOOR.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(postcard::to_allocvec(&None::<ObjectRef>).unwrap())
}

#[test]
fn a_full_queue_is_busy_at_once() {
    let limits = Limits { queue: 2, ..Limits::default() };
    let runtime = Runtime::builder()
        .package(package(wait_at_the_door))
        .limits(limits)
        .open(Arc::new(MemoryStore::new()))
        .unwrap();
    let shelf = Shelf::new(&runtime);
    let door = DOOR.lock().unwrap();
    let running = shelf.clone();
    let running = in_background(move || {
        let probe = Probe { verb: String::new(), requirement: 0, member: 0, note: None };
        let call = running.session.member_call::<_, Option<ObjectRef>>(
            running.shelf,
            SHELVING,
            shelving::PROBE,
            &probe,
        );
        blocking(call)
    });
    while !AT_THE_DOOR.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (send, answers) = channel();
    for _ in 0..3 {
        let (shelf, send) = (shelf.clone(), send.clone());
        std::thread::spawn(move || drop(send.send(shelf.play(&[step("say", "queued", None)]))));
    }
    // Whichever comes last; the other two wait.
    let first = answers.recv_timeout(LATER).unwrap();
    assert_eq!(first.unwrap_err().code(), "busy");
    answers.recv_timeout(SOON).unwrap_err();
    // A query does not queue: it runs beside the lane.
    let peek = shelf.session.member_call::<_, String>(shelf.shelf, SHELVING, shelving::PEEK, &());
    assert_eq!(blocking(peek).unwrap(), "a shelf 0 0");
    drop(door);
    running.recv_timeout(LATER).unwrap().unwrap();
    for _ in 0..2 {
        answers.recv_timeout(LATER).unwrap().unwrap();
    }
    shelf.play(&[step("say", "room again", None)]).unwrap();
}

#[test]
fn a_reader_whose_version_is_gone_reads_again() {
    let (store, runtime, shelf) = faulty();
    for expiring in 1..=3 {
        store.expire_views(expiring);
        assert_eq!(shelf.data(), "a shelf");
        assert_eq!(store.still_expiring(), 0);
    }
    let peek = |expected: &str| {
        store.expire_views(2);
        let seen: String =
            blocking(shelf.session.member_call(shelf.shelf, SHELVING, shelving::PEEK, &()))
                .unwrap();
        assert_eq!(seen, expected);
    };
    peek("a shelf 0 0");
    shelf.play(&[step("log", "x", None)]).unwrap();
    store.expire_views(3);
    assert_eq!(blocking(runtime.stream(shelf.shelf, "log").unwrap().len()).unwrap(), 1);
    store.expire_views(2);
    let mut follow = runtime.stream(shelf.shelf, "log").unwrap().follow(0);
    assert_eq!(blocking(follow.next()).unwrap().unwrap().offset, 0);
}

#[test]
fn a_named_transaction_is_done_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = open(Arc::clone(&store));
    let shelf = Shelf::new(&runtime);
    let id = Ulid::from_parts(5, 5);
    let named = |runtime: &Runtime, actor: &str| Shelf {
        session: runtime.session(Caller::operator(actor)).with_transaction_id(id),
        shelf: shelf.shelf,
    };
    let steps = [step("create", "n", None), step("log", "x", None)];
    let first = named(&runtime, "anna").play(&steps).unwrap();
    let before = dump(&runtime);
    assert_eq!(named(&runtime, "anna").play(&steps).unwrap(), first);
    // The same id with another input, or from somebody else, is another call.
    assert_eq!(named(&runtime, "anna").play(&steps[..1]).unwrap_err().code(), "conflict");
    assert_eq!(named(&runtime, "ben").play(&steps).unwrap_err().code(), "conflict");
    assert_eq!(dump(&runtime), before);

    let again = open(Arc::clone(&store));
    assert_eq!(named(&again, "anna").play(&steps).unwrap(), first);
    assert_eq!(dump(&again), before);
}

#[test]
fn a_named_transaction_that_failed_can_be_tried_again() {
    let (store, runtime, shelf) = faulty();
    let session = shelf.session.with_transaction_id(Ulid::from_parts(6, 6));
    let named = Shelf { session, shelf: shelf.shelf };
    store.fail(Fault::NoSpace);
    assert_eq!(named.play(&[step("log", "x", None)]).unwrap_err().code(), "storage");
    named.play(&[step("log", "x", None)]).unwrap();
    named.play(&[step("log", "x", None)]).unwrap();
    assert_eq!(blocking(runtime.stream(shelf.shelf, "log").unwrap().len()).unwrap(), 1);
}

#[test]
fn a_call_that_writes_nothing_leaves_no_entry() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let before = dump(&runtime);
    let answer = blocking(shelf.session.invoke_json(shelf.shelf, "play", &json!([]))).unwrap();
    assert_eq!((answer.value, answer.commit), (json!([]), None));
    let say = json!([{"verb": "say", "key": "x", "steps": ""}]);
    assert_eq!(dump(&runtime), before);
    let answer = blocking(shelf.session.invoke_json(shelf.shelf, "play", &say)).unwrap();
    assert_eq!(answer.commit, Some(2));
}

/// A script of calls, some of which fail.
fn script(shelf: &Shelf) {
    let note = shelf.create("a");
    for at in 0..30 {
        let key = format!("k{}", at % 7);
        let steps = [
            step("create", &key, Some(note)),
            step("name", &key, Some(note)),
            step("log", &key, Some(note)),
            step(if at % 5 == 4 { "fail" } else { "say" }, &key, None),
        ];
        drop(shelf.play(&steps));
    }
}

#[test]
fn the_same_seed_and_script_give_the_same_bytes_on_any_store() {
    let run = |store: Arc<dyn Store>, seed: u64| {
        let runtime = builder().ids(Arc::new(SeededIds::new(seed))).open(store).unwrap();
        script(&Shelf::new(&runtime));
        let stored = dump(&runtime);
        runtime.close();
        stored
    };
    let folder = tempfile::tempdir().unwrap();
    let sled = SledStore::open(folder.path().join("store"), SledOptions::default()).unwrap();
    let first = run(Arc::new(MemoryStore::new()), 1);
    assert_eq!(run(Arc::new(MemoryStore::new()), 1), first);
    assert_eq!(run(Arc::new(sled), 1), first);
    assert_ne!(run(Arc::new(MemoryStore::new()), 2), first);
}

#[test]
fn ids_and_instants_only_grow_whatever_the_clock_does() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = Arc::new(ManualClock::at(start()));
    let mut ids: Vec<ObjectRef> = Vec::new();
    let mut on = None;
    for round in 0..6_u64 {
        let runtime = builder().clock(Arc::clone(&clock) as _).open(Arc::clone(&store)).unwrap();
        let mut shelf = Shelf::new(&runtime);
        shelf.shelf = *on.get_or_insert(shelf.shelf);
        ids.extend((0..5).map(|at| shelf.create(&at.to_string())));
        // Forward and backward in turn.
        if round % 2 == 0 {
            clock.advance(Duration::from_millis(3));
        } else {
            clock.set(start() - Duration::from_secs(round));
        }
        runtime.close();
    }
    assert!(ids.windows(2).all(|pair| pair[0].id < pair[1].id));
    let runtime = open(store);
    let history = blocking(runtime.read(|it| it.history(0, usize::MAX))).unwrap();
    assert!(history.windows(2).all(|pair| pair[0].instant <= pair[1].instant));
    assert_eq!(ids.len(), 30);
}

#[test]
fn a_runtime_that_is_opened_again_goes_on_at_its_commit() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = open(Arc::clone(&store));
    let shelf = Shelf::new(&runtime);
    runtime.close();
    let runtime = open(store);
    assert_eq!(blocking(runtime.read(|it| Ok(it.commit()))).unwrap(), 1);
    // Also where the lane itself asks the door.
    let seen = Arc::new(AtomicU64::new(0));
    let rule = {
        let seen = Arc::clone(&seen);
        move |snapshot: &Snapshot<'_>, _: ObjectRef| {
            seen.store(snapshot.commit(), Ordering::Relaxed);
            Ok(true)
        }
    };
    let session = runtime.session(Caller::client("ben", Door::Rule(Arc::new(rule))));
    Shelf { session, ..shelf }.play(&[step("say", "x", None)]).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 1);
}

#[test]
fn closing_waits_for_the_group_that_is_under_way() {
    let (store, runtime, shelf) = faulty();
    store.stand_still();
    let answer = play_later(&shelf, vec![step("say", "under way", None)]);
    wait_for_executed(&shelf, &runtime, "under way");
    let closed = in_background(move || runtime.close());
    closed.recv_timeout(SOON).unwrap_err();
    store.go_on();
    closed.recv_timeout(LATER).unwrap();
    answer.recv_timeout(LATER).unwrap().unwrap();
}

#[test]
fn what_is_dropped_by_its_caller_is_done_all_the_same() {
    let (store, runtime, shelf) = faulty();
    let note = shelf.create("n");
    store.stand_still();
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    executor.block_on(async {
        let data = support::note_data("moved");
        let call = shelf.session.member_call::<_, ()>(note, NOTING, noting::WRITE, &data);
        tokio::time::timeout(SOON, call).await.unwrap_err();
    });
    store.go_on();
    let data: support::NoteData =
        blocking(shelf.session.member_get(note, NOTING, noting::DATA)).unwrap();
    assert_eq!(data.key, "moved");
    assert_eq!(check_history(&runtime), 3);
}
