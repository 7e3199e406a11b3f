use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::Metrics;
use super::goals::Goals;
use crate::puzzle::{Board, Goal};
use crate::search::{
    GoalMisplaced, HeuristicKind, Limits, Misplaced, Observer, Outcome, PatternDatabase,
    search_observed,
};

/// Runs searches for the service, on the blocking pool. Tests substitute their own.
pub trait Engine: Send + Sync + 'static {
    /// Returns the pattern database; the first call builds it.
    fn database(&self) -> &PatternDatabase;

    /// Returns whether the pattern database is built.
    fn is_ready(&self) -> bool;

    /// Searches a board, and reports progress to `observer`.
    fn search(
        &self,
        board: Board,
        goal: Goal,
        heuristic: HeuristicKind,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome;
}

/// The engine that really searches.
pub(super) struct SearchEngine {
    database: OnceLock<PatternDatabase>,
    goals: Goals,
}

impl SearchEngine {
    pub(super) fn new(goal_cache: NonZeroUsize, metrics: Metrics) -> Self {
        Self {
            database: OnceLock::new(),
            goals: Goals::new(goal_cache, metrics),
        }
    }
}

impl Engine for SearchEngine {
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
                // The last caller may have left, and tables take a while to build.
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
