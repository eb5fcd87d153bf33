//! `desk_rest` is granted nothing, so it creates nothing.

include!("sample.rs");

fn rest(cx: &sample::desk_rest::Context<'_>, input: &sample::desk_work::CreatePage) {
    let _ = cx.create_page(input);
}

fn main() {}
