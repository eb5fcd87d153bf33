//! A command, as it was written and understood; what it names is not looked up yet.

use std::ops::Range;

use super::template::Template;
use super::token::{Path, Segment};

/// One command of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Command {
    /// All its bytes.
    pub(crate) span: Range<usize>,
    /// The variable that keeps its answer.
    pub(crate) keep: Option<Segment>,
    /// What to do.
    pub(crate) verb: Verb,
    /// How to do it.
    pub(crate) flags: Flags,
}

/// The flags of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// Show what would change, change nothing.
    pub(crate) dry_run: bool,
    /// Call an internal operation all the same; the history says so.
    pub(crate) internal: bool,
    /// Don't ask.
    pub(crate) yes: bool,
    /// List the newest first.
    pub(crate) newest: bool,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verb {
    /// `list TYPE [limit N] [after REF] [--newest]`
    List { atom: Segment, limit: Option<usize>, after: Option<Path> },
    /// `show REF`
    Show { object: Path },
    /// `describe …`
    Describe(Subject),
    /// `create TYPE [JSON]`
    Create { atom: Segment, input: Option<Template> },
    /// `call …`
    Call { call: Call, input: Option<Template> },
    /// `get REF.MEMBER`, or any other value.
    Value(Template),
    /// `read STREAM [from N] [limit N]`
    Read { stream: Path, from: u64, limit: Option<usize> },
    /// `follow STREAM [from N] [limit N]`
    Follow { stream: Path, from: Option<u64>, limit: Option<usize> },
    /// `cursor STREAM NAME [advance N]`
    Cursor { stream: Path, name: String, advance: Option<u64> },
    /// `history [limit N] [before COMMIT] [actor A] [on REF] [touching REF] [operation O]`
    History {
        limit: Option<usize>,
        before: Option<u64>,
        actor: Option<String>,
        on: Option<Path>,
        touching: Option<Path>,
        operation: Option<String>,
    },
    /// `history verify`
    HistoryVerify,
    /// `verify`
    Verify,
    /// `explain REQUEST`, `explain REASON [on REF]`
    Explain { what: Explained, on: Option<Path> },
    /// `sessions …`
    Sessions(Sessions),
    /// `session VERB SESSION …`
    Session { session: Named, deed: Deed },
    /// `vars`
    Vars,
    /// `help [COMMAND]`
    Help(Option<Segment>),
    /// `exit`
    Exit,
}

/// Whom a call is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    /// `REF.MEMBER`: the last names of the path are the member, with or without its interface.
    Member(Path),
    /// `OPERATION on REF`
    Operation { operation: Segment, on: Path },
}

/// What is described.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subject {
    /// The packages that are loaded.
    Packages,
    /// The operations of a package or an atom; of the first package when none is named.
    Operations(Option<Segment>),
    /// Every atom.
    Atoms,
    /// Every interface.
    Interfaces,
    /// Every named type.
    Types,
    /// One thing by its name or id.
    Named(Segment),
}

/// What is explained.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Explained {
    /// A request, an agent, a thread, or an admission's answer.
    Path(Path),
    /// The reason of a refusal.
    Reason(Segment),
}

/// Which sessions are listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sessions {
    /// With this status.
    pub(crate) status: Option<Segment>,
    /// Of this agent.
    pub(crate) agent: Option<String>,
    /// Of this owner.
    pub(crate) owner: Option<String>,
    /// Of this tenant.
    pub(crate) tenant: Option<String>,
    /// At most so many.
    pub(crate) limit: Option<usize>,
    /// Behind this one.
    pub(crate) after: Option<Named>,
}

/// How a session is named, or something in one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Named {
    /// By its id.
    Id(Segment),
    /// By a reference, or by what holds one.
    Path(Path),
}

impl Named {
    /// Returns the bytes that name it.
    pub(crate) fn span(&self) -> Range<usize> {
        match self {
            Self::Id(id) => id.span.clone(),
            Self::Path(path) => {
                let end = path.segments.last().map_or(path.base_span.end, |last| last.span.end);
                path.base_span.start..end
            }
        }
    }
}

/// What is done with a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    /// `session show SESSION [limit N]`
    Show { limit: Option<usize> },
    /// `session follow SESSION [from N] [limit N]`
    Follow { from: Option<u64>, limit: Option<usize> },
    /// `session explain SESSION [turn T]`
    Explain { turn: Option<String> },
    /// `session replay SESSION [at N]`
    Replay { at: Option<u64> },
    /// What changes it.
    Speak(Speech),
}

/// What is said to a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Speech {
    /// `session send SESSION INPUT [turn T] [agent A] [owner O] [tenant T]`
    Send {
        input: Template,
        turn: Option<String>,
        agent: Option<String>,
        owner: Option<String>,
        tenant: Option<String>,
    },
    /// `session answer SESSION ID [JSON]`
    Answer { to: Named, value: Option<Template> },
    /// `session fail SESSION CALL TEXT`
    Fail { call: Named, error: String },
    /// `session pause SESSION TEXT [JSON]`
    Pause { reason: String, payload: Option<Template> },
    /// `session cancel SESSION [turn T]`
    Cancel { turn: Option<String> },
    /// `session close SESSION`
    Close,
}
