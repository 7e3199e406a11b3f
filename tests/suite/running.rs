//! The real server on free ports, and a plain client for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::program;

/// 13 moves away: `misplaced` takes long for it.
pub(crate) const HARDEST: &str = "112323233232111211122333";

/// A request for a search that takes long, to a pattern.
pub(crate) const LONG_SEARCH: &str = r#"{"board":"113331232232211122313132","goal":"112311231323132213232213","heuristic":"misplaced"}"#;

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// What it logs.
    log: thread::JoinHandle<String>,
}

impl Server {
    /// Starts it, on a free port and without metrics unless asked for, and waits until it is ready.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_by(program(), arguments)
    }

    /// Starts it by a command that takes the program's arguments.
    pub(crate) fn start_by(mut command: Command, arguments: &[&str]) -> Self {
        command.arg("serve");
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        if !arguments.contains(&"--metrics-listen") {
            command.args(["--metrics-listen", "off"]);
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut text = String::new();
            log.read_to_string(&mut text).unwrap();
            text
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim_end().strip_prefix("listening on http://");
        let address = address
            .unwrap_or_else(|| panic!("it printed {line:?}"))
            .parse()
            .unwrap();
        let server = Self {
            child,
            address,
            log,
        };
        eventually("it is ready", || server.get("/readyz").status == 200);
        server
    }

    /// Returns a value of its memory, such as `VmRSS` (resident now) or `VmHWM` (at most so far).
    #[cfg(target_os = "linux")]
    pub(crate) fn memory_kib(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let value = line.unwrap().split_whitespace().next();
        value.unwrap().parse().unwrap()
    }

    /// Returns its soft limit of open files.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_files_limit(&self) -> usize {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.child.id())).unwrap();
        let limit = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"));
        let soft = limit.unwrap().split_whitespace().next();
        soft.unwrap().parse().unwrap()
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::to(self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        let mut connection = self.connect();
        connection.send(&format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"));
        connection.response().unwrap()
    }

    pub(crate) fn solve(&self, body: &Value) -> Response {
        let mut connection = self.connect();
        connection.send_solve(body);
        connection.response().unwrap()
    }

    /// A client that leaves while its search runs. Ends when the search, the only one, has stopped.
    pub(crate) fn leave_a_search(&self, metrics: &str) {
        let searches_are = |count| metric(metrics, "rotation_game_searches_running") == count;
        let mut connection = self.connect();
        connection.send_solve(&serde_json::from_str(LONG_SEARCH).unwrap());
        eventually("it runs", || searches_are(1));
        drop(connection);
        eventually("it is stopped", || searches_are(0));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end, and gives its status and its log.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let mut status = None;
        eventually("it ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let log = std::mem::replace(&mut self.log, thread::spawn(String::new));
        (status.unwrap(), log.join().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that speaks HTTP/1.1 by hand.
pub(crate) struct Connection(BufReader<TcpStream>);

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> &str {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Connection {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        Self(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn send_solve(&mut self, body: &Value) {
        let body = body.to_string();
        let length = body.len();
        self.send(&format!(
            "POST /solve HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        ));
    }

    /// The next response, or `None` where the server has closed the connection.
    pub(crate) fn response(&mut self) -> Option<Response> {
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        while let Some((name, value)) = self.line()?.split_once(": ") {
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut response = Response {
            status,
            headers,
            body: String::new(),
        };
        let length = response.header("content-length").parse().unwrap();
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        response.body = String::from_utf8(body).unwrap();
        Some(response)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The server's metrics, as it tells them.
pub(crate) fn metrics(address: &str) -> String {
    let mut connection = Connection::to(address.parse().unwrap());
    connection.send("GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n");
    connection.response().unwrap().body
}

/// A value of the server's metrics.
pub(crate) fn metric(address: &str, name: &str) -> u64 {
    let body = metrics(address);
    let line = body
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in\n{body}"))
        .parse()
        .unwrap()
}

/// A free address for metrics, which have no line of their own to tell it.
pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Waits until something is so, and fails if it does not become so in half a minute.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(30), "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
