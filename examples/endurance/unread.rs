//! Clients that send large batches and read no answers, and one that sends small batches meanwhile.

use std::net::SocketAddr;
use std::time::Duration;

use http::Version;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::Result;
use crate::boards::Dice;
use crate::client::Client;
use crate::known_batch::BatchFormat;
use crate::leaving::head;
use crate::overload::Args;
use crate::report::{Latencies, Report, figure};

/// Number of clients that read nothing; every other one sends judge format.
const CLIENTS: u64 = 8;
/// Number of boards in an unread batch: their answers are more than sockets hold.
const BOARDS: usize = 400_000;
/// Number of different boards that such a batch repeats.
const DIFFERENT_BOARDS: usize = 1000;
/// The pause between two batches of one line.
const PAUSE: Duration = Duration::from_millis(5);

/// The latencies and failures of the batches of one line.
pub(crate) struct OneLineBatches {
    /// A batch that is not answered by the end of the storm counts with its time until then.
    latencies: Latencies,
    failures: Vec<String>,
}

pub(crate) async fn run(address: SocketAddr, end: Instant) -> Result<OneLineBatches> {
    let mut unread = JoinSet::new();
    for number in 0..CLIENTS {
        unread.spawn(send(address, number, end));
    }
    let batches = one_line_batches(address, end).await;
    let mut sent = 0;
    while let Some(bytes) = unread.join_next().await {
        sent += bytes??;
    }
    figure("MiB that the clients that read nothing sent", sent >> 20);
    Ok(batches)
}

/// Sends a batch, and holds the connection until `end` without reading. Returns the number of bytes
/// sent. A client that the server disconnects, as it may after a while, connects again.
async fn send(address: SocketAddr, number: u64, end: Instant) -> Result<usize> {
    let mut dice = Dice::new(number);
    let format = BatchFormat::alternate(number);
    let boards: Vec<_> = (0..DIFFERENT_BOARDS).map(|_| dice.board()).collect();
    let part = format.body(&boards);
    let parts = BOARDS / DIFFERENT_BOARDS;
    let head = head("/solve/batch", format.content_type(), part.len() * parts);
    let mut sent = 0;
    while Instant::now() < end {
        let mut stream = TcpStream::connect(address).await?;
        let batch = async {
            stream.write_all(head.as_bytes()).await?;
            for _ in 0..parts {
                stream.write_all(part.as_bytes()).await?;
                sent += part.len();
            }
            sleep_until(end).await;
            std::io::Result::Ok(())
        };
        if let Ok(Err(_)) = timeout_at(end, batch).await {
            sleep(PAUSE).await;
        }
    }
    Ok(sent)
}

/// Sends batches of one line until `end`, one after the other.
async fn one_line_batches(address: SocketAddr, end: Instant) -> OneLineBatches {
    let mut client = Client::new(address, Version::HTTP_11);
    let (mut latencies, mut failures) = (Vec::new(), Vec::new());
    for number in 0.. {
        let board = Dice::new(number).board();
        let format = BatchFormat::alternate(number);
        let call = format.call(&[board]);
        let started = Instant::now();
        let answer = timeout_at(end, client.call(&call)).await;
        latencies.push(started.elapsed());
        match answer {
            Ok(Ok(answer)) => {
                if let Err(error) = format.check(&answer, &[board]) {
                    failures.push(error.to_string());
                }
            }
            Ok(Err(error)) => failures.push(error.to_string()),
            Err(_) => break,
        }
        sleep(PAUSE).await;
    }
    OneLineBatches {
        latencies: Latencies::new(latencies),
        failures,
    }
}

impl OneLineBatches {
    pub(crate) fn check(&self, args: &Args, report: &mut Report) {
        report.promise(
            &format!(
                "each batch of one line is answered within {:?}",
                args.one_line
            ),
            self.latencies.percentile(100) <= args.one_line,
            &self.latencies,
        );
        report.promise(
            "every batch of one line is answered",
            self.failures.is_empty(),
            format!("{} failures", self.failures.len()),
        );
        if let Some(failure) = self.failures.first() {
            figure("for example", failure);
        }
    }
}
