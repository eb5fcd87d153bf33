//! One run over a store that fails, and what is held to be true after it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use quixos_runtime::blocking;
use quixos_runtime::store::{self, MemoryStore, Store};
use serde::{Deserialize, Serialize};

use super::ask::{Ask, Host, READER, Refusal};
use crate::replay::Observed;

/// How long a run may take before it is said to hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often something is asked that was refused, before its caller gives up.
const TRIES: usize = 2;

/// What a caller heard of a store that may fail.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// How many of [`Ask::ALL`] were answered: the first so many.
    pub(crate) done: usize,
    pub(crate) refusals: Vec<Refusal>,
    /// Whether the caller gave up, and the store said that it takes no more writes.
    pub(crate) stopped: bool,
    /// Where threads panicked, but in sled: that it does is known, and caught.
    pub(crate) panics: Vec<String>,
}

impl Heard {
    /// Asks for everything, see [`Heard::of`].
    pub(crate) fn from(opening: &dyn Fn() -> Result<Arc<dyn Store>, store::OpenError>) -> Self {
        Self::of(&Ask::ALL, opening)
    }

    /// Asks for the first of [`Ask::ALL`], and for what was refused once more. Gives up when that is
    /// refused too.
    pub(crate) fn of(
        asks: &[Ask],
        opening: &dyn Fn() -> Result<Arc<dyn Store>, store::OpenError>,
    ) -> Self {
        hear_panics();
        let mut heard = Self::default();
        let mut host = Host::new(opening);
        blocking(async {
            for (at, ask) in asks.iter().copied().enumerate() {
                let mut tries = 0;
                while let Err(failed) = host.ask(ask).await {
                    let (code, message) = (failed.code.to_owned(), failed.message);
                    heard.refusals.push(Refusal { at, code, message });
                    tries += 1;
                    if tries == TRIES {
                        heard.stopped = host.says_that_it_stopped().await;
                        return;
                    }
                }
                heard.done = at + 1;
            }
        });
        host.close();
        heard.panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
        heard
    }

    /// Tells whether everything was answered.
    pub(crate) fn is_complete(&self) -> bool {
        self.done == Ask::ALL.len()
    }

    /// Fails unless each refusal has one of these codes, and nothing panicked.
    pub(crate) fn assert_clean(&self, codes: &[&str]) {
        assert!(self.panics.is_empty(), "{self:#?}");
        for refusal in &self.refusals {
            assert!(codes.contains(&refusal.code.as_str()), "not one of {codes:?}: {self:#?}");
        }
    }

    /// Tells whether it was the opening of the store that was refused.
    pub(crate) fn is_of_opening(refusal: &Refusal) -> bool {
        matches!(Ask::ALL[refusal.at], Ask::Open | Ask::Again)
    }

    /// Tells whether what was asked last may be there although it was refused.
    fn is_in_doubt(&self) -> bool {
        let is_in_doubt = |it: &Refusal| it.at == self.done && !it.message.contains("nothing was");
        self.refusals.iter().any(is_in_doubt)
    }
}

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps where threads panic, from now on.
fn hear_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            if place.contains("/sled-") {
                return;
            }
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(place);
            usual(panic);
        }));
    });
}

/// What a store holds.
#[derive(Clone, PartialEq, Debug, Default)]
struct State {
    commit: u64,
    observed: Observed,
    /// Where the reader of the completions stands.
    cursor: u64,
}

impl State {
    async fn read(host: &Host<'_>) -> Self {
        let Some(runtime) = host.runtime() else { return Self::default() };
        let stream = host.stream();
        let read = runtime.read(|it| {
            let cursors = stream.map(|stream| it.cursors(stream, "events")).transpose()?;
            let cursors = cursors.unwrap_or_default();
            let cursor = cursors.iter().find(|(name, _)| name == READER).map_or(0, |it| it.1);
            Ok(Self { commit: it.commit(), observed: Observed::read(it)?, cursor })
        });
        read.await.unwrap()
    }
}

/// What a store holds after each of [`Ask::ALL`], when nothing fails.
pub(crate) struct Reference(Vec<State>);

impl Reference {
    pub(crate) fn record() -> Self {
        let store = Arc::new(MemoryStore::new());
        let opening = || Ok(Arc::clone(&store) as Arc<dyn Store>);
        let mut host = Host::new(&opening);
        let states = blocking(async {
            let mut states = vec![State::default()];
            for ask in Ask::ALL {
                assert!(host.ask(ask).await.is_ok(), "{ask:?} is in order");
                states.push(State::read(&host).await);
            }
            states
        });
        host.close();
        Self(states)
    }

    /// Opens, on a disk that is good, what is left of a store that failed, and holds it to what was
    /// heard: it has exactly what was answered, or also what was asked last, if its outcome was left
    /// open. Then all is asked once more under the same ids, and comes to what it comes to when
    /// nothing fails.
    pub(crate) fn check(
        &self,
        heard: &Heard,
        opening: &dyn Fn() -> Result<Arc<dyn Store>, store::OpenError>,
    ) {
        let mut host = Host::new(opening);
        blocking(async {
            self.must(&mut host, Ask::Open, heard).await;
            self.must(&mut host, Ask::Verify, heard).await;
            let found = State::read(&host).await;
            let answered = self.0[heard.done].commit;
            let most = self.0[if heard.is_in_doubt() { heard.done + 1 } else { heard.done }].commit;
            let is_explained = (answered..=most).contains(&found.commit);
            assert!(is_explained, "commit {} is there, after {heard:#?}", found.commit);
            let expected = self.0.iter().find(|it| it.commit == found.commit).unwrap();
            found.observed.assert_is(&expected.observed, &format!("after {heard:#?}"));
            for ask in Ask::ALL {
                self.must(&mut host, ask, heard).await;
            }
            let end = State::read(&host).await;
            let expected = self.0.last().unwrap();
            end.observed.assert_is(&expected.observed, "at the end");
            assert_eq!((end.commit, end.cursor), (expected.commit, expected.cursor));
        });
        host.close();
    }

    async fn must(&self, host: &mut Host<'_>, ask: Ask, heard: &Heard) {
        if let Err(failed) = host.ask(ask).await {
            panic!("{ask:?}: {}: {}, after {heard:#?}", failed.code, failed.message);
        }
    }
}

/// Runs something that might hang, and fails if it does.
pub(crate) fn within<T: Send + 'static>(
    what: String,
    run: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, wait) = channel();
    let running = std::thread::spawn(move || {
        let out = run();
        // Who waited too long has failed already.
        let _ = done.send(());
        out
    });
    if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        panic!("{what}: hangs");
    }
    running.join().unwrap_or_else(|_| panic!("{what}"))
}
