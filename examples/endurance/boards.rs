//! Boards and goals to ask for. The same seed gives the same ones.

use std::sync::LazyLock;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rotation_game::analysis::{Sampler, Solutions};
use rotation_game::puzzle::Pattern;
use rotation_game::{Board, Move, PatternDatabase};

/// What the answers of the server are compared with.
pub(crate) static DATABASE: LazyLock<PatternDatabase> = LazyLock::new(PatternDatabase::build);
static ALL: LazyLock<Sampler<'static>> = LazyLock::new(|| Sampler::of_all(&DATABASE));
static FARTHEST: LazyLock<Sampler<'static>> = LazyLock::new(|| {
    Sampler::at_distance(&DATABASE, Sampler::GREATEST_DISTANCE)
        .expect("there are boards at the greatest distance")
});

/// Number of boards with many solutions to choose from, and their minimum of solutions.
const BOARDS_WITH_MANY: usize = 16;
const MANY: u64 = 1000;
static MANY_SOLUTIONS: LazyLock<Vec<Board>> = LazyLock::new(|| {
    let boards = (0..).map(|seed| Dice::new(seed).board());
    let have_many = |board: &Board| Solutions::new(&DATABASE, *board).total() >= MANY;
    boards.filter(have_many).take(BOARDS_WITH_MANY).collect()
});

/// Choices that depend on a seed alone.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below a limit. That the lowest are likelier by the rounding makes no difference
    /// here.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let number = self.number() % limit as u64;
        usize::try_from(number).expect("it is below a usize")
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(crate) fn board(&mut self) -> Board {
        ALL.draw(self.number()).board
    }

    /// One of the 192 boards at distance 13.
    pub(crate) fn farthest(&mut self) -> Board {
        FARTHEST.draw(self.number()).board
    }

    /// Returns a board with at least 1,000 shortest solutions.
    pub(crate) fn many_solutions(&mut self) -> Board {
        self.one_of(&MANY_SOLUTIONS)
    }

    /// A board and a goal, the whole of another board, which is at most so many moves away.
    pub(crate) fn pair(&mut self, moves: usize) -> (Board, Pattern) {
        let goal = self.board();
        (self.turned(goal, moves), goal.into())
    }

    /// The board after random moves, none of which undoes the last.
    pub(crate) fn turned(&mut self, mut board: Board, moves: usize) -> Board {
        let mut last: Option<Move> = None;
        for _ in 0..moves {
            let mut next = self.one_of(&Move::ALL);
            while last.is_some_and(|last| last.inverse() == next) {
                next = self.one_of(&Move::ALL);
            }
            board = board.after(next);
            last = Some(next);
        }
        board
    }
}
