//! What one run came to: rows of speeds, where several systems did the same work, and figures.
//!
//! All rounds are kept; whatever is shown is a median over them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::speed::{Speed, median};

/// What is measured together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// The ten most used operations, each alone.
    Operations,
    /// The life of a request, from its admission to its completion read from the stream.
    Life,
    /// Large values.
    Values,
    /// A store of few and of many requests.
    Scale,
    /// An operation among few and among many of what it touches.
    Crowd,
    /// A stream of few and of many events.
    Stream,
    /// Many who follow streams live.
    FanOut,
    /// An engine that drives sessions.
    Sessions,
}

impl Scenario {
    /// All of them, in the order in which they are run and shown.
    pub const ALL: [Self; 8] = [
        Self::Operations,
        Self::Life,
        Self::Values,
        Self::Crowd,
        Self::Stream,
        Self::FanOut,
        Self::Scale,
        Self::Sessions,
    ];

    /// Returns its name, by which it is chosen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Life => "life",
            Self::Values => "values",
            Self::Scale => "scale",
            Self::Crowd => "crowd",
            Self::Stream => "stream",
            Self::FanOut => "fan-out",
            Self::Sessions => "sessions",
        }
    }
}

/// Who did the work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A plain file that is appended to: what the disk allows.
    Floor,
    /// sled, doing what the runtime's store would be asked, and nothing else.
    RawSled,
    /// The runtime over its sled store.
    Runtime,
    /// SQLite, with tables and statements written by hand.
    Sqlite,
}

impl Subject {
    /// All of them, in the order in which they take their turns.
    pub const ALL: [Self; 4] = [Self::Floor, Self::RawSled, Self::Runtime, Self::Sqlite];
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Floor => "plain file",
            Self::RawSled => "raw sled",
            Self::Runtime => "runtime",
            Self::Sqlite => "SQLite",
        })
    }
}

/// What an answer promises.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// It is on the disk.
    Durable,
    /// It is done in memory.
    Buffered,
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Durable => "durable",
            Self::Buffered => "buffered",
        })
    }
}

/// One piece of work under one set of conditions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Where it belongs.
    pub scenario: Scenario,
    /// What an answer promises.
    pub durability: Durability,
    /// What is done.
    pub work: String,
    /// How many call at once, each waiting for its answer before it calls again.
    pub callers: usize,
}

impl Case {
    /// Says how many call.
    #[must_use]
    pub fn calling(&self) -> String {
        match self.callers {
            1 => "1 caller".to_owned(),
            many => format!("{many} callers"),
        }
    }
}

/// How fast each system was at one case: one speed a round.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// The rounds of each.
    pub rounds: BTreeMap<Subject, Vec<Speed>>,
}

/// What a figure counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Microseconds.
    Micros,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// How many a second.
    PerSecond,
}

/// What is to become of a figure as the size grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The cost of an operation: it is to stay as it is.
    Cost,
    /// A cost that is known to grow, shown because it does.
    Unfavourable,
    /// To be known.
    Plain,
}

/// Something that is measured at several sizes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Quantity {
    /// Where it belongs.
    pub scenario: Scenario,
    /// What it is.
    pub what: String,
    /// What it counts.
    pub unit: Unit,
    /// What is to become of it.
    pub role: Role,
}

/// How long a store takes that was killed, until it has opened and a request is claimed.
pub const CLAIM_AFTER_KILL: &str = "open after a kill, to the first claim";

/// The greatest memory that this takes.
pub const MEMORY_AFTER_KILL: &str = "memory for that";

/// What a turn is called that says nothing.
pub const SILENT_TURN: &str = "a turn without messages, the n-th of its session";

/// A number that belongs to one size of something, and is no comparison of systems.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// What it is of.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// The size: of requests in the store, of items in the request, of readers.
    pub at: u64,
    /// The value of each round.
    pub rounds: Vec<f64>,
}

impl Figure {
    /// Returns the median over the rounds.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        median(self.rounds.iter().copied())
    }
}

/// Under what conditions a run was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Head {
    /// When it began, RFC 3339.
    pub began: String,
    /// How much of what.
    pub options: String,
    /// On what.
    pub machine: Machine,
    /// Names and versions of what took part.
    pub versions: Vec<(String, String)>,
    /// What `durable` and `buffered` mean for each system.
    pub durability: Vec<String>,
}

/// What one run came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The conditions.
    pub head: Head,
    /// Where systems are compared, in the order of the cases' first rounds.
    pub rows: Vec<Row>,
    /// What is measured of the runtime alone.
    pub figures: Vec<Figure>,
}

impl Report {
    /// Begins a report.
    #[must_use]
    pub fn new(head: Head) -> Self {
        Self { head, rows: Vec::new(), figures: Vec::new() }
    }

    /// Adds a round of a system at a case.
    pub fn add_speed(&mut self, case: Case, subject: Subject, speed: Speed) {
        let found = self.rows.iter().position(|row| row.case == case);
        let at = found.unwrap_or_else(|| {
            self.rows.push(Row { case, rounds: BTreeMap::new() });
            self.rows.len() - 1
        });
        self.rows[at].rounds.entry(subject).or_default().push(speed);
    }

    /// Adds a round of a figure.
    pub fn add_figure(&mut self, quantity: Quantity, at: u64, value: f64) {
        let same = |figure: &&mut Figure| figure.quantity == quantity && figure.at == at;
        if let Some(figure) = self.figures.iter_mut().find(same) {
            figure.rounds.push(value);
        } else {
            self.figures.push(Figure { quantity, at, rounds: vec![value] });
        }
    }

    /// Returns the figures of a scenario, one list for each thing measured, in order of size.
    #[must_use]
    pub fn figures_of(&self, scenario: Scenario) -> Vec<Vec<&Figure>> {
        let mut lists: Vec<Vec<&Figure>> = Vec::new();
        for figure in self.figures.iter().filter(|figure| figure.quantity.scenario == scenario) {
            match lists.iter_mut().find(|list| list[0].quantity == figure.quantity) {
                Some(list) => list.push(figure),
                None => lists.push(vec![figure]),
            }
        }
        for list in &mut lists {
            list.sort_by_key(|figure| figure.at);
        }
        lists
    }
}

impl Row {
    /// Returns the median of how many a system did in a second.
    #[must_use]
    pub fn per_second(&self, subject: Subject) -> Option<f64> {
        self.median(subject, Speed::per_second)
    }

    /// Returns the median of something that the rounds of a system say.
    #[must_use]
    pub fn median(&self, subject: Subject, of: impl Fn(&Speed) -> f64) -> Option<f64> {
        median(self.rounds.get(&subject)?.iter().map(of))
    }

    /// Returns how many times as fast as another system the runtime was: the median of the rounds'
    /// own ratios, since what disturbs a round disturbs both.
    #[must_use]
    pub fn against(&self, other: Subject) -> Option<f64> {
        let runtime = self.rounds.get(&Subject::Runtime)?;
        let rounds = runtime.iter().zip(self.rounds.get(&other)?);
        median(rounds.map(|(runtime, other)| runtime.per_second() / other.per_second()))
    }

    /// Tells whether the work writes: only then is there something to append to a plain file.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.rounds.contains_key(&Subject::Floor)
    }
}
