//! What attempts do with requests, from the claim to the end that is told.

use quixos_package::agent_runtime::{QuestionData, RequestState};

use super::{Model, Question, invalid, is_held, is_terminal, minutes, settings, time};
use crate::answer::{Answer, Failure, Outcome};
use crate::step::{Given, Minute};
use crate::support::minute;

impl Model {
    pub(super) fn claim(
        &mut self,
        request: usize,
        attempt: &str,
        expected: u32,
        at: Minute,
        recover: bool,
    ) -> Outcome {
        if attempt.is_empty() {
            return invalid("attempt");
        }
        let at = time("startedAt", at)?;
        let thread = self.requests[request].thread;
        let active = &mut self.threads[thread].active;
        let progress = &mut self.requests[request].progress;
        let generation = progress.generation;
        let is_held = is_held(&progress.status);
        if is_held && progress.attempt == attempt && generation == expected + 1 {
            return Ok(Answer::Claim { claimed: true, generation });
        }
        let is_mine = active.is_none_or(|active| active == request);
        if is_terminal(&progress.status)
            || generation != expected
            || (is_held && !recover)
            || !is_mine
        {
            return Ok(Answer::Claim { claimed: false, generation });
        }
        *active = Some(request);
        *progress = RequestState {
            status: "running".to_owned(),
            attempt: attempt.to_owned(),
            generation: generation + 1,
            reason: String::new(),
            started_at: Some(minute(at)),
            retry_count: progress.retry_count + u32::from(is_held),
            ..progress.clone()
        };
        Ok(Answer::Claim { claimed: true, generation: generation + 1 })
    }

    pub(super) fn transition(
        &mut self,
        request: usize,
        fence: &Given,
        status: &str,
        reason: &str,
    ) -> Outcome {
        if !is_held(status) {
            return invalid("status");
        }
        if !self.holds(request, &self.fence(request, fence)) {
            return Ok(Answer::Yes(false));
        }
        let progress = &mut self.requests[request].progress;
        progress.status = status.to_owned();
        progress.reason = reason.to_owned();
        Ok(Answer::Yes(true))
    }

    pub(super) fn finish(
        &mut self,
        request: usize,
        fence: &Given,
        status: &str,
        usage: Option<&str>,
        at: Minute,
    ) -> Outcome {
        if !is_terminal(status) {
            return invalid("status");
        }
        if usage == Some("{") {
            return invalid("usage");
        }
        let at = time("endedAt", at)?;
        let fence = self.fence(request, fence);
        let progress = &self.requests[request].progress;
        let is_queued = progress.status == "queued" && super::stored(progress) == fence;
        if is_queued && status == "completed" {
            return invalid("status");
        }
        if !is_queued && !self.holds(request, &fence) {
            return Ok(Answer::Yes(false));
        }
        let progress = &mut self.requests[request].progress;
        progress.result = Some("done".to_owned());
        progress.raw_output = Some("DONE".to_owned());
        progress.usage = usage.map(str::to_owned);
        self.end(request, status, "all said", at)?;
        Ok(Answer::Yes(true))
    }

    fn end(&mut self, request: usize, status: &str, reason: &str, at: u32) -> Result<(), Failure> {
        let thread = self.requests[request].thread;
        let agent = self.threads[thread].agent;
        let notify = settings(&self.agents[agent].data.settings)?.notify;
        let ended = &mut self.requests[request];
        ended.progress.status = status.to_owned();
        ended.progress.reason = reason.to_owned();
        ended.progress.ended_at = Some(minute(at));
        ended.progress.notification_pending = notify;

        let directory = &mut self.directories[ended.directory];
        directory.pending.remove(&request);
        directory.data.pending -= 1;
        directory.data.ordinary_pending -= u32::from(!ended.admission.interactive);
        if notify {
            directory.notifications.insert(request);
            directory.data.notification_pending += 1;
        }
        let thread_data = &mut self.threads[thread];
        thread_data.data.pending -= 1;
        thread_data.data.sequence += 1;
        if thread_data.active == Some(request) {
            thread_data.active = None;
        }
        self.touch(thread, self.now);
        Ok(())
    }

    pub(super) fn cancel(&mut self, request: usize) -> Outcome {
        let progress = &mut self.requests[request].progress;
        if is_terminal(&progress.status) {
            return Ok(Answer::Yes(false));
        }
        if is_held(&progress.status) {
            progress.cancel_requested = true;
        } else {
            self.end(request, "cancelled", "cancelled", self.now)?;
        }
        Ok(Answer::Yes(true))
    }

    pub(super) fn publish(&mut self, request: usize) -> Outcome {
        let ended = &mut self.requests[request];
        if !is_terminal(&ended.progress.status) || !ended.progress.notification_pending {
            return Ok(Answer::Yes(false));
        }
        ended.progress.notification_pending = false;
        let directory = &mut self.directories[ended.directory];
        directory.notifications.remove(&request);
        directory.data.notification_pending -= 1;
        let event = (request, ended.thread, ended.progress.status.clone());
        self.agents[self.threads[ended.thread].agent].told.push(event);
        Ok(Answer::Yes(true))
    }

    pub(super) fn ask(
        &mut self,
        request: usize,
        fence: &Given,
        key: &str,
        options: &str,
        at: Minute,
        expires: Minute,
    ) -> Outcome {
        if options == "yes" {
            return invalid("options");
        }
        let at = time("createdAt", at)?;
        let expires = time("expiresAt", expires)?;
        if expires <= at {
            return invalid("expiresAt");
        }
        let fence = self.fence(request, fence);
        self.require(request, &fence)?;
        let of_key = |question: &&Question| question.request == request && question.data.key == key;
        let find = |wanted: &dyn Fn(&QuestionData) -> bool| {
            let fits = |question: &Question| of_key(&question) && wanted(&question.data);
            self.questions.iter().position(fits)
        };
        if let Some(answered) = find(&|data| data.status == "answered") {
            return Ok(Answer::Question(answered));
        }
        let open = find(&|data| {
            data.status == "open"
                && (data.attempt.as_str(), data.generation) == (&fence.attempt, fence.generation)
                && minutes(&data.expires_at) > at
        });
        let question = open.unwrap_or(self.questions.len());
        if open.is_none() {
            self.questions.push(Question {
                data: QuestionData {
                    key: key.to_owned(),
                    title: "Publish it?".to_owned(),
                    options: options.to_owned(),
                    status: "open".to_owned(),
                    answer: None,
                    created_at: minute(at),
                    expires_at: minute(expires),
                    attempt: fence.attempt,
                    generation: fence.generation,
                },
                request,
            });
        }
        self.requests[request].progress.status = "waiting".to_owned();
        Ok(Answer::Question(question))
    }

    pub(super) fn answer(
        &mut self,
        question: usize,
        fence: &Given,
        answer: &str,
        at: Minute,
    ) -> Outcome {
        let at = time("answeredAt", at)?;
        let Question { data, request } = &self.questions[question];
        let fence = self.fence(*request, fence);
        let is_fence = (&data.attempt, data.generation) == (&fence.attempt, fence.generation);
        if data.status != "open"
            || !is_fence
            || !self.holds(*request, &fence)
            || at.max(self.now) >= minutes(&data.expires_at)
        {
            return Ok(Answer::Yes(false));
        }
        if data.options != "[]" && answer != "yes" {
            return invalid("answer");
        }
        let data = &mut self.questions[question].data;
        data.status = "answered".to_owned();
        data.answer = Some(answer.to_owned());
        Ok(Answer::Yes(true))
    }

    pub(super) fn take_back(&mut self, question: usize) -> Outcome {
        let data = &mut self.questions[question].data;
        if data.status == "open" {
            data.status = "cancelled".to_owned();
        }
        Ok(Answer::Done)
    }
}
