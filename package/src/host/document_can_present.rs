//! `document_canPresent`: a document can be shown when it says so.

use quixos_runtime::CallError;

use crate::Workspace;
use crate::workspace::document_can_present::{Context, Handler, Input, Output};

impl Handler for Workspace {
    fn handle(cx: &Context<'_>, (): Input) -> Result<Output, CallError> {
        Ok(cx.data().read()?.presentable)
    }
}
