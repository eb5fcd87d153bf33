//! `stream orders [append]` has no `read`.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>) {
    let _ = cx.orders().read(0, 10);
}

fn main() {}
