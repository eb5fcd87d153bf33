//! `workspace_rename`: sets the name.

use quixos_runtime::CallError;

use crate::Workspace;
use crate::workspace::WorkspaceData;
use crate::workspace::workspace_rename::{Context, Handler, Input, Output};

impl Handler for Workspace {
    fn handle(cx: &Context<'_>, name: Input) -> Result<Output, CallError> {
        cx.data().write(&WorkspaceData { name })
    }
}
