//! The formatter: the same text in the one layout, every comment kept.
//!
//! Formatted text is its own formatted text.

use crate::diagnostic::Diagnostic;
use crate::parse::parse;
use crate::print::Printer;
use crate::source::SourceId;

/// How many characters a line has at most, where it can be broken.
const WIDTH: usize = 100;

/// Returns a definition file in the one layout.
///
/// # Errors
/// Returns what is wrong with the text; text that does not parse is left alone.
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(source, text);
    if parsed.diagnostics.is_empty() {
        let printer = Printer::formatting(text, &parsed.file.comments, WIDTH);
        Ok(printer.finish(&parsed.file.items))
    } else {
        Err(parsed.diagnostics)
    }
}
