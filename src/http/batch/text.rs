//! The judge format in and out.

use std::mem;

use axum::body::Bytes;
use hyper::body::Buf;

use super::answers::{Answers, Notation};
use super::task::{Chunk, Cut, Format, Portion, Search, Step};
use crate::http::problem::Problem;
use crate::puzzle::judge::Reader;
use crate::puzzle::{Board, Goal};
use crate::search::HeuristicKind;
use crate::service::{self, Answer, ExactSolver, Service};

/// Two lines for each board. An error ends the answers, in a last line.
pub(super) struct JudgeText {
    service: Service,
    progress: Progress,
}

/// How far the input was read. Reading goes on where it stopped, so it passes from chunk to chunk.
#[derive(Default)]
struct Progress {
    reader: Reader,
    has_answered: bool,
}

/// A piece of the input, which is read while it is answered.
pub(super) struct TextChunk {
    service: Service,
    progress: Progress,
    text: Portion,
}

impl JudgeText {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            service: service.clone(),
            progress: Progress::default(),
        }
    }
}

impl Format for JudgeText {
    const NOTATION: Notation = Notation::Judge;
    const CHUNKS_IN_FLIGHT: usize = 1;
    type Chunk = TextChunk;

    fn cut(&mut self, input: &mut Portion) -> Cut<TextChunk> {
        if matches!(input, Portion::Bytes(bytes) if bytes.is_empty()) {
            return Cut::More;
        }
        Cut::Chunk(TextChunk {
            service: self.service.clone(),
            progress: mem::take(&mut self.progress),
            text: mem::replace(input, Portion::Bytes(Bytes::new())),
        })
    }

    fn resume(&mut self, chunk: TextChunk) {
        self.progress = chunk.progress;
    }
}

impl TextChunk {
    /// Reads the next board; `None` if there is none in the rest of the text.
    fn next(&mut self) -> Result<Option<Board>, Problem> {
        let reader = &mut self.progress.reader;
        match &mut self.text {
            Portion::Bytes(bytes) => {
                let mut rest = &bytes[..];
                let board = reader.next(&mut rest);
                let read = bytes.len() - rest.len();
                bytes.advance(read);
                Ok(board?)
            }
            Portion::End => Ok(reader.finish()?),
            Portion::Failed(problem) => Err(problem.clone()),
        }
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
        if !self.progress.has_answered {
            return Step::Refuse(problem);
        }
        answers.push_text(format!("error: {}\n", problem.detail).as_bytes());
        Step::End
    }
}

impl Chunk for TextChunk {
    fn answer(&mut self, solver: &ExactSolver<'_>, answers: &mut Answers) -> Step {
        while !answers.is_full() {
            let board = match self.next() {
                Ok(Some(board)) => board,
                Ok(None) => {
                    let is_last = matches!(self.text, Portion::End);
                    return if is_last || self.progress.reader.has_ended() {
                        Step::End
                    } else {
                        Step::Next
                    };
                }
                Err(problem) => return self.end(problem, answers),
            };
            match solver.solve(&self.request(board)) {
                Ok((solution, _)) => answers.push_solution(&solution),
                Err(error) => {
                    let detail = match error {
                        service::Error::DepthCapReached { .. } => {
                            format!("{}: {error}", self.progress.reader.position())
                        }
                        error => error.to_string(),
                    };
                    let problem = Problem {
                        detail,
                        ..error.into()
                    };
                    return self.end(problem, answers);
                }
            }
            self.progress.has_answered = true;
        }
        Step::Rest
    }

    fn search_answer(&self, _: &Search, _: Result<Answer, Problem>) -> Answers {
        unreachable!("every board of the judge format has an exact search")
    }
}
