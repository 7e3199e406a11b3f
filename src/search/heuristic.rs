use serde::{Deserialize, Serialize};

use crate::puzzle::{Board, Goal, MoveSet};

/// An admissible lower bound on the number of moves from a board to its goal: never more than the
/// true distance.
pub trait Heuristic {
    /// The name by which users choose it.
    const NAME: &'static str;

    /// The goal.
    fn goal(&self) -> Goal;

    /// The lower bound, in moves.
    fn lower_bound(&self, board: Board) -> u32;

    /// Those of some moves that are worth opening from a board that is unsolved, where `budget`
    /// moves may follow: at least the first, in letter order, of those that begin a solution within
    /// that.
    ///
    /// A heuristic that can tell this for all moves at once, cheaper than for each board by
    /// itself, does so here.
    #[inline]
    fn promising(&self, board: Board, among: MoveSet, budget: u32) -> MoveSet {
        among
            .into_iter()
            .filter(|&next| self.lower_bound(board.after(next)) <= budget)
            .collect()
    }
}

/// The heuristics that users can choose, by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeuristicKind {
    /// [`PatternDatabase`](super::PatternDatabase): exact distances from a table; or, for a pattern,
    /// [`GoalDatabase`](super::GoalDatabase): lower bounds from a table for each value.
    #[default]
    PatternDatabase,
    /// [`Misplaced`](super::Misplaced): 8 less the count of the most frequent centre value; or, for
    /// a pattern, [`GoalMisplaced`](super::GoalMisplaced): a count of cells that are not yet right.
    Misplaced,
}

impl HeuristicKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::PatternDatabase, Self::Misplaced];

    /// Whether it is the exact distance to this goal, so that a search takes microseconds. Any other
    /// may take long.
    #[must_use]
    pub const fn is_exact(self, goal: Goal) -> bool {
        match (self, goal) {
            (Self::PatternDatabase, Goal::Centre) => true,
            (Self::PatternDatabase, Goal::Pattern(_)) | (Self::Misplaced, _) => false,
        }
    }

    /// The name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PatternDatabase => super::PatternDatabase::NAME,
            Self::Misplaced => super::Misplaced::NAME,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name_everywhere() {
        for kind in HeuristicKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
