//! `POST /solve/batch`: a stream in, a stream out, in order.
//!
//! The input is taken in pieces as it comes. A few pieces are worked on at a time, each on a thread
//! that may block; the next is not read before an answer has been taken, so a slow reader slows the
//! input down, and memory does not grow with it.

mod lines;
mod ndjson;
mod text;

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use tokio::time::timeout;

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
