use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{FuturesOrdered, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::answers::{Answers, Notation};
use super::input::{Arrival, Input};
use super::queue::{AnswerStream, Message, Unread};
use crate::http::AppState;
use crate::http::problem::{Code, Problem};
use crate::service::{self, Answer, BatchSlot, ExactSolver, Request, Service};

/// How many chunks of a batch are answered at a time.
const CHUNKS_IN_FLIGHT: usize = 2;
/// What a chunk of answers counts against the memory of batches beyond its size.
const CHUNK_OVERHEAD: usize = 128;
/// What a chunk of answers reserves until its size is known: the most that it takes.
const CHUNK_RESERVE: usize = 10 * 1024;

/// A notation of boards and answers: how its input is cut into chunks.
pub(super) trait Format: Send + 'static {
    const NOTATION: Notation;
    type Chunk: Chunk;

    /// Cuts the next chunk off the input. Dropping the future loses no input.
    fn cut(&mut self, input: &mut Portion) -> impl Future<Output = Cut<Self::Chunk>> + Send;
}

/// A piece of the input.
pub(super) trait Chunk: Send + Sync + 'static {
    /// Answers boards until all are answered, or `answers` is full, or searches that may run long
    /// are next.
    fn answer(&mut self, solver: &ExactSolver<'_>, answers: &mut Answers) -> Step;

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

/// The result of [`Format::cut`].
pub(super) enum Cut<C> {
    Chunk(C),
    /// All of the portion was used up.
    More,
    /// Nothing more is answered.
    End,
}

/// What a batch does after a chunk was answered, perhaps in part.
pub(super) enum Step {
    /// Go on with the next chunk.
    Next,
    /// Go on with the same chunk.
    Rest,
    /// Run these searches, a few at most, before it goes on with the same chunk.
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

/// Starts the task of a batch. It ends when its answers are dropped.
pub(super) fn start<F: Format>(state: &AppState, input: Input, format: F) -> AnswerStream {
    let (sender, answers) = AnswerStream::new(F::NOTATION);
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
    answers
}

/// A chunk that was answered, perhaps in part.
struct Answered<C> {
    chunk: C,
    answers: Answers,
    step: Step,
    room: OwnedSemaphorePermit,
}

/// What a batch does next.
enum Then<C> {
    Next,
    Rest(C),
    End,
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
        let mut cut = None;
        let mut in_flight = FuturesOrdered::new();
        let mut has_ended = false;
        while !(has_ended && in_flight.is_empty()) {
            let is_idle = in_flight.is_empty();
            let may_start = !has_ended && in_flight.len() < CHUNKS_IN_FLIGHT;
            tokio::select! {
                biased;
                Some(answered) = in_flight.next() => {
                    let answered = match answered {
                        Ok(answered) => answered,
                        Err(error) => return self.send(Message::Broken(error)),
                    };
                    match self.finish(answered).await {
                        Then::Next => {}
                        Then::Rest(chunk) => {
                            let room = self.room(true).await;
                            let slot = self.service.batch_slot().await;
                            in_flight.push_front(self.answer(chunk, room, slot));
                        }
                        Then::End => return,
                    }
                }
                start = self.next_chunk(&mut format, &mut input, &mut cut, is_idle), if may_start => {
                    match (start, cut.take()) {
                        (Some((room, slot)), Some(chunk)) => {
                            in_flight.push_back(self.answer(chunk, room, slot));
                        }
                        _ => has_ended = true,
                    }
                }
            }
        }
    }

    /// Waits until a chunk is `cut` and may be answered, or returns `None` at the end of the input.
    /// Dropping the future loses no input.
    async fn next_chunk<F: Format>(
        &mut self,
        format: &mut F,
        input: &mut Portion,
        cut: &mut Option<F::Chunk>,
        is_idle: bool,
    ) -> Option<(OwnedSemaphorePermit, BatchSlot)> {
        let room = self.room(is_idle).await;
        while cut.is_none() {
            match format.cut(input).await {
                Cut::Chunk(chunk) => *cut = Some(chunk),
                Cut::More => *input = self.next_portion(is_idle).await,
                Cut::End => return None,
            }
        }
        Some((room, self.service.batch_slot().await))
    }

    /// Answers a chunk on the blocking pool.
    fn answer<C: Chunk>(
        &self,
        mut chunk: C,
        room: OwnedSemaphorePermit,
        slot: BatchSlot,
    ) -> impl Future<Output = Result<Answered<C>, service::Error>> + use<C> {
        let service = self.service.clone();
        async move {
            let work = move |solver: &ExactSolver<'_>| {
                let mut answers = Answers::default();
                let step = chunk.answer(solver, &mut answers);
                answers.shrink();
                (chunk, answers, step)
            };
            let (chunk, answers, step) = service.run_chunk(slot, work).await?;
            Ok(Answered {
                chunk,
                answers,
                step,
                room,
            })
        }
    }

    /// Queues the answers to a chunk, and decides what comes next.
    async fn finish<C: Chunk>(&mut self, answered: Answered<C>) -> Then<C> {
        let Answered {
            chunk,
            answers,
            step,
            room,
        } = answered;
        // Only a whole line or board renews the patience with the client.
        if !answers.is_empty() {
            self.waited = Duration::ZERO;
        }
        self.push(answers, room);
        match step {
            Step::Next => Then::Next,
            Step::Rest => Then::Rest(chunk),
            Step::Search(searches) => {
                self.search(&chunk, searches).await;
                Then::Rest(chunk)
            }
            Step::End => Then::End,
            Step::Refuse(problem) => {
                self.send(Message::Refused(problem));
                Then::End
            }
        }
    }

    /// Waits for room for the answers to a chunk. The room of its own is for the chunk that is
    /// answered next, so no chunk that comes after can keep it.
    async fn room(&self, is_next: bool) -> OwnedSemaphorePermit {
        let own = Arc::clone(&self.own_room).acquire_owned();
        let reserve = u32::try_from(CHUNK_RESERVE).unwrap_or(u32::MAX);
        let shared = Arc::clone(&self.memory).acquire_many_owned(reserve);
        let room = tokio::select! {
            biased;
            room = own, if is_next => room,
            room = shared => room,
        };
        room.expect("no semaphore of a batch is ever closed")
    }

    /// Waits for more input. While the client waits for answers, or has some to read, it need not
    /// send any.
    async fn next_portion(&mut self, is_idle: bool) -> Portion {
        loop {
            let started = Instant::now();
            let arrival = tokio::select! {
                biased;
                arrival = self.input.next() => Some(arrival),
                () = sleep(self.patience.saturating_sub(self.waited)) => None,
            };
            self.waited += started.elapsed();
            match arrival {
                Some(Arrival::Bytes(bytes)) => return Portion::Bytes(bytes),
                Some(Arrival::End) => return Portion::End,
                Some(Arrival::Break) => return Portion::Failed(broken()),
                None if is_idle && self.unread.is_empty() => {
                    return Portion::Failed(stalled(self.patience));
                }
                None => self.waited = Duration::ZERO,
            }
        }
    }

    /// Runs searches that may run long at the same time, and answers them in order.
    async fn search(&mut self, chunk: &impl Chunk, searches: Vec<Search>) {
        let (service, is_broken) = (&self.service, &self.input.is_broken);
        let answers = searches.into_iter().map(|search| async move {
            let answer = tokio::select! {
                answer = service.solve_batch_line(search.request) => answer.map_err(Problem::from),
                () = is_broken.cancelled() => Err(broken()),
            };
            chunk.search_answer(&search, answer)
        });
        let mut answers: FuturesOrdered<_> = answers.collect();
        while let Some(answers) = answers.next().await {
            let room = self.room(true).await;
            self.push(answers, room);
        }
        self.waited = Duration::ZERO;
    }

    /// Queues answers, and gives back the room that they do not need.
    fn push(&self, mut answers: Answers, mut room: OwnedSemaphorePermit) {
        self.service.metrics().batch_boards.inc_by(answers.solved);
        if answers.is_empty() {
            return;
        }
        let needed = answers.shrink() + CHUNK_OVERHEAD;
        // The room of its own is one permit, whatever its size.
        let unused = room.num_permits().saturating_sub(needed);
        if room.num_permits() > 1 {
            drop(room.split(unused));
        }
        let unread = Unread::new(answers, room, self.unread.token());
        self.send(Message::Answers(unread));
    }

    fn send(&self, message: Message) {
        // Where this fails, the client has left, and the task is about to end.
        let _ = self.queue.send(message);
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
