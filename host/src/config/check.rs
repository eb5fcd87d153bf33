//! From the text to the config, through all that can be wrong with it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use quixos_engine::Options;
use secrecy::{ExposeSecret as _, SecretString};
use toml::de::DeTable;

use super::fault::{Code, Fault, Faults};
use super::section::{Findings, Item, Section};
use super::{Config, Limits, Surroundings, Tenant, agents, durable, providers, telemetry};
use crate::keys::KeyHash;
use crate::operator::OperatorConfig;
use crate::tokens::TokenConfig;

/// Bytes that a secret has at least which tokens are signed with.
const SECRET_BYTES: usize = 32;
/// Letters that a key has at least.
const KEY_LETTERS: usize = 16;
/// The longest time that anything is set to, in seconds: a year.
pub(super) const YEAR: u64 = 365 * 24 * 3600;

pub(super) fn config(text: &str, surroundings: Surroundings<'_>) -> Result<Config, Faults> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let findings = Findings::default();
    for error in &errors {
        findings.add(Code::Syntax, error.span().unwrap_or(0..0), error.message());
    }
    // What is not TOML is not looked at any further: half a table has faults that are none.
    let config = if errors.is_empty() {
        read(Section::root(&table, &findings), surroundings, &findings)
    } else {
        None
    };
    let faults = findings.into_inner();
    match config {
        Some(config) if faults.is_empty() => Ok(config),
        _ => Err(Faults::new(faults)),
    }
}

fn read(
    mut file: Section<'_>,
    surroundings: Surroundings<'_>,
    findings: &Findings,
) -> Option<Config> {
    let mut listen = file.section("listen");
    let place = listen.take("address");
    let address = address(place.as_ref(), Config::ADDRESS);
    listen.end();
    let mut store = file.section("store");
    let folder = store.take("folder").and_then(|item| item.word());
    store.end();
    let (engine, grace) = engine(file.section("engine"));
    let tenants = tenants(file.section("tenants"), surroundings, findings);
    let operator = operator(file.take("operator"), surroundings, findings, address, &tenants);
    let tokens = tokens(file.section("tokens"), surroundings);
    let places = providers::read(file.sections("providers"), surroundings, findings);
    let agents = agents::read(file.sections("agents"), &places.prefixes, surroundings, findings);
    let durable = durable::read(file.section("durable"), address);
    let limits = limits(file.section("limits"));
    let telemetry = telemetry::read(file.section("telemetry"), surroundings);
    file.end();
    Some(Config {
        address: address?,
        operator: operator?,
        grace,
        store: Some(surroundings.folder.join(folder.unwrap_or_else(|| "quixos-data".to_owned()))),
        engine,
        tenants,
        tokens: tokens?,
        agents,
        providers: places.providers,
        durable,
        limits,
        telemetry,
        page: false,
    })
}

/// Returns where to listen, which is the default where nothing is said.
fn address(item: Option<&Item<'_>>, default: SocketAddr) -> Option<SocketAddr> {
    let Some(item) = item else { return Some(default) };
    let address = item.text()?.parse().ok();
    if address.is_none() {
        let message = format!("`{}` is an address and a port, like `{default}`", item.name);
        item.refuse(message);
    }
    address
}

/// Returns where operators are let in, which is nowhere where nothing is said.
fn operator(
    item: Option<Item<'_>>,
    surroundings: Surroundings<'_>,
    findings: &Findings,
    clients: Option<SocketAddr>,
    tenants: &[Tenant],
) -> Option<Option<OperatorConfig>> {
    let Some(item) = item else { return Some(None) };
    let whole = item.clone();
    let mut section = item.section("`[operator]`".to_owned());
    let place = section.take("listen");
    let (hash, variable) = (section.take("token_hash"), section.take("token_env"));
    section.end();
    let address = address(place.as_ref(), OperatorConfig::ADDRESS);
    let is_taken = address.is_some_and(|it| Some(it) == clients && it.port() != 0);
    if is_taken {
        let message = "operators and clients are let in at the same address";
        findings.add(Code::Clash, place.as_ref().unwrap_or(&whole).span.clone(), message);
    }
    let token = match (hash, variable) {
        (Some(item), None) => hash_of(&item).zip(Some(item)),
        (None, Some(item)) => key(&item, surroundings).zip(Some(item)),
        (Some(_), Some(second)) => {
            second.refuse("`[operator]` has `token_hash` or `token_env`, not both");
            None
        }
        (None, None) => {
            let message = "`token_hash` or `token_env` is missing in `[operator]`";
            whole.fault(Code::Missing, message);
            None
        }
    };
    let (token, said) = token?;
    if let Some(tenant) = tenants.iter().find(|tenant| tenant.keys.iter().any(|key| key.is(&token)))
    {
        let message = format!("the operator's token is the key of the tenant `{}`", tenant.name);
        said.fault(Code::Clash, message);
    }
    Some(Some(OperatorConfig { address: address?, token }))
}

fn engine(mut section: Section<'_>) -> (Options, Duration) {
    let mut options = Options::default();
    if let Some(id) = section.take("id").and_then(|it| it.word()) {
        options.id = id;
    }
    if let Some(seconds) = section.take("lease_secs").and_then(|it| it.number(1..=YEAR)) {
        options.lease = Duration::from_secs(seconds);
    }
    let at_once = section.take("at_once").and_then(|it| it.number(1..=1 << 20));
    if let Some(at_once) = at_once.and_then(|it| usize::try_from(it).ok()) {
        options.at_once = at_once;
    }
    if let Some(millis) = section.take("checkpoint_millis").and_then(|it| it.number(1..=3_600_000))
    {
        options.checkpoint = Duration::from_millis(millis);
    }
    let grace = section.take("stop_secs").and_then(|it| it.number(0..=3600));
    section.end();
    (options, grace.map_or(Config::GRACE, Duration::from_secs))
}

fn limits(mut section: Section<'_>) -> Limits {
    let mut limits = Limits::default();
    let mut number = |key, range| section.take(key).and_then(|item| item.number(range));
    if let Some(bytes) = number("body_bytes", 1024..=1 << 30).and_then(|it| it.try_into().ok()) {
        limits.body = bytes;
    }
    if let Some(bytes) = number("text_bytes", 1..=1 << 30).and_then(|it| it.try_into().ok()) {
        limits.text = bytes;
    }
    if let Some(count) = number("requests_per_minute", 1..=60_000).and_then(|it| it.try_into().ok())
    {
        limits.requests = count;
    }
    if let Some(count) = number("open_streams", 1..=1 << 20).and_then(|it| it.try_into().ok()) {
        limits.streams = count;
    }
    if let Some(seconds) = number("stream_timeout_secs", 1..=YEAR) {
        limits.stream_timeout = Duration::from_secs(seconds);
    }
    let connections = &mut limits.connections;
    if let Some(most) = number("connections", 1..=1 << 20).and_then(|it| it.try_into().ok()) {
        connections.most = most;
    }
    if let Some(seconds) = number("head_secs", 1..=3600) {
        connections.head = Duration::from_secs(seconds);
    }
    if let Some(seconds) = number("stall_secs", 1..=YEAR) {
        connections.stall = Duration::from_secs(seconds);
    }
    section.end();
    limits
}

/// Reads who may use the host. A tenant may have several keys, so that one can be replaced: a list
/// stands for each key that it names.
fn tenants<'a>(
    section: Section<'a>,
    surroundings: Surroundings<'_>,
    findings: &Findings,
) -> Vec<Tenant> {
    let (span, entries) = (section.span.clone(), section.entries());
    if entries.is_empty() {
        findings.add(Code::Missing, span, "there is no tenant: `[tenants.NAME]` is missing");
    }
    let mut tenants = Vec::new();
    let mut known: Vec<(String, KeyHash, Item<'_>)> = Vec::new();
    for entry in entries {
        let name = entry.name.clone();
        let mut section = entry.clone().section(format!("`[tenants.{name}]`"));
        let (hashes, variables) = (section.take("key_hash"), section.take("key_env"));
        section.end();
        if hashes.is_none() && variables.is_none() {
            let message = format!("`key_hash` or `key_env` is missing in `[tenants.{name}]`");
            entry.fault(Code::Missing, message);
        }
        let each = |item: Option<Item<'a>>| item.map(|item| item.each()).unwrap_or_default();
        let hashes = each(hashes).into_iter().filter_map(|item| Some((hash_of(&item)?, item)));
        let variables =
            each(variables).into_iter().filter_map(|item| Some((key(&item, surroundings)?, item)));
        let mut keys = Vec::new();
        for (key, item) in hashes.chain(variables) {
            if let Some((other, _, first)) = known.iter().find(|(_, other, _)| other.is(&key)) {
                let message = if *other == name {
                    format!("the tenant `{name}` has this key already")
                } else {
                    format!("the tenants `{other}` and `{name}` have the same key")
                };
                findings.put(Fault {
                    code: Code::Clash,
                    message,
                    span: item.span.clone(),
                    help: None,
                    other: Some((first.span.clone(), "the other one".to_owned())),
                });
            }
            known.push((name.clone(), key, item));
            keys.push(key);
        }
        tenants.push(Tenant { name, keys });
    }
    tenants
}

fn hash_of(item: &Item<'_>) -> Option<KeyHash> {
    let hash = item.text()?.parse();
    hash.map_err(|error| item.refuse(format!("{error} (BLAKE3)"))).ok()
}

fn key(item: &Item<'_>, surroundings: Surroundings<'_>) -> Option<KeyHash> {
    let key = secret(item, surroundings)?;
    if key.expose_secret().len() < KEY_LETTERS {
        item.fault(Code::Variable, format!("a key has {KEY_LETTERS} letters or more"));
        return None;
    }
    Some(KeyHash::of(key.expose_secret()))
}

fn tokens(mut section: Section<'_>, surroundings: Surroundings<'_>) -> Option<TokenConfig> {
    let word = |item: Option<Item<'_>>, default: &str| {
        item.map_or(Some(default.to_owned()), |item| item.word())
    };
    let read = |item: &Item<'_>| {
        let secret = secret(item, surroundings)?;
        if secret.expose_secret().len() < SECRET_BYTES {
            let message = format!("a secret of tokens has {SECRET_BYTES} bytes or more");
            item.fault(Code::Variable, message);
            return None;
        }
        Some(secret)
    };
    let secret = section.require("secret_env").and_then(|item| read(&item));
    let previous = section.take("previous_secret_env").map(|item| item.each()).unwrap_or_default();
    let previous = previous.iter().filter_map(read).collect();
    let issuer = word(section.take("issuer"), "quixos");
    let audience = word(section.take("audience"), "quixos");
    let ttl = section.take("ttl_secs").map_or(Some(600), |item| item.number(1..=YEAR));
    section.end();
    let ttl = u32::try_from(ttl?).ok()?;
    Some(TokenConfig { secret: secret?, previous, issuer: issuer?, audience: audience?, ttl })
}

/// Returns the secret in the variable that an item names.
pub(super) fn secret(item: &Item<'_>, surroundings: Surroundings<'_>) -> Option<SecretString> {
    let name = item.word()?;
    let value = (surroundings.variable)(&name).filter(|value| !value.is_empty());
    if value.is_none() {
        let message = format!("the environment variable `{name}` is not set");
        item.fault(Code::Variable, message);
    }
    value.map(SecretString::from)
}

/// Returns what is in the JSON file that an item names.
pub(super) fn json_file<T: serde::de::DeserializeOwned>(
    item: &Item<'_>,
    surroundings: Surroundings<'_>,
) -> Option<T> {
    let path: PathBuf = surroundings.folder.join(item.word()?);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            item.fault(Code::File, format!("cannot read `{}`: {error}", path.display()));
            return None;
        }
    };
    let read = quixos_protocol::parse(&bytes, 16 << 20);
    read.map_err(|error| item.fault(Code::File, format!("`{}`: {error}", path.display()))).ok()
}
