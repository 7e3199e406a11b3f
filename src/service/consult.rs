//! Work with the pattern database that is no search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::task;
use tokio::time::{sleep, timeout};
use tracing::Span;

use super::admission::{Lane, Permit};
use super::{Answer, Error, Request, Service};
use crate::search::PatternDatabase;

/// After how long a request of a batch that found no place tries again.
const NEXT_TURN: Duration = Duration::from_millis(20);

impl Service {
    /// Does something short with the pattern database, under the permit of an exact search.
    ///
    /// # Errors
    /// [`Error::Overloaded`], [`Error::ShuttingDown`], or [`Error::Internal`] where it panics.
    pub async fn consult<T: Send + 'static>(
        &self,
        question: impl FnOnce(&PatternDatabase) -> T + Send + 'static,
    ) -> Result<T, Error> {
        if self.0.flights.are_closed() {
            return Err(Error::ShuttingDown);
        }
        let admission = &self.0.admission;
        let permit = if let Some(permit) = admission.try_enter(Lane::Exact) {
            permit
        } else if let Some(ticket) = admission.queue(Lane::Exact) {
            timeout(self.config().search_timeout, admission.enter(ticket))
                .await
                .map_err(|_| Error::Overloaded)?
        } else {
            self.0.metrics.searches_rejected.inc();
            return Err(Error::Overloaded);
        };
        self.ask(permit, question).await
    }

    /// Answers a request of a batch: one that finds no place to wait tries again, since a batch is
    /// slowed down rather than refused.
    ///
    /// # Errors
    /// See [`enum@Error`]; not [`Error::Overloaded`].
    pub async fn solve_in_turn(&self, request: Request) -> Result<Answer, Error> {
        loop {
            match self.solve(request).await {
                Err(Error::Overloaded) => sleep(NEXT_TURN).await,
                answer => return answer,
            }
        }
    }

    /// Does a piece of a batch with the pattern database, on a place for batches. When this future
    /// is dropped, the flag that `work` is given is set.
    ///
    /// # Errors
    /// [`Error::Internal`] where it panics.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&PatternDatabase, &AtomicBool) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.0.admission.enter_batch().await;
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        self.ask(permit, move |database| work(database, &flag))
            .await
    }

    /// Puts a question to the pattern database on a thread that may block.
    async fn ask<T: Send + 'static>(
        &self,
        permit: Permit,
        question: impl FnOnce(&PatternDatabase) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (service, span) = (self.clone(), Span::current());
        let answer = task::spawn_blocking(move || {
            let _entered = span.enter();
            let _permit = permit;
            question(service.0.engine.database())
        });
        answer.await.map_err(|_| Error::Internal)
    }
}

/// Sets a flag when it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
