//! `request_upsertItem`: what an attempt writes into the thread, created or brought up to date by
//! its key.
//!
//! The item of a key is found through the keyed inverse, so it costs the same among ten items and
//! among ten thousand. An item of kind `steer` that is there is answered untouched, whatever else
//! the input says, its subject and control included; only the fence and the form were checked.

use quixos_runtime::{CallError, Fence, Ref};

use crate::AgentRuntime;
use crate::agent_runtime::request_upsert_item::{Context, CreateItem, Handler, Input, Output};
use crate::agent_runtime::{AgentItemObject, ItemData, item_checkpoint};
use crate::{fence, item};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        item::check("data.", &input.data)?;
        let fence = Fence { attempt: input.attempt.clone(), generation: input.generation };
        fence::require(&cx.progress().read()?, &fence)?;
        let items = cx.request(cx.receiver()).items_at(&input.data.key)?;
        match items.first() {
            None => create(cx, &fence, input),
            Some(item) if input.data.kind == item::STEER => steered(cx, *item),
            Some(item) => update(cx, *item, input),
        }
    }
}

fn create(
    cx: &Context<'_>,
    fence: &Fence,
    input: Input,
) -> Result<Ref<AgentItemObject>, CallError> {
    item::require_control(&input.data, fence)?;
    let presentation_mount = match input.subject {
        None => None,
        Some(subject) if cx.presentable(subject).can_present()? => Some(cx.create_mount()?.into()),
        Some(_) => return Err(CallError::invalid("subject", "says that it cannot be presented")),
    };
    let request = cx.receiver();
    let thread = cx.request(request).thread()?;
    let sequence = cx.thread(thread).allocate_item(&input.data.updated_at)?;
    cx.create_item(&CreateItem {
        data: ItemData { sequence, ..input.data },
        thread,
        request,
        subject: input.subject,
        presentation_mount,
    })
}

fn steered(
    cx: &Context<'_>,
    item: Ref<AgentItemObject>,
) -> Result<Ref<AgentItemObject>, CallError> {
    let data = cx.item(item).data()?;
    if data.kind == item::STEER {
        Ok(item)
    } else {
        let message = format!("the item `{}` is there, and its kind is `{}`", data.key, data.kind);
        Err(CallError::conflict(message))
    }
}

fn update(
    cx: &Context<'_>,
    item: Ref<AgentItemObject>,
    input: Input,
) -> Result<Ref<AgentItemObject>, CallError> {
    let Input { attempt, generation, data, subject } = input;
    if subject.is_some() && subject != cx.item(item).subject()? {
        let message = format!("the item `{}` is there with another subject, or none", data.key);
        return Err(CallError::conflict(message));
    }
    cx.item(item).checkpoint(&item_checkpoint::Input { attempt, generation, data })?;
    Ok(item)
}
