//! Many callers at once, each of whom waits for an answer before calling again.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use quixos_bench::Speed;
use tokio::task::JoinSet;

use crate::failure::Failure;
use crate::process;

/// Has callers do something for each number of a range, and tells how fast it was.
pub(crate) async fn run<F>(
    callers: usize,
    numbers: Range<usize>,
    work: impl Fn(usize) -> F + Clone + Send + 'static,
) -> Result<Speed, Failure>
where
    F: Future<Output = Result<(), Failure>> + Send,
{
    let next = Arc::new(AtomicUsize::new(numbers.start));
    let mut tasks = JoinSet::new();
    let (began, worked) = (Instant::now(), process::worked());
    for _ in 0..callers {
        let (next, work) = (Arc::clone(&next), work.clone());
        tasks.spawn(async move {
            let mut each = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    return Ok::<_, Failure>(each);
                }
                let began = Instant::now();
                work(number).await?;
                each.push(began.elapsed());
            }
        });
    }
    let mut each = Vec::with_capacity(numbers.len());
    while let Some(caller) = tasks.join_next().await {
        each.extend(caller.map_err(|_| Failure::refused("a caller panicked"))??);
    }
    let cpu = process::worked().saturating_sub(worked);
    Ok(Speed::new(each, began.elapsed(), cpu))
}
