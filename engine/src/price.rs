//! What models cost, for providers that do not say.
//!
//! Amounts are exact decimals: dollars for a million tokens in, dollars to the last digit out.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use quixos_protocol::{Format, LlmResponse};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;

/// Prices by model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct PriceTable(BTreeMap<String, Price>);

/// What a million tokens of a model cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that are read.
    pub input: Dollars,
    /// Tokens that are written, thoughts among them.
    pub output: Dollars,
    /// Tokens that are read from a cache. Default: as if they were not.
    pub cached_input: Option<Dollars>,
    /// Tokens that are put into a cache. Default: as any that are read.
    pub cache_write: Option<Dollars>,
}

/// An amount of dollars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Dollars(Decimal);

/// What is no amount of dollars.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no amount of dollars, like `2.50`")]
pub struct NoDollars(String);

impl FromStr for Dollars {
    type Err = NoDollars;

    fn from_str(text: &str) -> Result<Self, NoDollars> {
        let has_form = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let amount = Decimal::from_str_exact(text).ok().filter(|_| has_form);
        amount.map(Self).ok_or_else(|| NoDollars(text.to_owned()))
    }
}

impl TryFrom<String> for Dollars {
    type Error = NoDollars;

    fn try_from(text: String) -> Result<Self, NoDollars> {
        text.parse()
    }
}

impl fmt::Debug for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.normalize(), f)
    }
}

impl PriceTable {
    /// Returns a table without prices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the price of a model.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        self.0.insert(model.into(), price);
        self
    }

    /// Puts into a reply what it cost, unless the provider has. `asked` is the model that was asked
    /// for; the one that replied may bear a longer name, and counts if it has a price of its own.
    pub(crate) fn charge(&self, format: Format, asked: &str, reply: &mut LlmResponse) {
        let price = self.0.get(&reply.model).or_else(|| self.0.get(asked));
        if let (None, Some(price), Some(usage)) = (&reply.cost, price, &reply.usage) {
            reply.cost = price.of(&Tokens::of(format, usage)).map(|cost| cost.to_string());
        }
    }
}

impl Price {
    /// Returns what tokens cost, unless it has more digits than fit.
    fn of(&self, tokens: &Tokens) -> Option<Dollars> {
        let parts = [
            (tokens.read, self.input),
            (tokens.cached, self.cached_input.unwrap_or(self.input)),
            (tokens.kept, self.cache_write.unwrap_or(self.input)),
            (tokens.written, self.output),
        ];
        let million = Decimal::from(1_000_000);
        let sum = parts.into_iter().try_fold(Decimal::ZERO, |sum, (count, price)| {
            sum.checked_add(Decimal::from(count).checked_mul(price.0)?)
        })?;
        sum.checked_div(million).map(Dollars)
    }
}

/// What a reply used, each token counted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tokens {
    /// Read, not from a cache and not into one.
    read: u64,
    /// Read from a cache.
    cached: u64,
    /// Put into a cache.
    kept: u64,
    written: u64,
}

impl Tokens {
    /// Reads a usage. Chat Completions count what came from a cache among what was read; Messages
    /// do not.
    fn of(format: Format, usage: &Value) -> Self {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        match format {
            Format::Openai => {
                let cached = count("prompt_tokens_details.cached_tokens");
                let read = count("prompt_tokens").saturating_sub(cached);
                Self { read, cached, kept: 0, written: count("completion_tokens") }
            }
            Format::Anthropic => Self {
                read: count("input_tokens"),
                cached: count("cache_read_input_tokens"),
                kept: count("cache_creation_input_tokens"),
                written: count("output_tokens"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use serde_json::json;

    use super::*;

    fn table() -> PriceTable {
        let prices = json!({
            "m": {"input": "3", "output": "15.00", "cached_input": "0.30", "cache_write": "3.75"},
            "m-small": {"input": "0.000001", "output": "0"},
        });
        serde_json::from_value(prices).unwrap()
    }

    fn cost(format: Format, model: &str, usage: Value) -> Option<String> {
        let mut reply =
            LlmResponse { model: model.to_owned(), usage: Some(usage), ..LlmResponse::default() };
        table().charge(format, "m", &mut reply);
        reply.cost
    }

    #[test]
    fn each_token_is_charged_once() {
        let usage = json!({"prompt_tokens": 1000, "completion_tokens": 100,
            "prompt_tokens_details.cached_tokens": 400});
        // 600 * 3 + 400 * 0.3 + 100 * 15 = 3420 for a million.
        assert_eq!(cost(Format::Openai, "m", usage).as_deref(), Some("0.00342"));
        let usage = json!({"input_tokens": 600, "output_tokens": 100,
            "cache_read_input_tokens": 400, "cache_creation_input_tokens": 200});
        assert_eq!(cost(Format::Anthropic, "m", usage).as_deref(), Some("0.00417"));
    }

    #[test]
    fn nothing_is_lost_where_floats_lose() {
        let usage = json!({"prompt_tokens": 1});
        assert_eq!(cost(Format::Openai, "m-small", usage).as_deref(), Some("0.000000000001"));
    }

    #[test]
    fn the_model_that_replied_counts_then_the_one_that_was_asked_for() {
        let usage = json!({"prompt_tokens": 1_000_000});
        assert_eq!(cost(Format::Openai, "m-2", usage).as_deref(), Some("3"));
        let mut unknown =
            LlmResponse { usage: Some(json!({"prompt_tokens": 1})), ..LlmResponse::default() };
        table().charge(Format::Openai, "other", &mut unknown);
        assert_eq!(unknown.cost, None);
    }

    #[test]
    fn what_the_provider_charges_stands() {
        let mut reply = LlmResponse {
            cost: Some("7".to_owned()),
            usage: Some(json!({"prompt_tokens": 1})),
            ..LlmResponse::default()
        };
        table().charge(Format::Openai, "m", &mut reply);
        assert_eq!(reply.cost.as_deref(), Some("7"));
    }

    #[test]
    fn an_amount_is_digits_and_a_point() {
        for text in ["", "-1", "1e3", "1,5", "free", ".", "1.2.3", "_1"] {
            assert!(text.parse::<Dollars>().is_err(), "{text}");
        }
        assert_eq!("2.50".parse::<Dollars>().unwrap().to_string(), "2.5");
    }
}
