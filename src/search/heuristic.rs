use serde::{Deserialize, Serialize};

use crate::puzzle::{Board, Move, MoveSet};

/// An admissible lower bound on the number of moves from a board to its goal: never more than the
/// true distance.
pub trait Heuristic {
    /// The name by which users choose it.
    const NAME: &'static str;

    /// The lower bound, in moves.
    fn lower_bound(&self, board: Board) -> u32;

    /// The moves worth opening from a board that is unsolved and may be followed by `budget`
    /// moves after the next: at least the first, in letter order, of those that begin a solution
    /// within that.
    ///
    /// A heuristic that can tell this for all moves at once, cheaper than for each board by
    /// itself, does so here.
    #[inline]
    fn promising(&self, board: Board, budget: u32) -> MoveSet {
        Move::ALL.into_iter().fold(MoveSet::EMPTY, |set, next| {
            set.with(next, self.lower_bound(board.after(next)) <= budget)
        })
    }
}

/// The heuristics that users can choose, by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeuristicKind {
    /// [`PatternDatabase`](super::PatternDatabase): exact distances from a table.
    #[default]
    PatternDatabase,
    /// [`Misplaced`](super::Misplaced): 8 less the count of the most frequent centre value.
    Misplaced,
}

impl HeuristicKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::PatternDatabase, Self::Misplaced];

    /// Whether it is the exact distance, so that a search takes microseconds. Any other may take
    /// long.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        match self {
            Self::PatternDatabase => true,
            Self::Misplaced => false,
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
