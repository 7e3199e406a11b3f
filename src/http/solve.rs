//! `POST /solve`.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer};

use super::AppState;
use super::extract::{Json, check_accepts};
use super::json::{
    Integer, Notation, ObjectOrBoard, name, object_or_board, some_integer, some_name,
};
use super::layers::Outcome;
use super::problem::{FieldError, Problem};
use crate::puzzle::Goal;
use crate::search::{HeuristicKind, Report, Solution};
use crate::service::{Answer, Config, Request, Source};

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// The body of a request. A field that is there has a value: null is none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SolveRequest {
    board: Notation,
    #[serde(default, deserialize_with = "some_integer")]
    max_depth: Option<Integer>,
    #[serde(default, deserialize_with = "some_integer")]
    timeout_ms: Option<Integer>,
    #[serde(default, deserialize_with = "name")]
    heuristic: HeuristicKind,
    #[serde(default, deserialize_with = "some_name")]
    goal: Option<String>,
    #[serde(default)]
    explain: bool,
}

/// A line of a batch: a request, or a bare board.
pub(super) struct LineRequest(pub(super) SolveRequest);

impl<'de> Deserialize<'de> for LineRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object_or_board(deserializer).map(|either| {
            Self(match either {
                ObjectOrBoard::Object(request) => request,
                ObjectOrBoard::Board(board) => SolveRequest {
                    board,
                    max_depth: None,
                    timeout_ms: None,
                    heuristic: HeuristicKind::default(),
                    goal: None,
                    explain: false,
                },
            })
        })
    }
}

impl SolveRequest {
    /// The request that the service understands.
    pub(super) fn checked(self, config: &Config) -> Result<Request, Problem> {
        let mut errors = Vec::new();
        let most_ms = u64::try_from(config.search_timeout.as_millis()).unwrap_or(u64::MAX);
        let max_depth = u64::from(config.max_depth);
        let max_depth = in_range("max_depth", self.max_depth, 0, max_depth, &mut errors);
        let timeout_ms = in_range("timeout_ms", self.timeout_ms, 1, most_ms, &mut errors);
        if !errors.is_empty() {
            return Err(Problem::invalid_request(errors));
        }
        let goal = match self.goal {
            Some(goal) => goal.parse(),
            None => Ok(Goal::Centre),
        };
        let (board, goal) = match (self.board.board(), goal) {
            (Ok(board), Ok(goal)) => (board, goal),
            (Err(board), Ok(_)) => return Err(board.into()),
            (Ok(_), Err(goal)) => return Err(goal.into()),
            (Err(board), Err(goal)) => return Err(Problem::from(board).and(goal.into())),
        };
        Ok(Request {
            board,
            goal,
            max_depth: u32::try_from(max_depth).unwrap_or(config.max_depth),
            timeout: Duration::from_millis(timeout_ms),
            heuristic: self.heuristic,
            explain: self.explain,
        })
    }
}

/// The value of an option, by default the greatest; a value out of range is noted.
fn in_range(
    name: &str,
    value: Option<Integer>,
    least: u64,
    greatest: u64,
    errors: &mut Vec<FieldError>,
) -> u64 {
    let Some(Integer(value)) = value else {
        return greatest;
    };
    match u64::try_from(value) {
        Ok(value) if (least..=greatest).contains(&value) => value,
        _ => {
            errors.push(FieldError {
                pointer: format!("/{name}"),
                detail: format!("{name} is {value}, not from {least} to {greatest}"),
            });
            greatest
        }
    }
}

/// Answers one board.
pub(super) async fn solve(
    State(state): State<AppState>,
    headers: HeaderMap,
    Json(request): Json<SolveRequest>,
) -> Result<Response, Problem> {
    check_accepts(&headers, "application/json")?;
    let service = &state.0.service;
    let request = request.checked(service.config())?;
    let answer = service.solve(request).await?;
    Ok(respond(&request, answer))
}

fn respond(request: &Request, answer: Answer) -> Response {
    let Answer { solution, source } = answer;
    let (cache_status, outcome) = match source {
        Source::Cache => ("rotation-game; hit", Outcome("hit")),
        Source::Search { .. } if request.explain => {
            ("rotation-game; fwd=bypass", Outcome("explained"))
        }
        Source::Search { .. } => ("rotation-game; fwd=miss", Outcome("miss")),
    };
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, super::JSON);
    headers.insert(CACHE_STATUS, HeaderValue::from_static(cache_status));
    let timing = match &source {
        Source::Cache => HeaderValue::from_static("cache;desc=hit"),
        Source::Search {
            explanation,
            queued,
        } => timing(*queued, explanation.elapsed_us),
    };
    headers.insert(SERVER_TIMING, timing);
    let report = report(request, solution, &source);
    let body = serde_json::to_vec(&report).expect("strings and numbers always serialize");
    let mut response = (headers, body).into_response();
    response.extensions_mut().insert(outcome);
    response
}

/// What the caller is told of a solution.
pub(super) fn report<'a>(request: &Request, solution: Solution, source: &'a Source) -> Report<'a> {
    Report {
        solution,
        goal: request.goal,
        search: match source {
            Source::Search { explanation, .. } if request.explain => Some(explanation),
            Source::Search { .. } | Source::Cache => None,
        },
    }
}

/// Durations in milliseconds, as the header wants them.
fn timing(queued: Duration, searched_us: u64) -> HeaderValue {
    let queued_us = queued.as_micros();
    let timing = format!(
        "queue;dur={}.{:03}, search;dur={}.{:03}",
        queued_us / 1000,
        queued_us % 1000,
        searched_us / 1000,
        searched_us % 1000
    );
    HeaderValue::try_from(timing).expect("digits and separators make a header value")
}
