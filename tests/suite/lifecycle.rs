//! The life of the real server: start, connections, signals, end.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::json;

use crate::frames::PREFACE;
use crate::running::{Connection, HARDEST, LONG_SEARCH, Server, eventually, free_address, metric};
use crate::scene::{LAST, read_to_end, statuses};
use crate::support::{program, run, text};

/// A server on which a search runs that takes long, and the connection that waits for it.
fn busy_server(arguments: &[&str]) -> (Server, Connection) {
    let metrics = free_address();
    let server = Server::start(&[&["--metrics-listen", &metrics], arguments].concat());
    let mut connection = server.connect();
    connection.send_solve(&json!({"board": HARDEST, "heuristic": "misplaced"}));
    eventually("it searches", || {
        metric(&metrics, "rotation_game_searches_running") == 1
    });
    (server, connection)
}

#[rstest]
fn a_signal_lets_a_request_in_flight_finish(#[values(Signal::TERM, Signal::INT)] signal: Signal) {
    let (server, mut connection) = busy_server(&[]);
    server.signal(signal);
    let response = connection.response().unwrap();
    assert_eq!(
        (response.status, response.json()["moves"].as_str()),
        (200, Some("AAABGAHBDDDHB"))
    );
    let (status, log) = server.end();
    assert_eq!(status.code(), Some(0));
    assert!(log.contains("stopped"), "{log}");
}

#[test]
fn a_search_beyond_the_drain_timeout_is_stopped_and_its_caller_told() {
    let (server, mut connection) = busy_server(&["--drain-timeout", "0s"]);
    server.signal(Signal::TERM);
    let response = connection.response().unwrap();
    assert_eq!(
        (response.status, response.header("retry-after")),
        (503, "1")
    );
    assert_eq!(response.json()["code"], "shutting-down");
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn a_stalled_header_does_not_hold_up_the_end() {
    let server = Server::start(&["--drain-timeout", "100ms", "--header-timeout", "60s"]);
    let mut connection = server.connect();
    connection.send("POST /solve HTTP/1.1\r\nhost:");
    // It has been accepted once a later one is answered.
    server.get("/livez");
    let started = Instant::now();
    server.signal(Signal::TERM);
    assert_eq!(server.end().0.code(), Some(0));
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "the header timeout is a minute"
    );
}

#[test]
fn an_idle_connection_does_not_hold_up_the_end() {
    let server = Server::start(&["--drain-timeout", "60s", "--header-timeout", "60s"]);
    let mut connection = server.connect();
    connection.send("GET /livez HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(connection.response().unwrap().status, 200);
    let started = Instant::now();
    server.signal(Signal::TERM);
    assert_eq!(server.end().0.code(), Some(0));
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "the drain timeout is a minute"
    );
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let server = Server::start(&["--drain-timeout", "60s", "--header-timeout", "60s"]);
    let mut connection = server.connect();
    connection.send("GET /li");
    server.get("/livez");
    let started = Instant::now();
    server.signal(Signal::TERM);
    server.signal(Signal::INT);
    server.end();
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "the drain timeout is a minute"
    );
}

#[test]
fn during_the_shutdown_pause_it_is_not_ready_but_answers() {
    let server = Server::start(&["--shutdown-pause", "60s"]);
    server.signal(Signal::TERM);
    eventually("it is not ready", || server.get("/readyz").status == 503);
    let response = server.solve(&json!({"board": HARDEST}));
    assert_eq!(
        (response.status, response.header("connection")),
        (200, "close")
    );
    server.signal(Signal::TERM);
    server.end();
}

#[test]
fn a_client_that_leaves_frees_the_thread() {
    let metrics = free_address();
    let server = Server::start(&["--metrics-listen", &metrics, "--search-timeout", "10m"]);
    for _ in 0..5 {
        let mut connection = server.connect();
        connection.send_solve(&serde_json::from_str(LONG_SEARCH).unwrap());
        let began = || {
            metric(&metrics, "rotation_game_searches_running") == 1
                || metric(&metrics, "rotation_game_connections") == 0
        };
        eventually("it searches", began);
        drop(connection);
        let free = || metric(&metrics, "rotation_game_searches_running") == 0;
        eventually("the thread is free", free);
    }
    assert!(metric(&metrics, "rotation_game_searches_abandoned_total") > 0);
    eventually("no connection is left", || {
        metric(&metrics, "rotation_game_connections") == 0
    });
}

#[test]
fn metrics_tell_what_happened_by_route_method_and_status() {
    let metrics = free_address();
    let server = Server::start(&["--metrics-listen", &metrics]);
    server.solve(&json!({"board": HARDEST}));
    server.solve(&json!({"board": HARDEST}));
    server.get("/problems/internal?secret");
    server.get("/secret/112323233232111211122333");
    let mut connection = Connection::to(metrics.parse().unwrap());
    connection.send("GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n");
    let response = connection.response().unwrap();
    assert_eq!(
        response.header("content-type"),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    let body = response.body;
    for line in [
        "rotation_game_http_requests_total{route=\"/solve\",method=\"POST\",status=\"200\"} 2",
        "rotation_game_http_requests_total{route=\"/problems/{code}\",method=\"GET\",status=\"200\"} 1",
        "rotation_game_http_requests_total{route=\"unmatched\",method=\"GET\",status=\"404\"} 1",
        "rotation_game_http_request_duration_seconds_count{route=\"/solve\",method=\"POST\",status=\"200\"} 2",
        "rotation_game_cache_hits_total 1",
        "rotation_game_cache_misses_total 1",
        "rotation_game_cache_entries 1",
        "rotation_game_cache_evictions_total 0",
        "rotation_game_searches_rejected_total 0",
        "rotation_game_searches_timed_out_total 0",
        "rotation_game_searches_waiting 0",
        "rotation_game_search_nodes_total{heuristic=\"pattern-database\",goal=\"centre\"} 14",
        "rotation_game_search_duration_seconds_count{heuristic=\"pattern-database\",goal=\"centre\"} 1",
        "# EOF",
    ] {
        assert!(
            body.lines().any(|known| known == line),
            "{line} is not in\n{body}"
        );
    }
    assert!(body.contains("rotation_game_build_info{version="), "{body}");
    assert!(body.contains("\nprocess_start_time_seconds 1"), "{body}");
    assert!(
        !body.contains("secret") && !body.contains(HARDEST),
        "{body}"
    );
    assert_eq!(
        server.get("/metrics").status,
        404,
        "not on the public address"
    );
}

#[test]
fn methods_and_paths_of_clients_add_no_series() {
    let metrics = free_address();
    let server = Server::start(&["--metrics-listen", &metrics]);
    for number in 0..20 {
        let mut connection = server.connect();
        connection.send(&format!(
            "METHOD{number} /path{number} HTTP/1.1\r\nhost: test\r\n\r\n"
        ));
        assert_eq!(connection.response().unwrap().status, 404);
    }
    let metrics = crate::running::metrics(&metrics);
    let unmatched: Vec<&str> = metrics
        .lines()
        .filter(|line| line.starts_with("rotation_game_http_requests_total{route=\"unmatched\""))
        .collect();
    let expected =
        "rotation_game_http_requests_total{route=\"unmatched\",method=\"other\",status=\"404\"} 20";
    assert_eq!(unmatched, [expected]);
}

#[test]
fn metrics_take_at_most_64_connections() {
    let metrics = free_address();
    let server = Server::start(&["--metrics-listen", &metrics, "--header-timeout", "60s"]);
    let idle: Vec<TcpStream> = (0..64)
        .map(|_| TcpStream::connect(&metrics).unwrap())
        .collect();
    let mut next = TcpStream::connect(&metrics).unwrap();
    next.write_all(LAST.as_bytes()).unwrap();
    // There is no event to wait for where nothing happens.
    next.set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let error = next.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    drop(idle);
    next.set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    assert_eq!(statuses(&read_to_end(&mut next)), ["200"]);
    drop(server);
}

#[test]
fn requests_follow_each_other_on_a_connection_even_before_their_answers() {
    let server = Server::start(&[]);
    let mut connection = server.connect();
    let body = json!({"board": HARDEST});
    connection.send_solve(&body);
    connection.send_solve(&body);
    connection.send("GET /livez HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    let statuses = [200, 200, 200].map(|_| connection.response().unwrap().status);
    assert_eq!(statuses, [200; 3]);
    assert!(connection.response().is_none());
}

#[rstest]
#[case::alone(1)]
#[case::among_others(3)]
#[tokio::test]
async fn http_2_is_spoken_to_clients_that_know(#[case] clients: usize) {
    const REQUESTS: usize = 300;
    let server = Server::start(&[]);
    let mut answers = FuturesUnordered::new();
    for _ in 0..clients {
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        for _ in 0..REQUESTS {
            let mut sender = sender.clone();
            let body = r#"{"board":"111132323132231222312133"}"#;
            let request = Request::post(format!("http://{}/solve", server.address))
                .header("content-type", "application/json")
                .body(Full::new(Bytes::from_static(body.as_bytes())))
                .unwrap();
            answers.push(async move {
                let response = sender.send_request(request).await.unwrap();
                assert_eq!(response.status(), StatusCode::OK);
                response.into_body().collect().await.unwrap().to_bytes()
            });
        }
    }
    let mut count = 0;
    while let Some(body) = answers.next().await {
        assert_eq!(body, r#"{"moves":"AC","length":2,"centre":2}"#);
        count += 1;
    }
    assert_eq!(count, clients * REQUESTS);
}

#[rstest]
#[case::nothing("")]
#[case::a_lone_p("P")]
#[case::half_a_header("GET /livez HTTP/1.1\r\nhost:")]
#[case::half_an_http_2_preface("PRI * HTTP/2.0\r\n")]
fn a_connection_that_stalls_before_its_request_is_closed(#[case] sent: &str) {
    let server = Server::start(&["--header-timeout", "200ms"]);
    let mut connection = server.connect();
    connection.send(sent);
    assert!(connection.response().is_none());
}

#[test]
fn an_http_2_connection_without_a_request_is_closed() {
    let server = Server::start(&["--header-timeout", "200ms"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream.write_all(PREFACE).unwrap();
    let started = Instant::now();
    if let Err(error) = stream.read_to_end(&mut Vec::new()) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
    }
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_client_that_leaves_is_counted_and_logged() {
    let metrics = free_address();
    let server = Server::start(&["--metrics-listen", &metrics, "--body-timeout", "60s"]);
    let mut connection = server.connect();
    connection.send(
        "POST /solve HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{",
    );
    server.get("/livez");
    drop(connection);
    eventually("it is counted", || {
        let mut connection = Connection::to(metrics.parse().unwrap());
        connection.send("GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n");
        let body = connection.response().unwrap().body;
        body.contains("http_requests_total{route=\"/solve\",method=\"POST\",status=\"4")
    });
    server.signal(Signal::TERM);
    let log = server.end().1;
    assert_eq!(
        log.lines()
            .filter(|line| line.contains("route=\"/solve\""))
            .count(),
        1,
        "{log}"
    );
}

#[test]
fn a_log_that_nobody_reads_holds_up_neither_requests_nor_the_end() {
    let address = free_address();
    let mut child = program()
        .args(["--listen", &address, "--metrics-listen", "off"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    // Nobody reads this, but it is open.
    let log = child.stderr.take();
    let healthy = || {
        run(&["healthcheck", "--listen", &address], "")
            .status
            .success()
    };
    eventually("it is healthy", healthy);
    let mut connection = Connection::to(address.parse().unwrap());
    for _ in 0..20_000 {
        connection.send("GET /livez HTTP/1.1\r\nhost: test\r\n\r\n");
        assert_eq!(connection.response().unwrap().status, 200);
    }
    drop(connection);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(log);
}

#[test]
fn a_taken_port_is_one_clear_line_and_status_1() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (flag, arguments) in [
        (
            "--listen",
            ["--listen", &address, "--metrics-listen", "off"],
        ),
        (
            "--metrics-listen",
            ["--listen", "127.0.0.1:0", "--metrics-listen", &address],
        ),
    ] {
        let run = run(&arguments, "");
        assert_eq!(run.status.code(), Some(1), "{run:?}");
        let expected = format!(
            "error: cannot listen on {address}: address already in use; choose another with {flag}\n"
        );
        assert_eq!(text(&run.stderr), expected);
    }
}

#[test]
fn a_closed_standard_output_or_error_is_no_reason_not_to_serve() {
    let address = free_address();
    let mut child = program()
        .args(["--listen", &address, "--metrics-listen", "off"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let healthy = || {
        run(&["healthcheck", "--listen", &address], "")
            .status
            .success()
    };
    eventually("it is healthy", healthy);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_healthcheck_tells_whether_the_server_is_ready() {
    let server = Server::start(&["--shutdown-pause", "60s"]);
    let address = server.address.to_string();
    let healthy = run(&["healthcheck", "--listen", &address], "");
    assert_eq!(
        (healthy.status.code(), text(&healthy.stderr)),
        (Some(0), "")
    );
    for host in ["0.0.0.0:", ":", "localhost:", ""] {
        let listen = format!("{host}{}", server.address.port());
        let healthy = run(&["healthcheck", "--listen", &listen], "");
        assert!(healthy.status.success(), "{listen}: {healthy:?}");
    }

    server.signal(Signal::TERM);
    eventually("it is not ready", || server.get("/readyz").status == 503);
    let draining = run(&["healthcheck", "--listen", &address], "");
    assert_eq!(draining.status.code(), Some(1));
    assert!(text(&draining.stderr).contains("503"), "{draining:?}");
    drop(server);
    let gone = run(&["healthcheck", "--listen", &address], "");
    assert_eq!(gone.status.code(), Some(1));
    assert!(
        text(&gone.stderr).starts_with(&format!("error: the server at {address} is not ready: "))
    );
}
