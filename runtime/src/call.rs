//! One call of an operation, as its handler sees it.
//!
//! A handler has no other way to the store than its [`Call`]; generated contexts are thin clothes
//! over it. `requirement` and `member` are positions in the definition. Every method checks again
//! what the generated context has checked when it compiled: that the requirement is of this kind,
//! that it grants the verb, and that every reference named was handed to this call.
//!
//! What was handed: the receiver, the references in the input, what the call created, and the
//! references in whatever a granted requirement answered. Nothing is handed by being known.
//!
//! Start at [`Called`], which every call goes through, from outside or nested. What a handler may
//! do with its receiver: `call/receiver.rs`; with others: `call/member.rs`; what is checked:
//! `call/check.rs`.

mod check;
mod member;
mod receiver;

use std::panic::{AssertUnwindSafe, catch_unwind};

use chrono::{DateTime, Utc};
use quixos_schema::{Execution, OperationIndex, Verb};

use crate::admit::admit;
use crate::capability::{Handed, Plan, denied};
use crate::error::CallError;
use crate::model::{AtomModel, Model, OperationModel};
use crate::reference::ObjectRef;
use crate::transaction::{Access, Transaction, within};

/// A call of an operation that is under way.
pub struct Call<'t> {
    transaction: &'t Transaction<'t>,
    model: &'t Model,
    operation: &'t OperationModel,
    plan: &'t Plan,
    atom: &'t AtomModel,
    receiver: ObjectRef,
    handed: Handed,
}

/// An operation that may be called on an object, here and in this transaction.
pub(crate) struct Called<'t> {
    transaction: &'t Transaction<'t>,
    model: &'t Model,
    operation: &'t OperationModel,
    plan: &'t Plan,
    atom: &'t AtomModel,
    receiver: ObjectRef,
}

impl<'t> Called<'t> {
    /// Checks that the operation may be called.
    pub(crate) fn open(
        transaction: &'t Transaction<'t>,
        model: &'t Model,
        at: OperationIndex,
        receiver: ObjectRef,
    ) -> Result<Self, CallError> {
        let operation = model.operation(at);
        let refused =
            |what, why: &str| denied(&operation.id, what, Verb::Call, Some(receiver), why);
        let (Some(plan), Some(atom)) =
            (model.plan(at, receiver.atom), model.atom_of(receiver.atom))
        else {
            return Err(refused("receiver", "the receiver's atom does not bind the operation"));
        };
        if !operation.here {
            return Err(refused("targets", "this host is not one of the operation's targets"));
        }
        if transaction.circumstances().access == Access::Read
            && operation.execution == Execution::Transaction
        {
            return Err(refused("execution", "a query cannot call an operation that may write"));
        }
        Ok(Self { transaction, model, operation, plan, atom, receiver })
    }

    /// Calls it. The input was checked against its type, and `handed` has its references. What it
    /// wrote is taken back if it fails, or panics.
    pub(crate) fn run(self, input: &[u8], handed: Handed) -> Result<Vec<u8>, CallError> {
        let Self { transaction, model, operation, plan, atom, receiver } = self;
        within("bytes in an input", transaction.circumstances().limits.input, input.len())?;
        let savepoint = transaction.enter()?;
        let call = Call { transaction, model, operation, plan, atom, receiver, handed };
        // Unwinding is safe: all that the handler can have changed is taken back below.
        let answered = catch_unwind(AssertUnwindSafe(|| (operation.handler)(&call, input)))
            .unwrap_or_else(|panic| Err(panicked(&operation.id, panic.as_ref())))
            .and_then(|output| call.answer(output));
        transaction.leave(&savepoint, answered.is_err());
        if let Ok(output) = &answered {
            transaction.watch(&operation.watch, output);
        }
        answered
    }
}

fn panicked(operation: &str, panic: &(dyn std::any::Any + Send)) -> CallError {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".into());
    tracing::error!(operation, said, "a handler panicked");
    CallError::Unavailable { message: format!("`{operation}` broke off: {said}") }
}

impl Call<'_> {
    /// Returns the object that the operation was called on.
    #[must_use]
    pub fn receiver(&self) -> ObjectRef {
        self.receiver
    }

    /// Returns the transaction's one instant.
    #[must_use]
    pub fn instant(&self) -> DateTime<Utc> {
        self.transaction.circumstances().instant
    }

    /// Returns who called from outside.
    #[must_use]
    pub fn actor(&self) -> &str {
        self.transaction.circumstances().actor
    }

    /// Returns the canonical text of a reference: the atom's id, `/`, the object's id.
    #[must_use]
    pub fn reference_text(&self, reference: ObjectRef) -> String {
        self.model.text(reference)
    }

    /// Checks an output before it leaves: of its type, and with no reference that was not handed.
    fn answer(&self, output: Vec<u8>) -> Result<Vec<u8>, CallError> {
        within("bytes in an output", self.transaction.circumstances().limits.value, output.len())?;
        admit(&self.operation.output, &output, |_, reference| {
            if self.handed.contains(reference) {
                return Ok(());
            }
            let why = "the reference was not handed to this call";
            Err(denied(&self.operation.id, "output", Verb::Call, Some(reference), why))
        })?;
        Ok(output)
    }
}
