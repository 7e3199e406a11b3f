//! NDJSON in and out.

use super::answers::{Answers, Notation, write_json};
use super::lines::{LINE_LIMIT, Line, Lines};
use super::task::{Format, Portion, Search, Step};
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
    /// A line that was read but not yet answered, and its request.
    pending: Option<(u64, Result<service::Request, Problem>)>,
}

impl Ndjson {
    pub(super) fn new(service: &Service, id: RequestId) -> Self {
        Self {
            service: service.clone(),
            id,
            lines: Lines::default(),
            pending: None,
        }
    }

    /// Reads the next line that is not blank.
    fn next(&mut self, input: &mut Portion) -> Option<(u64, Result<service::Request, Problem>)> {
        if self.pending.is_some() {
            return self.pending.take();
        }
        let line = match input {
            Portion::Bytes(bytes) => self.lines.next(bytes)?,
            Portion::End => self.lines.finish()?,
            Portion::Failed(_) => return None,
        };
        Some((line.number, self.read(&line)))
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

impl Format for Ndjson {
    const NOTATION: Notation = Notation::Json;

    fn answer(
        &mut self,
        input: &mut Portion,
        solver: &ExactSolver<'_>,
        answers: &mut Answers,
    ) -> Step {
        let mut searches = Vec::new();
        while !answers.is_full() && searches.len() < SEARCHES {
            let Some((line, request)) = self.next(input) else {
                break;
            };
            let request = match request {
                Ok(request) if !request.is_exact() => {
                    searches.push(Search { line, request });
                    continue;
                }
                request => request,
            };
            // It comes after the searches before it.
            if !searches.is_empty() {
                self.pending = Some((line, request));
                break;
            }
            match request.and_then(|request| push_answer(answers, &request, solver)) {
                Ok(()) => {}
                Err(problem) => self.push_problem(answers, line, problem),
            }
        }
        if !searches.is_empty() {
            return Step::Search(searches);
        }
        if answers.is_full() {
            return Step::Continue;
        }
        match input {
            Portion::Bytes(_) => Step::Continue,
            Portion::End => Step::End,
            Portion::Failed(problem) => {
                self.push_problem(answers, self.lines.next_number(), problem.clone());
                Step::End
            }
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
