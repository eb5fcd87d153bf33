//! "Did you mean": the known name that is most like an unknown one.

/// Returns the first of the names that are nearest to `name`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Texts from outside may be of any length, and comparing costs the product of the two.
    const LONGEST: usize = 200;
    if name.len() > LONGEST {
        return None;
    }
    let folded = name.to_lowercase();
    known
        .into_iter()
        .filter(|it| it.len() <= LONGEST)
        .map(|it| (strsim::damerau_levenshtein(&folded, &it.to_lowercase()), it))
        .filter(|(distance, it)| *distance <= name.len().max(it.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}
