//! What attempts write into threads.

use quixos_package::agent_runtime::{ItemData, ItemDataControl};
use quixos_runtime::Fence;

use super::{Item, Model, time};
use crate::answer::{Answer, Failure, Outcome};
use crate::step::{Given, Minute, Writing};
use crate::support::minute;

impl Model {
    pub(super) fn steer(
        &mut self,
        request: usize,
        fence: &Given,
        key: &str,
        text: &str,
        profile: Option<&str>,
        at: Minute,
    ) -> Result<usize, Failure> {
        let at = time("createdAt", at)?;
        let fence = self.fence(request, fence);
        self.require(request, &fence)?;
        if self.requests[request].progress.status == "waiting" {
            return Err(Failure::Refused("not-running".to_owned()));
        }
        if !self.offers(self.requests[request].directory, profile) {
            return Err(Failure::Refused("unknown-profile".to_owned()));
        }
        let data = ItemData {
            key: key.to_owned(),
            kind: "steer".to_owned(),
            text: text.to_owned(),
            phase: "final".to_owned(),
            activity: profile.map(|profile| format!(r#"{{"profile":"{profile}"}}"#)),
            presentation: None,
            sequence: 0,
            version: 1,
            created_at: minute(at),
            updated_at: minute(at),
            control: None,
        };
        self.upsert(request, &fence, data, at, None)
    }

    /// Returns the item that a step writes, as it stands in the input.
    pub(crate) fn written(&self, request: usize, writing: &Writing, at: u32) -> ItemData {
        let control = writing.control.as_ref().map(|control| {
            let Fence { attempt, generation } = self.fence(request, control);
            ItemDataControl { attempt, generation, status: String::new(), reason: String::new() }
        });
        ItemData {
            key: writing.key.to_owned(),
            kind: writing.kind.to_owned(),
            text: writing.text.to_owned(),
            phase: "streaming".to_owned(),
            activity: None,
            presentation: None,
            sequence: 0,
            version: writing.version,
            created_at: minute(at),
            updated_at: minute(at),
            control,
        }
    }

    pub(super) fn upsert_step(
        &mut self,
        request: usize,
        writing: &Writing,
    ) -> Result<usize, Failure> {
        let at = time("data.createdAt", writing.at)?;
        let fence = self.fence(request, &writing.fence);
        let data = self.written(request, writing, at);
        self.upsert(request, &fence, data, at, writing.subject)
    }

    fn upsert(
        &mut self,
        request: usize,
        fence: &Fence,
        data: ItemData,
        at: u32,
        subject: Option<usize>,
    ) -> Result<usize, Failure> {
        self.require(request, fence)?;
        let of_key = |item: &Item| item.request == request && item.data.key == data.key;
        let Some(found) = self.items.iter().position(of_key) else {
            return self.create(request, fence, data, at, subject);
        };
        let item = &self.items[found];
        if data.kind == "steer" {
            let is_steer = item.data.kind == "steer";
            return if is_steer { Ok(found) } else { Err(Failure::Other("conflict")) };
        }
        if subject.is_some() && subject != item.subject {
            return Err(Failure::Other("conflict"));
        }
        self.checkpoint(found, fence, data)?;
        Ok(found)
    }

    fn create(
        &mut self,
        request: usize,
        fence: &Fence,
        data: ItemData,
        at: u32,
        subject: Option<usize>,
    ) -> Result<usize, Failure> {
        same_control(&data, fence)?;
        if subject.is_some_and(|subject| !self.presentable[subject]) {
            return super::invalid("subject");
        }
        let thread = self.requests[request].thread;
        let sequence = self.allocate(thread, at);
        self.items.push(Item { data: ItemData { sequence, ..data }, thread, request, subject });
        Ok(self.items.len() - 1)
    }

    pub(super) fn checkpoint_step(&mut self, item: usize, writing: &Writing) -> Outcome {
        let at = time("data.createdAt", writing.at)?;
        let request = self.items[item].request;
        let fence = self.fence(request, &writing.fence);
        let data = self.written(request, writing, at);
        self.checkpoint(item, &fence, data)?;
        Ok(Answer::Done)
    }

    fn checkpoint(&mut self, item: usize, fence: &Fence, data: ItemData) -> Result<(), Failure> {
        self.require(self.items[item].request, fence)?;
        same_control(&data, fence)?;
        let stored = &mut self.items[item].data;
        let data = ItemData {
            key: stored.key.clone(),
            sequence: stored.sequence,
            created_at: stored.created_at.clone(),
            ..data
        };
        if data.version > stored.version {
            *stored = data;
        } else if data != *stored {
            return Err(Failure::StaleVersion { given: data.version, stored: stored.version });
        }
        Ok(())
    }
}

fn same_control(data: &ItemData, fence: &Fence) -> Result<(), Failure> {
    let Some(control) = &data.control else { return Ok(()) };
    let given = Fence { attempt: control.attempt.clone(), generation: control.generation };
    if given == *fence { Ok(()) } else { Err(Failure::StaleFence { given, held: fence.clone() }) }
}
