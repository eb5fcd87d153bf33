//! The tables: for a terminal, and for a page in Markdown.
//!
//! Speeds stand with their ratios, figures with their growth, goals with their verdicts. An em dash
//! is a thing that was not measured, or not possible.

use std::fmt::Write;

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, Table};

use crate::goal::{Verdict, goals};
use crate::report::{Durability, Figure, Report, Role, Row, Scenario, Subject, Unit};

/// What a report is shown on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// A terminal.
    Terminal,
    /// A page.
    Markdown,
}

/// Shows a report: its head, its goals, then the scenarios in order.
#[must_use]
pub fn show(report: &Report, style: Style) -> String {
    let mut page = Page { style, text: String::new() };
    page.head(report);
    page.goals(report);
    for scenario in Scenario::ALL {
        page.speeds(report, scenario);
        page.figures(report, scenario);
    }
    page.text
}

impl Scenario {
    /// Returns what stands over its tables.
    fn title(self) -> &'static str {
        match self {
            Self::Operations => "Single operations",
            Self::Life => "The life of a request",
            Self::Values => "Values of 1 MiB",
            Self::Scale => "From few requests in the store to many",
            Self::Crowd => "Among few and among many",
            Self::Stream => "A stream of few events and of many",
            Self::FanOut => "Live readers",
            Self::Sessions => "Sessions",
        }
    }

    /// Returns what the sizes of its figures count.
    fn sizes(self) -> &'static str {
        match self {
            Self::Operations | Self::Life | Self::Values => "",
            Self::Scale => "requests in the store",
            Self::Crowd => "of what it is among",
            Self::Stream => "events",
            Self::FanOut => "readers",
            Self::Sessions => "n: callers, turns, messages, sessions, streams",
        }
    }
}

/// What is being written.
struct Page {
    style: Style,
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        match self.style {
            Style::Terminal => self.line(&format!("\n== {title}\n")),
            Style::Markdown => self.line(&format!("\n### {title}\n")),
        }
    }

    /// Adds a table whose first columns are words, and the others numbers.
    fn table(&mut self, words: usize, header: Vec<String>, rows: Vec<Vec<String>>) {
        let mut table = Table::new();
        table.load_style(match self.style {
            Style::Terminal => NOTHING,
            Style::Markdown => ASCII_MARKDOWN,
        });
        table.set_header(header).add_rows(rows);
        for column in table.column_iter_mut().skip(words) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let text = table.trim_fmt();
        self.line(&text);
    }

    fn head(&mut self, report: &Report) {
        let head = &report.head;
        let versions = head.versions.iter().map(|(name, version)| format!("{name} {version}"));
        let versions = versions.collect::<Vec<_>>().join(", ");
        let mark = if self.style == Style::Markdown { "- " } else { "" };
        self.line(&format!("{mark}{}; {}", head.began, head.options));
        self.line(&format!("{mark}{}", head.machine));
        self.line(&format!("{mark}{versions}"));
        for line in &head.durability {
            self.line(&format!("{mark}{line}"));
        }
    }

    fn goals(&mut self, report: &Report) {
        self.title("Goals");
        let rows = goals(report).into_iter().map(|goal| {
            let verdict = match goal.verdict {
                Verdict::Reached => "reached",
                Verdict::Missed => "missed",
                Verdict::Open => "open",
            };
            vec![goal.what.into(), goal.goal.into(), goal.measured, verdict.into()]
        });
        let header = ["what", "goal", "measured, where it is worst", "verdict"];
        self.table(4, header.map(str::to_owned).into(), rows.collect());
    }

    /// Adds the comparisons of a scenario, durable and buffered apart.
    fn speeds(&mut self, report: &Report, scenario: Scenario) {
        for durability in [Durability::Durable, Durability::Buffered] {
            let is_here =
                |row: &&Row| row.case.scenario == scenario && row.case.durability == durability;
            let rows: Vec<&Row> = report.rows.iter().filter(is_here).collect();
            if rows.is_empty() {
                continue;
            }
            self.title(&format!("{}, {durability}", scenario.title()));
            let subjects: Vec<Subject> = Subject::ALL
                .into_iter()
                .filter(|subject| rows.iter().any(|row| row.rounds.contains_key(subject)))
                .collect();
            let mut header = vec!["work".to_owned(), "callers".to_owned()];
            header.extend(subjects.iter().map(|subject| format!("{subject} /s")));
            header.extend(others(&subjects).map(|other| format!("÷ {other}")));
            header.extend(["p50", "p99", "CPU"].map(str::to_owned));
            self.table(1, header, rows.iter().map(|row| speed_cells(row, &subjects)).collect());
        }
    }

    /// Adds the figures of a scenario, a column for each size.
    fn figures(&mut self, report: &Report, scenario: Scenario) {
        let lists = report.figures_of(scenario);
        let mut sizes: Vec<u64> = lists.iter().flatten().map(|figure| figure.at).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            return;
        }
        self.title(scenario.title());
        let mut header = vec![scenario.sizes().to_owned()];
        header.extend(sizes.iter().map(|size| grouped(*size)));
        header.push("growth".to_owned());
        let rows = lists.iter().map(|list| figure_cells(list, &sizes)).collect();
        self.table(1, header, rows);
    }
}

fn others(subjects: &[Subject]) -> impl Iterator<Item = Subject> + '_ {
    subjects.iter().copied().filter(|subject| *subject != Subject::Runtime)
}

fn speed_cells(row: &Row, subjects: &[Subject]) -> Vec<String> {
    let mut cells = vec![row.case.work.clone(), row.case.callers.to_string()];
    cells.extend(subjects.iter().map(|subject| cell(row.per_second(*subject), count)));
    cells.extend(others(subjects).map(|other| cell(row.against(other), percent)));
    let runtime = |of: fn(&crate::speed::Speed) -> f64| row.median(Subject::Runtime, of);
    cells.push(cell(runtime(|speed| speed.p50_micros), micros));
    cells.push(cell(runtime(|speed| speed.p99_micros), micros));
    cells.push(cell(runtime(|speed| speed.cpu_micros), micros));
    cells
}

fn figure_cells(list: &[&Figure], sizes: &[u64]) -> Vec<String> {
    let quantity = &list[0].quantity;
    let mark = if quantity.role == Role::Unfavourable { " (unfavourable)" } else { "" };
    let mut cells = vec![format!("{}{mark}", quantity.what)];
    let at = |size: u64| list.iter().find(|figure| figure.at == size)?.value();
    let shown = |value: f64| match quantity.unit {
        Unit::Micros => micros(value),
        Unit::Seconds => format!("{value:.2} s"),
        Unit::Bytes => bytes(value),
        Unit::PerSecond => format!("{} /s", count(value)),
    };
    cells.extend(sizes.iter().map(|size| cell(at(*size), shown)));
    let growth = match list {
        [first, .., last] => last.value().zip(first.value()).map(|(last, first)| last / first),
        _ => None,
    };
    // Of nothing to nothing there is no growth to tell.
    let growth = growth.filter(|growth| !growth.is_nan());
    cells.push(cell(growth, |growth| format!("{growth:.2} ×")));
    cells
}

fn cell(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "—".to_owned(), show)
}

fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

/// Shows a count with as many digits as mean something.
fn count(value: f64) -> String {
    if value < 100.0 {
        return format!("{value:.1}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count ≥ 100")]
    let whole = value.round() as u64;
    grouped(whole)
}

/// Shows a number with its thousands apart.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn micros(value: f64) -> String {
    match value {
        value if value < 100.0 => format!("{value:.1} µs"),
        value if value < 1e4 => format!("{value:.0} µs"),
        value if value < 1e6 => format!("{:.1} ms", value / 1e3),
        value => format!("{:.2} s", value / 1e6),
    }
}

fn bytes(value: f64) -> String {
    let mut text = String::new();
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    #[expect(clippy::cast_precision_loss, reason = "powers of two are exact")]
    let unit =
        units.iter().map(|(size, name)| (*size as f64, name)).find(|(size, _)| value >= *size);
    // Writing to a string does not fail.
    let _ = match unit {
        Some((size, name)) => write!(text, "{:.1} {name}", value / size),
        None => write!(text, "{value:.0} B"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_say_what_they_count() {
        assert_eq!([grouped(7), grouped(1234), grouped(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([count(12.34), count(123.4), count(1e6)], ["12.3", "123", "1,000,000"]);
        assert_eq!(
            [micros(12.34), micros(2e3), micros(4.5e4), micros(2e6)],
            ["12.3 µs", "2000 µs", "45.0 ms", "2.00 s"]
        );
        assert_eq!([bytes(512.0), bytes(2048.0), bytes(3.5e9)], ["512 B", "2.0 KiB", "3.3 GiB"]);
    }
}
