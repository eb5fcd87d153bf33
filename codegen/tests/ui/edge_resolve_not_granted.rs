//! `edge pages [connect]` cannot be looked into.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>, page: sample::desk_work::Input) {
    let _ = cx.pages().contains(page);
}

fn main() {}
