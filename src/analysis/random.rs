use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::puzzle::{ALL_CELLS, Board, Draft, Symmetry, Value};
use crate::search::PatternDatabase;

/// A board drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RandomBoard {
    /// The board.
    pub board: Board,
    /// How far it is from being solved, in moves.
    pub distance: u32,
    /// What it was drawn with: the same seed and the same question give the same board.
    pub seed: u64,
}

/// Draws boards, each as likely as every other: of all boards, or of those at one distance.
///
/// The generator is `ChaCha8`, with the seed as the first eight bytes of its key, lowest first,
/// and numbers below a limit by Lemire's method with rejection ("Fast random integer generation in
/// an interval", 2019). So a seed gives the same board on every machine and in every version.
///
/// ```
/// use rotation_game::PatternDatabase;
/// use rotation_game::analysis::Sampler;
///
/// let database = PatternDatabase::build();
/// let sampler = Sampler::at_distance(&database, 13).expect("no board is farther than 13");
/// let drawn = sampler.draw(42);
/// assert_eq!(database.distance(drawn.board), 13);
/// assert_eq!(sampler.draw(42), drawn);
/// ```
pub struct Sampler<'a> {
    database: &'a PatternDatabase,
    source: Population,
}

/// What is drawn from.
enum Population {
    All,
    /// The boards at one distance, where there are few.
    Listed(Vec<Board>),
    /// The boards at one distance, where there are many.
    Composed(Masks),
}

/// The masks of which boards at one distance are made, in ascending order.
struct Masks {
    distance: u32,
    /// Those at that distance.
    nearest: Vec<u32>,
    /// Those at that distance or farther.
    others: Vec<u32>,
}

impl<'a> Sampler<'a> {
    /// The greatest distance of a board.
    pub const GREATEST_DISTANCE: u32 = 13;

    /// Draws from all boards.
    #[must_use]
    pub fn of_all(database: &'a PatternDatabase) -> Self {
        Self {
            database,
            source: Population::All,
        }
    }

    /// Draws from the boards at a distance, or gives `None` where no board is so far.
    #[must_use]
    pub fn at_distance(database: &'a PatternDatabase, distance: u32) -> Option<Self> {
        if distance > Self::GREATEST_DISTANCE {
            return None;
        }
        let (mut nearest, mut others) = (Vec::new(), Vec::new());
        for (mask, found) in database.masks() {
            if found >= distance {
                others.push(mask);
            }
            if found == distance {
                nearest.push(mask);
            }
        }
        let masks = Masks {
            distance,
            nearest,
            others,
        };
        // Of pairs of masks as far as that, one in millions makes a board.
        let source = if distance == Self::GREATEST_DISTANCE {
            Population::Listed(masks.boards(database))
        } else {
            Population::Composed(masks)
        };
        Some(Self { database, source })
    }

    /// The board of a seed.
    #[must_use]
    pub fn draw(&self, seed: u64) -> RandomBoard {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut source = Source(ChaCha8Rng::from_seed(key));
        let board = match &self.source {
            Population::All => any_board(&mut source),
            Population::Listed(boards) => boards[source.below(boards.len())],
            Population::Composed(masks) => loop {
                if let Some(board) = masks.attempt(self.database, &mut source) {
                    break board;
                }
            },
        };
        RandomBoard {
            board,
            distance: self.database.distance(board),
            seed,
        }
    }
}

impl Masks {
    /// All boards that are made of these masks, in the order of their digits.
    ///
    /// A symmetry carries such a board into another, so that only one mask of each orbit has to be
    /// tried as the nearest.
    fn boards(&self, database: &PatternDatabase) -> Vec<Board> {
        let mut boards = Vec::new();
        for &nearest in &self.nearest {
            if Symmetry::images(nearest)
                .iter()
                .any(|&image| image < nearest)
            {
                continue;
            }
            for &next in self.others.iter().filter(|&next| next & nearest == 0) {
                let rest = !(nearest | next) & ALL_CELLS;
                if database.mask_distance(rest) < self.distance {
                    continue;
                }
                let images = [nearest, next, rest].map(Symmetry::images);
                for image in 0..8 {
                    let mut masks = images.map(|images| images[image]);
                    for _ in 0..3 {
                        masks.rotate_right(1);
                        boards.push(board_of(masks));
                    }
                }
            }
        }
        boards.sort_unstable_by_key(|board| board.cells());
        boards.dedup();
        boards
    }

    /// Draws which value is a nearest one and where it is, then where the next value is; the rest
    /// goes to the third. Every board at the distance comes up as often as it has nearest values,
    /// so of those with several only one in so many is taken.
    fn attempt(&self, database: &PatternDatabase, source: &mut Source) -> Option<Board> {
        let nearest = source.element(&self.nearest);
        let next = source.element(&self.others);
        if nearest & next != 0 {
            return None;
        }
        let rotation = source.below(3);
        let mut masks = [nearest, next, !(nearest | next) & ALL_CELLS];
        masks.rotate_right(rotation);
        let board = board_of(masks);
        let distances = Value::ALL.map(|value| database.distance_to(board, value));
        if distances.iter().any(|&distance| distance < self.distance) {
            return None;
        }
        let ties = distances
            .iter()
            .filter(|&&distance| distance == self.distance)
            .count();
        (source.below(ties) == 0).then_some(board)
    }
}

/// The cells in random order: the shuffle of Fisher and Yates.
fn any_board(source: &mut Source) -> Board {
    let mut cells: [Value; 24] = std::array::from_fn(|cell| Value::ALL[cell / 8]);
    for last in (1..cells.len()).rev() {
        cells.swap(last, source.below(last + 1));
    }
    board(cells)
}

fn board_of(masks: [u32; 3]) -> Board {
    board(std::array::from_fn(|cell| {
        match masks.map(|mask| mask >> cell & 1) {
            [1, ..] => Value::One,
            [_, 1, _] => Value::Two,
            _ => Value::Three,
        }
    }))
}

fn board(cells: [Value; 24]) -> Board {
    let mut draft = Draft::default();
    for value in cells {
        draft.push(value);
    }
    draft.finish().expect("each value was given eight cells")
}

struct Source(ChaCha8Rng);

impl Source {
    /// A number below `limit`, each as likely as every other.
    #[expect(clippy::cast_possible_truncation, reason = "the halves of the product")]
    fn below(&mut self, limit: usize) -> usize {
        let limit = limit as u64;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(limit);
            let low = product as u64;
            // Most often there is nothing to reject, and no division is needed to see it.
            if low >= limit || low >= limit.wrapping_neg() % limit {
                return (product >> 64) as usize;
            }
        }
    }

    fn element(&mut self, of: &[u32]) -> u32 {
        of[self.below(of.len())]
    }
}
