//! The queue of answers, from the task of a batch to the body of its response.

use axum::body::Body;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::answers::{Answers, Notation};
use crate::http::problem::Problem;
use crate::service;

/// The most bytes of a frame of the body, but for the last answer.
const FRAME: usize = 8 * 1024;

/// The queue of answers, from the task of a batch to the body of its response.
pub(super) struct AnswerStream {
    queue: mpsc::UnboundedReceiver<Message>,
    notation: Notation,
    /// The answers that are being rendered.
    current: Option<Unread>,
}

/// What the task says to the body.
pub(super) enum Message {
    Answers(Unread),
    Refused(Problem),
    /// The batch failed where that cannot be said any more.
    Broken(service::Error),
}

/// Answers that are not yet rendered, and the memory that they may take until then.
pub(super) struct Unread {
    answers: Answers,
    _room: OwnedSemaphorePermit,
    _count: TaskTrackerToken,
}

impl Unread {
    pub(super) fn new(
        answers: Answers,
        room: OwnedSemaphorePermit,
        count: TaskTrackerToken,
    ) -> Self {
        Self {
            answers,
            _room: room,
            _count: count,
        }
    }
}

impl AnswerStream {
    /// Opens a queue of answers in this notation.
    pub(super) fn new(notation: Notation) -> (mpsc::UnboundedSender<Message>, Self) {
        let (sender, queue) = mpsc::unbounded_channel();
        let answers = Self {
            queue,
            notation,
            current: None,
        };
        (sender, answers)
    }

    /// Waits for the first answers, or returns the problem of the whole request.
    pub(super) async fn wait_for_first(&mut self) -> Result<(), Problem> {
        match self.queue.recv().await {
            Some(Message::Answers(unread)) => self.current = Some(unread),
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
            if let Some(unread) = &mut self.current {
                // A vector that grows by doubling would keep twice as much while the frame waits.
                let mut frame = Vec::with_capacity(FRAME + FRAME / 4);
                unread.answers.render(self.notation, &mut frame, FRAME);
                frame.shrink_to_fit();
                if unread.answers.is_empty() {
                    self.current = None;
                }
                if !frame.is_empty() {
                    return Some(Ok(frame));
                }
            }
            match self.queue.recv().await? {
                Message::Answers(unread) => self.current = Some(unread),
                Message::Refused(problem) => return Some(Err(problem.detail)),
                Message::Broken(error) => return Some(Err(error.to_string())),
            }
        }
    }
}
