use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::cache::Cache;
use super::engine::Engine;
use super::{Config, Metrics, Request};
use crate::puzzle::{Board, Goal, Pattern};
use crate::search::{
    Explanation, HeuristicKind, Iteration, Limits, Observer, Outcome, PatternDatabase, Solution,
};

/// Runs searches on the calling thread, and caches the solutions they prove.
pub(super) struct Searcher {
    pub(super) config: Config,
    pub(super) metrics: Metrics,
    engine: Box<dyn Engine>,
    /// The default goal has a cache of its own, whose entries are small.
    cache: Cache<Board>,
    pattern_cache: Cache<(Board, Pattern)>,
}

/// One search to run.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub(super) board: Board,
    pub(super) goal: Goal,
    pub(super) heuristic: HeuristicKind,
    /// The longest solution to look for, in moves.
    pub(super) max_depth: u32,
    /// Whether to record each iteration.
    pub(super) explain: bool,
    /// When the search was asked for.
    pub(super) requested: Instant,
}

/// How a search went.
#[derive(Clone, Debug)]
pub(super) struct Searched {
    pub(super) outcome: Outcome,
    /// The recorded iterations, if they were asked for.
    pub(super) explanation: Option<Arc<Explanation>>,
    /// From the request to the start of the search.
    pub(super) queued: Duration,
    /// From the first iteration to the end.
    pub(super) elapsed: Duration,
}

impl Searcher {
    pub(super) fn new(config: Config, engine: impl Engine, metrics: Metrics) -> Self {
        Self {
            engine: Box::new(engine),
            cache: Cache::new(config.cache_capacity),
            pattern_cache: Cache::new(config.cache_capacity),
            metrics,
            config,
        }
    }

    /// Returns the pattern database; the first call builds it.
    pub(super) fn database(&self) -> &PatternDatabase {
        self.engine.database()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.engine.is_ready()
    }

    /// Returns the cached solution if it answers this request.
    pub(super) fn cache_get(&self, request: &Request) -> Option<Solution> {
        let cached = match request.goal {
            Goal::Centre => self.cache.get(request.board),
            Goal::Pattern(pattern) => self.pattern_cache.get((request.board, pattern)),
        };
        cached.filter(|solution| request.is_answered_by(solution))
    }

    fn cache_put(&self, board: Board, goal: Goal, solution: Solution) {
        match goal {
            Goal::Centre => self.cache.put(board, solution, &self.metrics),
            Goal::Pattern(pattern) => {
                self.pattern_cache
                    .put((board, pattern), solution, &self.metrics);
            }
        }
    }

    /// Searches until the end, the service's time limit, or `stop`. Reports each proven lower bound,
    /// in moves, to `on_bound`.
    pub(super) fn run(
        &self,
        search: Search,
        stop: &AtomicBool,
        on_bound: impl FnMut(u32),
    ) -> Searched {
        let started = Instant::now();
        let limits = Limits {
            max_depth: search.max_depth,
            deadline: started.checked_add(self.config.search_timeout),
            stop,
        };
        let mut observer = SearchObserver {
            on_bound,
            began: None,
            nodes: 0,
            iterations: search.explain.then(Vec::new),
        };
        let outcome = self.engine.search(
            search.board,
            search.goal,
            search.heuristic,
            limits,
            &mut observer,
        );
        let elapsed = observer.began.unwrap_or(started).elapsed();
        let heuristic = search.heuristic;
        self.metrics.observe_search(
            heuristic,
            search.goal,
            observer.nodes,
            elapsed.as_secs_f64(),
        );
        tracing::debug!(
            heuristic = heuristic.name(),
            nodes = observer.nodes,
            ?elapsed,
            ?outcome,
            "search finished"
        );
        if let Outcome::Solved(solution) = outcome {
            self.cache_put(search.board, search.goal, solution);
        }
        let explanation = |iterations| Explanation::new(heuristic.name(), iterations, elapsed);
        Searched {
            outcome,
            explanation: observer.iterations.map(explanation).map(Arc::new),
            queued: started.saturating_duration_since(search.requested),
            elapsed,
        }
    }
}

/// Counts nodes, reports bounds, and records the iterations where they are asked for.
struct SearchObserver<F> {
    on_bound: F,
    /// When the first iteration began. Before it, tables may have to be built.
    began: Option<Instant>,
    nodes: u64,
    iterations: Option<Vec<Iteration>>,
}

impl<F: FnMut(u32)> Observer for SearchObserver<F> {
    fn begins(&mut self, bound: u32) {
        self.began.get_or_insert_with(Instant::now);
        (self.on_bound)(bound);
    }

    fn ends(&mut self, iteration: Iteration) {
        self.nodes += iteration.nodes;
        if let Some(iterations) = &mut self.iterations {
            iterations.push(iteration);
        }
    }
}
