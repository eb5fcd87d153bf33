//! The world that hosts race in: who acts when, and what becomes of what they send.

mod call;
mod host;
mod ledger;

use std::time::Duration;

use quixos_package::agent_runtime::{AgentCompletion, AgentThreadObject, EventStream};
use quixos_runtime::Ref;

use self::call::{Call, Reply};
use self::host::Host;
use self::ledger::Ledger;
use crate::random::Random;
use crate::support::{Desk, new_thread, submission};

const HOSTS: usize = 4;
const THREADS: usize = 3;
const REQUESTS: usize = 14;
const STORM: usize = 900;

/// How many turns the hosts may take, once it is calm, until all is done.
const PATIENCE: usize = 20_000;

/// What was seen in all trials.
#[derive(Default, Debug)]
pub(crate) struct Totals {
    pub(crate) calls: u64,
    pub(crate) claims: u64,
    pub(crate) takeovers: u64,
    pub(crate) stale: u64,
    pub(crate) crashes: u64,
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    pub(crate) ends: u64,
}

impl Totals {
    /// Tells whether everything happened that this is about.
    pub(crate) fn happened(&self) -> bool {
        let Self { calls, claims, takeovers, stale, crashes, lost, repeated, ends } = self;
        ![calls, claims, takeovers, stale, crashes, lost, repeated, ends].contains(&&0)
    }
}

/// A call on its way to the store, or its answer on the way back.
struct Flight {
    host: usize,
    life: u32,
    number: u64,
    call: Call,
    reply: Option<Reply>,
}

pub(crate) struct Simulation {
    desk: Desk,
    random: Random,
    threads: Vec<Ref<AgentThreadObject>>,
    hosts: Vec<Host>,
    flights: Vec<Flight>,
    ledger: Ledger,
    totals: Totals,
}

impl Simulation {
    pub(crate) async fn begin(seed: u64) -> Self {
        let desk = Desk::new().await;
        let mut threads = vec![desk.thread];
        while threads.len() < THREADS {
            let input = new_thread(desk.agent);
            threads.push(desk.directory().create_thread(&input).await.unwrap());
        }
        Self {
            desk,
            random: Random::new(seed),
            threads,
            hosts: (0..HOSTS).map(Host::new).collect(),
            flights: Vec::new(),
            ledger: Ledger::default(),
            totals: Totals::default(),
        }
    }

    /// Lets everything happen that can.
    pub(crate) async fn storm(&mut self) {
        for _ in 0..STORM {
            match self.random.below(100) {
                0..38 => self.act(),
                38..76 => self.carry(6).await,
                76..82 => self.submit().await,
                82..86 => self.answer().await,
                86..88 => self.cancel().await,
                88..95 => self.desk.world.wait(1 + self.random.below(2)),
                95..98 => self.crash(),
                98 => self.reopen(),
                _ => self.desk.world.clock.advance(Duration::from_secs(60 * 15)),
            }
        }
        while self.ledger.requests.len() < REQUESTS / 2 {
            self.submit().await;
        }
    }

    /// Lets the hosts that are left finish: nothing is lost any more, and nobody crashes.
    pub(crate) async fn calm(&mut self) {
        for host in &mut self.hosts {
            host.alive = host.name == 0 || self.random.percent(50);
        }
        for turn in 0.. {
            let data = self.desk.directory_data().await;
            if data.pending == 0 && data.notification_pending == 0 {
                return;
            }
            assert!(turn < PATIENCE, "stuck: {data:?}");
            match self.random.below(20) {
                0..9 => self.act(),
                9..19 => self.carry(0).await,
                _ => self.desk.world.wait(1),
            }
        }
    }

    /// A host that waits for nothing sends something; one that has waited for long sends it again.
    fn act(&mut self) {
        let index = self.random.index(HOSTS);
        let now = self.desk.world.clock.now_text();
        let host = &mut self.hosts[index];
        if !host.alive {
            return;
        }
        if let Some(call) = host.next(&mut self.random, now) {
            let flight =
                Flight { host: index, life: host.life, number: host.number, call, reply: None };
            self.totals.repeated += u64::from(host.is_repeating());
            self.flights.push(flight);
        }
    }

    /// Something arrives, in no order: at the store, or back at its host; or never.
    async fn carry(&mut self, lost: u64) {
        if self.flights.is_empty() {
            return;
        }
        let at = self.random.index(self.flights.len());
        let mut flight = self.flights.swap_remove(at);
        if self.random.percent(lost) {
            self.totals.lost += 1;
            return;
        }
        match flight.reply.take() {
            None => {
                self.totals.calls += 1;
                let reply = self.ledger.execute(&self.desk, &flight.call, &mut self.totals).await;
                flight.reply = Some(reply);
                self.flights.push(flight);
            }
            Some(reply) => {
                let host = &mut self.hosts[flight.host];
                // Whoever asked may be gone, or have been answered already.
                if host.alive && (host.life, host.number) == (flight.life, flight.number) {
                    host.hear(
                        flight.call,
                        reply,
                        &mut self.random,
                        self.desk.world.clock.minutes(),
                    );
                }
            }
        }
    }

    fn crash(&mut self) {
        let index = self.random.index(HOSTS);
        let host = &mut self.hosts[index];
        if host.alive {
            self.totals.crashes += 1;
            host.alive = false;
        } else {
            host.restart();
        }
    }

    fn reopen(&mut self) {
        self.desk.world.reopen();
    }

    async fn submit(&mut self) {
        if self.ledger.requests.len() >= REQUESTS {
            return;
        }
        let thread = self.random.pick(&self.threads);
        let request = self.desk.thread_at(thread).send(&submission("Write it down")).await.unwrap();
        self.ledger.requests.push(request);
    }

    async fn answer(&mut self) {
        if self.ledger.questions.is_empty() {
            return;
        }
        let at = self.random.index(self.ledger.questions.len());
        let (request, question, fence) = self.ledger.questions[at].clone();
        let call = Call::Answer { request, question, fence, at: self.desk.world.clock.now_text() };
        self.totals.calls += 1;
        self.ledger.execute(&self.desk, &call, &mut self.totals).await;
    }

    async fn cancel(&mut self) {
        if self.ledger.requests.is_empty() {
            return;
        }
        let request = self.random.pick(&self.ledger.requests);
        let call = Call::Cancel { request };
        self.totals.calls += 1;
        self.ledger.execute(&self.desk, &call, &mut self.totals).await;
    }

    /// Holds what is left to what was seen.
    pub(crate) async fn judge(self, totals: &mut Totals) {
        let Self { desk, ledger, totals: seen, .. } = self;
        let stream = desk.agent().completions().await.unwrap();
        let stream = EventStream::on(&desk.world.session, stream);
        let told: Vec<AgentCompletion> = stream.events(0, 1000).await.unwrap();
        for request in &ledger.requests {
            let progress = desk.progress(*request).await;
            assert!(ledger::is_terminal(&progress.status), "lost: {request:?} is {progress:?}");
            let of_it = told.iter().filter(|event| event.request == *request);
            let of_it: Vec<_> = of_it.map(|event| event.status.as_str()).collect();
            assert_eq!(of_it, [progress.status.as_str()], "what was told of {request:?}");
        }
        assert_eq!(told.len(), ledger.requests.len());
        assert_eq!(ledger.ended.len(), ledger.requests.len());
        desk.world.verify().await;
        let add = |sum: &mut u64, more: u64| *sum += more;
        add(&mut totals.calls, seen.calls);
        add(&mut totals.claims, seen.claims);
        add(&mut totals.takeovers, seen.takeovers);
        add(&mut totals.stale, seen.stale);
        add(&mut totals.crashes, seen.crashes);
        add(&mut totals.lost, seen.lost);
        add(&mut totals.repeated, seen.repeated);
        add(&mut totals.ends, ledger.ended.len() as u64);
    }
}

/// What the clock shows, as hosts write it and as they count it.
pub(crate) trait Face {
    fn now_text(&self) -> String;
    fn minutes(&self) -> i64;
}

impl Face for quixos_runtime::ManualClock {
    fn now_text(&self) -> String {
        quixos_runtime::Clock::now(self).to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    }

    fn minutes(&self) -> i64 {
        quixos_runtime::Clock::now(self).timestamp() / 60
    }
}
