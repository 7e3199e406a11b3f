//! `POST /solve/batch`: a stream of boards in, a stream of answers out, in order.
//!
//! Each batch is a task ([`task`]): it takes the input as it arrives ([`input`]), has a chunk of it
//! answered on a thread, and puts the answers, in compact form ([`answers`]), into a queue that the
//! body of the response takes from ([`queue`]). What all batches hold in their queues is bounded in bytes. A
//! batch that cannot get more pauses, so a slow reader slows its input down.

mod answers;
mod input;
mod lines;
mod ndjson;
mod queue;
mod task;
mod text;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use super::AppState;
use super::extract::{NotEncoded, check_accepts, media_type};
use super::layers::RequestId;
use super::problem::{Code, Problem};
use input::Input;
use ndjson::Ndjson;
use text::JudgeText;

const NDJSON: &str = "application/x-ndjson";

/// Answers a stream of boards.
pub(super) async fn batch(
    State(state): State<AppState>,
    _: NotEncoded,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let kind = media_type(headers).map(|mime| mime.essence_str().to_owned());
    let id = RequestId::of(&request);
    match kind.as_deref() {
        Some(NDJSON) => {
            check_accepts(headers, NDJSON)?;
            let input = Input::start(request.into_body()).await;
            let format = Ndjson::new(&state.0.service, id);
            let answers = task::start(&state, input, format);
            Ok(respond(NDJSON, answers.into_body()))
        }
        Some("text/plain") => {
            check_accepts(headers, "text/plain")?;
            let input = Input::start(request.into_body()).await;
            let format = JudgeText::new(&state.0.service);
            let mut answers = task::start(&state, input, format);
            // If the first board is wrong, the request as a whole is.
            answers.wait_for_first().await?;
            Ok(respond("text/plain; charset=utf-8", answers.into_body()))
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
