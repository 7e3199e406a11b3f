use super::Heuristic;
use crate::puzzle::{Board, CENTRE, Move, MoveSet, Value};

/// Eight less the count of the most frequent value in the centre: the heuristic of the published
/// programs. Admissible, since a move brings one cell into the centre and takes one out.
///
/// It needs no table, and opens millions of nodes on far boards.
///
/// ```
/// use rotation_game::search::{Heuristic, Misplaced};
///
/// let board = "111132323132231222312133".parse()?;
/// assert_eq!(Misplaced.lower_bound(board), 2);
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Misplaced;

impl Heuristic for Misplaced {
    const NAME: &'static str = "misplaced";

    #[inline]
    fn lower_bound(&self, board: Board) -> u32 {
        let [ones, twos] = counts(board);
        estimate(ones, twos)
    }

    /// A move takes one cell out of the centre and brings one in, so the counts after all eight
    /// follow from those before them, and no move needs to be made.
    #[inline]
    fn promising(&self, board: Board, budget: u32) -> MoveSet {
        let [ones, twos] = counts(board);
        let [one_mask, two_mask] = [board.mask(Value::One), board.mask(Value::Two)];
        Move::ALL.into_iter().fold(MoveSet::EMPTY, |set, next| {
            let (entering, leaving) = next.passage();
            let after = |count, mask| count + (mask >> entering & 1) - (mask >> leaving & 1);
            let estimate = estimate(after(ones, one_mask), after(twos, two_mask));
            set.with(next, estimate <= budget)
        })
    }
}

/// How many ones and twos are in the centre; the rest of its eight cells are threes.
#[inline]
fn counts(board: Board) -> [u32; 2] {
    [Value::One, Value::Two].map(|value| (board.mask(value) & CENTRE).count_ones())
}

#[inline]
fn estimate(ones: u32, twos: u32) -> u32 {
    8 - ones.max(twos).max(8 - ones - twos)
}
