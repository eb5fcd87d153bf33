//! Which of the known names was meant.

use crate::nearest::nearest;

/// Returns the known name that a wrong one may stand for: the nearest in letters, or one that it
/// is the beginning of but for a slip (`AgentThred` for `AgentThreadObject`).
pub(crate) fn meant<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<_> = known.into_iter().collect();
    let in_letters = || nearest(wrong, known.iter().copied());
    // `Strng` is `string`, whatever the case.
    let in_lower_case = || {
        let lower: Vec<_> = known.iter().map(|name| name.to_lowercase()).collect();
        let near = nearest(&wrong.to_lowercase(), lower.iter().map(String::as_str))?;
        known.iter().zip(&lower).find(|(_, it)| *it == near).map(|(name, _)| *name)
    };
    in_letters().or_else(in_lower_case).or_else(|| {
        known
            .iter()
            .copied()
            .filter(|name| *name != wrong)
            .map(|name| (strsim::jaro_winkler(wrong, name), name))
            .filter(|(alike, name)| *alike >= 0.9 || wrong.len() > 2 && name.starts_with(wrong))
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, name)| name)
    })
}
