//! The same work by all systems: in turn, round by round, each in an empty folder.

use std::sync::Arc;

use quixos_bench::{Case, Durability, Scenario, Subject};

use crate::callers;
use crate::driver::{Bench, say};
use crate::failure::Failure;
use crate::systems::{Setup, System};
use crate::trace::{Order, Trace};
use crate::work::Operation;

/// Work that is compared.
pub(super) struct Comparison {
    pub(super) scenario: Scenario,
    /// All of a stage is done on all requests before the next stage.
    pub(super) stages: Vec<Stage>,
    pub(super) conditions: Vec<Condition>,
    /// The length of an item's text.
    pub(super) item_bytes: usize,
}

/// Steps that are taken on a request without a pause.
pub(super) struct Stage {
    /// What it is called in the table; without a name it is not measured.
    pub(super) name: Option<&'static str>,
    pub(super) steps: &'static [Operation],
}

/// Under what conditions the work is done.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    pub(super) durability: Durability,
    pub(super) callers: usize,
    pub(super) requests: usize,
}

impl Comparison {
    /// Compares all systems under all conditions.
    pub(super) async fn measure(&self, bench: &mut Bench<'_>) -> Result<(), Failure> {
        let most = self.conditions.iter().map(|condition| condition.requests).max().unwrap_or(0);
        let order = if self.stages.len() == 1 { Order::ByRequest } else { Order::ByOperation };
        let operations: Vec<Operation> =
            self.stages.iter().flat_map(|stage| stage.steps).copied().collect();
        let trace = Trace::record(&operations, most, order, self.item_bytes).await?;
        let trace = Arc::new(trace);
        for round in 1..=bench.arguments.rounds() {
            for condition in &self.conditions {
                let Condition { durability, callers, .. } = condition;
                say(&format!("  round {round}: {durability}, callers: {callers}"));
                // Another begins each time: whoever follows finds the disk as the one before left it.
                for subject in Subject::ALL.into_iter().cycle().skip(round).take(Subject::ALL.len())
                {
                    self.turn(bench, &trace, *condition, subject).await?;
                }
            }
        }
        Ok(())
    }

    /// Has one system do the work once.
    async fn turn(
        &self,
        bench: &mut Bench<'_>,
        trace: &Arc<Trace>,
        condition: Condition,
        subject: Subject,
    ) -> Result<(), Failure> {
        let Condition { durability, callers, requests } = condition;
        let folder = bench.scratch()?;
        let setup = Setup { folder: folder.path(), durability, trace, item_bytes: self.item_bytes };
        let system = Arc::new(System::open(subject, setup).await?);
        for Stage { name, steps } in &self.stages {
            let writes = steps.iter().any(|step| trace.writes(*step));
            if subject == Subject::Floor && !writes {
                continue;
            }
            let (steps, performer) = (*steps, Arc::clone(&system));
            let speed = callers::run(callers, 0..requests, move |request| {
                let system = Arc::clone(&performer);
                async move {
                    for step in steps {
                        system.perform(*step, request).await?;
                    }
                    Ok(())
                }
            })
            .await?;
            // Or the next stage would be slowed by what this one left.
            system.settle().await?;
            if let Some(name) = name {
                let (scenario, work) = (self.scenario, (*name).to_owned());
                let case = Case { scenario, durability, work, callers };
                bench.report.add_speed(case, subject, speed);
            }
        }
        Ok(())
    }
}
