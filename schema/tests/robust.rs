//! Bad text is told what is wrong with it, whatever it is: no panic, no endless loop, no full
//! stack, and every place within the text.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quixos_schema::{Sources, canonical, check, parse, render_json, render_text};

/// Puts a text through everything that takes texts.
fn survives(text: &str) {
    let mut sources = Sources::new();
    let id = sources.add("any.quixos", text);
    let parsed = parse(id, text);
    for diagnostic in &parsed.diagnostics {
        let labels = diagnostic.labels.iter().map(|(place, _)| *place);
        for place in labels.chain([diagnostic.place]) {
            assert!(text.get(place.range()).is_some(), "{diagnostic:?}");
        }
    }
    // What was read can be printed, and formatting refuses exactly what has a fault.
    let _ = canonical(&parsed.file);
    assert_eq!(quixos_schema::format(id, text).is_ok(), parsed.diagnostics.is_empty());
    let diagnostics = check(sources.clone()).diagnostics;
    assert_eq!(render_text(&diagnostics, &sources, true).is_empty(), diagnostics.is_empty());
    assert_eq!(
        render_json(&diagnostics, &sources).as_array().map(Vec::len),
        Some(diagnostics.len())
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_characters(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_words_of_the_language(words in vec(select(WORDS), 0..80)) {
        survives(&words.join(" "));
        survives(&words.concat());
        survives(&words.join("\n"));
    }

    #[test]
    fn a_definition_with_a_few_changes(changes in vec((any::<Index>(), 0_usize..40, select(WORDS)), 1..4)) {
        let mut text = DEFINITION.to_owned();
        for (at, length, word) in changes {
            let start = text.floor_char_boundary(at.index(text.len() + 1));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            text.replace_range(start..end.max(start), word);
        }
        survives(&text);
    }
}

const DEFINITION: &str = include_str!("../../package/workspace.quixos");

const WORDS: &[&str] = &[
    "",
    "part of",
    "external",
    "import",
    "type",
    "interface",
    "atom",
    "package",
    "operation",
    "internal",
    "state",
    "edge",
    "stream",
    "inverse",
    "root",
    "implements",
    "creation",
    "id",
    "revision",
    "mode",
    "execution",
    "targets",
    "receiver",
    "requires",
    "using",
    "from",
    "input",
    "keyed",
    "record",
    "optional",
    "list",
    "atom-ref",
    "interface-ref",
    "one",
    "A",
    "b",
    "\"x\"",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ":",
    ",",
    ".",
    "=",
    "->",
    "-",
    "@",
    "é",
    "“",
    "// c\n",
    "/* c */",
    "/*",
    "*/",
    "\\",
    "\n",
    "}\n",
    "};\n",
    "{\n",
    "\r",
    "\0",
    "\u{feff}",
];

#[test]
fn brackets_without_end() {
    for repeated in
        ["<", "list<", "record {a: ", "interface-ref<A<", "{", "}", "[", "implements I {"]
    {
        for before in ["", "type A = ", "atom A id \"a\" {", "interface I id \"i\" { state a: "] {
            survives(&format!("{before}{}", repeated.repeat(3_000)));
        }
    }
}

#[test]
fn a_file_of_the_largest_size() {
    let line = "type A = record {a: string; b: list<optional<bool>>;};\n";
    let text = line.repeat((1 << 20) / line.len());
    let mut sources = Sources::new();
    let id = sources.add("large.quixos", text.clone());
    assert_eq!(parse(id, &text).diagnostics, []);
}
