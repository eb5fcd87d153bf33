//! Diagnostics for people and for programs.
//!
//! [`render_text`] shows each fault with the lines it is about; [`render_json`] says the same in
//! fields. Both take places as they are: a place must be of the [`Sources`] given.

use std::collections::BTreeMap;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Severity};
use crate::position::Lines;
use crate::source::{Place, SourceId, Sources};

/// Returns the diagnostics as text: each with its code, the lines that it is about, marks and
/// labels on them, and help. Empty if there are none.
#[must_use]
pub fn render_text(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut lines = LineIndex::new(sources);
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&renderer.render(&[group(diagnostic, sources, &mut lines)]));
        text.push('\n');
    }
    text
}

/// Returns the diagnostics as an array of objects. Lines and columns count from 1, columns in
/// characters; `start` and `end` are bytes from 0.
#[must_use]
pub fn render_json(diagnostics: &[Diagnostic], sources: &Sources) -> Value {
    let mut lines = LineIndex::new(sources);
    diagnostics.iter().map(|it| object(it, sources, &mut lines)).collect()
}

/// The lines of each source, found when they are first asked for.
pub(crate) struct LineIndex<'a> {
    sources: &'a Sources,
    lines: BTreeMap<SourceId, Lines<'a>>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        Self { sources, lines: BTreeMap::new() }
    }

    pub(crate) fn of(&mut self, source: SourceId) -> &Lines<'a> {
        self.lines.entry(source).or_insert_with(|| Lines::new(&self.sources.get(source).text))
    }
}

fn severity(of: Severity) -> (&'static str, Level<'static>) {
    match of {
        Severity::Error => ("error", Level::ERROR),
        Severity::Warning => ("warning", Level::WARNING),
    }
}

fn group<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a Sources,
    lines: &mut LineIndex<'a>,
) -> Group<'a> {
    let (_, level) = severity(diagnostic.code.severity());
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for source in files(diagnostic) {
        group = group.element(snippet(diagnostic, source, sources, lines));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    group
}

/// Every file that a diagnostic is about, that of the primary place first.
fn files(diagnostic: &Diagnostic) -> Vec<SourceId> {
    let mut files = vec![diagnostic.place.source];
    for (place, _) in &diagnostic.labels {
        if !files.contains(&place.source) {
            files.push(place.source);
        }
    }
    files
}

/// The lines of one file that a diagnostic is about. Only they are given away, so that a
/// thousand faults in a large file cost a thousand excerpts and not a thousand files.
fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    source: SourceId,
    sources: &'a Sources,
    lines: &mut LineIndex<'a>,
) -> Element<'a> {
    let primary = (diagnostic.place, diagnostic.label.as_deref(), AnnotationKind::Primary);
    let marks: Vec<_> = std::iter::once(primary)
        .chain(
            diagnostic
                .labels
                .iter()
                .map(|(place, label)| (*place, Some(label.as_str()), AnnotationKind::Context)),
        )
        .filter(|(place, _, _)| place.source == source)
        .collect();
    let lines = lines.of(source);
    let first = marks.iter().map(|(place, _, _)| place.range().start).min().unwrap_or(0);
    let last = marks.iter().map(|(place, _, _)| place.range().end).max().unwrap_or(0);
    let first_line = lines.line(first);
    let excerpt = lines.bytes(first_line, lines.line(last));
    let file = sources.get(source);
    Snippet::source(&file.text[excerpt.clone()])
        .path(&file.name)
        .line_start(first_line)
        .annotations(marks.into_iter().map(|(place, label, kind)| {
            let range = place.range().start - excerpt.start..place.range().end - excerpt.start;
            kind.span(range).label(label)
        }))
        .into()
}

fn object<'a>(diagnostic: &Diagnostic, sources: &'a Sources, lines: &mut LineIndex<'a>) -> Value {
    let (severity, _) = severity(diagnostic.code.severity());
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|(place, message)| {
            let mut label = located(*place, sources, lines);
            label["message"] = json!(message);
            label
        })
        .collect();
    let mut object = located(diagnostic.place, sources, lines);
    object["code"] = json!(diagnostic.code.as_str());
    object["severity"] = json!(severity);
    object["title"] = json!(diagnostic.code.title());
    object["message"] = json!(diagnostic.message);
    object["label"] = json!(diagnostic.label);
    object["labels"] = json!(labels);
    object["help"] = json!(diagnostic.help);
    object
}

/// Returns a place in fields.
pub(crate) fn located<'a>(place: Place, sources: &'a Sources, lines: &mut LineIndex<'a>) -> Value {
    let lines = lines.of(place.source);
    let (start, end) = (lines.position(place.range().start), lines.position(place.range().end));
    json!({
        "file": sources.get(place.source).name,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "start": place.start,
        "end": place.end,
    })
}
