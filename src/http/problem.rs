use std::fmt;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::puzzle::judge::InputError;
use crate::puzzle::{
    Fault, FaultList, IllegalBoard, IllegalPattern, InvalidMoves, LISTED_FAULTS, PatternFault,
};
use crate::service;

/// After how many seconds a caller may try again: searches are short.
const RETRY_AFTER_SECONDS: u32 = 1;

/// What can go wrong, by the codes that callers rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the titles and descriptions below say what each is"
)]
pub enum Code {
    MalformedJson,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    RequestTimeout,
    PayloadTooLarge,
    UnsupportedMediaType,
    InvalidRequest,
    InvalidBoard,
    InvalidGoal,
    DepthCapReached,
    SearchTimeout,
    Overloaded,
    ShuttingDown,
    Internal,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 15] = [
        Self::MalformedJson,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::RequestTimeout,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::InvalidRequest,
        Self::InvalidBoard,
        Self::InvalidGoal,
        Self::DepthCapReached,
        Self::SearchTimeout,
        Self::Overloaded,
        Self::ShuttingDown,
        Self::Internal,
    ];

    /// The code as callers see it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MalformedJson => "malformed-json",
            Self::NotFound => "not-found",
            Self::MethodNotAllowed => "method-not-allowed",
            Self::NotAcceptable => "not-acceptable",
            Self::RequestTimeout => "request-timeout",
            Self::PayloadTooLarge => "payload-too-large",
            Self::UnsupportedMediaType => "unsupported-media-type",
            Self::InvalidRequest => "invalid-request",
            Self::InvalidBoard => "invalid-board",
            Self::InvalidGoal => "invalid-goal",
            Self::DepthCapReached => "depth-cap-reached",
            Self::SearchTimeout => "search-timeout",
            Self::Overloaded => "overloaded",
            Self::ShuttingDown => "shutting-down",
            Self::Internal => "internal",
        }
    }

    /// The status of its responses.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::MalformedJson => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::InvalidRequest
            | Self::InvalidBoard
            | Self::InvalidGoal
            | Self::DepthCapReached => StatusCode::UNPROCESSABLE_ENTITY,
            Self::SearchTimeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Overloaded | Self::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::MalformedJson => "The body is not JSON",
            Self::NotFound => "There is nothing here",
            Self::MethodNotAllowed => "This method is not allowed here",
            Self::NotAcceptable => "There is no representation that you accept",
            Self::RequestTimeout => "The request did not arrive in time",
            Self::PayloadTooLarge => "The body is too large",
            Self::UnsupportedMediaType => "The body is of the wrong type",
            Self::InvalidRequest => "The request has the wrong shape",
            Self::InvalidBoard => "The board is not legal",
            Self::InvalidGoal => "The goal is not legal",
            Self::DepthCapReached => "The shortest solution is longer than the depth cap",
            Self::SearchTimeout => "The search ran out of time",
            Self::Overloaded => "The service is overloaded",
            Self::ShuttingDown => "The service is shutting down",
            Self::Internal => "Something went wrong here",
        }
    }

    /// What it means and what to do, for the page that explains it.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::MalformedJson => {
                "The body could not be read as JSON. The detail tells the line and column where \
                 reading stopped."
            }
            Self::NotFound => "No resource has this path. What there is stands in /openapi.yaml.",
            Self::MethodNotAllowed => {
                "The resource exists, but not for this method. The Allow header lists the methods \
                 that it has."
            }
            Self::NotAcceptable => {
                "The Accept header rules out the media type of the answer. The detail names that \
                 type; accept it, or send no Accept header."
            }
            Self::RequestTimeout => {
                "The body did not arrive within the time that the server allows for it. Send it \
                 again, faster."
            }
            Self::PayloadTooLarge => "The body is larger than the server reads, 4 KiB for a board.",
            Self::UnsupportedMediaType => {
                "The body is not of a media type that is read here, or it has a Content-Encoding. The \
                 detail says what to send."
            }
            Self::InvalidRequest => {
                "The request is well-formed, but has an unknown field, lacks one, or a value is of \
                 the wrong type or out of range. Each of the errors points to a place in it. They are \
                 16 at most; the detail counts the others."
            }
            Self::InvalidBoard => {
                "A board has 24 cells, and each of the values 1, 2 and 3 stands on exactly eight of \
                 them. The errors list the first 16 reasons why this is not one, with a pointer to \
                 each bad cell; the detail counts the others."
            }
            Self::InvalidGoal => {
                "A goal is `centre`, or a pattern of 24 characters in cell order, each 1, 2, 3 or a \
                 dot for any value, with no value on more than eight cells. The errors list the first \
                 16 reasons why this is not one, with a pointer to each bad character; the detail \
                 counts the others."
            }
            Self::DepthCapReached => {
                "The board can be solved, as every legal board can, but not within max_depth moves. \
                 No solution is shorter than lower_bound. The usual goal never needs more than 13 \
                 moves."
            }
            Self::SearchTimeout => {
                "The search was stopped because timeout_ms, or the server's limit, was over. No \
                 solution is shorter than lower_bound. With the usual goal, the pattern-database \
                 heuristic answers within microseconds."
            }
            Self::Overloaded => {
                "As many searches run and wait as the server allows, or this one waited too long. \
                 Try again after the seconds that Retry-After tells."
            }
            Self::ShuttingDown => "This instance is being stopped. Try again: another one answers.",
            Self::Internal => {
                "The fault is with the server, and its log knows more. Tell its operator the \
                 instance, which is the id of the request."
            }
        }
    }
}

/// The one error that callers see: problem details for HTTP (RFC 9457).
///
/// As a response it has a status but no body yet: the layers around the routes write that, since
/// they know the id of the request.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What kind of problem.
    pub code: Code,
    /// What happened this time.
    pub detail: String,
    /// The places in the request that are at fault. Of many only the first, and the detail counts
    /// the others.
    pub errors: Vec<FieldError>,
    /// No solution is shorter than this, in moves.
    pub lower_bound: Option<u32>,
    /// The line of a batch, counted from 1.
    pub line: Option<u64>,
}

/// What is wrong with one place of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// The place, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What is wrong with it.
    pub detail: String,
}

/// Prints what is wrong, without the place.
impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl From<&Fault> for FieldError {
    fn from(fault: &Fault) -> Self {
        Self {
            pointer: match fault {
                Fault::Cell { index, .. } => format!("/board/{index}"),
                Fault::Length { .. } | Fault::Count { .. } => "/board".to_owned(),
            },
            detail: fault.to_string(),
        }
    }
}

impl From<&PatternFault> for FieldError {
    fn from(fault: &PatternFault) -> Self {
        Self {
            pointer: match fault {
                PatternFault::Cell { index, .. } => format!("/goal/{index}"),
                PatternFault::Length { .. } | PatternFault::Count { .. } => "/goal".to_owned(),
            },
            detail: fault.to_string(),
        }
    }
}

impl From<&InvalidMoves> for FieldError {
    fn from(error: &InvalidMoves) -> Self {
        Self {
            pointer: match error {
                InvalidMoves::Letter { index, .. } => format!("/moves/{index}"),
                InvalidMoves::TooLong => "/moves".to_owned(),
            },
            detail: error.to_string(),
        }
    }
}

impl Problem {
    /// A problem without more to tell than this.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            lower_bound: None,
            line: None,
        }
    }

    /// A request whose shape is wrong in these places, at least one.
    #[must_use]
    pub fn invalid_request(errors: Vec<FieldError>) -> Self {
        Self::invalid(Code::InvalidRequest, errors.into_iter())
    }

    /// A request with these faults, at least one.
    pub(super) fn invalid<F: fmt::Display + Into<FieldError>>(
        code: Code,
        faults: impl Iterator<Item = F> + Clone,
    ) -> Self {
        let detail = FaultList(faults.clone()).to_string();
        Self {
            errors: faults.take(LISTED_FAULTS).map(Into::into).collect(),
            ..Self::new(code, detail)
        }
    }

    /// A request of which neither the board nor the goal is legal.
    pub(super) fn of_board_and_goal(board: &IllegalBoard, goal: &IllegalPattern) -> Self {
        let of_board = board.faults().iter().map(FieldError::from);
        let of_goal = goal.faults().iter().map(FieldError::from);
        Self::invalid(Code::InvalidBoard, of_board.chain(of_goal))
    }

    /// The response's body.
    pub(super) fn to_json(&self, instance: &str) -> Vec<u8> {
        #[derive(Serialize)]
        struct Body<'a> {
            r#type: String,
            title: &'static str,
            status: u16,
            detail: &'a str,
            code: &'static str,
            instance: &'a str,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            errors: &'a [FieldError],
            #[serde(skip_serializing_if = "Option::is_none")]
            lower_bound: Option<u32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            line: Option<u64>,
        }
        let body = Body {
            r#type: format!("/problems/{}", self.code.as_str()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: &self.detail,
            code: self.code.as_str(),
            instance,
            errors: &self.errors,
            lower_bound: self.lower_bound,
            line: self.line,
        };
        serde_json::to_vec(&body).expect("strings and numbers always serialize")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response
            .headers_mut()
            .insert(CONTENT_TYPE, super::PROBLEM_JSON);
        if self.code.status() == StatusCode::SERVICE_UNAVAILABLE {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<IllegalBoard> for Problem {
    fn from(illegal: IllegalBoard) -> Self {
        Self::invalid(Code::InvalidBoard, illegal.faults().iter())
    }
}

/// A board of the judge's text, whose place the detail tells.
impl From<InputError> for Problem {
    fn from(error: InputError) -> Self {
        Self {
            detail: error.to_string(),
            ..error.illegal.into()
        }
    }
}

impl From<IllegalPattern> for Problem {
    fn from(illegal: IllegalPattern) -> Self {
        Self::invalid(Code::InvalidGoal, illegal.faults().iter())
    }
}

impl From<service::Error> for Problem {
    fn from(error: service::Error) -> Self {
        let (code, lower_bound) = match error {
            service::Error::DepthCapReached { lower_bound, .. } => {
                (Code::DepthCapReached, Some(lower_bound))
            }
            service::Error::TimedOut { lower_bound } => (Code::SearchTimeout, Some(lower_bound)),
            service::Error::Overloaded => (Code::Overloaded, None),
            service::Error::ShuttingDown => (Code::ShuttingDown, None),
            service::Error::Internal => (Code::Internal, None),
        };
        Self {
            lower_bound,
            ..Self::new(code, error.to_string())
        }
    }
}
