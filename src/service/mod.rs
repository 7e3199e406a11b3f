//! One way from a board to its answer: cache, then shared flight, then admission, then a thread
//! that may block.
//!
//! It knows searches and callers, not protocols. A caller is a future: dropping it is leaving.

mod admission;
mod cache;
mod consult;
mod engine;
mod express;
mod flight;
mod goals;
mod metrics;
mod request;
mod searching;
mod standby;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use tokio::task;
use tokio::time::{Instant, timeout_at};

use crate::puzzle::{Board, Goal, Pattern};
use crate::search::{Outcome, Solution};
use admission::Admission;
use cache::Cache;
use engine::Solvers;
use express::Express;
use flight::{Boarding, Flight, Flights, Joined, Key, Landing};

pub use engine::Engine;
pub use metrics::Metrics;
pub use request::{Answer, Config, Error, Request, Source, within_cap};

/// The solver as a service. Cheap to clone: clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    config: Config,
    engine: Box<dyn Engine>,
    /// The usual goal has a list of its own, whose entries are small.
    cache: Cache<Board>,
    pattern_cache: Cache<(Board, Pattern)>,
    flights: Flights,
    admission: Admission,
    express: Express,
    metrics: Metrics,
    is_draining: AtomicBool,
    private_keys: AtomicU64,
}

impl Service {
    /// A service with the real searches.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let metrics = Metrics::default();
        let solvers = Solvers::new(&config, metrics.clone());
        Self::with_parts(config, solvers, metrics)
    }

    /// A service that searches by `engine`.
    #[must_use]
    pub fn with_engine(config: Config, engine: impl Engine) -> Self {
        Self::with_parts(config, engine, Metrics::default())
    }

    fn with_parts(config: Config, engine: impl Engine, metrics: Metrics) -> Self {
        Self(Arc::new(Inner {
            engine: Box::new(engine),
            cache: Cache::new(config.cache_capacity),
            pattern_cache: Cache::new(config.cache_capacity),
            flights: Flights::default(),
            admission: Admission::new(
                config.search_concurrency,
                config.search_queue,
                metrics.clone(),
            ),
            express: Express::new(),
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
        let known = || inner.known(&request);
        let hit = |solution| {
            inner.metrics.cache_hits.inc();
            answer(&request, solution, Source::Cache)
        };
        if let Some(solution) = known() {
            return hit(solution);
        }
        let now = Instant::now();
        let time = Time {
            to_begin: now + request.timeout / 2,
            to_end: now + request.timeout,
        };
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
            let (outcome, source) = match inner.landing(&request, &mut boarding, time).await? {
                Landing::Searched {
                    outcome,
                    explanation,
                    queued,
                    elapsed,
                } => (
                    outcome,
                    Source::Search {
                        explanation,
                        queued,
                        elapsed,
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
                Outcome::TimedOut { .. } if Instant::now() >= time.to_end => {
                    return Err(inner.timed_out(&request, &boarding.flight));
                }
                // The flight began before this caller came, so its time ended first; or all
                // searches were stopped.
                Outcome::TimedOut { .. } | Outcome::Stopped => {}
            }
        }
    }
}

impl Inner {
    /// The solution that a caller can be told at once.
    fn known(&self, request: &Request) -> Option<Solution> {
        let known = match request.goal {
            Goal::Centre => self.cache.get(request.board),
            Goal::Pattern(pattern) => self.pattern_cache.get((request.board, pattern)),
        };
        known.filter(|solution| request.is_answered_by(solution))
    }

    fn make_known(&self, board: Board, goal: Goal, solution: Solution) {
        match goal {
            Goal::Centre => self.cache.put(board, solution, &self.metrics),
            Goal::Pattern(pattern) => {
                self.pattern_cache
                    .put((board, pattern), solution, &self.metrics);
            }
        }
    }

    /// Requests with the same key can share a search. An exact search is as fast under any cap, so
    /// all its callers share the search under the greatest.
    fn key(&self, request: &Request) -> Key {
        Key {
            board: request.board,
            goal: request.goal,
            heuristic: request.heuristic,
            max_depth: if request.is_exact() {
                self.config.max_depth
            } else {
                request.max_depth.min(self.config.max_depth)
            },
            private: request
                .explain
                .then(|| self.private_keys.fetch_add(1, Relaxed)),
        }
    }

    /// Waits for the end of a flight as long as the caller does.
    async fn landing(
        &self,
        request: &Request,
        boarding: &mut Boarding<'_>,
        time: Time,
    ) -> Result<Landing, Error> {
        if let Ok(landing) = timeout_at(time.to_begin, boarding.landing()).await {
            return Ok(landing);
        }
        if !boarding.flight.running.load(Relaxed) {
            boarding.is_out_of_time = true;
            self.metrics.searches_rejected.inc();
            return Err(Error::Overloaded);
        }
        if let Ok(landing) = timeout_at(time.to_end, boarding.landing()).await {
            return Ok(landing);
        }
        boarding.is_out_of_time = true;
        Err(self.timed_out(request, &boarding.flight))
    }

    /// What a caller is told whose time is over while the search runs.
    fn timed_out(&self, request: &Request, flight: &Flight) -> Error {
        self.metrics.searches_timed_out.inc();
        Error::TimedOut {
            // The search may not have told anything yet.
            lower_bound: flight
                .lower_bound
                .load(Relaxed)
                .max(request.first_lower_bound()),
        }
    }
}

/// How long a caller waits.
///
/// Half of its time is for the search. Else, under a load that never ends, whoever comes to the
/// front of the queue would have waited for nearly all of its time, and no search would ever end.
#[derive(Clone, Copy)]
struct Time {
    /// For the search to begin.
    to_begin: Instant,
    /// For it to end.
    to_end: Instant,
}

fn answer(request: &Request, solution: Solution, source: Source) -> Result<Answer, Error> {
    let solution = within_cap(request, solution)?;
    Ok(Answer { solution, source })
}
