//! What is counted of requests, and `GET /metrics`.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, StatusCode};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::pages::livez;

const OPENMETRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Requests by route, method and status. Cheap to clone: clones share their numbers.
#[derive(Clone)]
pub struct HttpMetrics {
    requests: Family<Labels, Counter>,
    durations: Family<Labels, Histogram>,
}

/// None of these grows with what clients send: the route is the pattern that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    route: &'static str,
    method: &'static str,
    status: u16,
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            // From 16 microseconds to a quarter of a minute.
            durations: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(16e-6, 4.0, 11))
            }),
        }
    }
}

impl HttpMetrics {
    /// Makes the numbers part of what `registry` tells.
    pub fn register(&self, registry: &mut Registry) {
        let m = self.clone();
        let http = registry.sub_registry_with_prefix("http");
        http.register("requests", "Requests answered", m.requests);
        http.register_with_unit(
            "request_duration",
            "From a request's head to its answer's",
            Unit::Seconds,
            m.durations,
        );
    }

    /// What counts the requests of one route.
    pub(super) fn of_route(&self, route: &'static str) -> RouteMetrics {
        RouteMetrics {
            route,
            metrics: self.clone(),
            usual: OnceLock::new(),
        }
    }

    fn series(&self, labels: Labels) -> Series {
        Series {
            requests: self.requests.get_or_create(&labels).clone(),
            durations: self.durations.get_or_create(&labels).clone(),
            labels,
        }
    }
}

/// Requests of one route.
pub(super) struct RouteMetrics {
    pub(super) route: &'static str,
    metrics: HttpMetrics,
    /// Where nearly all requests are counted, once there is one: to look it up each time costs more
    /// than to count.
    usual: OnceLock<Series>,
}

/// Requests that have all labels in common.
struct Series {
    labels: Labels,
    requests: Counter,
    durations: Histogram,
}

impl RouteMetrics {
    pub(super) fn observe(&self, method: &Method, status: StatusCode, duration: Duration) {
        let labels = Labels {
            route: self.route,
            method: known(method),
            status: status.as_u16(),
        };
        if status == StatusCode::OK {
            let usual = self.usual.get_or_init(|| self.metrics.series(labels));
            if usual.labels == labels {
                return usual.observe(duration);
            }
        }
        self.metrics.series(labels).observe(duration);
    }
}

impl Series {
    fn observe(&self, duration: Duration) {
        self.requests.inc();
        self.durations.observe(duration.as_secs_f64());
    }
}

/// A client can make up methods, but not labels.
fn known(method: &Method) -> &'static str {
    const KNOWN: [Method; 7] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::OPTIONS,
        Method::PATCH,
    ];
    const NAMES: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];
    KNOWN
        .iter()
        .position(|known| known == method)
        .map_or("other", |index| NAMES[index])
}

/// What the metrics' own address serves. Health is told there too, where clients who take all
/// connections of the public address do not make the process look dead.
pub fn metrics_app(registry: Registry) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(livez))
        .with_state(Arc::new(registry))
}

async fn metrics(State(registry): State<Arc<Registry>>) -> Response {
    let mut body = String::new();
    match text::encode(&mut body, &registry) {
        Ok(()) => ([(CONTENT_TYPE, OPENMETRICS)], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
