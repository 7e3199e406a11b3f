//! Clients that mean no good, against the real server. Whatever they do, they are answered or closed
//! within its limits, a healthy client is served beside them, and nothing is left of them.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::json;

use crate::api::BOARD;
use crate::running::{Connection, LONG_SEARCH, Server, eventually, free_address, metric};

/// How long the server waits for heads and for bodies here: not long, but longer than a healthy
/// client on a busy machine takes from one request to the next.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A server with short limits, and a healthy client.
struct Scene {
    server: Server,
    metrics: String,
    healthy: Healthy,
}

impl Scene {
    fn new(arguments: &[&str]) -> Self {
        let metrics = free_address();
        let limits = ["--header-timeout", "1s", "--body-timeout", "1s"];
        let metrics_listen = ["--metrics-listen", &metrics];
        let server = Server::start(&[&metrics_listen[..], &limits, arguments].concat());
        let healthy = Healthy::begin(server.address);
        Self {
            server,
            metrics,
            healthy,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        stream
    }

    /// The healthy client was served all the time, and nothing is left of the others.
    fn end(self) {
        self.healthy.end();
        for gauge in ["connections", "searches_running", "searches_waiting"] {
            eventually(gauge, || {
                metric(&self.metrics, &format!("rotation_game_{gauge}")) == 0
            });
        }
    }
}

/// A client that asks for one answer after the other, and fails where it gets none.
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

/// All that the server has to say until it closes the connection.
fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("it was not closed: {error}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The statuses in what a server said.
fn statuses(said: &str) -> Vec<&str> {
    let heads = said.split("HTTP/1.1 ").skip(1);
    heads.map(|head| &head[..3]).collect()
}

/// Sends a byte at a time, until the server has heard enough, and gives what it said.
fn drip(mut stream: TcpStream, bytes: &[u8]) -> String {
    let said = thread::spawn({
        let mut stream = stream.try_clone().unwrap();
        move || read_to_end(&mut stream)
    });
    for byte in bytes {
        if said.is_finished() || stream.write_all(&[*byte]).is_err() {
            break;
        }
        thread::sleep(TIMEOUT / 10);
    }
    said.join().unwrap()
}

#[rstest]
#[case::head("GET /livez HTTP/1.1\r\nhost: a\r\nx-padding: aaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n", &[])]
#[case::http_2_preface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[])]
#[case::body(
    "POST /solve HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"board\": \"1111323231",
    &["408"]
)]
#[case::chunks(
    "POST /solve HTTP/1.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n \r\n1\r\n \r\n1\r\n \r\n",
    &["408"]
)]
fn what_comes_byte_by_byte_is_ended_in_time(#[case] sent: &str, #[case] expected: &[&str]) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    // A body is dripped, the head before it is not.
    let head = sent
        .find("\r\n\r\n{")
        .or(sent.find("\r\n\r\n1"))
        .map_or(0, |end| end + 4);
    stream.write_all(&sent.as_bytes()[..head]).unwrap();
    let started = Instant::now();
    let said = drip(stream, &sent.as_bytes()[head..]);
    assert!(started.elapsed() >= TIMEOUT, "{:?}", started.elapsed());
    assert_eq!(statuses(&said), expected, "{said}");
    scene.end();
}

const SOLVE: &str = "POST /solve HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
const BODY: &str = r#"{"board":"111132323132231222312133"}"#;
const LAST: &str = "GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

/// Two lengths of one message, by which a proxy and a server may be made to disagree where it ends
/// (RFC 9112, section 11.2); and what else has no business in a request. None may be taken for a
/// request that the next line does not answer.
#[rstest]
#[case::length_then_chunked(&["content-length: 6", "transfer-encoding: chunked"], true, &["200"])]
#[case::chunked_then_length(&["transfer-encoding: chunked", "content-length: 6"], true, &["200"])]
#[case::two_lengths(&["content-length: 36", "content-length: 6"], false, &["400"])]
#[case::list_of_lengths(&["content-length: 36, 36"], false, &["400"])]
#[case::signed_length(&["content-length: +36"], false, &["400"])]
#[case::space_before_the_colon(&["transfer-encoding : chunked"], true, &["400"])]
#[case::not_chunked(&["transfer-encoding: identity"], true, &["400"])]
#[case::chunked_but_not_last(&["transfer-encoding: chunked, identity"], true, &["400"])]
#[case::unknown_coding(&["transfer-encoding: xchunked"], true, &["400"])]
#[case::folded_value(&["x: 1\r\n content-length: 6", "content-length: 36"], false, &["400"])]
#[case::folded_coding(&["transfer-encoding:\r\n chunked"], true, &["400"])]
#[case::nul(&["x: a\0b", "content-length: 36"], false, &["400"])]
#[case::plain(&["content-length: 36"], false, &["200", "200"])]
#[case::plain_chunked(&["transfer-encoding: chunked"], true, &["200", "200"])]
fn nobody_is_smuggled_in(
    #[case] headers: &[&str],
    #[case] is_chunked: bool,
    #[case] expected: &[&str],
) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    let body = if is_chunked {
        format!("{:x}\r\n{BODY}\r\n0\r\n\r\n", BODY.len())
    } else {
        BODY.to_owned()
    };
    let head = headers.join("\r\n");
    // At once: who is refused at its head could not send the rest.
    let sent = format!("{SOLVE}{head}\r\n\r\n{body}{LAST}");
    stream.write_all(sent.as_bytes()).unwrap();
    let said = read_to_end(&mut stream);
    assert_eq!(statuses(&said), expected, "{said}");
    scene.end();
}

#[rstest]
#[case::long_header(&format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(20_000)), "431")]
#[case::many_headers(&format!("GET / HTTP/1.1\r\n{}\r\n", "x: a\r\n".repeat(500)), "431")]
#[case::long_path(&format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000)), "431")]
#[case::chunk_of_any_length(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), "400")]
#[case::negative_chunk(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n-1\r\n"), "400")]
#[case::chunk_extension(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n1;{}", "a".repeat(20_000)), "400")]
#[case::trailers(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n1\r\n \r\n0\r\n{}\r\n", "x: a\r\n".repeat(3000)), "400")]
#[case::chunks_without_end(&format!("{SOLVE}transfer-encoding: chunked\r\n\r\n{}", "a\r\n          \r\n".repeat(500)), "413")]
#[case::announced_terabyte(&format!("{SOLVE}content-length: 1099511627776\r\n\r\n"), "413")]
#[case::tls("\x16\x03\x01\x02\0\x01\0\x01\u{7c}\x03\x03\0\0\0\0", "400")]
fn what_is_too_much_or_no_http_is_refused(#[case] sent: &str, #[case] expected: &str) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    // It may be refused before all of it is read.
    let _ = stream.write_all(sent.as_bytes());
    let said = read_to_end(&mut stream);
    // Where the client is still sending, the answer may be lost with the connection.
    assert!(said.is_empty() || statuses(&said) == [expected], "{said}");
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

/// HTTP/2 by hand, as no client library would send it.
mod http_2 {
    pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    pub(super) const PING: u8 = 6;
    pub(super) const GO_AWAY: u8 = 7;
    pub(super) const CANCEL: [u8; 4] = [0, 0, 0, 8];

    pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        frame
    }

    pub(super) fn reset(stream: u32) -> Vec<u8> {
        frame(3, 0, stream, &CANCEL)
    }

    /// A POST of JSON to /solve; the body follows (RFC 7541, appendix A has the numbers).
    pub(super) fn solve(stream: u32, body: &str) -> Vec<u8> {
        let mut headers = vec![0x83, 0x86];
        for (name, value) in [(0x44, "/solve"), (0x41, "a"), (0x5f, "application/json")] {
            headers.extend([name, u8::try_from(value.len()).unwrap()]);
            headers.extend(value.bytes());
        }
        let mut request = frame(1, 4, stream, &headers);
        request.extend(frame(0, 1, stream, body.as_bytes()));
        request
    }

    /// The kinds of the frames in some bytes.
    pub(super) fn kinds(mut bytes: &[u8]) -> Vec<u8> {
        let mut kinds = Vec::new();
        while let Some((head, rest)) = bytes.split_at_checked(9) {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            kinds.push(head[3]);
            bytes = rest.get(length..).unwrap_or_default();
        }
        kinds
    }
}

/// The frames that come until the server closes the connection.
fn frames_to_end(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    http_2::kinds(&bytes)
}

#[test]
fn streams_that_are_opened_and_reset_at_once_are_told_to_go_away() {
    let scene = Scene::new(&["--search-timeout", "10m"]);
    let mut stream = scene.connect();
    let mut attack = http_2::PREFACE.to_vec();
    for number in (1..20_001).step_by(2) {
        attack.extend(http_2::solve(number, LONG_SEARCH));
        attack.extend(http_2::reset(number));
    }
    let said = thread::spawn({
        let stream = stream.try_clone().unwrap();
        move || frames_to_end(stream)
    });
    // The server may have closed the connection by then.
    let _ = stream.write_all(&attack);
    assert!(said.join().unwrap().contains(&http_2::GO_AWAY));
    scene.end();
}

#[test]
fn an_http_2_client_that_never_answers_a_ping_is_dropped_with_its_search() {
    let scene = Scene::new(&["--search-timeout", "10m"]);
    let mut stream = scene.connect();
    stream.write_all(http_2::PREFACE).unwrap();
    stream.write_all(&http_2::solve(1, LONG_SEARCH)).unwrap();
    eventually("it searches", || {
        metric(&scene.metrics, "rotation_game_searches_running") == 1
    });
    // A request is under way, so only the ping tells that nobody is there any more.
    assert!(frames_to_end(stream).contains(&http_2::PING));
    scene.end();
}
