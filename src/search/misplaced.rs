use super::Heuristic;
use crate::puzzle::{Board, CENTRE, Goal, Move, MoveSet, Pattern, Value, turn_mask};

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
    fn goal(&self) -> Goal {
        Goal::Centre
    }

    #[inline]
    fn lower_bound(&self, board: Board) -> u32 {
        let [ones, twos] = counts(board);
        estimate(ones, twos)
    }

    /// A move takes one cell out of the centre and brings one in, so the counts after all eight
    /// follow from those before them, and no move needs to be made.
    #[inline]
    fn promising(&self, board: Board, among: MoveSet, budget: u32) -> MoveSet {
        let [ones, twos] = counts(board);
        let [one_mask, two_mask] = [board.mask(Value::One), board.mask(Value::Two)];
        Move::ALL
            .into_iter()
            .fold(MoveSet::EMPTY, |set, next| {
                let (entering, leaving) = next.passage();
                let after = |count, mask| count + (mask >> entering & 1) - (mask >> leaving & 1);
                let estimate = estimate(after(ones, one_mask), after(twos, two_mask));
                set.with(next, estimate <= budget)
            })
            .intersection(among)
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

/// The same idea for a [`Pattern`]: for each value, how many of the cells that have to hold it do
/// not yet, divided by how many more may do after one move; and of these the greatest, rounded up.
///
/// The divisor makes it admissible. Let R be the cells that have to hold the value, M those that
/// do, and T a move, so that T(M) are those that do after it. Then
/// |R ∩ T(M)| = |T⁻¹(R) ∩ M| ≤ |R ∩ M| + |T⁻¹(R) ∖ R|, so no move brings more than the greatest
/// |T⁻¹(R) ∖ R| of the eight moves, which is from 1 to 3: how many pieces the line cuts R into. It
/// is 1 for the centre, whence the heuristic for the usual goal.
///
/// ```
/// use rotation_game::puzzle::{Pattern, Value};
/// use rotation_game::search::{GoalMisplaced, Heuristic};
///
/// let heuristic = GoalMisplaced::new(Pattern::centre(Value::Two));
/// assert_eq!(heuristic.lower_bound("111132323132231222312133".parse()?), 2);
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GoalMisplaced {
    pattern: Pattern,
    /// For each value how many more cells may be right after a move, at least 1.
    gains: [u32; 3],
}

impl GoalMisplaced {
    /// The heuristic for a pattern.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        let gain = |value| {
            let wanted = pattern.mask(value);
            let gains = Move::ALL.map(|next| (turn_mask(wanted, next) & !wanted).count_ones());
            gains.into_iter().fold(1, u32::max)
        };
        Self {
            pattern,
            gains: Value::ALL.map(gain),
        }
    }
}

impl Heuristic for GoalMisplaced {
    const NAME: &'static str = Misplaced::NAME;

    #[inline]
    fn goal(&self) -> Goal {
        Goal::Pattern(self.pattern)
    }

    #[inline]
    fn lower_bound(&self, board: Board) -> u32 {
        Value::ALL.into_iter().fold(0, |bound, value| {
            let missing = (self.pattern.mask(value) & !board.mask(value)).count_ones();
            bound.max(missing.div_ceil(self.gains[value.index()]))
        })
    }
}
