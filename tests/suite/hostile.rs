//! Hostile clients over HTTP/1, against the real server. Whatever they do, they are answered or closed
//! within its limits, a healthy client is served beside them, and nothing is left of them.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};

use crate::engine::boards;
use crate::running::{Connection, eventually, metric};
use crate::scene::{LAST, SOLVE, Scene, TIMEOUT, read_to_end, send_slowly, statuses};

#[rstest]
#[case::head("GET /livez HTTP/1.1\r\nhost: a\r\nx-padding: aaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n", &[])]
#[case::http_2_preface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[])]
#[case::body(
    "POST /solve HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"board\": \"1111323231",
    &["408"]
)]
#[case::chunks(
    "POST /solve HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n \r\n1\r\n \r\n1\r\n \r\n",
    &["408"]
)]
fn dripped_requests_end_after_the_timeout(#[case] sent: &str, #[case] expected: &[&str]) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    // Only a body is dripped, not the head before it.
    let head = sent
        .find("\r\n\r\n{")
        .or(sent.find("\r\n\r\n1"))
        .map_or(0, |end| end + 4);
    stream.write_all(&sent.as_bytes()[..head]).unwrap();
    let started = Instant::now();
    let said = send_slowly(stream, sent.as_bytes()[head..].chunks(1), TIMEOUT / 10);
    assert!(started.elapsed() >= TIMEOUT, "{:?}", started.elapsed());
    assert_eq!(statuses(&said), expected, "{said}");
    scene.end();
}

#[rstest]
#[case::long_header(&format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "a".repeat(16_384)), "431")]
#[case::many_headers(&format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "x: a\r\n".repeat(100)), "431")]
#[case::long_path(&format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(16_384)), "431")]
#[case::chunk_of_any_length(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), "400")]
#[case::negative_chunk(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n-1\r\n"), "400")]
#[case::chunk_extension(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n1;{}", "a".repeat(20_000)), "400")]
#[case::trailers(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n1\r\n \r\n0\r\n{}\r\n", "x: a\r\n".repeat(3000)), "400")]
#[case::chunks_without_end(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n{}", "a\r\n          \r\n".repeat(500)), "413")]
#[case::announced_terabyte(&format!("{SOLVE}content-length: 1099511627776\r\n\r\n"), "413")]
#[case::greatest_length(&format!("{SOLVE}content-length: 18446744073709551613\r\n\r\n"), "413")]
// The HTTP library refuses the next ones itself: it uses two as marks, and more has no 64 bits.
#[case::length_of_a_mark(&format!("{SOLVE}content-length: 18446744073709551615\r\n\r\n"), "431")]
#[case::length_beyond_64_bits(&format!("{SOLVE}content-length: 18446744073709551616\r\n\r\n"), "400")]
#[case::tls("\x16\x03\x01\x02\0\x01\0\x01\u{7c}\x03\x03\0\0\0\0", "400")]
fn oversized_or_invalid_requests_are_refused(#[case] sent: &str, #[case] expected: &str) {
    let scene = Scene::new(&[]);
    let said = send_slowly(scene.connect(), [sent.as_bytes()], Duration::ZERO);
    assert_eq!(statuses(&said), [expected], "{said}");
    scene.end();
}

#[rstest]
#[case::length(&["x: ", &"a".repeat(16_000), "\r\n"].concat())]
#[case::number(&"x: a\r\n".repeat(99))]
fn heads_within_the_limits_are_read(#[case] headers: &str) {
    let scene = Scene::new(&[]);
    let mut connection = Connection::to(scene.server.address);
    connection.send(&format!("GET /livez HTTP/1.1\r\nhost: a\r\n{headers}\r\n"));
    assert_eq!(connection.response().unwrap().status, 200);
    drop(connection);
    scene.end();
}

#[test]
fn input_after_a_refusal_is_discarded_up_to_64_mib() {
    const MIB: usize = 1024 * 1024;
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let piece = vec![b'a'; 65_536];
    let mut sent = 0;
    while sent < 200 * MIB && stream.write_all(&piece).is_ok() {
        sent += piece.len();
    }
    // Besides, the sockets hold some.
    assert!((64 * MIB..100 * MIB).contains(&sent), "{sent} bytes");
    scene.end();
}

#[test]
fn a_thousand_requests_at_once_on_one_connection_are_answered_in_order() {
    let scene = Scene::new(&[]);
    let mut connection = Connection::to(scene.server.address);
    connection.send(&"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n".repeat(999));
    connection.send(LAST);
    for _ in 0..1000 {
        assert_eq!(connection.response().unwrap().status, 200);
    }
    assert!(connection.response().is_none());
    scene.end();
}

#[test]
fn idle_connections_beyond_the_cap_wait_and_those_within_it_make_room() {
    const CAP: u64 = 500;
    const CLIENTS: u64 = 3000;
    let scene = Scene::new(&["--max-connections", "500"]);
    let open = || metric(&scene.metrics, "rotation_game_connections");
    eventually("the healthy client is there", || open() == 1);
    let (mut most, mut idle) = (0, Vec::new());
    thread::scope(|scope| {
        // Beyond the system's queue, connecting waits until others have been dropped.
        let clients = scope.spawn(|| (0..CLIENTS).map(|_| scene.connect()).collect());
        while !clients.is_finished() {
            most = most.max(open());
        }
        idle = clients.join().unwrap();
    });
    for stream in &mut idle {
        assert_eq!(read_to_end(stream), "");
    }
    assert!((2..=CAP).contains(&most), "{most} were open");
    let accepted = metric(&scene.metrics, "rotation_game_connections_accepted_total");
    assert!(accepted > CLIENTS, "nobody is forgotten: {accepted}");
    scene.end();
}

/// Returns the head of a batch whose length is missing.
fn batch_head(content_type: &str) -> String {
    format!(
        "POST /solve/batch HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: {content_type}\r\n"
    )
}

/// Only a complete line or board renews the patience with a batch.
#[rstest]
#[case::ndjson("application/x-ndjson", "\n", "200")]
#[case::text("text/plain", " ", "408")]
fn a_batch_of_blanks_times_out(
    #[case] content_type: &str,
    #[case] blank: &str,
    #[case] status: &str,
) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    let head = batch_head(content_type) + "content-length: 1000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let started = Instant::now();
    let blanks = [blank.as_bytes()].repeat(100);
    let said = send_slowly(stream, blanks, Duration::from_millis(300));
    let elapsed = started.elapsed();
    assert!((TIMEOUT..8 * TIMEOUT).contains(&elapsed), "{elapsed:?}");
    assert_eq!(statuses(&said), [status], "{said}");
    assert!(said.contains("request-timeout"), "{said}");
    scene.end();
}

#[rstest]
#[case::ndjson("application/x-ndjson", "\"111132323132231222312133\"\n", "\"AC\"")]
#[case::text(
    "text/plain",
    "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3\n0\n",
    "AC\n2\n"
)]
fn a_batch_is_asked_for_after_expect_100_continue(
    #[case] content_type: &str,
    #[case] body: &str,
    #[case] answer: &str,
) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    let head = batch_head(content_type);
    let length = body.len();
    let head = format!("{head}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut interim = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).unwrap();
    let said = read_to_end(&mut stream);
    assert_eq!(statuses(&said), ["200"], "{said}");
    assert!(said.contains(answer), "{said}");
    scene.end();
}

/// A refusal reaches even a client that reads nothing before it has sent its whole body.
#[rstest]
#[case::too_large("/solve", "application/json", "{", "413")]
#[case::wrong_type("/solve/batch", "application/json", "{", "415")]
#[case::unknown_path("/nowhere", "application/json", "{", "404")]
#[case::bad_board("/solve/batch", "text/plain", "1 2 3 x\n", "422")]
fn a_refusal_is_read_after_a_long_body(
    #[case] path: &str,
    #[case] content_type: &str,
    #[case] start: &str,
    #[case] status: &str,
    #[values(true, false)] is_chunked: bool,
) {
    const BYTES: usize = 10_000_000;
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    let mut request =
        format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: {content_type}\r\n");
    let body = start.to_owned() + &" ".repeat(BYTES - start.len());
    if is_chunked {
        write!(
            request,
            "transfer-encoding: chunked\r\n\r\n{BYTES:x}\r\n{body}\r\n0\r\n\r\n"
        )
        .unwrap();
    } else {
        write!(request, "content-length: {BYTES}\r\n\r\n{body}").unwrap();
    }
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(statuses(&String::from_utf8_lossy(&head)), [status]);
    drop(stream);
    scene.end();
}

#[test]
fn a_client_that_sends_a_million_lines_before_reading_is_answered() {
    const LINES: usize = 1_000_000;
    let scene = Scene::new(&[]);
    let boards: Vec<String> = boards().map(|board| board.to_string()).collect();
    let expected: Vec<Value> = boards
        .iter()
        .map(|board| scene.server.solve(&json!({"board": board})).json())
        .collect();
    let cycle = boards.iter().cycle().take(LINES);
    let lines: Vec<String> = cycle.map(|board| format!("\"{board}\"\n")).collect();
    let body = lines.concat();
    let mut stream = scene.connect();
    let head = batch_head("application/x-ndjson");
    let head = format!("{head}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let said = read_to_end(&mut stream);
    let answers = unchunked(&said);
    assert_eq!(answers.lines().count(), LINES);
    for (answer, expected) in answers.lines().zip(expected.iter().cycle()) {
        assert_eq!(&serde_json::from_str::<Value>(answer).unwrap(), expected);
    }
    scene.end();
}

/// Returns the body of a chunked response.
fn unchunked(response: &str) -> String {
    let (_, mut rest) = response.split_once("\r\n\r\n").unwrap();
    let mut body = String::new();
    loop {
        let (size, chunk) = rest.split_once("\r\n").unwrap();
        match usize::from_str_radix(size, 16).unwrap() {
            0 => return body,
            size => {
                body.push_str(&chunk[..size]);
                rest = &chunk[size + 2..];
            }
        }
    }
}

/// Within twice the figures of docs/operations.md.
#[cfg(target_os = "linux")]
#[test]
fn slow_connections_take_little_memory() {
    const CLIENTS: u64 = 300;
    let scene = Scene::new(&["--header-timeout", "60s", "--body-timeout", "60s"]);
    let memory = || scene.server.memory_kib("VmRSS");
    let before = memory();
    assert!(before < 14 * 1024, "{before} KiB at rest");
    let mut clients: Vec<TcpStream> = (0..CLIENTS).map(|_| scene.connect()).collect();
    for (index, stream) in clients.iter_mut().enumerate() {
        let head = format!("{SOLVE}content-length: 4000\r\n\r\n{}", " ".repeat(3000));
        let sent = match index % 3 {
            0 => "",
            1 => &head[..40],
            _ => &head,
        };
        stream.write_all(sent.as_bytes()).unwrap();
    }
    eventually("all are open", || {
        metric(&scene.metrics, "rotation_game_connections") == CLIENTS + 1
    });
    let each = memory().saturating_sub(before) / CLIENTS;
    assert!(each < 54, "{each} KiB each");
    drop(clients);
    scene.end();
}

/// Each bad line of two bytes has an answer that is a hundred times as long.
#[cfg(target_os = "linux")]
#[test]
fn unread_answers_of_many_batches_take_little_memory() {
    const CLIENTS: usize = 400;
    const MOST_EACH: usize = 1024 * 1024;
    let scene = Scene::new(&["--body-timeout", "60s"]);
    let lines = "1\n".repeat(4096);
    let head = batch_head("application/x-ndjson") + "content-length: 1000000000\r\n\r\n";
    let mut clients: Vec<(TcpStream, usize)> = (0..CLIENTS)
        .map(|_| {
            let mut stream = scene.connect();
            stream.write_all(head.as_bytes()).unwrap();
            stream.set_nonblocking(true).unwrap();
            (stream, 0)
        })
        .collect();
    let mut progress = Instant::now();
    while progress.elapsed() < Duration::from_millis(200) {
        for (stream, sent) in &mut clients {
            if *sent >= MOST_EACH {
                continue;
            }
            // A part of a write may leave half a line, whose other half begins the next write.
            match stream.write(&lines.as_bytes()[*sent % 2..]) {
                Ok(bytes) => {
                    *sent += bytes;
                    progress = Instant::now();
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }
    let peak = scene.server.memory_kib("VmHWM");
    assert!(peak < 96 * 1024, "{peak} KiB");
    drop(clients);
    scene.end();
}
