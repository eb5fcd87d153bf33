//! The prompt of a model call: put together when the call is requested, and kept as it is.

use std::collections::{HashMap, HashSet};

use quixos_protocol::DraftMessage;
use quixos_runtime::CallError;

use super::Machine;
use super::mint::digits;
use super::prepare::Model;
use crate::messages::{self, Text};
use crate::past::Past;
use crate::sessions::TextData;
use crate::sessions::session_apply::CreateText;
use crate::stored::{self, Messages};
use crate::tree;

impl Machine<'_, '_> {
    /// Returns the prompt of a model call as it is kept. `listed` are the messages of the answer
    /// that asks for it, as they were recorded.
    pub(super) fn keep_prompt(
        &self,
        model: &mut Model,
        listed: Option<&[DraftMessage]>,
    ) -> Result<Messages, CallError> {
        let prompt = match (model.messages.take(), listed) {
            (Some(prompt), _) => prompt,
            (None, Some(listed)) => headed(model.system.as_deref(), listed.to_vec()),
            (None, None) => {
                let path = tree::path(self.cx, self.data.head.as_deref())?;
                let path = path.iter().map(|node| Ok(messages::message(node)?.into_draft()));
                headed(model.system.as_deref(), path.collect::<Result<_, CallError>>()?)
            }
        };
        let prompt = messages::well_formed(prompt);
        let prompt = identified(prompt, listed.unwrap_or_default())?;
        let encoded = messages::encode(self.cx, &prompt)?;
        self.keep(encoded.texts)?;
        Ok(encoded.messages)
    }

    /// Keeps texts, each once.
    pub(crate) fn keep(&self, texts: Vec<Text>) -> Result<(), CallError> {
        texts.into_iter().try_for_each(|text| self.keep_text(text))
    }

    /// Keeps a text, once.
    pub(super) fn keep_text(&self, text: Text) -> Result<(), CallError> {
        if Past::text(self.cx, &text.digest)?.is_some() {
            return Ok(());
        }
        let Text { digest, text } = text;
        let session = self.cx.receiver();
        self.cx.create_text(&CreateText { data: TextData { digest, text }, session }).map(drop)
    }
}

/// Puts the system prompt in front of messages.
fn headed(system: Option<&str>, list: Vec<DraftMessage>) -> Vec<DraftMessage> {
    system.map(DraftMessage::system).into_iter().chain(list).collect()
}

/// Gives an id to each message that has none: that of the same message where the answer recorded
/// it, else one that follows from its content, so that the same text is kept once.
fn identified(
    prompt: Vec<DraftMessage>,
    listed: &[DraftMessage],
) -> Result<Vec<DraftMessage>, CallError> {
    let named: HashSet<Option<&str>> = prompt.iter().map(|named| named.id.as_deref()).collect();
    let is_named = |listed: &&DraftMessage| named.contains(&listed.id.as_deref());
    let mut recorded: Vec<&DraftMessage> = listed.iter().filter(|it| !is_named(it)).collect();
    let mut repeated: HashMap<String, u32> = HashMap::new();
    let identify = |draft: DraftMessage| {
        if draft.id().is_some() {
            return Ok(draft);
        }
        let draft = draft.without_id();
        let same = |other: &&DraftMessage| (*other).clone().without_id() == draft;
        if let Some(position) = recorded.iter().position(same) {
            return Ok(recorded.remove(position).clone());
        }
        let content = stored::json_text(&draft)?;
        let times = repeated.entry(content.clone()).or_default();
        *times += 1;
        Ok(draft.with_id(format!("msg_{}", digits(format!("{times}{content}").as_bytes()))))
    };
    prompt.into_iter().map(identify).collect()
}
