//! A real server with short limits, a healthy client beside the hostile ones, and what these need.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::api::BOARD;
use crate::running::{Connection, Server, eventually, free_address, metric};

/// Head and body timeouts of the server: short, but longer than a healthy client on a busy machine
/// takes from one request to the next.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) const BODY: &str = r#"{"board":"111132323132231222312133"}"#;
/// The request that ends a connection.
pub(crate) const LAST: &str = "GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
/// Most of the head of a request to solve a board. Its length is missing.
pub(crate) const SOLVE: &str =
    "POST /solve HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";

/// A server with short limits, and a healthy client.
pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) metrics: String,
    healthy: Healthy,
}

impl Scene {
    /// Starts both. The limits apply unless `arguments` contain others.
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let metrics = free_address();
        let mut all = vec!["--metrics-listen", &metrics];
        for limit in ["--header-timeout", "--body-timeout"] {
            if !arguments.contains(&limit) {
                all.extend([limit, "1s"]);
            }
        }
        all.extend(arguments);
        let server = Server::start(&all);
        let healthy = Healthy::begin(server.address);
        Self {
            server,
            metrics,
            healthy,
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        stream
    }

    pub(crate) fn searches_running(&self) -> u64 {
        metric(&self.metrics, "rotation_game_searches_running")
    }

    /// Checks that the healthy client was served all the time, and that nothing is left of the others.
    pub(crate) fn end(self) {
        self.end_with_log();
    }

    /// Checks what [`Self::end`] checks, and returns what the server logged.
    pub(crate) fn end_with_log(self) -> String {
        self.healthy.end();
        for gauge in ["connections", "searches_running", "searches_waiting"] {
            eventually(gauge, || {
                metric(&self.metrics, &format!("rotation_game_{gauge}")) == 0
            });
        }
        self.server.signal(Signal::TERM);
        self.server.end().1
    }
}

/// A client that sends one request after the other, and fails if one is not answered.
struct Healthy {
    is_over: Arc<AtomicBool>,
    served: JoinHandle<()>,
}

impl Healthy {
    fn begin(address: SocketAddr) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let served = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                let mut connection = Connection::to(address);
                loop {
                    connection.send_solve(&json!({"board": BOARD}));
                    assert_eq!(connection.response().unwrap().json()["moves"], "AC");
                    if is_over.load(Relaxed) {
                        return;
                    }
                    // Paces the client, so that it leaves the server time for the others.
                    thread::sleep(Duration::from_millis(2));
                }
            }
        });
        Self { is_over, served }
    }

    fn end(self) {
        self.is_over.store(true, Relaxed);
        self.served.join().unwrap();
    }
}

/// Reads until the server closes the connection.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection was not closed: {error}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the statuses of the responses in `text`.
pub(crate) fn statuses(text: &str) -> Vec<&str> {
    let heads = text
        .match_indices("HTTP/1.")
        .map(|(start, version)| start + version.len() + 2);
    heads.map(|start| &text[start..start + 3]).collect()
}

/// Sends the pieces while it reads, with a pause before each, until the server closes the
/// connection. Returns what the server sent. The pauses are real, since a real server counts them.
pub(crate) fn send_slowly<'a>(
    mut stream: TcpStream,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    pause: Duration,
) -> String {
    let reading = thread::spawn({
        let mut stream = stream.try_clone().unwrap();
        move || read_to_end(&mut stream)
    });
    for piece in pieces {
        thread::sleep(pause);
        if reading.is_finished() || stream.write_all(piece).is_err() {
            break;
        }
    }
    reading.join().unwrap()
}
