//! What every request passes through, outermost first: request id, trace, metrics, security headers
//! and the problem normaliser, which are one layer; CORS where it is configured; catching panics.
//!
//! All of them are one service around the methods of a path, so that a request has one future.

use std::any::Any;
use std::array;
use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::hash::BuildHasher;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, any_service, on_service};
use futures_util::FutureExt;
use http::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tower::{Service, ServiceBuilder, service_fn};
use tower_http::cors::CorsLayer;
use tracing::{Instrument, Level, Span};

use super::AppState;
use super::extract::problem_of_status;
use super::metrics::RouteMetrics;
use super::pages;
use super::problem::{Code, Problem};
use super::solve::CacheStatus;
use super::trace_context::TraceParent;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// The longest request id that is taken over from a client.
const REQUEST_ID_LENGTH: usize = 64;

/// The id of a request. Within the layers it stands in the header of its name, whoever made it.
#[derive(Clone)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    /// The id of a request that has passed the layers.
    pub(super) fn of(request: &Request) -> Self {
        let id = request.headers().get(X_REQUEST_ID).cloned();
        Self(id.unwrap_or_else(|| HeaderValue::from_static("")))
    }

    pub(super) fn as_str(&self) -> &str {
        // Both kinds of ids, the client's and ours, are ASCII.
        self.0.to_str().unwrap_or_default()
    }
}

/// What the handlers of a path are wrapped in.
pub(super) struct Around {
    pub(super) state: AppState,
    pub(super) metrics: Arc<RouteMetrics>,
    pub(super) cors: Option<CorsLayer>,
}

impl Around {
    /// A path that has GET, and so HEAD.
    pub(super) fn get<T: 'static>(&self, handler: impl Handler<T, AppState>) -> MethodRouter {
        self.only(MethodFilter::GET, handler)
    }

    /// A path that has POST.
    pub(super) fn post<T: 'static>(&self, handler: impl Handler<T, AppState>) -> MethodRouter {
        self.only(MethodFilter::POST, handler)
    }

    /// A path that has all methods.
    pub(super) fn any<T: 'static>(&self, handler: impl Handler<T, AppState>) -> MethodRouter {
        any_service(self.service(handler))
    }

    fn only<T: 'static>(
        &self,
        method: MethodFilter,
        handler: impl Handler<T, AppState>,
    ) -> MethodRouter {
        on_service(method, self.service(handler))
            .fallback_service(self.service(pages::method_not_allowed))
    }

    fn service<T: 'static>(&self, handler: impl Handler<T, AppState>) -> impl HttpService {
        let metrics = Arc::clone(&self.metrics);
        ServiceBuilder::new()
            .layer_fn(move |inner| observe(inner, Arc::clone(&metrics)))
            .option_layer(self.cors.clone())
            .layer_fn(catch_panics)
            .service(handler.with_state(self.state.clone()))
    }
}

/// What takes requests and never fails to answer.
trait HttpService:
    Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> HttpService for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Gives each request its id and its span, observes how it is answered, and completes the answer.
fn observe(mut inner: impl HttpService, metrics: Arc<RouteMetrics>) -> impl HttpService {
    service_fn(move |mut request: Request| {
        let id = request_id(request.headers());
        let span = span(&id, request.headers());
        let observation = Observation {
            metrics: Arc::clone(&metrics),
            started: Instant::now(),
            method: request.method().clone(),
            answer: None,
        };
        request.headers_mut().insert(X_REQUEST_ID, id.0.clone());
        let answer = inner.call(request);
        let observed = async move {
            let mut response = answer.await?;
            let problem = normalise_problem(&mut response, &id);
            add_security_headers(response.headers_mut());
            observation.answered(&response, problem);
            let RequestId(mut id) = id;
            // It is no secret, but HTTP/2 then does not make room for it in its table of headers, from
            // which it would drive those that come again.
            id.set_sensitive(true);
            response.headers_mut().insert(X_REQUEST_ID, id);
            Ok(response)
        };
        observed.instrument(span)
    })
}

/// Answers with a problem where the handler panics.
fn catch_panics(mut inner: impl HttpService) -> impl HttpService {
    service_fn(move |request| {
        let answer = AssertUnwindSafe(inner.call(request)).catch_unwind();
        async move { answer.await.unwrap_or_else(|panic| Ok(panicked(panic))) }
    })
}

/// A request under way. When it is dropped it is counted, and told in one access line: as answered,
/// or else as one whose client has left. It lives within the span of its request.
struct Observation {
    metrics: Arc<RouteMetrics>,
    started: Instant,
    method: Method,
    answer: Option<(StatusCode, &'static str)>,
}

impl Observation {
    fn answered(mut self, response: &Response, problem: Option<Code>) {
        let outcome = match problem {
            Some(code) => code.as_str(),
            None => CacheStatus::of(response).map_or("ok", CacheStatus::outcome),
        };
        self.answer = Some((response.status(), outcome));
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        let elapsed = self.started.elapsed();
        let (status, outcome) = self.answer.unwrap_or((client_closed(), "client-closed"));
        self.metrics.observe(&self.method, status, elapsed);
        log(&self.method, self.metrics.route, status, elapsed, outcome);
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
    let id = ID_KEY.hash_one(ID_COUNT.fetch_add(1, Relaxed));
    let digits: [u8; 16] = array::from_fn(|digit| {
        let nibble = id >> (60 - 4 * digit) & 0xf;
        b"0123456789abcdef"[nibble as usize]
    });
    RequestId(HeaderValue::from_bytes(&digits).expect("hexadecimal digits make a header value"))
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

fn add_security_headers(headers: &mut HeaderMap) {
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
}

/// Gives a problem its body, and makes a problem of every error that is none yet, such as an empty
/// 404 or 405.
fn normalise_problem(response: &mut Response, id: &RequestId) -> Option<Code> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    let problem = match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem,
        None => problem_of_status(status),
    };
    *response.status_mut() = problem.code.status();
    response
        .headers_mut()
        .insert(CONTENT_TYPE, super::PROBLEM_JSON);
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(problem.to_json(id.as_str()));
    Some(problem.code)
}

/// The panic has been logged by the panic hook, inside the span of its request.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    Problem::new(Code::Internal, "the request could not be answered").into_response()
}
