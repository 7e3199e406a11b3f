use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Metrics;
use crate::counted::Counted;
use crate::puzzle::Goal;
use crate::search::HeuristicKind;

/// Who may search: so many searches run, so many wait, and searches that may run long never keep
/// exact ones waiting.
///
/// All places but one are open to both kinds; one is kept for what is exact and gives it back
/// within microseconds, or a few milliseconds for a random board.
pub(super) struct Admission {
    all: Arc<Semaphore>,
    /// Taken by long searches first: one place fewer than there are.
    long: Arc<Semaphore>,
    /// Work of batches, which has places of its own, so that single requests do not wait behind it.
    batches: Arc<Semaphore>,
    /// How many of each kind may wait.
    exact_queue: Arc<Semaphore>,
    long_queue: Arc<Semaphore>,
    metrics: Metrics,
}

/// What kind of search it is, for admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// It takes microseconds.
    Exact,
    /// It may run long.
    Long,
}

impl Lane {
    pub(super) const fn of(heuristic: HeuristicKind, goal: Goal) -> Self {
        if heuristic.is_exact(goal) {
            Self::Exact
        } else {
            Self::Long
        }
    }
}

/// Leave to search, for as long as it lives. It goes with the search into its thread, so that no
/// caller who leaves can make room for another search while this one still runs.
pub(super) struct Permit {
    _places: [Option<OwnedSemaphorePermit>; 2],
    _running: Counted,
}

/// A place in the queue.
pub(super) struct Ticket {
    lane: Lane,
    _place: OwnedSemaphorePermit,
    _waiting: Counted,
}

impl Admission {
    /// With a concurrency of 1, a long search and an exact one may run side by side.
    pub(super) fn new(concurrency: usize, queue: usize, metrics: Metrics) -> Self {
        let places = concurrency.clamp(2, Semaphore::MAX_PERMITS);
        let queue = queue.min(Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(places)),
            long: Arc::new(Semaphore::new(places - 1)),
            batches: Arc::new(Semaphore::new(concurrency.clamp(1, Semaphore::MAX_PERMITS))),
            exact_queue: Arc::new(Semaphore::new(queue)),
            long_queue: Arc::new(Semaphore::new(queue)),
            metrics,
        }
    }

    /// A permit, if one is free right now.
    pub(super) fn try_enter(&self, lane: Lane) -> Option<Permit> {
        let long = if lane == Lane::Exact {
            None
        } else {
            Some(try_acquire(&self.long)?)
        };
        let place = try_acquire(&self.all)?;
        Some(self.permit(long, place))
    }

    /// A place in the queue, if there is one.
    pub(super) fn queue(&self, lane: Lane) -> Option<Ticket> {
        let queue = if lane == Lane::Exact {
            &self.exact_queue
        } else {
            &self.long_queue
        };
        Some(Ticket {
            lane,
            _place: try_acquire(queue)?,
            _waiting: Counted::new(&self.metrics.searches_waiting),
        })
    }

    /// Waits for a permit; first come, first served within a kind.
    pub(super) async fn enter(&self, ticket: Ticket) -> Permit {
        let long = if ticket.lane == Lane::Exact {
            None
        } else {
            Some(acquire(&self.long).await)
        };
        let place = acquire(&self.all).await;
        self.permit(long, place)
    }

    /// Waits for a permit for exact searches that go together; there is always one place that long
    /// searches leave to these.
    pub(super) async fn enter_exact(&self) -> Permit {
        let place = acquire(&self.all).await;
        self.permit(None, place)
    }

    /// Waits for a place among the batches. How many wait is bounded by how many connections there
    /// are, and how many pieces of its input each batch holds.
    pub(super) async fn enter_batch(&self) -> Permit {
        let place = acquire(&self.batches).await;
        self.permit(None, place)
    }

    fn permit(&self, long: Option<OwnedSemaphorePermit>, place: OwnedSemaphorePermit) -> Permit {
        Permit {
            _places: [long, Some(place)],
            _running: Counted::new(&self.metrics.searches_running),
        }
    }
}

fn try_acquire(semaphore: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(semaphore).try_acquire_owned().ok()
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(semaphore)
        .acquire_owned()
        .await
        .expect("no semaphore here is ever closed")
}
