//! `sessions` and `session …`: the sessions of a store, for whoever operates them.
//!
//! What a session is, where it stands and what its log comes to is said by the crate that has its
//! rules; here it is found, asked, spoken to and printed.

mod follow;
mod line;
pub(crate) mod list;
mod replay;
mod show;
mod speak;
pub(crate) mod words;

use quixos_runtime::{Atom, CallError, Ref};
use quixos_session::Reader;
use quixos_session::sessions::SessionObject;
use serde_json::Value;

use super::explain::explain_session;
use crate::language::{Deed, Fault, Flags, Named, Variables as _};
use crate::output::{Answer, Output};
use crate::scope::Scope;
use crate::shell::Shell;
use crate::stop::Stop;

/// Does something with a session.
///
/// # Errors
/// A session that is not there; whatever it is asked.
pub(crate) fn act(
    shell: &mut Shell,
    session: &Named,
    deed: &Deed,
    flags: Flags,
    output: &mut Output,
) -> Result<Answer, Stop> {
    match deed {
        Deed::Show { limit } => shell.read(|scope| {
            let reader = find(scope, session)?;
            Ok(show::show(scope, &reader, *limit)?)
        }),
        Deed::Explain { turn } => shell.read(|scope| {
            let reader = find(scope, session)?;
            let explained = explain_session(scope, &reader, turn.as_deref());
            explained.map_err(|error| Stop::Call(error, Some((session.span(), None))))
        }),
        Deed::Replay { at } => shell.read(|scope| {
            let reader = find(scope, session)?;
            replay::replay(&reader, *at)
        }),
        Deed::Follow { from, limit } => follow::follow(shell, session, *from, *limit, output),
        Deed::Speak(speech) => speak::speak(shell, session, speech, flags, output),
    }
}

/// Finds the session that a command names.
///
/// # Errors
/// That it is not there, or is there in several registries.
pub(crate) fn find<'s>(scope: &Scope<'s>, named: &Named) -> Result<Reader<'s>, Stop> {
    let (id, at) = target(scope, named)?;
    match at {
        Some(session) => Ok(Reader::on(scope.snapshot, session)),
        None => {
            let what = format!("a session `{id}`");
            Err(Stop::Call(CallError::NotFound { what }, Some((named.span(), None))))
        }
    }
}

/// Returns the id of the session that a command names, and the session, if it is there.
fn target(scope: &Scope<'_>, named: &Named) -> Result<(String, Option<Ref<SessionObject>>), Stop> {
    let id = match named {
        Named::Id(id) => id.name.clone(),
        Named::Path(path) => {
            let value = scope.value(path)?;
            // What `session send` answered names the session, too.
            let value = value.get("object").cloned().unwrap_or(value);
            let Value::String(text) = value else {
                let fault = Fault::new(named.span(), "this names no session");
                return Err(fault.help("a session goes by its id or its reference").into());
            };
            match quixos_runtime::parse_reference(scope.definitions(), &text) {
                Ok(object) => match Ref::<SessionObject>::from_object(object) {
                    Some(session) if scope.snapshot.exists(object)? => {
                        return Ok((text, Some(session)));
                    }
                    Some(_) => return Ok((text, None)),
                    None => {
                        let message = format!("this is no `{}`", SessionObject::ID);
                        return Err(Fault::new(named.span(), message).into());
                    }
                },
                // A text that is no reference is an id.
                Err(_) => text,
            }
        }
    };
    let found = Reader::find(scope.snapshot, &id)?;
    match found.as_slice() {
        [] => Ok((id, None)),
        [one] => Ok((id, Some(*one))),
        [one, other, ..] => {
            let (one, other) = (scope.text(one.object()), scope.text(other.object()));
            let message = format!("`{id}` may be `{one}` or `{other}`");
            Err(Fault::new(named.span(), message).help("name it by its reference").into())
        }
    }
}
