//! The operations of `question`.

mod answer;
mod cancel;
