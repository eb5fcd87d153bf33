//! Which of the known names was meant.

use crate::nearest::nearest;

/// Returns ``did you mean `NAME`?`` for the known name that a wrong one may stand for, if any.
pub(crate) fn did_you_mean<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    meant(wrong, known).map(|name| format!("did you mean `{name}`?"))
}

/// Returns the known name that a wrong one may stand for: the nearest in letters, or one that it
/// is the beginning of but for a slip (`AgentThred` for `AgentThreadObject`).
pub(crate) fn meant<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<_> = known.into_iter().collect();
    nearest(wrong, known.iter().copied()).or_else(|| {
        known
            .into_iter()
            .filter(|name| *name != wrong)
            .map(|name| (strsim::jaro_winkler(wrong, name), name))
            .filter(|(alike, _)| *alike >= 0.9)
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, name)| name)
    })
}
