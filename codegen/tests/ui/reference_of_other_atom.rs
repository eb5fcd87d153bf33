//! `edge pages` leads to pages.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>, pen: quixos_runtime::Ref<sample::Pen>) {
    let _ = cx.pages().connect(pen);
}

fn main() {}
