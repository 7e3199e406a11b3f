use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, SetOnce};
use tracing::Span;

use super::Metrics;
use crate::puzzle::{Board, Goal};
use crate::search::{Explanation, HeuristicKind, Outcome};

/// What makes two searches the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) board: Board,
    pub(super) goal: Goal,
    pub(super) heuristic: HeuristicKind,
    pub(super) max_depth: u32,
    /// A number that no other key has, for a search that is not to be shared.
    pub(super) private: Option<u64>,
}

/// One search and those who wait for it. It ends when it lands, or when the last of them has left.
pub(super) struct Flight {
    pub(super) key: Key,
    /// How many wait. Changed only under the lock of the [`Flights`], together with the map.
    passengers: AtomicUsize,
    /// Tells the search to stop.
    pub(super) stop: AtomicBool,
    /// Tells the task that waits for a permit to stop.
    pub(super) abandoned: Notify,
    /// Whether it has its permit.
    pub(super) running: AtomicBool,
    /// No solution is shorter than this, as far as the search has come.
    pub(super) lower_bound: AtomicU32,
    /// When it was opened.
    pub(super) opened: Instant,
    /// The span of its first passenger, which follows the search into its thread.
    pub(super) span: Span,
    landing: SetOnce<Landing>,
}

/// How a flight ended.
#[derive(Clone, Debug)]
pub(super) enum Landing {
    /// The search ended by itself, by its limits, or by being stopped.
    Searched {
        outcome: Outcome,
        explanation: Option<Arc<Explanation>>,
        /// How long it waited for a permit.
        queued: Duration,
        /// How long it ran.
        elapsed: Duration,
    },
    /// It was stopped before it had a permit.
    Stopped,
    /// There was no place to wait for a permit.
    Rejected,
    /// The search panicked.
    Panicked,
}

/// All flights under way.
#[derive(Default)]
pub(super) struct Flights(Mutex<Departures>);

#[derive(Default)]
struct Departures {
    /// Seeded anew for each process, like the map of the cache.
    by_key: HashMap<Key, Arc<Flight>, foldhash::fast::RandomState>,
    are_closed: bool,
}

/// What comes of joining a flight.
pub(super) enum Joined<'a, A> {
    /// A place on it.
    Boarded(Boarding<'a>),
    /// There is none, nor need for one: the answer is known.
    Known(A),
    /// There are no more flights.
    Closed,
}

/// A passenger's place. Leaving is dropping it.
pub(super) struct Boarding<'a> {
    flights: &'a Flights,
    metrics: &'a Metrics,
    pub(super) flight: Arc<Flight>,
    /// Whether there was no such flight before: this passenger has to get it off the ground.
    pub(super) is_first: bool,
    /// Whether it leaves since its time is over, which is counted elsewhere.
    pub(super) is_out_of_time: bool,
}

impl Flights {
    /// Joins the flight of this key, or opens one unless the answer is `known`.
    ///
    /// A flight makes its answer known before it lands, so nobody who finds neither one under way
    /// nor an answer searches in vain.
    pub(super) fn join<'a, A>(
        &'a self,
        key: Key,
        metrics: &'a Metrics,
        known: impl FnOnce() -> Option<A>,
    ) -> Joined<'a, A> {
        let mut departures = self.lock();
        if departures.are_closed {
            return Joined::Closed;
        }
        let (flight, is_first) = match departures.by_key.entry(key) {
            Entry::Occupied(flight) => (Arc::clone(flight.get()), false),
            Entry::Vacant(place) => {
                if let Some(answer) = known() {
                    return Joined::Known(answer);
                }
                (Arc::clone(place.insert(Flight::open(key))), true)
            }
        };
        flight.passengers.fetch_add(1, Relaxed);
        Joined::Boarded(Boarding {
            flights: self,
            metrics,
            flight,
            is_first,
            is_out_of_time: false,
        })
    }

    /// Ends a flight: whoever comes from now on opens another.
    pub(super) fn land(&self, flight: &Arc<Flight>, landing: Landing) {
        self.lock().remove(flight);
        // It lands once; were it told to again, the first landing would stand.
        let _ = flight.landing.set(landing);
    }

    /// Stops all searches under way, and lets no more begin.
    pub(super) fn close(&self) {
        let mut departures = self.lock();
        departures.are_closed = true;
        for flight in departures.by_key.values() {
            flight.stop();
        }
    }

    /// Whether no more searches may begin.
    pub(super) fn are_closed(&self) -> bool {
        self.lock().are_closed
    }

    fn lock(&self) -> MutexGuard<'_, Departures> {
        // Nothing in here panics half way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Departures {
    /// Takes a flight off the map, unless another has its key by now.
    fn remove(&mut self, flight: &Arc<Flight>) {
        if let Entry::Occupied(found) = self.by_key.entry(flight.key)
            && Arc::ptr_eq(found.get(), flight)
        {
            found.remove();
        }
    }
}

impl Flight {
    fn open(key: Key) -> Arc<Self> {
        Arc::new(Self {
            key,
            passengers: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            abandoned: Notify::new(),
            running: AtomicBool::new(false),
            lower_bound: AtomicU32::new(0),
            opened: Instant::now(),
            span: Span::current(),
            landing: SetOnce::new(),
        })
    }

    fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.abandoned.notify_one();
    }

    fn has_landed(&self) -> bool {
        self.landing.initialized()
    }
}

impl Boarding<'_> {
    /// Waits until the flight ends.
    pub(super) async fn landing(&self) -> Landing {
        self.flight.landing.wait().await.clone()
    }
}

impl Drop for Boarding<'_> {
    fn drop(&mut self) {
        let mut departures = self.flights.lock();
        let was_last = self.flight.passengers.fetch_sub(1, Relaxed) == 1;
        if was_last && !self.flight.has_landed() {
            // Whoever asks for the same from now on must not join a flight that is being stopped.
            departures.remove(&self.flight);
            self.flight.stop();
            if !self.is_out_of_time {
                self.metrics.searches_abandoned.inc();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_while_the_flights_are_locked_costs_nothing() {
        let (flights, metrics) = (Flights::default(), Metrics::default());
        std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let _departures = flights.lock();
                panic!("told to panic");
            });
            assert!(panicking.join().is_err());
        });
        let key = Key {
            board: "111132323132231222312133".parse().unwrap(),
            goal: Goal::Centre,
            heuristic: HeuristicKind::Misplaced,
            max_depth: 13,
            private: None,
        };
        let join = || flights.join(key, &metrics, || None::<()>);
        let Joined::Boarded(first) = join() else {
            unreachable!("nothing is known, and nothing closed");
        };
        let Joined::Boarded(second) = join() else {
            unreachable!("nothing is known, and nothing closed");
        };
        assert!(first.is_first && !second.is_first);
        drop((first, second));
        assert!(flights.lock().by_key.is_empty());
        assert_eq!(metrics.searches_abandoned.get(), 1);
    }
}
