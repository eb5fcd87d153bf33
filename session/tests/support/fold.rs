//! What a session is by its log alone: the plainest fold, to hold the stored state against.

use std::collections::{BTreeMap, BTreeSet};

use quixos_session::sessions::{Live, SessionData};

use super::talk::Happened;

/// How far a call or a decision is, as far as the log says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// It waits for its turn, or for its next try.
    Waits,
    /// Somebody has it.
    Runs,
}

/// What a log comes to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fold {
    pub(crate) calls: BTreeMap<String, (u64, Stage)>,
    pub(crate) decisions: BTreeMap<String, Stage>,
    /// Blocks that are open, by call and place.
    pub(crate) blocks: BTreeSet<(String, u64)>,
    pub(crate) interrupts: Vec<String>,
    pub(crate) sends: Vec<String>,
    pub(crate) turn: Option<String>,
    pub(crate) head: Option<String>,
    pub(crate) nodes: u32,
    pub(crate) cancelled: bool,
}

impl Fold {
    /// Folds a log.
    pub(crate) fn of(log: &[Happened]) -> Self {
        let mut fold = Self::default();
        log.iter().for_each(|event| fold.add(event));
        fold
    }

    /// Returns the same of what is stored.
    pub(crate) fn stored(data: &SessionData, live: &Live) -> Self {
        let stage = |status: &str| if status == "pending" { Stage::Runs } else { Stage::Waits };
        let calls = live.calls.iter();
        let decisions = live.decisions.iter();
        let open = live.calls.iter().flat_map(|it| it.open.iter().map(|open| (&it.id, open)));
        Self {
            blocks: open.map(|(call, open)| (call.clone(), open.index.into())).collect(),
            calls: calls
                .map(|it| (it.id.clone(), (it.attempt.into(), stage(&it.status))))
                .collect(),
            decisions: decisions.map(|it| (it.id.clone(), stage(&it.status))).collect(),
            interrupts: sorted(live.interrupts.iter().map(|it| it.id.clone())),
            sends: sorted(live.sends.iter().map(|it| it.id.clone())),
            turn: data.turn.as_ref().map(|turn| turn.id.clone()),
            head: data.head.clone(),
            nodes: data.nodes,
            cancelled: data.cancelled,
        }
    }

    fn add(&mut self, event: &Happened) {
        let text = |name: &str| event.payload[name].as_str().unwrap_or_default().to_owned();
        let (call, decision) = (text("call_id"), text("decision_id"));
        let attempt = event.payload["attempt"].as_u64().unwrap_or_default();
        let again = event.payload.get("retry_at").is_some();
        let index = event.payload["index"].as_u64().unwrap_or_default();
        let is_open = |blocks: &BTreeSet<(String, u64)>| blocks.iter().any(|open| open.0 == call);
        let kind = event.kind.as_str();
        match kind {
            "llm.call.requested" | "tool.call.requested" | "sub_agent.requested" => {
                self.calls.insert(call, (attempt, Stage::Waits));
            }
            "llm.call.dispatched" | "tool.call.dispatched" | "sub_agent.dispatched" => {
                self.calls.insert(call, (attempt, Stage::Runs));
            }
            "llm.block.started" => {
                assert_eq!(self.calls.get(&call), Some(&(attempt, Stage::Runs)), "{event:?}");
                assert!(self.blocks.insert((call, index)), "{event:?} twice");
            }
            "llm.block.stopped" => {
                assert!(self.blocks.remove(&(call, index)), "{event:?} of none that was open");
            }
            "llm.call.errored" | "tool.call.errored" | "sub_agent.errored" if again => {
                assert!(!is_open(&self.blocks), "{event:?} with an open block");
                self.calls.insert(call, (attempt + 1, Stage::Waits));
            }
            "llm.call.errored"
            | "tool.call.errored"
            | "sub_agent.errored"
            | "llm.call.completed"
            | "tool.call.completed"
            | "sub_agent.turn_completed"
            | "call.voided" => {
                assert!(!is_open(&self.blocks), "{event:?} with an open block");
                assert!(self.calls.remove(&call).is_some(), "{kind} of a call that was over");
            }
            "decision.queued" => {
                self.decisions.insert(decision, Stage::Waits);
            }
            "decision.dispatched" => {
                self.decisions.insert(decision, Stage::Runs);
            }
            "decision.errored" if again => {
                self.decisions.insert(decision, Stage::Waits);
            }
            "decision.errored" | "decision.completed" | "decision.dropped" => {
                assert!(self.decisions.remove(&decision).is_some(), "{kind} of one that was over");
            }
            "session.interrupted" => {
                self.interrupts = sorted(self.interrupts.drain(..).chain([text("interrupt_id")]));
            }
            "session.interrupt_resumed" => {
                self.interrupts.retain(|open| *open != text("interrupt_id"));
            }
            "session.message_requested" => {
                self.sends = sorted(self.sends.drain(..).chain([text("id")]));
            }
            "session.message_sent" | "session.message_failed" => {
                self.sends.retain(|sent| *sent != text("id"));
            }
            "turn.started" => {
                assert_eq!(self.turn, None, "a turn began in another one");
                self.turn.clone_from(&event.turn);
            }
            "turn.completed" => {
                assert_eq!(self.turn, event.turn, "a turn ended that was not active");
                self.turn = None;
            }
            "message.new" => {
                let id = event.payload["message"]["id"].as_str().unwrap();
                self.head = Some(id.to_owned());
                self.nodes += 1;
            }
            "head.moved" => self.head = Some(text("head_id")),
            "session.cancelled" => {
                self.cancelled = true;
                self.interrupts.clear();
                self.sends.clear();
            }
            _ => {}
        }
    }
}

fn sorted(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = all.collect();
    all.sort();
    all
}
