//! What is only read: health, the API document, the pages that explain problems.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use super::AppState;
use super::extract::{Path, check_accepts};
use super::problem::{Code, Problem};
use crate::service::Error;

const OPENAPI: &str = include_str!("../../openapi.yaml");

const HOME: &str = "\
rotation-game solves the Rotation Game (POJ 2286, UVA 1343).

  curl -d '{\"board\":\"111132323132231222312133\"}' -H 'Content-Type: application/json' .../solve

POST /solve             the shortest, lexicographically smallest moves of a board
POST /solve/batch       many boards, as a stream
GET  /boards/{board}    what the table tells of a board; also .../solutions, .../replay/{moves}
GET  /boards/random     a board at a distance
GET  /openapi.yaml      the whole API
GET  /problems/{code}   what a problem means
GET  /livez, /readyz    health
";

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// `GET /`.
pub(super) async fn home() -> &'static str {
    HOME
}

/// `GET /livez`: the process answers.
pub(super) async fn livez() -> impl IntoResponse {
    ([(CACHE_CONTROL, NO_STORE)], "ok\n")
}

/// `GET /readyz`: requests are welcome.
pub(super) async fn readyz(State(state): State<AppState>) -> Response {
    let service = &state.0.service;
    let mut response = if service.is_ready() {
        "ready\n".into_response()
    } else if service.is_draining() {
        Problem::from(Error::ShuttingDown).into_response()
    } else {
        let detail = "the pattern database is still being built";
        Problem::new(Code::Overloaded, detail).into_response()
    };
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    response
}

/// `GET /openapi.yaml`.
pub(super) async fn openapi() -> impl IntoResponse {
    (
        [(CONTENT_TYPE, HeaderValue::from_static("application/yaml"))],
        OPENAPI,
    )
}

/// `GET /problems/{code}`.
pub(super) async fn problem(
    Path(code): Path<String>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let code = Code::ALL
        .into_iter()
        .find(|known| known.as_str() == code)
        .ok_or_else(|| Problem::new(Code::NotFound, "no problem has this code"))?;
    check_accepts(&headers, "text/html")?;
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <title>{name}: rotation-game</title>\n<h1>{title}</h1>\n<p>{description}</p>\n\
         <p>Code <code>{name}</code>, status {status}.</p>\n</html>\n",
        name = code.as_str(),
        title = code.title(),
        description = code.description(),
        status = code.status().as_u16(),
    );
    Ok((
        [(
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        )],
        html,
    ))
}
