//! What was spent: counts by name, and dollars to the last digit.

use std::fmt;
use std::str::FromStr;

use quixos_runtime::CallError;
use serde_json::{Map, Value};

use crate::sessions::Usage;
use crate::stored;

/// An amount of money, exact: `units` of ten to the power of minus `scale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    units: u128,
    scale: u32,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let has_form = (!whole.is_empty() || !fraction.is_empty())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && !fraction.contains('.')
            && !text.ends_with('.');
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let units = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
        let scale = u32::try_from(fraction.len()).ok()?;
        units.filter(|_| has_form).map(|units| Self { units, scale })
    }

    /// Returns the sum, unless it has more digits than fit.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let units = self.scaled(scale)?.checked_add(other.scaled(scale)?)?;
        Some(Self { units, scale }.reduced())
    }

    /// Says whether this is as much as another amount, or more.
    pub(crate) fn reaches(self, other: Self) -> bool {
        let scale = self.scale.max(other.scale);
        match (self.scaled(scale), other.scaled(scale)) {
            (Some(this), Some(other)) => this >= other,
            // Only the greater one can fail to fit.
            (this, _) => this.is_none(),
        }
    }

    fn scaled(self, scale: u32) -> Option<u128> {
        self.units.checked_mul(10_u128.checked_pow(scale - self.scale)?)
    }

    fn reduced(mut self) -> Self {
        while self.scale > 0 && self.units.is_multiple_of(10) {
            self.units /= 10;
            self.scale -= 1;
        }
        self
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::try_from(self.scale).unwrap_or(usize::MAX);
        let digits = format!("{:0>width$}", self.units, width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        if fraction.is_empty() { f.write_str(whole) } else { write!(f, "{whole}.{fraction}") }
    }
}

/// What is no amount of money.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not an amount of money, like `12`, `0.5` or `.25`")]
pub(crate) struct NotAnAmount;

impl FromStr for Decimal {
    type Err = NotAnAmount;

    /// Reads digits with at most one point between or before them.
    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        Self::read(text).ok_or(NotAnAmount)
    }
}

/// Nothing spent.
pub(crate) fn none() -> Usage {
    Usage { counts: "{}".to_owned(), cost: "0".to_owned() }
}

/// Adds what a reply says that it used: the numbers of an object, each under its name.
pub(crate) fn add(
    usage: &mut Usage,
    counts: Option<&Value>,
    cost: Option<&str>,
) -> Result<(), CallError> {
    if let Some(Value::Object(more)) = counts {
        let mut sums: Map<String, Value> = stored::read_text(&usage.counts, "counts")?;
        for (name, value) in more.iter().filter(|(_, value)| value.is_number()) {
            let sum = number(sums.get(name), value);
            sums.insert(name.clone(), sum);
        }
        usage.counts = stored::json_text(&sums)?;
    }
    if let Some(cost) = cost {
        let sum = amount(&usage.cost)?.plus(amount(cost)?);
        let sum = sum.ok_or_else(|| CallError::Limit {
            message: format!("the sum of {} and {cost} dollars has too many digits", usage.cost),
        })?;
        usage.cost = sum.to_string();
    }
    Ok(())
}

/// Adds what was spent elsewhere.
pub(crate) fn add_all(usage: &mut Usage, more: &Usage) -> Result<(), CallError> {
    let counts: Value = stored::read_text(&more.counts, "counts")?;
    add(usage, Some(&counts), Some(&more.cost))
}

/// Returns the sum of what was spent here and there.
pub(crate) fn sum(one: &Usage, other: &Usage) -> Result<Usage, CallError> {
    let mut sum = one.clone();
    add_all(&mut sum, other)?;
    Ok(sum)
}

/// Returns an amount that was checked when it came in.
pub(crate) fn amount(text: &str) -> Result<Decimal, CallError> {
    text.parse().map_err(|error| CallError::invalid("cost", format!("`{text}` is {error}")))
}

/// Returns the sum of two numbers, whole as long as both are.
fn number(old: Option<&Value>, new: &Value) -> Value {
    let Some(old) = old else { return new.clone() };
    match (old.as_u64(), new.as_u64()) {
        (Some(old), Some(new)) => Value::from(old.saturating_add(new)),
        (_, _) => Value::from(old.as_f64().unwrap_or(0.0) + new.as_f64().unwrap_or(0.0)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_read_and_printed_without_loss() {
        for (text, printed) in [("12", "12"), ("0.10", "0.1"), (".25", "0.25"), ("007.500", "7.5")]
        {
            assert_eq!(Decimal::read(text).unwrap().to_string(), printed, "{text}");
        }
        for text in ["", ".", "1.", "1.2.3", "-1", "1e3", "NaN", "+1", " 1", &"9".repeat(40)] {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_sum_is_exact_where_floats_are_not() {
        let mut usage = none();
        for _ in 0..10 {
            add(&mut usage, None, Some("0.1")).unwrap();
        }
        assert_eq!(usage.cost, "1");
        add(&mut usage, None, Some("0.000000000000000001")).unwrap();
        assert_eq!(usage.cost, "1.000000000000000001");
    }

    #[test]
    fn amounts_compare_whatever_their_digits() {
        let amount = |text: &str| Decimal::read(text).unwrap();
        assert!(amount("1.50").reaches(amount("1.5")));
        assert!(amount("2").reaches(amount("1.999")));
        assert!(!amount("1.499").reaches(amount("1.5")));
        assert!(amount(&"9".repeat(38)).reaches(amount("0.00001")));
        assert!(!amount("0.00001").reaches(amount(&"9".repeat(38))));
    }

    #[test]
    fn counts_add_up_by_name_and_other_values_do_not_count() {
        let mut usage = none();
        add(&mut usage, Some(&json!({"in": 3, "detail": {"cached": 1}})), None).unwrap();
        add(&mut usage, Some(&json!({"in": 4, "out": 0.5})), None).unwrap();
        add(&mut usage, Some(&json!("much")), None).unwrap();
        assert_eq!(usage.counts, r#"{"in":7,"out":0.5}"#);
    }
}
