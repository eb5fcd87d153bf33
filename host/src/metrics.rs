//! What a host counts, as Prometheus reads it (`docs/metrics.md`).
//!
//! Nothing is global: each host has a registry of its own. What happens is counted where it
//! happens (`calls.rs`, `errands.rs`, `traffic.rs`); what is the case is asked when somebody reads
//! (`figures.rs`).
//!
//! Invariant: labels have few values, which the config and the code know. No label is an id, a
//! path that was asked for, or a text of a client's; [`Words`] bounds what a package may say.

mod calls;
mod errands;
mod figures;
mod traffic;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use self::calls::Calls;
use self::errands::Errands;
pub(crate) use self::figures::Figures;
pub(crate) use self::traffic::{Open, Traffic, count};

/// What all names begin with.
const PREFIX: &str = "quixos";
/// The form in which metrics are told.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// How many words of a package are told apart; what comes later is `other`.
const WORDS: usize = 64;

/// What a host counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    /// What the runtime tells.
    pub(crate) calls: std::sync::Arc<Calls>,
    /// What the engine tells.
    pub(crate) errands: std::sync::Arc<Errands>,
    /// What goes over the wire.
    pub(crate) traffic: Traffic,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut names = Names::new(Registry::with_prefix(PREFIX));
        let calls = Calls::new(&mut names).into();
        let errands = Errands::new(&mut names).into();
        let traffic = Traffic::new(&mut names);
        Self { registry: names.registry, calls, errands, traffic }
    }

    /// Returns all that is counted, and how things are, in the text form of Prometheus.
    pub(crate) fn told(&self, figures: &Figures) -> Response {
        let mut text = String::new();
        let written = prometheus_text::encode(&mut text, &self.registry)
            .and_then(|()| prometheus_text::encode(&mut text, &figures.registry()));
        match written {
            Ok(()) => ([(CONTENT_TYPE, FORMAT)], text).into_response(),
            // A text takes all that is written to it.
            Err(fmt::Error) => axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// A registry, and the names of what is in it.
struct Names {
    registry: Registry,
    names: Vec<&'static str>,
}

impl Names {
    fn new(registry: Registry) -> Self {
        Self { registry, names: Vec::new() }
    }

    /// Registers a metric, and returns it.
    fn put<M: Metric + Clone>(&mut self, name: &'static str, help: &str, metric: M) -> M {
        self.registry.register(name, help, metric.clone());
        self.names.push(name);
        metric
    }
}

/// Words of a package, as many as are told apart.
#[derive(Debug, Default)]
struct Words(Mutex<Vec<String>>);

impl Words {
    /// Returns the word, or `other` if there are too many already. What follows a colon says
    /// which of many things it is about, and is left out.
    fn bounded(&self, word: &str) -> String {
        let word = word.split(':').next().unwrap_or_default();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().any(|it| it == word) {
            return word.to_owned();
        }
        if known.len() >= WORDS {
            return "other".to_owned();
        }
        known.push(word.to_owned());
        word.to_owned()
    }
}

/// Returns buckets of seconds: from a tenth of a millisecond to ten minutes.
fn seconds() -> Histogram {
    Histogram::new([
        0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
        10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
    ])
}

/// Returns buckets of amounts: powers of two up to 4096.
fn amounts() -> Histogram {
    Histogram::new((0..=12).map(|power| f64::from(1_u32 << power)))
}

/// Returns buckets of bytes: from 256 to 32 MiB.
fn bytes() -> Histogram {
    Histogram::new((0..=17).map(|power| f64::from(256_u32 << power)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use std::collections::BTreeSet;

    use super::*;

    const PAGE: &str = include_str!("../../docs/metrics.md");
    const DASHBOARD: &str = include_str!("../../examples/grafana/quixos.json");

    /// Returns the names that there are, as Prometheus stores them.
    fn names() -> BTreeSet<String> {
        let mut names = Names::new(Registry::with_prefix(PREFIX));
        Calls::new(&mut names);
        Errands::new(&mut names);
        Traffic::new(&mut names);
        let names = names.names.into_iter().chain(Figures::NAMES);
        names.map(|name| format!("{PREFIX}_{name}")).collect()
    }

    /// Returns the words of a text that are names of metrics.
    fn named(text: &str) -> BTreeSet<String> {
        let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let words = words.filter(|word| word.starts_with("quixos_"));
        words.map(|word| base(word).to_owned()).collect()
    }

    /// Returns a name without what its kind adds to it.
    fn base(name: &str) -> &str {
        let suffixes = ["_total", "_bucket", "_sum", "_count"];
        suffixes.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
    }

    #[test]
    fn the_page_names_all_metrics_and_no_others() {
        assert_eq!(named(PAGE), names());
    }

    #[test]
    fn the_dashboard_shows_what_there_is() {
        let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
        let shown = named(&dashboard.to_string());
        assert!(shown.len() > 15, "{shown:?}");
        let names = names();
        let unknown: Vec<_> = shown.difference(&names).collect();
        assert!(unknown.is_empty(), "the dashboard shows what is not counted: {unknown:?}");
    }

    #[test]
    fn what_a_package_says_is_bounded() {
        let words = Words::default();
        assert_eq!(words.bounded("turn-already-active:t1"), "turn-already-active");
        let told: BTreeSet<_> = (0..1000).map(|at| words.bounded(&format!("w{at}"))).collect();
        assert_eq!(told.len(), WORDS);
        assert!(told.contains("other"));
        assert_eq!(words.bounded("turn-already-active:t2"), "turn-already-active");
    }
}
