//! How requests come into the queue.

use std::collections::BTreeSet;

use quixos_package::agent_runtime::{ItemData, RequestData, RequestState};

use super::{Configuration, Item, Model, Request, is_terminal, pick, settings, time};
use crate::answer::{Answer, Failure, Outcome};
use crate::step::{self, Minute};
use crate::support::minute;

/// What came of a submission.
pub(super) enum Admission {
    Refused(&'static str),
    In { thread: usize, request: usize },
}

impl From<Admission> for Answer {
    fn from(admission: Admission) -> Self {
        match admission {
            Admission::Refused(reason) => Self::Refused(reason.to_owned()),
            Admission::In { thread, request } => Self::Admitted { thread, request },
        }
    }
}

/// A submission whose links lead somewhere.
pub(super) struct Submission {
    text: String,
    data: Option<String>,
    profile: Option<String>,
    response: Option<String>,
    source: String,
    label: String,
    publication: Option<String>,
    at: Minute,
    contexts: BTreeSet<usize>,
    related: Option<usize>,
    retry_of: Option<usize>,
    root: Option<usize>,
    depth: u32,
}

impl Model {
    /// Resolves the links of a submission; none, if there is no request to link to.
    pub(super) fn submission(&self, given: &step::Submission) -> Option<Submission> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let link = |number: Option<usize>| match number {
            Some(number) => pick(number, self.requests.len()).map(Some),
            None => Some(None),
        };
        Some(Submission {
            text: given.text.to_owned(),
            data: None,
            profile: owned(given.profile),
            response: owned(given.response),
            source: given.source.to_owned(),
            label: "Anna".to_owned(),
            publication: owned(given.publication),
            at: given.at,
            contexts: given.contexts.iter().copied().collect(),
            related: link(given.related)?,
            retry_of: link(given.retry_of)?,
            root: link(given.root)?,
            depth: given.depth,
        })
    }

    fn refusal(
        &self,
        directory: usize,
        agent: usize,
        thread: Option<usize>,
        submission: &Submission,
        optional: bool,
    ) -> Result<Option<&'static str>, Failure> {
        let data = &self.directories[directory].data;
        if self.agents[agent].directory != directory {
            return Ok(Some("unknown-agent"));
        }
        if !self.agents[agent].data.enabled {
            return Ok(Some("agent-disabled"));
        }
        if let Some(thread) = thread.map(|thread| &self.threads[thread]) {
            if thread.agent != agent {
                return Ok(Some("wrong-thread"));
            }
            if thread.data.archived {
                return Ok(Some("thread-archived"));
            }
        }
        if submission.text.trim().is_empty() {
            return Ok(Some("empty"));
        }
        if optional && data.availability == "offline" {
            return Ok(Some("unavailable"));
        }
        if !self.offers(directory, submission.profile.as_deref()) {
            return Ok(Some("unknown-profile"));
        }
        let limits = settings(&self.agents[agent].data.settings)?;
        if submission.depth > limits.depth {
            return Ok(Some("causal-depth"));
        }
        if data.pending >= limits.pending
            || (submission.source != "user" && data.ordinary_pending >= limits.ordinary)
            || (optional && data.ordinary_pending >= limits.optional)
        {
            return Ok(Some("capacity"));
        }
        if submission.root.is_some_and(|root| self.requests[root].spawned >= 64) {
            return Ok(Some("child-limit"));
        }
        Ok(None)
    }

    /// Whether a profile may be asked for; `fast` is the only one that histories advertise.
    pub(super) fn offers(&self, directory: usize, profile: Option<&str>) -> bool {
        self.directories[directory].data.profiles == "[]" || profile.is_none_or(|it| it == "fast")
    }

    pub(super) fn admit(
        &mut self,
        path: &str,
        directory: usize,
        agent: usize,
        thread: Option<usize>,
        submission: Submission,
        optional: bool,
    ) -> Result<Admission, Failure> {
        let at = time(&format!("{path}createdAt"), submission.at)?;
        if let Some(reason) = self.refusal(directory, agent, thread, &submission, optional)? {
            return Ok(Admission::Refused(reason));
        }
        if let Some(root) = submission.root {
            self.requests[root].spawned += 1;
        }
        let thread = match thread {
            Some(thread) => thread,
            None => {
                let title = submission.text.lines().next().unwrap();
                let contexts: Vec<usize> = submission.contexts.iter().copied().collect();
                self.create_thread(directory, agent, title, "request", Some(at), &contexts)?
            }
        };
        let interactive = submission.source == "user";
        let sequence = self.enter(directory, thread, interactive, at);
        let contexts = &self.threads[thread].contexts | &submission.contexts;
        let text = submission.text;
        let request = Request {
            admission: RequestData {
                text: text.clone(),
                data: submission.data,
                configuration: String::new(),
                configuration_digest: String::new(),
                response_kind: submission.response.unwrap_or_else(|| "text".to_owned()),
                sequence,
                created_at: minute(at),
                source_kind: submission.source,
                source_label: submission.label,
                publication: submission.publication,
                causal_depth: submission.depth,
                interactive,
            },
            configuration: Configuration::Frozen {
                agent,
                instructions: self.agents[agent].instructions.clone(),
                profile: submission.profile,
                settings: self.agents[agent].data.settings.clone(),
            },
            progress: queued(),
            spawned: 0,
            directory,
            thread,
            contexts,
            related: submission.related,
            retry_of: submission.retry_of,
            root: submission.root,
            correction: None,
        };
        let request = self.place(request, &text, at, at);
        Ok(Admission::In { thread, request })
    }

    /// Counts a request that comes in.
    fn enter(&mut self, directory: usize, thread: usize, interactive: bool, at: u32) -> u64 {
        let data = &mut self.directories[directory].data;
        data.sequence += 1;
        data.pending += 1;
        data.ordinary_pending += u32::from(!interactive);
        let sequence = data.sequence;
        self.threads[thread].data.pending += 1;
        self.threads[thread].data.sequence += 1;
        self.touch(thread, at);
        sequence
    }

    /// Adds a request with its first item.
    fn place(&mut self, request: Request, text: &str, written: u32, placed: u32) -> usize {
        let number = self.requests.len();
        let (directory, thread) = (request.directory, request.thread);
        self.requests.push(request);
        self.directories[directory].pending.insert(number);
        let sequence = self.allocate(thread, placed);
        self.items.push(Item {
            data: ItemData {
                key: "prompt".to_owned(),
                kind: "input".to_owned(),
                text: text.to_owned(),
                phase: "final".to_owned(),
                activity: None,
                presentation: None,
                sequence,
                version: 1,
                created_at: minute(written),
                updated_at: minute(written),
                control: None,
            },
            thread,
            request: number,
            subject: None,
        });
        number
    }

    pub(super) fn allocate(&mut self, thread: usize, at: u32) -> u64 {
        self.touch(thread, at);
        let next_item = &mut self.threads[thread].data.next_item;
        *next_item += 1;
        *next_item - 1
    }

    pub(super) fn send(&mut self, thread: usize, submission: Submission) -> Result<usize, Failure> {
        let (directory, agent) = (self.threads[thread].directory, self.threads[thread].agent);
        match self.admit("", directory, agent, Some(thread), submission, false)? {
            Admission::In { request, .. } => Ok(request),
            Admission::Refused(reason) => Err(Failure::Refused(reason.to_owned())),
        }
    }

    pub(super) fn repair(
        &mut self,
        directory: usize,
        key: &str,
        text: &str,
        times: &[Minute; 3],
        attempt: &str,
        generation: u32,
    ) -> Outcome {
        let created = time("createdAt", times[0])?;
        let confirmed = time("confirmedAt", times[1])?;
        let started = time("startedAt", times[2])?;
        if let Some(known) = self.directories[directory].repairs.get(key) {
            let is_same = self.requests[*known].admission.text == text;
            return if is_same {
                Ok(Answer::Request(*known))
            } else {
                Err(Failure::Other("conflict"))
            };
        }
        if attempt.is_empty() {
            return super::invalid("attempt");
        }
        if generation == 0 {
            return super::invalid("generation");
        }
        let thread = self.directories[directory].initial_thread.unwrap();
        if self.threads[thread].data.archived {
            return Err(Failure::Refused("thread-archived".to_owned()));
        }
        if self.threads[thread].active.is_some() {
            return Err(Failure::Other("busy"));
        }
        let sequence = self.enter(directory, thread, false, confirmed);
        let request = Request {
            admission: RequestData {
                text: text.to_owned(),
                data: None,
                configuration: String::new(),
                configuration_digest: String::new(),
                response_kind: "text".to_owned(),
                sequence,
                created_at: minute(created),
                source_kind: "repair".to_owned(),
                source_label: key.to_owned(),
                publication: Some("page-1".to_owned()),
                causal_depth: 0,
                interactive: false,
            },
            configuration: Configuration::Verbatim(crate::support::repair(key).configuration),
            progress: RequestState {
                status: "running".to_owned(),
                attempt: attempt.to_owned(),
                generation,
                started_at: Some(minute(started)),
                ..queued()
            },
            spawned: 0,
            directory,
            thread,
            contexts: BTreeSet::new(),
            related: None,
            retry_of: None,
            root: None,
            correction: None,
        };
        let request = self.place(request, text, created, confirmed);
        self.directories[directory].repairs.insert(key.to_owned(), request);
        self.threads[thread].active = Some(request);
        Ok(Answer::Request(request))
    }

    pub(super) fn correct(
        &mut self,
        request: usize,
        errors: usize,
        most: u32,
        at: Minute,
    ) -> Outcome {
        time("createdAt", at)?;
        let this = &self.requests[request];
        if !is_terminal(&this.progress.status) {
            return Err(Failure::Other("conflict"));
        }
        if let Some(correction) = this.correction {
            return Ok(Answer::Request(correction));
        }
        let mut row = 0;
        let mut last = this;
        while let (Some(before), "correction") =
            (last.retry_of, last.admission.source_kind.as_str())
        {
            last = &self.requests[before];
            row += 1;
        }
        if row >= most {
            return Ok(Answer::Nothing);
        }
        let profile = match &this.configuration {
            Configuration::Frozen { profile, .. } => profile.clone(),
            // That of every repair in a history.
            Configuration::Verbatim(_) => Some("fast".to_owned()),
        };
        let submission = Submission {
            text: vec!["wrong"; errors].join("\n"),
            data: this.admission.data.clone(),
            profile,
            response: Some(this.admission.response_kind.clone()),
            source: "correction".to_owned(),
            label: String::new(),
            publication: this.admission.publication.clone(),
            at,
            contexts: this.contexts.clone(),
            related: Some(request),
            retry_of: Some(request),
            root: Some(this.root.unwrap_or(request)),
            depth: this.admission.causal_depth,
        };
        let correction = self.send(this.thread, submission)?;
        self.requests[request].correction = Some(correction);
        Ok(Answer::Request(correction))
    }
}

fn queued() -> RequestState {
    RequestState {
        status: "queued".to_owned(),
        attempt: String::new(),
        generation: 0,
        reason: String::new(),
        result: None,
        raw_output: None,
        usage: None,
        started_at: None,
        ended_at: None,
        cancel_requested: false,
        retry_count: 0,
        notification_pending: false,
    }
}
