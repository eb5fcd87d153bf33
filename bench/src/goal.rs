//! What the runtime is to reach, and whether a run shows that it does.
//!
//! A goal is about the worst of all cases that it names, not about their mean. A goal about a size
//! that was not measured is left open, whatever smaller sizes say.

use crate::report::{
    CLAIM_AFTER_KILL, Case, Durability, Figure, MEMORY_AFTER_KILL, Quantity, Report, Role, Row,
    SILENT_TURN, Scenario, Subject,
};

/// A goal, and what was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Goal {
    /// What it is about.
    pub what: &'static str,
    /// What is to be reached.
    pub goal: &'static str,
    /// What was measured, and where it was worst.
    pub measured: String,
    /// What follows.
    pub verdict: Verdict,
}

/// Whether a goal is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is.
    Reached,
    /// It is not.
    Missed,
    /// The run does not tell.
    Open,
}

/// The size that the goals about scale are about.
const FULL: u64 = 1_000_000;

/// What an operation's cost may grow to, from few to many.
const GROWTH: f64 = 1.25;

/// Returns the goals, in the light of a report.
#[must_use]
pub fn goals(report: &Report) -> Vec<Goal> {
    vec![
        Goal::at_least(
            "durable operations, 64 callers, against raw sled",
            "≥ 80 %",
            0.8,
            worst(
                report,
                |case| is_operation_or_life(case) && is_durable(case) && case.callers == 64,
                Subject::RawSled,
            ),
        ),
        Goal::at_least(
            "small durable operations, 16 and 64 callers, against the plain file",
            "≥ 50 %",
            0.5,
            worst(
                report,
                |case| is_operation(case) && is_durable(case) && case.callers >= 16,
                Subject::Floor,
            ),
        ),
        Goal::at_most(
            "buffered operations, 1 caller, time against raw sled",
            "≤ 200 %",
            2.0,
            worst(
                report,
                |case| is_operation(case) && !is_durable(case) && case.callers == 1,
                Subject::RawSled,
            )
            .map(|(speed, place)| (speed.recip(), place)),
        ),
        Goal::at_least(
            "the life of a request, durable, 64 callers, against SQLite",
            "≥ 200 %",
            2.0,
            worst(
                report,
                |case| case.scenario == Scenario::Life && is_durable(case) && case.callers == 64,
                Subject::Sqlite,
            ),
        ),
        cost_of_scale(report),
        Goal::at_most(
            "claim, upsert, ask and publish among many, time against among 10",
            "≤ 125 %",
            GROWTH,
            worst_growth(report, Scenario::Crowd, |_| true),
        ),
        open_after_kill(report),
        Goal::at_most(
            "the 1,000th turn of a session, time against the 10th",
            "≤ 125 %",
            GROWTH,
            worst_growth(report, Scenario::Sessions, |what| what != SILENT_TURN),
        )
        .about(report, 1_000, |what| what != SILENT_TURN),
        Goal::at_most(
            "the 1,000th turn of a session without messages, time against the 10th",
            "≤ 125 %",
            GROWTH,
            worst_growth(report, Scenario::Sessions, |what| what == SILENT_TURN),
        )
        .about(report, 1_000, |what| what == SILENT_TURN),
    ]
}

impl Goal {
    fn at_least(
        what: &'static str,
        goal: &'static str,
        bound: f64,
        measured: Option<(f64, String)>,
    ) -> Self {
        Self::held(what, goal, measured, |ratio| ratio >= bound)
    }

    fn at_most(
        what: &'static str,
        goal: &'static str,
        bound: f64,
        measured: Option<(f64, String)>,
    ) -> Self {
        Self::held(what, goal, measured, |ratio| ratio <= bound)
    }

    /// Leaves the goal open where a cost of sessions was not measured as late as what it is about,
    /// unless it is missed before that.
    fn about(mut self, report: &Report, size: u64, is_meant: impl Fn(&str) -> bool) -> Self {
        let lists = report.figures_of(Scenario::Sessions);
        let mut meant = lists
            .iter()
            .filter_map(|list| list.last())
            .filter(|last| last.quantity.role == Role::Cost && is_meant(&last.quantity.what));
        if self.verdict == Verdict::Reached && meant.any(|last| last.at < size) {
            self.verdict = Verdict::Open;
        }
        self
    }

    fn held(
        what: &'static str,
        goal: &'static str,
        measured: Option<(f64, String)>,
        holds: impl Fn(f64) -> bool,
    ) -> Self {
        let Some((ratio, place)) = measured else {
            return Self { what, goal, measured: "not measured".into(), verdict: Verdict::Open };
        };
        let verdict = if holds(ratio) { Verdict::Reached } else { Verdict::Missed };
        Self { what, goal, measured: format!("{:.0} % ({place})", ratio * 100.0), verdict }
    }
}

fn is_operation(case: &Case) -> bool {
    case.scenario == Scenario::Operations
}

fn is_operation_or_life(case: &Case) -> bool {
    is_operation(case) || case.scenario == Scenario::Life
}

fn is_durable(case: &Case) -> bool {
    case.durability == Durability::Durable
}

/// Returns where the runtime does worst against another system, among the cases that write.
fn worst(
    report: &Report,
    is_meant: impl Fn(&Case) -> bool,
    other: Subject,
) -> Option<(f64, String)> {
    let rows = report.rows.iter().filter(|row| row.writes() && is_meant(&row.case));
    let ratios = rows.filter_map(|row| Some((row.against(other)?, place(row))));
    ratios.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

fn place(row: &Row) -> String {
    format!("{}, {}", row.case.work, row.case.calling())
}

/// Returns the cost that grows most from the least size to the greatest, among those that are meant.
fn worst_growth(
    report: &Report,
    scenario: Scenario,
    is_meant: impl Fn(&str) -> bool,
) -> Option<(f64, String)> {
    let lists = report.figures_of(scenario);
    let growths = lists.iter().filter_map(|list| {
        let (first, last) = (list.first()?, list.last()?);
        let Quantity { what, role, .. } = &first.quantity;
        if first.at == last.at || *role != Role::Cost || !is_meant(what) {
            return None;
        }
        let place = format!("{what}, {} to {}", first.at, last.at);
        Some((last.value()? / first.value()?, place))
    });
    // Of nothing to nothing there is no growth to tell.
    let growths = growths.filter(|(growth, _)| !growth.is_nan());
    growths.max_by(|(a, _), (b, _)| a.total_cmp(b))
}

fn cost_of_scale(report: &Report) -> Goal {
    let growth = worst_growth(report, Scenario::Scale, |_| true);
    let mut goal = Goal::at_most(
        "cost of an operation, 1,000 to 1,000,000 requests",
        "≤ 125 %",
        GROWTH,
        growth,
    );
    if greatest(report) < FULL {
        goal.verdict = Verdict::Open;
    }
    goal
}

/// Returns how many requests the largest store had.
fn greatest(report: &Report) -> u64 {
    let of_scale = |figure: &&Figure| figure.quantity.scenario == Scenario::Scale;
    report.figures.iter().filter(of_scale).map(|figure| figure.at).max().unwrap_or(0)
}

fn open_after_kill(report: &Report) -> Goal {
    let what = "open after a kill with 1,000,000 requests, to the first claim";
    let goal = "< 5 s, < 1 GiB";
    let size = greatest(report);
    let value = |what: &str| {
        let it = |figure: &&Figure| figure.quantity.what == what && figure.at == size;
        report.figures.iter().find(it)?.value()
    };
    let (Some(seconds), Some(bytes)) = (value(CLAIM_AFTER_KILL), value(MEMORY_AFTER_KILL)) else {
        return Goal { what, goal, measured: "not measured".into(), verdict: Verdict::Open };
    };
    let mebibytes = bytes / f64::from(1 << 20);
    let verdict = match (size >= FULL, seconds < 5.0 && mebibytes < 1024.0) {
        (false, _) => Verdict::Open,
        (true, true) => Verdict::Reached,
        (true, false) => Verdict::Missed,
    };
    let measured = format!("{seconds:.2} s, {mebibytes:.0} MiB ({size} requests)");
    Goal { what, goal, measured, verdict }
}
