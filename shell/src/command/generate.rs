//! `quixos generate`: the Rust module of each package.

use std::fs;
use std::path::PathBuf;

use quixos_codegen::{GenerateError, Options, SourcePath, generate, module_name};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::sources;

const EXAMPLES: &str = "\
Examples:
  quixos generate package/ --out src/generated

Writes one file for each package, `agent_runtime.rs` for `AgentRuntime`. The same definitions give
the same bytes. Definitions with errors generate nothing. In a crate, a build script does the same:
see `quixos_codegen::build_script`.";

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
    let definitions = sources::checked(&args.paths, output)?;
    let options = Options { sources: SourcePath::Manifest, ..Options::default() };
    let mut files = Vec::new();
    for (at, package) in definitions.packages() {
        let code = generate(&definitions, at, &options).map_err(failure)?;
        files.push((package, format!("{}.rs", module_name(&definitions, at)), code));
    }
    // All of them are there before the first is written.
    fs::create_dir_all(&args.out).map_err(|error| Failure::io("make", &args.out, &error))?;
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

fn failure(error: GenerateError) -> Failure {
    Failure::new(Exit::Findings, error.to_string())
}
