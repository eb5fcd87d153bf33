//! Every diagnostic code has a page that explains it and a golden case that provokes it.

use std::fs;
use std::path::{Path, PathBuf};

use quixos_schema::{Code, Severity, Sources, check};

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The goldens under a folder, joined.
fn goldens(folder: &Path, joined: &mut String) {
    let entries = fs::read_dir(folder).expect("the cases are there").flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            goldens(&path, joined);
        } else if path.extension().is_some_and(|it| it == "txt") {
            joined.push_str(&fs::read_to_string(&path).expect("a golden is text"));
        }
    }
}

#[test]
fn every_code_has_a_page() {
    let pages = manifest().join("../docs/diagnostics");
    let missing: Vec<PathBuf> = Code::ALL
        .iter()
        .map(|code| pages.join(format!("{code}.md")))
        .filter(|page| !page.exists())
        .collect();
    assert!(missing.is_empty(), "write {missing:?}");
}

#[test]
fn every_code_has_a_case() {
    let mut joined = String::new();
    goldens(&manifest().join("tests/cases"), &mut joined);
    let word = |code: &Code| match code.severity() {
        Severity::Error => format!("error[{code}]"),
        Severity::Warning => format!("warning[{code}]"),
    };
    let missing: Vec<_> = Code::ALL
        .iter()
        // A file of a megabyte is no case to read: it is made below.
        .filter(|code| **code != Code::SourceTooLarge)
        .filter(|code| !joined.contains(&word(code)))
        .collect();
    assert!(missing.is_empty(), "no golden case provokes {missing:?}");
}

/// Codes are in order and told apart.
#[test]
fn codes_are_unique() {
    let texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
}

#[test]
fn a_file_that_is_too_large() {
    let mut sources = Sources::new();
    sources.add("large.quixos", " ".repeat((1 << 20) + 1));
    let checked = check(sources);
    let codes: Vec<_> = checked.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::SourceTooLarge]);
    assert!(checked.definitions.is_none());
}
