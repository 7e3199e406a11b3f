use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::goals::Goals;
use super::{Config, Metrics};
use crate::puzzle::{Board, Goal};
use crate::search::{
    GoalMisplaced, HeuristicKind, Limits, Misplaced, Observer, Outcome, PatternDatabase,
    search_observed,
};

/// What searches for the service, on threads that may block. Tests put their own in its place.
pub trait Engine: Send + Sync + 'static {
    /// The pattern database, which the first who asks builds.
    fn database(&self) -> &PatternDatabase;

    /// Whether the pattern database is built.
    fn is_ready(&self) -> bool;

    /// Searches a board, and tells how it goes.
    fn search(
        &self,
        board: Board,
        goal: Goal,
        heuristic: HeuristicKind,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome;
}

/// The real searches.
pub(super) struct Solvers {
    database: OnceLock<PatternDatabase>,
    goals: Goals,
}

impl Solvers {
    pub(super) fn new(config: &Config, metrics: Metrics) -> Self {
        Self {
            database: OnceLock::new(),
            goals: Goals::new(config.goal_cache, metrics),
        }
    }
}

impl Engine for Solvers {
    fn database(&self) -> &PatternDatabase {
        self.database.get_or_init(PatternDatabase::build)
    }

    fn is_ready(&self) -> bool {
        self.database.get().is_some()
    }

    fn search(
        &self,
        board: Board,
        goal: Goal,
        heuristic: HeuristicKind,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome {
        match (goal, heuristic) {
            (Goal::Centre, HeuristicKind::PatternDatabase) => {
                search_observed(board, self.database(), limits, observer)
            }
            (Goal::Centre, HeuristicKind::Misplaced) => {
                search_observed(board, &Misplaced, limits, observer)
            }
            (Goal::Pattern(pattern), HeuristicKind::PatternDatabase) => {
                // Nobody may be waiting any more.
                if limits.stop.load(Relaxed) {
                    return Outcome::Stopped;
                }
                self.goals.with(pattern, |database| {
                    search_observed(board, database, limits, observer)
                })
            }
            (Goal::Pattern(pattern), HeuristicKind::Misplaced) => {
                search_observed(board, &GoalMisplaced::new(pattern), limits, observer)
            }
        }
    }
}
