use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::puzzle::{Board, Goal};
use crate::search::{Explanation, GoalMisplaced, Heuristic, HeuristicKind, Misplaced, Solution};

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
    /// How many solutions are kept for the usual goal, and how many for patterns; 0 for none.
    pub cache_capacity: usize,
    /// For how many patterns the tables are kept.
    pub goal_cache: NonZeroUsize,
}

/// What a caller asks.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The board.
    pub board: Board,
    /// What counts as solved.
    pub goal: Goal,
    /// The longest solution that is wanted, in moves.
    pub max_depth: u32,
    /// How long the caller waits.
    pub timeout: Duration,
    /// What guides the search, if one is needed.
    pub heuristic: HeuristicKind,
    /// Search afresh, whatever is known, and tell how.
    pub explain: bool,
}

impl Request {
    /// Whether a search takes microseconds.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.heuristic.is_exact(self.goal)
    }

    /// Whether the caller can be told a solution that is known.
    pub(super) fn is_answered_by(&self, known: &Solution) -> bool {
        // What a search under the cap would have proven, only the goal's tables tell.
        let needs_tables = matches!(
            (self.goal, self.heuristic),
            (Goal::Pattern(_), HeuristicKind::PatternDatabase)
        );
        let is_longer = known.moves.len() > self.max_depth as usize;
        !(self.explain || needs_tables && is_longer)
    }

    /// A lower bound on the length of a solution, in moves, that needs no table.
    pub(super) fn first_lower_bound(&self) -> u32 {
        match self.goal {
            Goal::Centre => Misplaced.lower_bound(self.board),
            Goal::Pattern(pattern) => GoalMisplaced::new(pattern).lower_bound(self.board),
        }
    }
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
        /// What the search took, for the caller who has asked for that.
        explanation: Option<Arc<Explanation>>,
        /// How long the search waited to run.
        queued: Duration,
        /// How long it ran.
        elapsed: Duration,
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
    let lower_bound = if request.is_exact() {
        length
    } else {
        // A search under the cap would have got no further.
        request.first_lower_bound().max(request.max_depth + 1)
    };
    Err(Error::DepthCapReached {
        max_depth: request.max_depth,
        lower_bound,
    })
}
