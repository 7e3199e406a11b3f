use crate::puzzle::{Board, Move, MoveSet};

/// An admissible lower bound on the number of moves from a board to its goal: never more than the
/// true distance.
pub trait Heuristic {
    /// The name by which users choose it.
    const NAME: &'static str;

    /// The lower bound, in moves.
    fn lower_bound(&self, board: Board) -> u32;

    /// The moves after which the lower bound is at most `budget` moves.
    ///
    /// The search opens no others. A heuristic that can tell this for all moves at once, cheaper
    /// than for each board by itself, does so here.
    #[inline]
    fn promising(&self, board: Board, budget: u32) -> MoveSet {
        Move::ALL.into_iter().fold(MoveSet::EMPTY, |set, next| {
            set.with(next, self.lower_bound(board.after(next)) <= budget)
        })
    }
}
