use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::time::sleep;

use crate::Result;
use crate::client::{Call, Client};
use crate::report::Report;

/// How long it may take to start, or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often something that is waited for is looked at.
const PAUSE: Duration = Duration::from_millis(5);
/// How many lines of the log are shown at most.
const SHOWN_LINES: usize = 5;
/// What is 0 when nothing is under way.
pub(crate) const GAUGES: [&str; 3] = ["searches_running", "searches_waiting", "connections"];

/// A server on free ports, which ends with this program.
pub(crate) struct Server {
    child: Running,
    pub(crate) address: SocketAddr,
    metrics: SocketAddr,
    /// Gives the errors in the log, when the log ends.
    log: JoinHandle<Vec<String>>,
    /// File descriptors at rest, before the first request.
    descriptors: usize,
}

/// A process that is killed when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Memory of a process, in KiB.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    pub(crate) peak: u64,
}

impl Server {
    pub(crate) async fn start(program: &Path, options: &[String]) -> Result<Self> {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ROTATION_GAME_") {
                command.env_remove(name);
            }
        }
        let child = command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(["--metrics-listen", "127.0.0.1:0", "--log-format", "json"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut child = Running(child);
        let stderr = child.0.stderr.take().expect("it is piped");
        let (addresses, told) = channel();
        let log = thread::spawn(move || read_log(stderr, &addresses));
        let address = || {
            told.recv_timeout(PATIENCE)
                .map_err(|_| "the server did not start; its log is above")
        };
        let mut server = Self {
            child,
            address: address()?,
            metrics: address()?,
            log,
            descriptors: 0,
        };
        let started = Instant::now();
        while Client::once(server.address, &Call::get("/readyz", "/readyz"))
            .await?
            .status
            != 200
        {
            if started.elapsed() > PATIENCE {
                return Err("the server is not ready".into());
            }
            sleep(PAUSE).await;
        }
        server.comes_to_rest(PATIENCE).await??;
        server.descriptors = server.descriptors()?;
        Ok(server)
    }

    /// What the server counts, by name and labels.
    pub(crate) async fn metrics(&self) -> Result<Metrics> {
        let answer = Client::once(self.metrics, &Call::get("/metrics", "/metrics")).await?;
        let text = std::str::from_utf8(&answer.body)?;
        let numbers = text.lines().filter_map(|line| {
            let (name, number) = line.rsplit_once(' ')?;
            let name = name.strip_prefix("rotation_game_")?;
            Some((name.to_owned(), number.parse().ok()?))
        });
        Ok(Metrics(numbers.collect()))
    }

    pub(crate) fn memory(&self) -> Result<Memory> {
        let path = format!("/proc/{}/status", self.child.0.id());
        let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let kib = |name: &str| -> Result<u64> {
            let mut lines = status.lines();
            let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let number = line.and_then(|line| line.split_whitespace().next());
            Ok(number
                .ok_or_else(|| format!("{path} has no {name}"))?
                .parse()?)
        };
        Ok(Memory {
            resident: kib("VmRSS")?,
            peak: kib("VmHWM")?,
        })
    }

    /// Makes the peak of its memory count from now on.
    pub(crate) fn reset_peak(&self) -> Result<()> {
        let path = format!("/proc/{}/clear_refs", self.child.0.id());
        // This value resets VmHWM (proc_pid_clear_refs(5)).
        fs::write(&path, "5").map_err(|error| format!("{path}: {error}").into())
    }

    /// How many files and sockets it has open.
    pub(crate) fn descriptors(&self) -> Result<usize> {
        let path = format!("/proc/{}/fd", self.child.0.id());
        let entries = fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))?;
        Ok(entries.count())
    }

    /// Waits until nothing is under way, and tells how long it took, or what still is.
    async fn comes_to_rest(
        &self,
        within: Duration,
    ) -> Result<std::result::Result<Duration, String>> {
        let started = Instant::now();
        loop {
            let metrics = self.metrics().await?;
            let mut busy = Vec::from(GAUGES.map(|name| (name, metrics.get(name))));
            busy.retain(|&(_, number)| number != 0.0);
            let waited = started.elapsed();
            if busy.is_empty() {
                return Ok(Ok(waited));
            }
            if waited > within {
                return Ok(Err(format!("after {waited:.1?} {busy:?}")));
            }
            sleep(PAUSE).await;
        }
    }

    /// Promises that everything is given back in time when the load has ended.
    pub(crate) async fn check_rest(&self, within: Duration, report: &mut Report) -> Result<()> {
        let rest = self.comes_to_rest(within).await?;
        let what =
            format!("searches_running, searches_waiting and connections are 0 within {within:?}");
        match rest {
            Ok(waited) => report.promise(&what, true, format!("after {waited:.1?}")),
            Err(busy) => report.promise(&what, false, busy),
        }
        // The last connection that asked for metrics ends a moment after its answer.
        let started = Instant::now();
        let mut descriptors = self.descriptors()?;
        while descriptors > self.descriptors && started.elapsed() < within {
            sleep(PAUSE).await;
            descriptors = self.descriptors()?;
        }
        report.promise(
            "no file descriptor is left open",
            descriptors <= self.descriptors,
            format!("{descriptors}, at the start {}", self.descriptors),
        );
        Ok(())
    }

    /// Stops it, and promises that it ends well and has logged no error.
    pub(crate) async fn end(mut self, report: &mut Report) -> Result<()> {
        kill_process(Pid::from_child(&self.child.0), Signal::TERM)?;
        let started = Instant::now();
        let mut status = None;
        while status.is_none() && started.elapsed() < PATIENCE {
            sleep(PAUSE).await;
            status = self.child.0.try_wait()?;
        }
        report.promise(
            "SIGTERM ends it with status 0",
            status.is_some_and(|status| status.success()),
            status.map_or("it goes on".to_owned(), |status| status.to_string()),
        );
        drop(self.child);
        let errors = self.log.join().map_err(|_| "the log could not be read")?;
        report.promise("the log has no error", errors.is_empty(), errors.len());
        for line in errors.iter().take(SHOWN_LINES) {
            println!("{:8}{line}", "");
        }
        Ok(())
    }
}

/// Tells the addresses where it serves the API and the metrics, in this order, and gives the lines
/// that are errors. What is no JSON is printed: the server complains of how it was started.
fn read_log(stderr: ChildStderr, addresses: &Sender<SocketAddr>) -> Vec<String> {
    let mut errors = Vec::new();
    let mut is_announced = false;
    for line in BufReader::new(stderr)
        .lines()
        .map_while(std::result::Result::ok)
    {
        if line.contains("\"level\":\"ERROR\"") {
            errors.push(line);
        } else if !is_announced {
            let Ok(entry) = serde_json::from_str::<Value>(&line) else {
                println!("{line}");
                continue;
            };
            let address = entry["address"].as_str().and_then(|it| it.parse().ok());
            is_announced = entry["message"] == "serving /metrics";
            if let Some(address) = address {
                // Nobody may be waiting for it any more.
                let _ = addresses.send(address);
            }
        }
    }
    errors
}

/// What the server counts.
pub(crate) struct Metrics(HashMap<String, f64>);

impl Metrics {
    /// A number, which is 0 as long as it is not told.
    pub(crate) fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }
}
