//! `interface readable using [text.get]` has `text` and nothing else.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>, page: sample::desk_work::Input) {
    let _ = cx.readable(page).tear();
}

fn main() {}
