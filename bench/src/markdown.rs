//! Putting a table into a page that says more: between two comments, and nowhere else.

use std::fmt::Write;

/// The comment behind which the table stands.
const BEGIN: &str = "<!-- measured: begin -->";
/// The comment before which it ends.
const END: &str = "<!-- measured: end -->";

/// Why there is no place for a table in a page.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the page has no line `{BEGIN}` with a line `{END}` behind it")]
pub struct MarkdownError;

/// Returns a page with what stands between the two comments replaced.
///
/// # Errors
/// When they are not there.
pub fn replace_block(page: &str, block: &str) -> Result<String, MarkdownError> {
    let (before, rest) = page.split_once(BEGIN).ok_or(MarkdownError)?;
    let (_, after) = rest.split_once(END).ok_or(MarkdownError)?;
    let mut replaced = String::with_capacity(page.len() + block.len());
    // Writing to a string does not fail.
    let _ = write!(replaced, "{before}{BEGIN}\n\n{}\n\n{END}{after}", block.trim());
    Ok(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_is_replaced_however_often() {
        let page = format!("# Speed\n\n{BEGIN}\nold\n{END}\n\nAfter.\n");
        let once = replace_block(&page, "| new |\n").unwrap();
        assert_eq!(once, format!("# Speed\n\n{BEGIN}\n\n| new |\n\n{END}\n\nAfter.\n"));
        assert_eq!(replace_block(&once, "| new |\n").unwrap(), once);
    }

    #[test]
    fn a_page_without_a_place_is_left_alone() {
        assert_eq!(replace_block("# Speed\n", "x"), Err(MarkdownError));
        assert_eq!(replace_block(&format!("{END}{BEGIN}"), "x"), Err(MarkdownError));
    }
}
