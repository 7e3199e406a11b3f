//! The time that a connection may take, by a paused clock, which goes on when nothing is left to do.

use std::convert::Infallible;
use std::future::pending;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::get;
use futures_util::stream;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rotation_game::server;
use rstest::rstest;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
const AGE: Duration = Duration::from_mins(10);
/// How far the clock goes on at a time. It does with each event of a socket, too.
const STEP: Duration = Duration::from_millis(10);
/// How exactly times are measured.
const MARGIN: Duration = Duration::from_millis(1200);

struct Served {
    address: SocketAddr,
    metrics: server::Metrics,
}

impl Served {
    async fn new() -> Self {
        let endless = || async {
            let chunk = Ok::<_, Infallible>(Bytes::from_static(&[b'a'; 16_384]));
            Body::from_stream(stream::repeat(chunk))
        };
        let app = Router::new()
            .route("/short", get(|| async { "ok\n" }))
            .route("/endless", get(endless))
            .route("/never", get(pending::<()>));
        tokio::spawn(async {
            loop {
                sleep(STEP).await;
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let metrics = server::Metrics::default();
        let config = server::Config {
            max_connections: 1,
            http2: true,
            header_timeout: HEADER_TIMEOUT,
            max_connection_age: AGE,
        };
        let shutdown = server::Shutdown::default();
        tokio::spawn(server::serve(
            listener,
            app,
            config,
            metrics.clone(),
            shutdown,
        ));
        Self { address, metrics }
    }

    /// Connects a client that blocks: it must read only what has been sent.
    async fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        // The system would hold bytes back by its own clock.
        stream.set_nodelay(true).unwrap();
        while !self.is_open() {
            sleep(STEP).await;
        }
        stream
    }

    fn is_open(&self) -> bool {
        self.metrics.connections.get() > 0
    }

    /// Checks that the connection is closed after this time from now.
    async fn assert_closed_after(&self, time: Duration) {
        let started = Instant::now();
        while self.is_open() {
            assert!(started.elapsed() < time + MARGIN, "it stays open");
            sleep(STEP).await;
        }
        let elapsed = started.elapsed();
        assert!(elapsed + MARGIN > time, "{elapsed:?} instead of {time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_header_timeout_begins_with_the_connection() {
    let served = Served::new().await;
    let mut client = served.connect().await;
    sleep(HEADER_TIMEOUT / 2).await;
    client.write_all(b"G").unwrap();
    served.assert_closed_after(HEADER_TIMEOUT / 2).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_the_client_takes_nothing_ends_after_30_s() {
    let served = Served::new().await;
    let mut client = served.connect().await;
    client
        .write_all(b"GET /endless HTTP/1.1\r\nhost: a\r\n\r\n")
        .unwrap();
    served.assert_closed_after(Duration::from_secs(30)).await;
}

/// Without a host, the request is refused before its end is known.
#[rstest]
#[case::silent(false, Duration::from_secs(5))]
#[case::sends_on(true, Duration::from_secs(30))]
#[tokio::test(start_paused = true)]
async fn input_after_a_refusal_is_discarded_for_a_while(
    #[case] sends_on: bool,
    #[case] expected: Duration,
) {
    let served = Served::new().await;
    let mut client = served.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut sending = client.try_clone().unwrap();
    tokio::spawn(async move {
        while sends_on && sending.write_all(b"a").is_ok() {
            sleep(Duration::from_secs(1)).await;
        }
    });
    served.assert_closed_after(expected).await;
    let mut refusal = [0; "HTTP/1.1 400".len()];
    client.read_exact(&mut refusal).unwrap();
    assert_eq!(&refusal, b"HTTP/1.1 400");
}

#[tokio::test(start_paused = true)]
async fn an_old_connection_ends_though_its_request_does_not() {
    let served = Served::new().await;
    let mut client = served.connect().await;
    client
        .write_all(b"GET /never HTTP/1.1\r\nhost: a\r\n\r\n")
        .unwrap();
    served.assert_closed_after(2 * AGE + HEADER_TIMEOUT).await;
}

#[tokio::test(start_paused = true)]
async fn an_old_connection_of_http_2_takes_no_more_requests() {
    let served = Served::new().await;
    let stream = tokio::net::TcpStream::connect(served.address)
        .await
        .unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = |path: &str| {
        Request::get(format!("http://{}{path}", served.address))
            .body(Empty::<Bytes>::new())
            .unwrap()
    };
    let never = sender.send_request(request("/never"));
    sleep(AGE).await;
    let answer = sender.send_request(request("/short")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    sleep(HEADER_TIMEOUT).await;
    sleep(MARGIN).await;
    assert!(sender.send_request(request("/short")).await.is_err());
    served.assert_closed_after(AGE).await;
    assert!(never.await.is_err());
}
