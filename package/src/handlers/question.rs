//! What a question does.

mod answer;
mod cancel;
