//! `quixos generate`: the Rust module of each package.

use std::fs;
use std::path::{Path, PathBuf};

use quixos_codegen::{GenerateError, Options, SourcePath, generate, module_name};
use quixos_schema::Sources;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::sources;

const EXAMPLES: &str = "\
Examples:
  quixos generate package/ --out src/generated

Writes one file for each package, `agent_runtime.rs` for `AgentRuntime`, which finds the definitions
from where it is. The same definitions give the same bytes. Definitions with errors generate
nothing. In a crate, a build script does the same: see `quixos_codegen::build_script`.";

/// The arguments of `generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, and folders with `.quixos` files in them.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The folder to write to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Generates.
///
/// # Errors
/// When a file cannot be read or written, or the definitions have errors.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut definitions = sources::checked(&args.paths, output)?;
    fs::create_dir_all(&args.out).map_err(|error| Failure::io("make", &args.out, &error))?;
    definitions.sources = as_seen_from(&args.out, &definitions.sources)?;
    let options = Options { sources: SourcePath::Beside, ..Options::default() };
    let mut files = Vec::new();
    for (at, package) in definitions.packages() {
        let code = generate(&definitions, at, &options).map_err(failure)?;
        files.push((package, format!("{}.rs", module_name(&definitions, at)), code));
    }
    // All of them are made before the first is written.
    let mut json = Vec::new();
    let mut rows = Vec::new();
    for (package, name, code) in files {
        let path = args.out.join(name);
        fs::write(&path, code).map_err(|error| Failure::io("write", &path, &error))?;
        let path = path.display().to_string();
        json.push(json!({ "package": package.id, "digest": package.digest, "file": path }));
        rows.push(vec![package.name.clone(), path]);
    }
    output.print(&Answer::new(json.into()).table(&["package", "file"], rows))?;
    Ok(Exit::Good)
}

/// Names the sources by their way from a folder, as code that is written there finds them.
fn as_seen_from(folder: &Path, sources: &Sources) -> Result<Sources, Failure> {
    let whole =
        |path: &Path| fs::canonicalize(path).map_err(|error| Failure::io("find", path, &error));
    let from = whole(folder)?;
    let mut seen = Sources::new();
    for (_, source) in sources.iter() {
        let to = whole(Path::new(&source.name))?;
        let way = relative(&from, &to);
        seen.add(way.join("/"), source.text.as_str());
    }
    Ok(seen)
}

/// The way from a folder to a file, both absolute, step by step.
fn relative(from: &Path, to: &Path) -> Vec<String> {
    let from: Vec<_> = from.components().collect();
    let to: Vec<_> = to.components().collect();
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|it| it.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect()
}

fn failure(error: GenerateError) -> Failure {
    Failure::new(Exit::Findings, error.to_string())
}
