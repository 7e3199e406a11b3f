use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task;

/// How long a thread stays without work.
const PATIENCE: Duration = Duration::from_millis(20);

/// A thread of tokio's blocking pool that stays between pieces of work that come close together.
///
/// The pool wakes a thread while it is locked (tokio 1.54, `runtime/blocking/pool.rs`), and the
/// thread that wakes has to lock it: where both share a core they switch to and fro, and one piece
/// of work takes five calls of the system. Here it takes two.
#[derive(Default)]
pub(super) struct Standby(Arc<Seat>);

#[derive(Default)]
struct Seat(Mutex<State>);

#[derive(Default)]
struct State {
    work: Option<Box<dyn FnOnce() + Send>>,
    /// Who waits for work, or does it.
    thread: Option<Thread>,
}

impl Standby {
    /// Does a piece of work on a thread that may block. `None` where it panics, or the runtime shuts
    /// down.
    pub(super) async fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        self.bring(Box::new(move || {
            // Nobody waits for it any more where this fails.
            let _ = done.send(work());
        }));
        result.await.ok()
    }

    fn bring(&self, work: Box<dyn FnOnce() + Send>) {
        let thread = {
            let mut state = self.0.lock();
            state.work = Some(work);
            state.thread.clone()
        };
        if let Some(thread) = thread {
            thread.unpark();
        } else {
            let seat = Arc::clone(&self.0);
            task::spawn_blocking(move || seat.take());
        }
    }
}

impl Seat {
    /// Does what work comes, until none has come for a while.
    fn take(&self) {
        let mut idle_since = Instant::now();
        loop {
            let mut state = self.lock();
            if let Some(work) = state.work.take() {
                state.thread.get_or_insert_with(thread::current);
                drop(state);
                // Whoever waits for the result learns of a panic, too: there is none.
                let _ = catch_unwind(AssertUnwindSafe(work));
                idle_since = Instant::now();
            } else if idle_since.elapsed() < PATIENCE {
                drop(state);
                thread::park_timeout(PATIENCE);
            } else {
                state.thread = None;
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_costs_only_itself() {
        let mut standby = Standby::default();
        assert_eq!(standby.run(|| 1).await, Some(1));
        let panicked: Option<()> = standby.run(|| panic!("told to panic")).await;
        assert_eq!(panicked, None);
        assert_eq!(standby.run(|| 2).await, Some(2));
    }

    #[tokio::test]
    async fn a_thread_stays_for_work_that_comes_soon() {
        let mut standby = Standby::default();
        let mut stayed = 0;
        for _ in 0..100 {
            let id = standby.run(|| thread::current().id()).await;
            assert!(id.is_some_and(|id| id != thread::current().id()));
            tokio::time::sleep(PATIENCE / 20).await;
            stayed += u32::from(standby.0.lock().thread.is_some());
        }
        // On a busy machine the sleep may now and then be longer than the thread's patience.
        assert!(stayed > 10, "{stayed} of 100");
    }

    #[tokio::test]
    async fn a_thread_without_work_goes_back_to_the_pool() {
        let mut standby = Standby::default();
        assert_eq!(standby.run(|| 1).await, Some(1));
        while standby.0.lock().thread.is_some() {
            tokio::time::sleep(PATIENCE).await;
        }
        assert_eq!(standby.run(|| 2).await, Some(2));
    }
}
