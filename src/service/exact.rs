use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tokio::task;
use tracing::Span;

use super::searcher::{Search, Searched, Searcher};
use super::{Error, Request};
use crate::gauge_guard::GaugeGuard;

/// The lane of exact searches.
///
/// An exact search takes a quarter of a microsecond, far less than the way to a thread and back. So
/// a dispatcher takes all that wait at once to one worker on the blocking pool. They are never
/// refused: all that can wait, one for each request, are solved in less than a millisecond.
pub(super) struct ExactLane(mpsc::UnboundedSender<Job>);

/// One exact search and its caller.
struct Job {
    search: Search,
    span: Span,
    reply: oneshot::Sender<Result<Searched, Error>>,
}

impl ExactLane {
    /// Starts the dispatcher, which ends when the lane is dropped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(super) fn start(searcher: Arc<Searcher>) -> Self {
        let (sender, jobs) = mpsc::unbounded_channel();
        task::spawn(dispatch(jobs, searcher));
        Self(sender)
    }

    /// Searches under the server's depth cap: an exact search is as fast under any cap.
    pub(super) async fn search(
        &self,
        request: &Request,
        max_depth: u32,
    ) -> Result<Searched, Error> {
        let (reply, result) = oneshot::channel();
        let search = Search {
            board: request.board,
            goal: request.goal,
            heuristic: request.heuristic,
            max_depth,
            explain: request.explain,
            requested: Instant::now(),
        };
        let span = Span::current();
        // Either fails only when the runtime shuts down.
        self.0
            .send(Job {
                search,
                span,
                reply,
            })
            .map_err(|_| Error::ShuttingDown)?;
        result.await.unwrap_or(Err(Error::ShuttingDown))
    }
}

/// Takes all waiting jobs to the worker, and replies to their callers.
///
/// It replies from here, since waking a caller from a thread outside the runtime takes longer than
/// a search.
async fn dispatch(mut jobs: mpsc::UnboundedReceiver<Job>, searcher: Arc<Searcher>) {
    let (batches, incoming) = mpsc::channel(1);
    let (outgoing, mut solved) = mpsc::channel(1);
    task::spawn_blocking(move || work(incoming, &outgoing, &searcher));
    let mut batch = Vec::new();
    while jobs.recv_many(&mut batch, usize::MAX).await > 0 {
        // Callers that are about to ask join this batch.
        task::yield_now().await;
        while let Ok(job) = jobs.try_recv() {
            batch.push(job);
        }
        if batches.send(mem::take(&mut batch)).await.is_err() {
            return;
        }
        for (reply, result) in solved.recv().await.unwrap_or_default() {
            // The caller may have left.
            let _ = reply.send(result);
        }
    }
}

type Reply = (
    oneshot::Sender<Result<Searched, Error>>,
    Result<Searched, Error>,
);

/// Solves batches on the calling thread until the dispatcher ends.
fn work(
    mut incoming: mpsc::Receiver<Vec<Job>>,
    outgoing: &mpsc::Sender<Vec<Reply>>,
    searcher: &Searcher,
) {
    while let Some(batch) = incoming.blocking_recv() {
        let running = GaugeGuard::new(&searcher.metrics.searches_running);
        let solved = batch.into_iter().map(|job| job.run(searcher)).collect();
        drop(running);
        if outgoing.blocking_send(solved).is_err() {
            return;
        }
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Job {
    /// Searches; a panic costs this caller only.
    fn run(self, searcher: &Searcher) -> Reply {
        let _entered = self.span.enter();
        let search = || searcher.run(self.search, &NEVER, |_| ());
        let result = catch_unwind(AssertUnwindSafe(search)).map_err(|_| Error::Internal);
        (self.reply, result)
    }
}
