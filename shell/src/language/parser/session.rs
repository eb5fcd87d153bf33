//! `sessions` and `session …`: what is read behind them.

use super::{Options, Parser};
use crate::language::command::{Deed, Named, Sessions, Speech, Verb};
use crate::language::fault::Fault;
use crate::language::manual::Page;
use crate::language::token::{Segment, TokenKind};

impl Parser<'_> {
    pub(super) fn sessions(&mut self, page: &'static Page) -> Result<Sessions, Fault> {
        let mut options = self.options(page)?;
        Ok(Sessions {
            status: options.statuses.pop(),
            agent: options.word("agent"),
            owner: options.word("owner"),
            tenant: options.word("tenant"),
            limit: options.limit(),
            after: options.sessions.pop(),
        })
    }

    pub(super) fn session(&mut self, page: &'static Page) -> Result<Verb, Fault> {
        let session = self.named("a session")?;
        let deed = match page.name {
            "session show" => Deed::Show { limit: self.options(page)?.limit() },
            "session follow" => {
                let options = self.options(page)?;
                Deed::Follow { from: options.number("from"), limit: options.limit() }
            }
            "session explain" => Deed::Explain { turn: self.options(page)?.word("turn") },
            "session replay" => Deed::Replay { at: self.options(page)?.number("at") },
            _ => Deed::Speak(self.speech(page)?),
        };
        Ok(Verb::Session { session, deed })
    }

    fn speech(&mut self, page: &'static Page) -> Result<Speech, Fault> {
        Ok(match page.name {
            "session send" => {
                let input = self.template()?;
                let mut options: Options = self.options(page)?;
                Speech::Send {
                    input,
                    turn: options.word("turn"),
                    agent: options.word("agent"),
                    owner: options.word("owner"),
                    tenant: options.word("tenant"),
                }
            }
            "session answer" => {
                let to = self.named("an interrupt or a call")?;
                Speech::Answer { to, value: self.input()? }
            }
            "session fail" => {
                let call = self.named("a call")?;
                Speech::Fail { call, error: self.name("what went wrong")?.name }
            }
            "session pause" => {
                let reason = self.name("a reason")?.name;
                Speech::Pause { reason, payload: self.input()? }
            }
            "session cancel" => Speech::Cancel { turn: self.options(page)?.word("turn") },
            _ => Speech::Close,
        })
    }

    /// An id, or a path to what it names.
    pub(super) fn named(&mut self, what: &str) -> Result<Named, Fault> {
        let token = self.bump(what)?;
        match &token.kind {
            TokenKind::Word(name) | TokenKind::Text(name) => {
                Ok(Named::Id(Segment { name: name.clone(), span: token.span.clone() }))
            }
            TokenKind::Path(path) => Ok(Named::Path(path.clone())),
            TokenKind::Flag(_) | TokenKind::Mark(_) | TokenKind::End => {
                let fault = Fault::new(token.span.clone(), format!("expected {what}"));
                Err(fault.help("write its id, in quotes if it is no plain word, or a reference"))
            }
        }
    }
}
