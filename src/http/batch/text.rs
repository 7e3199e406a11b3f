//! The judge's text in and out.

use std::convert::Infallible;
use std::future::ready;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream::{self, Stream, StreamExt};

use super::{Arrival, Input, PIECES, broken, stalled};
use crate::analysis::Sampler;
use crate::http::AppState;
use crate::http::problem::Problem;
use crate::puzzle::judge::{Answer, InputError, Position, Reader};
use crate::puzzle::{Board, Goal};
use crate::search::HeuristicKind;
use crate::service::{self, Service};

/// A piece of an input of the judge's text.
struct Piece {
    boards: Vec<(Board, Position)>,
    /// Why the input ends here, if it does so with an error.
    error: Option<Problem>,
    work: Arc<()>,
}

/// The judge's text in, the judge's text out.
///
/// A first board that is wrong is a problem of the whole request. What is wrong later is told by a
/// last line.
pub(super) async fn answers(state: &AppState, body: Body) -> Result<Body, Problem> {
    let (service, patience) = (state.0.service.clone(), state.0.body_timeout);
    let mut pieces = Box::pin(pieces(Input::new(body, patience), patience));
    let first = match pieces.next().await {
        Some(Piece {
            boards,
            error: Some(problem),
            ..
        }) if boards.is_empty() => return Err(problem),
        first => first,
    };
    let first_board = first
        .as_ref()
        .and_then(|piece| piece.boards.first().copied());
    if let Some((board, position)) = first_board {
        check_cap(&service, board, position).await?;
    }
    let answers = stream::iter(first)
        .chain(pieces)
        .map(move |piece| answers_to(service.clone(), piece))
        .buffered(PIECES)
        // Behind an error there is nothing more.
        .scan(false, |is_over, Answers { bytes, is_last }| {
            let was_over = std::mem::replace(is_over, is_last);
            ready((!was_over).then_some(bytes))
        })
        .map(Ok::<_, Infallible>);
    Ok(Body::from_stream(answers))
}

/// Refuses a first board that is farther than the server looks.
async fn check_cap(service: &Service, board: Board, position: Position) -> Result<(), Problem> {
    let request = request(service, board);
    if request.max_depth >= Sampler::GREATEST_DISTANCE {
        return Ok(());
    }
    match service.solve(request).await {
        Err(error @ service::Error::DepthCapReached { .. }) => Err(Problem {
            detail: format!("{position}: {error}"),
            ..error.into()
        }),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

fn request(service: &Service, board: Board) -> service::Request {
    let config = service.config();
    service::Request {
        board,
        goal: Goal::Centre,
        max_depth: config.max_depth,
        timeout: config.search_timeout,
        heuristic: HeuristicKind::PatternDatabase,
        explain: false,
    }
}

fn pieces(input: Input, patience: Duration) -> impl Stream<Item = Piece> {
    let start = Some((input, Reader::default()));
    stream::unfold(start, move |state| async move {
        let (mut input, mut reader) = state?;
        loop {
            let arrival = input.next().await;
            // Not before: whoever holds it has something to answer.
            let mut piece = Piece {
                boards: Vec::new(),
                error: None,
                work: Arc::clone(&input.work),
            };
            match arrival {
                Arrival::Bytes(bytes) => {
                    let mut bytes = &*bytes;
                    piece.read(&mut reader, |reader| reader.next(&mut bytes));
                    if !reader.has_ended() {
                        if piece.boards.is_empty() {
                            continue;
                        }
                        return Some((piece, Some((input, reader))));
                    }
                }
                Arrival::End => piece.read(&mut reader, Reader::finish),
                Arrival::Stall => piece.error = Some(stalled(patience)),
                Arrival::Break => piece.error = Some(broken()),
            }
            return Some((piece, None));
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

/// The answers to a piece.
struct Answers {
    bytes: Vec<u8>,
    /// Whether they end with an error.
    is_last: bool,
}

async fn answers_to(service: Service, piece: Piece) -> Answers {
    let Piece {
        boards,
        error,
        work: _work,
    } = piece;
    let asker = service.clone();
    let answered = service.work(move |database, stop| {
        let mut bytes = Vec::with_capacity(boards.len() * 16);
        let mut solved = 0;
        let mut error = None;
        for (board, position) in boards {
            if stop.load(Relaxed) {
                break;
            }
            match service::within_cap(&request(&asker, board), database.solve(board)) {
                Ok(solution) => {
                    let answer = Answer {
                        moves: &solution.moves,
                        centre: solution.centre,
                    };
                    let _ = write!(bytes, "{answer}");
                    solved += 1;
                }
                Err(cap) => {
                    error = Some(format!("{position}: {cap}"));
                    break;
                }
            }
        }
        asker.metrics().batch_boards.inc_by(solved);
        (bytes, error)
    });
    let (mut bytes, capped) = match answered.await {
        Ok(answered) => answered,
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let error = capped.or_else(|| error.map(|problem| problem.detail));
    if let Some(error) = &error {
        let _ = writeln!(bytes, "error: {error}");
    }
    Answers {
        bytes,
        is_last: error.is_some(),
    }
}
