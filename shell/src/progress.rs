//! How far something has come, for whoever watches: at a terminal only.

use std::io::{self, IsTerminal as _, Read, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{Format, Output};

/// How often it is drawn.
const BEAT: Duration = Duration::from_millis(100);

/// Something that takes a while.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Begins; nothing is drawn unless a person watches. `bytes` is how many there will be.
    pub(crate) fn begin(output: &Output, what: &'static str, bytes: Option<u64>) -> Self {
        if output.format() == Format::Json || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let (bar, template) = match bytes {
            Some(bytes) => (ProgressBar::new(bytes), "{msg} {bar:30} {bytes} of {total_bytes}"),
            None => (ProgressBar::new_spinner(), "{spinner} {msg} {bytes} {elapsed}"),
        };
        // Without a style of its own it is drawn in that of the library.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(BEAT);
        Self(bar)
    }

    /// Counts what is written.
    pub(crate) fn writes<W: Write>(&self, to: W) -> impl Write {
        self.0.wrap_write(to)
    }

    /// Counts what is read.
    pub(crate) fn reads<R: Read>(&self, from: R) -> impl Read {
        self.0.wrap_read(from)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
