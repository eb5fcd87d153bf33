//! What a run is told.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use quixos_bench::Scenario;

/// Measures the runtime against the disk, raw sled and SQLite, and prints ratios.
#[derive(Parser, Debug)]
#[command(name = "cargo bench -p quixos-bench --", version)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Little of everything, once: shows that it works, and measures nothing worth keeping.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only this scenario; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    pub(crate) only: Vec<Scenario>,

    /// How often each comparison is made; the median counts.
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,

    /// Requests in the largest store, and events in the longest stream. 1000000 is what the goals
    /// are about, and takes the longest.
    #[arg(long, value_name = "N")]
    pub(crate) scale: Option<u64>,

    /// Where to write: the disk that is measured.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Where to put everything that was measured, every round of it; in cargo's target folder if
    /// nothing else is said.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// A page to put the tables into, between its two comments.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Measure nothing: show what an earlier run wrote with `--json`.
    #[arg(long, value_name = "FILE")]
    pub(crate) show: Option<PathBuf>,

    /// What cargo says to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,

    #[command(subcommand)]
    pub(crate) child: Option<Role>,
}

/// What a run has processes of its own for: to measure their memory, and to kill them.
#[derive(Subcommand, Debug)]
pub(crate) enum Role {
    /// Fills a store up to so many requests, and measures.
    #[command(hide = true)]
    Grow { folder: PathBuf, requests: u64, probes: usize },
    /// Opens a store, and claims a request.
    #[command(hide = true)]
    Open { folder: PathBuf },
    /// Opens a store, and works until it is killed.
    #[command(hide = true)]
    Load { folder: PathBuf },
    /// Makes a store with so many sessions, in each of which a turn is over.
    #[command(hide = true)]
    Talk { folder: PathBuf, sessions: u64 },
    /// Opens a store with sessions, and an engine over it that has nothing to do.
    #[command(hide = true)]
    Idle { folder: PathBuf },
    /// Serves sessions whose worker is at an address.
    #[command(hide = true)]
    Host { folder: PathBuf, worker: String },
}

impl Arguments {
    /// Returns the scenarios to run, in their order.
    pub(crate) fn scenarios(&self) -> impl Iterator<Item = Scenario> + '_ {
        let is_meant = |scenario: &Scenario| self.only.is_empty() || self.only.contains(scenario);
        Scenario::ALL.into_iter().filter(is_meant)
    }

    /// Says how often each comparison is made.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 5 })
    }

    /// Says how many requests the largest store has.
    pub(crate) fn scale(&self) -> u64 {
        self.scale.unwrap_or(if self.quick { 2_000 } else { 100_000 })
    }

    /// Takes the one number in a quick run, and the other in a full one.
    pub(crate) fn either<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

fn scenario(name: &str) -> Result<Scenario, String> {
    let known = || Scenario::ALL.map(Scenario::name).join(", ");
    let found = Scenario::ALL.into_iter().find(|scenario| scenario.name() == name);
    found.ok_or_else(|| format!("the scenarios are: {}", known()))
}
