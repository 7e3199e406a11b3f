//! The judge format in and out.

use std::sync::Arc;
use std::{mem, vec};

use axum::body::Bytes;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::answers::{Answers, Notation};
use super::task::{Chunk, Cut, Format, Portion, Search, Step};
use crate::http::problem::Problem;
use crate::puzzle::judge::{InputError, Position, Reader};
use crate::puzzle::{Board, Goal};
use crate::search::HeuristicKind;
use crate::service::{self, Answer, ExactSolver, Service};

/// Two lines for each board. An error ends the answers, in a last line.
pub(super) struct JudgeText {
    service: Service,
    progress: Arc<Mutex<Progress>>,
}

/// How far the input was read. A chunk is read when the one before it was, while that one may still
/// be answered.
#[derive(Default)]
struct Progress {
    reader: Reader,
    has_boards: bool,
    has_ended: bool,
}

/// A piece of the input.
pub(super) struct TextChunk {
    service: Service,
    text: Portion,
    /// `None` when the text was read.
    progress: Option<OwnedMutexGuard<Progress>>,
    boards: vec::IntoIter<(Board, Position)>,
    /// Why the input ends after these boards, if it does so with an error.
    failure: Option<Problem>,
    /// Whether no board was answered yet.
    is_first: bool,
    is_last: bool,
}

impl JudgeText {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            service: service.clone(),
            progress: Arc::default(),
        }
    }
}

impl Format for JudgeText {
    const NOTATION: Notation = Notation::Judge;
    type Chunk = TextChunk;

    async fn cut(&mut self, input: &mut Portion) -> Cut<TextChunk> {
        if matches!(input, Portion::Bytes(bytes) if bytes.is_empty()) {
            return Cut::More;
        }
        let progress = Arc::clone(&self.progress).lock_owned().await;
        if progress.has_ended {
            return Cut::End;
        }
        Cut::Chunk(TextChunk {
            service: self.service.clone(),
            text: match input {
                Portion::Bytes(bytes) => Portion::Bytes(mem::take(bytes)),
                Portion::End => Portion::End,
                Portion::Failed(problem) => Portion::Failed(problem.clone()),
            },
            is_first: !progress.has_boards,
            progress: Some(progress),
            boards: Vec::new().into_iter(),
            failure: None,
            is_last: false,
        })
    }
}

impl TextChunk {
    /// Reads the boards of the text.
    fn read(&mut self, progress: &mut Progress) {
        let reader = &mut progress.reader;
        let mut boards = Vec::new();
        let read = match mem::replace(&mut self.text, Portion::Bytes(Bytes::new())) {
            Portion::Bytes(bytes) => {
                let mut text = &bytes[..];
                read_all(reader, &mut boards, |reader| reader.next(&mut text))
            }
            Portion::End => {
                self.is_last = true;
                read_all(reader, &mut boards, Reader::finish)
            }
            Portion::Failed(problem) => Err(problem),
        };
        self.failure = read.err();
        self.is_last |= reader.has_ended() || self.failure.is_some();
        progress.has_ended = self.is_last;
        progress.has_boards |= !boards.is_empty();
        self.boards = boards.into_iter();
    }

    fn request(&self, board: Board) -> service::Request {
        let config = self.service.config();
        service::Request {
            board,
            goal: Goal::Centre,
            max_depth: config.max_depth,
            timeout: config.search_timeout,
            heuristic: HeuristicKind::PatternDatabase,
            explain: false,
        }
    }

    fn end(&self, problem: Problem, answers: &mut Answers) -> Step {
        if self.is_first {
            return Step::Refuse(problem);
        }
        answers.push_text(format!("error: {}\n", problem.detail).as_bytes());
        Step::End
    }
}

/// Reads boards until there are no more.
fn read_all(
    reader: &mut Reader,
    boards: &mut Vec<(Board, Position)>,
    mut next: impl FnMut(&mut Reader) -> Result<Option<Board>, InputError>,
) -> Result<(), Problem> {
    while let Some(board) = next(reader)? {
        boards.push((board, reader.position()));
    }
    Ok(())
}

impl Chunk for TextChunk {
    fn answer(&mut self, solver: &ExactSolver<'_>, answers: &mut Answers) -> Step {
        if let Some(mut progress) = self.progress.take() {
            self.read(&mut progress);
        }
        while !answers.is_full() {
            let Some((board, position)) = self.boards.next() else {
                return match self.failure.take() {
                    Some(problem) => self.end(problem, answers),
                    None if self.is_last => Step::End,
                    None => Step::Next,
                };
            };
            match solver.solve(&self.request(board)) {
                Ok((solution, _)) => answers.push_solution(&solution),
                Err(error) => {
                    let detail = match error {
                        service::Error::DepthCapReached { .. } => format!("{position}: {error}"),
                        error => error.to_string(),
                    };
                    let problem = Problem {
                        detail,
                        ..error.into()
                    };
                    return self.end(problem, answers);
                }
            }
            self.is_first = false;
        }
        Step::Rest
    }

    fn search_answer(&self, _: &Search, _: Result<Answer, Problem>) -> Answers {
        unreachable!("every board of the judge format has an exact search")
    }
}
