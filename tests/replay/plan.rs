//! What a caller is going to do: whole lives of requests, and whatever else there is to do.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::Random;
use super::choose::MINE;
use crate::step::{Given, Step, Submission, Writing, history};

/// Returns the steps of a caller. Every second caller lives lives, the others do anything; both
/// begin with the installation, since nothing is there before it.
pub(crate) fn plan(seed: u64, caller: usize) -> Vec<Step> {
    let mut random = Random::new(seed ^ (caller as u64) << 48);
    let mut steps = vec![Step::Install { workspace: 0, settings: "{}" }];
    if caller.is_multiple_of(2) {
        for _ in 0..40 {
            steps.extend(life(&mut random));
        }
    } else {
        steps.extend(anything(random.next()));
    }
    steps
}

/// Draws histories of the model's kind, without what no caller does.
fn anything(seed: u64) -> Vec<Step> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let mut steps = Vec::new();
    while steps.len() < 400 {
        steps.extend(history().new_tree(&mut runner).unwrap().current());
        steps.retain(|step| !matches!(step, Step::Wait(_) | Step::Reopen));
    }
    steps
}

/// The life of a request: admitted, claimed, written, asked, answered, finished, told. Now and then
/// it goes through a second attempt, or is asked for again.
fn life(random: &mut Random) -> Vec<Step> {
    let request = MINE;
    let submission = Submission {
        text: "Hello",
        profile: None,
        response: None,
        source: random.pick(&["user", "schedule"]),
        publication: None,
        at: Some(1),
        contexts: Vec::new(),
        related: None,
        retry_of: None,
        root: None,
        depth: 0,
    };
    let writing = |version| Writing {
        fence: Given::Stored,
        key: "k1",
        kind: "message",
        text: "one",
        version,
        at: Some(3),
        control: None,
        subject: None,
    };
    let thread = random.percent(20).then_some(0);
    let mut steps = vec![
        Step::Admit { directory: 0, agent: 0, thread, submission, optional: false },
        Step::Claim { request, attempt: "a", expected: 0, at: Some(2), recover: false },
        Step::Upsert { request, writing: writing(1) },
        Step::Ask {
            request,
            fence: Given::Stored,
            key: "q1",
            options: r#"["yes","no"]"#,
            at: Some(4),
            expires: Some(50),
        },
        Step::Answer { question: MINE, fence: Given::Stored, answer: "yes", at: Some(5) },
    ];
    if random.percent(25) {
        steps.push(Step::Reclaim { request, attempt: "b" });
    }
    let fence = || Given::Stored;
    steps.extend([
        Step::Transition { request, fence: fence(), status: "running", reason: "" },
        Step::Checkpoint { item: MINE, writing: writing(2) },
        Step::Upsert { request, writing: writing(3) },
        Step::Finish { request, fence: fence(), status: "completed", usage: None, at: Some(9) },
        Step::Publish { request },
    ]);
    if random.percent(20) {
        steps.push(Step::Correct { request, errors: 1, most: 1, at: Some(10) });
    }
    steps
}
