//! `registry_create`: makes a stream at a key, or finds the one that is there and as asked for.
//!
//! A stream that is over leaves its key to the next one, unless a fork has some of it.

use quixos_runtime::{CallError, Ref};

use crate::Streams;
use crate::lineage::DEPTH;
use crate::offset::{self, START};
use crate::refusal::Refusal;
use crate::status::{ABSENT, OPEN};
use crate::streams::registry_create::{Context, Handler, Input, Output};
use crate::streams::{
    Begin, Branch, BranchPlan, Chunk, Create, Created, ForkPoint, NewStream, NewStreamLineage,
    StreamConfig, StreamData, StreamObject,
};
use crate::{form, instant};

/// The content type of a stream for which none was named.
const DEFAULT_TYPE: &str = "application/octet-stream";

impl Handler for Streams {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let wanted = Wanted::of(cx, &input)?;
        if let Some(there) = cx.streams().get(&input.key)? {
            match cx.stream(there).status()?.as_str() {
                OPEN => return confirm(cx, there, &input, &wanted),
                ABSENT => {
                    cx.streams().disconnect(&input.key)?;
                }
                _ => return Err(Refusal::Taken.into()),
            }
        }
        make(cx, input, wanted)
    }
}

/// What a stream is to be, with what it has of its source.
struct Wanted {
    config: StreamConfig,
    source: Option<Ref<StreamObject>>,
    prefix: Option<Chunk>,
    lineage: Vec<NewStreamLineage>,
}

impl Wanted {
    fn of(cx: &Context<'_>, input: &Create) -> Result<Self, CallError> {
        let expires_at = input.expires_at.as_deref();
        let expires_at = expires_at.map(|at| instant::given("expiresAt", at)).transpose()?;
        if expires_at.is_some() && input.ttl.is_some() {
            return Err(CallError::invalid("ttl", "a stream has `ttl` or `expiresAt`, not both"));
        }
        let mut config = StreamConfig {
            key: input.key.clone(),
            content_type: input.content_type.clone().unwrap_or_else(|| DEFAULT_TYPE.to_owned()),
            ttl: input.ttl,
            expires_at: expires_at.map(instant::text),
            created_at: instant::text(cx.instant()),
            base: START,
            fork: None,
        };
        let Some(fork) = &input.fork else {
            return Ok(Self { config, source: None, prefix: None, lineage: Vec::new() });
        };
        let source = cx.streams().get(&fork.source)?.ok_or(Refusal::NoSource)?;
        match cx.stream(source).status()?.as_str() {
            OPEN => {}
            ABSENT => return Err(Refusal::NoSource.into()),
            _ => return Err(Refusal::SourceGone.into()),
        }
        // Whether a stream is needed is asked down its forks, so there are not too many one below the
        // other, whether they share anything or not.
        let (mut above, mut at) = (1, source);
        while let Some(next) = cx.stream(at).source()? {
            above += 1;
            if above > DEPTH {
                return Err(Refusal::Lineage.into());
            }
            at = next;
        }
        let branch = Branch { offset: fork.offset.clone(), sub: fork.sub };
        let plan: BranchPlan = cx.stream(source).branch(&branch)?;
        if input.content_type.as_deref().is_some_and(|it| !form::is_same(it, &plan.content_type)) {
            return Err(Refusal::ContentType.into());
        }
        config.content_type = plan.content_type;
        if config.ttl.is_none() && config.expires_at.is_none() {
            (config.ttl, config.expires_at) = (plan.ttl, plan.expires_at);
        }
        config.fork = Some(ForkPoint { anchor: plan.base.clone(), sub: fork.sub });
        config.base = plan.base;
        let part = |part: crate::streams::BranchPlanLineage| NewStreamLineage {
            key: part.key,
            target: part.target,
        };
        let lineage = plan.lineage.into_iter().map(part).collect();
        Ok(Self { config, source: Some(source), prefix: plan.prefix, lineage })
    }
}

/// Answers what is there, if it is what was asked for.
fn confirm(
    cx: &Context<'_>,
    there: Ref<StreamObject>,
    input: &Create,
    wanted: &Wanted,
) -> Result<Created, CallError> {
    let (config, data) = (cx.stream(there).config()?, cx.stream(there).data()?);
    let is_same = form::is_same(&config.content_type, &wanted.config.content_type)
        && config.ttl == wanted.config.ttl
        && config.expires_at == wanted.config.expires_at
        && data.closed == input.closed
        && cx.stream(there).source()? == wanted.source
        && is_same_fork(&config, input, wanted);
    if !is_same {
        return Err(Refusal::Taken.into());
    }
    Ok(answer(there, false, config, &data))
}

/// Tells whether a fork begins where it was asked to. Where nobody said, any place will do: the
/// source may have grown since.
fn is_same_fork(config: &StreamConfig, input: &Create, wanted: &Wanted) -> bool {
    let says_where = input.fork.as_ref().is_some_and(|fork| fork.offset.is_some());
    match (&config.fork, &wanted.config.fork) {
        (Some(there), Some(wanted)) => {
            there.sub == wanted.sub && (!says_where || there.anchor == wanted.anchor)
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn make(cx: &Context<'_>, input: Create, wanted: Wanted) -> Result<Created, CallError> {
    let Wanted { config, source, prefix, lineage } = wanted;
    let data = StreamData {
        tail: config.base.clone(),
        closed: false,
        closed_by: None,
        deleted: false,
        touched_at: config.created_at.clone(),
        sequence: None,
    };
    let new = NewStream { config: config.clone(), data, source, lineage };
    let stream = cx.create_stream(&new)?;
    cx.streams().connect(&input.key, stream)?;
    cx.stream(stream).begin(&Begin { prefix, body: input.body, close: input.closed })?;
    let data = cx.stream(stream).data()?;
    Ok(answer(stream, true, config, &data))
}

fn answer(
    stream: Ref<StreamObject>,
    created: bool,
    config: StreamConfig,
    data: &StreamData,
) -> Created {
    Created {
        stream,
        created,
        content_type: config.content_type,
        tail: offset::text(&data.tail),
        closed: data.closed,
    }
}
