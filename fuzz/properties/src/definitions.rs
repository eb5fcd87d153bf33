//! A definition, as a text of anybody's.

use quixos_schema::{
    Checked, Diagnostic, SourceId, Sources, canonical, check, format, parse, render_json,
    render_text,
};

/// Reads a text as a definition. It must be that
///
/// - every diagnostic points into the text, and all of them can be shown;
/// - text without a fault can be formatted, and no other;
/// - formatted and canonical text say what the text says: the same canonical text, the same digest;
/// - both are their own formatted and canonical text.
pub fn definitions(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse(SourceId(0), &text);
    inside(&text, &parsed.diagnostics);
    let checked = checked(&text);
    shown(&checked);
    let formatted = format(SourceId(0), &text);
    assert_eq!(formatted.is_ok(), parsed.diagnostics.is_empty(), "formatted, or found fault with");
    let Ok(formatted) = formatted else { return };

    let once = canonical(&parsed.file);
    for again in [&formatted, &once] {
        let parsed = parse(SourceId(0), again);
        assert_eq!(parsed.diagnostics, [], "of {again}");
        assert_eq!(canonical(&parsed.file), once, "of {again}");
        assert_eq!(digests(&self::checked(again)), digests(&checked), "of {again}");
    }
    assert_eq!(format(SourceId(0), &formatted).as_ref(), Ok(&formatted));
}

/// Checks one text.
pub(crate) fn checked(text: &str) -> Checked {
    let mut sources = Sources::new();
    sources.add("foreign.quixos", text);
    check(sources)
}

fn digests(checked: &Checked) -> Option<Vec<&str>> {
    let packages = &checked.definitions.as_ref()?.packages;
    Some(packages.iter().map(|package| package.digest.as_str()).collect())
}

fn shown(checked: &Checked) {
    let Checked { sources, diagnostics, .. } = checked;
    inside(&sources.get(SourceId(0)).text, diagnostics);
    assert_eq!(render_text(diagnostics, sources, true).is_empty(), diagnostics.is_empty());
    let json = render_json(diagnostics, sources);
    assert_eq!(json.as_array().map(Vec::len), Some(diagnostics.len()));
}

fn inside(text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let labels = diagnostic.labels.iter().map(|(place, _)| *place);
        for place in labels.chain([diagnostic.place]) {
            assert!(text.get(place.range()).is_some(), "outside the text: {diagnostic:?}");
        }
    }
}
