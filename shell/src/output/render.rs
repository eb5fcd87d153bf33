//! Answers and failures as text.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, ContentArrangement, Table};
use serde_json::Value;

use super::{Block, Paint, Style};
use crate::failure::Failure;
use crate::names::Names;

const BOLD: (&str, &str) = ("\u{1b}[1m", "\u{1b}[0m");
const FAINT: (&str, &str) = ("\u{1b}[2m", "\u{1b}[0m");
const GREEN: (&str, &str) = ("\u{1b}[32m", "\u{1b}[0m");
const RED: (&str, &str) = ("\u{1b}[31m", "\u{1b}[0m");
const YELLOW: (&str, &str) = ("\u{1b}[33m", "\u{1b}[0m");

/// Returns the blocks as text; references are named before anything is laid out.
pub(super) fn blocks(blocks: &[Block], style: Style, names: &mut Names) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Line(line) => text.push_str(&format!("{}\n", names.text(line))),
            Block::Pieces(line) => {
                let named = line.iter().map(|(paint, text)| (*paint, names.text(text)));
                text.push_str(&pieces(&named.collect::<Vec<_>>(), style));
                text.push('\n');
            }
            Block::Heading(line) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&paint(&names.text(line), BOLD, style));
                text.push('\n');
            }
            Block::Fields(fields) => {
                let rows = fields.iter().map(|(field, value)| {
                    vec![format!("  {}", names.text(field)), names.text(value)]
                });
                text.push_str(&table(None, rows.collect(), style));
            }
            Block::Table(head, rows) => {
                let mut row = |row: &Vec<String>| row.iter().map(|it| names.text(it)).collect();
                let rows = rows.iter().map(&mut row).collect();
                text.push_str(&table(Some(head), rows, style));
            }
            Block::Value(value) => {
                text.push_str(&plain(&names.value(value)));
                text.push('\n');
            }
            Block::Within(inner) => {
                for line in self::blocks(inner, style, names).lines() {
                    let line = if line.is_empty() { String::new() } else { format!("    {line}") };
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// How long a line of JSON may be before it is broken.
const LINE: usize = 96;

/// A value for people: a string without quotes, what is short on one line, the rest indented.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            let line = one_line(value);
            if line.chars().count() <= LINE { line } else { format!("{value:#}") }
        }
    }
}

/// JSON on one line, with spaces where a person would set them.
fn one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(one_line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), one_line(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn table(head: Option<&[String]>, rows: Vec<Vec<String>>, style: Style) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if let Some(width) = style.width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    if let Some(head) = head {
        table.set_header(head.iter().map(|word| Cell::new(word.to_uppercase())));
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut text = String::new();
    for (at, line) in table.lines().enumerate() {
        let line = line.trim_end();
        let painted =
            if at == 0 && head.is_some() { paint(line, FAINT, style) } else { line.to_owned() };
        text.push_str(&painted);
        text.push('\n');
    }
    text
}

/// A line in pieces. Where there is a width, what does not fit is cut off.
fn pieces(line: &[(Paint, String)], style: Style) -> String {
    let mut left = style.width.map_or(usize::MAX, usize::from);
    let mut text = String::new();
    for (how, piece) in line {
        let length = piece.chars().count();
        let cut = length > left;
        let piece: String = if cut {
            piece.chars().take(left.saturating_sub(1)).chain(['…']).collect()
        } else {
            piece.clone()
        };
        text.push_str(&match how {
            Paint::Plain => piece,
            Paint::Strong => paint(&piece, BOLD, style),
            Paint::Faint => paint(&piece, FAINT, style),
            Paint::Good => paint(&piece, GREEN, style),
            Paint::Bad => paint(&piece, RED, style),
            Paint::Open => paint(&piece, YELLOW, style),
        });
        if cut {
            break;
        }
        left -= length;
    }
    text.trim_end().to_owned()
}

fn paint(text: &str, (begin, end): (&str, &str), style: Style) -> String {
    if style.colour { format!("{begin}{text}{end}") } else { text.to_owned() }
}

/// Returns a failure with the excerpt of the script that it is about.
pub(super) fn failure(failure: &Failure, style: Style) -> String {
    let title = Level::ERROR.primary_title(failure.message.as_str()).id(failure.exit.code());
    let mut group = match &failure.origin {
        None => Group::with_title(title),
        Some(origin) => {
            let end = origin.text.len();
            let span = origin.span.start.min(end)..origin.span.end.min(end);
            let mark = AnnotationKind::Primary.span(span);
            let mark = match &origin.label {
                Some(label) => mark.label(label.as_str()),
                None => mark,
            };
            title.element(
                Snippet::source(origin.text.as_str()).path(origin.name.as_str()).annotation(mark),
            )
        }
    };
    if let Some(help) = &failure.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&[group])
}
