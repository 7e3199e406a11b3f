use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::Explanation;
use crate::puzzle::{Goal, MoveSequence, Value};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Solution {
    /// The moves, none where the board is solved already.
    pub moves: MoveSequence,
    /// The value in the centre after them, if there is but one; with the usual goal there is.
    pub centre: Option<Value>,
}

/// A solution as callers see it.
///
/// Serialized as `{"moves":"AC","length":2,"centre":2}`, and where there are, the fields `goal` and
/// `search`.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The solution.
    pub solution: Solution,
    /// What counted as solved. The usual goal is not told.
    pub goal: Goal,
    /// What the search took, if that is wanted.
    pub search: Option<&'a Explanation>,
}

/// With the usual goal, and nothing of the search.
impl From<Solution> for Report<'_> {
    fn from(solution: Solution) -> Self {
        Self {
            solution,
            goal: Goal::Centre,
            search: None,
        }
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Solution { moves, centre } = self.solution;
        let mut report = serializer.serialize_struct("Report", 5)?;
        report.serialize_field("moves", &moves)?;
        report.serialize_field("length", &moves.len())?;
        report.serialize_field("centre", &centre)?;
        match self.goal.pattern() {
            Some(pattern) => report.serialize_field("goal", &pattern)?,
            None => report.skip_field("goal")?,
        }
        match self.search {
            Some(search) => report.serialize_field("search", search)?,
            None => report.skip_field("search")?,
        }
        report.end()
    }
}

/// Serialized as its [`Report`].
impl Serialize for Solution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Report::from(*self).serialize(serializer)
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
