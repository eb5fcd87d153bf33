//! What two trees must have in common to say the same.

use quixos_schema::ast::{File, Item};

/// Returns everything about the items but where they stand.
pub(crate) fn without_places(items: &[Item]) -> String {
    let whole = format!("{items:#?}");
    let mut rest = String::with_capacity(whole.len());
    // A place is printed as `Place {`, its fields, and `}` on a line of its own.
    let mut inside = false;
    for line in whole.lines() {
        inside |= line.ends_with("Place {");
        if inside {
            inside = line.trim() != "},";
        } else {
            rest.push_str(line.trim_start());
            rest.push('\n');
        }
    }
    rest
}

/// Returns the comments as the formatter keeps them: without white space at the ends of lines.
pub(crate) fn comments(file: &File) -> Vec<String> {
    let text = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    file.comments.iter().map(|comment| text(&comment.text)).collect()
}
