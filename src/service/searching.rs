//! The way of a flight from its first passenger to its landing.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use tokio::task;
use tracing::Instrument;

use super::admission::{Lane, Permit};
use super::flight::{Flight, Key, Landing};
use super::standby::Standby;
use super::{Inner, Service};
use crate::search::{Explanation, Iteration, Limits, Observer, Outcome};

impl Service {
    /// Gets a new flight its permit and its thread.
    pub(super) fn take_off(&self, flight: &Arc<Flight>) {
        let inner = &self.0;
        if Lane::of(flight.key.heuristic, flight.key.goal) == Lane::Exact {
            if let Some(thread) = inner.express.add(Arc::clone(flight)) {
                task::spawn(self.clone().serve_express(thread));
            }
        } else if let Some(permit) = inner.admission.try_enter(Lane::Long) {
            self.fly(Arc::clone(flight), permit);
        } else if let Some(ticket) = inner.admission.queue(Lane::Long) {
            let (service, flight) = (self.clone(), Arc::clone(flight));
            let waiting = async move {
                tokio::select! {
                    permit = service.0.admission.enter(ticket) => service.fly(flight, permit),
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

    /// Takes the exact searches that have come to a thread that may block, and back, until no more
    /// have come meanwhile.
    async fn serve_express(self, mut thread: Standby) {
        loop {
            // Whoever is about to ask, too, comes along.
            task::yield_now().await;
            let permit = self.0.admission.enter_exact().await;
            let Some((served_by, flights)) = self.0.express.take(thread) else {
                return;
            };
            thread = served_by;
            let mut pilots: Vec<_> = flights
                .into_iter()
                .map(|flight| Pilot::new(self.clone(), flight))
                .collect();
            let flown = thread.run(move || {
                let _permit = permit;
                for pilot in &mut pilots {
                    // After a panic the rest land as stopped, and their callers ask again.
                    pilot.fly();
                }
                pilots
            });
            // They land here, since to wake a caller from another thread takes longer than a search.
            drop(flown.await);
        }
    }

    /// Runs a search on a thread that may block, under its permit.
    fn fly(&self, flight: Arc<Flight>, permit: Permit) {
        let mut pilot = Pilot::new(self.clone(), flight);
        task::spawn_blocking(move || {
            // However this ends, the permit is given back, and then the callers are told.
            let _permit = permit;
            pilot.fly();
        });
    }
}

/// Searches, and lands the flight when it is dropped, be it by a panic.
struct Pilot {
    service: Service,
    flight: Arc<Flight>,
    landing: Landing,
}

impl Pilot {
    /// For a flight that has its permit.
    fn new(service: Service, flight: Arc<Flight>) -> Self {
        flight.running.store(true, Relaxed);
        Self {
            service,
            flight,
            landing: Landing::Stopped,
        }
    }

    /// Searches, on this thread.
    fn fly(&mut self) {
        let _entered = self.flight.span.enter();
        self.landing = Landing::Panicked;
        self.landing = self.service.0.search(&self.flight);
    }
}

impl Drop for Pilot {
    fn drop(&mut self) {
        let landing = mem::replace(&mut self.landing, Landing::Panicked);
        self.service.0.flights.land(&self.flight, landing);
    }
}

impl Inner {
    fn search(&self, flight: &Flight) -> Landing {
        let Key {
            board,
            goal,
            heuristic,
            max_depth,
            private,
        } = flight.key;
        let started = Instant::now();
        let queued = started.saturating_duration_since(flight.opened);
        let limits = Limits {
            max_depth,
            deadline: started.checked_add(self.config.search_timeout),
            stop: &flight.stop,
        };
        let mut logbook = Logbook {
            flight,
            began: None,
            nodes: 0,
            iterations: private.map(|_| Vec::new()),
        };
        let outcome = self
            .engine
            .search(board, goal, heuristic, limits, &mut logbook);
        let elapsed = logbook.began.unwrap_or(started).elapsed();
        let nodes = logbook.nodes;
        self.metrics
            .observe_search(heuristic, goal, nodes, elapsed.as_secs_f64());
        tracing::debug!(
            heuristic = heuristic.name(),
            nodes,
            ?elapsed,
            ?outcome,
            "searched"
        );
        if let Outcome::Solved(solution) = outcome {
            self.make_known(board, goal, solution);
        }
        let explanation = |iterations| Explanation::new(heuristic.name(), iterations, elapsed);
        Landing::Searched {
            outcome,
            explanation: logbook.iterations.map(explanation).map(Arc::new),
            queued,
            elapsed,
        }
    }
}

/// Counts nodes, keeps the iterations where somebody has asked for them, and the flight's lower bound
/// up to date.
struct Logbook<'a> {
    flight: &'a Flight,
    /// When the first iteration began. Before it, tables may have to be built.
    began: Option<Instant>,
    nodes: u64,
    iterations: Option<Vec<Iteration>>,
}

impl Observer for Logbook<'_> {
    fn begins(&mut self, bound: u32) {
        self.began.get_or_insert_with(Instant::now);
        self.flight.lower_bound.store(bound, Relaxed);
    }

    fn ends(&mut self, iteration: Iteration) {
        self.nodes += iteration.nodes;
        if let Some(iterations) = &mut self.iterations {
            iterations.push(iteration);
        }
    }
}
