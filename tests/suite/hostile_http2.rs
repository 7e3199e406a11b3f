//! Hostile clients over HTTP/2, against the real server.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rstest::rstest;

use crate::api::BOARD;
use crate::frames::{
    self, Client, DATA, GO_AWAY, HEADERS, MAX_FRAME, PING, PREFACE, RST_STREAM, frame,
};
use crate::running::{LONG_SEARCH, eventually};
use crate::scene::Scene;

/// Opens many streams with long searches, and resets each at once. Returns what the server sends.
fn open_and_reset(scene: &Scene) -> Vec<u8> {
    let mut stream = scene.connect();
    let mut attack = PREFACE.to_vec();
    for number in (1..20_001).step_by(2) {
        attack.extend(frames::solve(number, LONG_SEARCH));
        attack.extend(frames::reset(number));
    }
    let reading = thread::spawn({
        let stream = stream.try_clone().unwrap();
        move || read_to_end(stream)
    });
    // The server may close the connection before all is sent.
    let _ = stream.write_all(&attack);
    reading.join().unwrap()
}

/// Reads until the connection ends, cleanly or by a reset.
fn read_to_end(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Err(error) = stream.read_to_end(&mut bytes) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
    }
    bytes
}

/// Returns the kinds of the frames in `bytes`.
fn kinds(mut bytes: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(9) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        kinds.push(head[3]);
        bytes = rest.get(length..).unwrap_or_default();
    }
    kinds
}

#[test]
fn streams_opened_and_reset_at_once_end_with_goaway() {
    let scene = Scene::new(&["--search-timeout", "10m"]);
    assert!(kinds(&open_and_reset(&scene)).contains(&GO_AWAY));
    scene.end();
}

#[test]
fn stream_resets_cause_no_warning() {
    let scene = Scene::new(&["--search-timeout", "10m", "--log", "warn"]);
    open_and_reset(&scene);
    let log = scene.end_with_log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("h2")).collect();
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn a_client_that_answers_no_ping_is_dropped_with_its_search() {
    let scene = Scene::new(&["--search-timeout", "10m"]);
    let mut stream = scene.connect();
    stream.write_all(PREFACE).unwrap();
    stream.write_all(&frames::solve(1, LONG_SEARCH)).unwrap();
    eventually("it searches", || scene.searches_running() == 1);
    let started = Instant::now();
    // A request is in flight, so only the ping shows that the client is gone.
    assert!(kinds(&read_to_end(stream)).contains(&PING));
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(40), "{elapsed:?}");
    scene.end();
}

/// A literal whose name is `x` and whose value has 4,000 bytes, added to the table of headers, and
/// that again by its index.
fn long_headers(count: usize) -> Vec<u8> {
    const LENGTH: [u8; 3] = [0x7f, 0xa1, 0x1e];
    let first = [b"\x40\x01x", &LENGTH[..], &[b'a'; 4000]].concat();
    [first, vec![0xbe; count - 1]].concat()
}

#[rstest]
#[case::many(&b"\0\x01x\x01a".repeat(100), 200)]
#[case::too_many(&b"\0\x01x\x01a".repeat(101), 431)]
#[case::long(&long_headers(4), 200)]
#[case::too_long(&long_headers(5), 431)]
fn a_head_has_16_kib_and_100_headers_at_most(#[case] headers: &[u8], #[case] expected: u16) {
    let scene = Scene::new(&[]);
    let mut client = Client::new(scene.connect(), PREFACE);
    client.send(&frames::get(1, "/livez", headers));
    let answer = loop {
        let frame = client.frame().unwrap();
        if frame.kind == HEADERS {
            break frame;
        }
    };
    assert_eq!(frames::status(&answer.payload), expected);
    drop(client);
    scene.end();
}

#[test]
fn a_connection_has_128_requests_at_a_time_at_most() {
    const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];
    let scene = Scene::new(&["--body-timeout", "60s"]);
    let mut client = Client::new(scene.connect(), PREFACE);
    for index in 0..129 {
        client.post(2 * index + 1, "/solve", "application/json");
    }
    let refused = loop {
        let frame = client.frame().unwrap();
        if frame.kind == RST_STREAM {
            break frame;
        }
    };
    assert_eq!(
        (refused.stream, &refused.payload[..]),
        (257, &REFUSED_STREAM[..])
    );
    drop(client);
    scene.end();
}

/// It answers pings, so only the answers that it does not take show that it is hostile.
#[test]
fn a_client_that_takes_no_data_is_dropped() {
    let scene = Scene::new(&[]);
    let stream = scene.connect();
    stream
        .set_read_timeout(Some(Duration::from_mins(2)))
        .unwrap();
    let mut client = Client::new(stream, &frames::preface_without_window());
    let started = Instant::now();
    for number in [1, 3, 5, 7] {
        client.send(&frames::get(number, &format!("/boards/{BOARD}"), &[]));
    }
    while client.frame().is_some() {}
    let elapsed = started.elapsed();
    let expected = Duration::from_secs(25)..Duration::from_mins(1);
    assert!(expected.contains(&elapsed), "{elapsed:?}");
    drop(client);
    scene.end();
}

/// A byte of a body must not keep the buffer that it arrived in.
#[cfg(target_os = "linux")]
#[test]
fn bytes_between_large_frames_take_little_memory() {
    const STREAMS: u32 = 128;
    const ROUNDS: usize = 64;
    const UNKNOWN: u8 = 0xfa;
    let scene = Scene::new(&["--body-timeout", "60s"]);
    let mut client = Client::new(scene.connect(), PREFACE);
    let numbers = || (0..STREAMS).map(|index| 2 * index + 1);
    for number in numbers() {
        client.post(number, "/solve", "application/json");
    }
    client.wait_for_ping();
    let before = scene.server.memory_kib("VmRSS");
    let padding = frame(UNKNOWN, 0, 0, &[0; MAX_FRAME]);
    for _ in 0..ROUNDS {
        for number in numbers() {
            client.send(&frame(DATA, 0, number, b" "));
            client.send(&padding);
        }
        client.wait_for_ping();
    }
    let after = scene.server.memory_kib("VmRSS");
    assert!(after < before + 16 * 1024, "{before} KiB, then {after} KiB");
    drop(client);
    scene.end();
}

/// Each bad line of two bytes has an answer that is a hundred times as long.
#[cfg(target_os = "linux")]
#[rstest]
fn unread_batches_of_a_connection_take_little_memory(#[values(1, 5)] connections: usize) {
    let scene = Scene::new(&["--body-timeout", "60s"]);
    let clients: Vec<Client> = (0..connections)
        .map(|_| {
            let mut client = Client::new(scene.connect(), &frames::preface_without_window());
            for index in 0..128 {
                client.post(2 * index + 1, "/solve/batch", "application/x-ndjson");
            }
            client.fill(b"1\n");
            client
        })
        .collect();
    let peak = scene.server.memory_kib("VmHWM");
    assert!(peak < 96 * 1024, "{peak} KiB");
    drop(clients);
    scene.end();
}
