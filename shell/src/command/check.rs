//! `quixos check`: every fault in a set of definitions.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Format, Output};
use crate::sources;

const EXAMPLES: &str = "\
Examples:
  quixos check package/                check the folder's files together
  quixos check a.quixos b.quixos       check two files together
  quixos check package/ --json         packages and diagnostics as JSON

Packages that use each other are checked together: name them in one command. Diagnostics go to
standard error, or, with --json, into the answer. Each has a code, which docs/diagnostics explains.";

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, and folders with `.quixos` files in them.
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Checks.
///
/// # Errors
/// When a path leads to no definitions. A file that cannot be read is a finding.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (sources, unread) = sources::load(&args.paths)?;
    let checked = quixos_schema::check(sources);
    if output.format() == Format::Text {
        for it in &unread {
            output.fail(&it.failure);
        }
        if !checked.diagnostics.is_empty() {
            output.remark(&sources::diagnostics_text(&checked, output.style().colour));
        }
    }
    let mut packages = Vec::new();
    let mut rows = Vec::new();
    for (at, package) in checked.definitions.iter().flat_map(|it| it.packages()) {
        let definitions = checked.definitions.iter();
        let operations = definitions.clone().flat_map(|it| it.operations());
        let operations = operations.filter(|(_, it)| it.package == at).count();
        let atoms = definitions.clone().flat_map(|it| it.atoms());
        let atoms = atoms.filter(|(_, it)| it.package == at).count();
        let interfaces = definitions.flat_map(|it| it.interfaces());
        let interfaces = interfaces.filter(|(_, it)| it.package == at).count();
        packages.push(json!({
            "name": package.name, "id": package.id, "revision": package.revision,
            "digest": package.digest, "operations": operations, "atoms": atoms,
            "interfaces": interfaces,
        }));
        rows.push(vec![
            package.name.clone(),
            package.revision.clone(),
            operations.to_string(),
            atoms.to_string(),
            interfaces.to_string(),
        ]);
    }
    let good = checked.definitions.is_some() && unread.is_empty();
    let answer = Answer::new(json!({
        "ok": good,
        "packages": Value::Array(packages),
        "diagnostics": sources::diagnostics_json(&checked),
        "unread": unread.iter().map(sources::Unread::to_json).collect::<Vec<_>>(),
    }))
    .table(&["package", "revision", "operations", "atoms", "interfaces"], rows);
    output.print(&answer)?;
    Ok(if good { Exit::Good } else { Exit::Findings })
}
