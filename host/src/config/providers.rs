//! `[[providers]]`: where models run.

use quixos_engine::price::PriceTable;
use quixos_engine::provider::Api;
use quixos_engine::provider::anthropic::Anthropic;
use quixos_engine::provider::openai::OpenAi;
use quixos_engine::provider::scripted::{Script, Scripted};

use super::check::{json_file, secret};
use super::fault::{Code, Fault};
use super::section::{Findings, Item, Section};
use super::{Place, ProviderConfig, Surroundings};

/// What was read.
pub(super) struct Places<'a> {
    pub(super) providers: Vec<ProviderConfig>,
    /// All prefixes, those of providers with faults too.
    pub(super) prefixes: Vec<(String, Item<'a>)>,
}

#[derive(Clone, Copy)]
enum Kind {
    OpenAi,
    Anthropic,
    Scripted,
}

const KINDS: [(&str, Kind); 3] =
    [("openai", Kind::OpenAi), ("anthropic", Kind::Anthropic), ("scripted", Kind::Scripted)];

pub(super) fn read<'a>(
    sections: Vec<Section<'a>>,
    surroundings: Surroundings<'_>,
    findings: &Findings,
) -> Places<'a> {
    let mut places = Places { providers: Vec::new(), prefixes: Vec::new() };
    for mut section in sections {
        let kind = section.require("kind").and_then(|item| item.choice(&KINDS));
        let list = section.require("models").and_then(|item| item.list()).unwrap_or_default();
        let mut models = Vec::new();
        for item in list {
            let Some(prefix) = item.text() else { continue };
            if let Some((_, first)) = places.prefixes.iter().find(|(other, _)| *other == prefix) {
                findings.put(Fault {
                    code: Code::Clash,
                    message: format!("two providers run the models that begin with `{prefix}`"),
                    span: item.span.clone(),
                    help: None,
                    other: Some((first.span.clone(), "the other one".to_owned())),
                });
            }
            models.push(prefix.clone());
            places.prefixes.push((prefix, item));
        }
        let place = match kind {
            Some(Kind::Scripted) => scripted(&mut section, surroundings),
            Some(Kind::OpenAi) => api(&mut section, OpenAi::BASE_URL, surroundings)
                .map(|api| Place::OpenAi(Box::new(api))),
            Some(Kind::Anthropic) => api(&mut section, Anthropic::BASE_URL, surroundings)
                .map(|api| Place::Anthropic(Box::new(api))),
            // What else there may be hangs on the kind.
            None => continue,
        };
        section.end();
        places.providers.extend(place.map(|place| ProviderConfig { models, place }));
    }
    places
}

fn scripted(section: &mut Section<'_>, surroundings: Surroundings<'_>) -> Option<Place> {
    let script = match section.take("script") {
        Some(item) => Scripted::new(json_file::<Script>(&item, surroundings)?),
        None => Scripted::demo(),
    };
    Some(Place::Scripted(Box::new(script)))
}

fn api(section: &mut Section<'_>, default: &str, surroundings: Surroundings<'_>) -> Option<Api> {
    let refused = |item: &Item<'_>, error: quixos_engine::provider::ApiError| {
        item.refuse(error.to_string());
    };
    let mut api = match section.take("base_url") {
        Some(item) => Api::new(&item.text()?).map_err(|error| refused(&item, error)).ok(),
        None => Api::new(default).ok(),
    };
    if let Some(item) = section.take("key_env") {
        let key = secret(&item, surroundings);
        api = key.zip(api).and_then(|(key, api)| {
            api.key(key).map_err(|error| item.fault(Code::Variable, error.to_string())).ok()
        });
    }
    if let Some(headers) = section.take("headers") {
        for item in headers.section("`headers`".to_owned()).entries() {
            let value = item.text();
            api = value.zip(api).and_then(|(value, api)| {
                api.header(&item.name, &value).map_err(|error| refused(&item, error)).ok()
            });
        }
    }
    if let Some(item) = section.take("prices") {
        let prices = quixos_protocol::parse_value::<PriceTable>(item.json()?);
        let prices = prices.map_err(|error| item.refuse(error.to_string())).ok();
        api = prices.zip(api).map(|(prices, api)| api.prices(prices));
    }
    api
}
