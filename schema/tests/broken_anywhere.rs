//! The shipped definitions, with one token after the other taken out: the check always comes to an
//! end and to a verdict, and a line that cannot be read is not held against all who use it.

use quixos_schema::{
    Code, Severity, SourceId, Sources, TokenKind, check, lex, render_json, render_text,
};

const FILES: [&str; 3] = ["agent-runtime", "objects", "workspace"];

/// Every so many tokens one is taken out, or the test would take a minute. A prime, so that every
/// kind of token has its turn.
const STEP: usize = 23;

fn read(name: &str) -> String {
    let path = format!("{}/../package/{name}.quixos", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the definitions are there")
}

/// The shipped definitions, with a text for one of them.
fn with(file: &str, text: &str) -> Sources {
    let mut sources = Sources::new();
    for name in FILES {
        let text = if name == file { text.to_owned() } else { read(name) };
        sources.add(format!("{name}.quixos"), text);
    }
    sources
}

#[test]
fn one_token_less() {
    for file in FILES {
        let text = read(file);
        let tokens = lex(SourceId(0), &text).tokens;
        for token in tokens.iter().step_by(STEP).filter(|it| it.kind != TokenKind::End) {
            let mut less = text.clone();
            less.replace_range(token.place.range(), "");
            let checked = check(with(file, &less));
            let told = render_text(&checked.diagnostics, &checked.sources, false);
            let shown = render_json(&checked.diagnostics, &checked.sources);

            let is_error = |code: Code| code.severity() == Severity::Error;
            let errors = checked.diagnostics.iter().any(|it| is_error(it.code));
            assert_eq!(checked.definitions.is_none(), errors, "{told}");
            assert_eq!(shown.as_array().map(Vec::len), Some(checked.diagnostics.len()));
            assert_eq!(told.is_empty(), checked.diagnostics.is_empty());

            let unread = |code: Code| code < Code::NoPackage;
            let meant = checked.diagnostics.iter().filter(|it| !unread(it.code)).count();
            if meant < checked.diagnostics.len() {
                assert!(meant <= 2, "{file} without {:?}:\n{told}", &text[token.place.range()]);
            }
        }
    }
}
