//! Slow searches, offered faster than the server can do them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use http::StatusCode;
use rotation_game::Board;
use rotation_game::puzzle::Goal;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

use crate::Result;
use crate::boards::Dice;
use crate::client::{Answer, Call, Client};
use crate::overload::Args;
use crate::report::{Report, figure};
use crate::verdict::{is_refusal, solves};

/// Number of clients that measure the capacity of the server: more than searches run.
const CLIENTS: u64 = 8;
/// The distance between a board and a pattern that makes `misplaced` slow.
const MOVES_TO_A_GOAL: usize = 10;

/// A search that takes the server some tens of milliseconds.
struct Slow {
    board: Board,
    goal: Goal,
    call: Call,
}

/// The end of a slow search.
#[derive(Debug)]
enum Ending {
    Solved(Instant),
    Refused,
    Failed(String),
}

impl Slow {
    /// Returns a different search for each number: a board at the greatest distance, with an
    /// explanation so that it is neither cached nor shared, or a board and a pattern.
    fn new(number: u64) -> Self {
        let mut dice = Dice::new(number);
        let (board, goal, mut body) = if number.is_multiple_of(2) {
            let board = dice.farthest();
            let body = json!({"board": board.to_string(), "explain": true});
            (board, Goal::Centre, body)
        } else {
            let (board, goal) = dice.pair(MOVES_TO_A_GOAL);
            let body = json!({"board": board.to_string(), "goal": goal.to_string()});
            (board, Goal::Pattern(goal), body)
        };
        body["heuristic"] = "misplaced".into();
        Self {
            board,
            goal,
            call: Call::solve(&body),
        }
    }

    async fn ask(self, address: SocketAddr) -> Ending {
        match Client::once(address, &self.call).await {
            Ok(answer) => self
                .ending(&answer)
                .unwrap_or_else(|error| Ending::Failed(error.to_string())),
            Err(error) => Ending::Failed(error.to_string()),
        }
    }

    fn ending(&self, answer: &Answer) -> Result<Ending> {
        if is_refusal(answer) {
            return Ok(Ending::Refused);
        }
        let body: Value = serde_json::from_slice(&answer.body)?;
        if answer.status != StatusCode::OK {
            return Err(format!("{} {}", answer.status, body["code"]).into());
        }
        solves(&body, self.board, self.goal)?;
        Ok(Ending::Solved(Instant::now()))
    }
}

/// Measures how many slow searches a second the server can do.
pub(crate) async fn capacity(address: SocketAddr, time: Duration) -> Result<f64> {
    let started = Instant::now();
    let clients = (0..CLIENTS).map(|client| async move {
        let mut solved = 0;
        while started.elapsed() < time {
            match Slow::new(client << 32 | u64::from(solved))
                .ask(address)
                .await
            {
                Ending::Solved(_) => solved += 1,
                ending => return Err(format!("without a load a slow search is {ending:?}")),
            }
        }
        Ok(solved)
    });
    let solved: std::result::Result<Vec<u32>, String> =
        join_all(clients).await.into_iter().collect();
    let solved: u32 = solved?.iter().sum();
    Ok(f64::from(solved) / started.elapsed().as_secs_f64())
}

/// The outcomes of the slow searches of a storm.
#[derive(Default)]
pub(crate) struct SlowLoad {
    outcomes: BTreeMap<String, u64>,
    solved_in_time: u32,
}

/// Sends `per_second` slow searches a second until `end`, each on a connection of its own, and does
/// not wait for one answer before the next request.
pub(crate) async fn offer(address: SocketAddr, per_second: f64, end: Instant) -> Result<SlowLoad> {
    let mut ticks = interval(Duration::from_secs_f64(1.0 / per_second));
    let mut under_way = JoinSet::new();
    let mut number = CLIENTS << 32;
    while Instant::now() < end {
        ticks.tick().await;
        under_way.spawn(Slow::new(number).ask(address));
        number += 1;
    }
    let mut load = SlowLoad::default();
    while let Some(ending) = under_way.join_next().await {
        let outcome = match ending? {
            Ending::Solved(at) => {
                load.solved_in_time += u32::from(at <= end);
                "solved".to_owned()
            }
            Ending::Refused => "refused".to_owned(),
            Ending::Failed(error) => error,
        };
        *load.outcomes.entry(outcome).or_default() += 1;
    }
    Ok(load)
}

impl SlowLoad {
    pub(crate) fn check(&self, args: &Args, capacity: f64, report: &mut Report) {
        figure("slow searches by outcome", format!("{:?}", self.outcomes));
        let count = |outcome: &str| self.outcomes.get(outcome).copied().unwrap_or(0);
        let sent: u64 = self.outcomes.values().sum();
        let (solved, refused) = (count("solved"), count("refused"));
        report.promise(
            "every slow search is solved, or refused with Retry-After",
            solved + refused == sent,
            format!("{sent} asked for, {solved} solved, {refused} refused"),
        );
        report.promise(
            "the load is too much",
            refused > solved,
            format!("{refused} refused"),
        );
        let per_second = f64::from(self.solved_in_time) / args.time.as_secs_f64();
        let share = 100.0 * per_second / capacity;
        report.promise(
            &format!(
                "the server does at least {} % of what it can do",
                args.share
            ),
            share >= args.share,
            format!("{per_second:.1} a second, {share:.0} %"),
        );
    }
}

/// Promises that a slow search after the storm is solved at once.
pub(crate) async fn check_recovery(address: SocketAddr, report: &mut Report) {
    let again = Slow::new(u64::MAX).ask(address).await;
    report.promise(
        "afterwards a slow search is done at once",
        matches!(again, Ending::Solved(_)),
        format!("{again:?}"),
    );
}
