//! Whatever workers, models, clients, operators and time do, in whatever order, a session keeps its
//! rules: its log says what it is, one decision is live, nothing hangs on a branch that was left,
//! nothing waits for nothing, and a refusal leaves no trace.

use quixos_protocol::DraftMessage;
use quixos_runtime::CallError;
use quixos_session::sessions::{Live, SessionData};
use serde_json::{Value, json};

use crate::support::{
    Dice, Talk, World, action, begins, calls, ended, frontend, machine, message, retry, says, view,
};

/// How many histories, and how long each is.
const HISTORIES: u64 = 12;
const STEPS: usize = 100;

#[tokio::test]
async fn any_history_keeps_the_rules() {
    for seed in 0..HISTORIES {
        let mut play = Play::new(seed).await;
        for step in 0..STEPS {
            play.step(step).await;
        }
        play.come_to_rest().await;
        play.world.verify().await;
    }
}

/// A world in which things happen by chance.
struct Play {
    world: World,
    dice: Dice,
    seed: u64,
    /// What was answered before, to be said again.
    old: Vec<(String, String)>,
}

impl Play {
    async fn new(seed: u64) -> Self {
        let settings = json!({"session": {
            "agent": {
                "model": "m",
                "system": "Be brief.",
                "retry": retry(Some(30), 1, 2, 8),
                "tools": [{"name": "w"}, {"name": "c", "handler": "client"}],
                "sub_agents": [{"id": "sub"}],
            },
            "decisionRetry": retry(Some(60), 2, 2, 8),
        }});
        let world = World::with(&settings.to_string()).await;
        let small = json!({"session": {"agent": {"model": "small", "tools": [{"name": "w"}]}}});
        world.agent("sub", &small.to_string()).await;
        world.open("root", &message("t0", "Hello")).await;
        Self { world, dice: Dice::new(seed), seed, old: Vec::new() }
    }

    /// Returns all sessions, each with an engine that drives it.
    async fn sessions(&self) -> Vec<Talk<'_>> {
        let mut sessions = Vec::new();
        for (_, session) in self.world.registry().sessions().await.unwrap() {
            let talk = Talk::on(&self.world, session);
            talk.take(false).await;
            sessions.push(talk);
        }
        sessions
    }

    async fn step(&mut self, step: usize) {
        let mut dice = std::mem::take(&mut self.dice);
        let mut told = Vec::new();
        for talk in self.sessions().await {
            if dice.once_in(3) {
                continue;
            }
            let before = talk.events().await.len();
            let (what, result) = happen(&talk, &mut dice, step, &self.old, &mut told).await;
            let place = format!("seed {}, step {step}: {what}", self.seed);
            if let Err(error) = result {
                let allowed = matches!(error.code(), "refused" | "invalid" | "not-found");
                assert!(allowed, "{place}: {error}");
                assert_eq!(before, talk.events().await.len(), "{place} left a trace: {error}");
            }
            for any in self.sessions().await {
                check(&any, &place).await;
            }
        }
        self.old.extend(told);
        self.dice = dice;
    }

    /// Lets everybody do what is asked of them until nothing is due, and sees that it comes to
    /// that.
    async fn come_to_rest(&self) {
        let mut is_quiet = false;
        for _ in 0..400 {
            is_quiet = true;
            for talk in self.sessions().await {
                is_quiet &= !settle_down(&talk).await;
            }
            if is_quiet {
                break;
            }
            self.world.wait(1);
        }
        assert!(is_quiet, "seed {}: there is no end to it", self.seed);
        for talk in self.sessions().await {
            let (data, live) = (talk.data().await, talk.client().live().await.unwrap());
            let is_paused = !live.interrupts.is_empty();
            assert!(is_paused || live.decisions.is_empty(), "seed {}: {live:?}", self.seed);
            let waits = live.calls.iter().all(|call| call.status == "pending");
            assert!(is_paused || waits, "seed {}: {live:?}", self.seed);
            assert!(!data.cancelled || live.calls.is_empty(), "seed {}: {live:?}", self.seed);
        }
    }
}

/// Does what is due in a session, in the plainest way. Says whether there was something.
async fn settle_down(talk: &Talk<'_>) -> bool {
    talk.client().wake().await.unwrap();
    if let Some(asked) = talk.asked().await {
        talk.answer(&asked, &json!({})).await;
        return true;
    }
    if let Some(due) = talk.running().await.first() {
        talk.reply_to(due, &says("Done.")).await;
        return true;
    }
    let had_errands = !talk.due("spawn").await.is_empty() || !talk.due("send").await.is_empty();
    talk.run_errands().await;
    had_errands || talk.agenda().await.wake_at.is_some()
}

type Result = std::result::Result<(), CallError>;

/// Lets one thing happen to a session.
async fn happen(
    talk: &Talk<'_>,
    dice: &mut Dice,
    step: usize,
    old: &[(String, String)],
    told: &mut Vec<(String, String)>,
) -> (&'static str, Result) {
    let turn = format!("t{step}");
    match dice.below(25) {
        0 => ("a message", done(talk.submit(&message(&turn, "More")).await)),
        1 => ("a view", done(talk.submit(&random_view(talk, dice, &turn).await).await)),
        2 => ("an action", done(talk.submit(&action(&turn, "go")).await)),
        3 | 13 => ("a resume", resume(talk, dice).await),
        4 => ("a settlement", settle(talk, dice).await),
        5 if dice.once_in(4) => {
            let by = if dice.once_in(2) { machine() } else { frontend("anna") };
            let id = format!("i{}", dice.below(3));
            ("an interrupt", done(talk.interrupt_as(by, &id).await))
        }
        6 => {
            talk.wait(*dice.pick(&[0, 1, 2, 5, 31, 61])).await;
            ("time", Ok(()))
        }
        7 if dice.once_in(2) => {
            talk.take(true).await;
            ("a restart", Ok(()))
        }
        8 => {
            talk.run_errands().await;
            ("errands", Ok(()))
        }
        9 if dice.once_in(5) => {
            let turn = talk.data().await.turn.map(|turn| turn.id);
            let whole = dice.once_in(8);
            if turn.is_none() && !whole {
                return ("nothing", Ok(()));
            }
            let turn = turn.filter(|_| !whole);
            ("a cancellation", done(talk.cancel_as(machine(), turn.as_deref()).await))
        }
        10 => {
            let Some((decision, answer)) = old.last() else { return ("nothing", Ok(())) };
            let answer: Value = serde_json::from_str(answer).unwrap();
            ("an old answer", done(talk.answer_to(decision, &answer).await))
        }
        15 => ("a response", respond(talk, dice).await),
        16 => {
            let Some(turn) = talk.data().await.turn else { return ("nothing", Ok(())) };
            ("a follower", done(talk.follow(&turn.id).await))
        }
        17 => {
            speak(talk, dice).await;
            ("a piece of a reply", Ok(()))
        }
        11 | 14 => ("a model's end", model_ends(talk, dice).await),
        12 => {
            if let Some(asked) = talk.asked().await {
                talk.fail(asked.trigger.kind(), "HTTP 500", !dice.once_in(4)).await;
            }
            ("a failed delivery", Ok(()))
        }
        _ => {
            let Some(asked) = talk.asked().await else {
                if talk.running().await.is_empty() {
                    return ("a message", done(talk.submit(&message(&turn, "More")).await));
                }
                return ("a model's end", model_ends(talk, dice).await);
            };
            let answer = if dice.once_in(3) {
                random_answer(talk, dice, step).await
            } else {
                json!(asked.proposed)
            };
            talk.answer(&asked, &answer).await;
            told.push((asked.decision_id, answer.to_string()));
            ("an answer", Ok(()))
        }
    }
}

fn done<T>(result: std::result::Result<T, CallError>) -> Result {
    result.map(drop)
}

/// Returns a part of the path from the root on, with or without something new behind it.
async fn random_list(talk: &Talk<'_>, dice: &mut Dice) -> Vec<DraftMessage> {
    let path = talk.path().await;
    let kept = if dice.once_in(2) { path.len() } else { dice.below(path.len() + 1) };
    let mut list: Vec<DraftMessage> = path.into_iter().take(kept).map(DraftMessage::from).collect();
    if !dice.once_in(4) {
        list.push(DraftMessage::user("News"));
    }
    list
}

async fn random_view(talk: &Talk<'_>, dice: &mut Dice, turn: &str) -> Value {
    let mut list = random_list(talk, dice).await;
    for call in talk.client().live().await.unwrap().calls {
        if call.handler == "client" && dice.once_in(2) {
            list.push(DraftMessage::tool(call.id, "c", "from a view"));
        }
    }
    view(turn, &list)
}

async fn resume(talk: &Talk<'_>, dice: &mut Dice) -> Result {
    let open = talk.client().live().await.unwrap().interrupts;
    let id = open.first().map_or_else(|| "i0".to_owned(), |open| open.id.clone());
    let by = if dice.once_in(4) { frontend("anna") } else { machine() };
    let input = json!({"type": "interrupt.resume", "interrupt_id": id});
    done(talk.submit_as(by, &input).await)
}

/// Answers some of what a session waits for, now and then with a message.
async fn respond(talk: &Talk<'_>, dice: &mut Dice) -> Result {
    let live = talk.client().live().await.unwrap();
    let calls = live.calls.iter().filter(|call| call.handler == "client").map(|call| &call.id);
    let open: Vec<&String> = live.interrupts.iter().map(|it| &it.id).chain(calls).collect();
    let mut answers = Vec::new();
    for id in open {
        if !dice.once_in(3) {
            let failed = dice.once_in(4);
            answers.push((id.as_str(), if failed { Err("no") } else { Ok(json!("yes")) }));
        }
    }
    if dice.once_in(6) {
        answers.push(("none", Ok(json!("yes"))));
    }
    let messages =
        if dice.once_in(2) { json!([{"role": "user", "content": "!"}]) } else { json!([]) };
    done(talk.respond(&answers, &messages).await)
}

/// Returns a call that is under way, or one that is not there.
async fn some_call(talk: &Talk<'_>, dice: &mut Dice) -> String {
    let live = talk.client().live().await.unwrap().calls;
    if live.is_empty() { "none".to_owned() } else { dice.pick(&live).id.clone() }
}

async fn settle(talk: &Talk<'_>, dice: &mut Dice) -> Result {
    let call = some_call(talk, dice).await;
    let by = if dice.once_in(2) { machine() } else { frontend("anna") };
    done(talk.settle_as(by, &call, None, &json!("settled")).await)
}

/// Lets a model say more, as far as its attempt has come: a block begins, and the last may end.
async fn speak(talk: &Talk<'_>, dice: &mut Dice) {
    let running = talk.running().await;
    let Some(due) = running.first() else { return };
    let live = talk.client().live().await.unwrap();
    let call = live.calls.iter().find(|call| call.id == due.id).unwrap();
    let mut changes = Vec::new();
    if let Some(open) = call.open.first().filter(|_| !dice.once_in(3)) {
        changes.push(ended(open.index, "{}"));
    }
    let tool = [("x1", "w"), ("x2", "c"), ("x1", "sub")];
    let (kind, tool) = match dice.below(4) {
        0 => ("text", None),
        1 => ("reasoning", None),
        _ => ("tool_call", Some(*dice.pick(&tool))),
    };
    changes.push(begins(call.blocks, kind, 0, tool));
    talk.speaks(due, &changes).await;
    if dice.once_in(3) {
        talk.checkpoint(due, "so far", "Hm").await;
    }
}

async fn model_ends(talk: &Talk<'_>, dice: &mut Dice) -> Result {
    let running = talk.running().await;
    let Some(due) = running.first() else { return Ok(()) };
    if dice.once_in(5) {
        talk.model_fails(due, "broken", dice.once_in(2)).await;
        return Ok(());
    }
    let reply = match dice.below(5) {
        0 => says("Yes."),
        1 => calls(&[("x1", "w")]),
        2 => calls(&[("x1", "w"), ("x2", "c")]),
        3 => calls(&[("x1", "sub"), ("x2", "w")]),
        _ => calls(&[("x1", "sub"), ("x2", "sub")]),
    };
    talk.reply_to(due, &reply).await;
    Ok(())
}

async fn random_answer(talk: &Talk<'_>, dice: &mut Dice, step: usize) -> Value {
    let mut answer = json!({});
    if dice.once_in(2) {
        answer["messages"] = json!(random_list(talk, dice).await);
    }
    if dice.once_in(3) {
        answer["state"] = json!({ "step": dice.below(3) });
    }
    let call = some_call(talk, dice).await;
    let policy = retry(Some(20), 1, 1, 1);
    let mut actions = Vec::new();
    for number in 0..dice.below(4) {
        let id = format!("a{step}.{number}");
        actions.push(match dice.below(10) {
            0 => json!({"type": "llm.call"}),
            1 => json!({"type": "llm.call", "id": "again"}),
            2 => json!({"type": "llm.call", "id": id, "handler": "worker"}),
            3 => json!({"type": "tool.call", "id": id, "name": "w", "arguments": {},
                "retry": policy}),
            4 => json!({"type": "tool.call", "id": id, "name": "c", "arguments": {},
                "handler": "client", "retry": policy}),
            5 => json!({"type": "tool.result", "id": call, "result": "r"}),
            6 => json!({"type": "tool.error", "id": call, "error": "e", "retryable": true}),
            7 => json!({"type": "llm.error", "id": call, "error": "e"}),
            8 if dice.once_in(2) => json!({"type": "interrupt", "reason": "ask"}),
            _ => json!({"type": "done", "data": number}),
        });
    }
    answer["actions"] = json!(actions);
    answer
}

/// Checks what always holds of a session.
async fn check(talk: &Talk<'_>, place: &str) {
    let (data, live) = (talk.data().await, talk.client().live().await.unwrap());
    talk.replay(place).await;
    let at_work = live.decisions.iter().filter(|decision| decision.status != "queued").count();
    assert!(at_work < 2, "{place}: {live:?}");
    let path: Vec<String> = talk.path().await.into_iter().map(|message| message.id).collect();
    assert_eq!(data.head.as_ref(), path.last(), "{place}");
    for call in &live.calls {
        let hangs_on = call.anchor.as_ref().is_none_or(|anchor| path.contains(anchor));
        assert!(hangs_on, "{place}: `{}` hangs on a branch that was left", call.id);
    }
    for open in &live.interrupts {
        let is_above = open.anchor.as_ref().is_none_or(|anchor| path.contains(anchor));
        assert_eq!(open.pauses, is_above, "{place}: `{}` says where it stands", open.id);
    }
    moves_on(&data, &live, &path, place);
}

/// Checks that nothing waits for nothing.
fn moves_on(data: &SessionData, live: &Live, path: &[String], place: &str) {
    let pauses = |anchor: &Option<String>| anchor.as_ref().is_none_or(|it| path.contains(it));
    let is_paused = live.interrupts.iter().any(|open| pauses(&open.anchor));
    if is_paused || data.claim.engine.is_empty() {
        return;
    }
    let is_free = live.decisions.iter().all(|decision| decision.status == "queued");
    let waits = live.decisions.iter().any(|decision| decision.status == "queued")
        || live.calls.iter().any(|call| call.status == "queued" && call.handler == "worker");
    assert!(!(is_free && waits), "{place}: the slot is free, and something waits: {live:?}");
    let idle = live.calls.iter().find(|call| call.status == "queued" && call.handler != "worker");
    assert!(idle.is_none(), "{place}: {idle:?} was not started");
}
