use rayon::prelude::*;
use serde::Serialize;

use crate::puzzle::Symmetry;
use crate::search::PatternDatabase;
use crate::search::mask_index::{HALF, HALVES, lower_rank, rank, upper_rank};

/// How many boards there are: 24! / (8!)³.
pub const BOARDS: u64 = 9_465_511_770;

/// A value's distance is 0 to 14.
const DISTANCES: usize = 15;

/// How all boards are spread over their distances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Census {
    /// The number of boards counted.
    pub boards: u64,
    /// The mean distance, in moves.
    pub mean: f64,
    /// The share of boards on which two or three values are equally near, 0 to 1.
    pub tie_share: f64,
    /// A row for each distance, 0 to 13.
    pub distances: Vec<DistanceCount>,
}

/// How many boards are at one distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DistanceCount {
    /// The length of the shortest solution, in moves.
    pub distance: usize,
    /// How many boards need exactly so many moves.
    pub boards: u64,
    /// On how many of them two or three values can be brought to the centre by so many moves.
    pub ties: u64,
}

/// Counts all 9,465,511,770 boards by distance, on all cores of the current rayon pool.
///
/// Every way to place the ones is taken up to symmetry, and with each every way to place the twos
/// and threes on the other cells up to exchanging them: boards that are images of each other are
/// counted together, by how many there are. `progress` is told now and then how many boards more
/// have been counted.
///
/// ```no_run
/// use rotation_game::{PatternDatabase, analysis::census};
///
/// let census = census(&PatternDatabase::build(), |_| ());
/// assert_eq!(census.distances[13].boards, 192);
/// ```
pub fn census(database: &PatternDatabase, progress: impl Fn(u64) + Sync) -> Census {
    (0..HALVES)
        .into_par_iter()
        .fold(Spread::default, |mut spread, lower| {
            progress(spread.add_ones_with_lower_half(database, lower));
            spread
        })
        .reduce(Spread::default, Spread::plus)
        .census()
}

/// How many boards there are for each triple of the distances of ones, twos and threes.
struct Spread(Vec<u64>);

/// Three distances as one number below 4096.
fn triple(ones: u8, twos: u8, threes: u8) -> usize {
    usize::from(ones) << 8 | usize::from(twos) << 4 | usize::from(threes)
}

impl Default for Spread {
    fn default() -> Self {
        Self(vec![0; 1 << 12])
    }
}

impl Spread {
    /// Adds all boards whose ones have this lower half, and their images, unless one of the
    /// images has a smaller mask and is counted there. Returns how many were added.
    fn add_ones_with_lower_half(&mut self, database: &PatternDatabase, lower: usize) -> u64 {
        let Some(ones_in_upper) = 8_u32.checked_sub(lower.count_ones()) else {
            return 0;
        };
        let splits = Splits::of(!lower % HALVES);
        let mut added = 0;
        for upper in (0..HALVES).filter(|upper| upper.count_ones() == ones_in_upper) {
            let ones = mask(upper, lower);
            let images = Symmetry::images(ones);
            if images.iter().any(|&image| image < ones) {
                continue;
            }
            let stabilizer = images.iter().filter(|&&image| image == ones).count() as u64;
            // Eight symmetries, and two ways round for twos and threes.
            let weight = 8 / stabilizer * 2;
            let pairs = pairs(database, !upper % HALVES, &splits);
            let first = triple(database.distance_of_rank(rank(ones)), 0, 0);
            for (pair, &count) in pairs.iter().enumerate() {
                self.0[first + pair] += u64::from(count) * weight;
                added += u64::from(count) * weight;
            }
        }
        added
    }

    fn plus(mut self, other: Self) -> Self {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
        self
    }

    fn census(&self) -> Census {
        let mut distances: Vec<_> = (0..DISTANCES)
            .map(|distance| DistanceCount {
                distance,
                boards: 0,
                ties: 0,
            })
            .collect();
        for (triple, &boards) in self.0.iter().enumerate() {
            let each = [triple >> 8, triple >> 4 & 15, triple & 15];
            let nearest = each[0].min(each[1]).min(each[2]);
            let Some(row) = distances.get_mut(nearest) else {
                continue;
            };
            row.boards += boards;
            if each.iter().filter(|&&distance| distance == nearest).count() > 1 {
                row.ties += boards;
            }
        }
        while distances.pop_if(|last| last.boards == 0).is_some() {}
        let boards = distances.iter().map(|row| row.boards).sum();
        let moves: u64 = distances
            .iter()
            .map(|row| row.distance as u64 * row.boards)
            .sum();
        let ties: u64 = distances.iter().map(|row| row.ties).sum();
        Census {
            boards,
            mean: ratio(moves, boards),
            tie_share: ratio(ties, boards),
            distances,
        }
    }
}

/// A part of a whole, both at most [`BOARDS`].
#[expect(clippy::cast_precision_loss, reason = "both are far below 2^53")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[expect(clippy::cast_possible_truncation, reason = "each half is below 4096")]
fn mask(upper: usize, lower: usize) -> u32 {
    (upper << HALF | lower) as u32
}

/// The ways to share the free lower cells between twos and threes, the lowest going to the twos:
/// by the number of twos, what the two halves add to the ranks of their masks.
struct Splits([Vec<(u32, u32)>; HALF + 1]);

impl Splits {
    #[expect(clippy::cast_possible_truncation, reason = "a rank is below 735,471")]
    fn of(free: usize) -> Self {
        let mut splits = [const { Vec::new() }; HALF + 1];
        let lowest = free & free.wrapping_neg();
        for twos in subsets(free).filter(|twos| twos & lowest != 0) {
            let ranks = (lower_rank(twos) as u32, lower_rank(free ^ twos) as u32);
            splits[twos.count_ones() as usize].push(ranks);
        }
        Self(splits)
    }
}

/// How many boards there are for each pair of distances of twos and threes, given their free
/// cells; the twos have the lowest.
fn pairs(database: &PatternDatabase, free_upper: usize, splits: &Splits) -> [u32; 256] {
    let mut pairs = [0; 256];
    for upper in subsets(free_upper) {
        let Some(twos_in_lower) = 8_usize.checked_sub(upper.count_ones() as usize) else {
            continue;
        };
        let (twos, threes) = (upper_rank(upper), upper_rank(free_upper ^ upper));
        for &(lower_twos, lower_threes) in &splits.0[twos_in_lower] {
            let twos = database.distance_of_rank(twos + lower_twos as usize);
            let threes = database.distance_of_rank(threes + lower_threes as usize);
            pairs[triple(0, twos, threes)] += 1;
        }
    }
    pairs
}

/// All subsets of a set of cells, the empty one and the set itself included.
fn subsets(set: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(0), move |subset: &usize| {
        let next = subset.wrapping_sub(set) & set;
        (next != 0).then_some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boards_at_each_distance_are_as_many_as_independent_programs_counted() {
        let told = std::sync::atomic::AtomicU64::new(0);
        let census = census(&PatternDatabase::build(), |boards| {
            told.fetch_add(boards, std::sync::atomic::Ordering::Relaxed);
        });
        let boards: Vec<u64> = census.distances.iter().map(|row| row.boards).collect();
        assert_eq!(
            boards,
            [
                38_610,
                308_880,
                1_698_840,
                8_030_880,
                33_820_248,
                124_134_840,
                400_278_348,
                1_098_954_804,
                2_316_756_348,
                3_172_593_156,
                1_992_066_648,
                312_776_400,
                4_053_576,
                192,
            ]
        );
        assert_eq!(census.boards, BOARDS);
        assert_eq!(told.into_inner(), BOARDS);
        assert!((census.mean - 8.5970).abs() < 0.00005, "{}", census.mean);
        assert!(
            (census.tie_share - 0.249).abs() < 0.0005,
            "{}",
            census.tie_share
        );
    }

    #[test]
    fn a_set_has_two_to_the_power_of_its_size_subsets() {
        let mut all: Vec<usize> = subsets(0b1011).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(subsets(0).collect::<Vec<_>>(), [0]);
    }
}
