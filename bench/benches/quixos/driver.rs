//! One run: the scenarios in turn, then the tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chrono::SecondsFormat;
use quixos_bench::{Head, Machine, Report, Scenario, Style, replace_block, show};
use quixos_runtime::{Clock, SystemClock};
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::scenarios;

/// A run that is under way.
pub(crate) struct Bench<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) report: Report,
    folder: PathBuf,
}

/// Runs what the arguments say, and shows what came of it.
pub(crate) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let report = match &arguments.show {
        Some(file) => serde_json::from_slice(&fs::read(file).map_err(Failure::file(file))?)?,
        None => measure(arguments).await?,
    };
    println!("{}", show(&report, Style::Terminal));
    if let Some(file) = json(arguments) {
        fs::write(&file, serde_json::to_vec_pretty(&report)?).map_err(Failure::file(&file))?;
        say(&format!("every round of it is in {}", file.display()));
    }
    if let Some(file) = &arguments.markdown {
        let page = fs::read_to_string(file).map_err(Failure::file(file))?;
        let page = replace_block(&page, &show(&report, Style::Markdown))
            .map_err(|source| Failure::Page { path: file.display().to_string(), source })?;
        fs::write(file, page).map_err(Failure::file(file))?;
    }
    Ok(())
}

/// Returns where to put what was measured, if anything was.
fn json(arguments: &Arguments) -> Option<PathBuf> {
    let told = arguments.json.clone();
    let here = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("quixos-bench.json");
    told.or_else(|| arguments.show.is_none().then(here))
}

async fn measure(arguments: &Arguments) -> Result<Report, Failure> {
    // Not the system's folder for temporary files: that is often in memory.
    let folder = arguments.folder.clone();
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    fs::create_dir_all(&folder).map_err(Failure::file(&folder))?;
    let report = Report::new(head(arguments, &folder)?);
    if report.head.machine.syncs_nothing() {
        eprintln!("{} is in memory: nothing durable is measured; see --folder", folder.display());
    }
    let mut bench = Bench { arguments, report, folder };
    for scenario in arguments.scenarios() {
        say(scenario.name());
        scenarios::measure(scenario, &mut bench).await?;
    }
    Ok(bench.report)
}

impl Bench<'_> {
    /// Makes an empty folder, which is gone when the answer is dropped.
    pub(crate) fn scratch(&self) -> Result<TempDir, Failure> {
        Ok(tempfile::Builder::new().prefix("quixos-bench-").tempdir_in(&self.folder)?)
    }
}

/// Tells what is going on; the tables are for the other way out.
pub(crate) fn say(what: &str) {
    eprintln!("{what}");
}

fn head(arguments: &Arguments, folder: &Path) -> Result<Head, Failure> {
    let revision = said_by("git", &["rev-parse", "--short", "HEAD"]);
    let version = env!("CARGO_PKG_VERSION");
    let versions = [
        (
            "quixos",
            revision.map_or(version.to_owned(), |revision| format!("{version} ({revision})")),
        ),
        ("sled", locked("sled").unwrap_or("unknown").to_owned()),
        ("SQLite", rusqlite::version().to_owned()),
        ("compiler", said_by("rustc", &["--version"]).unwrap_or_else(|| "unknown".to_owned())),
    ];
    let scenarios: Vec<&str> = arguments.scenarios().map(Scenario::name).collect();
    let size =
        format!("{} rounds, medians; up to {} requests", arguments.rounds(), arguments.scale());
    let quick = if arguments.quick { "; quick, so that no number means anything" } else { "" };
    Ok(Head {
        began: SystemClock.now().to_rfc3339_opts(SecondsFormat::Secs, true),
        options: format!("{size}; {}{quick}", scenarios.join(", ")),
        machine: Machine::here(folder).map_err(Failure::file(folder))?,
        versions: versions.map(|(name, version)| (name.to_owned(), version)).into(),
        durability: [
            "durable: on the disk before the answer, by `fdatasync`; SQLite by WAL with \
             `synchronous=FULL`; all in groups",
            "buffered: in memory before the answer; SQLite by WAL with `synchronous=NORMAL`",
        ]
        .map(str::to_owned)
        .into(),
    })
}

/// Returns the version of a crate that this was built with.
fn locked(name: &str) -> Option<&'static str> {
    let lock = include_str!("../../../Cargo.lock");
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    rest.split('"').next()
}

/// Returns the first line that a command says, if it can be run.
fn said_by(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next().filter(|_| output.status.success())?;
    Some(line.to_owned())
}
