//! The judge's text in and out.

use std::convert::Infallible;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream::{self, Stream, StreamExt};

use super::{Arrival, PIECES, arrival, stalled};
use crate::http::AppState;
use crate::http::problem::Problem;
use crate::puzzle::Board;
use crate::puzzle::judge::{Answer, InputError, Position, Reader};
use crate::search::HeuristicKind;
use crate::service::{self, Service};

/// A piece of an input of the judge's text.
struct Piece {
    boards: Vec<(Board, Position)>,
    /// Why the input ends here, if it does so with an error.
    error: Option<Problem>,
}

/// The judge's text in, the judge's text out.
///
/// A first board that is wrong is a problem of the whole request. What is wrong later is told by a
/// last line.
pub(super) async fn answers(state: &AppState, body: Body) -> Result<Body, Problem> {
    let (service, patience) = (state.0.service.clone(), state.0.body_timeout);
    let mut pieces = Box::pin(pieces(body, patience));
    let first = match pieces.next().await {
        Some(Piece {
            boards,
            error: Some(problem),
        }) if boards.is_empty() => return Err(problem),
        first => first,
    };
    let answers = stream::iter(first)
        .chain(pieces)
        .map(move |piece| answers_to(service.clone(), piece))
        .buffered(PIECES)
        .map(Ok::<_, Infallible>);
    Ok(Body::from_stream(answers))
}

fn pieces(body: Body, patience: Duration) -> impl Stream<Item = Piece> {
    let start = Some((body.into_data_stream(), Reader::default()));
    stream::unfold(start, move |state| async move {
        let (mut input, mut reader) = state?;
        loop {
            let mut piece = Piece {
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

impl Piece {
    /// Takes boards until there are no more of them here.
    fn read(
        &mut self,
        reader: &mut Reader,
        mut next: impl FnMut(&mut Reader) -> Result<Option<Board>, InputError>,
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

async fn answers_to(service: Service, piece: Piece) -> Vec<u8> {
    let Piece { boards, error } = piece;
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
