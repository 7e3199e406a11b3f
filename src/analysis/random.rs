use std::sync::{Arc, OnceLock};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::puzzle::{ALL_CELLS, Board, Draft, Symmetry, Value};
use crate::search::PatternDatabase;
use crate::search::mask_index::{MASKS, next_mask, rank};

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
    population: Arc<Population>,
}

/// The boards that a [`Sampler`] draws from.
enum Population {
    All,
    /// The boards at one distance, where there are few.
    Listed(Vec<Board>),
    /// The boards at one distance, where there are many.
    Composed(Masks),
}

/// The masks that make up the boards at one distance.
struct Masks {
    distance: u32,
    /// The masks at that distance, in ascending order.
    nearest: Vec<u32>,
    others: MasksFrom,
}

/// The masks at one distance or farther, in ascending order.
///
/// Only every `1 << shift`th is stored. A table of them all would take 2.9 MB for each short distance,
/// and the pattern database can name the ones between.
struct MasksFrom {
    distance: u32,
    len: usize,
    shift: u32,
    landmarks: Vec<u32>,
}

impl<'a> Sampler<'a> {
    /// The greatest distance of a board.
    pub const GREATEST_DISTANCE: u32 = 13;

    /// Returns a sampler of all boards.
    #[must_use]
    pub fn of_all(database: &'a PatternDatabase) -> Self {
        Self {
            database,
            population: Arc::new(Population::All),
        }
    }

    /// Builds a sampler of the boards at a distance, or returns `None` if no board is that far.
    ///
    /// This goes through all masks, which takes milliseconds. [`Samplers`] keeps what it builds.
    #[must_use]
    pub fn at_distance(database: &'a PatternDatabase, distance: u32) -> Option<Self> {
        Samplers::default().at_distance(database, distance)
    }

    /// Draws the board of a seed.
    #[must_use]
    pub fn draw(&self, seed: u64) -> RandomBoard {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut source = Source(ChaCha8Rng::from_seed(key));
        let board = match &*self.population {
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

/// A sampler for each distance, built on first use and then kept.
///
/// With all 14 distances in use it holds less than 8 MB.
///
/// ```
/// use rotation_game::PatternDatabase;
/// use rotation_game::analysis::{Sampler, Samplers};
///
/// let database = PatternDatabase::build();
/// let samplers = Samplers::default();
/// let drawn = samplers.at_distance(&database, 9).map(|sampler| sampler.draw(42));
/// let fresh = Sampler::at_distance(&database, 9).map(|sampler| sampler.draw(42));
/// assert_eq!(drawn, fresh);
/// ```
#[derive(Default)]
pub struct Samplers {
    populations: [OnceLock<Arc<Population>>; Sampler::GREATEST_DISTANCE as usize + 1],
}

impl Samplers {
    /// Returns the sampler of the boards at a distance, or `None` if no board is that far.
    #[must_use]
    pub fn at_distance<'a>(
        &self,
        database: &'a PatternDatabase,
        distance: u32,
    ) -> Option<Sampler<'a>> {
        let population = self.populations.get(distance as usize)?;
        let population =
            population.get_or_init(|| Arc::new(Population::at_distance(database, distance)));
        Some(Sampler {
            database,
            population: Arc::clone(population),
        })
    }
}

impl Population {
    fn at_distance(database: &PatternDatabase, distance: u32) -> Self {
        let nearest = masks_where(database, 1, |found| found == distance);
        // At the greatest distance, one pair of masks in millions makes a board.
        if distance == Sampler::GREATEST_DISTANCE {
            let others = masks_where(database, 1, |found| found >= distance);
            return Self::Listed(list_boards(database, distance, &nearest, &others));
        }
        Self::Composed(Masks {
            distance,
            nearest,
            others: MasksFrom::new(database, distance),
        })
    }
}

/// Lists every `step`th of the masks at some distances, in ascending order.
fn masks_where(
    database: &PatternDatabase,
    step: usize,
    is_wanted: impl Fn(u32) -> bool,
) -> Vec<u32> {
    // Counting first keeps the list from growing through several times its size.
    let len = count_where(database, &is_wanted);
    let wanted = database.masks().filter(|&(_, found)| is_wanted(found));
    let mut masks = Vec::with_capacity(len.div_ceil(step));
    masks.extend(wanted.step_by(step).map(|(mask, _)| mask));
    masks
}

fn count_where(database: &PatternDatabase, is_wanted: impl Fn(u32) -> bool) -> usize {
    let distances = (0..MASKS).map(|rank| database.distance_of_rank(rank).into());
    distances.filter(|&found| is_wanted(found)).count()
}

impl MasksFrom {
    /// The most masks that are stored. All masks are for distance 12, which takes thousands of
    /// attempts a draw.
    const LANDMARKS: usize = 100_000;

    fn new(database: &PatternDatabase, distance: u32) -> Self {
        let is_wanted = |found| found >= distance;
        let len = count_where(database, is_wanted);
        // Powers of two save a division for each mask that is drawn.
        let step = len.div_ceil(Self::LANDMARKS).next_power_of_two();
        Self {
            distance,
            len,
            shift: step.trailing_zeros(),
            landmarks: masks_where(database, step, is_wanted),
        }
    }

    /// Returns the mask at `index`, which is below `len`.
    fn get(&self, database: &PatternDatabase, index: usize) -> u32 {
        let landmark = index >> self.shift;
        let mut mask = self.landmarks[landmark];
        let mut behind = index - (landmark << self.shift);
        // The next mask has the next rank.
        let mut rank = rank(mask);
        while behind > 0 {
            mask = next_mask(mask);
            rank += 1;
            let found = u32::from(database.distance_of_rank(rank));
            behind -= usize::from(found >= self.distance);
        }
        mask
    }
}

/// Lists the boards at a distance, in the order of their digits.
///
/// `nearest` are the masks at that distance, `others` those at that distance or farther. A symmetry
/// carries such a board into another, so only one mask of each orbit is tried as the nearest.
fn list_boards(
    database: &PatternDatabase,
    distance: u32,
    nearest: &[u32],
    others: &[u32],
) -> Vec<Board> {
    let mut boards = Vec::new();
    for &nearest in nearest {
        if Symmetry::images(nearest)
            .iter()
            .any(|&image| image < nearest)
        {
            continue;
        }
        for &next in others.iter().filter(|&next| next & nearest == 0) {
            let rest = !(nearest | next) & ALL_CELLS;
            if database.mask_distance(rest) < distance {
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
    boards.shrink_to_fit();
    boards
}

impl Masks {
    /// Draws which value is a nearest one and where it is, then where the next value is; the rest
    /// goes to the third. Every board at the distance comes up as often as it has nearest values,
    /// so of those with several only one in so many is taken.
    fn attempt(&self, database: &PatternDatabase, source: &mut Source) -> Option<Board> {
        let nearest = self.nearest[source.below(self.nearest.len())];
        let next = self.others.get(database, source.below(self.others.len));
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
}
