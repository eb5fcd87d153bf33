//! `state mark [write]` has no `read`.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>) {
    let _ = cx.mark().read();
}

fn main() {}
