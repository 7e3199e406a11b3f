//! What every request passes through, outermost first: request id, trace and metrics; security
//! headers; CORS where it is configured; the problem normaliser; catching panics.

use std::any::Any;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use tracing::{Instrument, Level, Span};

use super::extract::problem_of_status;
use super::metrics::HttpMetrics;
use super::problem::{Code, Problem};
use super::trace_context::TraceParent;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// The longest request id that is taken over from a client.
const REQUEST_ID_LENGTH: usize = 64;

/// In a response's extensions: how the request ended, for the access line.
#[derive(Clone, Copy)]
pub(super) struct Outcome(pub(super) &'static str);

/// In a request's extensions: its id.
#[derive(Clone)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    /// The id of a request that has passed the layers.
    pub(super) fn of(request: &Request) -> Self {
        let id = request.extensions().get::<Self>().cloned();
        id.unwrap_or_else(|| Self(HeaderValue::from_static("")))
    }

    pub(super) fn as_str(&self) -> &str {
        // Both kinds of ids, the client's and ours, are ASCII.
        self.0.to_str().unwrap_or_default()
    }
}

/// Puts the layers around the routes.
pub(super) fn around(routes: Router, metrics: HttpMetrics, cors: Option<CorsLayer>) -> Router {
    let mut app = routes
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(normalise_problems));
    if let Some(cors) = cors {
        app = app.layer(cors);
    }
    app.layer(from_fn(add_security_headers))
        .layer(from_fn_with_state(metrics, trace))
}

/// Gives the request its id and its span, and observes how it is answered.
async fn trace(State(metrics): State<HttpMetrics>, mut request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let span = span(&id, request.headers());
    let observation = Observation {
        metrics,
        started: Instant::now(),
        span: span.clone(),
        method: request.method().clone(),
        route: request.extensions().get::<MatchedPath>().cloned(),
        answer: None,
    };
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).instrument(span).await;
    observation.answered(&response);
    response.headers_mut().insert(X_REQUEST_ID, id.0);
    response
}

/// A request under way. When it is dropped it is counted, and told in one access line: as answered,
/// or else as one whose client has left.
struct Observation {
    metrics: HttpMetrics,
    started: Instant,
    span: Span,
    method: Method,
    route: Option<MatchedPath>,
    answer: Option<(StatusCode, Outcome)>,
}

impl Observation {
    fn answered(mut self, response: &Response) {
        let outcome = response.extensions().get::<Outcome>();
        self.answer = Some((response.status(), outcome.copied().unwrap_or(Outcome("ok"))));
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        let elapsed = self.started.elapsed();
        let (status, Outcome(outcome)) = self
            .answer
            .unwrap_or((client_closed(), Outcome("client-closed")));
        let route = self.route.as_ref().map_or("unmatched", MatchedPath::as_str);
        self.metrics.observe(route, &self.method, status, elapsed);
        let _entered = self.span.enter();
        log(&self.method, route, status, elapsed, outcome);
    }
}

/// The status that others use, too, for a request that nobody waits for any more.
fn client_closed() -> StatusCode {
    StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST)
}

fn span(id: &RequestId, headers: &HeaderMap) -> Span {
    let parent = headers
        .get(TRACEPARENT)
        .and_then(|value| value.to_str().ok())
        .and_then(TraceParent::parse);
    if let Some(TraceParent {
        trace_id,
        parent_id,
    }) = parent
    {
        tracing::error_span!("request", request_id = id.as_str(), trace_id, parent_id)
    } else {
        tracing::error_span!("request", request_id = id.as_str())
    }
}

// A new id is a count under a keyed hash: unlike those of other processes, and not to be guessed.
static ID_KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static ID_COUNT: AtomicU64 = AtomicU64::new(0);

/// The client's id if it is short and plain, else a new one.
fn request_id(headers: &HeaderMap) -> RequestId {
    if let Some(value) = headers.get(X_REQUEST_ID) {
        let bytes = value.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        if (1..=REQUEST_ID_LENGTH).contains(&bytes.len()) && bytes.iter().all(is_plain) {
            return RequestId(value.clone());
        }
    }
    let id = format!("{:016x}", ID_KEY.hash_one(ID_COUNT.fetch_add(1, Relaxed)));
    RequestId(HeaderValue::try_from(id).expect("hexadecimal digits make a header value"))
}

/// One line a request. What the operator has to look into is an error; what a client did wrong is
/// not.
fn log(method: &Method, route: &str, status: StatusCode, elapsed: Duration, outcome: &str) {
    let duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    macro_rules! line {
        ($level:expr) => {
            tracing::event!(
                target: "access",
                $level,
                method = method.as_str(),
                route,
                status = status.as_u16(),
                duration_us,
                outcome,
                "answered"
            )
        };
    }
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => line!(Level::WARN),
        status if status.is_server_error() => line!(Level::ERROR),
        _ => line!(Level::INFO),
    }
}

async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // What is read by people has a policy of its own.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        CROSS_ORIGIN_RESOURCE_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// Gives every problem its body, and makes a problem of every error that is none yet, such as the
/// empty 404 and 405 of the router.
async fn normalise_problems(request: Request, next: Next) -> Response {
    let id = RequestId::of(&request);
    let response = next.run(request).await;
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    let problem = match parts.extensions.remove::<Problem>() {
        Some(problem) => problem,
        None => problem_of_status(status),
    };
    parts.status = problem.code.status();
    parts.headers.insert(CONTENT_TYPE, super::PROBLEM_JSON);
    parts.headers.remove(CONTENT_LENGTH);
    parts.extensions.insert(Outcome(problem.code.as_str()));
    Response::from_parts(parts, Body::from(problem.to_json(id.as_str())))
}

/// The panic has been logged by the panic hook, inside the span of its request.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    Problem::new(Code::Internal, "the request could not be answered").into_response()
}
