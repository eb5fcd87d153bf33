//! `verify`: everything that can be checked of a store, and what was found.

use quixos_runtime::verify::Report;
use quixos_runtime::{CallError, Runtime, blocking, kind_word};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, counted};
use crate::stop::Stop;

/// Checks a store.
///
/// # Errors
/// [`Exit::Findings`] when something is not as it should be; that the store cannot be read.
pub(crate) fn verify(runtime: &Runtime) -> Result<Answer, Stop> {
    let report = report(runtime)?;
    if report.is_clean() {
        return Ok(answer(&report));
    }
    let found: Vec<String> = report.findings.iter().take(10).map(ToString::to_string).collect();
    let count = report.findings.len() as u64 + report.omitted;
    let message = format!("{}; the first: {}", counted(count, "finding"), found.join("; "));
    Err(Failure::new(Exit::Findings, message)
        .help("`quixos verify` lists them; keep a copy of the store before anything else")
        .into())
}

/// Checks a store, whatever comes of it.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn report(runtime: &Runtime) -> Result<Report, CallError> {
    blocking(runtime.verify())
}

/// Returns a report for both readers.
pub(crate) fn answer(report: &Report) -> Answer {
    let json = json!({
        "ok": report.is_clean(),
        "findings": report.findings,
        "omitted": report.omitted,
        "counts": report.counts,
    });
    let counts: Vec<String> = report
        .counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {}", kind_word(kind)))
        .collect();
    let rows = report
        .findings
        .iter()
        .map(|it| vec![it.kind.to_string(), it.place.clone(), it.message.clone()])
        .collect();
    let answer = Answer::new(json).table(&["finding", "place", "message"], rows);
    let answer = answer.line(format!("checked: {}", counts.join(", ")));
    match report.findings.len() as u64 + report.omitted {
        0 => answer.line("nothing is wrong"),
        count => answer.line(counted(count, "finding")),
    }
}
