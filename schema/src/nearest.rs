//! "Did you mean": the known word that a wrong one is nearest to.

/// Returns the candidate that differs least from the word, if one is near enough that the word
/// may be a slip of it. The first of equals wins, so that the answer is the same every time.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let most = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| (1..=most).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of slips, where another case of the same letters is the smallest one.
fn distance(word: &str, candidate: &str) -> usize {
    if word.eq_ignore_ascii_case(candidate) {
        usize::from(word != candidate)
    } else {
        strsim::osa_distance(word, candidate)
    }
}
