//! `edge top [resolve]` has no `connect`.

include!("sample.rs");

fn work(cx: &sample::desk_work::Context<'_>, page: sample::desk_work::Input) {
    let _ = cx.top().connect(page);
}

fn main() {}
