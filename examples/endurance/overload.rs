use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use http::StatusCode;
use http::header::RETRY_AFTER;
use rotation_game::Board;
use rotation_game::http::Code;
use rotation_game::puzzle::Goal;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep};

use crate::Result;
use crate::beside::{self, Beside};
use crate::boards::Dice;
use crate::client::{Answer, Call, Client};
use crate::report::{Report, figure};
use crate::server::{GAUGES, Server};
use crate::verdict::solves;

/// Offers many times as many slow searches as the server can do
#[derive(clap::Args)]
pub(crate) struct Args {
    /// For how long
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    time: Duration,

    /// How many times as many
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    times: f64,

    /// Of as many as it can do, how many it has to do under the load too, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50.0)]
    share: f64,

    /// What exact and cached requests beside the load may take, 99 in 100 of them
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    p99: Duration,

    /// How much memory the server may take at most, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 32)]
    memory: u64,

    /// How long the gauges may take to be 0 again
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    rest: Duration,

    /// Options for the server
    #[arg(last = true)]
    pub(crate) server: Vec<String>,
}

/// How many clients find out how much the server can do: more than searches run.
const CLIENTS: u64 = 8;
/// How far apart a board and the goal are that `misplaced` is slow for.
const MOVES_TO_A_GOAL: usize = 10;
/// How often the gauges are looked at.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) async fn run(args: &Args, server: &Server, report: &mut Report) -> Result<()> {
    let address = server.address;
    beside::make_known(address).await?;
    let capacity = capacity(address, (args.time / 10).max(Duration::from_secs(1))).await?;
    let idle = server.memory()?;
    figure(
        "slow searches that it can do a second",
        format!("{capacity:.1}"),
    );
    figure(
        "slow searches offered a second",
        format!("{:.1}", capacity * args.times),
    );

    let started = Instant::now();
    let end = started + args.time;
    let (slow, exact, known, peaks) = tokio::join!(
        load(address, capacity * args.times, end),
        Beside::Exact.ask_until(end, address),
        Beside::Known.ask_until(end, address),
        peaks(server, end),
    );
    let (slow, peaks) = (slow?, peaks?);
    figure("slow searches by outcome", format!("{:?}", slow.outcomes));
    for (gauge, peak) in peaks {
        figure(&format!("most {gauge}"), peak);
    }
    slow.check(args, capacity, report);
    for (what, latencies) in [("exact", exact?), ("cached", known?)] {
        let is_kept = latencies.percentile(99) <= args.p99;
        let what = format!(
            "{what} requests beside it take at most {:?}, 99 in 100",
            args.p99
        );
        report.promise(&what, is_kept, latencies);
    }
    let memory = server.memory()?;
    report.promise(
        &format!("the server takes at most {} MiB", args.memory),
        memory.peak <= args.memory * 1024,
        format!("{} KiB, {} KiB before the load", memory.peak, idle.resident),
    );
    server.check_rest(args.rest, report).await?;
    let again = Slow::new(u64::MAX).ask(address).await;
    report.promise(
        "afterwards a slow search is done at once",
        matches!(again, Ending::Solved(_)),
        format!("{again:?}"),
    );
    Ok(())
}

/// A search that takes the server some tens of milliseconds.
struct Slow {
    board: Board,
    goal: Goal,
    call: Call,
}

/// What came of it.
#[derive(Debug)]
enum Ending {
    Solved(Instant),
    Refused,
    Failed(String),
}

impl Slow {
    /// Another one for each number: a board at the greatest distance, searched for afresh and alone
    /// since it has to be explained, or a board and a goal.
    fn new(number: u64) -> Self {
        let mut dice = Dice::new(number);
        let (board, goal, body) = if number.is_multiple_of(2) {
            let board = dice.farthest();
            (
                board,
                Goal::Centre,
                json!({"board": board.to_string(), "explain": true}),
            )
        } else {
            let (board, goal) = dice.pair(MOVES_TO_A_GOAL);
            let body = json!({"board": board.to_string(), "goal": goal.to_string()});
            (board, Goal::Pattern(goal), body)
        };
        let mut body = body;
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
        let body: Value = serde_json::from_slice(&answer.body)?;
        match answer.status {
            StatusCode::OK => {
                solves(&body, self.board, self.goal)?;
                Ok(Ending::Solved(Instant::now()))
            }
            StatusCode::SERVICE_UNAVAILABLE
                if body["code"] == Code::Overloaded.as_str()
                    && answer
                        .header(RETRY_AFTER)
                        .parse::<u32>()
                        .is_ok_and(|seconds| seconds > 0) =>
            {
                Ok(Ending::Refused)
            }
            status => Err(format!("{status} {}", body["code"]).into()),
        }
    }
}

/// How many slow searches a second the server can do.
async fn capacity(address: SocketAddr, time: Duration) -> Result<f64> {
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

/// What came of the slow searches.
#[derive(Default)]
struct Load {
    outcomes: BTreeMap<String, u64>,
    solved_in_time: u32,
}

/// Asks so many slow searches a second, whatever comes of them, each on a connection of its own.
async fn load(address: SocketAddr, per_second: f64, end: Instant) -> Result<Load> {
    let mut ticks = interval(Duration::from_secs_f64(1.0 / per_second));
    let mut under_way = JoinSet::new();
    let mut number = CLIENTS << 32;
    while Instant::now() < end {
        ticks.tick().await;
        under_way.spawn(Slow::new(number).ask(address));
        number += 1;
    }
    let mut load = Load::default();
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

impl Load {
    fn check(&self, args: &Args, capacity: f64, report: &mut Report) {
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

/// The greatest values that the gauges are seen to have.
async fn peaks(server: &Server, end: Instant) -> Result<Vec<(&'static str, f64)>> {
    let mut peaks = GAUGES.map(|gauge| (gauge, 0.0));
    while Instant::now() < end {
        let metrics = server.metrics().await?;
        for (gauge, peak) in &mut peaks {
            *peak = metrics.get(gauge).max(*peak);
        }
        sleep(LOOK).await;
    }
    Ok(peaks.into())
}
