//! How a host calls by JSON: any member of any object, by name.
//!
//! | member | input | value |
//! | --- | --- | --- |
//! | state | `null` | the state |
//! | edge with one target | `null` | the reference, or `null` |
//! | set | `null`, or `{"after", "limit"}`, both optional | an array of references |
//! | map | the same, or `{"key"}` | an array of `{"key", "target"}`; at a key the reference, or `null` |
//! | keyed inverse | the same | the same; at a key an array of references |
//! | stream | `null`, or `{"from", "limit"}`, both optional | an array of `{"offset", "commit", "instant", "event"}` |
//! | operation | its input | its output |
//!
//! An id in JSON is no authority: the session's door decides.

use quixos_schema::{Cardinality, InterfaceIndex, Served, Verb, meant};
use serde_json::{Map, Value as Json, json};

use crate::error::CallError;
use crate::lane::Done;
use crate::object;
use crate::overlay::Base;
use crate::preview::{self, Preview};
use crate::reference::ObjectRef;
use crate::request::{Deed, MemberAt, Request};
use crate::resolve::Resolved;
use crate::session::Session;
use crate::stream;
use crate::transaction::Access;
use crate::value::{Layout, Value, parse_reference};

/// What a call by JSON came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// What it answered.
    pub value: Json,
    /// Its commit, if it made one.
    pub commit: Option<u64>,
}

impl Session {
    /// Uses a member of an object with the one verb that it takes. The member is named by its name
    /// alone where that is clear, else as `Interface.member`.
    ///
    /// # Errors
    /// `invalid` with the path to what does not fit; `not-found`, `capability` at the door;
    /// whatever the operation answers.
    pub async fn invoke_json(
        &self,
        on: ObjectRef,
        member: &str,
        input: &Json,
    ) -> Result<Answer, CallError> {
        let at = self.find_by_name(on, member)?;
        let answer = match at.served {
            Served::Operation(_) | Served::Append(_) => {
                let input = self.encode(self.input_layout(on, at)?, input)?;
                let Done { output, commit } = self.call(on, at, input).await?;
                let layout = self.output_layout(at);
                return Ok(Answer { value: self.decode(layout, &output)?, commit });
            }
            Served::State(slot) => {
                nothing(input)?;
                self.read(|base| self.state_json(base, on, at, slot)).await?
            }
            Served::Edge(_) | Served::Inverse(_) => {
                let asked = Asked::read(self, input, &self.edge(on, at)?)?;
                self.read(|base| self.edge_json(base, on, at, &asked)).await?
            }
            Served::Stream(slot) => {
                let (from, limit) = from_and_limit(input)?;
                self.read(|base| self.stream_json(base, on, at, slot, from, limit)).await?
            }
        };
        Ok(Answer { value: answer, commit: None })
    }

    /// Does the same as [`Session::invoke_json`] would, on the store as it is, shows what it came
    /// to and what it would change, and keeps nothing of it.
    ///
    /// # Errors
    /// As [`Session::invoke_json`].
    pub async fn preview_json(
        &self,
        on: ObjectRef,
        member: &str,
        input: &Json,
    ) -> Result<Preview, CallError> {
        let at = self.find_by_name(on, member)?;
        if !matches!(at.served, Served::Operation(_) | Served::Append(_)) {
            let Answer { value, .. } = self.invoke_json(on, member, input).await?;
            return Ok(Preview { answer: value, changes: Vec::new(), trace: Vec::new() });
        }
        let input = self.encode(self.input_layout(on, at)?, input)?;
        let layout = self.output_layout(at);
        let request = self.request(self.deed(on, at)?, input);
        self.preview(&request, |output| self.decode(layout, output)).await
    }

    /// Creates an object of an atom that may be created at the door; the atom by its name or id.
    ///
    /// # Errors
    /// `invalid` with the path to what does not fit; `not-found`, `capability`.
    pub async fn create_json(&self, atom: &str, input: &Json) -> Result<Answer, CallError> {
        let (deed, input) = self.creation(atom, input)?;
        let Done { output, commit } = self.write(deed, input).await?;
        Ok(Answer { value: self.created(&output)?, commit })
    }

    /// Does the same as [`Session::create_json`] would, and keeps nothing of it.
    ///
    /// # Errors
    /// As [`Session::create_json`].
    pub async fn preview_create_json(
        &self,
        atom: &str,
        input: &Json,
    ) -> Result<Preview, CallError> {
        let (deed, input) = self.creation(atom, input)?;
        self.preview(&self.request(deed, input), |output| self.created(output)).await
    }

    async fn preview(
        &self,
        request: &Request,
        answer: impl Fn(&[u8]) -> Result<Json, CallError>,
    ) -> Result<Preview, CallError> {
        let model = &self.inner.shared.model;
        self.read(|base| {
            let transaction = self.beside(base, Access::Write, true)?;
            let performed = request.perform(&transaction, model)?;
            Ok(Preview {
                answer: answer(&performed.output)?,
                changes: preview::changes(&transaction, model)?,
                trace: transaction.steps(),
            })
        })
        .await
    }

    fn creation(&self, name: &str, input: &Json) -> Result<(Deed, Vec<u8>), CallError> {
        let definitions = &self.inner.shared.model.definitions;
        let found = definitions.atoms().find(|(_, atom)| atom.name == name || atom.id == name);
        let Some((at, atom)) = found else {
            let names = definitions.atoms.iter().map(|atom| atom.name.as_str());
            return Err(not_found("an atom", name, meant(name, names)));
        };
        let Some(root) = &self.inner.shared.model.atom(at).root else {
            let why = "the atom is not created at the door";
            let actor = &self.caller.actor;
            return Err(crate::capability::denied(actor, &atom.name, Verb::Create, None, why));
        };
        Ok((Deed::Create { atom: at }, self.encode(&root.input, input)?))
    }

    fn created(&self, output: &[u8]) -> Result<Json, CallError> {
        let object: ObjectRef = object::stored(output, || "a new reference".into())?;
        Ok(self.text(object))
    }

    /// Finds a member by its name.
    fn find_by_name(&self, on: ObjectRef, name: &str) -> Result<MemberAt, CallError> {
        let model = &self.inner.shared.model;
        let definitions = &model.definitions;
        let atom = definitions
            .atom_of_tag(on.atom)
            .ok_or_else(|| CallError::NotFound { what: model.text(on) })?;
        let (interface, member) = match name.split_once('.') {
            Some((interface, member)) => (Some(interface), member),
            None => (None, name),
        };
        let implemented =
            || definitions.atom(atom).implements.iter().map(|it| it.interface.interface);
        let named =
            |at: &InterfaceIndex| interface.is_none_or(|it| definitions.interface(*at).name == it);
        let position = |at: InterfaceIndex| {
            let members = &definitions.interface(at).members;
            Some((at, members.iter().position(|it| it.name == member)?))
        };
        let mut found = implemented().filter(named).filter_map(position);
        let Some((first, position)) = found.next() else {
            let all = implemented().flat_map(|at| &definitions.interface(at).members);
            let what = format!("a member of {}", definitions.atom(atom).name);
            return Err(not_found(&what, name, meant(member, all.map(|it| it.name.as_str()))));
        };
        if let Some((second, _)) = found.next() {
            let [first, second] = [first, second].map(|at| &definitions.interface(at).name);
            let message = format!("say `{first}.{member}` or `{second}.{member}`");
            return Err(CallError::invalid("member", message));
        }
        self.served(on, first, position).ok_or_else(|| not_found("a member", name, None))
    }

    fn state_json(
        &self,
        base: &Base,
        on: ObjectRef,
        at: MemberAt,
        slot: usize,
    ) -> Result<Json, CallError> {
        self.door(base).open(on, at, Verb::Get)?;
        let slot = &self.atom(on)?.states[slot];
        self.decode(Some(&slot.layout), &object::state(base, on, slot)?)
    }

    fn edge_json(
        &self,
        base: &Base,
        on: ObjectRef,
        at: MemberAt,
        asked: &Asked,
    ) -> Result<Json, CallError> {
        self.door(base).open(on, at, Verb::Resolve)?;
        let edge = self.edge(on, at)?;
        let texts = |targets: Vec<ObjectRef>| targets.into_iter().map(|it| self.text(it)).collect();
        Ok(match asked {
            Asked::Target => match edge.cardinality() {
                Cardinality::One => self.text(edge.one(base, on)?),
                Cardinality::OptionalOne | Cardinality::ManyUnique => {
                    edge.optional(base, on)?.map_or(Json::Null, |target| self.text(target))
                }
            },
            Asked::Page { after, limit } => texts(edge.page(base, on, *after, *limit)?),
            Asked::Entries { after, limit } => {
                let entries = edge.entries(base, on, after.as_deref(), *limit)?;
                let entry = |(key, target)| json!({"key": key, "target": self.text(target)});
                entries.into_iter().map(entry).collect()
            }
            Asked::At { key } => {
                let found = edge.at(base, on, key)?;
                match &edge {
                    Resolved::Inverse(..) => texts(found),
                    Resolved::Edge(_) => found.first().map_or(Json::Null, |it| self.text(*it)),
                }
            }
        })
    }

    fn stream_json(
        &self,
        base: &Base,
        on: ObjectRef,
        at: MemberAt,
        slot: usize,
        from: u64,
        limit: usize,
    ) -> Result<Json, CallError> {
        self.door(base).open(on, at, Verb::Read)?;
        let slot = &self.atom(on)?.streams[slot];
        let event = |event: stream::Event| {
            Ok(json!({
                "offset": event.offset,
                "commit": event.commit,
                "instant": event.instant,
                "event": self.decode(Some(&slot.layout), &event.bytes)?,
            }))
        };
        stream::events(base, on, slot, from, limit)?.into_iter().map(event).collect()
    }

    fn input_layout(&self, on: ObjectRef, at: MemberAt) -> Result<&Layout, CallError> {
        match self.deed(on, at)? {
            Deed::Call { operation, .. } => Ok(&self.inner.shared.model.operation(operation).input),
            Deed::Append { stream, .. } => Ok(&self.atom(on)?.streams[stream].layout),
            Deed::Create { .. } | Deed::Advance { .. } => Err(self.not_so(on, at, Verb::Call)),
        }
    }

    /// Returns the type of what a call answers; none for an append, which answers an offset.
    fn output_layout(&self, at: MemberAt) -> Option<&Layout> {
        match at.served {
            Served::Operation(operation) => {
                Some(&self.inner.shared.model.operation(operation).output)
            }
            Served::State(_)
            | Served::Edge(_)
            | Served::Inverse(_)
            | Served::Stream(_)
            | Served::Append(_) => None,
        }
    }

    fn encode(&self, layout: &Layout, input: &Json) -> Result<Vec<u8>, CallError> {
        let definitions = &self.inner.shared.model.definitions;
        Value::from_json(input, layout, definitions)?.encode(layout).map_err(|it| it.invalid())
    }

    fn decode(&self, layout: Option<&Layout>, bytes: &[u8]) -> Result<Json, CallError> {
        let Some(layout) = layout else {
            let offset: u64 = object::stored(bytes, || "an offset".into())?;
            return Ok(offset.into());
        };
        let value = Value::decode(bytes, layout).map_err(|error| error.corrupt("a value"))?;
        Ok(value.to_json(layout, &self.inner.shared.model.definitions))
    }

    fn text(&self, object: ObjectRef) -> Json {
        self.inner.shared.model.text(object).into()
    }
}

fn not_found(what: &str, name: &str, nearest: Option<&str>) -> CallError {
    let hint = nearest.map(|it| format!(", did you mean `{it}`?")).unwrap_or_default();
    CallError::NotFound { what: format!("{what} named `{name}`{hint}") }
}

/// What is asked of an edge.
enum Asked {
    /// Its one target.
    Target,
    /// Targets of a set.
    Page { after: Option<ObjectRef>, limit: usize },
    /// Keys and targets of a map.
    Entries { after: Option<String>, limit: usize },
    /// What is at a key of a map.
    At { key: String },
}

impl Asked {
    fn read(session: &Session, input: &Json, edge: &Resolved<'_>) -> Result<Self, CallError> {
        if edge.cardinality() != Cardinality::ManyUnique {
            nothing(input)?;
            return Ok(Self::Target);
        }
        if !edge.is_keyed() {
            let fields = fields(input, &["after", "limit"])?;
            let definitions = &session.inner.shared.model.definitions;
            let parse = |text: String| {
                parse_reference(definitions, &text)
                    .map_err(|error| CallError::invalid("after", error.to_string()))
            };
            let after = string(fields, "after")?.map(parse).transpose()?;
            return Ok(Self::Page { after, limit: limit(fields)? });
        }
        let fields = fields(input, &["after", "key", "limit"])?;
        match string(fields, "key")? {
            Some(key) => Ok(Self::At { key }),
            None => Ok(Self::Entries { after: string(fields, "after")?, limit: limit(fields)? }),
        }
    }
}

fn from_and_limit(input: &Json) -> Result<(u64, usize), CallError> {
    let fields = fields(input, &["from", "limit"])?;
    Ok((number(fields, "from")?.unwrap_or(0), limit(fields)?))
}

fn nothing(input: &Json) -> Result<(), CallError> {
    if input.is_null() {
        return Ok(());
    }
    Err(CallError::invalid("$", "takes no input"))
}

/// Returns the members of an object that may have these; none for `null`.
fn fields<'j>(input: &'j Json, known: &[&str]) -> Result<Option<&'j Map<String, Json>>, CallError> {
    match input {
        Json::Null => Ok(None),
        Json::Object(fields) => match fields.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Some(fields)),
            Some(name) => {
                let message = format!("no such field; there are {}", known.join(", "));
                Err(CallError::invalid(name, message))
            }
        },
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            let message = format!("must be null or an object of {}", known.join(", "));
            Err(CallError::invalid("$", message))
        }
    }
}

fn field<'j>(fields: Option<&'j Map<String, Json>>, name: &str) -> Option<&'j Json> {
    fields?.get(name).filter(|value| !value.is_null())
}

fn string(fields: Option<&Map<String, Json>>, name: &str) -> Result<Option<String>, CallError> {
    let text = |value: &Json| {
        let text = value.as_str().ok_or_else(|| CallError::invalid(name, "must be a string"))?;
        Ok(text.to_owned())
    };
    field(fields, name).map(text).transpose()
}

fn number(fields: Option<&Map<String, Json>>, name: &str) -> Result<Option<u64>, CallError> {
    let number = |value: &Json| {
        value.as_u64().ok_or_else(|| CallError::invalid(name, "must be a number, 0 or more"))
    };
    field(fields, name).map(number).transpose()
}

fn limit(fields: Option<&Map<String, Json>>) -> Result<usize, CallError> {
    let limit = number(fields, "limit")?;
    Ok(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)))
}
