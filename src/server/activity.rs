use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// What a connection is busy with: how many requests are under way, or since when there is none.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    /// Cancelled when each answer has to tell the client that it is the last one.
    pub(super) is_ending: CancellationToken,
}

#[derive(Debug)]
struct State {
    requests: usize,
    idle_since: Instant,
}

/// A request under way, from its head to the end of its answer.
pub(super) struct Busy(Arc<Activity>);

impl Activity {
    pub(super) fn new(is_ending: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                requests: 0,
                idle_since: Instant::now(),
            }),
            is_ending,
        })
    }

    /// Waits until no request has been under way for `time`. This covers a client that sends nothing,
    /// or a lone `P` that might become HTTP/2, or a header byte by byte; one that has been answered
    /// and asks nothing more; and an HTTP/2 client without a request.
    pub(super) async fn idle_for(&self, time: Duration) {
        loop {
            // The deadline is not moved with every request, but looked at when it is over.
            let now = Instant::now();
            let deadline = self.idle_since().unwrap_or(now) + time;
            if deadline <= now {
                return;
            }
            sleep_until(deadline).await;
        }
    }

    /// Since when no request is under way, or `None` while one is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        (state.requests == 0).then_some(state.idle_since)
    }

    /// How many requests are under way.
    pub(super) fn requests(&self) -> usize {
        self.state.lock().requests
    }

    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.state.lock().requests += 1;
        Busy(Arc::clone(self))
    }
}

impl Busy {
    /// Whether the client has to be told that the answer is the last one.
    pub(super) fn is_last(&self) -> bool {
        self.0.is_ending.is_cancelled()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.requests -= 1;
        state.idle_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    const TIME: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_idle_from_its_begin() {
        let started = Instant::now();
        Activity::new(CancellationToken::new()).idle_for(TIME).await;
        assert!(started.elapsed() < TIME + Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_with_a_request_has_time_and_then_as_much_as_a_new_one() {
        let activity = Activity::new(CancellationToken::new());
        let busy = activity.begin();
        let mut idle = Box::pin(activity.idle_for(TIME));
        let waiting = timeout(Duration::from_mins(1), &mut idle).await;
        assert!(waiting.is_err(), "it waits while a request is under way");
        drop(busy);
        let started = Instant::now();
        idle.await;
        assert!(started.elapsed() + Duration::from_millis(1) >= TIME);
    }
}
