//! Why a stream refuses what it is asked, in words that hosts make statuses of.
//!
//! A refusal goes through the runtime as the reason of `refused`: a word, and behind a colon what
//! it names. Nothing that was refused remains.

use std::fmt;
use std::str::FromStr;

use quixos_runtime::CallError;

/// Why a stream refuses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such stream.
    Absent,
    /// The stream is over; a fork has some of it.
    Gone,
    /// The stream is closed; its end.
    Closed(String),
    /// Another stream than the one that was asked for is there.
    Taken,
    /// The content is of another type than the stream.
    ContentType,
    /// `Stream-Seq` is not behind the last one.
    Sequence,
    /// A newer epoch of the producer has written; which one.
    StaleEpoch(u64),
    /// An epoch begins with another sequence than 0.
    EpochStart,
    /// Something of the producer is missing.
    Gap {
        /// The sequence that comes next.
        expected: u64,
        /// The one that came.
        received: u64,
    },
    /// The offset is behind the end.
    Position,
    /// There is no stream to fork.
    NoSource,
    /// The stream to fork is over.
    SourceGone,
    /// A fork cannot begin there.
    ForkPoint,
    /// There are too many streams ahead of the fork.
    Lineage,
}

/// What is no refusal of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a refusal of a stream")]
pub struct NotARefusal;

impl Refusal {
    /// Returns the stable word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Gone => "gone",
            Self::Closed(_) => "closed",
            Self::Taken => "taken",
            Self::ContentType => "content-type",
            Self::Sequence => "sequence",
            Self::StaleEpoch(_) => "stale-epoch",
            Self::EpochStart => "epoch-start",
            Self::Gap { .. } => "gap",
            Self::Position => "position",
            Self::NoSource => "no-source",
            Self::SourceGone => "source-gone",
            Self::ForkPoint => "fork-point",
            Self::Lineage => "lineage",
        }
    }

    /// Returns the HTTP status that says the same.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::EpochStart | Self::Position | Self::ForkPoint => 400,
            Self::StaleEpoch(_) => 403,
            Self::Absent | Self::NoSource => 404,
            Self::Closed(_)
            | Self::Taken
            | Self::ContentType
            | Self::Sequence
            | Self::Gap { .. }
            | Self::SourceGone
            | Self::Lineage => 409,
            Self::Gone => 410,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Closed(end) => write!(f, "{word}:{end}"),
            Self::StaleEpoch(epoch) => write!(f, "{word}:{epoch}"),
            Self::Gap { expected, received } => write!(f, "{word}:{expected}:{received}"),
            Self::Absent
            | Self::Gone
            | Self::Taken
            | Self::ContentType
            | Self::Sequence
            | Self::EpochStart
            | Self::Position
            | Self::NoSource
            | Self::SourceGone
            | Self::ForkPoint
            | Self::Lineage => f.write_str(word),
        }
    }
}

impl FromStr for Refusal {
    type Err = NotARefusal;

    fn from_str(reason: &str) -> Result<Self, NotARefusal> {
        let (word, about) = reason.split_once(':').unwrap_or((reason, ""));
        let number = |text: &str| text.parse::<u64>().map_err(|_| NotARefusal);
        let refusal = match word {
            "absent" => Self::Absent,
            "gone" => Self::Gone,
            "closed" => Self::Closed(about.to_owned()),
            "taken" => Self::Taken,
            "content-type" => Self::ContentType,
            "sequence" => Self::Sequence,
            "stale-epoch" => Self::StaleEpoch(number(about)?),
            "epoch-start" => Self::EpochStart,
            "gap" => {
                let (expected, received) = about.split_once(':').ok_or(NotARefusal)?;
                Self::Gap { expected: number(expected)?, received: number(received)? }
            }
            "position" => Self::Position,
            "no-source" => Self::NoSource,
            "source-gone" => Self::SourceGone,
            "fork-point" => Self::ForkPoint,
            "lineage" => Self::Lineage,
            _ => return Err(NotARefusal),
        };
        Ok(refusal)
    }
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_says() {
        let all = [
            Refusal::Absent,
            Refusal::Gone,
            Refusal::Closed("0000000000000001_0000000000000005".to_owned()),
            Refusal::Taken,
            Refusal::ContentType,
            Refusal::Sequence,
            Refusal::StaleEpoch(7),
            Refusal::EpochStart,
            Refusal::Gap { expected: 2, received: 4 },
            Refusal::Position,
            Refusal::NoSource,
            Refusal::SourceGone,
            Refusal::ForkPoint,
            Refusal::Lineage,
        ];
        for refusal in all {
            assert_eq!(refusal.to_string().parse(), Ok(refusal));
        }
        for wrong in ["gap:1", "stale-epoch:x", "not-admitted"] {
            assert_eq!(wrong.parse::<Refusal>(), Err(NotARefusal));
        }
    }
}
