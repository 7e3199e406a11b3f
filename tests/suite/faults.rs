//! What goes wrong inside costs what it has to, and no more.

use std::thread;
use std::time::Duration;

use http::Request;
use rotation_game::puzzle::Goal;
use rotation_game::search::HeuristicKind::PatternDatabase;
use rotation_game::service::{self, Config, Service};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::api::{Api, BOARD};
use crate::engine::{CONFIG, boards};
use crate::running::Server;
use crate::support::text;

#[rstest]
#[case::lines("application/x-ndjson", &format!("\"{BOARD}\"\n"))]
#[case::judge("text/plain", "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3")]
#[tokio::test]
async fn a_panic_in_a_batch_is_told_in_its_place_and_the_next_batch_is_answered(
    #[case] content_type: &str,
    #[case] body: &str,
) {
    let api = Api::new();
    let call = async || {
        let request = Request::post("/solve/batch").header("content-type", content_type);
        api.call(request.body(body.to_owned().into()).unwrap())
            .await
    };
    api.engine.panic(true);
    let answer = call().await;
    let said = text(&answer.body);
    if content_type == "text/plain" {
        assert_eq!(answer.status, 500, "the first board decides");
        assert_eq!(answer.json()["code"], "internal");
    } else {
        let line: Value = serde_json::from_str(said).unwrap();
        assert_eq!(
            (&line["code"], &line["line"]),
            (&json!("internal"), &json!(1))
        );
    }
    api.engine.panic(false);
    assert!(text(&call().await.body).contains("AC"));
    assert_eq!(api.service.metrics().searches_running.get(), 0);
}

#[tokio::test]
async fn a_cache_of_one_place_answers_like_a_large_one() {
    let service = Service::new(Config {
        cache_capacity: 1,
        ..CONFIG
    });
    for _ in 0..3 {
        for board in boards().take(20) {
            let request = service::Request {
                board,
                goal: Goal::Centre,
                max_depth: 32,
                timeout: Duration::from_mins(1),
                heuristic: PatternDatabase,
                explain: false,
            };
            let solution = service.solve(request).await.unwrap().solution;
            assert_eq!(board.after_all(&solution.moves).centre(), solution.centre);
            assert_eq!(service.metrics().cache_entries.get(), 1);
        }
    }
}

/// Whoever suspends the process makes its clock jump: all deadlines have passed when it goes on.
#[test]
fn a_process_that_was_suspended_goes_on() {
    let server = Server::start(&["--header-timeout", "500ms", "--body-timeout", "500ms"]);
    let mut searching = server.connect();
    let far = json!({
        "board": "113331232232211122313132", "goal": "112311231323132213232213",
        "heuristic": "misplaced", "timeout_ms": 700
    });
    searching.send_solve(&far);
    let mut halfway = server.connect();
    halfway.send(
        "POST /solve HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
    );
    let mut idle = server.connect();
    server.signal(Signal::STOP);
    // The deadlines of the process pass by the clock of the system.
    thread::sleep(Duration::from_secs(1));
    let mut patient = server.connect();
    patient.send_solve(&json!({"board": BOARD}));
    server.signal(Signal::CONT);
    assert_eq!(
        searching.response().unwrap().json()["code"],
        "search-timeout"
    );
    assert_eq!(
        halfway.response().unwrap().json()["code"],
        "request-timeout"
    );
    assert!(idle.response().is_none());
    // Its request lay in the socket all the time.
    assert_eq!(patient.response().unwrap().json()["moves"], "AC");
    assert_eq!(server.get("/readyz").status, 200);
    server.signal(Signal::TERM);
    assert!(server.end().0.success());
}
