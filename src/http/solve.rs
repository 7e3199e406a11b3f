//! `POST /solve`.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer};

use super::AppState;
use super::extract::{AcceptsJson, Json, NotEncoded};
use super::json::{Integer, Notation, ObjectOrBoard, name, object_or_board};
use super::problem::{FieldError, Problem};
use crate::puzzle::Goal;
use crate::search::{HeuristicKind, Report, Solution};
use crate::service::{Answer, Config, Request, Source};

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// The body of a request. Null means that an optional field is absent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SolveRequest {
    board: Notation,
    max_depth: Option<Integer>,
    timeout_ms: Option<Integer>,
    #[serde(default, deserialize_with = "name")]
    heuristic: HeuristicKind,
    goal: Option<String>,
    explain: Option<bool>,
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
                    explain: None,
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
        let max_depth = at_most("max_depth", self.max_depth, 0, max_depth, &mut errors);
        let timeout_ms = at_most("timeout_ms", self.timeout_ms, 1, most_ms, &mut errors);
        if !errors.is_empty() {
            return Err(Problem::invalid_request(errors));
        }
        let goal = match self.goal {
            Some(goal) => goal.parse(),
            None => Ok(Goal::Centre),
        };
        let (board, goal) = match (self.board.0, goal) {
            (Ok(board), Ok(goal)) => (board, goal),
            (Err(board), Ok(_)) => return Err(board.into()),
            (Ok(_), Err(goal)) => return Err(goal.into()),
            (Err(board), Err(goal)) => return Err(Problem::of_board_and_goal(&board, &goal)),
        };
        Ok(Request {
            board,
            goal,
            max_depth: u32::try_from(max_depth).unwrap_or(config.max_depth),
            timeout: Duration::from_millis(timeout_ms),
            heuristic: self.heuristic,
            explain: self.explain.unwrap_or_default(),
        })
    }
}

/// Returns the value of an option, lowered to the maximum, which is also the default. A value
/// below the minimum is an error.
fn at_most(
    name: &str,
    value: Option<Integer>,
    minimum: u64,
    maximum: u64,
    errors: &mut Vec<FieldError>,
) -> u64 {
    let Some(value) = value else {
        return maximum;
    };
    if value.0 < i128::from(minimum) {
        errors.push(FieldError {
            pointer: format!("/{name}"),
            detail: format!("{name} is {value}, less than {minimum}"),
        });
    }
    u64::try_from(value.0).map_or(maximum, |value| value.min(maximum))
}

/// Answers one board.
pub(super) async fn solve(
    State(state): State<AppState>,
    _: AcceptsJson,
    _: NotEncoded,
    Json(request): Json<SolveRequest>,
) -> Result<Response, Problem> {
    let service = &state.0.service;
    let request = request.checked(service.config())?;
    let answer = service.solve(request).await?;
    Ok(respond(&request, answer))
}

/// What the cache had to do with an answer (RFC 9211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheStatus {
    /// It is from the cache.
    Hit,
    /// It was searched for.
    Miss,
    /// It was searched for, since the search itself was asked for.
    Bypass,
}

impl CacheStatus {
    const ALL: [Self; 3] = [Self::Hit, Self::Miss, Self::Bypass];

    const fn header(self) -> &'static str {
        match self {
            Self::Hit => "rotation-game; hit",
            Self::Miss => "rotation-game; fwd=miss",
            Self::Bypass => "rotation-game; fwd=bypass",
        }
    }

    /// How the request ended, for the access line.
    pub(super) const fn outcome(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Bypass => "explained",
        }
    }

    /// What an answer's header says.
    pub(super) fn of(response: &Response) -> Option<Self> {
        let header = response.headers().get(CACHE_STATUS)?;
        Self::ALL
            .into_iter()
            .find(|status| header == status.header())
    }
}

/// Room for the headers that are set here, around the routes, and by the server.
const HEADERS: usize = 12;

fn respond(request: &Request, answer: Answer) -> Response {
    let Answer { solution, source } = answer;
    let (cache_status, timing) = match &source {
        Source::Cache => (CacheStatus::Hit, HeaderValue::from_static("cache;desc=hit")),
        Source::Search {
            queued, elapsed, ..
        } => (
            if request.explain {
                CacheStatus::Bypass
            } else {
                CacheStatus::Miss
            },
            timing(*queued, *elapsed),
        ),
    };
    let mut headers = HeaderMap::with_capacity(HEADERS);
    headers.insert(CONTENT_TYPE, super::JSON);
    headers.insert(
        CACHE_STATUS,
        HeaderValue::from_static(cache_status.header()),
    );
    headers.insert(SERVER_TIMING, timing);
    let report = report(request, solution, &source);
    let body = serde_json::to_vec(&report).expect("strings and numbers always serialize");
    let mut response = Response::new(Body::from(body));
    *response.headers_mut() = headers;
    response
}

/// What the caller is told of a solution.
pub(super) fn report<'a>(request: &Request, solution: Solution, source: &'a Source) -> Report<'a> {
    Report {
        solution,
        goal: request.goal,
        search: match source {
            Source::Search { explanation, .. } => explanation.as_deref(),
            Source::Cache => None,
        },
    }
}

/// Durations in milliseconds, as the header wants them.
fn timing(queued: Duration, elapsed: Duration) -> HeaderValue {
    let mut timing = String::with_capacity(64);
    timing.push_str("queue;dur=");
    push_milliseconds(&mut timing, queued);
    timing.push_str(", search;dur=");
    push_milliseconds(&mut timing, elapsed);
    HeaderValue::from_str(&timing).expect("digits and separators make a header value")
}

/// To the microsecond. Format strings take ten times as long, which shows in the cost of a request.
fn push_milliseconds(text: &mut String, duration: Duration) {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    text.push_str(itoa::Buffer::new().format(micros / 1000));
    let thousandths = 1000 + micros % 1000;
    text.push('.');
    text.push_str(&itoa::Buffer::new().format(thousandths)[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, "0.000")]
    #[case(7, "0.007")]
    #[case(1_020, "1.020")]
    #[case(12_345_678, "12345.678")]
    fn durations_are_milliseconds(#[case] micros: u64, #[case] shown: &str) {
        let mut text = String::new();
        push_milliseconds(&mut text, Duration::from_micros(micros));
        assert_eq!(text, shown);
    }
}
