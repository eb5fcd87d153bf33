//! AgentRuntime against a model of it in plain collections.
//!
//! Random histories of the 26 operations that are doors, with few objects, keys, attempts and
//! times, so that they collide, run in both. Each answer and each error must be the same, with its
//! path, reason, fences or versions; and so must be all that is stored. At the end everything that
//! can be checked is in order. The store is closed and opened in between.
//!
//! `step.rs` says what can happen, `plain/` what it means, `real.rs` does it to the runtime.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod answer;
mod plain;
mod real;
mod step;
#[path = "../support/mod.rs"]
mod support;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use quixos_runtime::blocking;

use crate::plain::Model;
use crate::real::Real;
use crate::step::Step;

/// How many histories are run, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 48;

fn config() -> Config {
    let default = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { CASES };
    Config { cases, ..default }
}

/// Runs a history in both.
async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut model = Model::new();
    let mut real = Real::new().await;
    for (at, step) in steps.iter().enumerate() {
        let before = model.clone();
        let Some(expected) = model.step(step) else { continue };
        let answer = real.step(step, &before).await;
        prop_assert_eq!(answer, expected, "step {}, {:?}", at, step);
        if at % 8 == 0 {
            real.compare(&model).await?;
        }
    }
    real.compare(&model).await?;
    let findings = real.findings().await;
    prop_assert!(findings.is_empty(), "{:#?}", findings);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_history_is_that_of_the_model(steps in step::history()) {
        blocking(run(steps))?;
    }
}
