//! What is only read: health, and the pages that explain problems.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CACHE_CONTROL;
use http::{HeaderMap, StatusCode};

use super::AppState;
use super::caching::NO_STORE;
use super::extract::{Path, check_accepts};
use super::page::Page;
use super::problem::{Code, Problem};
use crate::service::Error;

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

/// A path that is none. The layers make a problem of it.
pub(super) async fn not_found() -> StatusCode {
    StatusCode::NOT_FOUND
}

/// A method that a path does not have. The layers make a problem of it.
pub(super) async fn method_not_allowed() -> StatusCode {
    StatusCode::METHOD_NOT_ALLOWED
}

/// `GET /problems/{code}`.
pub(super) async fn problem(
    Path(code): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let code = Code::ALL
        .into_iter()
        .find(|known| known.as_str() == code)
        .ok_or_else(|| Problem::new(Code::NotFound, "no problem has this code"))?;
    check_accepts(&headers, "text/html")?;
    let content = format!(
        "<h1>{title}</h1>\n<p class=\"lead\">{description}</p>\n\
         <p>Code <code>{name}</code>, status {status}. <a href=\"../docs#problems\">All problems</a></p>",
        name = code.as_str(),
        title = code.title(),
        description = code.description(),
        status = code.status().as_u16(),
    );
    let title = format!("{}: rotation-game", code.as_str());
    Ok(Page::of_text("../", &title, code.title(), &content).respond(&headers))
}
