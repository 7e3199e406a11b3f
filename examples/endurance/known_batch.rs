//! Batches of legal boards, and their right answers.

use std::net::SocketAddr;

use http::StatusCode;
use hyper::body::Bytes;
use rotation_game::Board;
use rotation_game::puzzle::{Goal, judge};

use crate::Result;
use crate::boards::{DATABASE, Dice};
use crate::client::{Answer, Call, Client};
use crate::verdict::solves;

/// Boards of a batch.
const BOARDS: usize = 1000;

/// A format of batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchFormat {
    /// NDJSON, here bare boards.
    Lines,
    /// The judge format.
    Text,
}

impl BatchFormat {
    /// Returns one format for even numbers, the other for odd ones.
    pub(crate) fn alternate(number: u64) -> Self {
        if number.is_multiple_of(2) {
            Self::Lines
        } else {
            Self::Text
        }
    }

    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Lines => "application/x-ndjson",
            Self::Text => "text/plain",
        }
    }

    /// Returns a batch of boards, or a part of one.
    pub(crate) fn body(self, boards: &[Board]) -> String {
        let entries = boards.iter().map(|board| match self {
            Self::Lines => format!("\"{board}\"\n"),
            Self::Text => board.cells().map(|value| value.get().to_string()).join(" ") + "\n",
        });
        entries.collect()
    }

    pub(crate) fn call(self, boards: &[Board]) -> Call {
        Call::post("/solve/batch", self.content_type(), self.body(boards))
    }

    /// Checks that an answer solves all boards of a batch, and says nothing else.
    pub(crate) fn check(self, answer: &Answer, boards: &[Board]) -> Result<()> {
        let text = std::str::from_utf8(&answer.body)?;
        let is_right = match self {
            Self::Lines => {
                for (line, &board) in text.lines().zip(boards) {
                    solves(&serde_json::from_str(line)?, board, Goal::Centre)?;
                }
                text.lines().count() == boards.len()
            }
            Self::Text => {
                let expected = boards.iter().map(|&board| {
                    let solution = DATABASE.solve(board);
                    judge::Answer {
                        moves: &solution.moves,
                        centre: solution.centre,
                    }
                    .to_string()
                });
                text == expected.collect::<String>()
            }
        };
        if answer.status == StatusCode::OK && is_right {
            Ok(())
        } else {
            Err(format!("a wrong answer to a batch: {}", answer.status).into())
        }
    }
}

/// A batch, and the answers that the server gave to it at rest.
pub(crate) struct KnownBatch {
    pub(crate) call: Call,
    pub(crate) answers: Bytes,
}

impl KnownBatch {
    /// Asks the server for the answers, and checks them.
    pub(crate) async fn ask(format: BatchFormat, seed: u64, address: SocketAddr) -> Result<Self> {
        let mut dice = Dice::new(seed);
        let boards: Vec<Board> = (0..BOARDS).map(|_| dice.board()).collect();
        let call = format.call(&boards);
        let answer = Client::once(address, &call).await?;
        format.check(&answer, &boards)?;
        Ok(Self {
            call,
            answers: answer.body,
        })
    }
}
