use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tokio::sync::Semaphore;
use tokio::task;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::Instrument;

use super::flight::{Flight, FlightMap, FlightResult, Joined, Key, Origin, Waiter};
use super::lane::{Lane, Slot, acquire};
use super::searcher::{Search, Searched, Searcher};
use super::{Answer, Error, Request};
use crate::search::Outcome;

/// The lane of searches that may run long: `misplaced`, and every search with a pattern.
///
/// Equal requests share one search. It stops when its last caller has left.
pub(super) struct LongLane {
    searcher: Arc<Searcher>,
    flights: FlightMap,
    lane: Lane,
    /// Held by the one batch line that waits for a slot. So batches together never have more than
    /// one place in front of single requests.
    batch_turn: Arc<Semaphore>,
    unshared_keys: AtomicU64,
}

impl LongLane {
    pub(super) fn new(searcher: Arc<Searcher>) -> Self {
        let config = &searcher.config;
        // One core stays free for everything else.
        let slots = config.search_concurrency.saturating_sub(1);
        Self {
            lane: Lane::new(slots, config.search_queue, searcher.metrics.clone()),
            searcher,
            flights: FlightMap::default(),
            batch_turn: Arc::new(Semaphore::new(1)),
            unshared_keys: AtomicU64::new(0),
        }
    }

    /// Stops all searches; every later one ends with [`Error::ShuttingDown`].
    pub(super) fn close(&self) {
        self.flights.close();
    }

    /// Answers a request from the cache or by a shared search.
    pub(super) async fn solve(
        self: &Arc<Self>,
        request: &Request,
        origin: Origin,
    ) -> Result<Answer, Error> {
        let metrics = &self.searcher.metrics;
        let asked = Instant::now();
        let mut is_counted = request.explain;
        loop {
            let (key, search) = self.key_and_search(request, origin);
            let cached = || self.searcher.cache_get(request);
            let joined = self.flights.join(key, search, metrics, cached);
            if let Joined::Cached(solution) = joined {
                metrics.cache_hits.inc();
                return Answer::cached(request, solution);
            }
            // A caller counts once, however many flights it joins.
            if !mem::replace(&mut is_counted, true) {
                metrics.cache_misses.inc();
            }
            let mut waiter = match joined {
                Joined::Existing(waiter) => waiter,
                Joined::New(waiter) => {
                    self.start(&waiter.flight);
                    waiter
                }
                Joined::Cached(_) | Joined::Closed => return Err(Error::ShuttingDown),
            };
            let searched = match self.wait(&mut waiter, request, asked).await? {
                FlightResult::Searched(searched) => searched,
                FlightResult::Stopped => continue,
                FlightResult::Rejected => return Err(Error::Overloaded),
                FlightResult::Panicked => return Err(Error::Internal),
            };
            match searched.outcome {
                Outcome::TimedOut { .. } if asked.elapsed() >= request.timeout => {
                    return Err(self.timed_out(request, &waiter.flight));
                }
                // The flight began before this caller came, so its time ended first; or all
                // searches were stopped.
                Outcome::TimedOut { .. } | Outcome::Stopped => {}
                Outcome::Solved(_) | Outcome::DepthCapReached { .. } => {
                    return Answer::searched(request, searched);
                }
            }
        }
    }

    fn key_and_search(&self, request: &Request, origin: Origin) -> (Key, Search) {
        let &Request {
            board,
            goal,
            heuristic,
            explain,
            ..
        } = request;
        let max_depth = request.max_depth.min(self.searcher.config.max_depth);
        let unshared = explain.then(|| self.unshared_keys.fetch_add(1, Relaxed));
        let key = Key {
            board,
            goal,
            heuristic,
            max_depth,
            origin,
            unshared,
        };
        let search = Search {
            board,
            goal,
            heuristic,
            max_depth,
            explain,
            requested: std::time::Instant::now(),
        };
        (key, search)
    }

    /// Runs a new flight now, or lets it wait for a slot, or rejects it.
    fn start(self: &Arc<Self>, flight: &Arc<Flight>) {
        let queue_slot = match flight.origin() {
            Origin::Batch => None,
            Origin::Single => {
                if let Some(slot) = self.lane.try_enter() {
                    return self.run(Arc::clone(flight), slot);
                }
                let Some(queue_slot) = self.lane.try_queue() else {
                    return self.flights.complete(flight, FlightResult::Rejected);
                };
                Some(queue_slot)
            }
        };
        let (lane, flight) = (Arc::clone(self), Arc::clone(flight));
        let waiting = async move {
            let slot = async {
                let _turn = match queue_slot {
                    Some(_) => None,
                    None => Some(acquire(&lane.batch_turn).await),
                };
                lane.lane.enter().await
            };
            tokio::select! {
                slot = slot => lane.run(flight, slot),
                () = flight.abandoned.notified() => {
                    lane.flights.complete(&flight, FlightResult::Stopped);
                }
            }
        };
        task::spawn(waiting.in_current_span());
    }

    /// Runs a search on the blocking pool.
    fn run(self: &Arc<Self>, flight: Arc<Flight>, slot: Slot) {
        let _ = flight.started.set(());
        let task = SearchTask {
            lane: Arc::clone(self),
            flight,
            result: FlightResult::Stopped,
        };
        task::spawn_blocking(move || {
            let mut task = task;
            // However the search ends, the slot is free before the waiters wake.
            let _slot = slot;
            task.run();
        });
    }

    /// Waits for the end of a flight, at most as long as the caller does.
    async fn wait(
        &self,
        waiter: &mut Waiter<'_>,
        request: &Request,
        asked: Instant,
    ) -> Result<FlightResult, Error> {
        let end = match waiter.flight.origin() {
            // Half of the timeout is reserved for the search. Otherwise sustained overload would
            // admit only requests that are about to time out.
            Origin::Single => {
                let start_by = asked + request.timeout / 2;
                if let Ok(result) = timeout_at(start_by, waiter.result()).await {
                    return Ok(result);
                }
                if !waiter.flight.started.initialized() {
                    waiter.is_out_of_time = true;
                    return Err(Error::Overloaded);
                }
                timeout_at(asked + request.timeout, waiter.result()).await
            }
            // The time of a batch line begins with its search.
            Origin::Batch => {
                waiter.flight.started.wait().await;
                timeout(request.timeout, waiter.result()).await
            }
        };
        end.map_err(|_| {
            waiter.is_out_of_time = true;
            self.timed_out(request, &waiter.flight)
        })
    }

    /// Returns the error of a caller whose time ended while the search ran.
    fn timed_out(&self, request: &Request, flight: &Flight) -> Error {
        self.searcher.metrics.searches_timed_out.inc();
        // The search may not have proven anything yet.
        let proven = flight.lower_bound.load(Relaxed);
        Error::TimedOut {
            lower_bound: proven.max(request.first_lower_bound()),
        }
    }
}

/// A search on its thread. Dropping it completes the flight, after a panic too.
struct SearchTask {
    lane: Arc<LongLane>,
    flight: Arc<Flight>,
    result: FlightResult,
}

impl SearchTask {
    fn run(&mut self) {
        let Flight {
            search,
            stop,
            lower_bound,
            span,
            ..
        } = &*self.flight;
        let _entered = span.enter();
        self.result = FlightResult::Panicked;
        let on_bound = |bound| lower_bound.store(bound, Relaxed);
        let searched: Searched = self.lane.searcher.run(*search, stop, on_bound);
        self.result = FlightResult::Searched(searched);
    }
}

impl Drop for SearchTask {
    fn drop(&mut self) {
        let result = mem::replace(&mut self.result, FlightResult::Panicked);
        self.lane.flights.complete(&self.flight, result);
    }
}
