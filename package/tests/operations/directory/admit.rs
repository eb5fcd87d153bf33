//! `directory_admit`

use quixos_package::agent_runtime::{
    AgentSubmission, ItemData, RequestData, RequestState, agent_update, directory_admit,
    directory_create_thread,
};
use serde_json::json;

use crate::support::{
    Desk, START, invalid_at, minute, new_agent, new_thread, ordinary, submission, unchanged,
};

fn into_new_thread(desk: &Desk, submission: AgentSubmission) -> directory_admit::Input {
    directory_admit::Input { thread: None, ..desk.door(submission) }
}

fn optional(desk: &Desk, submission: AgentSubmission) -> directory_admit::Input {
    directory_admit::Input { optional_work: true, ..desk.door(submission) }
}

fn limit(name: &str, value: u32) -> String {
    json!({ "limits": { name: value } }).to_string()
}

#[tokio::test]
async fn admit_queues_a_request_and_counts_it() {
    let desk = Desk::new().await;
    let before = (desk.directory_data().await, desk.thread_data().await);
    let asked = AgentSubmission {
        data: Some("{}".to_owned()),
        publication: Some("page".to_owned()),
        created_at: minute(4),
        causal_depth: 2,
        ..submission("Write it down")
    };
    let admission = desk.directory().admit(&desk.door(asked)).await.unwrap();
    assert!(admission.accepted);
    assert_eq!((admission.reason, admission.thread), (None, Some(desk.thread)));
    let request = admission.request.unwrap();

    let sequence = before.0.sequence + 1;
    let stored = desk.admission(request).await;
    let expected = RequestData {
        text: "Write it down".to_owned(),
        data: Some("{}".to_owned()),
        configuration: stored.configuration.clone(),
        configuration_digest: stored.configuration_digest.clone(),
        response_kind: "text".to_owned(),
        sequence,
        created_at: minute(4),
        source_kind: "user".to_owned(),
        source_label: "Anna".to_owned(),
        publication: Some("page".to_owned()),
        causal_depth: 2,
        interactive: true,
    };
    assert_eq!(stored, expected);
    let queued = RequestState {
        status: "queued".to_owned(),
        attempt: String::new(),
        generation: 0,
        reason: String::new(),
        result: None,
        raw_output: None,
        usage: None,
        started_at: None,
        ended_at: None,
        cancel_requested: false,
        retry_count: 0,
        notification_pending: false,
    };
    assert_eq!(desk.progress(request).await, queued);
    assert_eq!(desk.request(request).spawned().await.unwrap(), 0);

    let directory = desk.directory_data().await;
    assert_eq!(
        (directory.sequence, directory.pending, directory.ordinary_pending),
        (sequence, 1, 0)
    );
    assert_eq!(desk.directory().pending().await.unwrap(), [request]);
    let thread = desk.thread_data().await;
    assert_eq!((thread.pending, thread.sequence), (1, before.1.sequence + 1));
    assert_eq!((thread.next_item, thread.updated_at), (before.1.next_item + 1, minute(4)));
    desk.world.verify().await;
}

#[tokio::test]
async fn admit_writes_the_first_item() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let items = desk.request(request).items().await.unwrap();
    let [(key, item)] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(key, "prompt");
    let prompt = ItemData {
        key: "prompt".to_owned(),
        kind: "input".to_owned(),
        text: "Write it down".to_owned(),
        phase: "final".to_owned(),
        activity: None,
        presentation: None,
        sequence: 1,
        version: 1,
        created_at: START.to_owned(),
        updated_at: START.to_owned(),
        control: None,
    };
    assert_eq!(desk.item_data(*item).await, prompt);
    assert_eq!(desk.item(*item).thread().await.unwrap(), desk.thread);
}

#[tokio::test]
async fn admit_without_a_thread_begins_one() {
    let desk = Desk::new().await;
    let document = desk.new_document(true).await;
    let before = desk.directory_data().await.sequence;
    let asked = AgentSubmission {
        contexts: vec![document.into()],
        ..submission("Tidy the plan\r\nand the draft")
    };
    let admission = desk.directory().admit(&into_new_thread(&desk, asked)).await.unwrap();
    let thread = desk.thread_at(admission.thread.unwrap());
    let data = thread.data().await.unwrap();
    assert_eq!((data.kind.as_str(), data.title.as_str()), ("request", "Tidy the plan"));
    assert_eq!(data.pending, 1);
    assert_eq!(thread.contexts().await.unwrap().len(), 1);
    let request = admission.request.unwrap();
    assert_eq!(desk.request(request).contexts().await.unwrap().len(), 1);
    // The thread took one sequence, the request the next.
    assert_eq!(desk.admission(request).await.sequence, before + 2);
    assert_eq!(desk.directory_data().await.sequence, before + 2);
}

#[tokio::test]
async fn admit_cuts_a_title_at_eighty_characters() {
    let desk = Desk::new().await;
    for (length, kept) in [(80, 80), (81, 80)] {
        let asked = submission(&"ä".repeat(length));
        let admission = desk.directory().admit(&into_new_thread(&desk, asked)).await.unwrap();
        let title = desk.thread_at(admission.thread.unwrap()).data().await.unwrap().title;
        assert_eq!(title, "ä".repeat(kept));
    }
}

#[tokio::test]
async fn admit_merges_the_contexts_of_the_thread_and_of_the_submission() {
    let desk = Desk::new().await;
    let (plan, draft) = (desk.new_document(true).await, desk.new_document(true).await);
    let input =
        directory_create_thread::Input { contexts: vec![plan.into()], ..new_thread(desk.agent) };
    let thread = desk.directory().create_thread(&input).await.unwrap();
    let contexts = vec![draft.into(), draft.into()];
    let input = directory_admit::Input {
        thread: Some(thread),
        ..desk.door(AgentSubmission { contexts, ..submission("Compare") })
    };
    let request = desk.directory().admit(&input).await.unwrap().request.unwrap();
    let expected = [(desk.world.text(plan), plan.into()), (desk.world.text(draft), draft.into())];
    assert_eq!(desk.request(request).contexts().await.unwrap(), expected);
    assert_eq!(desk.thread_at(thread).contexts().await.unwrap().len(), 1, "the thread's stay");
}

#[tokio::test]
async fn admit_keeps_the_links_of_the_submission() {
    let desk = Desk::new().await;
    let (first, second) = (desk.queued().await, desk.queued().await);
    let asked = AgentSubmission {
        related: Some(first),
        retry_of: Some(second),
        root: Some(first),
        ..submission("Again")
    };
    let request = desk.admitted(asked).await;
    let request = desk.request(request);
    assert_eq!(request.related().await.unwrap(), Some(first));
    assert_eq!(request.retry_of().await.unwrap(), Some(second));
    assert_eq!(request.root().await.unwrap(), Some(first));
    assert_eq!(request.correction().await.unwrap(), None);
    assert_eq!(desk.request(first).spawned().await.unwrap(), 1);
}

#[tokio::test]
async fn admit_counts_a_request_that_nobody_waits_for_as_ordinary() {
    let desk = Desk::new().await;
    let request = desk.admitted(ordinary("Sweep")).await;
    assert!(!desk.admission(request).await.interactive);
    let directory = desk.directory_data().await;
    assert_eq!((directory.pending, directory.ordinary_pending), (1, 1));
    desk.world.verify().await;
}

#[tokio::test]
async fn admit_takes_the_kind_of_response_from_the_submission() {
    let desk = Desk::new().await;
    let asked = AgentSubmission { response: Some("json".to_owned()), ..submission("List") };
    let request = desk.admitted(asked).await;
    assert_eq!(desk.admission(request).await.response_kind, "json");
}

#[tokio::test]
async fn admit_freezes_the_configuration_as_canonical_json() {
    let desk = Desk::with(r#"{ "notifyCompletions": true, "limits": {"maxPending": 9} }"#).await;
    let request = desk.queued().await;
    let agent = desk.world.text(desk.agent);
    let expected = format!(
        r#"{{"agent":"{agent}","instructions":"Be kind.","profile":null,"settings":{{"limits":{{"maxPending":9}},"notifyCompletions":true}}}}"#
    );
    let stored = desk.admission(request).await;
    assert_eq!(stored.configuration, expected);
    let digest = blake3::hash(expected.as_bytes()).to_hex().to_string();
    assert_eq!(stored.configuration_digest, digest);

    desk.set("{}").await;
    assert_eq!(desk.admission(request).await, stored, "an update changes nothing in the queue");

    desk.advertise(r#"["fast"]"#, "online").await;
    let asked = AgentSubmission { profile: Some("fast".to_owned()), ..submission("Quick") };
    let request = desk.admitted(asked).await;
    let configuration = desk.admission(request).await.configuration;
    assert!(configuration.contains(r#""profile":"fast","settings":{}"#), "{configuration}");
}

#[tokio::test]
async fn admit_refuses_an_agent_of_another_directory() {
    let desk = Desk::new().await;
    let (_, agent) = desk.second_directory().await;
    let input = directory_admit::Input { agent, ..into_new_thread(&desk, submission("Hello")) };
    assert_eq!(desk.refusal(&input).await, "unknown-agent");
}

#[tokio::test]
async fn admit_refuses_an_agent_that_is_switched_off() {
    let desk = Desk::new().await;
    desk.enable(false).await;
    assert_eq!(desk.refusal(&desk.door(submission("Hello"))).await, "agent-disabled");
}

#[tokio::test]
async fn admit_refuses_a_thread_of_another_agent() {
    let desk = Desk::new().await;
    let agent = desk.directory().create_agent(&new_agent("other", "{}")).await.unwrap();
    let input = directory_admit::Input { agent, ..desk.door(submission("Hello")) };
    assert_eq!(desk.refusal(&input).await, "wrong-thread");
}

#[tokio::test]
async fn admit_refuses_an_archived_thread() {
    let desk = Desk::new().await;
    desk.thread().archive(true).await.unwrap();
    assert_eq!(desk.refusal(&desk.door(submission("Hello"))).await, "thread-archived");
    desk.thread().archive(false).await.unwrap();
    desk.queued().await;
}

#[tokio::test]
async fn admit_refuses_white_space() {
    let desk = Desk::new().await;
    for text in ["", " \t\n", "\u{2003}\u{a0}"] {
        assert_eq!(desk.refusal(&desk.door(submission(text))).await, "empty");
    }
}

#[tokio::test]
async fn admit_refuses_optional_work_while_nobody_is_there() {
    let desk = Desk::new().await;
    let input = optional(&desk, submission("Sweep"));
    assert_eq!(desk.refusal(&input).await, "unavailable");
    for availability in ["online", "degraded"] {
        desk.advertise("[]", availability).await;
        assert!(desk.directory().admit(&input).await.unwrap().accepted);
    }
    desk.advertise("[]", "offline").await;
    desk.queued().await; // What is not optional may wait.
}

#[tokio::test]
async fn admit_refuses_a_profile_that_is_not_advertised() {
    let desk = Desk::new().await;
    let asked = AgentSubmission { profile: Some("deep".to_owned()), ..submission("Think") };
    desk.admitted(asked.clone()).await; // While none is, any is allowed.
    desk.advertise(r#"["fast"]"#, "online").await;
    assert_eq!(desk.refusal(&desk.door(asked.clone())).await, "unknown-profile");
    desk.queued().await; // No profile is always allowed.
    desk.advertise(r#"["fast","deep"]"#, "online").await;
    desk.admitted(asked).await;
}

#[tokio::test]
async fn admit_refuses_a_chain_that_is_too_deep() {
    let desk = Desk::new().await;
    let deep = |causal_depth| AgentSubmission { causal_depth, ..submission("Go on") };
    desk.admitted(deep(8)).await;
    assert_eq!(desk.refusal(&desk.door(deep(9))).await, "causal-depth");
    desk.set(&limit("maxCausalDepth", 0)).await;
    assert_eq!(desk.refusal(&desk.door(deep(1))).await, "causal-depth");
    desk.admitted(deep(0)).await;
}

#[tokio::test]
async fn admit_refuses_anything_when_full() {
    let desk = Desk::with(&limit("maxPending", 2)).await;
    desk.admitted(submission("One")).await;
    desk.admitted(ordinary("Two")).await;
    assert_eq!(desk.refusal(&desk.door(submission("Three"))).await, "capacity");
    assert_eq!(desk.refusal(&desk.door(ordinary("Three"))).await, "capacity");
}

#[tokio::test]
async fn admit_keeps_room_for_those_who_wait() {
    let desk = Desk::with(&limit("maxOrdinaryPending", 1)).await;
    desk.admitted(ordinary("One")).await;
    assert_eq!(desk.refusal(&desk.door(ordinary("Two"))).await, "capacity");
    desk.admitted(submission("Two")).await;
}

#[tokio::test]
async fn admit_refuses_optional_work_long_before_the_rest() {
    let desk = Desk::with(&limit("maxOptionalPending", 1)).await;
    desk.advertise("[]", "online").await;
    desk.admitted(submission("Interactive work does not count here")).await;
    assert!(desk.directory().admit(&optional(&desk, ordinary("One"))).await.unwrap().accepted);
    assert_eq!(desk.refusal(&optional(&desk, ordinary("Two"))).await, "capacity");
    // Optional work stays optional when somebody waits for it.
    assert_eq!(desk.refusal(&optional(&desk, submission("Two"))).await, "capacity");
    desk.admitted(ordinary("Two")).await;
}

#[tokio::test]
async fn admit_goes_by_the_limits_of_the_agent_that_is_asked() {
    let desk = Desk::with(&limit("maxPending", 1)).await;
    let agent = desk.directory().create_agent(&new_agent("roomy", "{}")).await.unwrap();
    desk.queued().await;
    assert_eq!(desk.refusal(&desk.door(submission("Hello"))).await, "capacity");
    let input = directory_admit::Input { agent, ..into_new_thread(&desk, submission("Hello")) };
    assert!(desk.directory().admit(&input).await.unwrap().accepted);
}

#[tokio::test]
async fn admit_refuses_the_sixty_fifth_child() {
    let desk = Desk::new().await;
    let root = desk.queued().await;
    let child = AgentSubmission { root: Some(root), ..submission("Help") };
    for _ in 0..64 {
        desk.admitted(child.clone()).await;
    }
    assert_eq!(desk.request(root).spawned().await.unwrap(), 64);
    assert_eq!(desk.refusal(&desk.door(child)).await, "child-limit");
}

#[tokio::test]
async fn admit_answers_the_first_of_several_reasons() {
    let desk = Desk::new().await;
    let (_, stranger) = desk.second_directory().await;
    let rival = desk.directory().create_agent(&new_agent("rival", "{}")).await.unwrap();
    let foreign = desk.directory().create_thread(&new_thread(rival)).await.unwrap();
    let root = desk.queued().await;
    for _ in 0..64 {
        desk.admitted(AgentSubmission { root: Some(root), ..submission("Help") }).await;
    }

    // Every gate is shut; then one after the other is opened, from the first to the last.
    desk.thread_at(foreign).archive(true).await.unwrap();
    desk.thread().archive(true).await.unwrap();
    desk.enable(false).await;
    desk.set(&limit("maxPending", 1)).await;
    desk.advertise(r#"["fast"]"#, "offline").await;
    let mut input = directory_admit::Input {
        agent: stranger,
        thread: Some(foreign),
        submission: AgentSubmission {
            profile: Some("deep".to_owned()),
            root: Some(root),
            causal_depth: 9,
            ..submission(" ")
        },
        optional_work: true,
    };
    assert_eq!(desk.refusal(&input).await, "unknown-agent");
    input.agent = desk.agent;
    assert_eq!(desk.refusal(&input).await, "agent-disabled");
    desk.enable(true).await;
    assert_eq!(desk.refusal(&input).await, "wrong-thread");
    input.thread = Some(desk.thread);
    assert_eq!(desk.refusal(&input).await, "thread-archived");
    desk.thread().archive(false).await.unwrap();
    assert_eq!(desk.refusal(&input).await, "empty");
    input.submission.text = "Hello".to_owned();
    assert_eq!(desk.refusal(&input).await, "unavailable");
    desk.advertise(r#"["fast"]"#, "online").await;
    assert_eq!(desk.refusal(&input).await, "unknown-profile");
    desk.advertise(r#"["fast","deep"]"#, "online").await;
    assert_eq!(desk.refusal(&input).await, "causal-depth");
    input.submission.causal_depth = 8;
    assert_eq!(desk.refusal(&input).await, "capacity");
    desk.set("{}").await;
    assert_eq!(desk.refusal(&input).await, "child-limit");
    input.submission.root = None;
    assert!(desk.directory().admit(&input).await.unwrap().accepted);
    desk.world.verify().await;
}

#[tokio::test]
async fn admit_refuses_a_time_that_is_none_before_all_else() {
    let desk = Desk::new().await;
    desk.enable(false).await;
    let asked = AgentSubmission { created_at: "soon".to_owned(), ..submission(" ") };
    let error = desk.world.fails(desk.directory().admit(&desk.door(asked))).await;
    assert_eq!(invalid_at(error), "submission.createdAt");
}

#[tokio::test]
async fn admit_does_not_move_the_thread_back_in_time() {
    let desk = Desk::new().await;
    desk.admitted(AgentSubmission { created_at: minute(8), ..submission("Later") }).await;
    desk.admitted(AgentSubmission { created_at: minute(7), ..submission("Earlier") }).await;
    assert_eq!(desk.thread_data().await.updated_at, minute(8));
}

#[tokio::test]
async fn admit_uses_the_instructions_that_the_agent_has() {
    let desk = Desk::new().await;
    let name = Some("renamed".to_owned());
    desk.update(&agent_update::Input { name, ..unchanged() }).await.unwrap();
    let request = desk.queued().await;
    let configuration = desk.admission(request).await.configuration;
    assert!(configuration.contains(r#""instructions":"Be kind.""#));
    assert!(!configuration.contains("renamed"), "the agent is known by its reference");
}
