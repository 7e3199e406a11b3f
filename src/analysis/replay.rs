use serde::Serialize;

use super::RatedMove;
use crate::puzzle::{Board, Move, Value};
use crate::search::PatternDatabase;

/// What moves do to a board, and how good they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replay {
    /// The board after the moves.
    pub board: Board,
    /// Whether it is solved.
    pub solved: bool,
    /// The value in its centre, if that is one.
    pub centre: Option<Value>,
    /// Whether the moves solve the board, and none fewer do.
    pub optimal: bool,
    /// Whether they are the smallest of such moves: the judge's answer.
    pub lexicographically_smallest: bool,
    /// How many moves are left to go after them.
    pub distance: u32,
    /// The moves one by one.
    pub steps: Vec<RatedMove>,
}

/// Makes moves and rates each.
///
/// ```
/// use rotation_game::{MoveSequence, PatternDatabase};
/// use rotation_game::analysis::replay;
///
/// let moves: MoveSequence = "HHDD".parse()?;
/// let replay = replay(&PatternDatabase::build(), "111111112222222233333333".parse()?, &moves);
/// assert!(replay.solved && replay.optimal && !replay.lexicographically_smallest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn replay(database: &PatternDatabase, board: Board, moves: &[Move]) -> Replay {
    let start = database.distance(board);
    let (mut after, mut distance) = (board, start);
    let steps = moves.iter().map(|&made| {
        let step = RatedMove::new(database, after, distance, made);
        (after, distance) = (step.board, step.distance);
        step
    });
    let steps: Vec<RatedMove> = steps.collect();
    let centre = after.centre();
    let optimal = centre.is_some() && moves.len() == start as usize;
    Replay {
        board: after,
        solved: centre.is_some(),
        centre,
        optimal,
        lexicographically_smallest: optimal && *database.solve(board).moves == *moves,
        distance,
        steps,
    }
}
