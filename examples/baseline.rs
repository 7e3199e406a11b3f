//! What the framework costs without us: a bare axum server that reads the same JSON and answers a
//! constant of the same size. `scripts/bench-http` measures the real server against it.

use std::error::Error;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::post};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

#[derive(Deserialize)]
struct Request {
    board: String,
}

async fn solve(Json(request): Json<Request>) -> Response {
    // So that nobody can say that the board need not be read.
    assert_eq!(request.board.len(), 24, "a board has 24 digits");
    let answer = r#"{"moves":"AAABGAHBD","length":9,"centre":1}"#;
    ([(CONTENT_TYPE, "application/json")], answer).into_response()
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: baseline ADDRESS")?;
    Runtime::new()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        axum::serve(listener, Router::new().route("/solve", post(solve))).await?;
        Ok(())
    })
}
