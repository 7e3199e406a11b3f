//! The HTTP app without sockets. Every response is held against openapi.yaml.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{Method, Request};
use rotation_game::http::{AppConfig, HttpMetrics, app};
use rotation_game::service::{Config, Service};
use serde_json::Value;

use crate::engine::{CONFIG, FakeEngine};
use crate::openapi::{Answer, OpenApi};

pub(crate) const BOARD: &str = "111132323132231222312133";
/// 13 moves away.
pub(crate) const HARDEST: &str = "112323233232111211122333";

/// How long the next line of a batch, or a whole other body, may take.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_millis(200);

/// What all batches may hold in answers, in bytes: little, so that tests reach it.
pub(crate) const BATCH_MEMORY: usize = 128 * 1024;

/// An app and the document that it has to agree with.
pub(crate) struct Api {
    pub(crate) openapi: OpenApi,
    pub(crate) app: Router,
    pub(crate) service: Service,
    pub(crate) engine: FakeEngine,
}

impl Api {
    pub(crate) fn new() -> Self {
        Self::with(CONFIG)
    }

    pub(crate) fn with(config: Config) -> Self {
        let (service, engine) = crate::engine::service(config);
        let app = app(AppConfig {
            service: service.clone(),
            body_timeout: BODY_TIMEOUT,
            metrics: HttpMetrics::default(),
            batch_memory: BATCH_MEMORY,
            cors: None,
        });
        let openapi = OpenApi::new();
        Self {
            openapi,
            app,
            service,
            engine,
        }
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> Answer {
        self.openapi.call(&self.app, request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Request::get(path).body(Body::empty()).unwrap())
            .await
    }

    pub(crate) async fn post(&self, body: impl Into<Body>) -> Answer {
        let request = Request::post("/solve").header("content-type", "application/json");
        self.call(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn solve(&self, request: Value) -> Answer {
        self.post(request.to_string()).await
    }
}

pub(crate) fn with_header(
    method: Method,
    path: &str,
    name: &str,
    value: &str,
    body: &str,
) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(name, value)
        .body(Body::from(body.to_owned()))
        .unwrap()
}

/// What a problem says: its code, and the pointers of its errors.
pub(crate) fn problem(answer: &Answer) -> (String, Vec<String>) {
    let body = answer.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let pointers = errors
        .iter()
        .map(|error| error["pointer"].as_str().unwrap().to_owned());
    (
        body["code"].as_str().unwrap().to_owned(),
        pointers.collect(),
    )
}
