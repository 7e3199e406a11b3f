//! `POST /solve/batch`: streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use axum::body::Body;
use futures_util::{StreamExt, stream};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use rotation_game::service::Config;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::advance;
use tower::ServiceExt;

use crate::api::{Api, BATCH_MEMORY, BOARD, BODY_TIMEOUT, HARDEST};
use crate::engine::{CONFIG, boards, until};
use crate::openapi::Answer;
use crate::running::Server;
use crate::support::{run, text};

const FIRST: &str = "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3";

fn request(content_type: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post("/solve/batch")
        .header("content-type", content_type)
        .body(body.into())
        .unwrap()
}

/// A body that is sent as the test says.
fn fed_input() -> (mpsc::Sender<Result<String, std::io::Error>>, Body) {
    let (sender, receiver) = mpsc::channel(1);
    let input = stream::unfold(receiver, |mut receiver| async {
        Some((receiver.recv().await?, receiver))
    });
    (sender, Body::from_stream(input))
}

async fn batch(api: &Api, content_type: &str, body: impl Into<Body>) -> Answer {
    api.call(request(content_type, body)).await
}

/// The answer lines to these lines, each held against the document.
async fn lines(api: &Api, body: impl Into<Body>) -> Vec<Value> {
    let answer = batch(api, "application/x-ndjson", body).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let lines = text(&answer.body)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    for line in &lines {
        api.openapi.check_line(line);
    }
    lines
}

/// What a line says in short: the moves, or the code and the line.
fn in_short(line: &Value) -> String {
    match line["code"].as_str() {
        Some(code) => format!("{code} in line {}", line["line"]),
        None => line["moves"].as_str().unwrap().to_owned(),
    }
}

#[tokio::test]
async fn each_line_is_answered_in_order_and_a_bad_one_costs_only_itself() {
    let api = Api::new();
    api.engine.release();
    let array: Vec<u32> = BOARD
        .chars()
        .map(|digit| digit.to_digit(10).unwrap())
        .collect();
    let mut body = Vec::new();
    for line in [
        format!("\"{BOARD}\""),
        String::new(),
        json!(array).to_string(),
        "nonsense".to_owned(),
        json!({"board": BOARD, "max_depth": 1}).to_string(),
        json!({"board": BOARD, "depth": 1}).to_string(),
        "\"111132323132231222312134\"".to_owned(),
        format!("\"{}\"", "1".repeat(5000)),
        "  \t".to_owned(),
        json!({"board": HARDEST, "heuristic": "misplaced"}).to_string(),
        "7".to_owned(),
        format!("\"{BOARD}\"\r"),
    ] {
        body.extend_from_slice(line.as_bytes());
        body.push(b'\n');
    }
    body.extend_from_slice(b"\"\xff\"\n");
    body.extend_from_slice(
        json!({"board": "222222111221133111333333"})
            .to_string()
            .as_bytes(),
    );
    let expected = [
        "AC",
        "AC",
        "malformed-json in line 4",
        "depth-cap-reached in line 5",
        "invalid-request in line 6",
        "invalid-board in line 7",
        "payload-too-large in line 8",
        "AAABGAHBDDDHB",
        "invalid-request in line 11",
        "AC",
        "malformed-json in line 13",
        "",
    ];
    // Whatever pieces it comes in.
    for size in [1, 100, 100_000] {
        let pieces: Vec<_> = body
            .chunks(size)
            .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
            .collect();
        let answers = lines(&api, Body::from_stream(stream::iter(pieces))).await;
        assert_eq!(
            answers.iter().map(in_short).collect::<Vec<_>>(),
            expected,
            "{size}"
        );
        assert_eq!(answers[3]["lower_bound"], 2);
        assert_eq!(answers[5]["errors"][0]["pointer"], "/board/23");
    }
}

#[tokio::test]
async fn a_line_can_ask_for_an_explanation() {
    let api = Api::new();
    api.engine.release();
    for heuristic in ["pattern-database", "misplaced"] {
        let line = json!({"board": BOARD, "explain": true, "heuristic": heuristic}).to_string();
        let answers = lines(&api, line).await;
        assert_eq!(answers[0]["search"]["heuristic"], heuristic);
        assert_eq!(answers[0]["search"]["nodes"], 3);
    }
}

#[tokio::test]
async fn an_empty_input_has_an_empty_answer() {
    let api = Api::new();
    assert_eq!(lines(&api, "\n\n").await, Vec::<Value>::new());
    assert!(batch(&api, "text/plain", "").await.body.is_empty());
}

#[tokio::test]
async fn the_judges_text_is_answered_as_the_judge_expects() {
    let api = Api::new();
    let input = include_str!("../data/by-distance.in");
    let answer = batch(&api, "text/plain; charset=utf-8", input).await;
    assert_eq!(text(&answer.body), include_str!("../data/by-distance.out"));
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
}

#[tokio::test]
async fn a_bad_first_board_is_a_problem_and_a_later_one_the_last_line() {
    let api = Api::new();
    let bad = "1 2 3 x";
    let answer = batch(&api, "text/plain", bad).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer.json()["code"], "invalid-board");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.starts_with("board 1, line 1, column 8: "),
        "{detail}"
    );

    let answer = batch(&api, "text/plain", format!("{FIRST}\n{bad}")).await;
    assert_eq!(answer.status, StatusCode::OK);
    let (answers, error) = text(&answer.body).split_at(5);
    assert_eq!(answers, "AC\n2\n");
    assert!(
        error.starts_with("error: board 2, line 2, column 8: "),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
}

#[tokio::test]
async fn a_board_beyond_the_servers_cap_ends_the_judges_text_and_a_first_one_is_a_problem() {
    const FAR: &str = "1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3";
    let api = Api::with(Config {
        max_depth: 3,
        ..CONFIG
    });
    let input = format!(
        "{}{FAR}\n{}",
        format!("{FIRST}\n").repeat(1000),
        format!("{FIRST}\n").repeat(3000)
    );
    for size in [500, 5000, 1_000_000] {
        let pieces: Vec<_> = input
            .as_bytes()
            .chunks(size)
            .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
            .collect();
        let answer = batch(&api, "text/plain", Body::from_stream(stream::iter(pieces))).await;
        let lines: Vec<&str> = text(&answer.body).lines().collect();
        assert_eq!(lines.len(), 2001, "{size}");
        assert_eq!(
            lines[2000],
            "error: board 1001, line 1001, column 1: no solution within 3 moves; the shortest has at least 4"
        );
    }
    let answer = batch(&api, "text/plain", FAR).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer.json()["code"], "depth-cap-reached");
}

#[tokio::test]
async fn an_input_that_breaks_off_is_not_taken_for_a_whole_one() {
    let api = Api::new();
    let breaking = |start: String| {
        let pieces = [Ok(start.into_bytes()), Err(std::io::Error::other("broken"))];
        Body::from_stream(stream::iter(pieces))
    };
    let answers = lines(&api, breaking(format!("\"{BOARD}\"\n\"{BOARD}"))).await;
    assert_eq!(
        answers.iter().map(in_short).collect::<Vec<_>>(),
        ["AC", "invalid-request in line 2"]
    );
    let answer = batch(&api, "text/plain", breaking(format!("{FIRST}\n1 2"))).await;
    assert_eq!(
        text(&answer.body),
        "AC\n2\nerror: the input broke off before its end\n"
    );
    let answer = batch(&api, "text/plain", breaking("1 2".to_owned())).await;
    assert_eq!(answer.json()["code"], "invalid-request");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_for_answers_does_not_stall() {
    let api = Api::new();
    let board = boards().nth(9).unwrap();
    let line = json!({"board": board, "heuristic": "misplaced"}).to_string() + "\n";
    let (sender, input) = fed_input();
    let request = request("application/x-ndjson", input);
    let body = api.app.clone().oneshot(request).await.unwrap().into_body();
    let reading = tokio::spawn(body.collect());
    sender.send(Ok(line)).await.unwrap();
    // The clock stands still as long as a task is ready.
    while api.engine.searches() != 1 {
        yield_now().await;
    }
    for _ in 0..3 {
        advance(BODY_TIMEOUT).await;
        for _ in 0..100 {
            yield_now().await;
        }
    }
    assert_eq!(api.engine.stopped(), 0);
    api.engine.release();
    drop(sender);
    while !reading.is_finished() {
        yield_now().await;
    }
    let answers = reading.await.unwrap().unwrap().to_bytes();
    assert!(
        !text(&answers).contains("request-timeout"),
        "{}",
        text(&answers)
    );
}

#[tokio::test]
async fn a_search_is_stopped_when_its_input_breaks_off() {
    let api = Api::new();
    let board = boards().nth(9).unwrap();
    let line = json!({"board": board, "heuristic": "misplaced"}).to_string() + "\n";
    let (sender, input) = fed_input();
    let request = request("application/x-ndjson", input);
    let body = api.app.clone().oneshot(request).await.unwrap().into_body();
    let reading = tokio::spawn(body.collect());
    sender.send(Ok(line)).await.unwrap();
    until("it searches", || api.engine.searches() == 1).await;
    sender
        .send(Err(std::io::Error::other("gone")))
        .await
        .unwrap();
    until("it is stopped", || api.engine.stopped() == 1).await;
    reading.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_batch_is_slowed_down_and_not_refused() {
    let api = Api::with(Config {
        search_queue: 0,
        ..CONFIG
    });
    let lines_of = |skip: usize| -> String {
        let boards = boards().skip(skip).take(5);
        boards
            .map(|board| json!({"board": board, "heuristic": "misplaced"}).to_string() + "\n")
            .collect()
    };
    api.engine.release();
    let (one, other) = tokio::join!(lines(&api, lines_of(0)), lines(&api, lines_of(5)));
    assert!(
        one.iter()
            .chain(&other)
            .all(|line| line["moves"].is_string()),
        "{one:?} {other:?}"
    );
    let rejected = api.service.metrics().searches_rejected.get();
    assert_eq!(rejected, 0, "only requests that get a 503 count");
}

/// Sends endless batches whose answers nobody reads, on every slot and then some.
#[tokio::test]
async fn unread_batches_do_not_delay_another_batch() {
    let api = Api::new();
    let mut unread = Vec::new();
    for number in 0..4 * CONFIG.search_concurrency {
        let (content_type, board) = if number % 2 == 0 {
            ("application/x-ndjson", format!("\"{BOARD}\"\n"))
        } else {
            ("text/plain", format!("{FIRST}\n"))
        };
        let input = stream::repeat_with(move || Ok::<_, std::io::Error>(board.repeat(100)));
        let request = request(content_type, Body::from_stream(input));
        unread.push(api.app.clone().oneshot(request).await.unwrap());
    }
    for _ in 0..20 {
        let answers = lines(&api, format!("\"{BOARD}\"")).await;
        assert_eq!(answers.len(), 1);
    }
    drop(unread);
    until("all is quiet", || {
        let metrics = api.service.metrics();
        (
            metrics.searches_running.get(),
            metrics.searches_waiting.get(),
        ) == (0, 0)
    })
    .await;
}

#[tokio::test]
async fn long_lines_of_a_batch_stay_in_order_with_exact_ones() {
    let api = Api::new();
    api.engine.release();
    let boards: Vec<_> = boards().take(30).collect();
    let body: String = (boards.iter().enumerate())
        .map(|(index, board)| {
            let heuristic = if index % 7 == 3 {
                "pattern-database"
            } else {
                "misplaced"
            };
            json!({"board": board, "heuristic": heuristic}).to_string() + "\n"
        })
        .collect();
    let answers = lines(&api, body).await;
    let exact: Vec<String> = boards
        .iter()
        .map(|board| format!("\"{board}\"\n"))
        .collect();
    let exact = lines(&api, exact.concat()).await;
    assert_eq!(answers, exact);
}

#[tokio::test]
async fn an_input_that_stalls_ends_with_a_problem() {
    let api = Api::new();
    let stalling = |start: String| {
        let start = stream::iter([Ok::<_, std::io::Error>(start.into_bytes())]);
        Body::from_stream(start.chain(stream::pending()))
    };
    let answers = lines(&api, stalling(format!("\"{BOARD}\"\n\"{BOARD}"))).await;
    assert_eq!(
        answers.iter().map(in_short).collect::<Vec<_>>(),
        ["AC", "request-timeout in line 2"]
    );
    let answer = batch(&api, "text/plain", stalling(format!("{FIRST}\n"))).await;
    assert_eq!(
        text(&answer.body),
        "AC\n2\nerror: nothing more arrived for 200ms\n"
    );
    let answer = batch(&api, "text/plain", stalling("1 2".to_owned())).await;
    assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn answers_flow_before_the_input_ends() {
    let api = Api::new();
    let (sender, input) = fed_input();
    let request = request("application/x-ndjson", input);
    let mut body = api.app.clone().oneshot(request).await.unwrap().into_body();
    for _ in 0..3 {
        sender.send(Ok(format!("\"{BOARD}\"\n"))).await.unwrap();
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(
            frame.into_data().unwrap(),
            "{\"moves\":\"AC\",\"length\":2,\"centre\":2}\n"
        );
    }
    drop(sender);
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn a_slow_reader_slows_the_input_down() {
    const LINES: usize = 100;
    let api = Api::new();
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let line = format!("\"{BOARD}\"\n");
    let input = stream::repeat_with(move || {
        count.fetch_add(1, Relaxed);
        Ok::<_, std::io::Error>(line.repeat(LINES))
    });
    let request = request("application/x-ndjson", Body::from_stream(input));
    let mut body = api.app.clone().oneshot(request).await.unwrap().into_body();
    let mut read = 0;
    for _ in 0..50 {
        until("the memory of batches is used up", || {
            let unread = (taken.load(Relaxed) * LINES).saturating_sub(read);
            // An answer takes eight bytes; a few pieces are on their way.
            assert!(unread <= BATCH_MEMORY / 8 + 10 * LINES, "{unread} lines");
            unread * 8 >= BATCH_MEMORY / 4
        })
        .await;
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        read += text(&frame).lines().count();
    }
    drop(body);
    until("its threads are free", || {
        api.service.metrics().searches_running.get() == 0
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_stops_the_search_of_its_batch() {
    let api = Api::new();
    let board = boards().nth(9).unwrap();
    let line = json!({"board": board, "heuristic": "misplaced"}).to_string();
    let request = request("application/x-ndjson", line);
    let body = api.app.clone().oneshot(request).await.unwrap().into_body();
    let reading = tokio::spawn(body.collect());
    until("it searches", || api.engine.searches() == 1).await;
    reading.abort();
    until("it is stopped", || api.engine.stopped() == 1).await;
    until("its thread is free", || {
        api.service.metrics().searches_running.get() == 0
    })
    .await;
}

/// Sends a batch over a real connection, and reads the answers while it is being sent.
fn over_the_wire(server: &Server, content_type: &str, input: Vec<u8>) -> Vec<u8> {
    let mut sending = TcpStream::connect(server.address).unwrap();
    let mut receiving = BufReader::new(sending.try_clone().unwrap());
    let head = format!(
        "POST /solve/batch HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         content-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
        input.len()
    );
    let sender = thread::spawn(move || {
        sending.write_all(head.as_bytes()).unwrap();
        sending.write_all(&input).unwrap();
        sending
    });
    let mut line = String::new();
    let mut is_chunked = false;
    while receiving.read_line(&mut line).unwrap() > 0 && line.trim_end() != "" {
        is_chunked |= line.starts_with("transfer-encoding: chunked");
        line.clear();
    }
    assert!(is_chunked, "it is a stream");
    let mut answers = Vec::new();
    loop {
        let mut size = String::new();
        receiving.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let start = answers.len();
        answers.resize(start + size, 0);
        receiving.read_exact(&mut answers[start..]).unwrap();
        receiving.read_exact(&mut [0; 2]).unwrap();
        if size == 0 {
            break;
        }
    }
    drop(sender.join().unwrap().shutdown(Shutdown::Both));
    answers
}

#[test]
fn a_million_boards_are_answered_as_by_the_command_line() {
    let count = "1000000";
    let input = run(&["random", "--seed", "1", "--count", count], "").stdout;
    let expected = run(&["solve"], &input).stdout;
    let server = Server::start(&[]);
    let answers = over_the_wire(&server, "text/plain", input);
    assert_eq!(text(&answers).lines().count(), 2_000_000);
    assert!(answers == expected, "the answers differ");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_a_batch_and_single_requests_are_answered_beside_it() {
    let server = Server::start(&["--log", "off"]);
    let peak_kib = || server.memory_kib("VmHWM");
    let input = |lines: usize| format!("\"{HARDEST}\"\n").repeat(lines).into_bytes();
    over_the_wire(&server, "application/x-ndjson", input(20_000));
    let small = peak_kib();
    thread::scope(|scope| {
        let batch = scope.spawn(|| over_the_wire(&server, "application/x-ndjson", input(400_000)));
        while !batch.is_finished() {
            assert_eq!(server.solve(&json!({"board": BOARD})).status, 200);
        }
        let answers = batch.join().unwrap();
        assert_eq!(text(&answers).lines().count(), 400_000);
    });
    let large = peak_kib();
    assert!(large < small + 16 * 1024, "{small} KiB, then {large} KiB");
}
