//! Empty lines, so that the generated code reads as if a person had written it.
//!
//! The printer puts none. An item gets one above it unless it is the first of its block; fields
//! stay together.

/// Puts an empty line above each item and method.
pub(crate) fn spaced(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + code.len() / 20);
    let mut before: Option<&str> = None;
    for line in code.lines() {
        if before.is_some_and(|before| is_apart(before.trim(), line.trim())) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = Some(line);
    }
    out
}

/// Tells whether a line begins something else than what the line above ends.
fn is_apart(above: &str, line: &str) -> bool {
    let begins = ["///", "#[", "impl", "pub "].iter().any(|start| line.starts_with(start));
    let above_is_head = above.starts_with("///") || above.starts_with("#[");
    let above_ends_item = above.ends_with('}') || above.ends_with(';');
    begins && !above_is_head && above_ends_item
}
