//! How things are at the moment: asked when somebody reads, and not kept.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use quixos_package::agent_runtime::DirectoryData;
use quixos_runtime::store::Health;
use quixos_runtime::{CallError, ObjectRef};

use super::PREFIX;
use crate::state::State;

/// How things are.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pending: Option<u32>,
    runtime: quixos_runtime::Figures,
    engine: quixos_engine::Figures,
    health: Health,
    uptime: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreIs {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

/// A number under its name.
type Number = (&'static str, &'static str, f64);

impl Figures {
    /// The names of all that is told.
    #[cfg(test)]
    pub(super) const NAMES: [&'static str; 13] = [
        "requests_pending",
        "calls_waiting",
        "calls_waiting_limit",
        "commits_executed",
        "commits_durable",
        "engine_lag_commits",
        "logs_followed",
        "sessions_driven",
        "errands_under_way",
        "errands_limit",
        "uptime_seconds",
        "store_state",
        "build_info",
    ];

    /// Asks how things are.
    pub(crate) async fn of(state: &State) -> Self {
        let runtime = state.engine.runtime();
        let pending = runtime.read(|snapshot| {
            let bytes = snapshot.state_bytes(state.directory.object(), "data")?;
            pending(state.directory.object(), &bytes)
        });
        let pending = match pending.await {
            Ok(pending) => Some(pending),
            Err(error) => {
                tracing::warn!(%error, "the queue could not be counted");
                None
            }
        };
        let uptime = state.now().signed_duration_since(state.begun);
        Self {
            pending,
            runtime: runtime.figures(),
            engine: state.engine.figures(),
            health: runtime.health(),
            uptime: uptime.to_std().unwrap_or_default().as_secs_f64(),
        }
    }

    /// Returns how things are, as metrics.
    pub(super) fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix(PREFIX);
        for (name, help, number) in self.numbers() {
            let gauge = Gauge::<f64, AtomicU64>::default();
            gauge.set(number);
            registry.register(name, help, gauge);
        }
        let store = Family::<StoreIs, Gauge>::default();
        for (state, is) in [
            ("good", matches!(self.health, Health::Good)),
            ("no-space", matches!(self.health, Health::NoSpace { .. })),
            ("poisoned", matches!(self.health, Health::Poisoned { .. })),
        ] {
            store.get_or_create(&StoreIs { state }).set(i64::from(is));
        }
        registry.register("store_state", "How the store is: one of these is 1", store);
        let build = Family::<Build, Gauge>::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "Which version serves", build);
        registry
    }

    fn numbers(&self) -> Vec<Number> {
        let Self { pending, runtime, engine, uptime, .. } = self;
        let lag = runtime.durable.saturating_sub(engine.looked_at);
        let pending = pending.map(|pending| {
            ("requests_pending", "Requests that were admitted and have not ended", pending.into())
        });
        let numbers = [
            ("calls_waiting", "Calls that wait for the writing lane", count(runtime.waiting)),
            ("calls_waiting_limit", "How many calls may wait", count(runtime.queue)),
            ("commits_executed", "The newest commit that was executed", number(runtime.executed)),
            ("commits_durable", "The newest commit that is durable", number(runtime.durable)),
            ("engine_lag_commits", "Commits that the engine has not looked at", number(lag)),
            ("logs_followed", "Streams of objects that somebody follows", count(runtime.followed)),
            ("sessions_driven", "Sessions that have something to do", count(engine.driven)),
            ("errands_under_way", "Deliveries and model calls under way", count(engine.under_way)),
            ("errands_limit", "How many may be under way", count(engine.at_once)),
            ("uptime_seconds", "How long the host has been up", *uptime),
        ];
        pending.into_iter().chain(numbers).collect()
    }
}

/// Returns how many requests of a directory have not ended.
fn pending(directory: ObjectRef, bytes: &[u8]) -> Result<u32, CallError> {
    let data = postcard::from_bytes::<DirectoryData>(bytes)
        .map_err(|error| CallError::Corrupt { message: format!("{directory:?}: {error}") })?;
    Ok(data.pending)
}

fn count(count: usize) -> f64 {
    number(u64::try_from(count).unwrap_or(u64::MAX))
}

#[allow(clippy::cast_precision_loss, reason = "a gauge is a float; commits are fewer than 2^53")]
fn number(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_that_are_told() {
        let figures = Figures {
            pending: Some(0),
            runtime: quixos_runtime::Figures {
                waiting: 0,
                queue: 0,
                executed: 0,
                durable: 0,
                followed: 0,
            },
            engine: quixos_engine::Figures { driven: 0, under_way: 0, at_once: 0, looked_at: 0 },
            health: Health::Good,
            uptime: 0.0,
        };
        let told = figures.numbers().into_iter().map(|(name, ..)| name);
        let told: Vec<_> = told.chain(["store_state", "build_info"]).collect();
        assert_eq!(told, Figures::NAMES);
    }
}
