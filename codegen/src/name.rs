//! From a name in a definition to a Rust identifier, and who has which.
//!
//! Two things can go wrong with a name. It can be one that generated code or Rust itself uses, as
//! `Context` or `type`: then it gets a suffix or a raw form, always the same one. Or two names of
//! the definition can become the same identifier, as `itemCount` and `item_count`: then nothing is
//! generated, since any choice would change the code of whoever wrote the first.
//!
//! Start at [`Scope::claim`].

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};

use crate::error::{GenerateError, Named};

/// Returns `createThread` as `create_thread`.
pub(crate) fn snake(name: &str) -> String {
    let words: Vec<String> = words(name).map(|word| word.to_ascii_lowercase()).collect();
    begin_with_letter(words.join("_"), 'n')
}

/// Returns `create_thread` and `createThread` as `CreateThread`.
pub(crate) fn pascal(name: &str) -> String {
    let words: String = words(name)
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect();
    begin_with_letter(words, 'N')
}

/// Splits at everything that is no letter or digit, and where a capital begins a word:
/// `HTTPServer2Name` is `HTTP`, `Server2`, `Name`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|part| {
        let bytes = part.as_bytes();
        let starts_word = |at: usize| {
            bytes[at].is_ascii_uppercase()
                && (!bytes[at - 1].is_ascii_uppercase()
                    || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase))
        };
        let mut cuts: Vec<usize> = vec![0];
        cuts.extend((1..bytes.len()).filter(|at| starts_word(*at)));
        cuts.push(bytes.len());
        (1..cuts.len()).map(move |at| &part[cuts[at - 1]..cuts[at]]).filter(|word| !word.is_empty())
    })
}

/// An identifier must begin with a letter; a name of underscores and digits has none.
fn begin_with_letter(name: String, letter: char) -> String {
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("{letter}{name}")
    }
}

/// Returns a name as an identifier, raw if it is a keyword.
pub(crate) fn ident(name: &str) -> Ident {
    const NEVER_RAW: [&str; 4] = ["self", "Self", "super", "crate"];
    if NEVER_RAW.contains(&name) {
        return Ident::new(&format!("{name}_"), Span::call_site());
    }
    syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site()))
}

/// The identifiers of one Rust namespace: a module, the methods of a type, the fields of a record.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    reserved: BTreeSet<String>,
    taken: BTreeMap<String, Named>,
}

impl Scope {
    /// Returns a scope in which generated code uses some names itself.
    pub(crate) fn new(reserved: &[&str]) -> Self {
        let reserved = reserved.iter().map(|name| (*name).to_owned()).collect();
        Self { reserved, taken: BTreeMap::new() }
    }

    /// Returns the scope with one more name that generated code uses itself.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.reserved.insert(name.to_owned());
        self
    }

    /// Takes an identifier for something in the definition, with the suffix if generated code
    /// uses that identifier itself.
    ///
    /// # Errors
    /// [`GenerateError::SameName`] when something else in the definition has it.
    pub(crate) fn claim(
        &mut self,
        wanted: &str,
        suffix: &str,
        owner: &Named,
    ) -> Result<Ident, GenerateError> {
        let name = if self.reserved.contains(wanted) {
            format!("{wanted}{suffix}")
        } else {
            wanted.to_owned()
        };
        if let Some(first) = self.taken.get(&name) {
            return Err(GenerateError::SameName(Box::new(crate::error::SameName {
                identifier: name,
                first: first.clone(),
                second: owner.clone(),
            })));
        }
        let identifier = ident(&name);
        self.taken.insert(name, owner.clone());
        Ok(identifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_a_reader_would() {
        for (name, as_snake, as_pascal) in [
            ("createThread", "create_thread", "CreateThread"),
            ("directory_createThread", "directory_create_thread", "DirectoryCreateThread"),
            ("AgentThreadObject", "agent_thread_object", "AgentThreadObject"),
            ("HTTPServer", "http_server", "HTTPServer"),
            ("item2Data", "item2_data", "Item2Data"),
            ("sha256", "sha256", "Sha256"),
            ("__x__y", "x_y", "XY"),
            ("_1", "n1", "N1"),
            ("_", "n", "N"),
        ] {
            assert_eq!((snake(name).as_str(), pascal(name).as_str()), (as_snake, as_pascal));
        }
    }

    #[test]
    fn keywords_stay_what_they_are() {
        for (name, expected) in
            [("type", "r#type"), ("async", "r#async"), ("self", "self_"), ("Self", "Self_")]
        {
            assert_eq!(ident(name).to_string(), expected);
        }
        assert_eq!(ident("data").to_string(), "data");
    }
}
