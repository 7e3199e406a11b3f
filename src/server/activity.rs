use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// What a connection is busy with.
#[derive(Debug)]
pub(super) struct ConnectionActivity {
    state: Mutex<State>,
    /// Whether the client has sent bytes that belong to no request that was read as a whole.
    has_unread: AtomicBool,
    /// Whether the current request of HTTP/1 waits for more of its body.
    wants_input: AtomicBool,
    /// Whether the answer to the current request of HTTP/1 has begun.
    has_answer: AtomicBool,
    next_answer: AtomicU64,
    /// Cancelled when each answer must say that it is the last one.
    pub(super) is_ending: CancellationToken,
}

#[derive(Debug)]
struct State {
    /// Requests in progress, each from its head to the end of its answer.
    requests: usize,
    idle_since: Instant,
    /// Woken when no request is in progress any more.
    waits_for_idle: Option<Waker>,
    /// Answers that have data which the client does not take, by number, and since when.
    untaken: Vec<(u64, Instant)>,
}

/// A request in progress, from its head to the end of its answer.
pub(super) struct RequestGuard(Arc<ConnectionActivity>);

/// Measures how long an answer waits for the client.
pub(super) struct UntakenAnswer {
    activity: Arc<ConnectionActivity>,
    number: u64,
}

impl ConnectionActivity {
    pub(super) fn new(is_ending: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                requests: 0,
                idle_since: Instant::now(),
                waits_for_idle: None,
                untaken: Vec::new(),
            }),
            has_unread: AtomicBool::new(false),
            wants_input: AtomicBool::new(false),
            has_answer: AtomicBool::new(false),
            next_answer: AtomicU64::new(0),
            is_ending,
        })
    }

    /// Waits until no request has been in progress for `time`. This covers a client that sends
    /// nothing, or a lone `P` that might become HTTP/2, or a header byte by byte; one that was
    /// answered and asks nothing more; and an HTTP/2 client without a request.
    pub(super) async fn idle_for(&self, time: Duration) {
        loop {
            // The deadline does not move with every request, but is checked when it is over.
            let now = Instant::now();
            let deadline = self.idle_since().unwrap_or(now) + time;
            if deadline <= now {
                return;
            }
            sleep_until(deadline).await;
        }
    }

    /// Waits until the client has not taken anything of some answer for `time`.
    pub(super) async fn untaken_for(&self, time: Duration) {
        loop {
            let now = Instant::now();
            let oldest = self.state.lock().untaken.iter().map(|&(_, at)| at).min();
            let deadline = oldest.unwrap_or(now) + time;
            if deadline <= now {
                return;
            }
            sleep_until(deadline).await;
        }
    }

    /// Returns since when no request is in progress, or `None` while one is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        (state.requests == 0).then_some(state.idle_since)
    }

    /// Waits until no request is in progress.
    pub(super) fn poll_idle(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.requests == 0 {
            return Poll::Ready(());
        }
        state.waits_for_idle = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Counts a request from its head on, or other work on the connection.
    pub(super) fn begin(self: &Arc<Self>) -> RequestGuard {
        self.state.lock().requests += 1;
        RequestGuard(Arc::clone(self))
    }

    /// Measures how long an answer waits for the client, from now on.
    pub(super) fn untaken(self: &Arc<Self>) -> UntakenAnswer {
        let answer = UntakenAnswer {
            activity: Arc::clone(self),
            number: self.next_answer.fetch_add(1, Relaxed),
        };
        answer.set(true);
        answer
    }

    pub(super) fn has_unread(&self) -> bool {
        self.has_unread.load(Relaxed)
    }

    pub(super) fn set_unread(&self, has_unread: bool) {
        self.has_unread.store(has_unread, Relaxed);
    }

    /// Returns whether an answer of HTTP/1 has begun whose request needs no more input.
    pub(super) fn is_answering(&self) -> bool {
        self.has_answer.load(Relaxed) && !self.wants_input.load(Relaxed)
    }

    pub(super) fn set_wants_input(&self, wants_input: bool) {
        self.wants_input.store(wants_input, Relaxed);
    }

    pub(super) fn set_has_answer(&self, has_answer: bool) {
        self.has_answer.store(has_answer, Relaxed);
    }
}

impl RequestGuard {
    /// Returns whether the answer must say that it is the last one.
    pub(super) fn is_last(&self) -> bool {
        self.0.is_ending.is_cancelled()
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.requests -= 1;
        state.idle_since = Instant::now();
        if state.requests == 0
            && let Some(waker) = state.waits_for_idle.take()
        {
            waker.wake();
        }
    }
}

impl UntakenAnswer {
    /// Sets whether the answer waits for the client from now on, or for the server.
    pub(super) fn set(&self, waits_for_client: bool) {
        let mut state = self.activity.state.lock();
        state.untaken.retain(|&(number, _)| number != self.number);
        if waits_for_client {
            state.untaken.push((self.number, Instant::now()));
        }
    }
}

impl Drop for UntakenAnswer {
    fn drop(&mut self) {
        self.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    const TIME: Duration = Duration::from_secs(5);

    fn activity() -> Arc<ConnectionActivity> {
        ConnectionActivity::new(CancellationToken::new())
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_idle_from_its_start() {
        let started = Instant::now();
        activity().idle_for(TIME).await;
        assert!(started.elapsed() < TIME + Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_with_a_request_has_time_and_then_as_much_as_a_new_one() {
        let activity = activity();
        let request = activity.begin();
        let mut idle = Box::pin(activity.idle_for(TIME));
        let waiting = timeout(Duration::from_mins(1), &mut idle).await;
        assert!(waiting.is_err(), "it waits while a request is in progress");
        drop(request);
        let started = Instant::now();
        idle.await;
        assert!(started.elapsed() + Duration::from_millis(1) >= TIME);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_late_when_the_client_takes_nothing_of_it() {
        let activity = activity();
        let (first, second) = (activity.untaken(), activity.untaken());
        let mut late = Box::pin(activity.untaken_for(TIME));
        for _ in 0..10 {
            assert!(timeout(TIME / 2, &mut late).await.is_err());
            first.set(true);
            second.set(false);
        }
        let started = Instant::now();
        late.await;
        let waited = started.elapsed() + Duration::from_millis(10);
        assert!((TIME..2 * TIME).contains(&waited), "{waited:?}");
        drop(first);
        let late = timeout(Duration::from_mins(1), activity.untaken_for(TIME));
        assert!(late.await.is_err(), "the server is late with the second");
    }
}
