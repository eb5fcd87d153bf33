//! Whatever can be written is read as it was written, and formatting changes nothing but layout.

mod definition;
mod tree;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use quixos_schema::{SourceId, TokenKind, canonical, format, lex, parse};

use crate::definition::file;
use crate::tree::{comments, without_places};

const SOURCE: SourceId = SourceId(0);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonical_text_is_read_as_the_tree_it_was_made_of(file in file()) {
        let text = canonical(&file);
        let parsed = parse(SOURCE, &text);
        prop_assert_eq!(parsed.diagnostics, []);
        prop_assert_eq!(without_places(&parsed.file.items), without_places(&file.items));
        prop_assert_eq!(canonical(&parsed.file), text);
    }

    #[test]
    fn formatting_changes_nothing_but_layout(
        file in file(),
        gaps in vec(select(GAPS), 1..60),
    ) {
        let text = laid_out(&canonical(&file), &gaps);
        let before = parse(SOURCE, &text);
        prop_assert_eq!(before.diagnostics, [], "{}", text);
        prop_assert_eq!(without_places(&before.file.items), without_places(&file.items));

        let once = format(SOURCE, &text).unwrap();
        let after = parse(SOURCE, &once);
        prop_assert_eq!(&after.diagnostics, &[], "{}", once);
        prop_assert_eq!(without_places(&after.file.items), without_places(&file.items));
        prop_assert_eq!(comments(&after.file), comments(&before.file), "{}", once);
        prop_assert_eq!(format(SOURCE, &once).unwrap(), once, "{}", text);
    }
}

/// What may stand between two tokens.
const GAPS: &[&str] = &[
    "",
    "",
    "",
    " ",
    " ",
    "\n",
    "\r\n",
    "\n\n\n",
    "\t",
    "// a\n",
    " // b  \n\n",
    "/* c */",
    " /* d */ ",
    "\n/* e\n   f */\n",
    "/**/// g\n",
];

/// The tokens of a text with other gaps between them.
fn laid_out(text: &str, gaps: &[&str]) -> String {
    let mut laid_out = String::new();
    let mut gaps = gaps.iter().cycle();
    let mut word_before = false;
    for token in lex(SOURCE, text).tokens {
        let gap = gaps.next().copied().unwrap_or_default();
        let word = token.kind == TokenKind::Word;
        laid_out.push_str(if gap.is_empty() && word_before && word { " " } else { gap });
        laid_out.push_str(&text[token.place.range()]);
        word_before = word;
    }
    laid_out
}
