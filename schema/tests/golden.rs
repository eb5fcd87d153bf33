//! One file a case: `cases/STAGE/ok|err/NAME.quixos`, and beside it `NAME.txt`, all that the
//! stage printed. `UPDATE_EXPECT=1` rewrites the `.txt` files; the diff is the review.
//!
//! A case of several files has a line `// file NAME.quixos` above each; with ` of N bytes` behind
//! the name, the file is filled up with spaces.
//!
//! `cases/broken/NAME.edit` is the given package, broken in one place: lines with `-` are what
//! stands in the file now, once, and lines with `+` are what is to stand there. A line
//! `@ objects.quixos` names another file of the package than `agent-runtime.quixos`.

mod meaning;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use expect_test::expect_file;
use libtest_mimic::{Arguments, Failed, Trial};
use quixos_schema::{
    Definitions, Diagnostic, SourceId, Sources, canonical, check, diff, format, lex, parse,
    render_changes_text, render_text,
};

use crate::meaning::meaning;
use crate::tree::{comments, without_places};

/// Prints everything a stage made of the texts, and what it found wrong.
type Stage = fn(&Sources) -> (String, Vec<Diagnostic>);

const STAGES: &[(&str, Stage)] =
    &[("lex", lex_stage), ("parse", parse_stage), ("format", format_stage), ("check", check_stage)];

fn lex_stage(sources: &Sources) -> (String, Vec<Diagnostic>) {
    let mut printed = String::new();
    let mut diagnostics = Vec::new();
    for (id, source) in sources.iter() {
        let lexed = lex(id, &source.text);
        for token in lexed.tokens {
            let line = if token.first_on_line { "\n" } else { " " };
            let text = sources.text_at(token.place);
            printed.push_str(&format!("{line}{:?} {text}", token.kind));
        }
        for comment in lexed.comments {
            printed.push_str(&format!("\nComment {:?}", comment.text));
        }
        diagnostics.extend(lexed.diagnostics);
    }
    (format!("{}\n", printed.trim()), diagnostics)
}

/// What was read, in canonical form: without faults nothing is missing, with faults it is what
/// later stages see.
fn parse_stage(sources: &Sources) -> (String, Vec<Diagnostic>) {
    let mut printed = String::new();
    let mut diagnostics = Vec::new();
    for (id, source) in sources.iter() {
        let parsed = parse(id, &source.text);
        printed.push_str(&canonical(&parsed.file));
        diagnostics.extend(parsed.diagnostics);
    }
    (printed, diagnostics)
}

fn format_stage(sources: &Sources) -> (String, Vec<Diagnostic>) {
    let mut printed = String::new();
    let mut diagnostics = Vec::new();
    for (id, source) in sources.iter() {
        match format(id, &source.text) {
            Ok(text) => printed.push_str(&text),
            Err(faults) => diagnostics.extend(faults),
        }
    }
    (printed, diagnostics)
}

/// What a set without errors means.
fn check_stage(sources: &Sources) -> (String, Vec<Diagnostic>) {
    let checked = check(sources.clone());
    (checked.definitions.as_ref().map(meaning).unwrap_or_default(), checked.diagnostics)
}

fn run_case(run: Stage, accept: bool, path: &Path) -> Result<(), Failed> {
    let sources = read_case(path)?;
    let (mut printed, diagnostics) = run(&sources);
    if !diagnostics.is_empty() {
        printed.push_str("\n---\n");
        printed.push_str(&render_text(&diagnostics, &sources, false));
    }
    let faulty = diagnostics.iter().any(|it| it.code.severity() == quixos_schema::Severity::Error);
    if accept == faulty {
        return Err(format!("this case belongs in the other folder:\n{printed}").into());
    }
    if accept {
        for (_, source) in sources.iter() {
            formatting_loses_nothing(&source.text)?;
        }
    }
    expect_file![path.with_extension("txt")].assert_eq(&printed);
    Ok(())
}

/// Formatted text says the same, has the same comments, and is its own formatted text. So is
/// canonical text.
fn formatting_loses_nothing(text: &str) -> Result<(), Failed> {
    let Ok(once) = format(SourceId(0), text) else { return Ok(()) };
    let twice = format(SourceId(0), &once).map_err(|_| "formatted text does not parse")?;
    if once != twice {
        return Err(format!("formatted again:\n{twice}\ninstead of:\n{once}").into());
    }
    let [before, after] = [text, &once].map(|text| parse(SourceId(0), text).file);
    let plain = canonical(&before);
    let read_back = parse(SourceId(0), &plain).file;
    if plain != canonical(&read_back) {
        return Err(format!("canonical text is not its own:\n{plain}").into());
    }
    let tree = without_places(&before.items);
    if tree != without_places(&after.items) || tree != without_places(&read_back.items) {
        return Err(format!("printing changed the tree:\n{once}\n{plain}").into());
    }
    if comments(&before) != comments(&after) {
        return Err(format!("formatting changed the comments:\n{once}").into());
    }
    Ok(())
}

/// A case, split at its `// file NAME.quixos` lines if it has any.
fn read_case(path: &Path) -> Result<Sources, Failed> {
    let text = fs::read_to_string(path)?;
    let mut sources = Sources::new();
    if !text.starts_with("// file ") {
        sources.add(file_name(path), text);
        return Ok(sources);
    }
    for part in text.split("// file ").skip(1) {
        let (name, text) = part.split_once('\n').ok_or("a file of the case has no text")?;
        match name.strip_suffix(" bytes").and_then(|name| name.split_once(" of ")) {
            Some((name, size)) => {
                let missing = size.parse::<usize>()?.saturating_sub(text.len());
                sources.add(name, text.to_owned() + &" ".repeat(missing))
            }
            None => sources.add(name, text),
        };
    }
    Ok(sources)
}

fn run_edit(path: &Path) -> Result<(), Failed> {
    let edit = fs::read_to_string(path)?;
    let lines = |mark: &str| -> String {
        let lines: Vec<_> = edit.lines().filter_map(|line| line.strip_prefix(mark)).collect();
        lines.join("\n")
    };
    let (find, replacement, other) = (lines("-"), lines("+"), lines("@ "));
    let edited = if other.is_empty() { "agent-runtime.quixos" } else { other.as_str() };
    let mut sources = Sources::new();
    for name in ["agent-runtime.quixos", "objects.quixos", "workspace.quixos"] {
        let mut text = fs::read_to_string(manifest().join("../package").join(name))?;
        if name == edited {
            match text.matches(&find).count() {
                1 => text = text.replacen(&find, &replacement, 1),
                count => return Err(format!("found {count} times in {name}: {find}").into()),
            }
        }
        sources.add(name, text);
    }
    let diagnostics = check(sources.clone()).diagnostics;
    if diagnostics.is_empty() {
        return Err("this edit breaks nothing".into());
    }
    let printed = render_text(&diagnostics, &sources, false);
    expect_file![path.with_extension("txt")].assert_eq(&printed);
    Ok(())
}

/// `cases/diff/NAME/`: what changed from `old.quixos` to `new.quixos`.
fn run_diff(folder: &Path) -> Result<(), Failed> {
    let revision = |name: &str| -> Result<Definitions, Failed> {
        let checked = check(read_case(&folder.join(name))?);
        let told = render_text(&checked.diagnostics, &checked.sources, false);
        checked.definitions.ok_or_else(|| format!("a revision has errors:\n{told}").into())
    };
    let (old, new) = (revision("old.quixos")?, revision("new.quixos")?);
    let printed = render_changes_text(&diff(&old, &new), &old.sources, &new.sources);
    expect_file![folder.join("changes.txt")].assert_eq(&printed);
    Ok(())
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file_name(path: &Path) -> String {
    path.file_name().expect("a case is a file").to_string_lossy().into_owned()
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The cases of a folder, in order. A `.txt` whose case is gone stops the run.
fn cases(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.retain(|path| {
        let case = path.with_extension(extension);
        assert!(case.exists(), "{} has no case any more: delete it", path.display());
        case == *path
    });
    paths
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = manifest().join("tests/cases");
    let mut trials = Vec::new();
    for (stage, run) in STAGES.iter().copied() {
        for (verdict, accept) in [("ok", true), ("err", false)] {
            for path in cases(&root.join(stage).join(verdict), "quixos") {
                let name = format!("{stage}/{verdict}/{}", file_name(&path));
                trials.push(Trial::test(name, move || run_case(run, accept, &path)));
            }
        }
    }
    for path in cases(&root.join("broken"), "edit") {
        let name = format!("broken/{}", file_name(&path));
        trials.push(Trial::test(name, move || run_edit(&path)));
    }
    for folder in folders(&root.join("diff")) {
        let name = format!("diff/{}", file_name(&folder));
        trials.push(Trial::test(name, move || run_diff(&folder)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
