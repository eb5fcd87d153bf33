//! `stream journal [read]` has no `append`.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>) {
    let _ = cx.journal().append("a line");
}

fn main() {}
