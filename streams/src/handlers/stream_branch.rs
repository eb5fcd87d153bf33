//! `stream_branch`: says what a fork of a stream is made from.
//!
//! Where a fork leaves its source in the middle of an append, the part of the append that it has is
//! copied; all that is ahead of it is shared.

use quixos_runtime::{CallError, Ref};

use crate::Streams;
use crate::form::Form;
use crate::json;
use crate::lineage::{Content, DEPTH, Parts};
use crate::offset::{self, Place, START};
use crate::refusal::Refusal;
use crate::streams::stream_branch::{Context, Handler, Input, Output};
use crate::streams::{BranchPlan, BranchPlanLineage, Chunk, Position, StreamObject};

impl Handler for Streams {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let (config, data) = (cx.config().read()?, cx.data().read()?);
        let content = Content::of(cx, data.tail.clone())?;
        let base = match input.offset {
            None => data.tail,
            Some(offset) => match offset::parse("fork.offset", &offset)? {
                Place::Start => START,
                Place::End => data.tail,
                Place::At(place) => known(&content, place)?,
            },
        };
        let prefix = match input.sub {
            0 => None,
            sub => Some(part(&content, Form::of(&config.content_type), &base, sub)?),
        };
        let lineage = content.of_fork(base.events, cx.receiver());
        if lineage.len() > DEPTH {
            return Err(Refusal::Lineage.into());
        }
        let lineage = lineage.into_iter().map(|(key, target)| BranchPlanLineage { key, target });
        Ok(BranchPlan {
            content_type: config.content_type,
            ttl: config.ttl,
            expires_at: config.expires_at,
            base,
            prefix,
            lineage: lineage.collect(),
        })
    }
}

/// Returns a place if an append ended there.
fn known<P: Parts>(content: &Content<'_, P>, place: Position) -> Result<Position, CallError> {
    let bytes = match place.events.checked_sub(1) {
        None => Some(START.bytes),
        Some(last) => content.at(last)?.map(|chunk| chunk.end),
    };
    if bytes == Some(place.bytes) { Ok(place) } else { Err(Refusal::ForkPoint.into()) }
}

/// Returns the first messages, or bytes, of the append behind a place.
fn part<P: Parts>(
    content: &Content<'_, P>,
    form: Form,
    base: &Position,
    sub: u64,
) -> Result<Chunk, CallError> {
    let chunk = content.at(base.events)?.ok_or(Refusal::ForkPoint)?;
    let has = match form {
        Form::Json => u64::from(chunk.messages),
        Form::Text | Form::Binary => chunk.data.len() as u64,
    };
    let count = usize::try_from(sub).ok().filter(|_| sub <= has).ok_or(Refusal::ForkPoint)?;
    let (data, messages) = match form {
        Form::Json => (json::first(&chunk.data, count)?, u32::try_from(sub).unwrap_or(u32::MAX)),
        Form::Text | Form::Binary => (chunk.data[..count].to_vec(), 1),
    };
    let end = base.bytes.saturating_add(data.len() as u64);
    Ok(Chunk { data, messages, end })
}

impl Parts for Context<'_> {
    fn lineage(&self) -> Result<Vec<(String, Ref<StreamObject>)>, CallError> {
        Context::lineage(self).all()
    }

    fn own(&self, from: u64, limit: usize) -> Result<Vec<Chunk>, CallError> {
        self.content().read(from, limit)
    }

    fn of(
        &self,
        ancestor: Ref<StreamObject>,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Chunk>, CallError> {
        self.stream(ancestor).content(from, limit)
    }
}
