//! What balancers and their connections see of a server, above all of one that ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rotation_game::server;
use rustix::process::Signal;

use crate::running::{Connection, Server, eventually, free_address};

const GET: &str = "GET /livez HTTP/1.1\r\nhost: test\r\n\r\n";

#[test]
fn before_the_drain_an_answer_asks_its_client_to_connect_elsewhere() {
    let server = Server::start(&["--shutdown-pause", "60s"]);
    let mut connection = server.connect();
    connection.send(GET);
    let answer = connection.response().unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, ""));

    server.signal(Signal::TERM);
    eventually("it is not ready", || server.get("/readyz").status == 503);
    connection.send(GET);
    let answer = connection.response().unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, "close"));
    assert!(connection.response().is_none());
}

#[tokio::test]
async fn before_the_drain_a_connection_of_http_2_stays() {
    let server = Server::start(&["--shutdown-pause", "60s"]);
    let stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    server.signal(Signal::TERM);
    eventually("it is not ready", || server.get("/readyz").status == 503);
    for _ in 0..2 {
        let request = Request::get(format!("http://{}/livez", server.address))
            .body(Empty::<Bytes>::new())
            .unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_connection_loses_no_request() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server::serve(
        listener,
        Router::new().route("/livez", get(|| async { "ok\n" })),
        server::Config {
            max_connections: 1,
            http2: true,
            header_timeout: Duration::from_mins(1),
            max_connection_age: Duration::from_millis(50),
        },
        server::Metrics::default(),
        server::Shutdown::default(),
    ));
    let mut connection = Connection::to(address);
    eventually("it is old", || {
        connection.send(GET);
        let answer = connection.response().unwrap();
        assert_eq!(answer.status, 200);
        answer.header("connection") == "close"
    });
    assert!(connection.response().is_none());
}

#[test]
fn a_stream_ends_its_connection_since_the_server_may_end_before_it() {
    let server = Server::start(&["--header-timeout", "10m"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream
        .write_all(
            b"POST /solve/batch HTTP/1.1\r\nhost: test\r\ncontent-type: application/x-ndjson\r\n\
              content-length: 27\r\n\r\n\"111132323132231222312133\"\n",
        )
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.contains("\r\nconnection: close\r\n") && answer.contains("\"AC\""),
        "{answer}"
    );
}

#[test]
fn a_full_public_address_does_not_make_the_process_look_dead() {
    let metrics = free_address();
    let server = Server::start(&[
        "--max-connections",
        "1",
        "--header-timeout",
        "10m",
        "--metrics-listen",
        &metrics,
    ]);
    let mut all = server.connect();
    all.send(GET);
    assert_eq!(all.response().unwrap().status, 200);

    let mut probe = Connection::to(metrics.parse().unwrap());
    probe.send(GET);
    assert_eq!(probe.response().unwrap().status, 200);
}
