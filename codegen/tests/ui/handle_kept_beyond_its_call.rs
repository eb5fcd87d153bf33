//! A grant ends with its call.

include!("sample.rs");

fn keep(cx: &sample::desk_work::Context<'_>) -> sample::desk_work::Note<'static> {
    cx.note()
}

fn main() {}
