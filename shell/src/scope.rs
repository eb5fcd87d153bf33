//! What paths lead to: variables, objects, and from an object its state and its edges.
//!
//! `$request.thread.data.title` starts at a variable, goes along an edge, reads a state, takes a
//! field. All of one command is read from one version of the store, with an operator's eyes.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, SecondsFormat, Utc};
use quixos_runtime::{CallError, EdgeEntry, Layout, ObjectRef, Snapshot, reference_text};
use quixos_schema::{Atom, Cardinality, Definitions, MemberKind, Type};
use serde_json::{Map, Value};

use crate::language::{Base, Fault, Path, Segment, Template, TemplateKind, Variables};
use crate::lookup;
use crate::stop::Stop;

/// How many targets of an edge a value may have.
const MOST: usize = 10_000;

/// The answers that were kept, by name.
pub(crate) type Kept = BTreeMap<String, Value>;

/// One version of everything, and the variables.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) snapshot: &'s Snapshot<'s>,
    pub(crate) kept: &'s Kept,
    pub(crate) now: DateTime<Utc>,
}

/// Where a path stands.
#[derive(Clone, Debug)]
enum At {
    Object(ObjectRef),
    Value(Value),
}

/// A member of an object, as a path names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemberPath {
    /// The object.
    pub(crate) on: ObjectRef,
    /// The interface, where it is named.
    pub(crate) interface: Option<String>,
    /// The member.
    pub(crate) member: Segment,
}

/// Writes an instant as the operations take it.
pub(crate) fn instant_text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

impl<'s> Scope<'s> {
    /// Returns the definitions.
    pub(crate) fn definitions(&self) -> &'s Definitions {
        self.snapshot.definitions()
    }

    /// Returns a reference as text.
    pub(crate) fn text(&self, object: ObjectRef) -> String {
        reference_text(self.definitions(), object)
    }

    /// Returns the atom of an object.
    ///
    /// # Errors
    /// When the definitions have no such atom.
    pub(crate) fn atom(&self, object: ObjectRef) -> Result<&'s Atom, CallError> {
        let definitions = self.definitions();
        let at = definitions.atom_of_tag(object.atom);
        at.map(|at| definitions.atom(at))
            .ok_or_else(|| CallError::NotFound { what: format!("the atom of {object:?}") })
    }

    /// Returns the object that a path leads to.
    ///
    /// # Errors
    /// A name that is not there; a value that is no reference.
    pub(crate) fn object(&self, path: &Path) -> Result<ObjectRef, Stop> {
        match self.walk(path, path.segments.len())? {
            At::Object(object) => Ok(object),
            At::Value(value) => {
                let message = format!("this is {}, not an object", noun(&value));
                Err(Fault::new(span_of(path), message).into())
            }
        }
    }

    /// Returns the member that a path names: its last name, or with its interface its last two.
    ///
    /// # Errors
    /// A name that is not there, with the nearest one that is.
    pub(crate) fn member(&self, path: &Path) -> Result<MemberPath, Stop> {
        let Some(last) = path.segments.len().checked_sub(1) else {
            return Err(Fault::new(span_of(path), "no member is named").into());
        };
        let member = path.segments[last].clone();
        if let Some(before) = last.checked_sub(1)
            && let At::Object(on) = self.walk(path, before)?
            && self.implements(on, &path.segments[before].name)
        {
            let interface = path.segments[before].name.clone();
            return self.known(MemberPath { on, interface: Some(interface), member });
        }
        match self.walk(path, last)? {
            At::Object(on) => self.known(MemberPath { on, interface: None, member }),
            At::Value(value) => {
                let message = format!("this is {}, which has no members", noun(&value));
                let end =
                    last.checked_sub(1).map_or(path.base_span.end, |at| path.segments[at].span.end);
                Err(Fault::new(path.base_span.start..end, message).into())
            }
        }
    }

    /// Checks that an object has a member of that name.
    fn known(&self, path: MemberPath) -> Result<MemberPath, Stop> {
        let definitions = self.definitions();
        let Some(atom) = definitions.atom_of_tag(path.on.atom) else { return Ok(path) };
        let interface = path.interface.as_deref();
        let found = lookup::members(definitions, atom, interface, &path.member.name);
        let names = |it: &lookup::MemberOf<'_>| format!("{}.{}", it.interface.name, it.member.name);
        match found.as_slice() {
            [_] => Ok(path),
            [] => {
                let of = &definitions.atom(atom).name;
                let message = format!("`{of}` has no member `{}`", path.member.name);
                let fault = Fault::new(path.member.span.clone(), message);
                let fault = fault.help(format!("`describe {of}` lists its members"));
                let all =
                    definitions.atom(atom).implements.iter().flat_map(|it| {
                        definitions.interface(it.interface.interface).members.iter()
                    });
                Err(fault.suggest(&path.member.name, all.map(|it| it.name.as_str())).into())
            }
            [one, other, ..] => {
                let message = format!("this may be `{}` or `{}`", names(one), names(other));
                Err(Fault::new(path.member.span.clone(), message).help("name the interface").into())
            }
        }
    }

    fn implements(&self, on: ObjectRef, interface: &str) -> bool {
        let definitions = self.definitions();
        let named = |at| definitions.interface(at).name == interface;
        definitions.atom_of_tag(on.atom).is_some_and(|atom| {
            definitions.atom(atom).implements.iter().any(|it| named(it.interface.interface))
        })
    }

    /// Returns the stream that a path names: a slot of an object, or the only one it has.
    ///
    /// # Errors
    /// A name that is not there; an object with no stream, or several.
    pub(crate) fn stream(&self, path: &Path) -> Result<(ObjectRef, String), Stop> {
        if let Some((last, _)) = path.segments.split_last()
            && let At::Object(object) = self.walk(path, path.segments.len() - 1)?
            && self.atom(object)?.streams.iter().any(|it| it.name == last.name)
        {
            return Ok((object, last.name.clone()));
        }
        let object = self.object(path)?;
        let atom = self.atom(object)?;
        match atom.streams.as_slice() {
            [one] => Ok((object, one.name.clone())),
            [] => Err(Fault::new(span_of(path), format!("`{}` has no stream", atom.name)).into()),
            [one, ..] => {
                let message = format!("`{}` has several streams", atom.name);
                let help = format!("name one, like `.{}`", one.name);
                Err(Fault::new(span_of(path), message).help(help).into())
            }
        }
    }

    /// Returns what was written, with every variable filled in.
    ///
    /// # Errors
    /// A name that is not there; a reference to nothing, if it is all that was written.
    pub(crate) fn get(&self, template: &Template) -> Result<Value, Stop> {
        if let TemplateKind::Path(path) = &template.kind
            && let At::Object(object) = self.walk(path, path.segments.len())?
        {
            self.there(object).map_err(|error| Stop::Call(error, Some((span_of(path), None))))?;
        }
        template.evaluate(self)
    }

    /// Checks that a reference leads to an object.
    fn there(&self, object: ObjectRef) -> Result<(), CallError> {
        if self.snapshot.exists(object)? {
            return Ok(());
        }
        Err(CallError::NotFound { what: self.text(object) })
    }

    /// Goes the first `steps` names of a path.
    fn walk(&self, path: &Path, steps: usize) -> Result<At, Stop> {
        let mut at = self.base(path)?;
        for segment in &path.segments[..steps] {
            at = match at {
                At::Object(object) => self.slot(object, segment)?,
                At::Value(value) => At::Value(part(&value, segment)?),
            };
            if let At::Value(Value::String(text)) = &at
                && let Ok(object) = quixos_runtime::parse_reference(self.definitions(), text)
            {
                at = At::Object(object);
            }
        }
        Ok(at)
    }

    fn base(&self, path: &Path) -> Result<At, Stop> {
        let span = path.base_span.clone();
        let value = match &path.base {
            Base::Reference(text) => return Ok(At::Object(self.reference(text, span)?)),
            Base::Variable(name) if name == "now" => {
                let now = self.now.checked_add_signed(path.offset.unwrap_or_default());
                let now = now.ok_or_else(|| Fault::new(span, "no calendar has this time"))?;
                return Ok(At::Value(Value::String(instant_text(now))));
            }
            Base::Variable(name) => self.kept.get(name).ok_or_else(|| {
                Fault::new(span.clone(), format!("no variable `${name}`"))
                    .help("`vars` lists them; `$name = …` sets one")
                    .suggest_as("$", name, self.kept.keys().map(String::as_str))
            })?,
        };
        if path.offset.is_some() {
            return Err(Fault::new(span, "only `$now` takes a span of time").into());
        }
        let reference = value
            .as_str()
            .and_then(|text| quixos_runtime::parse_reference(self.definitions(), text).ok());
        Ok(reference.map_or_else(|| At::Value(value.clone()), At::Object))
    }

    /// Reads `TYPE/ULID`.
    fn reference(&self, text: &str, span: Range<usize>) -> Result<ObjectRef, Stop> {
        let definitions = self.definitions();
        let (word, id) = text.rsplit_once('/').unwrap_or((text, ""));
        let word_span = span.start..span.start + word.len();
        let atom = lookup::atom(definitions, &Segment { name: word.to_owned(), span: word_span })?;
        let atom = definitions.atom(atom);
        let canonical = format!("{}/{id}", atom.id);
        quixos_runtime::parse_reference(definitions, &canonical)
            .map_err(|error| Fault::new(span, error.to_string()).into())
    }

    /// A state or an edge of an object.
    fn slot(&self, object: ObjectRef, segment: &Segment) -> Result<At, Stop> {
        let atom = self.atom(object)?;
        self.there(object)?;
        let name = segment.name.as_str();
        if let Some(slot) = atom.states.iter().find(|it| it.name == name) {
            return Ok(At::Value(self.state(object, name, &slot.ty)?));
        }
        if let Some(slot) = atom.edges.iter().find(|it| it.name == name) {
            let single = slot.shape.cardinality != Cardinality::ManyUnique;
            return self.edge(object, name, single);
        }
        if atom.inverses.iter().any(|it| it.name == name) {
            return self.edge(object, name, false);
        }
        if atom.streams.iter().any(|it| it.name == name) {
            let fault = Fault::new(segment.span.clone(), format!("`{name}` is a stream"));
            return Err(fault.help("`read` and `follow` print its events").into());
        }
        let members = self
            .definitions()
            .atom_of_tag(object.atom)
            .map(|at| lookup::members(self.definitions(), at, None, name));
        let fault = Fault::new(segment.span.clone(), format!("`{}` has no `{name}`", atom.name));
        if members.is_some_and(|found| {
            found.iter().any(|it| matches!(it.kind, MemberKind::Operation { .. }))
        }) {
            return Err(fault.help("it is an operation: `call` it").into());
        }
        let slots = atom
            .states
            .iter()
            .map(|it| it.name.as_str())
            .chain(atom.edges.iter().map(|it| it.name.as_str()))
            .chain(atom.inverses.iter().map(|it| it.name.as_str()))
            .chain(atom.streams.iter().map(|it| it.name.as_str()));
        Err(fault.suggest(name, slots).into())
    }

    /// Returns a state as JSON.
    pub(crate) fn state(
        &self,
        object: ObjectRef,
        name: &str,
        ty: &Type,
    ) -> Result<Value, CallError> {
        let value = self.snapshot.state(object, name)?;
        Ok(value.to_json(&Layout::of(self.definitions(), ty), self.definitions()))
    }

    fn edge(&self, object: ObjectRef, name: &str, single: bool) -> Result<At, Stop> {
        let entries = self.snapshot.edge(object, name, None, MOST + 1)?;
        if entries.len() > MOST {
            let message =
                format!("`{name}` has more than {MOST} targets; `show` pages through them");
            return Err(CallError::Limit { message }.into());
        }
        if single {
            let target = entries.first().map(|it| it.object);
            return Ok(target.map_or(At::Value(Value::Null), At::Object));
        }
        Ok(At::Value(self.entries(&entries)))
    }

    /// Returns targets as JSON: an array, or, keyed, an object. Where a key repeats, as those of
    /// an inverse may, its value is an array.
    pub(crate) fn entries(&self, entries: &[EdgeEntry]) -> Value {
        if entries.iter().all(|it| it.key.is_none()) {
            return entries.iter().map(|it| Value::String(self.text(it.object))).collect();
        }
        let mut map = Map::new();
        for entry in entries {
            let key = entry.key.clone().unwrap_or_default();
            let target = Value::String(self.text(entry.object));
            match map.get_mut(&key) {
                None => {
                    map.insert(key, target);
                }
                Some(Value::Array(targets)) => targets.push(target),
                Some(one) => *one = Value::Array(vec![one.take(), target]),
            }
        }
        Value::Object(map)
    }
}

impl Variables for Scope<'_> {
    fn value(&self, path: &Path) -> Result<Value, Stop> {
        match self.walk(path, path.segments.len())? {
            At::Object(object) => Ok(Value::String(self.text(object))),
            At::Value(value) => Ok(value),
        }
    }
}

/// A field of a record, or an item of a list.
fn part(value: &Value, segment: &Segment) -> Result<Value, Fault> {
    let name = segment.name.as_str();
    let found = match value {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => name.parse().ok().and_then(|at: usize| items.get(at)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    found.cloned().ok_or_else(|| {
        let fault = Fault::new(segment.span.clone(), format!("{} has no `{name}`", noun(value)));
        let fields = value.as_object().into_iter().flat_map(serde_json::Map::keys);
        fault.suggest(name, fields.map(String::as_str))
    })
}

/// What a value is, with its article.
fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a record",
    }
}

/// All the bytes of a path.
pub(crate) fn span_of(path: &Path) -> Range<usize> {
    let end = path.segments.last().map_or(path.base_span.end, |it| it.span.end);
    path.base_span.start..end
}
