//! What a caller asks for from outside, and how it is done within a transaction.
//!
//! Here is the door: whether the caller may name the receiver and every object in the input,
//! whether the member is open to them, whether the input is what it should be. All of it is asked
//! of the same version of the store that the call then runs on.

use std::sync::Arc;

use quixos_schema::{Definitions, Execution, InterfaceIndex, OperationIndex, Served, Verb};
use ulid::Ulid;

use crate::admit::admit;
use crate::call::Called;
use crate::caller::Caller;
use crate::capability::{Handed, denied};
use crate::error::CallError;
use crate::history::{self, Action, Hash};
use crate::model::{AtomModel, Model};
use crate::object::{self, encoded};
use crate::overlay::Base;
use crate::reference::ObjectRef;
use crate::snapshot::Snapshot;
use crate::stream;
use crate::transaction::{Transaction, within};

/// A member of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemberAt {
    pub(crate) interface: InterfaceIndex,
    /// Its position in the interface.
    pub(crate) member: usize,
    pub(crate) served: Served,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    /// Calls an operation.
    Call { on: ObjectRef, at: MemberAt, operation: OperationIndex },
    /// Appends to the stream at this position.
    Append { on: ObjectRef, at: MemberAt, stream: usize },
    /// Creates an object.
    Create { atom: quixos_schema::AtomIndex },
    /// Moves a cursor of the stream at this position; the input is its name and the offset.
    Advance { on: ObjectRef, stream: usize },
}

/// What a caller asks for.
pub(crate) struct Request {
    pub(crate) deed: Deed,
    pub(crate) input: Vec<u8>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) transaction: Option<Ulid>,
}

/// What came of it.
pub(crate) struct Performed {
    pub(crate) output: Vec<u8>,
    /// The receiver, or what was created.
    pub(crate) receiver: ObjectRef,
    /// Whether it took an override.
    pub(crate) internal: bool,
}

impl Request {
    /// Does it within a transaction.
    pub(crate) fn perform(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
    ) -> Result<Performed, CallError> {
        let limits = &transaction.circumstances().limits;
        within("bytes in an input", limits.input, self.input.len())?;
        let door = DoorCheck { caller: &self.caller, model, base: transaction.base() };
        match self.deed {
            Deed::Call { on, at, operation } => {
                let internal = door.open(on, at, Verb::Call)?;
                let handed = Handed::new(on);
                let layout = &model.operation(operation).input;
                door.check_input(layout, &self.input, |reference| handed.add(reference))?;
                let called = Called::open(transaction, model, operation, on)?;
                let output = called.run(&self.input, handed)?;
                Ok(Performed { output, receiver: on, internal })
            }
            Deed::Append { on, at, stream } => {
                let internal = door.open(on, at, Verb::Call)?;
                let slot = &door.atom(on)?.streams[stream];
                door.check_input(&slot.layout, &self.input, |_| ())?;
                let offset = stream::append(transaction, on, slot, &self.input)?;
                Ok(Performed { output: encoded(&offset)?, receiver: on, internal })
            }
            Deed::Create { atom } => {
                let model_of = model.atom(atom);
                let Some(root) = &model_of.root else {
                    let why = "the atom is not created at the door";
                    let name = &model.definitions.atom(atom).name;
                    return Err(denied(&self.caller.actor, name, Verb::Create, None, why));
                };
                door.check_input(&root.input, &self.input, |_| ())?;
                let created = object::create(transaction, model, root, &self.input)?;
                Ok(Performed { output: encoded(&created)?, receiver: created, internal: false })
            }
            Deed::Advance { on, stream } => {
                door.name(on, "cursor", Verb::Read)?;
                let slot = &door.atom(on)?.streams[stream];
                let (name, offset): (String, u64) = postcard::from_bytes(&self.input)
                    .map_err(|error| CallError::invalid("$", error.to_string()))?;
                let stands = stream::advance(transaction, on, slot, &name, offset)?;
                Ok(Performed { output: encoded(&stands)?, receiver: on, internal: false })
            }
        }
    }

    /// Tells whether it can run beside the lane.
    pub(crate) fn is_query(&self, model: &Model) -> bool {
        match self.deed {
            Deed::Call { operation, .. } => {
                model.operation(operation).execution == Execution::Query
            }
            Deed::Append { .. } | Deed::Create { .. } | Deed::Advance { .. } => false,
        }
    }

    /// Returns what the history calls it.
    pub(crate) fn action(&self, definitions: &Definitions) -> Action {
        let call = |at: MemberAt, operation: Option<String>| {
            let interface = definitions.interface(at.interface);
            let member = interface.members[at.member].name.clone();
            Action::Call { interface: interface.id.clone(), member, operation }
        };
        match self.deed {
            Deed::Call { at, operation, .. } => {
                call(at, Some(definitions.operation(operation).id.clone()))
            }
            Deed::Append { at, .. } => call(at, None),
            Deed::Create { atom } => Action::Create { atom: definitions.atom(atom).id.clone() },
            Deed::Advance { on, stream } => {
                let atom = definitions.atom_of_tag(on.atom).map(|at| definitions.atom(at));
                let slot = atom.and_then(|atom| atom.streams.get(stream));
                let cursor: Result<(String, u64), _> = postcard::from_bytes(&self.input);
                Action::Advance {
                    stream: slot.map(|slot| slot.name.clone()).unwrap_or_default(),
                    cursor: cursor.map(|(name, _)| name).unwrap_or_default(),
                }
            }
        }
    }

    /// Returns the hash of what is asked, and by whom: two requests with one transaction id must
    /// have the same.
    pub(crate) fn asked(&self, definitions: &Definitions) -> Result<Hash, CallError> {
        let on = match self.deed {
            Deed::Call { on, .. } | Deed::Append { on, .. } | Deed::Advance { on, .. } => Some(on),
            Deed::Create { .. } => None,
        };
        let input = *blake3::hash(&self.input).as_bytes();
        history::asked(&self.action(definitions), on, &self.caller.actor, &input)
    }
}

/// The door, for one caller on one version of the store.
pub(crate) struct DoorCheck<'c> {
    pub(crate) caller: &'c Caller,
    pub(crate) model: &'c Model,
    pub(crate) base: &'c Base,
}

impl<'c> DoorCheck<'c> {
    /// Checks that the caller may use a member of an object that is there. Tells whether that
    /// took an override.
    pub(crate) fn open(&self, on: ObjectRef, at: MemberAt, verb: Verb) -> Result<bool, CallError> {
        let interface = self.model.definitions.interface(at.interface);
        let member = &interface.members[at.member];
        let name = || format!("{}.{}", interface.name, member.name);
        self.name(on, name, verb)?;
        if member.internal && !self.caller.internal {
            let why = "it is internal, and open only to operations that are granted it";
            return Err(denied(&self.caller.actor, name(), verb, Some(on), why));
        }
        Ok(member.internal)
    }

    /// Checks that the caller may name an object, and that it is there.
    pub(crate) fn name(
        &self,
        object: ObjectRef,
        what: impl Name,
        verb: Verb,
    ) -> Result<(), CallError> {
        if !self.admits(object)? {
            let why = "the caller may not name this object";
            return Err(denied(&self.caller.actor, what.name(), verb, Some(object), why));
        }
        if object::exists(self.base, object)? {
            return Ok(());
        }
        Err(CallError::NotFound { what: self.model.text(object) })
    }

    /// Checks an input: of its type, and with no object that the caller may not name or that is
    /// not there.
    fn check_input(
        &self,
        layout: &crate::value::Layout,
        input: &[u8],
        visit: impl Fn(ObjectRef),
    ) -> Result<(), CallError> {
        admit(layout, input, |path, reference| {
            if !self.admits(reference)? {
                let why = "the caller may not name this object";
                let actor = &self.caller.actor;
                return Err(denied(actor, path.to_string(), Verb::Call, Some(reference), why));
            }
            if !object::exists(self.base, reference)? {
                let message = format!("there is no object {}", self.model.text(reference));
                return Err(CallError::invalid(path.to_string(), message));
            }
            visit(reference);
            Ok(())
        })
    }

    fn admits(&self, object: ObjectRef) -> Result<bool, CallError> {
        self.caller.door.admits(&Snapshot::new(self.model, self.base), object)
    }

    fn atom(&self, on: ObjectRef) -> Result<&'c AtomModel, CallError> {
        self.model.atom_of(on.atom).ok_or_else(|| CallError::NotFound { what: self.model.text(on) })
    }
}

/// What is to be used, named only if it has to be said.
pub(crate) trait Name {
    fn name(self) -> String;
}

impl Name for &str {
    fn name(self) -> String {
        self.to_owned()
    }
}

impl<F: Fn() -> String> Name for F {
    fn name(self) -> String {
        self()
    }
}
