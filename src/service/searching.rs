//! The way of a flight from its first passenger to its landing.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tokio::task;
use tracing::{Instrument, Span};

use super::admission::{Lane, Permit};
use super::flight::{Flight, Flights, Key, Landing};
use super::{Inner, Service};
use crate::search::{Explanation, Iteration, Limits, Observer, Outcome};

impl Service {
    /// Gets a new flight its permit and its thread.
    pub(super) fn take_off(&self, flight: &Arc<Flight>) {
        let inner = &self.0;
        let lane = Lane::of(flight.key.heuristic, flight.key.goal);
        if let Some(permit) = inner.admission.try_enter(lane) {
            self.fly(Arc::clone(flight), permit, Duration::ZERO);
        } else if let Some(ticket) = inner.admission.queue(lane) {
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
            goal,
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
            began: None,
            iterations: Vec::new(),
        };
        let outcome = self
            .engine
            .search(board, goal, heuristic, limits, &mut logbook);
        let elapsed = logbook.began.unwrap_or(started).elapsed();
        let explanation = Explanation::new(heuristic.name(), logbook.iterations, elapsed);
        self.metrics
            .observe_search(heuristic, goal, explanation.nodes, elapsed.as_secs_f64());
        tracing::debug!(
            heuristic = heuristic.name(),
            nodes = explanation.nodes,
            ?elapsed,
            ?outcome,
            "searched"
        );
        if let Outcome::Solved(solution) = outcome {
            self.make_known(board, goal, solution);
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
    /// When the first iteration began. Before it, tables may have to be built.
    began: Option<Instant>,
    iterations: Vec<Iteration>,
}

impl Observer for Logbook<'_> {
    fn begins(&mut self, bound: u32) {
        self.began.get_or_insert_with(Instant::now);
        self.flight.lower_bound.store(bound, Relaxed);
    }

    fn ends(&mut self, iteration: Iteration) {
        self.iterations.push(iteration);
    }
}
