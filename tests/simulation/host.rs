//! A host: what it does next, and what it makes of an answer. It knows nothing but what it was
//! answered, and forgets that when it crashes.

use chrono::{DateTime, Duration, SecondsFormat};
use quixos_package::agent_runtime::{AgentQuestionObject, RequestState};
use quixos_runtime::{Fence, Ref};

use super::call::{Call, Reply};
use super::ledger::is_terminal;
use crate::random::Random;
use crate::support::Request;

/// After how many minutes a host takes over what another has begun.
const LEASE: i64 = 12;

/// How often a host is asked to act before it sends again what was not answered.
const WAITS: u32 = 6;

/// How often a host looks after its question before it goes on without an answer.
const LOOKS: u32 = 4;

/// What a host is at.
#[derive(Clone, Debug)]
enum Job {
    Nothing,
    Claiming { request: Request, expected: u32, recover: bool },
    Working { request: Request, fence: Fence, stage: Stage },
    Telling { request: Request },
}

/// How far work has come.
#[derive(Clone, Debug)]
enum Stage {
    Write(u64),
    Ask,
    Await {
        question: Ref<AgentQuestionObject>,
        looks: u32,
    },
    Resume,
    Look,
    Finish(&'static str),
    /// It was not told whether its end counted.
    WhoseEnd,
}

pub(super) struct Host {
    pub(super) name: usize,
    pub(super) alive: bool,
    /// Counts its lives; attempts are named after them.
    pub(super) life: u32,
    /// Counts its calls; an answer to an earlier one is of no use.
    pub(super) number: u64,
    job: Job,
    sent: Option<(Call, u32)>,
}

impl Host {
    pub(super) fn new(name: usize) -> Self {
        Self { name, alive: true, life: 1, number: 0, job: Job::Nothing, sent: None }
    }

    /// Comes back, and has forgotten everything.
    pub(super) fn restart(&mut self) {
        let life = self.life + 1;
        *self = Self { life, number: self.number, ..Self::new(self.name) };
    }

    /// Tells whether what was sent last had been sent before.
    pub(super) fn is_repeating(&self) -> bool {
        self.sent.as_ref().is_some_and(|(_, waited)| *waited > 0)
    }

    fn attempt(&self) -> String {
        format!("host-{}-{}", self.name, self.life)
    }

    /// Returns what it sends now, if it sends something.
    pub(super) fn next(&mut self, random: &mut Random, now: String) -> Option<Call> {
        if let Some((call, waited)) = &mut self.sent {
            *waited += 1;
            return waited.is_multiple_of(WAITS).then(|| call.clone());
        }
        let call = match self.job.clone() {
            Job::Nothing => Call::Scan,
            Job::Claiming { request, expected, recover } => {
                Call::Claim { request, attempt: self.attempt(), expected, recover, at: now }
            }
            Job::Working { request, fence, stage } => match stage {
                Stage::Write(version) => Call::Write { request, fence, version, at: now },
                Stage::Ask => {
                    let minutes = 5 + i64::try_from(random.below(30)).unwrap();
                    let until = DateTime::parse_from_rfc3339(&now).unwrap();
                    let until = until.to_utc() + Duration::minutes(minutes);
                    let until = until.to_rfc3339_opts(SecondsFormat::Secs, true);
                    Call::Ask { request, fence, at: now, until }
                }
                Stage::Await { question, .. } => Call::Read { question },
                Stage::Resume => Call::Resume { request, fence },
                Stage::Look | Stage::WhoseEnd => Call::Look { request },
                Stage::Finish(status) => Call::Finish { request, fence, status, at: now },
            },
            Job::Telling { request } => Call::Publish { request },
        };
        self.number += 1;
        self.sent = Some((call.clone(), 0));
        Some(call)
    }

    /// Takes the answer to what it sent last.
    pub(super) fn hear(&mut self, call: Call, reply: Reply, random: &mut Random, now: i64) {
        self.sent = None;
        self.job = match (self.job.clone(), call, reply) {
            (Job::Nothing, Call::Scan, Reply::Work { pending, untold }) => {
                choose(&pending, &untold, random, now)
            }
            (Job::Claiming { request, .. }, Call::Claim { attempt, .. }, Reply::Claim(output))
                if output.claimed =>
            {
                let fence = Fence { attempt, generation: output.generation };
                // Versions go on where another attempt may have stopped.
                let version = u64::from(output.generation) * 10;
                Job::Working { request, fence, stage: Stage::Write(version) }
            }
            (Job::Working { request, fence, stage }, call, reply) => {
                self.go_on(request, fence, stage, (call, reply), random)
            }
            // Told, or told by another; refused; failed.
            _ => Job::Nothing,
        };
    }

    fn go_on(
        &self,
        request: Request,
        fence: Fence,
        stage: Stage,
        (call, reply): (Call, Reply),
        random: &mut Random,
    ) -> Job {
        let stage = match (stage, reply) {
            (Stage::Write(version), Reply::Done(true)) => match version % 10 {
                0 if random.percent(40) => Stage::Ask,
                3.. => Stage::Look,
                _ => Stage::Write(version + 1),
            },
            (Stage::Ask, Reply::Asked(question)) => Stage::Await { question, looks: 0 },
            (Stage::Await { question, looks }, Reply::Question { status }) => {
                if status == "open" && looks < LOOKS {
                    Stage::Await { question, looks: looks + 1 }
                } else {
                    Stage::Resume
                }
            }
            (Stage::Resume, Reply::Done(true)) => {
                let Fence { generation, .. } = fence;
                Stage::Write(u64::from(generation) * 10 + 2)
            }
            (Stage::Look, Reply::Progress(progress)) => {
                if progress.cancel_requested {
                    Stage::Finish("cancelled")
                } else {
                    Stage::Finish(random.pick(&["completed", "completed", "failed"]))
                }
            }
            (Stage::Finish(_), Reply::Done(true)) => return Job::Telling { request },
            // It may have been its own that it sent before.
            (Stage::Finish(_), Reply::Done(false)) => Stage::WhoseEnd,
            (Stage::WhoseEnd, Reply::Progress(progress)) => {
                let is_mine = progress.attempt == fence.attempt;
                return if is_mine && is_terminal(&progress.status) {
                    Job::Telling { request }
                } else {
                    Job::Nothing
                };
            }
            (_, Reply::Failed(error)) => {
                assert_eq!(error.code(), "stale-fence", "{call:?}");
                return Job::Nothing;
            }
            // Its fence is stale.
            _ => return Job::Nothing,
        };
        Job::Working { request, fence, stage }
    }
}

/// Chooses something to do: the end of another's that nobody told, what is queued, what was left.
fn choose(
    pending: &[(Request, RequestState)],
    untold: &[Request],
    random: &mut Random,
    now: i64,
) -> Job {
    if !untold.is_empty() && random.percent(50) {
        return Job::Telling { request: random.pick(untold) };
    }
    let is_left = |progress: &RequestState| {
        let started = progress.started_at.as_deref().unwrap();
        let started = DateTime::parse_from_rfc3339(started).unwrap().timestamp() / 60;
        now - started > LEASE
    };
    let claimable: Vec<_> = pending
        .iter()
        .filter(|(_, progress)| progress.status == "queued" || is_left(progress))
        .map(|(request, progress)| (*request, progress.generation, progress.status != "queued"))
        .collect();
    if claimable.is_empty() {
        return Job::Nothing;
    }
    let (request, expected, recover) = random.pick(&claimable);
    Job::Claiming { request, expected, recover }
}
