//! Deltas put together to blocks: runs of text, runs of reasoning, calls of tools.
//!
//! Whatever begins closes an open run. A tool's call begins once its name is known, and is closed
//! by what begins next if its arguments are whole by then: some providers mix the pieces of several
//! calls. So one run is open at most, and any number of calls.

use quixos_protocol::{StreamDelta, ToolCallDelta};
use serde::de::IgnoredAny;

/// What a block is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Text,
    Reasoning,
    /// A call of a tool: the id that the model gave it, and the tool.
    ToolCall {
        id: String,
        name: String,
    },
}

/// A block.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Bytes of the text, or the reasoning, before it.
    pub(super) at: usize,
    /// All that it said so far.
    pub(super) said: String,
    is_open: bool,
}

/// What happens to a block, by its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Begins(usize),
    Ends(usize),
}

/// The blocks of a reply, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) all: Vec<Block>,
    /// What happened to them, in order.
    pub(super) changes: Vec<Change>,
    /// Calls whose name has not come yet, with what came of their arguments.
    nameless: Vec<(String, String)>,
    text: usize,
    reasoning: usize,
}

impl Blocks {
    /// Takes a delta. Its reasoning comes before its text, and that before its calls.
    pub(super) fn grow(&mut self, delta: &StreamDelta) {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(reasoning) = said(&delta.reasoning) {
            self.say(Kind::Reasoning, &reasoning);
            self.reasoning += reasoning.len();
        }
        if let Some(text) = said(&delta.text) {
            self.say(Kind::Text, &text);
            self.text += text.len();
        }
        delta.tool_calls.iter().for_each(|call| self.call(call));
    }

    /// Ends all that is open.
    pub(super) fn end(&mut self) {
        self.close(|_| true);
    }

    fn say(&mut self, kind: Kind, more: &str) {
        match self.all.last_mut() {
            Some(last) if last.is_open && last.kind == kind => last.said.push_str(more),
            Some(_) | None => self.begin(kind, more.to_owned()),
        }
    }

    fn call(&mut self, delta: &ToolCallDelta) {
        let more = delta.arguments.as_deref().unwrap_or_default();
        let is_it = |block: &&mut Block| matches!(&block.kind, Kind::ToolCall { id, .. } if *id == delta.id);
        if let Some(block) = self.all.iter_mut().rev().find(is_it) {
            // What comes behind whole arguments is none of them.
            if block.is_open {
                block.said.push_str(more);
            }
            return;
        }
        let place = self.nameless.iter().position(|(id, _)| *id == delta.id);
        let mut said = place.map_or_else(String::new, |place| self.nameless.remove(place).1);
        said.push_str(more);
        match delta.name.clone().filter(|name| !name.is_empty()) {
            Some(name) => self.begin(Kind::ToolCall { id: delta.id.clone(), name }, said),
            None => self.nameless.push((delta.id.clone(), said)),
        }
    }

    fn begin(&mut self, kind: Kind, said: String) {
        self.close(|block| match block.kind {
            Kind::Text | Kind::Reasoning => true,
            Kind::ToolCall { .. } => serde_json::from_str::<IgnoredAny>(&block.said).is_ok(),
        });
        let at = match kind {
            Kind::Text => self.text,
            Kind::Reasoning => self.reasoning,
            Kind::ToolCall { .. } => 0,
        };
        self.changes.push(Change::Begins(self.all.len()));
        self.all.push(Block { kind, at, said, is_open: true });
    }

    fn close(&mut self, is_over: impl Fn(&Block) -> bool) {
        for (index, block) in self.all.iter_mut().enumerate() {
            if block.is_open && is_over(block) {
                block.is_open = false;
                self.changes.push(Change::Ends(index));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> StreamDelta {
        StreamDelta { text: Some(text.to_owned()), ..StreamDelta::default() }
    }

    fn call(id: &str, name: Option<&str>, arguments: &str) -> StreamDelta {
        let (id, name) = (id.to_owned(), name.map(str::to_owned));
        let call = ToolCallDelta { id, name, arguments: Some(arguments.to_owned()) };
        StreamDelta { tool_calls: vec![call], ..StreamDelta::default() }
    }

    fn grown(deltas: &[StreamDelta]) -> Blocks {
        let mut blocks = Blocks::default();
        deltas.iter().for_each(|delta| blocks.grow(delta));
        blocks
    }

    fn said(blocks: &Blocks) -> Vec<&str> {
        blocks.all.iter().map(|block| block.said.as_str()).collect()
    }

    #[test]
    fn a_change_of_kind_ends_one_block_and_begins_the_next() {
        let both = StreamDelta { reasoning: Some("Hm".to_owned()), ..text("So") };
        let more = StreamDelta { reasoning: Some("But".to_owned()), ..StreamDelta::default() };
        let blocks = grown(&[both, text(" it"), text(""), more, text("is")]);
        assert_eq!(said(&blocks), ["Hm", "So it", "But", "is"]);
        use Change::{Begins, Ends};
        let changes = [Begins(0), Ends(0), Begins(1), Ends(1), Begins(2), Ends(2), Begins(3)];
        assert_eq!(blocks.changes, changes);
        let at: Vec<usize> = blocks.all.iter().map(|block| block.at).collect();
        assert_eq!(at, [0, 0, 2, 5]);
    }

    #[test]
    fn a_call_begins_with_its_name_and_ends_when_its_arguments_are_whole() {
        let deltas = [
            call("a", None, "{\"x\""),
            text("So"),
            call("a", Some("find"), ":1}"),
            call("b", Some("look"), ""),
            call("c", Some("look"), "{"),
            call("b", None, "{}"),
            call("a", None, "late"),
            call("c", None, "}"),
        ];
        let mut blocks = grown(&deltas);
        assert_eq!(said(&blocks), ["So", "{\"x\":1}", "{}", "{}"]);
        let ended = |blocks: &Blocks| {
            let ends = blocks.changes.iter().filter(|it| matches!(it, Change::Ends(_)));
            ends.copied().collect::<Vec<_>>()
        };
        // When `c` begins, `b` has no arguments yet: it stays open.
        assert_eq!(ended(&blocks), [Change::Ends(0), Change::Ends(1)]);
        blocks.end();
        assert_eq!(ended(&blocks)[2..], [Change::Ends(2), Change::Ends(3)]);
        blocks.end();
        assert_eq!(ended(&blocks).len(), 4);
    }
}
