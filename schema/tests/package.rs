//! The definitions of this repository are definitions, and those that are ours are formatted
//! (`UPDATE_EXPECT=1` formats them).

use expect_test::expect_file;
use quixos_schema::{SourceId, canonical, canonical_package, format, parse};

const FILES: [&str; 3] = ["agent-runtime", "objects", "workspace"];

fn path(name: &str) -> String {
    format!("{}/../package/{name}.quixos", env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect("a file of the package")
}

#[test]
fn every_file_parses() {
    for name in FILES {
        let parsed = parse(SourceId(0), &read(name));
        assert_eq!(parsed.diagnostics, [], "{name}.quixos");
        assert!(!parsed.file.items.is_empty(), "{name}.quixos");
    }
}

/// The given file keeps its layout; this is what it would look like.
#[test]
fn agent_runtime_in_the_one_layout() {
    let formatted = format(SourceId(0), &read("agent-runtime")).unwrap();
    expect_file!["formatted/agent-runtime.txt"].assert_eq(&formatted);
    assert_eq!(format(SourceId(0), &formatted).unwrap(), formatted);
}

#[test]
fn our_files_are_formatted() {
    for name in ["objects", "workspace"] {
        let formatted = format(SourceId(0), &read(name)).unwrap();
        expect_file![path(name)].assert_eq(&formatted);
    }
}

#[test]
fn layout_comments_and_files_make_no_difference_to_the_canonical_text() {
    let [given, objects] =
        ["agent-runtime", "objects"].map(|name| parse(SourceId(0), &read(name)).file);
    let formatted = format(SourceId(0), &read("agent-runtime")).unwrap();
    let laid_out = parse(SourceId(0), &formatted).file;
    let joined = format!("{}\n// both\n{}", canonical(&objects), formatted);
    let joined = parse(SourceId(0), &joined).file;

    let package = canonical_package([&given, &objects]);
    assert_eq!(package, canonical_package([&objects, &laid_out]));
    assert_eq!(package, canonical_package([&joined]));
    assert_ne!(package, canonical_package([&given]));
}
