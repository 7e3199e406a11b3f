//! Storms of clients that each send the next request as soon as the last one is answered.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use http::{StatusCode, Version};
use hyper::body::Bytes;
use rotation_game::Board;
use rotation_game::puzzle::Goal;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Result;
use crate::boards::Dice;
use crate::client::{Answer, Call, Client};
use crate::known_batch::{BatchFormat, KnownBatch};
use crate::overload::Args;
use crate::report::{Report, figure};
use crate::verdict::{is_refusal, solves};

/// Number of moves, or of wrong letters, in a replay.
const REPLAY_LENGTH: usize = 1000;
/// Number of random moves between a board and a new pattern.
const MOVES_TO_A_PATTERN: usize = 6;
/// Number of different batches that a storm of batches sends.
const BATCHES: u64 = 8;
/// Maximum number of different failures that are shown.
const SHOWN_FAILURES: usize = 5;

/// The requests of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    RandomAt13,
    RandomAt9,
    Random,
    RandomHttp2,
    Board,
    Solutions,
    Replay,
    WrongReplay,
    Lines,
    Text,
    Patterns,
}

impl RequestKind {
    /// Returns the name that selects it on the command line, and its description.
    pub(crate) const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::RandomAt13 => ("random-13", "GET /boards/random?distance=13"),
            Self::RandomAt9 => ("random-9", "GET /boards/random?distance=9"),
            Self::Random => ("random", "GET /boards/random"),
            Self::RandomHttp2 => (
                "random-http2",
                "GET /boards/random?distance=13 over one HTTP/2 connection",
            ),
            Self::Board => ("board", "GET /boards/{board}"),
            Self::Solutions => ("solutions", "GET /boards/{board}/solutions?limit=1000"),
            Self::Replay => (
                "replay",
                "GET /boards/{board}/replay/{moves} of 1,000 moves",
            ),
            Self::WrongReplay => (
                "wrong-replay",
                "GET /boards/{board}/replay/{moves} of 1,000 wrong letters",
            ),
            Self::Lines => ("lines", "POST /solve/batch as NDJSON"),
            Self::Text => ("text", "POST /solve/batch in judge format"),
            Self::Patterns => ("patterns", "POST /solve to a new pattern each time"),
        }
    }

    /// Returns whether a refusal with Retry-After is a right answer. Batches are slowed down instead.
    const fn may_be_refused(self) -> bool {
        !matches!(self, Self::Lines | Self::Text)
    }
}

/// A storm of requests, one at a time from each client.
pub(crate) struct RequestStorm {
    pub(crate) kind: RequestKind,
    /// Empty unless it is a storm of batches.
    batches: Vec<KnownBatch>,
}

/// A request, and its right answer.
struct Asked {
    call: Call,
    expected: Expected,
}

enum Expected {
    Status(StatusCode),
    Solution(Board, Goal),
    Body(Bytes),
}

/// The number of requests by outcome.
#[derive(Default)]
pub(crate) struct Outcomes {
    answered: u64,
    refused: u64,
    failures: BTreeMap<String, u64>,
}

impl RequestStorm {
    /// Asks a server at rest for the answers to batches, and sends it one request of the storm.
    pub(crate) async fn prepare(kind: RequestKind, address: SocketAddr) -> Result<Self> {
        let format = match kind {
            RequestKind::Lines => Some(BatchFormat::Lines),
            RequestKind::Text => Some(BatchFormat::Text),
            _ => None,
        };
        let mut batches = Vec::new();
        if let Some(format) = format {
            for seed in 0..BATCHES {
                batches.push(KnownBatch::ask(format, seed, address).await?);
            }
        }
        let storm = Self { kind, batches };
        let asked = storm.ask(&mut Dice::new(u64::MAX));
        let answer = Client::once(address, &asked.call).await?;
        asked.check(&answer)?;
        Ok(storm)
    }

    /// Sends requests from `clients` clients until `end`, and waits for the last answers.
    pub(crate) async fn run(
        self: Arc<Self>,
        address: SocketAddr,
        clients: usize,
        end: Instant,
    ) -> Result<Outcomes> {
        let clients = if self.kind == RequestKind::RandomHttp2 {
            Client::streams(address, clients).await?
        } else {
            let client = |_| Client::new(address, Version::HTTP_11);
            (0..clients).map(client).collect()
        };
        let mut running = JoinSet::new();
        for (number, client) in (1..).zip(clients) {
            running.spawn(Arc::clone(&self).client(number, client, end));
        }
        let mut total = Outcomes::default();
        while let Some(outcomes) = running.join_next().await {
            total.add(outcomes?);
        }
        Ok(total)
    }

    async fn client(self: Arc<Self>, number: u64, mut client: Client, end: Instant) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let mut seed = number << 32;
        while Instant::now() < end {
            let asked = self.ask(&mut Dice::new(seed));
            let checked = match client.call(&asked.call).await {
                Ok(answer) if is_refusal(&answer) => {
                    outcomes.refused += 1;
                    Ok(())
                }
                Ok(answer) => asked.check(&answer).map(|()| outcomes.answered += 1),
                Err(error) => Err(error),
            };
            if let Err(error) = checked {
                *outcomes.failures.entry(error.to_string()).or_default() += 1;
            }
            seed += 1;
        }
        outcomes
    }

    fn ask(&self, dice: &mut Dice) -> Asked {
        match self.kind {
            RequestKind::RandomAt13 | RequestKind::RandomHttp2 => random("?distance=13"),
            RequestKind::RandomAt9 => random("?distance=9"),
            RequestKind::Random => random(""),
            RequestKind::Board => get("/boards/{board}", format!("/boards/{}", dice.board())),
            RequestKind::Solutions => get(
                "/boards/{board}/solutions",
                format!("/boards/{}/solutions?limit=1000", dice.many_solutions()),
            ),
            RequestKind::Replay => replay(dice, |dice| {
                dice.one_of(&['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'])
            }),
            RequestKind::WrongReplay => Asked {
                expected: Expected::Status(StatusCode::UNPROCESSABLE_ENTITY),
                ..replay(dice, |dice| dice.one_of(&['I', 'X', 'a', '1']))
            },
            RequestKind::Patterns => {
                let (board, pattern) = dice.pair(MOVES_TO_A_PATTERN);
                let body = json!({"board": board.to_string(), "goal": pattern.to_string()});
                Asked {
                    call: Call::solve(&body),
                    expected: Expected::Solution(board, Goal::Pattern(pattern)),
                }
            }
            RequestKind::Lines | RequestKind::Text => {
                let batch = &self.batches[dice.below(self.batches.len())];
                Asked {
                    call: batch.call.clone(),
                    expected: Expected::Body(batch.answers.clone()),
                }
            }
        }
    }
}

fn get(route: &'static str, path: String) -> Asked {
    Asked {
        call: Call::get(route, path),
        expected: Expected::Status(StatusCode::OK),
    }
}

fn random(query: &str) -> Asked {
    get("/boards/random", format!("/boards/random{query}"))
}

fn replay(dice: &mut Dice, mut letter: impl FnMut(&mut Dice) -> char) -> Asked {
    let board = dice.board();
    let letters: String = (0..REPLAY_LENGTH).map(|_| letter(dice)).collect();
    get(
        "/boards/{board}/replay/{moves}",
        format!("/boards/{board}/replay/{letters}"),
    )
}

impl Asked {
    /// Checks that the answer is the right one.
    fn check(&self, answer: &Answer) -> Result<()> {
        let (is_right, expected) = match &self.expected {
            Expected::Status(status) => (answer.status == *status, status.to_string()),
            Expected::Body(body) => (
                answer.body == *body,
                "the answers to the same batch at rest".to_owned(),
            ),
            Expected::Solution(board, goal) if answer.status == StatusCode::OK => {
                return solves(&serde_json::from_slice(&answer.body)?, *board, *goal);
            }
            Expected::Solution(..) => (false, "a solution".to_owned()),
        };
        if is_right {
            return Ok(());
        }
        let problem: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let found = format!("{} {}", answer.status, problem["code"]);
        Err(format!("expected {expected}, found {found}").into())
    }
}

impl Outcomes {
    fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.refused += other.refused;
        for (failure, count) in other.failures {
            *self.failures.entry(failure).or_default() += count;
        }
    }

    pub(crate) fn check(&self, kind: RequestKind, args: &Args, report: &mut Report) {
        let Self {
            answered, refused, ..
        } = self;
        let failed: u64 = self.failures.values().sum();
        let requests = answered + refused + failed;
        let per_second = u128::from(requests) * 1000 / args.time.as_millis().max(1);
        figure("requests a second", per_second);
        let may_be_refused = kind.may_be_refused();
        report.promise(
            if may_be_refused {
                "every request is answered, or refused with Retry-After"
            } else {
                "every request is answered"
            },
            failed == 0 && *answered > 0 && (may_be_refused || *refused == 0),
            format!("{requests} requests, {answered} answered, {refused} refused, {failed} failed"),
        );
        for (failure, count) in self.failures.iter().take(SHOWN_FAILURES) {
            figure(failure, count);
        }
    }
}
