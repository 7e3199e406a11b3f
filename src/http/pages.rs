//! What is only read: health, the API document, the pages that explain problems.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::AppState;
use super::extract::check_accepts;
use super::problem::{Code, Problem};

const OPENAPI: &str = include_str!("../../openapi.yaml");

const HOME: &str = "\
rotation-game solves the Rotation Game (POJ 2286, UVA 1343).

  curl -d '{\"board\":\"111132323132231222312133\"}' -H 'Content-Type: application/json' .../solve

POST /solve             the shortest, lexicographically smallest moves of a board
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
    let (status, text) = if state.0.service.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    };
    (status, [(CACHE_CONTROL, NO_STORE)], text).into_response()
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
    check_accepts(&headers, &mime::TEXT_HTML)?;
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
