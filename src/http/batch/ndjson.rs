//! Lines of JSON in and out.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axum::body::Body;
use futures_util::stream::{self, Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::lines::{LINE_LIMIT, Line, Lines};
use super::{Arrival, Input, PIECES, broken, stalled};
use crate::http::AppState;
use crate::http::extract::parse;
use crate::http::layers::RequestId;
use crate::http::problem::{Code, Problem};
use crate::http::solve::{LineRequest, report};
use crate::search::{Limits, Outcome, PatternDatabase, Report, explain};
use crate::service::{self, Config, Service};

/// How many lines of an input are a piece: an answer may be a hundred times as long as its line.
const PIECE_LINES: usize = 256;

/// A piece of an input of lines.
struct Piece {
    lines: Vec<Line>,
    /// Why the input ends behind them, if it does so with an error, and at which line.
    end: Option<(u64, Problem)>,
    work: Arc<()>,
}

/// A part of the answers to a piece.
enum Part {
    Bytes(Vec<u8>),
    /// A search that may run long, at this line: it goes the way of a single request.
    Search(u64, service::Request, Arc<()>),
}

/// One answer a line.
pub(super) fn answers(state: &AppState, id: RequestId, body: Body) -> Body {
    let patience = state.0.body_timeout;
    let input = Input::new(body, patience);
    let writer = LineWriter {
        service: state.0.service.clone(),
        id,
        is_broken: input.is_broken.clone(),
    };
    let answers = pieces(input, patience)
        .map({
            let writer = writer.clone();
            move |piece| writer.clone().parts(piece)
        })
        .buffered(PIECES)
        .flat_map(stream::iter)
        .map(move |part| writer.clone().bytes(part))
        .buffered(PIECES)
        .filter(|bytes| ready(!bytes.is_empty()))
        .map(Ok::<_, Infallible>);
    Body::from_stream(answers)
}

fn pieces(input: Input, patience: Duration) -> impl Stream<Item = Piece> {
    let start = Some((input, Lines::default()));
    let arrivals = stream::unfold(start, move |state| async move {
        let (mut input, mut lines) = state?;
        let arrival = input.next().await;
        // Not before: whoever holds it has something to answer.
        let work = Arc::clone(&input.work);
        let mut piece = Piece {
            lines: Vec::new(),
            end: None,
            work,
        };
        let problem = match arrival {
            Arrival::Bytes(bytes) => {
                piece.lines = lines.push(bytes);
                return Some((piece, Some((input, lines))));
            }
            Arrival::End => {
                piece.lines.extend(lines.finish());
                return Some((piece, None));
            }
            Arrival::Stall => stalled(patience),
            Arrival::Break => broken(),
        };
        piece.end = Some((lines.next_number(), problem));
        Some((piece, None))
    });
    arrivals.flat_map(|piece| stream::iter(piece.split()))
}

impl Piece {
    /// The same in pieces that are not too large.
    fn split(self) -> Vec<Self> {
        let Self { lines, end, work } = self;
        let mut lines = lines.into_iter().peekable();
        let mut pieces = Vec::new();
        while lines.peek().is_some() {
            pieces.push(Self {
                lines: lines.by_ref().take(PIECE_LINES).collect(),
                end: None,
                work: Arc::clone(&work),
            });
        }
        if end.is_some() {
            pieces.push(Self {
                lines: Vec::new(),
                end,
                work,
            });
        }
        pieces
    }
}

/// Writes the answers to lines.
#[derive(Clone)]
struct LineWriter {
    service: Service,
    id: RequestId,
    is_broken: CancellationToken,
}

impl LineWriter {
    /// Answers a piece, all but the searches that may run long.
    async fn parts(self, piece: Piece) -> Vec<Part> {
        let Piece { lines, end, work } = piece;
        if let Some((number, problem)) = end {
            let mut bytes = Vec::new();
            self.problem(&mut bytes, number, problem);
            return vec![Part::Bytes(bytes)];
        }
        let first = lines.first().map_or(0, |line| line.number);
        let writer = self.clone();
        let answered = self
            .service
            .work(move |database, stop| writer.answer_all(&lines, &work, database, stop));
        answered.await.unwrap_or_else(|error| {
            let mut bytes = Vec::new();
            self.problem(&mut bytes, first, error.into());
            vec![Part::Bytes(bytes)]
        })
    }

    fn answer_all(
        &self,
        lines: &[Line],
        work: &Arc<()>,
        database: &PatternDatabase,
        stop: &AtomicBool,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut bytes = Vec::with_capacity(lines.len() * 48);
        let mut solved = 0;
        for line in lines {
            if stop.load(Relaxed) {
                break;
            }
            let answer = read(line, self.service.config()).and_then(|request| {
                if request.is_exact() {
                    answer(&mut bytes, &request, database).map(|()| None)
                } else {
                    Ok(Some(request))
                }
            });
            match answer {
                Ok(None) => solved += 1,
                Ok(Some(request)) => {
                    parts.push(Part::Bytes(std::mem::take(&mut bytes)));
                    parts.push(Part::Search(line.number, request, Arc::clone(work)));
                }
                Err(problem) => self.problem(&mut bytes, line.number, problem),
            }
        }
        self.service.metrics().batch_boards.inc_by(solved);
        parts.push(Part::Bytes(bytes));
        parts
    }

    /// The bytes of a part, after its search if it is one. A search whose client has left is
    /// stopped.
    async fn bytes(self, part: Part) -> Vec<u8> {
        let (number, request, _work) = match part {
            Part::Bytes(bytes) => return bytes,
            Part::Search(number, request, work) => (number, request, work),
        };
        let mut bytes = Vec::new();
        let answer = tokio::select! {
            answer = self.service.solve_in_turn(request) => answer.map_err(Problem::from),
            () = self.is_broken.cancelled() => Err(broken()),
        };
        match answer {
            Ok(service::Answer { solution, source }) => {
                self.service.metrics().batch_boards.inc();
                write_json(&mut bytes, &report(&request, solution, &source));
            }
            Err(problem) => self.problem(&mut bytes, number, problem),
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

/// Writes the answer line of an exact search.
fn answer(
    bytes: &mut Vec<u8>,
    request: &service::Request,
    database: &PatternDatabase,
) -> Result<(), Problem> {
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
    let report = Report {
        solution,
        goal: request.goal,
        search: search.as_ref(),
    };
    write_json(bytes, &report);
    Ok(())
}
