//! What a string literal says, and how it is written.
//!
//! A literal stands between `"` and knows `\"`, `\\`, `\n`, `\t` and `\u{…}`. Reading what was
//! written gives back what was said: `unescape(&quoted(text)).0 == text`.

/// Returns what a string literal says, and what is wrong with its escapes, by byte range in the
/// literal. Quotes are dropped; a closing one may be missing.
pub(crate) fn unescape(literal: &str) -> (String, Vec<(std::ops::Range<usize>, String)>) {
    let mut value = String::with_capacity(literal.len());
    let mut faults = Vec::new();
    let quote = literal.chars().next().filter(|c| matches!(c, '"' | '\''));
    let mut characters = literal.char_indices().skip(usize::from(quote.is_some()));
    while let Some((start, character)) = characters.next() {
        if Some(character) == quote {
            break;
        }
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some((_, '"')) => value.push('"'),
            Some((_, '\\')) => value.push('\\'),
            Some((_, 'n')) => value.push('\n'),
            Some((_, 't')) => value.push('\t'),
            Some((_, 'u')) => match code_point(&literal[start + 2..]) {
                Ok((character, length)) => {
                    value.push(character);
                    for _ in 0..length {
                        characters.next();
                    }
                }
                Err(length) => faults.push((
                    start..start + 2 + length,
                    "`\\u` takes the number of a character in hexadecimal: `\\u{2026}`".to_owned(),
                )),
            },
            Some((at, other)) => faults.push((
                start..at + other.len_utf8(),
                format!("a string does not know `\\{}`", other.escape_debug()),
            )),
            None => {}
        }
    }
    (value, faults)
}

/// Reads `{2026}`: the character and the length, or the length of what does not say one.
fn code_point(text: &str) -> Result<(char, usize), usize> {
    let Some(inside) = text.strip_prefix('{') else { return Err(0) };
    let digits = inside.chars().take_while(char::is_ascii_hexdigit).count();
    if !inside[digits..].starts_with('}') {
        return Err(1 + digits);
    }
    // At most six digits, so that the number fits.
    (1..=6)
        .contains(&digits)
        .then(|| u32::from_str_radix(&inside[..digits], 16).ok().and_then(char::from_u32))
        .flatten()
        .map(|character| (character, digits + 2))
        .ok_or(digits + 2)
}

/// Returns the string literal that says this.
pub(crate) fn quoted(value: &str) -> String {
    let mut literal = String::with_capacity(value.len() + 2);
    literal.push('"');
    for character in value.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            control if control.is_control() => literal.extend(control.escape_unicode()),
            plain => literal.push(plain),
        }
    }
    literal.push('"');
    literal
}
