use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream::{self, FuturesOrdered, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument;

use super::answers::{Answers, Notation};
use super::input::{Arrival, Input};
use crate::http::AppState;
use crate::http::problem::{Code, Problem};
use crate::service::{self, Answer, ExactSolver, Request, Service};

/// What a chunk of answers counts against the memory of batches beyond its size.
const CHUNK_OVERHEAD: usize = 128;
/// What a chunk of answers reserves until its size is known: the most that it takes.
const CHUNK_RESERVE: usize = 16 * 1024;
/// The most bytes of a frame of the body, but for the last answer.
const FRAME: usize = 16 * 1024;

/// A notation of boards and answers.
pub(super) trait Format: Send + Sync + 'static {
    const NOTATION: Notation;

    /// Answers boards of the input until all of it is used up, or `answers` is full, or searches
    /// that may run long are next.
    fn answer(
        &mut self,
        input: &mut Portion,
        solver: &ExactSolver<'_>,
        answers: &mut Answers,
    ) -> Step;

    /// Writes the answer of a search that may run long.
    fn search_answer(&self, search: &Search, answer: Result<Answer, Problem>) -> Answers;
}

/// A portion of the input.
pub(super) enum Portion {
    Bytes(Bytes),
    /// The input is complete.
    End,
    /// The input has failed.
    Failed(Problem),
}

/// What a batch does next.
pub(super) enum Step {
    /// Take more of the input.
    Continue,
    /// Run these searches, a few at most, before it goes on with the same input.
    Search(Vec<Search>),
    /// End: nothing more is answered.
    End,
    /// Refuse the request as a whole, since its first board is wrong.
    Refuse(Problem),
}

/// A line of the input whose search may run long.
pub(super) struct Search {
    pub(super) line: u64,
    pub(super) request: Request,
}

/// The queue of answers, from the task of a batch to the body of its response.
pub(super) struct AnswerStream {
    queue: mpsc::UnboundedReceiver<Message>,
    notation: Notation,
    /// The chunk that is being rendered.
    current: Option<Chunk>,
}

enum Message {
    Chunk(Chunk),
    Refused(Problem),
    /// The batch failed where that cannot be said any more.
    Broken(service::Error),
}

/// Answers, and the memory that they may take until they are rendered.
struct Chunk {
    answers: Answers,
    _room: OwnedSemaphorePermit,
    _unread: TaskTrackerToken,
}

/// Starts the task of a batch. It ends when its answers are dropped.
pub(super) fn start<F: Format>(state: &AppState, input: Input, format: F) -> AnswerStream {
    let (sender, queue) = mpsc::unbounded_channel();
    let batch = Batch {
        service: state.0.service.clone(),
        memory: Arc::clone(&state.0.batch_memory),
        own_room: Arc::new(Semaphore::new(1)),
        input,
        patience: state.0.body_timeout,
        waited: Duration::ZERO,
        unread: TaskTracker::new(),
        queue: sender.clone(),
    };
    let task = async move {
        tokio::select! {
            () = batch.run(format) => {}
            () = sender.closed() => {}
        }
    };
    tokio::spawn(task.in_current_span());
    AnswerStream {
        queue,
        notation: F::NOTATION,
        current: None,
    }
}

struct Batch {
    service: Service,
    /// Bytes that all batches together may hold in answers.
    memory: Arc<Semaphore>,
    /// Room for one chunk, which every batch has, however much the others hold.
    own_room: Arc<Semaphore>,
    input: Input,
    /// How long to wait for the next whole line or board.
    patience: Duration,
    /// How long it has waited since the last one.
    waited: Duration,
    /// Counts chunks that are not yet rendered.
    unread: TaskTracker,
    queue: mpsc::UnboundedSender<Message>,
}

impl Batch {
    async fn run<F: Format>(mut self, mut format: F) {
        let mut input = Portion::Bytes(Bytes::new());
        loop {
            let room = self.room().await;
            if matches!(&input, Portion::Bytes(bytes) if bytes.is_empty()) {
                input = self.next_portion().await;
            }
            let chunk = self.service.run_chunk(move |solver| {
                let mut answers = Answers::default();
                let step = format.answer(&mut input, solver, &mut answers);
                answers.shrink();
                (format, input, answers, step)
            });
            let (answers, step);
            (format, input, answers, step) = match chunk.await {
                Ok(chunk) => chunk,
                Err(error) => return self.send(Message::Broken(error)),
            };
            self.service.metrics().batch_boards.inc_by(answers.solved);
            if !answers.is_empty() {
                self.waited = Duration::ZERO;
            }
            self.push(answers, room);
            match step {
                Step::Continue => {}
                Step::Search(searches) => self.search(&format, searches).await,
                Step::End => return,
                Step::Refuse(problem) => return self.send(Message::Refused(problem)),
            }
        }
    }

    /// Waits for room for a chunk of answers.
    async fn room(&self) -> OwnedSemaphorePermit {
        let own = Arc::clone(&self.own_room).acquire_owned();
        let reserve = u32::try_from(CHUNK_RESERVE).unwrap_or(u32::MAX);
        let shared = Arc::clone(&self.memory).acquire_many_owned(reserve);
        let room = tokio::select! {
            biased;
            room = own => room,
            room = shared => room,
        };
        room.expect("no semaphore of a batch is ever closed")
    }

    /// Waits for more input. While the client has answers to read, it need not send any.
    async fn next_portion(&mut self) -> Portion {
        loop {
            let started = Instant::now();
            let arrival = tokio::select! {
                biased;
                arrival = self.input.next() => Some(arrival),
                () = sleep(self.patience.saturating_sub(self.waited)) => None,
            };
            self.waited += started.elapsed();
            match arrival {
                Some(Arrival::Bytes(bytes)) if bytes.is_empty() => {}
                Some(Arrival::Bytes(bytes)) => return Portion::Bytes(bytes),
                Some(Arrival::End) => return Portion::End,
                Some(Arrival::Break) => return Portion::Failed(broken()),
                None if self.unread.is_empty() => return Portion::Failed(stalled(self.patience)),
                None => self.waited = Duration::ZERO,
            }
        }
    }

    /// Runs searches that may run long at the same time, and answers them in order.
    async fn search(&mut self, format: &impl Format, searches: Vec<Search>) {
        let (service, is_broken) = (&self.service, &self.input.is_broken);
        let answers = searches.into_iter().map(|search| async move {
            let answer = tokio::select! {
                answer = service.solve_batch_line(search.request) => answer.map_err(Problem::from),
                () = is_broken.cancelled() => Err(broken()),
            };
            format.search_answer(&search, answer)
        });
        let mut answers: FuturesOrdered<_> = answers.collect();
        while let Some(answers) = answers.next().await {
            self.service.metrics().batch_boards.inc_by(answers.solved);
            let room = self.room().await;
            self.push(answers, room);
        }
        self.waited = Duration::ZERO;
    }

    /// Queues answers, and gives back the room that they do not need.
    fn push(&self, mut answers: Answers, mut room: OwnedSemaphorePermit) {
        if answers.is_empty() {
            return;
        }
        let needed = answers.shrink() + CHUNK_OVERHEAD;
        // The room of its own is one permit, whatever its size.
        let unused = room.num_permits().saturating_sub(needed);
        if room.num_permits() > 1 {
            drop(room.split(unused));
        }
        self.send(Message::Chunk(Chunk {
            answers,
            _room: room,
            _unread: self.unread.token(),
        }));
    }

    fn send(&self, message: Message) {
        // Where this fails, the client has left, and the task is about to end.
        let _ = self.queue.send(message);
    }
}

impl AnswerStream {
    /// Waits for the first answers, or returns the problem of the whole request.
    pub(super) async fn wait_for_first(&mut self) -> Result<(), Problem> {
        match self.queue.recv().await {
            Some(Message::Chunk(chunk)) => self.current = Some(chunk),
            Some(Message::Refused(problem)) => return Err(problem),
            Some(Message::Broken(error)) => return Err(error.into()),
            None => {}
        }
        Ok(())
    }

    /// Returns the body that renders answers when the client takes them.
    pub(super) fn into_body(self) -> Body {
        Body::from_stream(stream::unfold(self, |mut answers| async move {
            let frame = answers.next_frame().await?;
            Some((frame, answers))
        }))
    }

    async fn next_frame(&mut self) -> Option<Result<Vec<u8>, String>> {
        loop {
            if let Some(chunk) = &mut self.current {
                let mut frame = Vec::new();
                chunk.answers.render(self.notation, &mut frame, FRAME);
                if chunk.answers.is_empty() {
                    self.current = None;
                }
                if !frame.is_empty() {
                    return Some(Ok(frame));
                }
            }
            match self.queue.recv().await? {
                Message::Chunk(chunk) => self.current = Some(chunk),
                Message::Refused(problem) => return Some(Err(problem.detail)),
                Message::Broken(error) => return Some(Err(error.to_string())),
            }
        }
    }
}

fn stalled(patience: Duration) -> Problem {
    let patience = humantime::format_duration(patience);
    Problem::new(
        Code::RequestTimeout,
        format!("nothing more arrived for {patience}"),
    )
}

fn broken() -> Problem {
    Problem::new(Code::InvalidRequest, "the input broke off before its end")
}
