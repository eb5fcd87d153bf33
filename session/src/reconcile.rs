//! What a list of messages means to the tree: which of it is there, and which is news.
//!
//! Identity is by id alone. The front of a list that is in the tree says where one stands; from the
//! first message that is not, all is written, so that each branch is one straight line of its own.

use std::collections::{HashMap, HashSet};

use quixos_protocol::{DraftMessage, Role};
use quixos_runtime::CallError;

use crate::past::Past;
use crate::{messages, tree};

/// What writing a list would do.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The last message of the list's front that is in the tree; the news attach there, or at the
    /// root if there is none.
    pub(crate) base: Option<String>,
    /// The front of the list that is in the tree.
    pub(crate) known: Vec<DraftMessage>,
    /// The news, each below the one before. Ids are those to be kept; without one, one is minted.
    pub(crate) writes: Vec<DraftMessage>,
}

/// Returns what writing a list would do whose echoes are folded.
pub(crate) fn plan(past: &impl Past, list: Vec<DraftMessage>) -> Result<Plan, CallError> {
    let mut plan = Plan { base: None, known: Vec::new(), writes: Vec::new() };
    let mut seen = HashSet::new();
    for draft in list {
        let is_known = is_known(past, &draft)?;
        if is_known && plan.writes.is_empty() {
            plan.base.clone_from(&draft.id);
            plan.known.push(draft);
            continue;
        }
        let keeps = !is_known && draft.id().is_some_and(|id| seen.insert(id.to_owned()));
        plan.writes.push(if keeps { draft } else { draft.without_id() });
    }
    Ok(plan)
}

/// Gives each answer of a tool that is in the tree already, under whatever id, the id that it has
/// there.
///
/// A client that keeps its own list gives ids of its own to answers that the tree got by another
/// way. Where a call was answered on several branches, the answer on the active path is meant, else
/// the newest.
pub(crate) fn fold(
    past: &impl Past,
    head: Option<&str>,
    list: Vec<DraftMessage>,
) -> Result<Vec<DraftMessage>, CallError> {
    let mut path = None;
    list.into_iter()
        .map(|draft| {
            let echoed = match &draft.tool_call_id {
                Some(call) if draft.role == Role::Tool && !is_known(past, &draft)? => {
                    result_of(past, head, call, &mut path)?
                }
                Some(_) | None => None,
            };
            Ok(match echoed {
                Some(id) => draft.with_id(id),
                None => draft,
            })
        })
        .collect()
}

fn is_known(past: &impl Past, draft: &DraftMessage) -> Result<bool, CallError> {
    Ok(match draft.id() {
        Some(id) => past.has_node(id)?,
        None => false,
    })
}

/// What the active path has, read once for a whole list.
struct Path {
    ids: HashSet<String>,
    /// The last answer to each call.
    answers: HashMap<String, String>,
}

impl Path {
    fn read(past: &impl Past, head: Option<&str>) -> Result<Self, CallError> {
        let mut path = Self { ids: HashSet::new(), answers: HashMap::new() };
        for node in tree::path(past, head)? {
            if let Some(call) = messages::message(&node)?.tool_call_id {
                path.answers.insert(call, node.id.clone());
            }
            path.ids.insert(node.id);
        }
        Ok(path)
    }
}

/// Returns the id of the recorded answer to a call: on the active path, else the newest.
fn result_of(
    past: &impl Past,
    head: Option<&str>,
    call: &str,
    path: &mut Option<Path>,
) -> Result<Option<String>, CallError> {
    let Some(newest) = past.result(call)? else { return Ok(None) };
    let path = match path {
        Some(path) => path,
        None => path.insert(Path::read(past, head)?),
    };
    if path.ids.contains(&newest.id) {
        return Ok(Some(newest.id));
    }
    Ok(Some(path.answers.get(call).cloned().unwrap_or(newest.id)))
}
