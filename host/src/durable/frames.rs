//! The events that a live reader is sent.
//!
//! What is in them was written by anybody. A line of it must not begin an event of its own, so each
//! line break that a reader might see as one begins another `data:` line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quixos_streams::Form;
use serde_json::json;

use super::page::Page;

/// What shows that a reader is served when nothing happens.
pub(super) const KEEP_ALIVE: &str = ":\n\n";

/// Returns a page as events: what is in it, and where the reader stands then.
pub(super) fn of(page: &Page, cursor: u64) -> String {
    let mut frames = String::new();
    if !page.is_empty {
        frames.push_str("event: data\n");
        match page.form {
            Form::Json => {
                push(&mut frames, &format!("[{}]", String::from_utf8_lossy(&page.data)));
            }
            Form::Text => push(&mut frames, &String::from_utf8_lossy(&page.data)),
            Form::Binary => push(&mut frames, &STANDARD.encode(&page.data)),
        }
        frames.push('\n');
    }
    let mut control = json!({ "streamNextOffset": page.next });
    if page.closed {
        control["streamClosed"] = true.into();
    } else {
        control["streamCursor"] = cursor.to_string().into();
    }
    if page.up_to_date {
        control["upToDate"] = true.into();
    }
    frames.push_str("event: control\n");
    push(&mut frames, &control.to_string());
    frames.push('\n');
    frames
}

/// Writes a text as lines of data. A reader drops one space behind the colon, so a line that begins
/// with one has another ahead of it.
fn push(frames: &mut String, text: &str) {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for line in text.split('\n') {
        frames.push_str(if line.starts_with(' ') { "data: " } else { "data:" });
        frames.push_str(line);
        frames.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(text: &str) -> String {
        let mut frames = String::new();
        push(&mut frames, text);
        frames
    }

    #[test]
    fn no_line_of_data_is_an_event() {
        assert_eq!(
            pushed("a\r\n\r\nevent: control\rdata: {}\n\n  b\n"),
            "data:a\ndata:\ndata:event: control\ndata:data: {}\ndata:\ndata:   b\ndata:\n"
        );
    }
}
