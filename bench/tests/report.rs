//! A report, from what was measured to what is shown.

use std::time::Duration;

use quixos_bench::{
    CLAIM_AFTER_KILL, Case, Durability, Goal, Head, MEMORY_AFTER_KILL, Machine, Quantity, Report,
    Role, SILENT_TURN, Scenario, Speed, Style, Subject, Unit, Verdict, goals, show,
};

fn empty() -> Report {
    Report::new(Head {
        began: "2026-01-31T12:00:00Z".into(),
        options: "no options".into(),
        machine: Machine {
            processor: None,
            cores: 2,
            memory: Some(8 << 30),
            system: "linux 6".into(),
            filesystem: Some("ext4".into()),
        },
        versions: vec![("sled".into(), "0.34.7".into())],
        durability: vec!["durable: on the disk".into()],
    })
}

/// A speed of so many operations a second.
fn per_second(operations: u64) -> Speed {
    let each = vec![Duration::from_micros(5); usize::try_from(operations).expect("few")];
    Speed::new(each, Duration::from_secs(1), Duration::from_millis(2))
}

fn case(scenario: Scenario, durability: Durability, work: &str, callers: usize) -> Case {
    Case { scenario, durability, work: work.into(), callers }
}

fn figure(
    report: &mut Report,
    scenario: Scenario,
    what: &str,
    role: Role,
    values: [(u64, f64); 2],
) {
    for (at, value) in values {
        let quantity = Quantity { scenario, what: what.into(), unit: Unit::Micros, role };
        report.add_figure(quantity, at, value);
    }
}

/// Returns the goal that begins so.
fn goal(report: &Report, what: &str) -> Goal {
    goals(report).into_iter().find(|goal| goal.what.starts_with(what)).expect("a goal of that name")
}

#[test]
fn without_a_measurement_every_goal_is_open() {
    let goals = goals(&empty());
    assert_eq!(goals.len(), 9);
    assert!(goals.iter().all(|goal| goal.verdict == Verdict::Open));
}

#[test]
fn the_median_of_the_rounds_counts_and_of_the_cases_the_worst() {
    let mut report = empty();
    for (work, rounds) in [("claim", [95, 90, 10]), ("finish", [82, 85, 200])] {
        for speed in rounds {
            let case = || case(Scenario::Operations, Durability::Durable, work, 64);
            report.add_speed(case(), Subject::Floor, per_second(100));
            report.add_speed(case(), Subject::RawSled, per_second(100));
            report.add_speed(case(), Subject::Runtime, per_second(speed));
        }
    }
    let reached = goal(&report, "durable operations");
    assert_eq!(
        (reached.verdict, &*reached.measured),
        (Verdict::Reached, "85 % (finish, 64 callers)")
    );

    // What is not compared with a plain file does not write, and is in no such goal.
    let read = || case(Scenario::Operations, Durability::Durable, "progress", 64);
    report.add_speed(read(), Subject::RawSled, per_second(100));
    report.add_speed(read(), Subject::Runtime, per_second(1));
    assert_eq!(goal(&report, "durable operations"), reached);

    let slow = || case(Scenario::Life, Durability::Durable, "life", 64);
    for (subject, speed) in [
        (Subject::Floor, 100),
        (Subject::RawSled, 100),
        (Subject::Runtime, 79),
        (Subject::Sqlite, 39),
    ] {
        report.add_speed(slow(), subject, per_second(speed));
    }
    assert_eq!(goal(&report, "durable operations").verdict, Verdict::Missed);
    assert_eq!(goal(&report, "small durable").verdict, Verdict::Reached);
    assert_eq!(goal(&report, "the life").verdict, Verdict::Reached);
}

#[test]
fn buffered_operations_are_compared_by_time() {
    let mut report = empty();
    let case = || case(Scenario::Operations, Durability::Buffered, "claim", 1);
    for (subject, speed) in [(Subject::Floor, 500), (Subject::RawSled, 100), (Subject::Runtime, 40)]
    {
        report.add_speed(case(), subject, per_second(speed));
    }
    let missed = goal(&report, "buffered");
    assert_eq!((missed.verdict, &*missed.measured), (Verdict::Missed, "250 % (claim, 1 caller)"));
}

#[test]
fn a_cost_may_grow_a_little_and_what_is_known_to_grow_is_only_shown() {
    let mut report = empty();
    figure(&mut report, Scenario::Crowd, "claim", Role::Cost, [(10, 20.0), (1_000, 25.0)]);
    figure(
        &mut report,
        Scenario::Crowd,
        "same key",
        Role::Unfavourable,
        [(10, 20.0), (1_000, 900.0)],
    );
    assert_eq!(goal(&report, "claim, upsert").verdict, Verdict::Reached);
    assert!(show(&report, Style::Terminal).contains("same key (unfavourable)"));
    figure(&mut report, Scenario::Crowd, "ask", Role::Cost, [(10, 20.0), (1_000, 25.1)]);
    assert_eq!(goal(&report, "claim, upsert").verdict, Verdict::Missed);
}

#[test]
fn a_goal_about_a_million_is_not_reached_by_less() {
    let mut small = empty();
    figure(&mut small, Scenario::Scale, "claim", Role::Cost, [(1_000, 20.0), (100_000, 20.0)]);
    assert_eq!(goal(&small, "cost of").verdict, Verdict::Open);
    let mut large = empty();
    figure(&mut large, Scenario::Scale, "claim", Role::Cost, [(1_000, 20.0), (1_000_000, 20.0)]);
    assert_eq!(goal(&large, "cost of").verdict, Verdict::Reached);

    for (report, verdict) in [(&mut small, Verdict::Open), (&mut large, Verdict::Missed)] {
        let size = report.figures.iter().map(|figure| figure.at).max().unwrap();
        for (what, unit, value) in [
            (CLAIM_AFTER_KILL, Unit::Seconds, 1.0),
            (MEMORY_AFTER_KILL, Unit::Bytes, f64::from(1 << 30)),
        ] {
            let (scenario, role) = (Scenario::Scale, Role::Plain);
            report.add_figure(Quantity { scenario, what: what.into(), unit, role }, size, value);
        }
        assert_eq!(goal(report, "open after").verdict, verdict);
    }
}

#[test]
fn a_goal_about_the_thousandth_turn_is_not_reached_by_the_thirtieth() {
    let turn = "a turn, the n-th of its session";
    for (late, micros, verdict) in
        [(30, 12.0, Verdict::Open), (1_000, 12.0, Verdict::Reached), (1_000, 13.0, Verdict::Missed)]
    {
        let mut report = empty();
        let values = [(10, 10.0), (late, micros)];
        figure(&mut report, Scenario::Sessions, turn, Role::Cost, values);
        let memory = Role::Plain;
        figure(&mut report, Scenario::Sessions, "memory", memory, [(10, 1.0), (10_000, 9.0)]);
        assert_eq!(goal(&report, "the 1,000th turn").verdict, verdict, "{late} turns");
    }
}

#[test]
fn a_turn_without_messages_has_a_goal_of_its_own() {
    let mut report = empty();
    let turn = "a turn, the n-th of its session";
    figure(&mut report, Scenario::Sessions, turn, Role::Cost, [(10, 10.0), (1_000, 99.0)]);
    figure(&mut report, Scenario::Sessions, SILENT_TURN, Role::Cost, [(10, 10.0), (1_000, 11.0)]);
    let verdicts = ["the 1,000th turn of a session, time", "the 1,000th turn of a session without"]
        .map(|what| goal(&report, what).verdict);
    assert_eq!(verdicts, [Verdict::Missed, Verdict::Reached]);
}

#[test]
fn from_nothing_to_nothing_there_is_no_growth() {
    let mut report = empty();
    figure(&mut report, Scenario::FanOut, "lag", Role::Cost, [(10, 0.0), (1_000, 0.0)]);
    let page = show(&report, Style::Markdown);
    let row = page.lines().find(|line| line.contains("| lag")).unwrap();
    assert_eq!(row.split('|').nth_back(1).map(str::trim), Some("—"), "{row}");
}

#[test]
fn a_report_is_shown_the_same_after_it_was_stored() {
    let mut report = empty();
    let case = || case(Scenario::Operations, Durability::Durable, "claim", 16);
    report.add_speed(case(), Subject::RawSled, per_second(2_000));
    report.add_speed(case(), Subject::Runtime, per_second(1_000));
    figure(&mut report, Scenario::Stream, "publish", Role::Cost, [(1_000, 20.0), (100_000, 21.0)]);
    let stored: Report = serde_json::from_slice(&serde_json::to_vec(&report).unwrap()).unwrap();
    assert_eq!(stored, report);
    let page = show(&stored, Style::Markdown);
    assert_eq!(page, show(&report, Style::Markdown));
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let row = page.lines().map(cells).find(|cells| cells.get(1).is_some_and(|it| it == "claim"));
    let shown = ["", "claim", "16", "2,000", "1,000", "50 %", "5.0 µs", "5.0 µs", "2.0 µs", ""];
    assert_eq!(row.unwrap(), shown);
}
