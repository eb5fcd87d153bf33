//! What a running operation may reach: what its `requires` names, on what it was handed.
//!
//! A [`Plan`] is made once for an operation on an atom, when definitions are loaded: requirements
//! become positions of slots, interfaces become tables from atoms to what serves each member. A
//! check in a call is then a look into a small vector. Generated contexts refuse the same things
//! when they compile; this is what holds for every handler, however it was written.
//!
//! [`Handed`] is the other half: the references that one call has authority over.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use quixos_schema::{
    Atom, AtomIndex, Definitions, Operation, RequirementKind, Served, Tag, Use, Verb,
};

use crate::error::{CallError, Denied};
use crate::model::CreationModel;
use crate::reference::ObjectRef;

/// What an operation may do on one atom: one grant a requirement, in order.
pub(crate) struct Plan {
    pub(crate) grants: Vec<Grant>,
}

/// A requirement, tied to what it meets.
pub(crate) struct Grant {
    /// The requirement's name.
    pub(crate) name: String,
    pub(crate) kind: GrantKind,
}

/// What a requirement grants.
pub(crate) enum GrantKind {
    /// The state slot of the receiver at this position.
    State { slot: usize, verbs: Vec<Verb> },
    /// An edge of the receiver.
    Edge { edge: EdgePlace, verbs: Vec<Verb> },
    /// The stream slot of the receiver at this position.
    Stream { slot: usize, verbs: Vec<Verb> },
    /// The creation of an atom.
    Creation(CreationModel),
    /// Members of an interface.
    Interface(Members),
    /// Nothing: the receiver has no such slot, which linking should have found.
    Nothing,
}

/// Where an edge of an object is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EdgePlace {
    /// The edge slot at this position.
    Edge(usize),
    /// The inverse slot at this position.
    Inverse(usize),
}

/// Members of an interface that may be used.
pub(crate) struct Members {
    /// The names, by position.
    names: Vec<String>,
    /// The verb granted, by position.
    granted: Vec<Option<Verb>>,
    /// What serves each, for each atom that implements the interface.
    served: BTreeMap<Tag, Vec<Served>>,
}

impl Plan {
    pub(crate) fn new(definitions: &Definitions, operation: &Operation, at: AtomIndex) -> Self {
        let atom = definitions.atom(at);
        let grants = operation.requirements.iter().map(|requirement| Grant {
            name: requirement.name.clone(),
            kind: match &requirement.kind {
                RequirementKind::State { verbs, .. } => {
                    let slot = atom.states.iter().position(|slot| slot.id == requirement.id);
                    slot.map(|slot| GrantKind::State { slot, verbs: verbs.clone() })
                }
                RequirementKind::Edge { verbs, .. } => edge_place(atom, &requirement.id)
                    .map(|edge| GrantKind::Edge { edge, verbs: verbs.clone() }),
                RequirementKind::Stream { verbs, .. } => {
                    let slot = atom.streams.iter().position(|slot| slot.id == requirement.id);
                    slot.map(|slot| GrantKind::Stream { slot, verbs: verbs.clone() })
                }
                RequirementKind::Creation(creation) => {
                    Some(GrantKind::Creation(CreationModel::new(definitions, creation)))
                }
                RequirementKind::Interface { interface, using } => {
                    let members = &definitions.interface(interface.interface).members;
                    let served = definitions.atoms().filter_map(|(at, atom)| {
                        let found = definitions.implementation(at, interface)?;
                        Some((atom.tag, found.members.clone()))
                    });
                    Some(GrantKind::Interface(Members {
                        names: members.iter().map(|member| member.name.clone()).collect(),
                        granted: (0..members.len()).map(|at| granted(using, at)).collect(),
                        served: served.collect(),
                    }))
                }
            }
            .unwrap_or(GrantKind::Nothing),
        });
        Self { grants: grants.collect() }
    }
}

fn edge_place(atom: &Atom, id: &str) -> Option<EdgePlace> {
    let edge = atom.edges.iter().position(|slot| slot.id == id).map(EdgePlace::Edge);
    let inverse = || atom.inverses.iter().position(|slot| slot.id == id).map(EdgePlace::Inverse);
    edge.or_else(inverse)
}

fn granted(using: &[Use], member: usize) -> Option<Verb> {
    using.iter().find(|it| it.member == member).map(|it| it.verb)
}

impl Members {
    /// Returns the name of a member.
    pub(crate) fn name(&self, member: usize) -> &str {
        self.names.get(member).map_or("?", String::as_str)
    }

    /// Tells whether a member may be used so.
    pub(crate) fn grants(&self, member: usize, verb: Verb) -> bool {
        self.granted.get(member) == Some(&Some(verb))
    }

    /// Returns what serves a member of an atom that implements the interface.
    pub(crate) fn served(&self, atom: Tag, member: usize) -> Option<Served> {
        self.served.get(&atom)?.get(member).copied()
    }
}

/// The references that a call was handed: its receiver, those in its input, what it created, and
/// those in whatever a granted requirement answered.
pub(crate) struct Handed(RefCell<Set>);

/// Few references are found faster in a list than in a table.
enum Set {
    Few(Vec<ObjectRef>),
    Many(HashSet<ObjectRef>),
}

/// How many references are few.
const FEW: usize = 16;

impl Handed {
    pub(crate) fn new(receiver: ObjectRef) -> Self {
        Self(RefCell::new(Set::Few(vec![receiver])))
    }

    pub(crate) fn contains(&self, reference: ObjectRef) -> bool {
        match &*self.0.borrow() {
            Set::Few(list) => list.contains(&reference),
            Set::Many(table) => table.contains(&reference),
        }
    }

    pub(crate) fn add(&self, reference: ObjectRef) {
        let mut set = self.0.borrow_mut();
        match &mut *set {
            Set::Few(list) if list.contains(&reference) => {}
            Set::Few(list) if list.len() < FEW => list.push(reference),
            Set::Few(list) => {
                let mut table: HashSet<_> = list.drain(..).collect();
                table.insert(reference);
                *set = Set::Many(table);
            }
            Set::Many(table) => {
                table.insert(reference);
            }
        }
    }
}

/// Makes the error of a call that tried what it may not.
pub(crate) fn denied(
    operation: &str,
    requirement: impl Into<String>,
    verb: Verb,
    reference: Option<ObjectRef>,
    why: impl Into<String>,
) -> CallError {
    CallError::Capability(Box::new(Denied {
        operation: operation.into(),
        requirement: requirement.into(),
        verb,
        reference,
        why: why.into(),
    }))
}
