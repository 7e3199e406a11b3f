//! The way of a flight from its first passenger to its landing.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tokio::task;
use tracing::{Instrument, Span};

use super::admission::Permit;
use super::flight::{Flight, Flights, Key, Landing};
use super::{Inner, Service};
use crate::search::{Explanation, Iteration, Limits, Observer, Outcome};

impl Service {
    /// Gets a new flight its permit and its thread.
    pub(super) fn take_off(&self, flight: &Arc<Flight>) {
        let inner = &self.0;
        let heuristic = flight.key.heuristic;
        if let Some(permit) = inner.admission.try_enter(heuristic) {
            self.fly(Arc::clone(flight), permit, Duration::ZERO);
        } else if let Some(ticket) = inner.admission.queue(heuristic) {
            let (service, flight) = (self.clone(), Arc::clone(flight));
            let waiting_since = Instant::now();
            let waiting = async move {
                tokio::select! {
                    permit = service.0.admission.enter(ticket) => {
                        service.fly(flight, permit, waiting_since.elapsed());
                    }
                    () = flight.abandoned.notified() => {
                        service.0.flights.land(&flight, Landing::Stopped);
                    }
                }
            };
            task::spawn(waiting.in_current_span());
        } else {
            inner.metrics.searches_rejected.inc();
            inner.flights.land(flight, Landing::Rejected);
        }
    }

    /// Runs a search on a thread that may block, under its permit.
    fn fly(&self, flight: Arc<Flight>, permit: Permit, queued: Duration) {
        flight.running.store(true, Relaxed);
        let service = self.clone();
        let span = Span::current();
        task::spawn_blocking(move || {
            let _entered = span.enter();
            let inner = &*service.0;
            // However this ends, the permit is given back, and then the callers are told.
            let mut pilot = Pilot {
                flights: &inner.flights,
                flight: &flight,
                landing: Landing::Panicked,
            };
            let _permit = permit;
            pilot.landing = inner.search(&flight, queued);
        });
    }
}

impl Inner {
    /// Searches, on this thread.
    fn search(&self, flight: &Flight, queued: Duration) -> Landing {
        let Key {
            board,
            heuristic,
            max_depth,
            ..
        } = flight.key;
        let started = Instant::now();
        let limits = Limits {
            max_depth,
            deadline: started.checked_add(self.config.search_timeout),
            stop: &flight.stop,
        };
        let mut logbook = Logbook {
            flight,
            iterations: Vec::new(),
        };
        let outcome = self.engine.search(board, heuristic, limits, &mut logbook);
        let elapsed = started.elapsed();
        let explanation = Explanation::new(heuristic.name(), logbook.iterations, elapsed);
        self.metrics
            .observe_search(heuristic, explanation.nodes, elapsed.as_secs_f64());
        tracing::debug!(
            heuristic = heuristic.name(),
            nodes = explanation.nodes,
            ?elapsed,
            ?outcome,
            "searched"
        );
        if let Outcome::Solved(solution) = outcome {
            self.cache.put(board, solution, &self.metrics);
        }
        Landing::Searched {
            outcome,
            explanation: Arc::new(explanation),
            queued,
        }
    }
}

/// Lands a flight when the thread is done with it, be it by a panic.
struct Pilot<'a> {
    flights: &'a Flights,
    flight: &'a Arc<Flight>,
    landing: Landing,
}

impl Drop for Pilot<'_> {
    fn drop(&mut self) {
        let landing = std::mem::replace(&mut self.landing, Landing::Panicked);
        self.flights.land(self.flight, landing);
    }
}

/// Keeps the iterations, and the flight's lower bound up to date.
struct Logbook<'a> {
    flight: &'a Flight,
    iterations: Vec<Iteration>,
}

impl Observer for Logbook<'_> {
    fn begins(&mut self, bound: u32) {
        self.flight.lower_bound.store(bound, Relaxed);
    }

    fn ends(&mut self, iteration: Iteration) {
        self.iterations.push(iteration);
    }
}
