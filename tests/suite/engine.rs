//! A stand-in for the searches, which does as a test tells it.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rotation_game::puzzle::Goal;
use rotation_game::search::{
    GoalMisplaced, HeuristicKind, Limits, Misplaced, Observer, Outcome, PatternDatabase,
    search_observed,
};
use rotation_game::service::{Config, Engine, Service};
use rotation_game::{Board, Move};

static DATABASE: LazyLock<PatternDatabase> = LazyLock::new(PatternDatabase::build);

/// Searches with `misplaced` wait until they are released, stopped or out of time; exact ones are
/// answered at once. Cheap to clone: clones are the same engine.
#[derive(Clone, Default)]
pub(crate) struct FakeEngine(Arc<Switches>);

#[derive(Default)]
struct Switches {
    released: AtomicBool,
    stubborn: AtomicBool,
    panicking: AtomicBool,
    fatal: OnceLock<Board>,
    searches: AtomicUsize,
    stopped: AtomicUsize,
}

impl FakeEngine {
    /// Lets all searches go on.
    pub(crate) fn release(&self) {
        self.0.released.store(true, SeqCst);
    }

    /// From now on searches pass over being stopped, and only end when they are released.
    pub(crate) fn be_stubborn(&self) {
        self.0.stubborn.store(true, SeqCst);
    }

    /// Whether searches panic, and the question whether the engine is ready.
    pub(crate) fn panic(&self, panicking: bool) {
        self.0.panicking.store(panicking, SeqCst);
    }

    /// From now on the search of this board panics.
    pub(crate) fn panic_on(&self, board: Board) {
        self.0.fatal.set(board).unwrap();
    }

    /// How many searches have begun.
    pub(crate) fn searches(&self) -> usize {
        self.0.searches.load(SeqCst)
    }

    /// How many searches have been stopped.
    pub(crate) fn stopped(&self) -> usize {
        self.0.stopped.load(SeqCst)
    }
}

impl Engine for FakeEngine {
    fn database(&self) -> &PatternDatabase {
        assert!(!self.0.panicking.load(SeqCst), "told to panic");
        &DATABASE
    }

    fn is_ready(&self) -> bool {
        assert!(!self.0.panicking.load(SeqCst), "told to panic");
        true
    }

    fn search(
        &self,
        board: Board,
        goal: Goal,
        heuristic: HeuristicKind,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome {
        self.0.searches.fetch_add(1, SeqCst);
        assert!(!self.0.panicking.load(SeqCst), "told to panic");
        assert_ne!(self.0.fatal.get(), Some(&board), "told to panic");
        if heuristic.is_exact(goal) {
            return search_observed(board, &*DATABASE, limits, observer);
        }
        observer.begins(4);
        let started = Instant::now();
        while !self.0.released.load(SeqCst) {
            if !self.0.stubborn.load(SeqCst) {
                if limits.stop.load(SeqCst) {
                    self.0.stopped.fetch_add(1, SeqCst);
                    return Outcome::Stopped;
                }
                if limits
                    .deadline
                    .is_some_and(|deadline| Instant::now() >= deadline)
                {
                    return Outcome::TimedOut { lower_bound: 4 };
                }
            }
            // A test that fails does not hang.
            assert!(started.elapsed() < Duration::from_mins(1), "never released");
            thread::sleep(Duration::from_millis(1));
        }
        match goal {
            Goal::Centre => search_observed(board, &Misplaced, limits, observer),
            Goal::Pattern(pattern) => {
                search_observed(board, &GoalMisplaced::new(pattern), limits, observer)
            }
        }
    }
}

pub(crate) const CONFIG: Config = Config {
    max_depth: 32,
    search_timeout: Duration::from_mins(1),
    search_concurrency: 2,
    search_queue: 8,
    cache_capacity: 100,
    goal_cache: NonZeroUsize::new(2).unwrap(),
};

pub(crate) fn service(config: Config) -> (Service, FakeEngine) {
    LazyLock::force(&DATABASE);
    let engine = FakeEngine::default();
    (Service::with_engine(config, engine.clone()), engine)
}

/// Different boards, each a few moves from being solved.
pub(crate) fn boards() -> impl Iterator<Item = Board> {
    let first: Board = "111132323132231222312133".parse().unwrap();
    Move::ALL
        .into_iter()
        .flat_map(move |a| Move::ALL.map(|b| first.after(a).after(b)))
        .filter(move |&board| board != first)
}

/// Waits until something is so, and fails if it does not become so in half a minute.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(30), "never: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
