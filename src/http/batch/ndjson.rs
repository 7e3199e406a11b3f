//! NDJSON in and out.

use super::answers::{Answers, Notation, write_json};
use super::lines::{LINE_LIMIT, Line, Lines, WholeLines};
use super::task::{Chunk, Cut, Format, Portion, Search, Step};
use crate::http::extract::parse;
use crate::http::layers::RequestId;
use crate::http::problem::{Code, Problem};
use crate::http::solve::{LineRequest, report};
use crate::search::Report;
use crate::service::{self, Answer, ExactSolver, Service};

/// How many searches of a batch that may run long run at a time.
const SEARCHES: usize = 4;

/// One answer for each line.
pub(super) struct Ndjson {
    service: Service,
    id: RequestId,
    lines: Lines,
    has_ended: bool,
}

/// Some lines of the input.
pub(super) struct LineChunk {
    service: Service,
    id: RequestId,
    lines: WholeLines,
    /// A line that was read but not yet answered, and its request.
    pending: Option<(u64, Result<service::Request, Problem>)>,
    /// Why the input fails after these lines, if it does, and in which line.
    failure: Option<(u64, Problem)>,
}

impl Ndjson {
    pub(super) fn new(service: &Service, id: RequestId) -> Self {
        Self {
            service: service.clone(),
            id,
            lines: Lines::default(),
            has_ended: false,
        }
    }

    fn chunk(&self, lines: WholeLines, failure: Option<(u64, Problem)>) -> Cut<LineChunk> {
        Cut::Chunk(LineChunk {
            service: self.service.clone(),
            id: self.id.clone(),
            lines,
            pending: None,
            failure,
        })
    }
}

impl Format for Ndjson {
    const NOTATION: Notation = Notation::Json;
    type Chunk = LineChunk;

    async fn cut(&mut self, input: &mut Portion) -> Cut<LineChunk> {
        if self.has_ended {
            return Cut::End;
        }
        match input {
            Portion::Bytes(bytes) => {
                let lines = self.lines.cut(std::mem::take(bytes));
                if lines.is_empty() {
                    return Cut::More;
                }
                self.chunk(lines, None)
            }
            Portion::End => {
                self.has_ended = true;
                match self.lines.finish() {
                    Some(line) => self.chunk(line.into(), None),
                    None => Cut::End,
                }
            }
            Portion::Failed(problem) => {
                self.has_ended = true;
                let failure = (self.lines.next_number(), problem.clone());
                self.chunk(WholeLines::default(), Some(failure))
            }
        }
    }
}

impl LineChunk {
    /// Reads the next line.
    fn next(&mut self) -> Option<(u64, Result<service::Request, Problem>)> {
        self.pending.take().or_else(|| {
            let line = self.lines.next()?;
            Some((line.number, self.read(&line)))
        })
    }

    fn read(&self, line: &Line) -> Result<service::Request, Problem> {
        let Some(bytes) = &line.bytes else {
            return Err(Problem::new(
                Code::PayloadTooLarge,
                format!("the line is longer than {LINE_LIMIT} bytes"),
            ));
        };
        let LineRequest(request) = parse(bytes)?;
        request.checked(self.service.config())
    }

    fn push_problem(&self, answers: &mut Answers, line: u64, problem: Problem) {
        let problem = Problem {
            line: Some(line),
            ..problem
        };
        let mut text = problem.to_json(self.id.as_str());
        text.push(b'\n');
        answers.push_text(&text);
    }
}

impl Chunk for LineChunk {
    fn answer(&mut self, solver: &ExactSolver<'_>, answers: &mut Answers) -> Step {
        let mut searches = Vec::new();
        while let Some((line, request)) = self.next() {
            match request {
                Ok(request) if !request.is_exact() => searches.push(Search { line, request }),
                // The searches before it come first.
                request if !searches.is_empty() => {
                    self.pending = Some((line, request));
                    return Step::Search(searches);
                }
                request => {
                    let answered = request.and_then(|it| push_answer(answers, &it, solver));
                    if let Err(problem) = answered {
                        self.push_problem(answers, line, problem);
                    }
                }
            }
            if searches.len() == SEARCHES {
                return Step::Search(searches);
            }
            if answers.is_full() {
                return Step::Rest;
            }
        }
        if !searches.is_empty() {
            return Step::Search(searches);
        }
        match self.failure.take() {
            Some((line, problem)) => {
                self.push_problem(answers, line, problem);
                Step::End
            }
            None => Step::Next,
        }
    }

    fn search_answer(&self, search: &Search, answer: Result<Answer, Problem>) -> Answers {
        let mut answers = Answers::default();
        match answer {
            Ok(Answer { solution, source }) => {
                let mut text = Vec::new();
                write_json(&mut text, &report(&search.request, solution, &source));
                answers.push_text(&text);
                answers.solved = 1;
            }
            Err(problem) => self.push_problem(&mut answers, search.line, problem),
        }
        answers
    }
}

/// Adds the answer of an exact search.
fn push_answer(
    answers: &mut Answers,
    request: &service::Request,
    solver: &ExactSolver<'_>,
) -> Result<(), Problem> {
    match solver.solve(request)? {
        (solution, None) => answers.push_solution(&solution),
        (solution, Some(explanation)) => {
            let mut text = Vec::new();
            let report = Report {
                solution,
                goal: request.goal,
                search: Some(&explanation),
            };
            write_json(&mut text, &report);
            answers.push_text(&text);
            answers.solved += 1;
        }
    }
    Ok(())
}
