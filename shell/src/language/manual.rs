//! Every command once: how it is written, what it does, an example. Help, completion, the advice
//! for a misspelt command and the check on `docs/shell.md` are made of this.

/// A page of the manual.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// The word that begins the command; of a group of commands, two.
    pub(crate) name: &'static str,
    /// How it is written.
    pub(crate) usage: &'static str,
    /// What it does, in a line.
    pub(crate) summary: &'static str,
    /// What else is worth knowing.
    pub(crate) more: &'static str,
    /// Something to try.
    pub(crate) example: &'static str,
    /// The words that may follow with a value.
    pub(crate) options: &'static [&'static str],
    /// The flags it takes.
    pub(crate) flags: &'static [&'static str],
}

const WRITING: &[&str] = &["dry-run", "internal", "yes"];
const SPEAKING: &[&str] = &["dry-run", "yes"];

/// The manual, in the order of its table of contents.
pub(crate) const MANUAL: &[Page] = &[
    Page {
        name: "list",
        usage: "list TYPE [limit N] [after REF] [--newest]",
        summary: "lists the objects of an atom, in the order of their creation",
        more: "TYPE is an atom's name, its id, or the last word of the id. Shows 20, or N, and \
               says whether there are more. With `--newest` the order is turned round, and \
               `after REF` are those that are older.",
        example: "list request limit 5",
        options: &["limit", "after"],
        flags: &["newest"],
    },
    Page {
        name: "show",
        usage: "show REF",
        summary: "shows an object: its state, its edges, its inverses, and what holds it",
        more: "REF is `TYPE/ULID`, a variable, or a way from one along single edges \
               (`$request.thread`).",
        example: "show $request",
        options: &[],
        flags: &[],
    },
    Page {
        name: "describe",
        usage: "describe [operations [of NAME] | packages | atoms | interfaces | types | NAME]",
        summary: "describes what the definitions say",
        more: "`describe operations` lists those of the main package; `of NAME` those of another \
               package, or those that an atom serves. NAME is the name or id of anything, or \
               `INTERFACE.MEMBER`.",
        example: "describe request_claim",
        options: &["of"],
        flags: &[],
    },
    Page {
        name: "create",
        usage: "create TYPE [JSON]",
        summary: "creates an object that a host may create at its door",
        more: "Answers the new object's reference.",
        example: "$w = create workspace {data: {name: \"Home\"}}",
        options: &[],
        flags: &["dry-run"],
    },
    Page {
        name: "call",
        usage: "call REF.[INTERFACE.]MEMBER [JSON]  |  call OPERATION on REF [JSON]",
        summary: "calls a member of an object, and answers what it answers",
        more: "`--dry-run` shows what would change and changes nothing. An operation that is \
               internal needs `--internal`, which the history records. At a terminal, what takes \
               work away or ends it asks first; `--yes` answers.",
        example: "$c = call $request.claim {attempt: \"a1\", expectedGeneration: 0, startedAt: \
                  $now, recover: false}",
        options: &["on"],
        flags: WRITING,
    },
    Page {
        name: "get",
        usage: "get VALUE",
        summary: "prints a value: a variable, a state, what an edge leads to, or a part of one",
        more: "`get` may be left out. `$now` is the time, `$now+5m` five minutes later; `$_` the \
               last answer.",
        example: "get $request.progress.status",
        options: &[],
        flags: &[],
    },
    Page {
        name: "read",
        usage: "read STREAM [from N] [limit N]",
        summary: "reads the events of a stream",
        more: "STREAM is an object with one stream, or `REF.STREAM`.",
        example: "read $agent.completions from 0 limit 10",
        options: &["from", "limit"],
        flags: &[],
    },
    Page {
        name: "follow",
        usage: "follow STREAM [from N] [limit N]",
        summary: "prints the events of a stream as they become durable",
        more: "Begins behind the last event, or at N; ends after `limit` events, or with ctrl-c.",
        example: "follow $agent.completions from 0 limit 1",
        options: &["from", "limit"],
        flags: &[],
    },
    Page {
        name: "cursor",
        usage: "cursor STREAM NAME [advance N]",
        summary: "shows a durable cursor of a stream, or moves it",
        more: "A cursor is the offset of the next event that its reader wants. It moves forward \
               only.",
        example: "cursor $agent.completions mailer advance 1",
        options: &["advance"],
        flags: &["yes"],
    },
    Page {
        name: "history",
        usage: "history [limit N] [before COMMIT] [actor A] [on REF] [touching REF] [operation O]  \
                |  history verify",
        summary: "lists the newest committed calls, or checks the chain of all of them",
        more: "Shows 20, or N, the newest last. `on REF` are those whose receiver it is, \
               `touching REF` also those that changed it from elsewhere. `before COMMIT` goes on \
               from there into the past.",
        example: "history limit 5 on $request",
        options: &["limit", "before", "actor", "on", "touching", "operation"],
        flags: &[],
    },
    Page {
        name: "verify",
        usage: "verify",
        summary: "checks every stored byte that can be checked",
        more: "Layouts, references, inverses, cardinalities, types, the rules of the packages, \
               the chain of the history. Findings are an error.",
        example: "verify",
        options: &[],
        flags: &[],
    },
    Page {
        name: "explain",
        usage: "explain REQUEST  |  explain ANSWER  |  explain REASON [on REF]",
        summary: "says why a request is not progressing, or why one was not admitted",
        more: "Who holds it and since when, what stands before it, what would release it, and \
               which rule refuses what. REASON is the word of a refusal, or a failure's \
               code; a refusal `on` an agent or a thread is explained with its numbers.",
        example: "explain capacity on $agent",
        options: &["on"],
        flags: &[],
    },
    Page {
        name: "sessions",
        usage: "sessions [status WORD] [agent A] [owner O] [tenant T] [limit N] [after SESSION]",
        summary: "lists sessions, the newest first: what each does, and what it waits for",
        more: "WORD is `working`, `waiting` (for its client), `interrupted`, `done`, `idle` or \
               `cancelled`. Shows 20, or N, and says whether there are more.",
        example: "sessions status working agent concierge",
        options: &["status", "agent", "owner", "tenant", "limit", "after"],
        flags: &[],
    },
    Page {
        name: "session show",
        usage: "session show SESSION [limit N]",
        summary: "shows a session: where it stands, and its messages as a tree",
        more: "SESSION is a session's id, a reference, or what `session send` answered. Under each \
               message stand the calls that it made; what is not on the way to the head is faint. \
               Shows the newest 50 messages, or N.",
        example: "session show s1",
        options: &["limit"],
        flags: &[],
    },
    Page {
        name: "session follow",
        usage: "session follow SESSION [from N] [limit N]",
        summary: "prints what happens in a session as it becomes durable, a line an event",
        more: "Begins behind the last event, or at N; ends after `limit` events, or with ctrl-c.",
        example: "session follow s1 from 0 limit 10",
        options: &["from", "limit"],
        flags: &[],
    },
    Page {
        name: "session explain",
        usage: "session explain SESSION [turn T]",
        summary: "says why a session, or a turn of it, does not go on, and what would let it",
        more: "Who drives it, what pauses it, what the worker is asked, what is called and until \
               when, what waits behind it; each with the commands that release it.",
        example: "session explain s1",
        options: &["turn"],
        flags: &[],
    },
    Page {
        name: "session replay",
        usage: "session replay SESSION [at N]",
        summary: "folds the log of a session anew, and compares it with what is stored",
        more: "`at N` shows what the session was after its first N events. A difference is an \
               error that names the first thing that differs.",
        example: "session replay s1 at 20",
        options: &["at"],
        flags: &[],
    },
    Page {
        name: "session send",
        usage: "session send SESSION INPUT [turn T] [agent A] [owner O] [tenant T]",
        summary: "sends a message to a session, or begins one with it",
        more: "INPUT is a text, a list of content parts, or a whole client input as a record. A \
               session that is not there is begun with `agent`, for `owner` (else you) of `tenant` \
               (else `default`). `--dry-run` shows what would be logged.",
        example: "session send s1 \"Hello\" agent concierge",
        options: &["turn", "agent", "owner", "tenant"],
        flags: SPEAKING,
    },
    Page {
        name: "session answer",
        usage: "session answer SESSION ID [JSON]",
        summary: "resumes an interrupt, or settles a call with a result",
        more: "ID is that of an open interrupt or of a call that the client or the worker runs, or \
               the reference of the question that asks the same. Without JSON it is `null`.",
        example: "session answer s1 call-7 {approved: true}",
        options: &[],
        flags: SPEAKING,
    },
    Page {
        name: "session fail",
        usage: "session fail SESSION CALL TEXT",
        summary: "settles a call with a failure, for good",
        more: "",
        example: "session fail s1 call-7 \"nobody is there\"",
        options: &[],
        flags: SPEAKING,
    },
    Page {
        name: "session pause",
        usage: "session pause SESSION TEXT [JSON]",
        summary: "pauses a session at its head with an interrupt, which an operator resumes",
        more: "TEXT says why. Model calls under way are voided, tools and sub-agents go on.",
        example: "session pause s1 \"wait for me\"",
        options: &[],
        flags: SPEAKING,
    },
    Page {
        name: "session cancel",
        usage: "session cancel SESSION [turn T]",
        summary: "cancels the active turn of a session, or another one, with all that runs for it",
        more: "At a terminal it shows what would be logged, and asks; `--yes` answers.",
        example: "session cancel s1",
        options: &["turn"],
        flags: SPEAKING,
    },
    Page {
        name: "session close",
        usage: "session close SESSION",
        summary: "cancels a session for good, with all that runs in it and below it",
        more: "It takes nothing any more. At a terminal it shows what would be logged, and asks; \
               `--yes` answers.",
        example: "session close s1",
        options: &[],
        flags: SPEAKING,
    },
    Page {
        name: "vars",
        usage: "vars",
        summary: "lists the variables",
        more: "`$name = COMMAND` or `$name = VALUE` sets one.",
        example: "vars",
        options: &[],
        flags: &[],
    },
    Page {
        name: "help",
        usage: "help [COMMAND]",
        summary: "says how a command is written",
        more: "",
        example: "help call",
        options: &[],
        flags: &[],
    },
    Page {
        name: "exit",
        usage: "exit",
        summary: "ends the shell",
        more: "Ctrl-d does, too.",
        example: "exit",
        options: &[],
        flags: &[],
    },
];

/// Returns the page of a command.
pub(crate) fn page(name: &str) -> Option<&'static Page> {
    MANUAL.iter().find(|page| page.name == name)
}

/// Returns the pages of a group: those whose names begin with a word, and have another one.
pub(crate) fn group(word: &str) -> impl Iterator<Item = (&'static str, &'static Page)> {
    MANUAL.iter().filter_map(move |page| {
        let (first, second) = page.name.split_once(' ')?;
        (first == word).then_some((second, page))
    })
}
