//! The HTTP face of the service: routes, what they take and give, and the layers around them.
//!
//! [`app`] is a pure function of its state, so that tests call it without a socket.

mod assets;
mod batch;
mod boards;
mod caching;
mod docs;
mod extract;
mod json;
mod layers;
mod metrics;
mod page;
mod pages;
mod problem;
mod solve;
mod trace_context;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::routing::MethodRouter;
use http::HeaderValue;
use tokio::sync::Semaphore;
use tower_http::cors::CorsLayer;

use crate::analysis::Samplers;
use crate::service::Service;
use docs::Documents;
use layers::Around;

pub use metrics::{HttpMetrics, metrics_app};
pub use problem::{Code, FieldError, Problem};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// What [`app`] needs.
pub struct AppConfig {
    /// Answers boards.
    pub service: Service,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// Counts requests.
    pub metrics: HttpMetrics,
    /// Bytes of answers that all batches together may hold until they are read.
    pub batch_memory: usize,
    /// Which pages elsewhere may use the API from a browser, if any.
    pub cors: Option<CorsLayer>,
}

/// What handlers share.
#[derive(Clone)]
struct AppState(Arc<Shared>);

struct Shared {
    service: Service,
    body_timeout: Duration,
    batch_memory: Arc<Semaphore>,
    samplers: Samplers,
    /// Made when they are asked for.
    documents: OnceLock<Documents>,
}

impl AppState {
    fn documents(&self) -> &Documents {
        let new = || Documents::new(self.0.service.config());
        self.0.documents.get_or_init(new)
    }
}

/// What answers at a path.
type Methods = fn(&Around) -> MethodRouter;

/// All paths and what answers there.
const ROUTES: [(&str, Methods); 14] = [
    ("/", |around| around.get(page::home)),
    ("/assets/{version}/{name}", |around| {
        around.get(assets::asset)
    }),
    ("/boards/random", |around| around.get(boards::random)),
    ("/boards/{board}", |around| around.get(boards::board)),
    ("/boards/{board}/replay/{moves}", |around| {
        around.get(boards::replay)
    }),
    ("/boards/{board}/solutions", |around| {
        around.get(boards::solutions)
    }),
    ("/docs", |around| around.get(docs::docs)),
    ("/livez", |around| around.get(pages::livez)),
    ("/openapi.json", |around| around.get(docs::json)),
    ("/openapi.yaml", |around| around.get(docs::yaml)),
    ("/problems/{code}", |around| around.get(pages::problem)),
    ("/readyz", |around| around.get(pages::readyz)),
    ("/solve", |around| around.post(solve::solve)),
    ("/solve/batch", |around| around.post(batch::batch)),
];

/// The paths of [`app`], as patterns.
pub fn paths() -> impl Iterator<Item = &'static str> {
    ROUTES.into_iter().map(|(path, _)| path)
}

/// All that the public address serves.
pub fn app(config: AppConfig) -> Router {
    let AppConfig {
        service,
        body_timeout,
        metrics,
        batch_memory,
        cors,
    } = config;
    let state = AppState(Arc::new(Shared {
        service,
        body_timeout,
        batch_memory: Arc::new(Semaphore::new(batch_memory.min(Semaphore::MAX_PERMITS))),
        samplers: Samplers::default(),
        documents: OnceLock::new(),
    }));
    let around = |route| Around {
        state: state.clone(),
        metrics: Arc::new(metrics.of_route(route)),
        cors: cors.clone(),
    };
    let unmatched = around("unmatched").any(pages::not_found);
    ROUTES
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            router.route(path, methods(&around(path)))
        })
        .fallback_service(unmatched)
}
