//! HTTP/2 by hand, as no client library would send it (RFC 9113 and RFC 7541).

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GO_AWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

const CANCEL: [u8; 4] = [0, 0, 0, 8];
const INITIAL_WINDOW_SIZE: u8 = 4;
/// Maximum length of a payload, and the first window of a connection, unless settings change them.
pub(crate) const MAX_FRAME: usize = 16_384;
const FIRST_WINDOW: i64 = 65_535;

/// The connection preface with empty settings.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// The connection preface of a client that takes no DATA.
pub(crate) fn preface_without_window() -> Vec<u8> {
    let mut preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    preface.extend(frame(SETTINGS, 0, 0, &[0, INITIAL_WINDOW_SIZE, 0, 0, 0, 0]));
    preface
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

pub(crate) fn reset(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &CANCEL)
}

/// Appends a literal whose first byte, with the index of its name, is `name`.
fn push_literal(headers: &mut Vec<u8>, name: u8, value: &str) {
    headers.extend([name, u8::try_from(value.len()).unwrap()]);
    headers.extend(value.bytes());
}

/// Returns a request without a body.
pub(crate) fn get(stream: u32, path: &str, more: &[u8]) -> Vec<u8> {
    let mut headers = vec![0x82, 0x86];
    push_literal(&mut headers, 0x44, path);
    push_literal(&mut headers, 0x41, "a");
    headers.extend(more);
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &headers)
}

/// Returns the head of a request whose body follows.
pub(crate) fn post(stream: u32, path: &str, content_type: &str) -> Vec<u8> {
    let mut headers = vec![0x83, 0x86];
    push_literal(&mut headers, 0x44, path);
    push_literal(&mut headers, 0x41, "a");
    push_literal(&mut headers, 0x5f, content_type);
    frame(HEADERS, END_HEADERS, stream, &headers)
}

/// Returns a request to solve a board.
pub(crate) fn solve(stream: u32, body: &str) -> Vec<u8> {
    let mut request = post(stream, "/solve", "application/json");
    request.extend(frame(DATA, END_STREAM, stream, body.as_bytes()));
    request
}

/// Decodes the status at the start of a block of headers: an entry of the static table, or a
/// literal in Huffman code.
pub(crate) fn status(block: &[u8]) -> u16 {
    const STATIC: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
    if block[0] & 0x80 != 0 {
        return STATIC[usize::from(block[0] - 0x88)];
    }
    let (length, value) = (block[1], &block[2..]);
    if length & 0x80 == 0 {
        return str::from_utf8(&value[..3]).unwrap().parse().unwrap();
    }
    let bits = u32::from_be_bytes([value[0], value[1], value[2], 0]);
    let mut shift = 0;
    (0..3).fold(0, |status, _| {
        // The codes of 0 to 2 have five bits, those of 3 to 9 have six and begin with 011001.
        let short = bits << shift >> 27;
        let (digit, length) = if short <= 2 {
            (short, 5)
        } else {
            ((bits << shift >> 26) - 0b01_1001 + 3, 6)
        };
        shift += length;
        status * 10 + u16::try_from(digit).unwrap()
    })
}

#[test]
fn statuses_are_decoded() {
    assert_eq!(status(&[0x8d]), 404);
    assert_eq!(status(&[0x48, 3, b'4', b'3', b'1']), 431);
    // 011010 011001 00001, and ones.
    assert_eq!(status(&[0x48, 0x83, 0x69, 0x90, 0xff]), 431);
    // RFC 7541, section C.6.2: 307.
    assert_eq!(status(&[0x48, 0x83, 0x64, 0x0e, 0xff]), 307);
}

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// A connection that acknowledges settings and pings, and keeps to the windows of the server.
pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    connection_window: i64,
    first_window: i64,
    /// The window of each stream with a body, by the order of their requests.
    windows: Vec<(u32, i64)>,
}

impl Client {
    pub(crate) fn new(stream: TcpStream, preface: &[u8]) -> Self {
        let mut client = Self {
            stream,
            received: Vec::new(),
            connection_window: FIRST_WINDOW,
            first_window: FIRST_WINDOW,
            windows: Vec::new(),
        };
        client.send(preface);
        while client.frame().unwrap().kind != SETTINGS {}
        client
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends the head of a request whose body is sent with [`Self::fill`].
    pub(crate) fn post(&mut self, stream: u32, path: &str, content_type: &str) {
        self.send(&post(stream, path, content_type));
        self.windows.push((stream, self.first_window));
    }

    /// Returns the next frame, or `None` when the connection is closed or the time to read is over.
    pub(crate) fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.parse() {
                self.react(&frame);
                return Some(frame);
            }
            let mut bytes = [0; MAX_FRAME];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(length) => self.received.extend(&bytes[..length]),
                Err(error) => {
                    let expected = [ErrorKind::WouldBlock, ErrorKind::ConnectionReset];
                    assert!(expected.contains(&error.kind()), "{error}");
                    return None;
                }
            }
        }
    }

    fn parse(&mut self) -> Option<Frame> {
        let head = self.received.get(..9)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let payload = self.received.get(9..9 + length)?.to_vec();
        self.received.drain(..9 + length);
        Some(Frame {
            kind,
            flags,
            stream,
            payload,
        })
    }

    fn react(&mut self, frame: &Frame) {
        let number = |start: usize| {
            let bytes = frame.payload[start..start + 4].try_into().unwrap();
            i64::from(u32::from_be_bytes(bytes))
        };
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => {
                for start in (0..frame.payload.len()).step_by(6) {
                    if frame.payload[start + 1] == INITIAL_WINDOW_SIZE {
                        self.first_window = number(start + 2);
                    }
                }
                self.acknowledge(SETTINGS, &[]);
            }
            PING if frame.flags & ACK == 0 => self.acknowledge(PING, &frame.payload),
            WINDOW_UPDATE if frame.stream == 0 => self.connection_window += number(0),
            WINDOW_UPDATE => {
                for (stream, window) in &mut self.windows {
                    if *stream == frame.stream {
                        *window += number(0);
                    }
                }
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, kind: u8, payload: &[u8]) {
        // The server may have closed the connection meanwhile.
        let _ = self.stream.write_all(&frame(kind, ACK, 0, payload));
    }

    /// Waits until the server has read all that was sent.
    pub(crate) fn wait_for_ping(&mut self) {
        self.send(&frame(PING, 0, 0, &[0; 8]));
        let is_answer = |frame: &Frame| frame.kind == PING && frame.flags & ACK != 0;
        while !is_answer(&self.frame().unwrap()) {}
    }

    /// Sends `line` on all streams with a body, until the server has opened no window for a while.
    pub(crate) fn fill(&mut self, line: &[u8]) {
        self.stream
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        let lines = line.repeat(MAX_FRAME / line.len());
        loop {
            let mut data = Vec::new();
            for (stream, window) in &mut self.windows {
                let most = usize::try_from((*window).min(self.connection_window)).unwrap_or(0);
                let length = most.min(lines.len()) / line.len() * line.len();
                if length > 0 {
                    data.extend(frame(DATA, 0, *stream, &lines[..length]));
                    let length = i64::try_from(length).unwrap();
                    *window -= length;
                    self.connection_window -= length;
                }
            }
            self.stream.write_all(&data).unwrap();
            if self.frame().is_none() {
                return;
            }
        }
    }
}
