use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::flight::Flight;

/// Exact searches on their way to a thread.
///
/// One takes a quarter of a microsecond, and the way to a thread that may block and back several,
/// so those that come while one is on its way go with it. They never wait for more than a place:
/// there are no more of them than requests, and a thousand take less than a millisecond.
#[derive(Default)]
pub(super) struct Express(Mutex<Platform>);

#[derive(Default)]
struct Platform {
    flights: Vec<Arc<Flight>>,
    /// Whether somebody is bound to come and take them.
    is_served: bool,
}

impl Express {
    /// Adds a search. Where this returns true, the caller has to see to it that [`Express::take`]
    /// is called until nothing is left.
    #[must_use]
    pub(super) fn add(&self, flight: Arc<Flight>) -> bool {
        let mut platform = self.lock();
        platform.flights.push(flight);
        !mem::replace(&mut platform.is_served, true)
    }

    /// All that have come, or `None` where there are none: whoever comes next has to call again.
    pub(super) fn take(&self) -> Option<Vec<Arc<Flight>>> {
        let mut platform = self.lock();
        if platform.flights.is_empty() {
            platform.is_served = false;
            return None;
        }
        // As many are to come again.
        let places = Vec::with_capacity(platform.flights.len());
        Some(mem::replace(&mut platform.flights, places))
    }

    fn lock(&self) -> MutexGuard<'_, Platform> {
        // Nothing in here panics half way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
