//! `state note [read]` has no `write`.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>) {
    let _ = cx.note().write("later");
}

fn main() {}
