//! `burn` is internal: a granted operation may call it, a host may not.

include!("sample.rs");

async fn host(session: &quixos_runtime::Session, page: quixos_runtime::Ref<sample::Page>) {
    let _ = sample::Readable::on(session, page).burn().await;
}

fn main() {
    let _ = host;
}
