//! A pen is not readable.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>, pen: quixos_runtime::Ref<sample::Pen>) {
    let _ = cx.readable(pen);
}

fn main() {}
