//! `POST /solve/batch`: a stream in, a stream out, in order.
//!
//! The input is taken in pieces as it comes. A few pieces are worked on at a time, each on a thread
//! that may block; the next is not read before an answer has been taken, so a slow reader slows the
//! input down, and memory does not grow with it.

use std::convert::Infallible;
use std::future::ready;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use tokio::time::timeout;

use super::AppState;
use super::extract::{check_accepts, media_type, parse};
use super::layers::RequestId;
use super::lines::{LINE_LIMIT, Line, Lines};
use super::problem::{Code, Problem};
use super::solve::LineRequest;
use crate::puzzle::Board;
use crate::puzzle::judge::{Answer, Position, Reader};
use crate::search::{Explained, HeuristicKind, Limits, Outcome, PatternDatabase, explain};
use crate::service::{self, Config, Service, Source};

const NDJSON: &str = "application/x-ndjson";

/// How many pieces of an input are worked on at a time.
const PIECES: usize = 4;

/// Answers a stream of boards.
pub(super) async fn batch(
    State(state): State<AppState>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let kind = media_type(headers).map(|mime| mime.essence_str().to_owned());
    let id = RequestId::of(&request);
    match kind.as_deref() {
        Some(NDJSON) => {
            check_accepts(headers, NDJSON)?;
            let body = lines(&state, id, request.into_body());
            Ok(respond(NDJSON, body))
        }
        Some("text/plain") => {
            check_accepts(headers, "text/plain")?;
            let body = text(&state, request.into_body()).await?;
            Ok(respond("text/plain; charset=utf-8", body))
        }
        kind => Err(Problem::new(
            Code::UnsupportedMediaType,
            format!(
                "the body is {}; send it with Content-Type: {NDJSON} or text/plain",
                kind.unwrap_or("of no type")
            ),
        )),
    }
}

fn respond(content_type: &'static str, body: Body) -> Response {
    (
        [(CONTENT_TYPE, HeaderValue::from_static(content_type))],
        body,
    )
        .into_response()
}

/// What comes of waiting for more of an input.
enum Arrival {
    Bytes(Bytes),
    End,
    /// Nothing came for as long as the server waits.
    Stall,
    /// The client is gone.
    Break,
}

async fn arrival(input: &mut BodyDataStream, patience: Duration) -> Arrival {
    match timeout(patience, input.next()).await {
        Ok(Some(Ok(bytes))) => Arrival::Bytes(bytes),
        Ok(Some(Err(_))) => Arrival::Break,
        Ok(None) => Arrival::End,
        Err(_) => Arrival::Stall,
    }
}

fn stalled(patience: Duration) -> Problem {
    let patience = humantime::format_duration(patience);
    Problem::new(
        Code::RequestTimeout,
        format!("nothing more arrived for {patience}"),
    )
}

/// A piece of an input of lines.
enum LinesPiece {
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
fn lines(state: &AppState, id: RequestId, body: Body) -> Body {
    let (service, patience) = (state.0.service.clone(), state.0.body_timeout);
    let writer = LineWriter { service, id };
    let answers = lines_pieces(body, patience)
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

fn lines_pieces(body: Body, patience: Duration) -> impl Stream<Item = LinesPiece> {
    let start = Some((body.into_data_stream(), Lines::default()));
    stream::unfold(start, move |state| async move {
        let (mut input, mut lines) = state?;
        loop {
            match arrival(&mut input, patience).await {
                Arrival::Bytes(bytes) => {
                    let whole = lines.push(bytes);
                    if !whole.is_empty() {
                        return Some((LinesPiece::Lines(whole), Some((input, lines))));
                    }
                }
                Arrival::End => {
                    let last = lines.finish().into_iter().collect();
                    return Some((LinesPiece::Lines(last), None));
                }
                Arrival::Stall => return Some((LinesPiece::Stall(lines.next_number()), None)),
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
    async fn parts(self, piece: LinesPiece, patience: Duration) -> Vec<Part> {
        let lines = match piece {
            LinesPiece::Lines(lines) => lines,
            LinesPiece::Stall(number) => {
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

/// A piece of an input of the judge's text.
struct TextPiece {
    boards: Vec<(Board, Position)>,
    /// Why the input ends here, if it does so with an error.
    error: Option<Problem>,
}

/// The judge's text in, the judge's text out.
///
/// A first board that is wrong is a problem of the whole request. What is wrong later is told by a
/// last line.
async fn text(state: &AppState, body: Body) -> Result<Body, Problem> {
    let (service, patience) = (state.0.service.clone(), state.0.body_timeout);
    let mut pieces = Box::pin(text_pieces(body, patience));
    let first = match pieces.next().await {
        Some(TextPiece {
            boards,
            error: Some(problem),
        }) if boards.is_empty() => return Err(problem),
        first => first,
    };
    let answers = stream::iter(first)
        .chain(pieces)
        .map(move |piece| text_answers(service.clone(), piece))
        .buffered(PIECES)
        .map(Ok::<_, Infallible>);
    Ok(Body::from_stream(answers))
}

fn text_pieces(body: Body, patience: Duration) -> impl Stream<Item = TextPiece> {
    let start = Some((body.into_data_stream(), Reader::default()));
    stream::unfold(start, move |state| async move {
        let (mut input, mut reader) = state?;
        loop {
            let mut piece = TextPiece {
                boards: Vec::new(),
                error: None,
            };
            let is_over = match arrival(&mut input, patience).await {
                Arrival::Bytes(bytes) => {
                    let mut bytes = &*bytes;
                    piece.read(&mut reader, |reader| reader.next(&mut bytes));
                    reader.has_ended()
                }
                Arrival::End => {
                    piece.read(&mut reader, Reader::finish);
                    true
                }
                Arrival::Stall => {
                    piece.error = Some(stalled(patience));
                    true
                }
                Arrival::Break => return None,
            };
            if is_over {
                return Some((piece, None));
            }
            if !piece.boards.is_empty() {
                return Some((piece, Some((input, reader))));
            }
        }
    })
}

impl TextPiece {
    /// Takes boards until there are no more of them here.
    fn read(
        &mut self,
        reader: &mut Reader,
        mut next: impl FnMut(&mut Reader) -> Result<Option<Board>, crate::puzzle::judge::InputError>,
    ) {
        loop {
            match next(reader) {
                Ok(Some(board)) => self.boards.push((board, reader.position())),
                Ok(None) => return,
                Err(error) => {
                    self.error = Some(error.into());
                    return;
                }
            }
        }
    }
}

async fn text_answers(service: Service, piece: TextPiece) -> Vec<u8> {
    let TextPiece { boards, error } = piece;
    let max_depth = service.config().max_depth;
    let metrics = service.metrics().clone();
    let work = service.work(move |database, stop| {
        let mut bytes = Vec::with_capacity(boards.len() * 16);
        metrics.batch_boards.inc_by(boards.len() as u64);
        for (board, position) in boards {
            if stop.load(Relaxed) {
                break;
            }
            let request = service::Request {
                board,
                max_depth,
                timeout: Duration::MAX,
                heuristic: HeuristicKind::PatternDatabase,
                explain: false,
            };
            match service::within_cap(&request, database.solve(board)) {
                Ok(solution) => {
                    let answer = Answer {
                        moves: &solution.moves,
                        centre: solution.centre,
                    };
                    let _ = write!(bytes, "{answer}");
                }
                Err(error) => {
                    let _ = writeln!(bytes, "error: {position}: {error}");
                    break;
                }
            }
        }
        bytes
    });
    let mut bytes = match work.await {
        Ok(bytes) => bytes,
        Err(error) => format!("error: {error}\n").into_bytes(),
    };
    if let Some(problem) = error {
        let _ = writeln!(bytes, "error: {}", problem.detail);
    }
    bytes
}
