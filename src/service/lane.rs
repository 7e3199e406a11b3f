use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Metrics;
use crate::gauge_guard::GaugeGuard;

/// The threads that one class of work may use, and the queue in front of them.
///
/// No class shares a lane with another, so none waits for another, except for the processor.
pub(super) struct Lane {
    slots: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    metrics: Metrics,
}

/// Permission to use a thread. It moves into the closure that runs there, so a caller who gives up
/// cannot make room for another while the thread is still busy.
pub(super) struct Slot {
    _permit: OwnedSemaphorePermit,
    _running: GaugeGuard,
}

impl Lane {
    /// Opens a lane for `slots` threads and a queue of `queue`.
    pub(super) fn new(slots: usize, queue: usize, metrics: Metrics) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        Self {
            slots: semaphore(slots.clamp(1, Semaphore::MAX_PERMITS)),
            queue: semaphore(queue.min(Semaphore::MAX_PERMITS)),
            metrics,
        }
    }

    /// Returns a slot if one is free.
    pub(super) fn try_enter(&self) -> Option<Slot> {
        let permit = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        Some(self.slot(permit))
    }

    /// Returns a place in the queue, or `None` if the queue is full.
    pub(super) fn try_queue(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.queue).try_acquire_owned().ok()
    }

    /// Waits for a slot, first come, first served. The caller holds a place in the queue meanwhile,
    /// or belongs to a class whose number of callers is bounded elsewhere.
    pub(super) async fn enter(&self) -> Slot {
        let waiting = GaugeGuard::new(&self.metrics.searches_waiting);
        let permit = acquire(&self.slots).await;
        drop(waiting);
        self.slot(permit)
    }

    fn slot(&self, permit: OwnedSemaphorePermit) -> Slot {
        Slot {
            _permit: permit,
            _running: GaugeGuard::new(&self.metrics.searches_running),
        }
    }
}

/// Waits for a permit of a semaphore.
pub(super) async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(semaphore)
        .acquire_owned()
        .await
        .expect("no semaphore of the service is ever closed")
}
