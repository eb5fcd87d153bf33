//! `quixos fmt`: definitions in their canonical layout, comments kept.

use std::path::PathBuf;

use quixos_schema::Sources;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Format, Output};
use crate::sources::{self, Unread};
use crate::whole_file::rewrite;

const EXAMPLES: &str = "\
Examples:
  quixos fmt package/                  write every file in the folder anew
  quixos fmt --check package/          say which files are laid out otherwise, write nothing

A file that cannot be read as definitions is left as it is.";

/// The arguments of `fmt`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, and folders with `.quixos` files in them.
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write nothing; end with 1 if a file is laid out otherwise.
    #[arg(long)]
    check: bool,
}

/// Formats.
///
/// # Errors
/// When a file cannot be written. One that cannot be read is a finding.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut changed = Vec::new();
    let mut faulty = Vec::new();
    let paths = sources::find(&args.paths)?;
    for path in &paths {
        let text = match sources::read(path) {
            Ok(text) => text,
            Err(failure) => {
                if output.format() == Format::Text {
                    output.fail(&failure);
                }
                faulty.push(Unread::new(path.clone(), failure).to_json());
                continue;
            }
        };
        let mut sources = Sources::new();
        let id = sources.add(path.display().to_string(), text.as_str());
        match quixos_schema::format(id, &text) {
            Ok(formatted) if formatted == text => {}
            Ok(formatted) => {
                if !args.check {
                    rewrite(path, &formatted)?;
                }
                changed.push(path.display().to_string());
            }
            Err(diagnostics) => {
                if output.format() == Format::Text {
                    let colour = output.style().colour;
                    output.remark(&quixos_schema::render_text(&diagnostics, &sources, colour));
                }
                faulty.push(json!({
                    "file": path.display().to_string(),
                    "diagnostics": quixos_schema::render_json(&diagnostics, &sources),
                }));
            }
        }
    }
    let good = faulty.is_empty() && (changed.is_empty() || !args.check);
    let verb = if args.check { "not formatted" } else { "formatted" };
    let lines = changed.iter().map(|path| format!("{verb}: {path}"));
    let mut answer = Answer::new(json!({
        "ok": good, "files": paths.len(), "changed": changed, "faulty": Value::Array(faulty),
    }));
    for line in lines {
        answer = answer.line(line);
    }
    output.print(&answer)?;
    Ok(if good { Exit::Good } else { Exit::Findings })
}
