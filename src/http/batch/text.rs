//! The judge format in and out.

use std::vec;

use hyper::body::Buf;

use super::answers::{Answers, Notation};
use super::task::{Chunk, Cut, Format, Portion, Search, Step};
use crate::http::problem::Problem;
use crate::puzzle::judge::{Position, Reader};
use crate::puzzle::{Board, Goal};
use crate::search::HeuristicKind;
use crate::service::{self, Answer, Config, ExactSolver, Service};

/// The most boards of a chunk.
const CHUNK_BOARDS: usize = 512;

/// Two lines for each board. An error ends the answers, in a last line.
pub(super) struct JudgeText {
    service: Service,
    reader: Reader,
    is_first: bool,
    has_ended: bool,
}

/// Some boards of the input.
pub(super) struct BoardChunk {
    service: Service,
    boards: vec::IntoIter<(Board, Position)>,
    /// Why the input ends after these boards, if it does so with an error.
    failure: Option<Problem>,
    /// Whether no board was answered before.
    is_first: bool,
}

impl JudgeText {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            service: service.clone(),
            reader: Reader::default(),
            is_first: true,
            has_ended: false,
        }
    }

    /// Reads the next board; `None` if there is none in what is left of the input.
    fn next(&mut self, input: &mut Portion) -> Result<Option<Board>, Problem> {
        match input {
            Portion::Bytes(bytes) => {
                let mut rest = &bytes[..];
                let board = self.reader.next(&mut rest);
                let read = bytes.len() - rest.len();
                bytes.advance(read);
                Ok(board?)
            }
            Portion::End => Ok(self.reader.finish()?),
            Portion::Failed(problem) => Err(problem.clone()),
        }
    }
}

impl Format for JudgeText {
    const NOTATION: Notation = Notation::Judge;
    type Chunk = BoardChunk;

    fn cut(&mut self, input: &mut Portion) -> Cut<BoardChunk> {
        if self.has_ended {
            return Cut::End;
        }
        let (mut boards, mut failure) = (Vec::new(), None);
        while boards.len() < CHUNK_BOARDS {
            match self.next(input) {
                Ok(Some(board)) => boards.push((board, self.reader.position())),
                Ok(None) => {
                    self.has_ended = self.reader.has_ended() || matches!(input, Portion::End);
                    break;
                }
                Err(problem) => {
                    failure = Some(problem);
                    self.has_ended = true;
                    break;
                }
            }
        }
        if boards.is_empty() && failure.is_none() {
            return if self.has_ended { Cut::End } else { Cut::More };
        }
        Cut::Chunk(BoardChunk {
            service: self.service.clone(),
            boards: boards.into_iter(),
            failure,
            is_first: std::mem::replace(&mut self.is_first, false),
        })
    }
}

impl BoardChunk {
    fn end(&self, problem: Problem, answers: &mut Answers) -> Step {
        if self.is_first && answers.is_empty() {
            return Step::Refuse(problem);
        }
        answers.push_text(format!("error: {}\n", problem.detail).as_bytes());
        Step::End
    }
}

impl Chunk for BoardChunk {
    fn answer(&mut self, solver: &ExactSolver<'_>, answers: &mut Answers) -> Step {
        while !answers.is_full() {
            let Some((board, position)) = self.boards.next() else {
                return match self.failure.take() {
                    Some(problem) => self.end(problem, answers),
                    None => Step::Next,
                };
            };
            match solver.solve(&request(self.service.config(), board)) {
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
        }
        self.is_first = false;
        Step::Rest
    }

    fn search_answer(&self, _: &Search, _: Result<Answer, Problem>) -> Answers {
        unreachable!("every board of the judge format has an exact search")
    }
}

fn request(config: &Config, board: Board) -> service::Request {
    service::Request {
        board,
        goal: Goal::Centre,
        max_depth: config.max_depth,
        timeout: config.search_timeout,
        heuristic: HeuristicKind::PatternDatabase,
        explain: false,
    }
}
