//! An operation: a module with its input, its output, its context, and the trait of its handler.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Location, doc, imports, record, requirement};
use crate::citation;
use crate::plan::OperationPlan;

/// `pub mod thread_activate { … }`
pub(super) fn operation(outside: &Location<'_>, plan: &OperationPlan) -> TokenStream {
    let here = outside.within(&plan.home);
    let operation = here.plan.definitions.operation(plan.index);
    let module = &plan.module;
    let id = &operation.id;
    let docs = doc::citation(&citation::operation(here.plan.definitions, operation));
    let records = plan.declared.iter().map(|it| record::declared(&here, it));
    let context = context(&here, plan);
    let handles = plan.requirements.iter().map(|it| requirement::handle(&here, it));
    let handler = handler(&operation.name, plan);
    let body = quote! {
        /// The operation's id.
        pub const ID: &str = #id;

        #(#records)*
        #context
        #(#handles)*
        #handler
    };
    let imports = imports::of_operation(&body);
    quote! {
        #docs
        pub mod #module {
            #imports
            #body
        }
    }
}

fn context(here: &Location<'_>, plan: &OperationPlan) -> TokenStream {
    let accessors = plan.requirements.iter().map(|it| requirement::accessor(here, it));
    let receiver = match &plan.receiver {
        Some(atom) => {
            let atom = here.item(atom);
            quote! { Ref<#atom> }
        }
        None => quote! { ObjectRef },
    };
    quote! {
        /// What the operation may touch.
        pub struct Context<'c> {
            call: &'c Call<'c>,
            receiver: #receiver,
        }

        impl<'c> Context<'c> {
            /// Returns the object that the operation was called on.
            pub fn receiver(&self) -> #receiver {
                self.receiver
            }

            /// Returns the one instant of the transaction.
            pub fn instant(&self) -> DateTime<Utc> {
                self.call.instant()
            }

            /// Returns the canonical text of a reference: the atom's id, `/`, the object's id.
            pub fn reference_text(&self, reference: impl Into<ObjectRef>) -> String {
                self.call.reference_text(reference.into())
            }

            #(#accessors)*
        }
    }
}

fn handler(name: &str, plan: &OperationPlan) -> TokenStream {
    let docs = doc::sentence(&format!("Runs `{name}`."));
    let missing = format!("`{{Self}}` has no handler for operation `{name}`");
    let label = format!("needs `impl {}::Handler for {{Self}}`", plan.module);
    let receiver = match &plan.receiver {
        Some(_) => quote! { Ref::checked(call.receiver())? },
        None => quote! { call.receiver() },
    };
    quote! {
        #docs
        #[diagnostic::on_unimplemented(message = #missing, label = #label)]
        pub trait Handler {
            /// Runs the operation in the transaction of the context.
            fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError>;
        }

        /// Decodes the input, runs the handler, and encodes the output.
        pub(super) fn dispatch<H: Handler>(
            call: &Call<'_>,
            input: &[u8],
        ) -> Result<Vec<u8>, CallError> {
            let cx = Context { call, receiver: #receiver };
            H::handle(&cx, decode_input(input)?).and_then(|output| encode_output(&output))
        }
    }
}
