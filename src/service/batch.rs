use std::panic::{AssertUnwindSafe, catch_unwind};

use super::flight::Origin;
use super::lane::Slot;
use super::searcher::Searcher;
use super::{Answer, Error, Request, Service};
use crate::search::{Explanation, Limits, Outcome, Solution, explain};

/// Permission to run a chunk of a batch.
pub struct BatchSlot(Slot);

impl Service {
    /// Waits for a slot in the lane of batches, first come, first served. A batch that waits for one
    /// slot at a time shares the lane fairly with others: they get a chunk each in turn.
    ///
    /// Use the slot at once: while it is held, it keeps a thread from other batches.
    pub async fn batch_slot(&self) -> BatchSlot {
        BatchSlot(self.0.batches.enter().await)
    }

    /// Runs a chunk of a batch on the blocking pool.
    ///
    /// # Errors
    /// [`Error::Internal`] if `work` panics.
    pub async fn run_chunk<T: Send + 'static>(
        &self,
        slot: BatchSlot,
        work: impl FnOnce(&ExactSolver<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.run_blocking(slot.0, |searcher| work(&ExactSolver(searcher)))
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
