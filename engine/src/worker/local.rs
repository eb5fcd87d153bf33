//! A worker in this process: it does what is proposed, and runs tools that are Rust functions.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use quixos_protocol::action::{Failure, ToolResult};
use quixos_protocol::{Action, DecisionResponse, ToolInput, Trigger};
use serde_json::Value;

use super::{Delivery, DeliveryError, Worker};
use crate::live::Sink;

/// What a tool comes to: its result, or what the model is told went wrong.
type Output = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;
type Tool = Arc<dyn Fn(Value) -> Output + Send + Sync>;

/// A worker that does what is proposed, and runs the tools that it has.
///
/// A tool that it does not have stays open, to be settled by somebody else. One may be run twice,
/// if the process is killed before its result is stored.
#[derive(Clone, Default)]
pub struct Local {
    tools: HashMap<String, Tool>,
}

impl Local {
    /// Returns a worker that has no tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. It is given arguments that fit the schema that was declared for it.
    #[must_use]
    pub fn tool<F, R>(mut self, name: impl Into<String>, run: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        self.tools.insert(name.into(), Arc::new(move |input| Box::pin(run(input))));
        self
    }
}

#[async_trait]
impl Worker for Local {
    async fn decide(&self, delivery: Delivery<'_>, _sink: &Sink) -> Result<Value, DeliveryError> {
        let request = delivery.request;
        let mut answer = request.proposed.clone();
        if let Trigger::ToolExecute(call) = &request.trigger
            && let ToolInput::Valid { value } = &call.input
            && let Some(tool) = self.tools.get(&call.name)
        {
            let action = match tool(value.clone()).await {
                Ok(result) => Action::ToolResult(ToolResult { id: None, attempt: None, result }),
                Err(error) => Action::ToolError(Failure { error, ..Failure::default() }),
            };
            answer = DecisionResponse { actions: vec![action], ..answer };
        }
        serde_json::to_value(answer).map_err(|error| DeliveryError {
            message: format!("the answer cannot be written: {error}"),
            retryable: false,
        })
    }
}
