//! Short requests beside a load, each of which is sent when it is due, and timed from then on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use http::Version;
use rotation_game::puzzle::Goal;
use serde_json::json;
use tokio::time::{Instant, interval_at};

use crate::Result;
use crate::boards::Dice;
use crate::client::{Call, Client};
use crate::report::Latencies;
use crate::verdict::solves;

/// How many clients ask at a time, and how often each.
const CLIENTS: u32 = 4;
const PERIOD: Duration = Duration::from_millis(20);
/// How many boards are asked for again and again.
const KNOWN_BOARDS: u64 = 50;
/// Boards that are not yet known are drawn with seeds from here on.
const NEW_BOARDS: u64 = 1 << 40;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Boards that the exact search has to solve.
    Exact,
    /// Boards whose solutions are known.
    Known,
}

/// Asks once for the boards that are to be known.
pub(crate) async fn make_known(address: SocketAddr) -> Result<()> {
    for seed in 0..KNOWN_BOARDS {
        let board = Dice::new(seed).board().to_string();
        Client::once(address, &Call::solve(&json!({"board": board}))).await?;
    }
    Ok(())
}

/// The latencies and failures of the requests beside a storm.
pub(crate) struct Fared {
    pub(crate) latencies: Latencies,
    /// The number of requests without the right answer, by reason.
    pub(crate) failures: BTreeMap<String, usize>,
}

impl Beside {
    /// Asks at a steady rate until `end`. Each round asks for other boards.
    pub(crate) async fn ask_until(self, end: Instant, address: SocketAddr, round: u64) -> Fared {
        let clients = (0..CLIENTS).map(|number| async move {
            let mut client = Client::new(address, Version::HTTP_11);
            let mut seed = NEW_BOARDS * u64::from(1 + number) + (round << 32);
            let mut ticks = interval_at(Instant::now() + PERIOD * number / CLIENTS, PERIOD);
            let (mut latencies, mut failures) = (Vec::new(), Vec::new());
            while Instant::now() < end {
                let due = ticks.tick().await;
                if let Err(error) = self.ask(seed, &mut client).await {
                    failures.push(error.to_string());
                }
                latencies.push(due.elapsed());
                seed += 1;
            }
            (latencies, failures)
        });
        let (mut latencies, mut failures) = (Vec::new(), BTreeMap::new());
        for (some, failed) in join_all(clients).await {
            latencies.extend(some);
            for failure in failed {
                *failures.entry(failure).or_default() += 1;
            }
        }
        Fared {
            latencies: Latencies::new(latencies),
            failures,
        }
    }

    async fn ask(self, seed: u64, client: &mut Client) -> Result<()> {
        let (seed, status) = match self {
            Self::Exact => (seed, "rotation-game; fwd=miss"),
            Self::Known => (seed % KNOWN_BOARDS, "rotation-game; hit"),
        };
        let board = Dice::new(seed).board();
        let call = Call::solve(&json!({"board": board.to_string()}));
        let answer = client.call(&call).await?;
        if answer.status != 200 || answer.header("cache-status") != status {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(format!("{self:?} beside the load: {} {body}", answer.status).into());
        }
        solves(&serde_json::from_slice(&answer.body)?, board, Goal::Centre)
    }
}
