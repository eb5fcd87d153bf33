//! `[[agents]]`: who may be spoken to, and who decides for them.

use std::time::Duration;

use quixos_engine::http::Limits;
use quixos_engine::price::Dollars;
use quixos_engine::worker::http::{Endpoint, EndpointError};
use quixos_protocol::{
    AgentConfig, AgentTool, CallHandler, Format, RetryPolicy, SubAgent, ToolHandler,
};

use super::check::{YEAR, json_file, secret};
use super::fault::{Code, Fault};
use super::section::{Findings, Item, Section};
use super::{Agent, Surroundings, WorkerConfig};

const CALL_HANDLERS: [(&str, CallHandler); 2] =
    [("server", CallHandler::Server), ("worker", CallHandler::Worker)];
const TOOL_HANDLERS: [(&str, ToolHandler); 2] =
    [("worker", ToolHandler::Worker), ("client", ToolHandler::Client)];
const FORMATS: [(&str, Format); 2] = [("openai", Format::Openai), ("anthropic", Format::Anthropic)];

/// A name that may be said once, and where it was.
type Names<'a> = Vec<(String, Item<'a>)>;

pub(super) fn read<'a>(
    sections: Vec<Section<'a>>,
    prefixes: &[(String, Item<'a>)],
    surroundings: Surroundings<'_>,
    findings: &'a Findings,
) -> Vec<Agent> {
    let mut reading =
        Reading { prefixes, surroundings, findings, names: Vec::new(), delegates: Vec::new() };
    let agents = sections.into_iter().filter_map(|section| reading.agent(section)).collect();
    for (name, item) in &reading.delegates {
        if !reading.names.iter().any(|(agent, _)| agent == name) {
            item.fault(Code::NoAgent, format!("there is no agent `{name}` to delegate to"));
        }
    }
    agents
}

struct Reading<'a, 's> {
    prefixes: &'s [(String, Item<'a>)],
    surroundings: Surroundings<'s>,
    findings: &'a Findings,
    /// The agents so far.
    names: Names<'a>,
    /// Those that are delegated to.
    delegates: Names<'a>,
}

impl<'a> Reading<'a, '_> {
    fn agent(&mut self, mut section: Section<'a>) -> Option<Agent> {
        let name = section.require("name");
        let name = name.and_then(|item| Some((item.word()?, item)));
        if let Some((name, item)) = &name {
            once(&mut self.names, name, item, "an agent", self.findings);
        }
        let model = section.require("model");
        let model = model.and_then(|item| Some((item.word()?, item)));
        let system = section.take("system").and_then(|item| item.text());
        let stream = section.take("stream").and_then(|item| item.boolean());
        let handler = section.take("handler").and_then(|item| item.choice(&CALL_HANDLERS));
        let format = section.take("format");
        if let Some(item) = &format
            && handler != Some(CallHandler::Worker)
        {
            let message = "`format` is for models that the worker runs: `handler = \"worker\"`";
            item.fault(Code::Format, message);
        }
        let format = format.and_then(|item| item.choice(&FORMATS));
        if let Some((model, item)) = &model
            && handler != Some(CallHandler::Worker)
            && !self.prefixes.iter().any(|(prefix, _)| model.starts_with(prefix))
        {
            item.fault(Code::NoProvider, format!("no provider runs the model `{model}`"));
        }
        let mut named = Names::new();
        let worker = section.require("worker").and_then(|item| self.worker(item));
        let tools = self.tools(&mut section, worker.as_ref(), &mut named);
        let sub_agents = self.sub_agents(&mut section, &mut named);
        let retry = section.take("retry").and_then(policy);
        let decision_retry = section.take("decision_retry").and_then(policy);
        let model_retry = section.take("model_retry").and_then(policy);
        let max_cost = section.take("max_cost").and_then(|item| {
            let text = item.text()?;
            let amount = text.parse::<Dollars>();
            amount.map_err(|error| item.refuse(error.to_string())).ok().map(|_| text)
        });
        section.end();
        let (model, _) = model?;
        let config =
            AgentConfig { model, system, stream, handler, format, retry, tools, sub_agents };
        let (name, _) = name?;
        Some(Agent { name, config, worker: worker?, decision_retry, model_retry, max_cost })
    }

    fn tools(
        &self,
        section: &mut Section<'a>,
        worker: Option<&WorkerConfig>,
        named: &mut Names<'a>,
    ) -> Option<Vec<AgentTool>> {
        let (inline, file) = (section.take("tools"), section.take("tools_file"));
        let mut tools = Vec::new();
        let given = inline.is_some() || file.is_some();
        for item in inline.and_then(|item| item.list()).unwrap_or_default() {
            let mut section = item.clone().section("a tool".to_owned());
            let name = section.require("name").and_then(|it| it.word());
            let description = section.take("description").and_then(|it| it.text());
            let input = section.take("input").and_then(|it| it.json());
            let output = section.take("output").and_then(|it| it.json());
            let handler = section.take("handler").and_then(|it| it.choice(&TOOL_HANDLERS));
            section.end();
            let tool = name.map(|name| AgentTool { name, description, input, output, handler });
            tools.extend(tool.map(|tool| (tool, item)));
        }
        if let Some(item) = file {
            let read = json_file::<Vec<AgentTool>>(&item, self.surroundings);
            tools.extend(read.unwrap_or_default().into_iter().map(|tool| (tool, item.clone())));
        }
        for (tool, item) in &tools {
            once(named, &tool.name, item, "a tool or sub-agent", self.findings);
            let is_workers = tool.handler.unwrap_or_default() == ToolHandler::Worker;
            if is_workers && matches!(worker, Some(WorkerConfig::Echo)) {
                let message = format!("the worker `echo` runs no tools, so not `{}`", tool.name);
                item.fault(Code::NoTool, message);
            }
        }
        given.then(|| tools.into_iter().map(|(tool, _)| tool).collect())
    }

    fn sub_agents(
        &mut self,
        section: &mut Section<'a>,
        named: &mut Names<'a>,
    ) -> Option<Vec<SubAgent>> {
        let list = section.take("sub_agents")?.list()?;
        let mut sub_agents = Vec::new();
        for item in list {
            let (id, description) = if item.is_text() {
                (item.word(), None)
            } else {
                let mut section = item.clone().section("a sub-agent".to_owned());
                let id = section.require("id").and_then(|it| it.word());
                let description = section.take("description").and_then(|it| it.text());
                section.end();
                (id, description)
            };
            let Some(id) = id else { continue };
            once(named, &id, &item, "a tool or sub-agent", self.findings);
            self.delegates.push((id.clone(), item));
            sub_agents.push(SubAgent { id, description });
        }
        Some(sub_agents)
    }

    fn worker(&self, item: Item<'a>) -> Option<WorkerConfig> {
        if item.is_text() {
            let worker = item.text()?;
            return match worker.as_str() {
                "echo" => Some(WorkerConfig::Echo),
                "demo" => Some(WorkerConfig::Demo),
                _ => {
                    item.refuse("`worker` is `echo`, `demo`, or a table with a `url`");
                    None
                }
            };
        }
        let refused = |item: &Item<'_>, error: EndpointError| item.refuse(error.to_string());
        let mut section = item.section("`worker`".to_owned());
        let mut endpoint = section.require("url").and_then(|item| {
            Endpoint::new(&item.text()?).map_err(|error| refused(&item, error)).ok()
        });
        if let Some(item) = section.take("secret_env") {
            let secret = secret(&item, self.surroundings);
            endpoint = secret.zip(endpoint).and_then(|(secret, endpoint)| {
                endpoint.signed(secret).map_err(|error| refused(&item, error)).ok()
            });
        }
        if let Some(item) = section.take("signature_header") {
            let name = item.text();
            endpoint = name.zip(endpoint).and_then(|(name, endpoint)| {
                endpoint.signature_header(&name).map_err(|error| refused(&item, error)).ok()
            });
        }
        if let Some(seconds) = section.take("idle_secs").and_then(|it| it.number(1..=YEAR)) {
            let limits = Limits { idle: Duration::from_secs(seconds), ..Limits::WORKER };
            endpoint = endpoint.map(|endpoint| endpoint.limits(limits));
        }
        section.end();
        endpoint.map(|endpoint| WorkerConfig::Http(Box::new(endpoint)))
    }
}

/// Reads how often and how long something is tried. Without `timeout_secs` it may take as long as
/// it likes.
fn policy(item: Item<'_>) -> Option<RetryPolicy> {
    let mut section = item.clone().section(format!("`{}`", item.name));
    let timeout_secs = section.take("timeout_secs").and_then(|it| it.number(1..=YEAR));
    let max_retries = section.require("max_retries").and_then(|it| it.number(0..=1_000_000));
    let base = section.require("backoff_base_secs").and_then(|it| it.number(0..=YEAR));
    let max = section.require("backoff_max_secs").and_then(|it| it.number(0..=YEAR));
    section.end();
    Some(RetryPolicy {
        timeout_secs,
        max_retries: u32::try_from(max_retries?).ok()?,
        backoff_base_secs: base?,
        backoff_max_secs: max?,
    })
}

/// Finds a name that was said already.
fn once<'a>(names: &mut Names<'a>, name: &str, item: &Item<'a>, what: &str, findings: &Findings) {
    if let Some((_, first)) = names.iter().find(|(other, _)| other == name) {
        findings.put(Fault {
            code: Code::Clash,
            message: format!("there is {what} `{name}` already"),
            span: item.span.clone(),
            help: None,
            other: Some((first.span.clone(), "here".to_owned())),
        });
    }
    names.push((name.to_owned(), item.clone()));
}
