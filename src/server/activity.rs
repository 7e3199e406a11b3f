use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
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

    /// Since when no request is under way, or `None` while one is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        (state.requests == 0).then_some(state.idle_since)
    }

    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.lock().requests += 1;
        Busy(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut state = self.0.lock();
        state.requests -= 1;
        state.idle_since = Instant::now();
    }
}
