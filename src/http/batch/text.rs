//! The judge format in and out.

use hyper::body::Buf;

use super::answers::{Answers, Notation};
use super::task::{Format, Portion, Search, Step};
use crate::http::problem::Problem;
use crate::puzzle::judge::Reader;
use crate::puzzle::{Board, Goal};
use crate::search::HeuristicKind;
use crate::service::{self, Answer, ExactSolver, Service};

/// Two lines for each board. An error ends the answers, in a last line.
pub(super) struct JudgeText {
    service: Service,
    reader: Reader,
    /// Whether a board was answered.
    has_answered: bool,
}

impl JudgeText {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            service: service.clone(),
            reader: Reader::default(),
            has_answered: false,
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
        if !self.has_answered {
            return Step::Refuse(problem);
        }
        answers.push_text(format!("error: {}\n", problem.detail).as_bytes());
        Step::End
    }
}

impl Format for JudgeText {
    const NOTATION: Notation = Notation::Judge;

    fn answer(
        &mut self,
        input: &mut Portion,
        solver: &ExactSolver<'_>,
        answers: &mut Answers,
    ) -> Step {
        while !answers.is_full() {
            let board = match self.next(input) {
                Ok(Some(board)) => board,
                Ok(None) if self.reader.has_ended() || matches!(input, Portion::End) => {
                    return Step::End;
                }
                Ok(None) => return Step::Continue,
                Err(problem) => return self.end(problem, answers),
            };
            match solver.solve(&self.request(board)) {
                Ok((solution, _)) => answers.push_solution(&solution),
                Err(error) => {
                    let detail = match error {
                        service::Error::DepthCapReached { .. } => {
                            format!("{}: {error}", self.reader.position())
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
            self.has_answered = true;
        }
        Step::Continue
    }

    fn search_answer(&self, _: &Search, _: Result<Answer, Problem>) -> Answers {
        unreachable!("every board of the judge format has an exact search")
    }
}
