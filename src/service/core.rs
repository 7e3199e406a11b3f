use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

use tokio::task;
use tokio::time::timeout;
use tracing::Span;

use super::engine::{Engine, SearchEngine};
use super::exact::ExactLane;
use super::flight::Origin;
use super::lane::{Lane, Slot};
use super::long::LongLane;
use super::searcher::Searcher;
use super::{Answer, Config, Error, Metrics, Request};
use crate::search::{PatternDatabase, Solution};

/// The solver as a service. Cheap to clone: clones share everything.
#[derive(Clone)]
pub struct Service(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) searcher: Arc<Searcher>,
    phase: AtomicU8,
    exact: ExactLane,
    pub(super) long: Arc<LongLane>,
    lookups: Lane,
    pub(super) batches: Lane,
}

/// The phases of a service, in order.
const SERVING: u8 = 0;
const DRAINING: u8 = 1;
const STOPPED: u8 = 2;

impl Service {
    /// Starts a service.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let metrics = Metrics::default();
        let engine = SearchEngine::new(config.goal_cache, metrics.clone());
        Self::with_parts(config, engine, metrics)
    }

    /// Starts a service that searches by `engine`.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn with_engine(config: Config, engine: impl Engine) -> Self {
        Self::with_parts(config, engine, Metrics::default())
    }

    fn with_parts(config: Config, engine: impl Engine, metrics: Metrics) -> Self {
        let slots = config.search_concurrency;
        let lookups = Lane::new(slots, config.search_queue, metrics.clone());
        let batches = Lane::new(slots, 0, metrics.clone());
        let searcher = Arc::new(Searcher::new(config, engine, metrics));
        Self(Arc::new(Inner {
            phase: AtomicU8::new(SERVING),
            exact: ExactLane::start(Arc::clone(&searcher)),
            long: Arc::new(LongLane::new(Arc::clone(&searcher))),
            lookups,
            batches,
            searcher,
        }))
    }

    /// Builds what searches need, on the blocking pool.
    pub async fn prepare(&self) {
        let service = self.clone();
        let built = task::spawn_blocking(move || {
            service.0.searcher.database();
        });
        if let Err(error) = built.await {
            tracing::error!(%error, "cannot build the pattern database");
        }
    }

    /// Returns whether the service welcomes requests: everything is built, and it is not draining.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.searcher.is_ready() && !self.is_draining()
    }

    /// Returns whether [`Service::drain`] was called.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.phase.load(SeqCst) >= DRAINING
    }

    /// Makes [`Service::is_ready`] false. Requests are still answered.
    pub fn drain(&self) {
        self.0.phase.fetch_max(DRAINING, SeqCst);
    }

    /// Stops all searches. Their callers, and those of all later searches, get
    /// [`Error::ShuttingDown`].
    pub fn stop(&self) {
        self.0.phase.store(STOPPED, SeqCst);
        self.0.long.close();
    }

    /// Returns the limits of the service.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.searcher.config
    }

    /// Returns the metrics of the service.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.0.searcher.metrics
    }

    /// Answers a request: from the cache, or by an exact search, or by a long search that is shared
    /// with equal requests. A long search stops when the futures of all its callers are dropped.
    ///
    /// # Errors
    /// See [`enum@Error`].
    pub async fn solve(&self, request: Request) -> Result<Answer, Error> {
        if let Some(solution) = self.cache_hit(&request) {
            return Answer::cached(&request, solution);
        }
        if request.is_exact() {
            return self.solve_exact(&request).await;
        }
        let answer = self.0.long.solve(&request, Origin::Single).await;
        if matches!(answer, Err(Error::Overloaded)) {
            self.metrics().searches_rejected.inc();
        }
        answer
    }

    async fn solve_exact(&self, request: &Request) -> Result<Answer, Error> {
        self.check_is_running()?;
        if !request.explain {
            self.metrics().cache_misses.inc();
        }
        let search = self.0.exact.search(request, self.config().max_depth);
        let Ok(searched) = timeout(request.timeout, search).await else {
            self.metrics().searches_timed_out.inc();
            return Err(Error::TimedOut {
                lower_bound: request.first_lower_bound(),
            });
        };
        Answer::searched(request, searched?)
    }

    /// Returns the cached solution if it answers this request, and counts the hit.
    pub(super) fn cache_hit(&self, request: &Request) -> Option<Solution> {
        let solution = self.0.searcher.cache_get(request)?;
        self.metrics().cache_hits.inc();
        Some(solution)
    }

    /// Runs a short question to the pattern database on the blocking pool, in the lane of lookups.
    ///
    /// # Errors
    /// [`Error::Overloaded`], [`Error::ShuttingDown`], or [`Error::Internal`] if `question` panics.
    pub async fn lookup<T: Send + 'static>(
        &self,
        question: impl FnOnce(&PatternDatabase) -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.check_is_running()?;
        let lane = &self.0.lookups;
        let slot = if let Some(slot) = lane.try_enter() {
            Some(slot)
        } else if let Some(queue_slot) = lane.try_queue() {
            let entering = async move {
                let _queue_slot = queue_slot;
                lane.enter().await
            };
            timeout(self.config().search_timeout, entering).await.ok()
        } else {
            None
        };
        let Some(slot) = slot else {
            self.metrics().searches_rejected.inc();
            return Err(Error::Overloaded);
        };
        self.run_blocking(slot, |searcher| question(searcher.database()))
            .await
    }

    fn check_is_running(&self) -> Result<(), Error> {
        if self.0.phase.load(SeqCst) == STOPPED {
            return Err(Error::ShuttingDown);
        }
        Ok(())
    }

    /// Runs work on the blocking pool, on a thread of this slot.
    pub(super) async fn run_blocking<T: Send + 'static>(
        &self,
        slot: Slot,
        work: impl FnOnce(&Searcher) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (searcher, span) = (Arc::clone(&self.0.searcher), Span::current());
        let result = task::spawn_blocking(move || {
            let _entered = span.enter();
            let _slot = slot;
            work(&searcher)
        });
        result.await.map_err(|_| Error::Internal)
    }
}
