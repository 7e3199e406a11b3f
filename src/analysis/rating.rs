use std::fmt;

use serde::Serialize;

use super::Solutions;
use crate::puzzle::{Board, Move, Value};
use crate::search::{PatternDatabase, Solution};

/// Whether a move leads to or away from the nearest solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// One move less to go.
    Closer,
    /// As many moves to go.
    Same,
    /// One move more to go.
    Farther,
}

impl Effect {
    /// Returns its name, as it prints and serializes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closer => "closer",
            Self::Same => "same",
            Self::Farther => "farther",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A move and what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RatedMove {
    /// The move.
    #[serde(rename = "move")]
    pub made: Move,
    /// The board after it.
    pub board: Board,
    /// How far that board is from being solved, in moves.
    pub distance: u32,
    /// How that compares with the board before it.
    pub effect: Effect,
}

impl RatedMove {
    /// Rates a move on a board that is `distance` moves from being solved.
    pub(super) fn new(database: &PatternDatabase, board: Board, distance: u32, made: Move) -> Self {
        let board = board.after(made);
        let after = database.distance(board);
        Self {
            made,
            board,
            distance: after,
            effect: match after.cmp(&distance) {
                std::cmp::Ordering::Less => Effect::Closer,
                std::cmp::Ordering::Equal => Effect::Same,
                std::cmp::Ordering::Greater => Effect::Farther,
            },
        }
    }
}

/// Each value's own distance, in moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is the value's")]
pub struct Distances {
    #[serde(rename = "1")]
    pub ones: u32,
    #[serde(rename = "2")]
    pub twos: u32,
    #[serde(rename = "3")]
    pub threes: u32,
}

/// All that the table tells of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rating {
    /// The board.
    pub board: Board,
    /// The length of its shortest solution.
    pub distance: u32,
    /// The length of the shortest solution that fills the centre with each value.
    pub distances: Distances,
    /// The lexicographically smallest of the shortest solutions.
    pub solution: Solution,
    /// How many shortest solutions there are, over all values.
    pub optimal_solutions: u64,
    /// The eight moves, in letter order.
    pub moves: [RatedMove; 8],
}

/// Rates a board and its eight moves.
///
/// ```
/// use rotation_game::PatternDatabase;
/// use rotation_game::analysis::{Effect, rate};
///
/// let rating = rate(&PatternDatabase::build(), "111132323132231222312133".parse()?);
/// assert_eq!((rating.distance, rating.optimal_solutions), (2, 1));
/// assert_eq!(rating.moves[0].effect, Effect::Closer);
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
#[must_use]
pub fn rate(database: &PatternDatabase, board: Board) -> Rating {
    let distance = database.distance(board);
    Rating {
        board,
        distance,
        distances: Distances {
            ones: database.distance_to(board, Value::One),
            twos: database.distance_to(board, Value::Two),
            threes: database.distance_to(board, Value::Three),
        },
        solution: database.solve(board),
        optimal_solutions: Solutions::new(database, board).total(),
        moves: Move::ALL.map(|made| RatedMove::new(database, board, distance, made)),
    }
}
