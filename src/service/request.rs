use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::searcher::Searched;
use crate::puzzle::{Board, Goal};
use crate::search::{
    Explanation, GoalMisplaced, Heuristic, HeuristicKind, Misplaced, Outcome, Solution,
};

/// Limits of the service.
#[derive(Clone, Debug)]
pub struct Config {
    /// The longest solution to look for, in moves.
    pub max_depth: u32,
    /// The time limit of a search.
    pub search_timeout: Duration,
    /// The number of threads in the lanes of lookups and of batches; long searches have one fewer,
    /// but at least one.
    pub search_concurrency: usize,
    /// The number of long searches that may wait for a thread, and of lookups.
    pub search_queue: usize,
    /// The capacity of the solution cache, and of the one for patterns. 0 disables caching.
    pub cache_capacity: usize,
    /// The number of patterns whose tables are kept.
    pub goal_cache: NonZeroUsize,
}

/// A board to solve.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The board.
    pub board: Board,
    /// The goal.
    pub goal: Goal,
    /// The longest acceptable solution, in moves.
    pub max_depth: u32,
    /// How long the caller waits.
    pub timeout: Duration,
    /// The heuristic of the search, if one is needed.
    pub heuristic: HeuristicKind,
    /// Whether to search afresh, bypassing the cache, and to explain the search.
    pub explain: bool,
}

impl Request {
    /// Returns whether the search is exact, and so takes microseconds at most.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.heuristic.is_exact(self.goal)
    }

    /// Returns whether a cached solution answers this request.
    pub(super) fn is_answered_by(&self, cached: &Solution) -> bool {
        // Only the tables of a pattern know the bound that a search under the cap would prove.
        let needs_tables = matches!(
            (self.goal, self.heuristic),
            (Goal::Pattern(_), HeuristicKind::PatternDatabase)
        );
        let is_longer = cached.moves.len() > self.max_depth as usize;
        !(self.explain || needs_tables && is_longer)
    }

    /// Returns a lower bound on the length of a solution, in moves, that needs no table.
    pub(super) fn first_lower_bound(&self) -> u32 {
        match self.goal {
            Goal::Centre => Misplaced.lower_bound(self.board),
            Goal::Pattern(pattern) => GoalMisplaced::new(pattern).lower_bound(self.board),
        }
    }

    /// Returns the solution, or the error that a search under the request's depth cap would end
    /// with. So an answer never depends on who asked first.
    pub(super) fn apply_depth_cap(&self, solution: Solution) -> Result<Solution, Error> {
        let length = u32::try_from(solution.moves.len()).unwrap_or(u32::MAX);
        if length <= self.max_depth {
            return Ok(solution);
        }
        let lower_bound = if self.is_exact() {
            length
        } else {
            self.first_lower_bound().max(self.max_depth + 1)
        };
        Err(Error::DepthCapReached {
            max_depth: self.max_depth,
            lower_bound,
        })
    }
}

/// A solution and its source.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The lexicographically smallest of the shortest solutions.
    pub solution: Solution,
    /// Where it comes from.
    pub source: Source,
}

impl Answer {
    /// Answers a request with a cached solution.
    pub(super) fn cached(request: &Request, solution: Solution) -> Result<Self, Error> {
        Ok(Self {
            solution: request.apply_depth_cap(solution)?,
            source: Source::Cache,
        })
    }

    /// Answers a request with a search that has ended with a proof, or by the time limit.
    pub(super) fn searched(request: &Request, searched: Searched) -> Result<Self, Error> {
        let Searched {
            outcome,
            explanation,
            queued,
            elapsed,
        } = searched;
        match outcome {
            Outcome::Solved(solution) => Ok(Self {
                solution: request.apply_depth_cap(solution)?,
                source: Source::Search {
                    explanation,
                    queued,
                    elapsed,
                },
            }),
            Outcome::DepthCapReached { lower_bound } => Err(Error::DepthCapReached {
                max_depth: request.max_depth,
                lower_bound,
            }),
            Outcome::TimedOut { lower_bound } => Err(Error::TimedOut { lower_bound }),
            Outcome::Stopped => Err(Error::ShuttingDown),
        }
    }
}

/// Where an answer comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The cache.
    Cache,
    /// A search.
    Search {
        /// The course of the search, if the request asked for it.
        explanation: Option<Arc<Explanation>>,
        /// From the request to the start of the search.
        queued: Duration,
        /// From the first iteration to the end.
        elapsed: Duration,
    },
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Every solution is longer than the request accepts.
    #[error(
        "no solution within {max_depth} move{}; the shortest has at least {lower_bound}",
        if *max_depth == 1 { "" } else { "s" }
    )]
    DepthCapReached {
        /// The cap of the request, in moves.
        max_depth: u32,
        /// No solution is shorter, in moves.
        lower_bound: u32,
    },
    /// The time of the request ended while its search ran.
    #[error("search timed out; the shortest solution has at least {lower_bound} moves")]
    TimedOut {
        /// No solution is shorter, in moves.
        lower_bound: u32,
    },
    /// The queue is full, or the request waited too long in it.
    #[error("too many requests are queued")]
    Overloaded,
    /// The service is shutting down.
    #[error("the service is shutting down")]
    ShuttingDown,
    /// The search panicked.
    #[error("the search failed")]
    Internal,
}
