use std::panic::{AssertUnwindSafe, catch_unwind};

use super::flight::Origin;
use super::searcher::Searcher;
use super::{Answer, Error, Request, Service};
use crate::search::{Explanation, Limits, Outcome, Solution, explain};

impl Service {
    /// Runs a chunk of a batch on the blocking pool, in the lane of batches.
    ///
    /// Every batch has at most one chunk at a time in this lane, which is first come, first served:
    /// so batches get a chunk each in turn.
    ///
    /// # Errors
    /// [`Error::Internal`] if `work` panics.
    pub async fn run_chunk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ExactSolver<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let slot = self.0.batches.enter().await;
        self.run_blocking(slot, |searcher| work(&ExactSolver(searcher)))
            .await
    }

    /// Answers a batch line whose search may run long. It waits where a single request would be
    /// refused, and its timeout begins with its search.
    ///
    /// # Errors
    /// See [`enum@Error`]; never [`Error::Overloaded`].
    pub async fn solve_batch_line(&self, request: Request) -> Result<Answer, Error> {
        if let Some(solution) = self.cache_hit(&request) {
            return Answer::cached(&request, solution);
        }
        self.0.long.solve(&request, Origin::Batch).await
    }
}

/// Solves boards to the default goal on the calling thread, without the cache, which would take
/// longer than the search.
pub struct ExactSolver<'a>(&'a Searcher);

impl ExactSolver<'_> {
    /// Answers an [exact](Request::is_exact) request, with an explanation if it asks for one.
    ///
    /// # Errors
    /// [`Error::DepthCapReached`], or [`Error::Internal`] if the search panics.
    pub fn solve(&self, request: &Request) -> Result<(Solution, Option<Explanation>), Error> {
        let search = || {
            let database = self.0.database();
            if !request.explain {
                return (database.solve(request.board), None);
            }
            match explain(request.board, database, Limits::NONE) {
                (Outcome::Solved(solution), explanation) => (solution, Some(explanation)),
                (outcome, _) => {
                    unreachable!("every legal board is solved without limits, found {outcome:?}")
                }
            }
        };
        let (solution, explanation) =
            catch_unwind(AssertUnwindSafe(search)).map_err(|_| Error::Internal)?;
        Ok((request.apply_depth_cap(solution)?, explanation))
    }
}
