//! The life of requests, from the queue to the completion on the stream, on each kind of store: a
//! worker is lost, a question asked and answered, an answer corrected, a repair recorded. At the
//! end, and on disk also after a restart, everything that can be checked is in order.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::path::Path;
use std::sync::Arc;

use quixos_package::agent_runtime::{
    AgentCompletion, AgentDirectory, AgentSubmission, EventStream, question_answer, request_ask,
    request_finish, request_steer, request_transition, request_upsert_item,
};
use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};

use crate::support::{
    Desk, Request, World, answer, ask, claim, correct, finish, minute, ordinary, repair, steer,
    submission, takeover, upsert,
};

/// The second worker, after it has taken over.
const SECOND: &str = "worker-2";

/// Tells the story, and returns what is on the stream at its end.
async fn tell(desk: &Desk) -> Vec<AgentCompletion> {
    desk.advertise(r#"["fast","deep"]"#, "online").await;
    let plan = desk.new_document(true).await;
    let asked = AgentSubmission {
        profile: Some("deep".to_owned()),
        contexts: vec![plan.into()],
        ..submission("Tidy the plan")
    };
    let request = desk.admitted(asked).await;
    let next = desk.admitted(ordinary("Sweep the floor")).await;
    let call = desk.request(request);

    // A worker takes it; another comes too late, for this one and for the next.
    assert!(call.claim(&claim("worker-1", 0)).await.unwrap().claimed);
    assert!(!call.claim(&claim(SECOND, 0)).await.unwrap().claimed);
    assert!(!desk.request(next).claim(&claim(SECOND, 0)).await.unwrap().claimed);

    // It writes, is told to be brief, and asks.
    let subject = Some(plan.into());
    let write = request_upsert_item::Input { subject, ..upsert("m1", 1) };
    let item = call.upsert_item(&write).await.unwrap();
    call.upsert_item(&upsert("m1", 2)).await.unwrap();
    call.steer(&steer("s1")).await.unwrap();
    let question = call.ask(&ask("q1")).await.unwrap();
    assert!(desk.question(question).answer(&answer("yes")).await.unwrap());

    // It is lost. The second takes over, finds the answer, and goes on where the first stopped.
    let taken = call.claim(&takeover(SECOND, 1)).await.unwrap();
    assert_eq!((taken.claimed, taken.generation), (true, 2));
    let (attempt, generation) = (SECOND.to_owned(), 2);
    let again = request_ask::Input { attempt: attempt.clone(), generation, ..ask("q1") };
    assert_eq!(call.ask(&again).await.unwrap(), question);
    assert_eq!(call.upsert_item(&upsert("m1", 3)).await.unwrap_err().code(), "stale-fence");
    let write =
        request_upsert_item::Input { attempt: attempt.clone(), generation, ..upsert("m1", 3) };
    assert_eq!(call.upsert_item(&write).await.unwrap(), item);
    let other = request_ask::Input { attempt: attempt.clone(), generation, ..ask("q2") };
    let other = call.ask(&other).await.unwrap();
    desk.question(other).cancel().await.unwrap();
    let late = question_answer::Input { attempt: attempt.clone(), generation, ..answer("no") };
    assert!(!desk.question(other).answer(&late).await.unwrap());
    let stay = request_transition::Input {
        attempt: attempt.clone(),
        generation,
        status: "running".to_owned(),
        reason: String::new(),
    };
    assert!(call.transition(&stay).await.unwrap());
    let more = request_steer::Input { attempt: attempt.clone(), generation, ..steer("s2") };
    call.steer(&more).await.unwrap();

    // It ends, once, and is told, once.
    assert!(!call.finish(&finish("completed")).await.unwrap());
    let end = request_finish::Input { attempt, generation, ..finish("completed") };
    assert!(call.finish(&end).await.unwrap());
    assert!(!call.finish(&end).await.unwrap());
    assert!(call.publish_completion().await.unwrap());
    assert!(!call.publish_completion().await.unwrap());

    // What came of it fails a check, and is asked for again; the next one is called off.
    let correction = call.correct(&correct(&["too long"], 1)).await.unwrap().unwrap();
    assert!(desk.request(next).cancel().await.unwrap());
    run(desk, correction, "failed").await;
    assert_eq!(desk.request(correction).correct(&correct(&["worse"], 1)).await.unwrap(), None);

    // A repair is recorded, and its end told before that of the one that was called off.
    let repaired = desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
    let end = request_finish::Input { generation: 4, ..finish("completed") };
    assert!(desk.request(repaired).finish(&end).await.unwrap());
    for request in [correction, repaired, next] {
        assert!(desk.request(request).publish_completion().await.unwrap());
    }

    let directory = desk.directory_data().await;
    assert_eq!((directory.pending, directory.ordinary_pending), (0, 0));
    assert_eq!(directory.notification_pending, 0);
    let event = |request, status: &str| AgentCompletion {
        request,
        thread: desk.thread,
        status: status.to_owned(),
    };
    let told = told(desk).await;
    let expected = [
        event(request, "completed"),
        event(correction, "failed"),
        event(repaired, "completed"),
        event(next, "cancelled"),
    ];
    assert_eq!(told, expected);
    assert_eq!(desk.thread_data().await.updated_at, minute(20));
    told
}

/// Runs a queued request to its end.
async fn run(desk: &Desk, request: Request, status: &str) {
    assert!(desk.request(request).claim(&claim("worker-1", 0)).await.unwrap().claimed);
    assert!(desk.request(request).finish(&finish(status)).await.unwrap());
}

async fn told(desk: &Desk) -> Vec<AgentCompletion> {
    let stream = desk.agent().completions().await.unwrap();
    EventStream::on(&desk.world.session, stream).events(0, 100).await.unwrap()
}

fn sled(path: &Path) -> Arc<dyn Store> {
    Arc::new(SledStore::open(path, SledOptions::default()).unwrap())
}

#[tokio::test]
async fn the_story_in_memory() {
    let desk = Desk::over(World::over(Arc::new(MemoryStore::new())), "{}").await;
    tell(&desk).await;
    desk.world.verify().await;
}

#[tokio::test]
async fn the_story_on_disk_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let desk = Desk::over(World::over(sled(&path)), "{}").await;
    let before = tell(&desk).await;
    desk.world.verify().await;
    let Desk { world, workspace, directory, agent, thread } = desk;
    drop(world.close());

    let world = World::over(sled(&path));
    world.verify().await;
    let found = AgentDirectory::on(&world.session, directory).default_agent().await.unwrap();
    assert_eq!(found, Some(agent));
    let desk = Desk { world, workspace, directory, agent, thread };
    assert_eq!(told(&desk).await, before);
    // And it goes on.
    run(&desk, desk.queued().await, "completed").await;
    desk.world.verify().await;
}
