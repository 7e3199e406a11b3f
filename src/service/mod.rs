//! One way from a board to its answer: cache, then shared flight, then admission, then a thread
//! that may block.
//!
//! It knows searches and callers, not protocols. A caller is a future: dropping it is leaving.

mod admission;
mod cache;
mod engine;
mod flight;
mod metrics;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::task;
use tokio::time::timeout_at;
use tracing::{Instrument, Span};

use crate::puzzle::Board;
use crate::search::{
    Explanation, Heuristic, HeuristicKind, Iteration, Limits, Misplaced, Observer, Outcome,
    PatternDatabase, Solution,
};
use admission::{Admission, Permit};
use cache::Cache;
use flight::{Flight, Flights, Joined, Key, Landing};

pub use engine::{Engine, Solvers};
pub use metrics::Metrics;

/// How much the service may do at a time.
#[derive(Clone, Debug)]
pub struct Config {
    /// The longest solution to look for, in moves.
    pub max_depth: u32,
    /// How long a search may run.
    pub search_timeout: Duration,
    /// How many searches may run at a time.
    pub search_concurrency: usize,
    /// How many searches of a kind may wait until they may run.
    pub search_queue: usize,
    /// How many solutions are kept; 0 for none.
    pub cache_capacity: usize,
}

/// What a caller asks.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The board.
    pub board: Board,
    /// The longest solution that is wanted, in moves.
    pub max_depth: u32,
    /// How long the caller waits.
    pub timeout: Duration,
    /// What guides the search, if one is needed.
    pub heuristic: HeuristicKind,
    /// Search afresh, whatever is known, and tell how.
    pub explain: bool,
}

/// What the caller is told.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The lexicographically smallest of the shortest solutions.
    pub solution: Solution,
    /// How it was come by.
    pub source: Source,
}

/// Where an answer comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// It was known.
    Cache,
    /// It was searched for.
    Search {
        /// What the search took.
        explanation: Arc<Explanation>,
        /// How long it waited to run.
        queued: Duration,
    },
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The shortest solution is longer than the caller wants.
    #[error(
        "no solution within depth {max_depth}; the length of the shortest is at least {lower_bound}"
    )]
    DepthCapReached {
        /// The caller's cap, in moves.
        max_depth: u32,
        /// No solution is shorter than this, in moves.
        lower_bound: u32,
    },
    /// The search ran out of time.
    #[error("out of time; the length of the shortest solution is at least {lower_bound}")]
    TimedOut {
        /// No solution is shorter than this, in moves.
        lower_bound: u32,
    },
    /// Too many searches run and wait.
    #[error("too many searches are under way")]
    Overloaded,
    /// The service is being shut down.
    #[error("the service is shutting down")]
    ShuttingDown,
    /// The search panicked.
    #[error("the search failed")]
    Internal,
}

/// The solver as a service. Cheap to clone: clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    config: Config,
    engine: Box<dyn Engine>,
    cache: Cache,
    flights: Flights,
    admission: Admission,
    metrics: Metrics,
    is_draining: AtomicBool,
    private_keys: AtomicU64,
}

impl Service {
    /// A service with the real searches.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self::with_engine(config, Solvers::default())
    }

    /// A service that searches by `engine`.
    #[must_use]
    pub fn with_engine(config: Config, engine: impl Engine) -> Self {
        let metrics = Metrics::default();
        Self(Arc::new(Inner {
            engine: Box::new(engine),
            cache: Cache::new(config.cache_capacity),
            flights: Flights::default(),
            admission: Admission::new(
                config.search_concurrency,
                config.search_queue,
                metrics.clone(),
            ),
            metrics,
            is_draining: AtomicBool::new(false),
            private_keys: AtomicU64::new(0),
            config,
        }))
    }

    /// Builds what searches need, on a thread that may block.
    pub async fn prepare(&self) {
        let service = self.clone();
        if let Err(error) = task::spawn_blocking(move || {
            service.0.engine.database();
        })
        .await
        {
            tracing::error!(%error, "the pattern database could not be built");
        }
    }

    /// Whether requests are welcome: everything is built, and nothing is being shut down.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.engine.is_ready() && !self.is_draining()
    }

    /// Whether it has been asked to drain.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.is_draining.load(Relaxed)
    }

    /// From now on [`Service::is_ready`] is false. Requests are still answered.
    pub fn drain(&self) {
        self.0.is_draining.store(true, Relaxed);
    }

    /// Stops all searches: their callers are told that the service shuts down, and so is whoever
    /// needs a search from now on.
    pub fn stop(&self) {
        self.drain();
        self.0.flights.close();
    }

    /// What the service may do.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// What the service counts.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Answers a request. Dropping the future leaves its search to the others who wait for it, or
    /// stops it if there are none.
    ///
    /// # Errors
    /// See [`enum@Error`].
    pub async fn solve(&self, request: Request) -> Result<Answer, Error> {
        let inner = &self.0;
        let known = || {
            let solution = inner.cache.get(request.board);
            solution.filter(|_| !request.explain)
        };
        let hit = |solution| {
            inner.metrics.cache_hits.inc();
            answer(&request, solution, Source::Cache)
        };
        if let Some(solution) = known() {
            return hit(solution);
        }
        let deadline = tokio::time::Instant::now() + request.timeout;
        let mut is_counted = request.explain;
        loop {
            let key = inner.key(&request);
            let mut boarding = match inner.flights.join(key, &inner.metrics, known) {
                Joined::Boarded(boarding) => boarding,
                Joined::Known(solution) => return hit(solution),
                Joined::Closed => return Err(Error::ShuttingDown),
            };
            if !std::mem::replace(&mut is_counted, true) {
                inner.metrics.cache_misses.inc();
            }
            if boarding.is_first {
                self.take_off(&boarding.flight);
            }
            let Ok(landing) = timeout_at(deadline, boarding.landing()).await else {
                boarding.is_out_of_time = true;
                return Err(inner.out_of_time(&boarding.flight));
            };
            let (outcome, source) = match landing {
                Landing::Searched {
                    outcome,
                    explanation,
                    queued,
                } => (
                    outcome,
                    Source::Search {
                        explanation,
                        queued,
                    },
                ),
                Landing::Stopped => continue,
                Landing::Rejected => return Err(Error::Overloaded),
                Landing::Panicked => return Err(Error::Internal),
            };
            match outcome {
                Outcome::Solved(solution) => return answer(&request, solution, source),
                Outcome::DepthCapReached { lower_bound } => {
                    return Err(Error::DepthCapReached {
                        max_depth: request.max_depth,
                        lower_bound,
                    });
                }
                Outcome::TimedOut { .. } if tokio::time::Instant::now() >= deadline => {
                    return Err(inner.out_of_time(&boarding.flight));
                }
                // The flight began before this caller came, so its time ended first; or all
                // searches were stopped.
                Outcome::TimedOut { .. } | Outcome::Stopped => {}
            }
        }
    }

    /// Does something short with the pattern database, under the permit of an exact search.
    ///
    /// # Errors
    /// [`Error::Overloaded`], or [`Error::Internal`] where it panics.
    pub async fn consult<T: Send + 'static>(
        &self,
        question: impl FnOnce(&PatternDatabase) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let admission = &self.0.admission;
        let permit = if let Some(permit) = admission.try_enter(HeuristicKind::PatternDatabase) {
            permit
        } else if let Some(ticket) = admission.queue(HeuristicKind::PatternDatabase) {
            admission.enter(ticket).await
        } else {
            self.0.metrics.searches_rejected.inc();
            return Err(Error::Overloaded);
        };
        self.ask(permit, question).await
    }

    /// Does a piece of a batch with the pattern database, on a place for batches. When this future
    /// is dropped, the flag that `work` is given is set.
    ///
    /// # Errors
    /// [`Error::Internal`] where it panics.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&PatternDatabase, &AtomicBool) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.0.admission.enter_batch().await;
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        self.ask(permit, move |database| work(database, &flag))
            .await
    }

    /// Puts a question to the pattern database on a thread that may block.
    async fn ask<T: Send + 'static>(
        &self,
        permit: Permit,
        question: impl FnOnce(&PatternDatabase) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (service, span) = (self.clone(), Span::current());
        let answer = task::spawn_blocking(move || {
            let _entered = span.enter();
            let _permit = permit;
            question(service.0.engine.database())
        });
        answer.await.map_err(|_| Error::Internal)
    }

    /// Gets a new flight its permit and its thread.
    fn take_off(&self, flight: &Arc<Flight>) {
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

/// Sets a flag when it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
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

impl Inner {
    /// Requests with the same key can share a search. An exact search is as fast under any cap, so
    /// all its callers share the search under the greatest.
    fn key(&self, request: &Request) -> Key {
        Key {
            board: request.board,
            heuristic: request.heuristic,
            max_depth: if request.heuristic.is_exact() {
                self.config.max_depth
            } else {
                request.max_depth.min(self.config.max_depth)
            },
            private: request
                .explain
                .then(|| self.private_keys.fetch_add(1, Relaxed)),
        }
    }

    /// Searches, on this thread.
    fn search(&self, flight: &Flight, queued: Duration) -> Landing {
        let Key {
            board,
            heuristic,
            max_depth,
            ..
        } = flight.key;
        flight.running.store(true, Relaxed);
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

    /// What a caller is told whose time is up.
    fn out_of_time(&self, flight: &Flight) -> Error {
        if flight.running.load(Relaxed) {
            self.metrics.searches_timed_out.inc();
            Error::TimedOut {
                lower_bound: flight.lower_bound.load(Relaxed),
            }
        } else {
            self.metrics.searches_rejected.inc();
            Error::Overloaded
        }
    }
}

fn answer(request: &Request, solution: Solution, source: Source) -> Result<Answer, Error> {
    let solution = within_cap(request, solution)?;
    Ok(Answer { solution, source })
}

/// What a caller is told of a board whose solution is known. It depends on the request alone, not
/// on how the solution came to be known.
///
/// # Errors
/// [`Error::DepthCapReached`] where the solution is longer than the caller wants.
pub fn within_cap(request: &Request, solution: Solution) -> Result<Solution, Error> {
    let length = u32::try_from(solution.moves.len()).unwrap_or(u32::MAX);
    if length <= request.max_depth {
        return Ok(solution);
    }
    let lower_bound = match request.heuristic {
        HeuristicKind::PatternDatabase => length,
        // A search under the cap would have got no further.
        HeuristicKind::Misplaced => Misplaced
            .lower_bound(request.board)
            .max(request.max_depth + 1),
    };
    Err(Error::DepthCapReached {
        max_depth: request.max_depth,
        lower_bound,
    })
}
