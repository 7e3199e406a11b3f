use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::flight::Flight;
use super::standby::Standby;

/// Exact searches on their way to a thread.
///
/// One takes a quarter of a microsecond, and the way to a thread that may block and back several,
/// so those that come while one is on its way go with it. They never wait for more than a place:
/// there are no more of them than requests, and a thousand take less than a millisecond.
pub(super) struct Express(Mutex<Platform>);

struct Platform {
    flights: Vec<Arc<Flight>>,
    /// Where they are taken. Not here while somebody is bound to come and take them.
    thread: Option<Standby>,
}

impl Express {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Platform {
            flights: Vec::new(),
            thread: Some(Standby::default()),
        }))
    }

    /// Adds a search. Whoever is given the thread has to see to it that [`Express::take`] is called
    /// until nothing is left.
    #[must_use]
    pub(super) fn add(&self, flight: Arc<Flight>) -> Option<Standby> {
        let mut platform = self.lock();
        platform.flights.push(flight);
        platform.thread.take()
    }

    /// All that have come, and the thread. Where none have, it stays here: whoever comes next is given
    /// it.
    pub(super) fn take(&self, thread: Standby) -> Option<(Standby, Vec<Arc<Flight>>)> {
        let mut platform = self.lock();
        if platform.flights.is_empty() {
            platform.thread = Some(thread);
            return None;
        }
        // As many are to come again.
        let places = Vec::with_capacity(platform.flights.len());
        Some((thread, mem::replace(&mut platform.flights, places)))
    }

    fn lock(&self) -> MutexGuard<'_, Platform> {
        // Nothing in here panics half way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
