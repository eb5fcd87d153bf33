//! Faults of a config: what is wrong, where, and what would be right.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::{Value, json};

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The text is not TOML.
    Syntax,
    /// A key that nobody knows.
    UnknownKey,
    /// A value that cannot be there.
    Value,
    /// A key that has to be there.
    Missing,
    /// A variable of the environment that is not set, or of no use.
    Variable,
    /// A name that is there already.
    Clash,
    /// A sub-agent that is no agent.
    NoAgent,
    /// A provider's wire format where no worker runs the model.
    Format,
    /// A file that cannot be read.
    File,
    /// A model that nobody runs.
    NoProvider,
    /// A tool that nobody runs.
    NoTool,
}

impl Code {
    /// All codes, in order.
    pub const ALL: [Self; 11] = [
        Self::Syntax,
        Self::UnknownKey,
        Self::Value,
        Self::Missing,
        Self::Variable,
        Self::Clash,
        Self::NoAgent,
        Self::Format,
        Self::File,
        Self::NoProvider,
        Self::NoTool,
    ];

    /// Returns the code as it is printed, which never changes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "C0101",
            Self::UnknownKey => "C0102",
            Self::Value => "C0103",
            Self::Missing => "C0104",
            Self::Variable => "C0105",
            Self::Clash => "C0106",
            Self::NoAgent => "C0107",
            Self::Format => "C0108",
            Self::File => "C0109",
            Self::NoProvider => "C0110",
            Self::NoTool => "C0111",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind it is.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The bytes that are to blame.
    pub span: Range<usize>,
    /// What would be right.
    pub help: Option<String>,
    /// Another place that has to do with it, and how.
    pub other: Option<(Range<usize>, String)>,
}

/// All that is wrong with a config, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn new(mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|fault| (fault.span.start, fault.code.as_str()));
        Self(faults)
    }

    /// Returns them.
    #[must_use]
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// Returns them as text, each with the lines that it is about. `name` is that of the file.
    #[must_use]
    pub fn render(&self, name: &str, text: &str, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let rendered: Vec<_> = self.0.iter().map(|it| it.render(name, text, &renderer)).collect();
        rendered.join("\n")
    }

    /// Returns them for programs. Lines and columns count from 1, columns in characters.
    #[must_use]
    pub fn to_json(&self, name: &str, text: &str) -> Value {
        self.0
            .iter()
            .map(|fault| {
                let (line, column) = fault.place(text);
                json!({
                    "file": name,
                    "line": line,
                    "column": column,
                    "code": fault.code.as_str(),
                    "message": fault.message,
                    "help": fault.help,
                })
            })
            .collect()
    }
}

impl Fault {
    /// Returns the line and the column, from 1.
    #[must_use]
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.span.start).unwrap_or(text);
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        (before.matches('\n').count() + 1, column)
    }

    fn render(&self, name: &str, text: &str, renderer: &Renderer) -> String {
        let mut snippet = Snippet::source(text)
            .path(name)
            .annotation(AnnotationKind::Primary.span(self.span.clone()));
        if let Some((span, label)) = &self.other {
            snippet = snippet.annotation(AnnotationKind::Context.span(span.clone()).label(label));
        }
        let title = Level::ERROR.primary_title(&self.message).id(self.code.as_str());
        let mut group = title.element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        format!("{}\n", renderer.render(&[group]))
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<_> =
            self.0.iter().map(|it| format!("{}: {}", it.code.as_str(), it.message)).collect();
        f.write_str(&faults.join("; "))
    }
}

impl std::error::Error for Faults {}
