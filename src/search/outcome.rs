use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::puzzle::{MoveSequence, Value};

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With the answer.
    Solved(Solution),
    /// Every solution is longer than the cap.
    DepthCapReached {
        /// No solution is shorter than this, in moves.
        lower_bound: u32,
    },
    /// The deadline passed.
    TimedOut {
        /// No solution is shorter than this, in moves.
        lower_bound: u32,
    },
    /// The stop flag was set.
    Stopped,
}

/// The lexicographically smallest of the shortest solutions of a board.
///
/// Serialized as `{"moves":"AC","length":2,"centre":2}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Solution {
    /// The moves, none where the board is solved already.
    pub moves: MoveSequence,
    /// The value in the centre after them.
    pub centre: Value,
}

impl Serialize for Solution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut solution = serializer.serialize_struct("Solution", 3)?;
        solution.serialize_field("moves", &self.moves)?;
        solution.serialize_field("length", &self.moves.len())?;
        solution.serialize_field("centre", &self.centre)?;
        solution.end()
    }
}

/// One round of iterative deepening: a depth-first search of all sequences up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Iteration {
    /// The bound, in moves.
    pub bound: u32,
    /// How many boards were opened, the first one included.
    pub nodes: u64,
}
