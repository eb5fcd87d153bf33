//! Ctrl-c, once something has waited for it.
//!
//! Whoever listens for ctrl-c takes it from the system for as long as the process lives. So there
//! is one listener for the process, and while nobody waits, it does what the system did: it ends
//! the process. A store is made to be left at any moment.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// The listener, once there is one.
static LISTENER: Mutex<Option<watch::Sender<()>>> = Mutex::new(None);

/// What waits to be ended: by ctrl-c, which ends nothing else while there is one, or, where nobody
/// sits at a keyboard, by a token.
pub(crate) struct Interrupt(Source);

enum Source {
    Keyboard(watch::Receiver<()>),
    Token(CancellationToken),
}

impl Interrupt {
    /// Waits for a token.
    pub(crate) fn token(token: CancellationToken) -> Self {
        Self(Source::Token(token))
    }

    /// Waits for ctrl-c from here on.
    ///
    /// # Errors
    /// When the system does not let anybody listen.
    pub(crate) fn new() -> io::Result<Self> {
        // It is set as a whole, and so whole even after a panic.
        let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*listener {
            return Ok(Self(Source::Keyboard(sender.subscribe())));
        }
        let sender = listen()?;
        Ok(Self(Source::Keyboard(listener.insert(sender).subscribe())))
    }

    /// Ends at the next ctrl-c, or with the token.
    pub(crate) async fn pressed(&mut self) {
        match &mut self.0 {
            Source::Keyboard(presses) => {
                if presses.changed().await.is_err() {
                    // The listener lives as long as the process; without it, nothing is ever pressed.
                    std::future::pending().await
                }
            }
            Source::Token(token) => token.cancelled().await,
        }
    }
}

/// Begins to listen, on a thread that ends with the process.
fn listen() -> io::Result<watch::Sender<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut presses = {
        let _entered = runtime.enter();
        presses()?
    };
    let sender = watch::Sender::new(());
    let told = sender.clone();
    thread::Builder::new().name("ctrl-c".to_owned()).spawn(move || {
        while runtime.block_on(presses.recv()).is_some() {
            if told.send(()).is_err() {
                std::process::exit(Exit::Interrupted.number().into());
            }
        }
    })?;
    Ok(sender)
}

#[cfg(unix)]
fn presses() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn presses() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}
