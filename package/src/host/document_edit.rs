//! `document_edit`: changes the fields that are given, and no others.

use quixos_runtime::CallError;

use crate::Workspace;
use crate::workspace::DocumentData;
use crate::workspace::document_edit::{Context, Handler, Input, Output};

impl Handler for Workspace {
    fn handle(cx: &Context<'_>, edit: Input) -> Result<Output, CallError> {
        let data = cx.data().read()?;
        cx.data().write(&DocumentData {
            title: edit.title.unwrap_or(data.title),
            body: edit.body.unwrap_or(data.body),
            presentable: edit.presentable.unwrap_or(data.presentable),
        })
    }
}
