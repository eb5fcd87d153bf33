//! `registry_wakeful`: keeps the list of the sessions that have something to do or to wait for, so
//! that an engine that starts looks at no others.

use quixos_runtime::CallError;

use crate::Sessions;
use crate::sessions::registry_wakeful::{Context, Handler, Input, Output};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        if input.awake {
            cx.awake().connect(input.session)?;
        } else {
            cx.awake().disconnect(input.session)?;
        }
        Ok(())
    }
}
