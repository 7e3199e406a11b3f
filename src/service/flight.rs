use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::{Notify, SetOnce};
use tracing::Span;

use super::Metrics;
use super::searcher::{Search, Searched};
use crate::puzzle::{Board, Goal};
use crate::search::{HeuristicKind, Solution};

/// Requests with equal keys share one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) board: Board,
    pub(super) goal: Goal,
    pub(super) heuristic: HeuristicKind,
    pub(super) max_depth: u32,
    /// Single requests do not wait for the turn of a batch.
    pub(super) origin: Origin,
    /// A number that no other key has, for a search that must not be shared.
    pub(super) unshared: Option<u64>,
}

/// Where a long search comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// A request of its own, which is refused when the queue is full.
    Single,
    /// A line of a batch, which waits for its turn instead.
    Batch,
}

/// One search and its waiters. It ends when it completes, or when the last waiter has left.
pub(super) struct Flight {
    key: Key,
    pub(super) search: Search,
    /// How many wait. It changes only under the lock of the [`FlightMap`].
    waiters: AtomicUsize,
    /// Stops the search.
    pub(super) stop: AtomicBool,
    /// Stops the task that waits for a slot.
    pub(super) abandoned: Notify,
    /// Set when the search has its slot.
    pub(super) started: SetOnce<()>,
    /// The lower bound proven so far, in moves.
    pub(super) lower_bound: AtomicU32,
    /// The span of the first waiter, which follows the search to its thread.
    pub(super) span: Span,
    result: SetOnce<FlightResult>,
}

/// How a flight ended.
#[derive(Clone, Debug)]
pub(super) enum FlightResult {
    /// The search ended, perhaps by a limit.
    Searched(Searched),
    /// It was stopped before it had a slot.
    Stopped,
    /// The queue was full.
    Rejected,
    /// The search panicked.
    Panicked,
}

/// All flights in progress (single-flight: equal requests share one).
#[derive(Default)]
pub(super) struct FlightMap(Mutex<Flights>);

#[derive(Default)]
struct Flights {
    by_key: HashMap<Key, Arc<Flight>>,
    is_closed: bool,
}

/// The result of [`FlightMap::join`].
pub(super) enum Joined<'a> {
    /// A flight that was already in progress.
    Existing(Waiter<'a>),
    /// A new flight, which this caller has to start.
    New(Waiter<'a>),
    /// The answer was cached meanwhile.
    Cached(Solution),
    /// No more flights may begin.
    Closed,
}

/// One waiter of a flight. Dropping it leaves the flight.
pub(super) struct Waiter<'a> {
    map: &'a FlightMap,
    metrics: &'a Metrics,
    pub(super) flight: Arc<Flight>,
    /// Whether it leaves because its time is over, which is counted elsewhere.
    pub(super) is_out_of_time: bool,
}

impl FlightMap {
    /// Joins the flight of this key, or opens one unless the answer is `cached`.
    ///
    /// A search caches its solution before its flight ends. So a caller who finds neither a flight
    /// nor a cached solution never repeats a search.
    pub(super) fn join<'a>(
        &'a self,
        key: Key,
        search: Search,
        metrics: &'a Metrics,
        cached: impl FnOnce() -> Option<Solution>,
    ) -> Joined<'a> {
        let mut flights = self.0.lock();
        if flights.is_closed {
            return Joined::Closed;
        }
        let join = |flight: &Arc<Flight>| {
            flight.waiters.fetch_add(1, Relaxed);
            Waiter {
                map: self,
                metrics,
                flight: Arc::clone(flight),
                is_out_of_time: false,
            }
        };
        match flights.by_key.entry(key) {
            Entry::Occupied(entry) => Joined::Existing(join(entry.get())),
            Entry::Vacant(entry) => match cached() {
                Some(solution) => Joined::Cached(solution),
                None => Joined::New(join(entry.insert(Flight::open(key, search)))),
            },
        }
    }

    /// Ends a flight and wakes its waiters. The next caller opens another.
    pub(super) fn complete(&self, flight: &Arc<Flight>, result: FlightResult) {
        self.0.lock().remove(flight);
        // A flight ends once; a second result is ignored.
        let _ = flight.result.set(result);
        let _ = flight.started.set(());
    }

    /// Stops all searches, and lets no more begin.
    pub(super) fn close(&self) {
        let mut flights = self.0.lock();
        flights.is_closed = true;
        for flight in flights.by_key.values() {
            flight.stop();
        }
    }
}

impl Flights {
    /// Removes a flight, unless another one has its key by now.
    fn remove(&mut self, flight: &Arc<Flight>) {
        if let Entry::Occupied(found) = self.by_key.entry(flight.key)
            && Arc::ptr_eq(found.get(), flight)
        {
            found.remove();
        }
    }
}

impl Flight {
    fn open(key: Key, search: Search) -> Arc<Self> {
        Arc::new(Self {
            key,
            search,
            waiters: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            abandoned: Notify::new(),
            started: SetOnce::new(),
            lower_bound: AtomicU32::new(0),
            span: Span::current(),
            result: SetOnce::new(),
        })
    }

    pub(super) fn origin(&self) -> Origin {
        self.key.origin
    }

    fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.abandoned.notify_one();
    }
}

impl Waiter<'_> {
    /// Waits until the flight ends.
    pub(super) async fn result(&self) -> FlightResult {
        self.flight.result.wait().await.clone()
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut flights = self.map.0.lock();
        let was_last = self.flight.waiters.fetch_sub(1, Relaxed) == 1;
        if was_last && !self.flight.result.initialized() {
            // The next caller must not join a flight that is being stopped.
            flights.remove(&self.flight);
            self.flight.stop();
            if !self.is_out_of_time {
                self.metrics.searches_abandoned.inc();
            }
        }
    }
}
