//! Random definitions that mean something: what they mean does not depend on how they are written.
//!
//! Formatted, in other order, with other layout and comments, split into files, printed as
//! canonical text and read again, a definition stays the one it was, with the digest it had.

mod valid;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use quixos_schema::{
    Definitions, SourceId, Sources, TokenKind, canonical, canonical_package, check, format, lex,
    parse, render_text,
};

use crate::valid::Valid;

const SOURCE: SourceId = SourceId(0);

fn any_valid() -> impl Strategy<Value = Valid> {
    vec(any::<u16>(), 0..600).prop_map(|choices| Valid::of(&choices))
}

fn checked(files: &[String]) -> Definitions {
    let mut sources = Sources::new();
    for (at, text) in files.iter().enumerate() {
        sources.add(format!("{at}.quixos"), text.clone());
    }
    let checked = check(sources);
    let errors = render_text(&checked.diagnostics, &checked.sources, false);
    checked.definitions.unwrap_or_else(|| panic!("{errors}\n{}", files.join("\n// next\n")))
}

fn digest(files: &[String]) -> String {
    checked(files).packages[0].digest.clone()
}

/// What may stand between two tokens.
const GAPS: &[&str] =
    &[" ", "\n", "\r\n", "\n\n\n", "\t", " // a\n", " /* b */ ", "\n/* c\n   d */\n"];

/// The tokens of a text with other gaps between them.
fn laid_out(text: &str, gaps: &[&str]) -> String {
    let gaps = gaps.iter().cycle();
    let tokens = lex(SOURCE, text).tokens;
    let last = tokens.iter().filter(|token| token.kind != TokenKind::End);
    last.zip(gaps).map(|(token, gap)| format!("{gap}{}", &text[token.place.range()])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_definition_is_what_it_was_however_it_is_written(
        valid in any_valid(),
        gaps in vec(select(GAPS), 1..40),
        in_front in vec(any::<bool>(), 1..12),
        order in vec(any::<u32>(), 1..20),
    ) {
        let text = valid.text();
        let expected = digest(std::slice::from_ref(&text));
        let same = |file: &String| prop_same(&expected, std::slice::from_ref(file));

        // Formatted, and formatted again.
        let formatted = format(SOURCE, &text).unwrap();
        same(&formatted)?;
        prop_assert_eq!(&format(SOURCE, &formatted).unwrap(), &formatted);

        // Canonical text is read as what it was made of, and is its own.
        let parsed = parse(SOURCE, &text).file;
        let once = canonical(&parsed);
        same(&once)?;
        prop_assert_eq!(&canonical(&parse(SOURCE, &once).file), &once);
        prop_assert_eq!(&canonical(&parse(SOURCE, &formatted).file), &once);

        // Layout and comments.
        same(&laid_out(&text, &gaps))?;

        // Order, and the split into files.
        let mut shuffled: Vec<_> = order.iter().cycle().zip(&valid.items).collect();
        shuffled.sort();
        let mut files = [valid.package.1.clone(), format!("part of {};", valid.package.0)];
        for ((_, item), in_front) in shuffled.iter().zip(in_front.iter().cycle()) {
            let file = &mut files[usize::from(*in_front)];
            file.push('\n');
            file.push_str(item);
        }
        prop_same(&expected, &files)?;
        let both = files.each_ref().map(|file| parse(SOURCE, file).file);
        prop_assert_eq!(canonical_package(both.iter()), canonical_package([&parsed]));
    }

    /// One token that says something else is another definition, or none.
    #[test]
    fn another_text_is_another_definition(valid in any_valid(), at in any::<prop::sample::Index>()) {
        let text = valid.text();
        let tokens = lex(SOURCE, &text).tokens;
        let words: Vec<_> =
            tokens.iter().filter(|token| token.kind == TokenKind::Word).collect();
        let place = at.get(&words).place.range();
        let changed = format!("{}other_{}", &text[..place.start], &text[place.start..]);
        let mut sources = Sources::new();
        sources.add("0.quixos", changed);
        if let Some(other) = check(sources).definitions {
            prop_assert_ne!(&other.packages[0].digest, &digest(&[text]));
        }
    }
}

fn prop_same(expected: &str, files: &[String]) -> Result<(), TestCaseError> {
    prop_assert_eq!(digest(files), expected, "{}", files.join("\n// next\n"));
    Ok(())
}
