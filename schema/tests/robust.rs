//! Bad text is told what is wrong with it, whatever it is: no panic, no endless loop, no full
//! stack, and every place within the text.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use quixos_schema::{
    SourceId, Sources, TokenKind, canonical, check, lex, parse, render_json, render_text,
};

fn words(text: &str) -> Vec<&str> {
    let tokens = lex(SourceId(0), text).tokens.into_iter();
    let words = tokens.filter(|token| token.kind == TokenKind::Word);
    words.map(|token| &text[token.place.range()]).collect()
}

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
    // Formatting refuses exactly what has a fault; of what has none, no word was passed over.
    let read = canonical(&parsed.file);
    assert_eq!(quixos_schema::format(id, text).is_ok(), parsed.diagnostics.is_empty());
    if parsed.diagnostics.is_empty() {
        assert_eq!(words(&read), words(text));
    }
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

/// Whatever is done to one token, the reader is told one thing: what follows from a fault is not
/// shown as another. Where braces cannot be paired for sure, it may be two.
#[test]
fn one_fault_is_one_diagnostic() {
    let source = SourceId(0);
    let (mut faulty, mut doubled) = (0, Vec::new());
    for token in lex(source, DEFINITION).tokens {
        let before = &DEFINITION[..token.place.range().start];
        let behind = &DEFINITION[token.place.range().end..];
        let text = &DEFINITION[token.place.range()];
        for instead in [
            "",
            &format!("{text} {text}"),
            "other",
            "\"other\"",
            &format!("{text}}}"),
            &format!("{text}{{"),
        ] {
            let changed = format!("{before} {instead} {behind}");
            let diagnostics = parse(source, &changed).diagnostics;
            faulty += usize::from(!diagnostics.is_empty());
            if diagnostics.len() > 1 {
                assert_eq!(diagnostics.len(), 2, "{changed}\n{diagnostics:#?}");
                doubled.push(diagnostics);
            }
        }
    }
    assert!(faulty > 2_000, "{faulty}");
    assert!(doubled.len() * 200 < faulty, "{doubled:#?}");
}
