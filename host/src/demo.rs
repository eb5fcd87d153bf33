//! The demo: a config that needs no file, no key and no network.

use quixos_engine::Options;
use quixos_engine::provider::scripted::Scripted;
use secrecy::SecretString;

use crate::config::{Agent, Config, Durable, Limits, Place, ProviderConfig, Tenant, WorkerConfig};
use crate::keys::KeyHash;
use crate::tokens::TokenConfig;

impl Config {
    /// The agent of the demo.
    pub const DEMO_AGENT: &'static str = "concierge";
    /// The tenant of the demo.
    pub const DEMO_TENANT: &'static str = "demo";

    /// Returns the config of the demo: a scripted model, a worker in this process, an agent and its
    /// sub-agent, and a store in memory. Its tenant has the key, and its tokens the secret.
    #[must_use]
    pub fn demo(key: &str, secret: SecretString) -> Self {
        let agent = |name: &str, config| Agent {
            name: name.to_owned(),
            config,
            worker: WorkerConfig::Demo,
            decision_retry: None,
            model_retry: None,
            max_cost: None,
        };
        let scripted = Place::Scripted(Box::new(Scripted::demo()));
        Self {
            address: Self::ADDRESS,
            store: None,
            engine: Options::default(),
            tenants: vec![Tenant {
                name: Self::DEMO_TENANT.to_owned(),
                keys: vec![KeyHash::of(key)],
            }],
            tokens: TokenConfig {
                secret,
                previous: Vec::new(),
                issuer: "quixos".to_owned(),
                audience: "quixos".to_owned(),
                ttl: 24 * 3600,
            },
            agents: vec![
                agent(Self::DEMO_AGENT, Scripted::demo_agent()),
                agent(Scripted::RESEARCHER, Scripted::demo_researcher()),
            ],
            providers: vec![ProviderConfig { models: vec![String::new()], place: scripted }],
            durable: Durable::default(),
            limits: Limits::default(),
            operator: None,
            grace: Self::GRACE,
            telemetry: None,
            page: true,
        }
    }
}
