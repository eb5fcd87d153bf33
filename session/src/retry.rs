//! When a failed attempt is made again.

use quixos_protocol::CallHandler;

use crate::sessions::RetryPolicy;

/// Returns the seconds to wait after so many failures: the base to that power, at most the maximum.
pub(crate) fn delay(policy: &RetryPolicy, failures: u32) -> u64 {
    policy.backoff_base_secs.saturating_pow(failures).min(policy.backoff_max_secs)
}

/// Says whether a policy allows another attempt after so many failures.
pub(crate) fn allows(policy: &RetryPolicy, failures: u32) -> bool {
    u64::from(failures) <= policy.max_retries
}

/// Returns the policy of a model call for which nobody gave one. One that the worker runs is bounded
/// by the policy of the decision that hands it out, and by nothing once the worker has put it off.
pub(crate) fn of_model_call(
    handler: CallHandler,
    server: quixos_protocol::RetryPolicy,
) -> quixos_protocol::RetryPolicy {
    match handler {
        CallHandler::Server => server,
        CallHandler::Worker => quixos_protocol::RetryPolicy {
            timeout_secs: None,
            max_retries: 0,
            backoff_base_secs: 0,
            backoff_max_secs: 0,
        },
    }
}

/// Returns a policy of the wire as it is stored.
pub(crate) fn stored(policy: &quixos_protocol::RetryPolicy) -> RetryPolicy {
    RetryPolicy {
        timeout_secs: policy.timeout_secs,
        max_retries: policy.max_retries.into(),
        backoff_base_secs: policy.backoff_base_secs,
        backoff_max_secs: policy.backoff_max_secs,
    }
}

/// Returns a stored policy as it goes over the wire.
pub(crate) fn wire(policy: &RetryPolicy) -> quixos_protocol::RetryPolicy {
    quixos_protocol::RetryPolicy {
        timeout_secs: policy.timeout_secs,
        max_retries: policy.max_retries.try_into().unwrap_or(u32::MAX),
        backoff_base_secs: policy.backoff_base_secs,
        backoff_max_secs: policy.backoff_max_secs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(base: u64, max: u64, retries: u64) -> RetryPolicy {
        RetryPolicy {
            timeout_secs: None,
            max_retries: retries,
            backoff_base_secs: base,
            backoff_max_secs: max,
        }
    }

    #[test]
    fn waits_the_power_of_the_base_up_to_the_maximum() {
        let delays =
            |base, max| [1, 2, 3, 200].map(|failures| delay(&policy(base, max, 9), failures));
        assert_eq!(delays(2, 3600), [2, 4, 8, 3600]);
        assert_eq!(delays(1, 3600), [1, 1, 1, 1]);
        assert_eq!(delays(0, 3600), [0, 0, 0, 0]);
    }

    #[test]
    fn allows_as_many_retries_as_the_policy_says() {
        let allowed = |failures| allows(&policy(1, 1, 3), failures);
        assert_eq!([1, 3, 4].map(allowed), [true, true, false]);
        assert!(!allows(&policy(1, 1, 0), 1));
    }
}
