//! All that is granted compiles.

include!("sample.rs");

use quixos_runtime::{CallError, Caller, InterfaceRef, Ref, Runtime};
use sample::{Desk, Page, Pen, Readable, Work};

struct Finished;

impl sample::desk_work::Handler for Finished {
    fn handle(cx: &sample::desk_work::Context<'_>, page: Ref<Page>) -> Result<bool, CallError> {
        let _: String = cx.note().read()?;
        cx.mark().write(1)?;
        let _: Option<Ref<Page>> = cx.top().resolve()?;
        let _: Option<InterfaceRef<Readable>> = cx.shelf().get("a")?;
        cx.shelf().connect("a", page)?;
        let _: Vec<String> = cx.journal().read(0, 10)?;
        let _: u64 = cx.orders().append("a")?;
        let _: String = cx.readable(page).text()?;
        let _: Ref<Pen> =
            cx.create_pen(&sample::desk_work::CreatePen { colour: "red".to_owned() })?;
        let new = cx.create_page(&sample::desk_work::CreatePage { text: cx.note().read()? })?;
        cx.pages().connect(new)
    }
}

impl sample::desk_rest::Handler for Finished {
    fn handle(_: &sample::desk_rest::Context<'_>, (): ()) -> Result<(), CallError> {
        Ok(())
    }
}

impl sample::page_tear::Handler for Finished {
    fn handle(cx: &sample::page_tear::Context<'_>, (): ()) -> Result<(), CallError> {
        cx.text().write("")
    }
}

impl sample::page_burn::Handler for Finished {
    fn handle(_: &sample::page_burn::Context<'_>, (): ()) -> Result<(), CallError> {
        Ok(())
    }
}

async fn host(runtime: &Runtime, desk: Ref<Desk>, page: Ref<Page>) -> Result<(), CallError> {
    let session = runtime.session(Caller::operator("anna"));
    Work::on(&session, desk).work(page).await?;
    Readable::on(&session, page).tear().await
}

fn main() {
    let _ = (sample::package::<Finished>, host);
}
