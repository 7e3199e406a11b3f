//! What the framework costs without us: a bare axum server that reads the same JSON and answers a
//! constant of the same size. `scripts/bench-http` measures the real server against it.

use std::error::Error;

use axum::http::HeaderName;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use axum::{Json, Router, routing::post};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

#[derive(Deserialize)]
struct Request {
    board: String,
}

/// The head and the body of a real answer, byte for byte.
const HEADERS: [(HeaderName, &str); 8] = [
    (CONTENT_TYPE, "application/json"),
    (
        HeaderName::from_static("cache-status"),
        "rotation-game; hit",
    ),
    (HeaderName::from_static("server-timing"), "cache;desc=hit"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (HeaderName::from_static("x-request-id"), "0123456789abcdef"),
];
const BODY: &str = r#"{"moves":"AAABGAHBD","length":9,"centre":1}"#;

async fn solve(Json(request): Json<Request>) -> Response {
    // So that nobody can say that the board need not be read.
    assert_eq!(request.board.len(), 24, "a board has 24 digits");
    (HEADERS, BODY).into_response()
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: baseline ADDRESS")?;
    Runtime::new()?.block_on(async {
        let listener = TcpListener::bind(address).await?.tap_io(|stream| {
            // Else small answers wait for those before them to be acknowledged, up to 40 ms.
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, Router::new().route("/solve", post(solve))).await?;
        Ok(())
    })
}
