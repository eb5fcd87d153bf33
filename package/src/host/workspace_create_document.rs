//! `workspace_createDocument`: a document of this workspace.

use quixos_runtime::CallError;

use crate::Workspace;
use crate::workspace::workspace_create_document::{
    Context, CreateDocument, Handler, Input, Output,
};

impl Handler for Workspace {
    fn handle(cx: &Context<'_>, data: Input) -> Result<Output, CallError> {
        cx.create_document(&CreateDocument { data, workspace: cx.receiver() })
    }
}
