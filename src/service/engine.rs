use std::sync::OnceLock;

use crate::puzzle::Board;
use crate::search::{
    HeuristicKind, Limits, Misplaced, Observer, Outcome, PatternDatabase, search_observed,
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
        heuristic: HeuristicKind,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome;
}

/// The real searches.
#[derive(Default)]
pub struct Solvers {
    database: OnceLock<PatternDatabase>,
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
        heuristic: HeuristicKind,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome {
        match heuristic {
            HeuristicKind::PatternDatabase => {
                search_observed(board, self.database(), limits, observer)
            }
            HeuristicKind::Misplaced => search_observed(board, &Misplaced, limits, observer),
        }
    }
}
