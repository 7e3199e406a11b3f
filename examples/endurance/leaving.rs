//! Clients that do not do their part.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::Result;
use crate::boards::Dice;

/// How long the server may take to give up on a body.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many lines that their answers are more than sockets hold.
const LARGE_BATCH: usize = 20_000;

/// What a client leaves in the middle of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaving {
    Head,
    Body,
    Batch,
    Answers,
}

impl Leaving {
    pub(crate) async fn play(self, address: SocketAddr, dice: &mut Dice) -> Result<()> {
        let mut stream = TcpStream::connect(address).await?;
        if dice.one_in(2) {
            // It leaves by a reset.
            stream.set_zero_linger()?;
        }
        let line = format!("\"{}\"\n", dice.board());
        let sent = match self {
            Self::Head => {
                let head = head("/solve", "application/json", 40);
                head[..=dice.below(head.len() - 1)].to_owned()
            }
            Self::Body => head("/solve", "application/json", 100) + "{\"board\":",
            Self::Batch => {
                head("/solve/batch", "application/x-ndjson", 1_000_000) + &line.repeat(200)
            }
            Self::Answers => {
                let lines = line.repeat(LARGE_BATCH);
                head("/solve/batch", "application/x-ndjson", lines.len()) + &lines
            }
        };
        let (mut reading, mut writing) = stream.split();
        let mut some = [0; 1000];
        tokio::select! {
            sent = writing.write_all(sent.as_bytes()) => sent?,
            // The server takes no more before its answers are taken.
            read = reading.read_exact(&mut some) => drop(read?),
        }
        sleep(Duration::from_millis(dice.number() % 3)).await;
        Ok(())
    }
}

/// Sends only the beginning of a body, and waits for the server to answer that it did not come.
pub(crate) async fn stall(address: SocketAddr) -> Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let sent = head("/solve", "application/json", 100) + "{\"board\":";
    stream.write_all(sent.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        let mut some = [0; 4096];
        let count = timeout(PATIENCE, stream.read(&mut some)).await??;
        if count == 0 {
            return Err("a stall is not answered".into());
        }
        answer.extend_from_slice(&some[..count]);
    }
    let answer = String::from_utf8(answer)?;
    if answer.starts_with("HTTP/1.1 408 ") && answer.contains("\"code\":\"request-timeout\"") {
        Ok(())
    } else {
        Err(format!("the answer to a stall is {answer}").into())
    }
}

pub(crate) fn head(path: &str, content_type: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: {content_type}\r\n\
         content-length: {length}\r\n\r\n"
    )
}
