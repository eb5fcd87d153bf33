//! Two revisions of a definition, compared.

use quixos_schema::{Definitions, Sources, diff, render_changes_json, render_changes_text};

use crate::definitions::checked;

/// The line between two revisions in one input.
const BETWEEN: &str = "\n====\n";

/// Compares two texts with a line of four `=` between them. It must be that
///
/// - a definition does not differ from itself, nor from one with the same digests;
/// - where there is a change, there is one on the way back;
/// - each change points into the texts, and all of them can be shown.
pub fn differences(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (old, new) = text.split_once(BETWEEN).unwrap_or((&text, ""));
    let (Some(old), Some(new)) = (checked(old).definitions, checked(new).definitions) else {
        return;
    };
    assert_eq!(diff(&old, &old), []);
    assert_eq!(diff(&new, &new), []);
    let (there, back) = (changes(&old, &new), changes(&new, &old));
    assert_eq!(there == 0, back == 0, "{there} changes, {back} on the way back");
    let digests = |of: &Definitions| {
        let mut all: Vec<_> = of.packages.iter().map(|it| it.digest.clone()).collect();
        all.sort();
        all
    };
    if digests(&old) == digests(&new) {
        assert_eq!(there, 0, "changes under one digest");
    }
}

/// Compares, checks what came of it, and tells how many changes there are.
fn changes(old: &Definitions, new: &Definitions) -> usize {
    let changes = diff(old, new);
    for change in &changes {
        for (place, sources) in [(change.old, &old.sources), (change.new, &new.sources)] {
            assert!(place.is_none_or(|place| is_inside(sources, place)), "{change:?}");
        }
        assert!(change.old.is_some() || change.new.is_some(), "it stands nowhere: {change:?}");
    }
    assert!(!render_changes_text(&changes, &old.sources, &new.sources).is_empty());
    let json = render_changes_json(&changes, &old.sources, &new.sources);
    assert_eq!(json.as_array().map(Vec::len), Some(changes.len()));
    changes.len()
}

fn is_inside(sources: &Sources, place: quixos_schema::Place) -> bool {
    sources.get(place.source).text.get(place.range()).is_some()
}
