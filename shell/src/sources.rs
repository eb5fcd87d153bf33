//! Definition files: found in folders, read, checked.

use std::fs;
use std::path::{Path, PathBuf};

use quixos_schema::{Checked, Definitions, Severity, Sources};
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, Output, counted};

/// What a definition file's name ends with.
const EXTENSION: &str = "quixos";

/// Finds the definition files that paths name, those of a folder in the order of their names.
///
/// # Errors
/// A path that cannot be read, or under which there is no definition.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let before = found.len();
        let kind = fs::metadata(path).map_err(|error| Failure::io("read", path, &error))?;
        if kind.is_dir() {
            collect(path, &mut found)?;
        } else {
            found.push(path.clone());
        }
        if found.len() == before {
            let message = format!("no `.{EXTENSION}` file in `{}`", path.display());
            return Err(Failure::usage(message));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// The definition files of a folder, not those of the folders in it: a package's files stand
/// together.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error| Failure::io("read", folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|it| it == EXTENSION) && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    found.append(&mut paths);
    Ok(())
}

/// Reads a definition file.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))
}

/// A definition file that could not be read, as one that is not UTF-8.
pub(crate) struct Unread {
    path: PathBuf,
    /// Why.
    pub(crate) failure: Failure,
}

impl Unread {
    /// A file, and why it could not be read.
    pub(crate) fn new(path: PathBuf, failure: Failure) -> Self {
        Self { path, failure }
    }

    /// Returns the form for programs.
    pub(crate) fn to_json(&self) -> Value {
        let mut json = self.failure.to_json();
        json["file"] = self.path.display().to_string().into();
        json
    }
}

/// Reads the definitions that paths name, whatever file of them cannot be read.
///
/// # Errors
/// As [`find`].
pub(crate) fn load(paths: &[PathBuf]) -> Result<(Sources, Vec<Unread>), Failure> {
    let mut sources = Sources::new();
    let mut unread = Vec::new();
    for path in find(paths)? {
        match read(&path) {
            Ok(text) => {
                sources.add(path.display().to_string(), text);
            }
            Err(failure) => unread.push(Unread::new(path, failure)),
        }
    }
    Ok((sources, unread))
}

/// Checks the definitions that paths name, and shows what is wrong with them.
///
/// # Errors
/// As [`load`] and [`read`]; [`Exit::Findings`], with all said, if there is an error among the diagnostics.
pub(crate) fn checked(paths: &[PathBuf], output: &mut Output) -> Result<Definitions, Failure> {
    let (sources, unread) = load(paths)?;
    if let Some(unread) = unread.into_iter().next() {
        return Err(unread.failure);
    }
    let checked = quixos_schema::check(sources);
    show(&checked, output)?;
    checked.definitions.ok_or_else(|| Failure::said(Exit::Findings))
}

/// Shows diagnostics: to people as remarks, to programs as the failed command's answer.
fn show(checked: &Checked, output: &mut Output) -> Result<(), Failure> {
    if checked.diagnostics.is_empty() {
        return Ok(());
    }
    match output.format() {
        Format::Json => {
            if checked.definitions.is_none() {
                let diagnostics = diagnostics_json(checked);
                output.raw(&format!("{}\n", serde_json::json!({ "diagnostics": diagnostics })))?;
            }
        }
        Format::Text => {
            output.remark(&diagnostics_text(checked, output.style().colour));
        }
    }
    Ok(())
}

/// Returns every diagnostic for programs.
pub(crate) fn diagnostics_json(checked: &Checked) -> Value {
    quixos_schema::render_json(&checked.diagnostics, &checked.sources)
}

/// Returns every diagnostic for people, and how many there are.
pub(crate) fn diagnostics_text(checked: &Checked, colour: bool) -> String {
    let text = quixos_schema::render_text(&checked.diagnostics, &checked.sources, colour);
    let errors = checked.diagnostics.iter().filter(|it| it.code.severity() == Severity::Error);
    let errors = errors.count();
    let warnings = checked.diagnostics.len() - errors;
    let counts = [(errors, "error"), (warnings, "warning")];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| counted(count as u64, word))
        .collect();
    format!("{text}\n{}", counts.join(", "))
}
