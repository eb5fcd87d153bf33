//! Whole numbers as JSON has them: `3`, and also `3.0`, which some languages write for it.
//!
//! JSON Schema's `integer` is any number without a fraction. serde reads the first form alone.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// What no `f64` with a fraction is beyond: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a whole number that is not negative.
///
/// # Errors
///
/// It is another value, has a fraction, or is too large for `T`.
pub fn number<'de, D: Deserializer<'de>, T: TryFrom<u64>>(source: D) -> Result<T, D::Error> {
    source.deserialize_u64(Whole(PhantomData))
}

/// Reads a whole number, or none where `null` is. With `#[serde(default)]` none, too, where nothing
/// is.
///
/// # Errors
///
/// As [`number`].
pub fn optional<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    source: D,
) -> Result<Option<T>, D::Error> {
    source.deserialize_option(Perhaps(PhantomData))
}

struct Whole<T>(PhantomData<T>);

impl<T: TryFrom<u64>> Visitor<'_> for Whole<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", std::any::type_name::<T>())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        let wrong = || E::invalid_value(Unexpected::Unsigned(number), &self);
        T::try_from(number).map_err(|_| wrong())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, and below 2^53"
    )]
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        if number.fract() == 0.0 && (0.0..EXACT).contains(&number) {
            return self.visit_u64(number as u64);
        }
        Err(E::invalid_type(Unexpected::Float(number), &self))
    }
}

struct Perhaps<T>(PhantomData<T>);

impl<'de, T: TryFrom<u64>> Visitor<'de> for Perhaps<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Whole::<T>(PhantomData).expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, source: D) -> Result<Option<T>, D::Error> {
        number(source).map(Some)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Numbers {
        #[serde(deserialize_with = "super::number")]
        one: u32,
        #[serde(default, deserialize_with = "super::optional")]
        other: Option<u64>,
    }

    #[test]
    fn a_whole_number_has_two_forms() {
        for (source, one, other) in [
            (json!({"one": 3}), 3, None),
            (json!({"one": 3.0, "other": null}), 3, None),
            (json!({"one": 0.0, "other": 9e15}), 0, Some(9_000_000_000_000_000)),
            (json!({"one": u32::MAX, "other": u64::MAX}), u32::MAX, Some(u64::MAX)),
        ] {
            assert_eq!(serde_json::from_value::<Numbers>(source).unwrap(), Numbers { one, other });
        }
    }

    #[test]
    fn all_else_is_none() {
        for (source, told) in [
            (json!({"one": 3.5}), "invalid type: floating point `3.5`, expected u32"),
            (json!({"one": -1}), "invalid value: integer `-1`, expected u32"),
            (json!({"one": 4_294_967_296.0}), "invalid value: integer `4294967296`, expected u32"),
            (json!({"one": "3"}), "invalid type: string \"3\", expected u32"),
            (
                json!({"one": 1, "other": 1e300}),
                "invalid type: floating point `1e+300`, expected u64",
            ),
            (json!({}), "missing field `one`"),
        ] {
            let error = serde_json::from_value::<Numbers>(source).unwrap_err();
            assert_eq!(error.to_string(), told);
        }
    }
}
