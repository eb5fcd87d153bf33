//! Who calls from outside, and what they may name.
//!
//! An id in an input is no authority by itself. The door that it comes in by decides which objects
//! its caller may name; every reference in an input, and the receiver, is asked about.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::error::CallError;
use crate::reference::ObjectRef;
use crate::snapshot::Snapshot;

/// Who calls from outside.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who it is, for the history.
    pub actor: String,
    /// What they may name.
    pub door: Door,
    /// Whether internal members are open to them. Whenever that is made use of, the history says
    /// so.
    pub internal: bool,
}

impl Caller {
    /// An operator, who may name every object.
    pub fn operator(actor: impl Into<String>) -> Self {
        Self { actor: actor.into(), door: Door::Open, internal: false }
    }

    /// A client, who may name what a door says.
    pub fn client(actor: impl Into<String>, door: Door) -> Self {
        Self { actor: actor.into(), door, internal: false }
    }
}

/// Decides, from the store as the call finds it, whether an object may be named.
pub type Rule = Arc<dyn Fn(&Snapshot<'_>, ObjectRef) -> Result<bool, CallError> + Send + Sync>;

/// Which objects a caller may name.
#[derive(Clone)]
pub enum Door {
    /// All.
    Open,
    /// These.
    Objects(Arc<BTreeSet<ObjectRef>>),
    /// Those that a rule lets pass. It must not call the runtime: it runs inside of it.
    Rule(Rule),
}

impl Door {
    /// Tells whether an object may be named.
    pub(crate) fn admits(
        &self,
        snapshot: &Snapshot<'_>,
        object: ObjectRef,
    ) -> Result<bool, CallError> {
        match self {
            Self::Open => Ok(true),
            Self::Objects(objects) => Ok(objects.contains(&object)),
            Self::Rule(rule) => rule(snapshot, object),
        }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("Open"),
            Self::Objects(objects) => f.debug_tuple("Objects").field(objects).finish(),
            Self::Rule(_) => f.write_str("Rule"),
        }
    }
}
