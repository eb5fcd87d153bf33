//! Every script under `tests/scripts`, played in the shell on a store in memory, with its answers.
//!
//! A script is a transcript: `> command` (`| ` continues one), then what the shell printed; `# `
//! is a comment. `@ use NAME` first plays the commands of `setup/NAME.script`, unprinted;
//! `@ clock +5m` moves the clock, which otherwise stands still. A failed command prints `! code:
//! message`, and the script goes on. Objects print as the names that the script gave them.
//!
//! Each is played twice: in a shell over the store, and in one that is connected to a host over it.
//! Both must print the same.
//!
//! The `script` blocks of `docs/shell.md` are played too, one after the other in one shell; those
//! that are marked `script sessions` in another one, which stands where `setup/sessions.script` ends.
//! The scripts of the folder `sessions`, too, are played on a store that has sessions.
//!
//! `UPDATE_EXPECT=1` writes the answers anew; the diff is the review. After every script the store
//! must pass `verify`.

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect_file;
use libtest_mimic::{Arguments, Failed, Trial};
use quixos_host::OperatorDoor;
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Clock, ManualClock, PackageCode, Runtime, SeededIds, blocking};
use quixos_shell::{Connection, Exit, Format, Names, Output, RemoteShell, Shell, Style};
use support::{TOKEN, door};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/scripts");

/// The document whose examples are scripts.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/shell.md");

/// The folder of the scripts, and the setup, of a store that has sessions.
const SESSIONS: &str = "sessions";

/// When every script begins.
const BEGIN: &str = "2026-01-01T00:00:00Z";

/// Whose scripts must be there, one for each operation.
const PACKAGE: &str = "package:org.quixos.agent:runtime";

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test("every_operation_has_one_script", one_script_each)];
    for place in [Place::Here, Place::Host] {
        let kind = match place {
            Place::Here => "here",
            Place::Host => "connected",
        };
        let shown = Trial::test("the_document_shows_what_happens", move || document(place));
        trials.push(shown.with_kind(kind));
        for folder in ["operations", "stories", SESSIONS] {
            for path in scripts(folder) {
                let name = format!("{folder}::{}", stem(&path));
                let trial = Trial::test(name, move || transcript(&path, place));
                trials.push(trial.with_kind(kind));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn scripts(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "script")).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A part of a script that is written, not answered.
enum Part {
    /// A comment, or an empty line between parts.
    Remark(String),
    /// Commands of another script, played first.
    Use(String),
    /// The clock moves forward, as written.
    Clock(String, Duration),
    /// A command, its lines joined.
    Command(String),
}

/// Reads a script without its answers.
fn parts(text: &str) -> Result<Vec<Part>, Failed> {
    let mut parts = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let written = |line: &str| line.starts_with(['#', '>', '@']);
        if let Some(command) = line.strip_prefix("> ") {
            parts.push(Part::Command(command.to_owned()));
        } else if let Some(more) = line.strip_prefix("| ") {
            match parts.last_mut() {
                Some(Part::Command(command)) => {
                    command.push('\n');
                    command.push_str(more);
                }
                _ => return Err(format!("line {}: nothing to continue", at + 1).into()),
            }
        } else if let Some(name) = line.strip_prefix("@ use ") {
            parts.push(Part::Use(name.to_owned()));
        } else if let Some(span) = line.strip_prefix("@ clock +") {
            let span = (span.to_owned(), duration(span).ok_or("no span of time")?);
            parts.push(Part::Clock(span.0, span.1));
        } else if line.starts_with('#')
            || line.is_empty()
                && lines[at..].iter().find(|line| !line.is_empty()).is_some_and(|it| written(it))
        {
            parts.push(Part::Remark((*line).to_owned()));
        }
    }
    Ok(parts)
}

fn duration(text: &str) -> Option<Duration> {
    let (count, unit) = text.split_at(text.len().checked_sub(1)?);
    let count: u64 = count.parse().ok()?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    Some(Duration::from_secs(count * seconds))
}

/// What a shell prints, for both of its streams.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().expect("nobody panics with it"));
        String::from_utf8(bytes).expect("the shell prints text")
    }
}

/// Where commands run.
#[derive(Clone, Copy)]
enum Place {
    /// In the shell that is typed into.
    Here,
    /// In a host that the shell is connected to.
    Host,
}

enum Player {
    Here(Box<Shell>),
    Connected(RemoteShell, OperatorDoor),
}

/// A shell on a store of its own, at a time of its own.
struct Stage {
    player: Player,
    runtime: Runtime,
    output: Output,
    page: Page,
    clock: Arc<ManualClock>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        match &self.player {
            Player::Here(_) => {}
            Player::Connected(_, door) => door.close(),
        }
    }
}

impl Stage {
    fn new(place: Place) -> Result<Self, Failed> {
        Self::with(place, quixos_package::packages())
    }

    /// A shell on a store that has sessions.
    fn with_sessions(place: Place) -> Result<Self, Failed> {
        let packages = quixos_package::packages().into_iter();
        Self::with(place, packages.chain([quixos_session::package()]))
    }

    fn with(place: Place, packages: impl IntoIterator<Item = PackageCode>) -> Result<Self, Failed> {
        let clock = Arc::new(ManualClock::at(BEGIN.parse()?));
        let mut builder = Runtime::builder()
            .clock(Arc::clone(&clock) as Arc<dyn Clock>)
            .ids(Arc::new(SeededIds::new(1)));
        for package in packages {
            builder = builder.package(package);
        }
        let runtime = builder.open(Arc::new(MemoryStore::new()))?;
        let page = Page::default();
        let streams = (Box::new(page.clone()), Box::new(page.clone()));
        let output = Output::new(Format::Text, Style::default(), streams.0, streams.1)
            .with_names(Names::assigned());
        let time = Arc::clone(&clock) as Arc<dyn Clock>;
        let player = match place {
            Place::Here => Player::Here(Box::new(Shell::new(runtime.clone(), time, "anna"))),
            Place::Host => {
                let (door, url) = door(&runtime, time);
                let connection = Connection::new(&url, TOKEN, "anna");
                let shell = connection.and_then(RemoteShell::begin);
                Player::Connected(shell.map_err(|failure| failure.message)?, door)
            }
        };
        Ok(Self { player, runtime, output, page, clock })
    }

    /// Plays a command and returns what it printed.
    fn play(&mut self, command: &str) -> String {
        let failed = match &mut self.player {
            Player::Here(shell) => shell.run("script", command, &mut self.output).err(),
            Player::Connected(shell, _) => shell.run("script", command, &mut self.output).err(),
        };
        let mut printed = self.page.take();
        if let Some(failure) = failed {
            // Told in one line, so that a script does not depend on where its lines stand.
            self.output.remark(&format!("! {}: {}", failure.exit.code(), failure.message));
            if let Some(help) = &failure.help {
                self.output.remark(&format!("  {help}"));
            }
            printed.push_str(&self.page.take());
        }
        printed
    }

    /// Plays the commands of a setup; each must succeed.
    fn set_up(&mut self, name: &str) -> Result<(), Failed> {
        let path = Path::new(ROOT).join("setup").join(format!("{name}.script"));
        for part in parts(&fs::read_to_string(path)?)? {
            match part {
                Part::Use(other) => self.set_up(&other)?,
                Part::Clock(_, span) => self.clock.advance(span),
                Part::Remark(_) => {}
                Part::Command(command) => {
                    let printed = self.play(&command);
                    if printed.starts_with('!') {
                        return Err(format!("setup {name}: > {command}\n{printed}").into());
                    }
                }
            }
        }
        Ok(())
    }
}

fn transcript(path: &Path, place: Place) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let has_sessions = path.parent().is_some_and(|folder| folder.ends_with(SESSIONS));
    let mut stage = if has_sessions { Stage::with_sessions(place)? } else { Stage::new(place)? };
    let written = played(&mut stage, &text)?;
    expect_file![path].assert_eq(&written);
    sound(&stage)?;
    calls_its_operation(path, &stage, &text)
}

/// Plays a script and returns it with the answers that came.
fn played(stage: &mut Stage, text: &str) -> Result<String, Failed> {
    let mut written = String::new();
    for part in parts(text)? {
        match part {
            Part::Remark(line) => writeln!(written, "{line}")?,
            Part::Use(name) => {
                writeln!(written, "@ use {name}")?;
                stage.set_up(&name)?;
            }
            Part::Clock(text, span) => {
                writeln!(written, "@ clock +{text}")?;
                stage.clock.advance(span);
            }
            Part::Command(command) => {
                writeln!(written, "> {}", command.replace('\n', "\n| "))?;
                written.push_str(&stage.play(&command));
            }
        }
    }
    Ok(written)
}

/// The examples of the document, played in one shell, in their order; those about sessions in
/// another.
fn document(place: Place) -> Result<(), Failed> {
    let text = fs::read_to_string(DOCUMENT)?;
    let mut plain = Stage::new(place)?;
    let mut sessions = Stage::with_sessions(place)?;
    sessions.set_up(SESSIONS)?;
    let mut written = String::new();
    let mut rest = text.as_str();
    while let Some((before, block)) = rest.split_once("```script") {
        let (mark, block) = block.split_once('\n').ok_or("a block that does not begin")?;
        let (script, after) = block.split_once("```\n").ok_or("a block that does not end")?;
        let stage = if mark.trim() == SESSIONS { &mut sessions } else { &mut plain };
        written.push_str(before);
        write!(written, "```script{mark}\n{}```\n", played(stage, script)?)?;
        rest = after;
    }
    written.push_str(rest);
    expect_file![DOCUMENT].assert_eq(&written);
    sound(&plain)?;
    sound(&sessions)?;
    let codes = Exit::ALL
        .iter()
        .map(|exit| format!("| {} | `{}` | {} |", exit.number(), exit.code(), exit.meaning()));
    match codes.into_iter().find(|row| !text.contains(row)) {
        Some(row) => Err(format!("the document's table of exit codes has no row\n{row}").into()),
        None => Ok(()),
    }
}

/// What always holds, holds after every script.
fn sound(stage: &Stage) -> Result<(), Failed> {
    let report = blocking(stage.runtime.verify())?;
    if report.is_clean() {
        return Ok(());
    }
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    Err(format!("verify finds:\n{}", findings.join("\n")).into())
}

/// The script of an operation calls it: by its name, or by the member that it serves.
fn calls_its_operation(path: &Path, stage: &Stage, text: &str) -> Result<(), Failed> {
    if !path.parent().is_some_and(|folder| folder.ends_with("operations")) {
        return Ok(());
    }
    let name = stem(path);
    // Operations are named for their member: `request_claim` is the member `claim`.
    let member = name.split_once('_').map_or(name.as_str(), |(_, member)| member);
    let known = stage.runtime.definitions().operations.iter().any(|it| it.name == name);
    let called = text.lines().any(|line| {
        line.starts_with("> ")
            && line.contains("call ")
            && (line.contains(&format!(".{member} "))
                || line.ends_with(&format!(".{member}"))
                || line.contains(&format!("call {name} on")))
    });
    if known && called { Ok(()) } else { Err(format!("the script never calls `{name}`").into()) }
}

fn one_script_each() -> Result<(), Failed> {
    let stage = Stage::new(Place::Here)?;
    let definitions = stage.runtime.definitions();
    let defined: BTreeSet<String> = definitions
        .operations
        .iter()
        .filter(|it| definitions.package(it.package).id == PACKAGE)
        .map(|it| it.name.clone())
        .collect();
    let written: BTreeSet<String> = scripts("operations").iter().map(|path| stem(path)).collect();
    if defined == written {
        return Ok(());
    }
    let missing: Vec<&String> = defined.difference(&written).collect();
    let stray: Vec<&String> = written.difference(&defined).collect();
    Err(format!(
        "operations without a script: {missing:?}; scripts without an operation: {stray:?}"
    )
    .into())
}
