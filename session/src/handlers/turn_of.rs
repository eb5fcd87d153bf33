//! `session_turn_of`: which turn a request is, and where the log says that it began.

use quixos_runtime::CallError;

use crate::Sessions;
use crate::machine::turn_of_waiting;
use crate::reference::object_id;
use crate::sessions::TurnRecord;
use crate::sessions::session_turn_of::{Context, Handler, Input, Output};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, request: Input) -> Result<Output, CallError> {
        let id = object_id(&cx.reference_text(request)).to_owned();
        if let Some(&turn) = cx.session(cx.receiver()).begun_at(&id)?.first() {
            return cx.turn(turn).data().map(Some);
        }
        if !cx.waiting().contains(request)? {
            return Ok(None);
        }
        let turn = turn_of_waiting(&id, &cx.work(request).admission()?);
        Ok(Some(TurnRecord { id: turn, request: id, began: cx.events().len()? }))
    }
}
