//! `edge shelf [resolve, connect]` has no `disconnect`.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>) {
    let _ = cx.shelf().disconnect("a");
}

fn main() {}
