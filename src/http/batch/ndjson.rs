//! Lines of JSON in and out.

use std::convert::Infallible;
use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axum::body::Body;
use futures_util::stream::{self, Stream, StreamExt};

use super::lines::{LINE_LIMIT, Line, Lines};
use super::{Arrival, PIECES, arrival, stalled};
use crate::http::AppState;
use crate::http::extract::parse;
use crate::http::layers::RequestId;
use crate::http::problem::{Code, Problem};
use crate::http::solve::LineRequest;
use crate::search::{Explained, Limits, Outcome, PatternDatabase, explain};
use crate::service::{self, Config, Service, Source};

/// A piece of an input of lines.
enum Piece {
    Lines(Vec<Line>),
    /// The input is given up at this line.
    Stall(u64),
}

/// A part of the answers to a piece.
enum Part {
    Bytes(Vec<u8>),
    /// A search that may run long, at this line: it goes the way of a single request.
    Search(u64, service::Request),
}

/// One answer a line.
pub(super) fn answers(state: &AppState, id: RequestId, body: Body) -> Body {
    let (service, patience) = (state.0.service.clone(), state.0.body_timeout);
    let writer = LineWriter { service, id };
    let answers = pieces(body, patience)
        .map({
            let writer = writer.clone();
            move |piece| writer.clone().parts(piece, patience)
        })
        .buffered(PIECES)
        .flat_map(stream::iter)
        .then(move |part| writer.clone().bytes(part))
        .filter(|bytes| ready(!bytes.is_empty()))
        .map(Ok::<_, Infallible>);
    Body::from_stream(answers)
}

fn pieces(body: Body, patience: Duration) -> impl Stream<Item = Piece> {
    let start = Some((body.into_data_stream(), Lines::default()));
    stream::unfold(start, move |state| async move {
        let (mut input, mut lines) = state?;
        loop {
            match arrival(&mut input, patience).await {
                Arrival::Bytes(bytes) => {
                    let whole = lines.push(bytes);
                    if !whole.is_empty() {
                        return Some((Piece::Lines(whole), Some((input, lines))));
                    }
                }
                Arrival::End => {
                    let last = lines.finish().into_iter().collect();
                    return Some((Piece::Lines(last), None));
                }
                Arrival::Stall => return Some((Piece::Stall(lines.next_number()), None)),
                Arrival::Break => return None,
            }
        }
    })
}

/// Writes the answers to lines.
#[derive(Clone)]
struct LineWriter {
    service: Service,
    id: RequestId,
}

impl LineWriter {
    /// Answers a piece, all but the searches that may run long.
    async fn parts(self, piece: Piece, patience: Duration) -> Vec<Part> {
        let lines = match piece {
            Piece::Lines(lines) => lines,
            Piece::Stall(number) => {
                let mut bytes = Vec::new();
                self.problem(&mut bytes, number, stalled(patience));
                return vec![Part::Bytes(bytes)];
            }
        };
        let first = lines.first().map_or(0, |line| line.number);
        let writer = self.clone();
        let work = self
            .service
            .work(move |database, stop| writer.answer_all(&lines, database, stop));
        work.await.unwrap_or_else(|error| {
            let mut bytes = Vec::new();
            self.problem(&mut bytes, first, error.into());
            vec![Part::Bytes(bytes)]
        })
    }

    fn answer_all(
        &self,
        lines: &[Line],
        database: &PatternDatabase,
        stop: &AtomicBool,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut bytes = Vec::with_capacity(lines.len() * 48);
        for line in lines {
            if stop.load(Relaxed) {
                break;
            }
            let request = read(line, self.service.config());
            match request {
                Ok(request) if !request.heuristic.is_exact() => {
                    parts.push(Part::Bytes(std::mem::take(&mut bytes)));
                    parts.push(Part::Search(line.number, request));
                }
                Ok(request) => match answer(&request, database) {
                    Ok(mut answer) => bytes.append(&mut answer),
                    Err(problem) => self.problem(&mut bytes, line.number, problem),
                },
                Err(problem) => self.problem(&mut bytes, line.number, problem),
            }
        }
        self.service
            .metrics()
            .batch_boards
            .inc_by(lines.len() as u64);
        parts.push(Part::Bytes(bytes));
        parts
    }

    /// The bytes of a part, after its search if it is one.
    async fn bytes(self, part: Part) -> Vec<u8> {
        let (number, request) = match part {
            Part::Bytes(bytes) => return bytes,
            Part::Search(number, request) => (number, request),
        };
        let mut bytes = Vec::new();
        match self.service.solve(request).await {
            Ok(service::Answer { solution, source }) => match source {
                Source::Search { explanation, .. } if request.explain => {
                    let search = (*explanation).clone();
                    write_json(&mut bytes, &Explained { solution, search });
                }
                Source::Search { .. } | Source::Cache => write_json(&mut bytes, &solution),
            },
            Err(error) => self.problem(&mut bytes, number, error.into()),
        }
        bytes
    }

    fn problem(&self, bytes: &mut Vec<u8>, line: u64, problem: Problem) {
        let problem = Problem {
            line: Some(line),
            ..problem
        };
        bytes.append(&mut problem.to_json(self.id.as_str()));
        bytes.push(b'\n');
    }
}

fn write_json(bytes: &mut Vec<u8>, answer: &impl serde::Serialize) {
    serde_json::to_writer(&mut *bytes, answer).expect("strings and numbers always serialize");
    bytes.push(b'\n');
}

fn read(line: &Line, config: &Config) -> Result<service::Request, Problem> {
    let Some(bytes) = &line.bytes else {
        return Err(Problem::new(
            Code::PayloadTooLarge,
            format!("the line is longer than {LINE_LIMIT} bytes"),
        ));
    };
    let LineRequest(request) = parse(bytes)?;
    request.checked(config)
}

/// The answer line of an exact search.
fn answer(request: &service::Request, database: &PatternDatabase) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::with_capacity(48);
    let (solution, search) = if request.explain {
        match explain(request.board, database, Limits::NONE) {
            (Outcome::Solved(solution), search) => (solution, Some(search)),
            (outcome, _) => {
                unreachable!("a legal board is solved without limits, but: {outcome:?}")
            }
        }
    } else {
        (database.solve(request.board), None)
    };
    let solution = service::within_cap(request, solution)?;
    match search {
        Some(search) => write_json(&mut bytes, &Explained { solution, search }),
        None => write_json(&mut bytes, &solution),
    }
    Ok(bytes)
}
