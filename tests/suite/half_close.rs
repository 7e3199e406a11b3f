//! Clients that shut down their sending side after a complete request, as `nc -N` does.

use std::io::Write;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use rstest::rstest;

use crate::api::BOARD;
use crate::engine::boards;
use crate::running::LONG_SEARCH;
use crate::scene::{Scene, read_to_end, statuses};

/// 12 moves away: `misplaced` takes about 20 ms, well below the grace period.
const SLOW: &str = "121322312311223133231231";
const FIRST: &str = "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3\n";

const REPETITIONS: usize = 10;

/// Sends a request and shuts down the sending side. Returns what the server sends until it closes
/// the connection.
fn send_and_half_close(scene: &Scene, request: &str) -> String {
    let mut stream = scene.connect();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    read_to_end(&mut stream)
}

fn get(version: &str) -> String {
    format!("GET /boards/{BOARD} HTTP/{version}\r\nhost: a\r\nconnection: keep-alive\r\n\r\n")
}

fn post(version: &str, path: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/{version}\r\nhost: a\r\ncontent-type: {content_type}\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// Asserts that a stream has this many lines that contain `answer`, and its end.
fn assert_is_whole(said: &str, version: &str, answer: &str, count: usize) {
    assert_eq!(statuses(said), ["200"], "{said}");
    assert_eq!(said.matches(answer).count(), count);
    // The end of the connection is the end of a body over HTTP/1.0.
    let end = if version == "1.1" { "0\r\n\r\n" } else { "\n" };
    assert!(said.ends_with(end), "{said}");
}

#[rstest]
fn a_lookup_is_answered_after_a_half_close(#[values("1.1", "1.0")] version: &str) {
    let scene = Scene::new(&[]);
    for _ in 0..REPETITIONS {
        let said = send_and_half_close(&scene, &get(version));
        assert_eq!(statuses(&said), ["200"], "{said}");
    }
    scene.end();
}

#[rstest]
fn pipelined_lookups_are_answered_after_a_half_close(#[values("1.1", "1.0")] version: &str) {
    let scene = Scene::new(&[]);
    for _ in 0..REPETITIONS {
        let said = send_and_half_close(&scene, &get(version).repeat(2));
        assert_eq!(statuses(&said), ["200", "200"], "{said}");
    }
    scene.end();
}

#[rstest]
fn a_new_pattern_is_answered_after_a_half_close(#[values("1.1", "1.0")] version: &str) {
    let scene = Scene::new(&[]);
    for goal in boards().take(REPETITIONS) {
        let body = format!(r#"{{"board":"{BOARD}","goal":"{goal}"}}"#);
        let request = post(version, "/solve", "application/json", &body);
        let said = send_and_half_close(&scene, &request);
        assert_eq!(statuses(&said), ["200"], "{said}");
    }
    scene.end();
}

#[rstest]
fn a_slow_search_is_answered_after_a_half_close(#[values("1.1", "1.0")] version: &str) {
    let scene = Scene::new(&[]);
    // The solution is not taken from the cache, since it is explained.
    let body = format!(r#"{{"board":"{SLOW}","heuristic":"misplaced","explain":true}}"#);
    let request = post(version, "/solve", "application/json", &body);
    for _ in 0..REPETITIONS {
        let said = send_and_half_close(&scene, &request);
        assert_eq!(statuses(&said), ["200"], "{said}");
    }
    scene.end();
}

#[rstest]
fn a_batch_of_lines_is_answered_after_a_half_close(
    #[values("1.1", "1.0")] version: &str,
    #[values(1, 1000, 20_000)] lines: usize,
) {
    let scene = Scene::new(&[]);
    let body = format!("\"{BOARD}\"\n").repeat(lines);
    let request = post(version, "/solve/batch", "application/x-ndjson", &body);
    for _ in 0..REPETITIONS {
        let said = send_and_half_close(&scene, &request);
        assert_is_whole(&said, version, "\"AC\"", lines);
    }
    scene.end();
}

#[rstest]
fn a_text_batch_is_answered_after_a_half_close(
    #[values("1.1", "1.0")] version: &str,
    #[values(1, 1000)] boards: usize,
) {
    let scene = Scene::new(&[]);
    let body = FIRST.repeat(boards) + "0\n";
    let request = post(version, "/solve/batch", "text/plain", &body);
    for _ in 0..REPETITIONS {
        let said = send_and_half_close(&scene, &request);
        assert_is_whole(&said, version, "AC\n", boards);
    }
    scene.end();
}

/// A client that waits for a long search looks the same as one that has disconnected.
#[rstest]
fn a_long_search_is_given_up_after_a_half_close(#[values("1.1", "1.0")] version: &str) {
    let scene = Scene::new(&["--search-timeout", "10m"]);
    let started = Instant::now();
    let request = post(version, "/solve", "application/json", LONG_SEARCH);
    let said = send_and_half_close(&scene, &request);
    assert_eq!(said, "");
    let elapsed = started.elapsed();
    let expected = Duration::from_millis(200)..Duration::from_secs(10);
    assert!(expected.contains(&elapsed), "{elapsed:?}");
    scene.end();
}

#[rstest]
#[case("/solve", "application/json", "malformed-json")]
#[case(
    "/solve/batch",
    "application/x-ndjson",
    "the input broke off before its end"
)]
fn an_incomplete_request_is_refused_soon_after_a_half_close(
    #[case] path: &str,
    #[case] content_type: &str,
    #[case] refusal: &str,
) {
    let scene = Scene::new(&["--body-timeout", "10m"]);
    let whole = post("1.1", path, content_type, "\"1111");
    let request = whole.replace("content-length: 5", "content-length: 50");
    let started = Instant::now();
    let said = send_and_half_close(&scene, &request);
    assert!(said.contains(refusal), "{said}");
    assert!(started.elapsed() < Duration::from_secs(10));
    scene.end();
}
