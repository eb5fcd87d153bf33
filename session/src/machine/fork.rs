//! Messages are recorded, and what a fork strands is called off.
//!
//! Only the answer to a decision writes messages. Work stays if it was begun at or above the
//! message from which the conversation goes on, and is void if it was begun on what is left behind.

use quixos_protocol::DraftMessage;
use quixos_protocol::Role;
use quixos_runtime::CallError;

use super::calls::{Dropped, Void};
use super::{Machine, Minted};
use crate::past::Past;
use crate::reconcile::Plan;
use crate::sessions::NodeData;
use crate::sessions::session_apply::CreateMessage;
use crate::{stored, tree};

impl Machine<'_, '_> {
    /// Writes what a plan says, moves the head, and returns the whole list under its ids.
    pub(super) fn record(
        &mut self,
        plan: Plan,
        turn: Option<&str>,
    ) -> Result<Vec<DraftMessage>, CallError> {
        let Plan { base, known, writes } = plan;
        let mut list = known;
        if list.is_empty() && writes.is_empty() {
            return Ok(list);
        }
        let was_at = self.data.head.clone();
        let mut parent = base.clone();
        for draft in writes {
            let node = self.write(draft, parent, turn)?;
            list.push(crate::messages::message(&node)?.into_draft());
            parent = Some(node.id);
        }
        if parent == was_at {
            return Ok(list);
        }
        if let Some(head) = parent.as_deref().filter(|head| base.as_deref() == Some(head)) {
            self.log_head_moved(turn, head)?;
        }
        self.data.head = parent;
        if base != was_at {
            self.void_stranded(base.as_deref())?;
            self.resolve_versions()?;
            self.resolve_pauses()?;
        }
        Ok(list)
    }

    fn write(
        &mut self,
        draft: DraftMessage,
        parent: Option<String>,
        turn: Option<&str>,
    ) -> Result<NodeData, CallError> {
        let depth = match &parent {
            Some(parent) => self.cx.node(parent)?.map_or(0, |node| node.depth + 1),
            None => 0,
        };
        let id = match draft.id() {
            Some(id) => id.to_owned(),
            None => self.mint(Minted::Message),
        };
        let message = draft.into_message(&id);
        let node = NodeData {
            id,
            parent,
            depth,
            index: self.data.nodes,
            message: stored::json_text(&message)?,
        };
        self.data.nodes += 1;
        self.log_message_new(turn, &node)?;
        let session = self.cx.receiver();
        let object = self.cx.create_message(&CreateMessage { data: node.clone(), session })?;
        if let Some(call) = message.tool_call_id.filter(|_| message.role == Role::Tool) {
            self.cx.results().disconnect(&call)?;
            self.cx.results().connect(&call, object)?;
        }
        self.mirror_message(&node)?;
        Ok(node)
    }

    /// Calls off what was begun below `base`, the last message that is kept.
    fn void_stranded(&mut self, base: Option<&str>) -> Result<(), CallError> {
        let mut stranded = Vec::new();
        for call in &self.live.calls {
            if !tree::is_on_path(self.cx, base, call.anchor.as_deref())? {
                stranded.push(call.id.clone());
            }
        }
        self.void_calls(Void::Fork, |call| stranded.contains(&call.id))?;
        let mut untold = Vec::new();
        for decision in &self.live.decisions {
            let Some(call) = &decision.call else { continue };
            let ended = self.cx.ended_call(call)?.filter(|_| self.call(call).is_none());
            let Some(ended) = ended else { continue };
            if !tree::is_on_path(self.cx, base, ended.anchor.as_deref())? {
                untold.push(decision.id.clone());
            }
        }
        self.drop_decisions(Dropped::Fork, |decision| untold.contains(&decision.id))
    }
}
