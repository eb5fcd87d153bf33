//! What a host advertises: the profiles that it can run, and whether it is there at all.

use quixos_runtime::CallError;

use crate::agent_runtime::DirectoryData;
use crate::json;

/// The word for a host that is not there. A new directory has it.
pub(crate) const OFFLINE: &str = "offline";

/// The profiles of a new directory: none is advertised, so any may be asked for.
pub(crate) const NONE: &str = "[]";

/// Checks profiles and availability in the input of an operation.
pub(crate) fn check(profiles: &str, availability: &str) -> Result<(), CallError> {
    json::strings("profiles", profiles)?;
    if !["online", "degraded", OFFLINE].contains(&availability) {
        return Err(CallError::invalid(
            "availability",
            "must be `online`, `degraded` or `offline`",
        ));
    }
    Ok(())
}

/// Says whether a profile may be asked for: it is advertised, or none is.
pub(crate) fn offers(directory: &DirectoryData, profile: &str) -> Result<bool, CallError> {
    let profiles = stored(directory)?;
    Ok(profiles.is_empty() || profiles.iter().any(|advertised| advertised == profile))
}

/// Reads the profiles that are advertised.
pub(crate) fn stored(directory: &DirectoryData) -> Result<Vec<String>, CallError> {
    json::strings("profiles", &directory.profiles)
        .map_err(|error| CallError::Corrupt { message: format!("stored profiles: {error}") })
}
