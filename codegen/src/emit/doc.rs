//! Documentation attributes.

use proc_macro2::TokenStream;
use quote::quote;

use crate::citation;

/// Documents an item with a sentence.
pub(super) fn sentence(text: &str) -> TokenStream {
    lines(&[text.to_owned()])
}

/// Documents an item with a part of the definition.
pub(super) fn citation(citation: &str) -> TokenStream {
    lines(&block(citation))
}

/// A short line stands as code in the text, a long one or several as a block.
fn block(citation: &str) -> Vec<String> {
    let broken: Vec<String> = citation.lines().flat_map(citation::broken).collect();
    if let [line] = broken.as_slice()
        && !line.contains('`')
    {
        return vec![format!("`{line}`")];
    }
    let mut all = vec!["```text".to_owned()];
    all.extend(broken);
    all.push("```".to_owned());
    all
}

fn lines(all: &[String]) -> TokenStream {
    let docs = all.iter().map(|line| {
        let line = if line.is_empty() { String::new() } else { format!(" {line}") };
        quote! { #[doc = #line] }
    });
    quote! { #(#docs)* }
}
