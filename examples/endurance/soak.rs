use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use http::header::CONTENT_TYPE;
use http::{StatusCode, Version};
use rotation_game::http::Code;
use serde_json::{Value, json};

use crate::Result;
use crate::boards::Dice;
use crate::client::{Answer, Call, Client, X_REQUEST_ID};
use crate::contract::Contract;
use crate::leaving;
use crate::mix::{self, Deed, ROUND};
use crate::report::{Report, figure};
use crate::server::Server;
use crate::verdict;

/// Loads the server with requests of all kinds, right, wrong and broken off
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many requests, at least 10,000
    #[arg(long, value_name = "N", default_value_t = 5_000_000, value_parser = clap::value_parser!(u64).range(ROUND as u64..))]
    requests: u64,

    /// How many clients ask at a time; every other one speaks HTTP/2
    #[arg(long, value_name = "N", default_value_t = 32)]
    clients: u64,

    /// What the requests are drawn with
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// By how much resident memory may grow after the first fifth of the requests, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4)]
    growth: u64,

    /// How long the gauges may take to be 0 again
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    rest: Duration,

    /// Options for the server, instead of those that make it keep little and give up soon on bodies
    /// that do not come
    #[arg(last = true, default_values = ["--cache-capacity", "4096", "--goal-cache", "4", "--body-timeout", "2s"])]
    pub(crate) server: Vec<String>,
}

/// After how many requests a client opens another connection.
const REQUESTS_OF_A_CONNECTION: u64 = 1000;
/// How often memory is looked at in a tenth of the run.
const SAMPLES: u64 = 100;
/// After how many wrong answers there is no use in going on.
const TOO_MANY: usize = 100;
/// How many wrong answers are shown.
const SHOWN: usize = 5;
/// What the server counts and is worth telling.
const COUNTED: [&str; 10] = [
    "batch_boards_total",
    "cache_hits_total",
    "cache_misses_total",
    "cache_evictions_total",
    "cache_entries",
    "goals",
    "goal_builds_total",
    "searches_abandoned_total",
    "searches_timed_out_total",
    "searches_rejected_total",
];

/// What all clients share.
struct Soak<'a> {
    args: &'a Args,
    server: &'a Server,
    contract: Contract,
    deeds: Vec<Deed>,
    /// The number of the next request.
    next: AtomicU64,
    outcome: Mutex<Outcome>,
}

#[derive(Default)]
struct Outcome {
    /// How often which status came back, with which code.
    answers: BTreeMap<(u16, String), u64>,
    failures: Vec<String>,
    /// Resident memory in KiB, by tenths of the run.
    memory: [Vec<u64>; 10],
    most_descriptors: usize,
}

pub(crate) async fn run(args: &Args, server: &Server, report: &mut Report) -> Result<()> {
    let soak = Soak {
        args,
        server,
        contract: Contract::read()?,
        deeds: mix::round(args.seed),
        next: AtomicU64::new(0),
        outcome: Mutex::default(),
    };
    let started = Instant::now();
    try_join_all((0..args.clients).map(|number| soak.client(number))).await?;
    let elapsed = started.elapsed();
    figure("time", format!("{elapsed:.1?}"));
    let per_second = u128::from(args.requests) * 1000 / elapsed.as_millis().max(1);
    figure("requests a second", per_second);
    let metrics = server.metrics().await?;
    for name in COUNTED {
        figure(name, metrics.get(name));
    }
    soak.outcome().check(args, report);
    server.check_rest(args.rest, report).await
}

impl Outcome {
    fn check(&mut self, args: &Args, report: &mut Report) {
        figure("most file descriptors", self.most_descriptors);
        for ((status, code), count) in &self.answers {
            figure(&format!("answers {status} {code}"), count);
        }
        report.promise(
            "every request gets the right answer, as documented",
            self.failures.is_empty(),
            format!(
                "{} requests, {} failures",
                args.requests,
                self.failures.len()
            ),
        );
        for failure in self.failures.iter().take(SHOWN) {
            figure("for example", failure);
        }
        // A server that is not overloaded, nor stopped, nor broken, answers with none of these.
        let unlikely = [Code::Overloaded, Code::ShuttingDown, Code::Internal];
        let met = |code: Code| {
            self.answers
                .contains_key(&(code.status().as_u16(), code.as_str().to_owned()))
        };
        let missing = Code::ALL
            .iter()
            .filter(|code| !unlikely.contains(code) && !met(**code));
        let missing: Vec<&str> = missing.map(|code| code.as_str()).collect();
        report.promise(
            "every problem is met",
            missing.is_empty(),
            format!("{missing:?} missing"),
        );

        let tenths = self.memory.each_mut().map(|kib| median(kib));
        figure("resident memory in KiB, by tenths", format!("{tenths:?}"));
        let [_, _, early, .., late] = tenths;
        report.promise(
            &format!(
                "resident memory grows by at most {} MiB after warm-up",
                args.growth
            ),
            late <= early + args.growth * 1024,
            format!("from {early} to {late} KiB"),
        );
    }
}

fn median(numbers: &mut [u64]) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}

impl Soak<'_> {
    /// Asks one thing after the other, until all has been asked.
    async fn client(&self, number: u64) -> Result<()> {
        let protocol = if number.is_multiple_of(2) {
            Version::HTTP_11
        } else {
            Version::HTTP_2
        };
        let mut client = Client::new(self.server.address, protocol);
        let mut asked = 0;
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            if number >= self.args.requests || self.outcome().failures.len() >= TOO_MANY {
                return Ok(());
            }
            self.look(number)?;
            let deed = self.deeds[usize::try_from(number)? % ROUND];
            if let Err(error) = self.act(deed, number, &mut client).await {
                let failure = format!("request {number}, {deed:?}, {protocol:?}: {error}");
                self.outcome().failures.push(failure);
            }
            asked += 1;
            if asked % REQUESTS_OF_A_CONNECTION == 0 {
                client = Client::new(self.server.address, protocol);
            }
        }
    }

    async fn act(&self, deed: Deed, number: u64, client: &mut Client) -> Result<()> {
        let mut dice = Dice::new(self.args.seed << 40 ^ number);
        match deed {
            Deed::Asks(kind) => {
                let mut asked = kind.ask(&mut dice);
                let id = format!("soak-{number}");
                asked.call = asked.call.with(X_REQUEST_ID, &id);
                let answer = client.call(&asked.call).await?;
                self.count(answer.status, &code_of(&answer));
                verdict::check(&self.contract, &asked, &id, &answer)
                    .map_err(|error| describe(&error, &asked.call, &answer).into())
            }
            Deed::Leaves => {
                let board = dice.farthest().to_string();
                let body = json!({"board": board, "heuristic": "misplaced", "explain": true});
                let after = Duration::from_millis(dice.number() % 10);
                client.call_and_leave(&Call::solve(&body), after).await
            }
            Deed::Breaks(leaving) => leaving.play(self.server.address, &mut dice).await,
            Deed::Stalls => {
                leaving::stall(self.server.address).await?;
                self.count(Code::RequestTimeout.status(), Code::RequestTimeout.as_str());
                Ok(())
            }
        }
    }

    /// Looks at the process every now and then.
    fn look(&self, number: u64) -> Result<()> {
        let tenth = self.args.requests.div_ceil(10);
        if !number.is_multiple_of(tenth / SAMPLES) {
            return Ok(());
        }
        let memory = self.server.memory()?;
        let descriptors = self.server.descriptors()?;
        let mut outcome = self.outcome();
        outcome.memory[usize::try_from(number / tenth)?].push(memory.resident);
        outcome.most_descriptors = outcome.most_descriptors.max(descriptors);
        Ok(())
    }

    fn count(&self, status: StatusCode, code: &str) {
        let key = (status.as_u16(), code.to_owned());
        *self.outcome().answers.entry(key).or_default() += 1;
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The code of a problem; of anything else nothing.
fn code_of(answer: &Answer) -> String {
    if answer.header(CONTENT_TYPE) != "application/problem+json" {
        return String::new();
    }
    let problem: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    problem["code"].as_str().unwrap_or_default().to_owned()
}

fn describe(error: &impl Display, call: &Call, answer: &Answer) -> String {
    let shown = &answer.body[..answer.body.len().min(300)];
    let body = String::from_utf8_lossy(shown);
    format!(
        "{error}: {} {} {:?} gives {} {body}",
        call.method, call.path, call.body, answer.status
    )
}
