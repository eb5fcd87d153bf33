//! Where answers go: tables for people, JSON for programs; data to one side, remarks to the other.
//!
//! A command says what it has to say once, as an [`Answer`]; only here is it known who reads it.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::names::Names;

mod render;

/// Who reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// People.
    #[default]
    Text,
    /// Programs: one JSON value a line.
    Json,
}

/// How text is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether colours may be used.
    pub colour: bool,
    /// The width of the terminal; without one, lines are as long as they are.
    pub width: Option<u16>,
}

/// What a command answers, for both readers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// For programs.
    pub json: Value,
    /// For people.
    pub blocks: Vec<Block>,
}

/// A part of an answer for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A line.
    Line(String),
    /// A line in pieces; on a terminal it is cut where that ends.
    Pieces(Vec<(Paint, String)>),
    /// A line that stands above others.
    Heading(String),
    /// Names and what they are.
    Fields(Vec<(String, String)>),
    /// Rows under a head.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A JSON value, a string without its quotes.
    Value(Value),
    /// Blocks that belong to the line above.
    Within(Vec<Block>),
}

/// How a piece of a line is painted, where colours are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Paint {
    /// As it is.
    Plain,
    /// What counts.
    Strong,
    /// What is there for the sake of completeness.
    Faint,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// Somebody has to do something.
    Open,
}

impl Answer {
    /// Begins an answer.
    #[must_use]
    pub fn new(json: Value) -> Self {
        Self { json, blocks: Vec::new() }
    }

    /// A value that is shown as it is.
    #[must_use]
    pub fn value(json: Value) -> Self {
        let blocks = vec![Block::Value(json.clone())];
        Self { json, blocks }
    }

    /// Adds a line.
    #[must_use]
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.blocks.push(Block::Line(line.into()));
        self
    }

    /// Adds a heading.
    #[must_use]
    pub fn heading(mut self, line: impl Into<String>) -> Self {
        self.blocks.push(Block::Heading(line.into()));
        self
    }

    /// Adds a line in pieces.
    #[must_use]
    pub fn pieces(mut self, pieces: Vec<(Paint, String)>) -> Self {
        self.blocks.push(Block::Pieces(pieces));
        self
    }

    /// Adds names and values, if there are any.
    #[must_use]
    pub fn fields(mut self, fields: Vec<(String, String)>) -> Self {
        if !fields.is_empty() {
            self.blocks.push(Block::Fields(fields));
        }
        self
    }

    /// Adds a table, if it has rows.
    #[must_use]
    pub fn table(mut self, head: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        if !rows.is_empty() {
            let head = head.iter().map(|word| (*word).to_owned()).collect();
            self.blocks.push(Block::Table(head, rows));
        }
        self
    }
}

impl Answer {
    /// Returns what a person is shown where nothing is known of the terminal.
    pub(crate) fn text(&self, names: &mut Names) -> String {
        render::blocks(&self.blocks, Style::default(), names)
    }
}

/// Somebody who prints elsewhere, and is told what there is to print.
pub(crate) trait Reader: Send {
    /// Hears an answer.
    fn answer(&mut self, answer: &Answer) -> io::Result<()>;
    /// Hears that a variable was set.
    fn variable(&mut self, name: &str, value: &Value) -> io::Result<()>;
}

/// Where answers and remarks are written.
pub struct Output {
    format: Format,
    style: Style,
    names: Names,
    data: Box<dyn Write + Send>,
    remarks: Box<dyn Write + Send>,
    reader: Option<Box<dyn Reader>>,
}

impl Output {
    /// An output to two writers.
    #[must_use]
    pub fn new(
        format: Format,
        style: Style,
        data: Box<dyn Write + Send>,
        remarks: Box<dyn Write + Send>,
    ) -> Self {
        Self { format, style, names: Names::default(), data, remarks, reader: None }
    }

    /// An output to somebody who prints elsewhere.
    pub(crate) fn to_reader(reader: Box<dyn Reader>) -> Self {
        let nowhere = || Box::new(io::sink());
        let here = Self::new(Format::Json, Style::default(), nowhere(), nowhere());
        Self { reader: Some(reader), ..here }
    }

    /// The same, with other names for references than their own.
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Prints references by other names than their own from here on.
    pub(crate) fn use_names(&mut self, names: Names) {
        self.names = names;
    }

    /// Returns who reads.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns how text is laid out.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// Lets the name of a variable stand for a reference, where names are asked for.
    ///
    /// # Errors
    /// When the reader is gone.
    pub(crate) fn name(&mut self, variable: &str, value: &Value) -> Result<(), Failure> {
        if let Some(reader) = &mut self.reader {
            return Ok(reader.variable(variable, value)?);
        }
        self.names.assign(variable, value);
        Ok(())
    }

    /// Writes an answer.
    ///
    /// # Errors
    /// When the reader is gone, or the disk is full.
    pub fn print(&mut self, answer: &Answer) -> Result<(), Failure> {
        if let Some(reader) = &mut self.reader {
            return Ok(reader.answer(answer)?);
        }
        let text = match self.format {
            Format::Json => format!("{}\n", self.names.value(&answer.json)),
            Format::Text => render::blocks(&answer.blocks, self.style, &mut self.names),
        };
        self.data.write_all(text.as_bytes())?;
        self.data.flush()?;
        Ok(())
    }

    /// Returns a text with its references as they would print.
    pub(crate) fn named(&mut self, text: &str) -> String {
        self.names.text(text)
    }

    /// Writes text as it is, where data goes.
    ///
    /// # Errors
    /// When the reader is gone, or the disk is full.
    pub fn raw(&mut self, text: &str) -> Result<(), Failure> {
        self.data.write_all(text.as_bytes())?;
        self.data.flush()?;
        Ok(())
    }

    /// Writes a remark. That nobody reads remarks stops nothing.
    pub fn remark(&mut self, text: &str) {
        let text = self.names.text(text);
        let written = writeln!(self.remarks, "{}", text.trim_end());
        ignore(written.and_then(|()| self.remarks.flush()));
    }

    /// Writes why a command failed.
    pub fn fail(&mut self, failure: &Failure) {
        if failure.quiet {
            return;
        }
        let text = match self.format {
            Format::Json => self.names.value(&failure.to_json()).to_string(),
            Format::Text => render::failure(failure, self.style),
        };
        self.remark(&text);
    }
}

/// A number of things, in words: `1 event`, `2 events`.
pub(crate) fn counted(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// The reader of the remarks is gone, and there is nobody to tell.
fn ignore(written: io::Result<()>) {
    drop(written);
}
