//! Calls of the app, without sockets.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use futures_util::stream;
use http::{HeaderMap, Request, StatusCode};
use rotation_game::http::{AppConfig, Code, HttpMetrics, app};
use rotation_game::service::{Config, Service};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

pub(super) const MAX_DEPTH: u32 = 32;

/// Inputs that ask for long searches come often, and the tables of a goal take a while.
pub(super) const SEARCH_TIMEOUT_MS: u32 = 100;

static CLIENT: LazyLock<(Runtime, Router)> = LazyLock::new(|| {
    let config = Config {
        max_depth: MAX_DEPTH,
        search_timeout: Duration::from_millis(SEARCH_TIMEOUT_MS.into()),
        search_concurrency: 2,
        search_queue: 8,
        cache_capacity: 16,
        goal_cache: const { NonZeroUsize::new(32).unwrap() },
    };
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    // The service starts a task of its own.
    let entered = runtime.enter();
    let app = app(AppConfig {
        service: Service::new(config),
        body_timeout: Duration::from_mins(1),
        metrics: HttpMetrics::default(),
        batch_memory: 1 << 20,
        cors: None,
    });
    drop(entered);
    (runtime, app)
});

/// A response that has come whole.
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

pub(super) fn call(request: Request<Body>) -> Response {
    let (runtime, app) = &*CLIENT;
    runtime.block_on(async {
        let (parts, body) = app.clone().oneshot(request).await.unwrap().into_parts();
        Response {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap(),
        }
    })
}

/// Posts a body that comes in these pieces.
pub(super) fn post(path: &str, content_type: &str, pieces: &[&[u8]]) -> Response {
    let pieces: Vec<_> = pieces
        .iter()
        .map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece)))
        .collect();
    let request = Request::post(path).header("content-type", content_type);
    call(
        request
            .body(Body::from_stream(stream::iter(pieces)))
            .unwrap(),
    )
}

/// What a response, or a line of a batch, says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Answer(Value),
    Problem(Code, Value),
}

impl Response {
    /// Status 200, or a problem.
    pub(super) fn told(&self) -> Told {
        let told = Told::new(&self.body);
        let header = |name: &str| self.headers[name].to_str().unwrap();
        match &told {
            Told::Answer(_) => {
                assert_eq!(self.status, StatusCode::OK);
                assert_eq!(header("content-type"), "application/json");
            }
            Told::Problem(code, body) => {
                assert_eq!(self.status, code.status());
                assert_eq!(header("content-type"), "application/problem+json");
                assert_eq!(body["instance"], header("x-request-id"));
            }
        }
        told
    }
}

impl Told {
    /// An answer, or a problem that is as all problems are.
    pub(super) fn new(json: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(json).unwrap();
        let Some(name) = body.get("code") else {
            return Self::Answer(body);
        };
        let code = Code::ALL.into_iter().find(|code| name == code.as_str());
        let code = code.unwrap_or_else(|| panic!("no code is documented as {name}"));
        assert_ne!(code, Code::Internal, "{body}");
        assert_eq!(body["type"], format!("/problems/{}", code.as_str()));
        assert_eq!(body["title"], code.title());
        assert_eq!(body["status"], code.status().as_u16());
        assert!(!body["detail"].as_str().unwrap().is_empty());
        let errors = body["errors"].as_array();
        assert!(errors.is_none_or(|errors| errors.len() <= 16), "{body}");
        for error in errors.into_iter().flatten() {
            let pointer = error["pointer"].as_str().unwrap();
            assert!(pointer.is_empty() || pointer.starts_with('/'), "{body}");
            assert!(!error["detail"].as_str().unwrap().is_empty(), "{body}");
        }
        let names_places = matches!(
            code,
            Code::InvalidRequest | Code::InvalidBoard | Code::InvalidGoal
        );
        assert_eq!(errors.is_some(), names_places, "{body}");
        let has_bound = matches!(code, Code::DepthCapReached | Code::SearchTimeout);
        assert_eq!(body["lower_bound"].is_u64(), has_bound, "{body}");
        Self::Problem(code, body)
    }

    /// Whether a search did not come to its end, which the next one may.
    pub(super) fn gave_up(&self) -> bool {
        matches!(
            self,
            Self::Problem(Code::SearchTimeout | Code::Overloaded, _)
        )
    }

    /// Whether two answers are the same, as far as searches came to their end.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.gave_up() || other.gave_up() || self.lasting() == other.lasting()
    }

    /// What does not change from request to request.
    fn lasting(&self) -> Self {
        let mut told = self.clone();
        let (Self::Answer(body) | Self::Problem(_, body)) = &mut told;
        for (place, field) in [("", "instance"), ("", "line"), ("/search", "elapsed_us")] {
            if let Some(Value::Object(object)) = body.pointer_mut(place) {
                object.remove(field);
            }
        }
        told
    }
}
