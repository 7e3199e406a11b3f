//! `POST /solve/batch`: a stream in, a stream out, in order.
//!
//! The input is taken in pieces as it comes. A few pieces are worked on at a time, each on a thread
//! that may block; the next is not read before an answer has been taken, so a slow reader slows the
//! input down, and memory does not grow with it.

mod lines;
mod ndjson;
mod text;

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::AppState;
use super::extract::{check_accepts, media_type};
use super::layers::RequestId;
use super::problem::{Code, Problem};

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
            let body = ndjson::answers(&state, id, request.into_body());
            Ok(respond(NDJSON, body))
        }
        Some("text/plain") => {
            check_accepts(headers, "text/plain")?;
            let body = text::answers(&state, request.into_body()).await?;
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
    /// Nothing came for as long as the server waits, though nothing was left to answer.
    Stall,
    /// The input broke off before its end.
    Break,
}

/// An input that is read on a task of its own, a piece ahead, so that a client that leaves is
/// noticed while a search runs.
struct Input {
    arrivals: mpsc::Receiver<Arrival>,
    /// Every piece that is not yet answered holds a clone.
    work: Arc<()>,
    /// Set when the input has broken off.
    is_broken: CancellationToken,
}

impl Input {
    fn new(body: Body, patience: Duration) -> Self {
        let (sender, arrivals) = mpsc::channel(1);
        let input = Self {
            arrivals,
            work: Arc::new(()),
            is_broken: CancellationToken::new(),
        };
        let (work, is_broken) = (Arc::downgrade(&input.work), input.is_broken.clone());
        tokio::spawn(async move {
            let mut data = body.into_data_stream();
            loop {
                let arrival = tokio::select! {
                    arrival = arrival(&mut data, patience, &work) => arrival,
                    // Nobody takes the answers any more.
                    () = sender.closed() => return,
                };
                if matches!(arrival, Arrival::Break) {
                    is_broken.cancel();
                }
                let is_last = !matches!(arrival, Arrival::Bytes(_));
                if sender.send(arrival).await.is_err() || is_last {
                    return;
                }
            }
        });
        input
    }

    async fn next(&mut self) -> Arrival {
        // The task ends without a last arrival only if it panics.
        self.arrivals.recv().await.unwrap_or(Arrival::Break)
    }
}

async fn arrival(data: &mut BodyDataStream, patience: Duration, work: &Weak<()>) -> Arrival {
    loop {
        match timeout(patience, data.next()).await {
            Ok(Some(Ok(bytes))) => return Arrival::Bytes(bytes),
            Ok(Some(Err(_))) => return Arrival::Break,
            Ok(None) => return Arrival::End,
            // One is the input's own. With more, the client may be waiting for answers.
            Err(_) if work.strong_count() > 1 => {}
            Err(_) => return Arrival::Stall,
        }
    }
}

fn stalled(patience: Duration) -> Problem {
    let patience = humantime::format_duration(patience);
    Problem::new(
        Code::RequestTimeout,
        format!("nothing more arrived for {patience}"),
    )
}

fn broken() -> Problem {
    Problem::new(Code::InvalidRequest, "the input broke off before its end")
}
