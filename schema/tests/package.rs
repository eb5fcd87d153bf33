//! The definitions of this repository are definitions.

use quixos_schema::{SourceId, parse};

#[test]
fn every_file_of_the_package_parses() {
    for name in ["agent-runtime", "objects", "workspace"] {
        let text = std::fs::read_to_string(format!("../package/{name}.quixos")).unwrap();
        let parsed = parse(SourceId(0), &text);
        assert_eq!(parsed.diagnostics, [], "{name}.quixos");
        assert!(!parsed.file.items.is_empty(), "{name}.quixos");
    }
}
