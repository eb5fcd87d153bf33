//! The rules of a request's progress, applied to what is known of one.

use chrono::{DateTime, Utc};

use super::facts::{RequestFacts, flag, number, text, words};
use super::{Explanation, Point, time, when};

/// Explains where a request stands.
pub(super) fn explain(facts: &RequestFacts) -> Explanation {
    let mut it = match text(&facts.progress, "status") {
        "queued" => queued(facts),
        "running" => running(facts),
        "waiting" => waiting(facts),
        _ => terminal(facts),
    };
    if let Some(last) = &facts.last {
        let text = format!(
            "{} by {}, {}, commit {}",
            last.what,
            last.actor,
            when(&last.at, facts.now),
            last.commit
        );
        it.facts.push(("last call", text));
    }
    it.facts.push(("thread", facts.thread.clone()));
    it.facts.push(("agent", facts.agent.clone()));
    it
}

fn queued(facts: &RequestFacts) -> Explanation {
    let generation = number(&facts.progress, "generation");
    let claim = format!(
        "call {}.claim {{attempt: \"NAME\", expectedGeneration: {generation}, startedAt: $now, \
         recover: false}}",
        facts.request
    );
    let mut it = Explanation {
        headline: "is queued: no attempt holds it".to_owned(),
        facts: vec![("admitted", when(text(&facts.admission, "createdAt"), facts.now))],
        ..Explanation::default()
    };
    match &facts.active {
        Some((active, progress)) => {
            let held = format!(
                "its thread runs {active}, which is {} and held by attempt {:?}, generation {}, \
                 since {}",
                text(progress, "status"),
                text(progress, "attempt"),
                number(progress, "generation"),
                when(text(progress, "startedAt"), facts.now),
            );
            it.reasons.push(Point::new("thread-busy", held));
            it.releases.push(
                Point::new("thread-busy", "that request has to finish; see where it stands")
                    .run(format!("explain {active}")),
            );
            it.refusals.push(Point::new(
                "claim",
                "answers `claimed: false`: a thread runs one request at a time",
            ));
        }
        None => {
            it.reasons
                .push(Point::new("unclaimed", "its thread is free, and no runner claimed it"));
            it.releases.push(Point::new("unclaimed", "a runner has to claim it").run(claim));
        }
    }
    if let Some(first) = facts.ahead.first() {
        let count = facts.ahead.len();
        let text = format!("{count} of its thread were admitted before it, the first {first}");
        it.reasons.push(Point::new("ahead", text));
    }
    host(facts, &mut it);
    closed(facts, &mut it);
    it.releases.push(
        Point::new("cancel", "cancelled now, it ends at once")
            .run(format!("call {}.cancel", facts.request)),
    );
    it
}

/// What the host says of itself that a queued request may wait for.
fn host(facts: &RequestFacts, it: &mut Explanation) {
    if text(&facts.directory_data, "availability") == "offline" {
        let text = "the host advertises `offline`: probably no runner is at work";
        it.reasons.push(Point::new("availability", text));
    }
    let profiles = words(&facts.directory_data, "profiles");
    if let Some(profile) = facts.profile()
        && !profiles.is_empty()
        && !profiles.contains(&profile)
    {
        let text = format!(
            "it wants the profile `{profile}`, and the host advertises {}",
            profiles.join(", ")
        );
        it.reasons.push(Point::new("profile", text));
    }
}

/// What does not hold a request up, although one may think so.
fn closed(facts: &RequestFacts, it: &mut Explanation) {
    if !flag(&facts.agent_data, "enabled") {
        it.notes.push(Point::new("agent-disabled", "its agent admits nothing new"));
    }
    if flag(&facts.thread_data, "archived") {
        it.notes.push(Point::new("thread-archived", "its thread admits nothing new"));
    }
}

/// Who holds a request.
fn holder(facts: &RequestFacts) -> Vec<(&'static str, String)> {
    let progress = &facts.progress;
    let mut held = format!(
        "attempt {:?}, generation {}, since {}",
        text(progress, "attempt"),
        number(progress, "generation"),
        when(text(progress, "startedAt"), facts.now),
    );
    if let Some(claim) = &facts.claim {
        held.push_str(&format!(", claimed by {}", claim.actor));
    }
    let mut held = vec![("held by", held)];
    let taken = number(progress, "retryCount");
    if taken > 0 {
        held.push(("taken over", format!("{taken} times")));
    }
    if !text(progress, "reason").is_empty() {
        held.push(("reason", text(progress, "reason").to_owned()));
    }
    held
}

fn running(facts: &RequestFacts) -> Explanation {
    let mut it = Explanation {
        headline: "is running: its attempt has not finished it".to_owned(),
        facts: holder(facts),
        ..Explanation::default()
    };
    it.reasons.push(Point::new(
        "held",
        "only the attempt that holds it can go on; whether that still lives, the store cannot know",
    ));
    held(facts, &mut it);
    it
}

fn waiting(facts: &RequestFacts) -> Explanation {
    let mut it = Explanation {
        headline: "is waiting".to_owned(),
        facts: holder(facts),
        ..Explanation::default()
    };
    let mut open = 0;
    for (question, data) in &facts.questions {
        let key = text(data, "key");
        let expires = text(data, "expiresAt");
        match text(data, "status") {
            "open" if is_over(expires, facts.now) => {
                let text = format!("question `{key}` expired {}", when(expires, facts.now));
                it.reasons.push(Point::new("question-expired", text));
            }
            "open" if !same_fence(facts, data) => {
                let text = format!(
                    "question `{key}` is of attempt {:?}, generation {}, which no longer holds it",
                    text(data, "attempt"),
                    number(data, "generation")
                );
                it.reasons.push(Point::new("question-stale", text));
            }
            "open" => {
                open += 1;
                let reason = format!("question `{key}` is open until {}", when(expires, facts.now));
                it.reasons.push(Point::new("question-open", reason));
                let options = words(data, "options");
                let options = if options.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", options.join(", "))
                };
                it.releases.push(
                    Point::new(
                        "question-open",
                        format!("answer `{}`{options}", text(data, "title")),
                    )
                    .run(format!(
                        "call {question}.answer {{answer: \"TEXT\", {}, answeredAt: $now}}",
                        facts.fence()
                    )),
                );
            }
            status => {
                let text = format!("question `{key}` is {status}");
                it.reasons.push(Point::new("question-settled", text));
            }
        }
    }
    if open > 0 {
        it.headline = "is waiting for an answer".to_owned();
    } else {
        it.headline = "is waiting, and no question of it is open".to_owned();
        let text = "nothing but its runner can let it go on";
        it.reasons.push(Point::new("runner", text));
    }
    it.releases.push(Point::new("runner", "its attempt transitions it to `running`").run(format!(
        "call {}.transition {{{}, status: \"running\", reason: \"\"}}",
        facts.request,
        facts.fence()
    )));
    held(facts, &mut it);
    it.refusals.push(Point::new("steer", "refused with `not-running` while it waits"));
    it
}

fn is_over(expires: &str, now: DateTime<Utc>) -> bool {
    time(expires).is_some_and(|expires| now >= expires)
}

fn same_fence(facts: &RequestFacts, question: &serde_json::Value) -> bool {
    text(question, "attempt") == text(&facts.progress, "attempt")
        && number(question, "generation") == number(&facts.progress, "generation")
}

/// What goes for everything that is held.
fn held(facts: &RequestFacts, it: &mut Explanation) {
    if flag(&facts.progress, "cancelRequested") {
        let text = "a cancel was asked for; its runner has to see that and finish";
        it.reasons.push(Point::new("cancel-requested", text));
    }
    it.releases.push(Point::new("finish", "its attempt finishes it").run(format!(
        "call {}.finish {{{}, status: \"completed\", reason: \"\", endedAt: $now}}",
        facts.request,
        facts.fence()
    )));
    let generation = number(&facts.progress, "generation");
    it.releases.push(Point::new("take-over", "if its attempt is lost, another takes it over").run(
        format!(
            "call {}.claim {{attempt: \"NAME\", expectedGeneration: {generation}, startedAt: \
             $now, recover: true}}",
            facts.request
        ),
    ));
    if !flag(&facts.progress, "cancelRequested") {
        it.releases.push(
            Point::new("cancel", "its runner is asked to stop")
                .run(format!("call {}.cancel", facts.request)),
        );
    }
    it.refusals.push(Point::new("claim", "answers `claimed: false` unless `recover` is true"));
    it.refusals
        .push(Point::new("fence", format!("any other fence than {{{}}} is stale", facts.fence())));
}

fn terminal(facts: &RequestFacts) -> Explanation {
    let status = text(&facts.progress, "status");
    let mut it = Explanation {
        headline: format!("is {status}: it is over"),
        facts: vec![("ended", when(text(&facts.progress, "endedAt"), facts.now))],
        ..Explanation::default()
    };
    if !text(&facts.progress, "reason").is_empty() {
        it.facts.push(("reason", text(&facts.progress, "reason").to_owned()));
    }
    if let Some(correction) = &facts.correction {
        it.facts.push(("corrected by", correction.clone()));
    }
    if flag(&facts.progress, "notificationPending") {
        let text = "its completion is not on its agent's stream yet";
        it.reasons.push(Point::new("unpublished", text));
        it.releases.push(
            Point::new("unpublished", "publish it")
                .run(format!("call {}.publishCompletion", facts.request)),
        );
    }
    it.refusals.push(Point::new("terminal", "nothing leaves a terminal status"));
    it
}
