//! `[telemetry]`: where traces go, by the file or by OpenTelemetry's own variables.

use super::Surroundings;
use super::section::Section;
use crate::telemetry::TelemetryConfig;

/// Reads where traces go. A variable counts more than the file.
pub(super) fn read(
    mut section: Section<'_>,
    surroundings: Surroundings<'_>,
) -> Option<TelemetryConfig> {
    let endpoint = section.take("endpoint").and_then(|item| {
        let endpoint = item.word()?;
        let is_http = ["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme));
        if !is_http {
            item.refuse("`endpoint` begins with `http://` or `https://`");
        }
        is_http.then_some(endpoint)
    });
    let service = section.take("service").and_then(|item| item.word());
    section.end();
    TelemetryConfig::of(endpoint, service, surroundings.variable)
}
