//! What the engine goes out for: deliveries to workers, model calls.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use quixos_engine::observer::{Kind, Observer, Over};

use super::{Names, seconds};

type Seconds<L> = Family<L, Histogram, fn() -> Histogram>;

/// What the engine tells.
#[derive(Debug)]
pub(crate) struct Errands {
    deliveries: Family<Delivered, Counter>,
    delivery_seconds: Seconds<Agent>,
    model_calls: Family<Called, Counter>,
    model_call_seconds: Seconds<Models>,
    retries: Family<Retry, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Delivered {
    agent: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Agent {
    agent: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    models: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Models {
    models: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Retry {
    kind: &'static str,
}

impl Errands {
    pub(super) fn new(names: &mut Names) -> Self {
        let by_agent = Family::new_with_constructor(seconds as fn() -> Histogram);
        let by_models = Family::new_with_constructor(seconds as fn() -> Histogram);
        let help = "Deliveries of decisions to workers, by what they came to";
        let deliveries = names.put("deliveries", help, Family::default());
        let help = "How long workers took";
        let delivery_seconds = names.put("delivery_seconds", help, by_agent);
        let help = "Attempts of model calls that the host made, by what they came to";
        let model_calls = names.put("model_calls", help, Family::default());
        let help = "How long providers took";
        let model_call_seconds = names.put("model_call_seconds", help, by_models);
        let help = "Deliveries and model calls that were not the first attempt";
        let retries = names.put("retries", help, Family::default());
        Self { deliveries, delivery_seconds, model_calls, model_call_seconds, retries }
    }
}

impl Observer for Errands {
    fn over(&self, errand: &Over<'_>) {
        let (outcome, took) = (errand.outcome.word(), errand.took.as_secs_f64());
        let kind = match errand.kind {
            Kind::Delivery { agent } => {
                let agent = agent.to_owned();
                self.deliveries.get_or_create(&Delivered { agent: agent.clone(), outcome }).inc();
                self.delivery_seconds.get_or_create(&Agent { agent }).observe(took);
                "delivery"
            }
            Kind::Model { models } => {
                let models = models.to_owned();
                self.model_calls.get_or_create(&Called { models: models.clone(), outcome }).inc();
                self.model_call_seconds.get_or_create(&Models { models }).observe(took);
                "model-call"
            }
        };
        if errand.attempt > 1 {
            self.retries.get_or_create(&Retry { kind }).inc();
        }
    }
}
