//! Messages: pictures and files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::message::{ContentPart, FileData};
use crate::native::left_out;

/// Returns the block of a part that is no text. What the form has no block for is named instead.
pub(super) fn block(part: &ContentPart) -> Value {
    let block = match part {
        ContentPart::ImageUrl { image_url } => Some(picture(&image_url.url)),
        ContentPart::File { file } => document(file),
        ContentPart::Text { .. }
        | ContentPart::InputAudio { .. }
        | ContentPart::VideoUrl { .. } => None,
    };
    block.unwrap_or_else(|| json!({"type": "text", "text": left_out(part)}))
}

fn picture(url: &str) -> Value {
    let source = match data_url(url) {
        Some((media_type, data)) => base64_source(media_type, data),
        None => json!({"type": "url", "url": url}),
    };
    json!({"type": "image", "source": source})
}

/// Returns a file as the block of its kind: a picture, a PDF, a text.
fn document(file: &FileData) -> Option<Value> {
    let (media_type, data) = data_url(&file.file_data)?;
    if media_type.starts_with("image/") {
        return Some(picture(&file.file_data));
    }
    let is_text = media_type.starts_with("text/") || media_type == "application/json";
    let source = if media_type == "application/pdf" {
        base64_source(media_type, data)
    } else if is_text {
        let text = String::from_utf8(STANDARD.decode(data).ok()?).ok()?;
        json!({"type": "text", "media_type": "text/plain", "data": text})
    } else {
        return None;
    };
    Some(json!({"type": "document", "source": source, "title": file.filename}))
}

fn base64_source(media_type: &str, data: &str) -> Value {
    json!({"type": "base64", "media_type": media_type, "data": data})
}

/// Returns the media type and the data of a `data:` URL in base64.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let head = head.strip_suffix(";base64")?;
    // Parameters, a charset above all, are not part of the type.
    Some((head.split(';').next().unwrap_or_default(), data))
}
