use serde::Serialize;

use super::RatedMove;
use crate::puzzle::{Board, Goal, Move, Value};
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
    /// Whether the moves reach a goal, if one was named.
    #[serde(flatten)]
    pub goal: Option<GoalReplay>,
    /// The moves one by one.
    pub steps: Vec<RatedMove>,
}

/// Whether moves reach a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GoalReplay {
    /// The goal.
    pub goal: Goal,
    /// Whether they reach it, at their end or on their way.
    pub reached: bool,
    /// After how many of them they do first.
    pub reached_after: Option<usize>,
}

impl GoalReplay {
    fn new(goal: Goal, board: Board, steps: &[RatedMove]) -> Self {
        let mut boards = std::iter::once(board).chain(steps.iter().map(|step| step.board));
        let reached_after = boards.position(|board| goal.is_reached(board));
        Self {
            goal,
            reached: reached_after.is_some(),
            reached_after,
        }
    }
}

/// Makes moves and rates each, and tells whether they reach a goal, if one is named.
///
/// ```
/// use rotation_game::{MoveSequence, PatternDatabase};
/// use rotation_game::analysis::replay;
///
/// let moves: MoveSequence = "HHDD".parse()?;
/// let board = "111111112222222233333333".parse()?;
/// let goal = "......222..22..222......".parse()?;
/// let replay = replay(&PatternDatabase::build(), board, &moves, Some(goal));
/// assert!(replay.solved && replay.optimal && !replay.lexicographically_smallest);
/// assert_eq!(replay.goal.unwrap().reached_after, Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn replay(
    database: &PatternDatabase,
    board: Board,
    moves: &[Move],
    goal: Option<Goal>,
) -> Replay {
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
        goal: goal.map(|goal| GoalReplay::new(goal, board, &steps)),
        steps,
    }
}
