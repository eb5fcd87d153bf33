//! Which of the known names was meant. The one answer to that for everyone who reads names: the
//! checker, the runtime's JSON, the shell.

use crate::nearest::nearest;

/// Returns the known name that a wrong one may stand for: the nearest in letters, or one that it
/// is the beginning of but for a slip (`AgentThred` for `AgentThreadObject`).
#[must_use]
pub fn meant<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Texts from outside may be of any length, and comparing costs the product of the two.
    const LONGEST: usize = 200;
    if wrong.len() > LONGEST {
        return None;
    }
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
