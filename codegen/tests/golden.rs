//! One folder a case: `cases/NAME/*.quixos`, checked together, and beside them what is generated
//! for each package, `MODULE.rs`. `UPDATE_EXPECT=1` rewrites those; the diff is the review.
//!
//! `compiled.rs` compiles them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use expect_test::expect_file;
use libtest_mimic::{Arguments, Failed, Trial};
use quixos_codegen::{Options, SourcePath, generate, module_name};
use quixos_schema::{Definitions, Sources, check, render_text};

fn main() -> io::Result<ExitCode> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let folders = entries(&cases)?;
    let trials = folders.into_iter().map(|folder| Trial::test(name(&folder), move || run(&folder)));
    Ok(libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code())
}

fn run(folder: &Path) -> Result<(), Failed> {
    let definitions = definitions(folder)?;
    let options = Options { sources: SourcePath::Beside, ..Options::default() };
    let mut expected = BTreeSet::new();
    for (index, _) in definitions.packages() {
        let file = folder.join(format!("{}.rs", module_name(&definitions, index)));
        let code = generate(&definitions, index, &options)?;
        expect_file![file.clone()].assert_eq(&code);
        expected.insert(file);
    }
    let found: BTreeSet<PathBuf> =
        entries(folder)?.into_iter().filter(|file| name(file).ends_with(".rs")).collect();
    match found.difference(&expected).next() {
        Some(stale) => Err(format!("{} belongs to no package", stale.display()).into()),
        None => Ok(()),
    }
}

fn definitions(folder: &Path) -> Result<Definitions, Failed> {
    let mut sources = Sources::new();
    for file in entries(folder)? {
        if name(&file).ends_with(".quixos") {
            sources.add(name(&file), fs::read_to_string(&file)?);
        }
    }
    let checked = check(sources);
    let rendered = render_text(&checked.diagnostics, &checked.sources, false);
    checked.definitions.ok_or_else(|| rendered.into())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found =
        fs::read_dir(folder)?.map(|it| Ok(it?.path())).collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
