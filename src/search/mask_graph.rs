//! All 735,471 masks of eight cells with the moves between them, made for breadth-first search.
//!
//! A set of masks is a bitmap. It is cut into blocks, one for each upper half of a mask (cells 12
//! to 23); within a block the lower halves, all with the same number of cells, stand in ascending
//! order. A move carries at most one cell from each half into the other, so it takes a block to at
//! most two others, and where in them depends on the lower half alone: a small table tells.
//! Blocks keep what is needed at a time in the processor's nearest cache.

use super::mask_index::{HALF, HALVES, MASKS, lower_rank, upper_rank};
use crate::puzzle::{ALL_CELLS, Move, turn_mask};

/// The lower twelve cells.
const LOWER: u32 = (1 << HALF) - 1;
/// How many bits a word of a bitmap has.
const WORD: usize = 64;
/// More than the lower halves with any one number of cells, of which there are 924 at most.
const ROOM: usize = 1024;
/// In a place after a move: whether a cell goes out of the lower half.
const GOES_OUT: u16 = 1 << 15;

/// The distance that is told of masks from which no goal can be reached.
pub(super) const UNREACHED: u8 = u8::MAX;

/// The graph of masks.
pub(super) struct MaskGraph {
    /// By the number of cells in the lower half, 0 to 8.
    classes: Vec<Class>,
    blocks: Vec<Block>,
    /// The bitmap of all masks.
    all: Vec<u64>,
}

/// The lower halves with some number of cells.
struct Class {
    /// Ascending.
    halves: Vec<u16>,
    /// For each move, without and with a cell that comes in from the upper half: which place each
    /// lower half takes among those of its new class, and whether a cell [`GOES_OUT`].
    places: Vec<[[u16; ROOM]; 2]>,
}

/// The masks with some upper half.
struct Block {
    upper: u32,
    /// How many cells are in the lower half.
    class: usize,
    /// The [rank](super::mask_index) of the first mask.
    rank: usize,
    /// Where its words in a bitmap are.
    word: usize,
    words: usize,
    turns: [Turn; 8],
}

/// What a move does with a block.
struct Turn {
    /// Where the blocks after it are in a bitmap: the one for masks of which no cell goes into the
    /// upper half, and that for those of which one does.
    words: [usize; 2],
    /// Whether a cell comes into the lower half.
    comes_in: bool,
    /// Whether it leaves all lower halves as they are.
    is_upper: bool,
}

impl MaskGraph {
    pub(super) fn new() -> Self {
        let classes: Vec<Class> = (0..=8).map(Class::new).collect();
        let class_of = |upper: u32| 8_usize.checked_sub(upper.count_ones() as usize);
        let mut first_words = vec![0; HALVES];
        let mut words = 0;
        for (upper, first_word) in (0..=LOWER).zip(&mut first_words) {
            if let Some(class) = class_of(upper) {
                *first_word = words;
                words += classes[class].words();
            }
        }
        let is_upper =
            Move::ALL.map(|next| (0..HALF).all(|cell| turn_mask(1 << cell, next) == 1 << cell));
        let turn = |upper: u32, next: Move| {
            let turned = turn_mask(upper << HALF, next);
            let from_lower = turn_mask(LOWER, next);
            let word_of = |mask: u32| first_words[(mask >> HALF) as usize];
            Turn {
                words: [turned, turned | from_lower].map(word_of),
                comes_in: turned & LOWER != 0,
                is_upper: is_upper[next.index()],
            }
        };
        let block = |upper: u32| {
            let class = class_of(upper)?;
            Some(Block {
                upper,
                class,
                rank: upper_rank(upper as usize),
                word: first_words[upper as usize],
                words: classes[class].words(),
                turns: Move::ALL.map(|next| turn(upper, next)),
            })
        };
        let blocks = (0..=LOWER).filter_map(block).collect();
        let mut graph = Self {
            blocks,
            classes,
            all: vec![0; words],
        };
        graph.all = graph.members(0, 0);
        graph
    }

    /// Tells the distance of every mask, by [rank](super::mask_index), to the nearest of those that
    /// have all `required` cells and none that are `excluded`: breadth-first search from all of
    /// these at once.
    pub(super) fn distances(&self, required: u32, excluded: u32, distances: &mut [u8]) {
        distances.fill(UNREACHED);
        let mut unseen = self.all.clone();
        let mut level = vec![0; unseen.len()];
        let mut next_level = self.members(required, excluded);
        let mut left = MASKS;
        for distance in 0.. {
            let mut count = 0;
            for block in &self.blocks {
                for i in 0..block.words {
                    let word = block.word + i;
                    level[word] = next_level[word] & unseen[word];
                    next_level[word] = 0;
                    unseen[word] &= !level[word];
                    for_each_one(level[word], i, |place| {
                        distances[block.rank + usize::from(place)] = distance;
                        count += 1;
                    });
                }
            }
            left -= count;
            if count == 0 || left == 0 {
                break;
            }
            if count < left {
                self.expand::<false>(&level, &level, &mut next_level);
            } else {
                self.expand::<true>(&unseen, &level, &mut next_level);
            }
        }
    }

    /// The masks that have all `required` cells and none that are `excluded`.
    fn members(&self, required: u32, excluded: u32) -> Vec<u64> {
        let is_member = |half, shift| {
            let (required, excluded) = (required >> shift & LOWER, excluded >> shift & LOWER);
            half & required == required && half & excluded == 0
        };
        let mut bitmap = vec![0; self.all.len()];
        for block in self
            .blocks
            .iter()
            .filter(|block| is_member(block.upper, HALF))
        {
            for (place, &half) in self.classes[block.class].halves.iter().enumerate() {
                if is_member(half.into(), 0) {
                    bitmap[block.word + place / WORD] |= 1 << (place % WORD);
                }
            }
        }
        bitmap
    }

    /// Adds the neighbours of a level: those of each mask of the level, or, where `BACKWARDS` is
    /// set, those of `masks` that have a neighbour in the level, which is less work where few are
    /// left (direction-optimizing breadth-first search; Beamer, Asanovic and Patterson, 2012).
    fn expand<const BACKWARDS: bool>(&self, masks: &[u64], level: &[u64], neighbours: &mut [u64]) {
        let mut places = [0; ROOM];
        let mut hits = [0; ROOM];
        for block in &self.blocks {
            let words = block.word..block.word + block.words;
            let mut count = 0;
            for (i, &word) in masks[words.clone()].iter().enumerate() {
                for_each_one(word, i, |place| {
                    places[count] = place;
                    count += 1;
                });
            }
            let places = &places[..count];
            if places.is_empty() {
                continue;
            }
            for (turn, rows) in block.turns.iter().zip(&self.classes[block.class].places) {
                if turn.is_upper {
                    let after = turn.words[0]..turn.words[0] + block.words;
                    let (from, to) = if BACKWARDS {
                        (after, words.clone())
                    } else {
                        (words.clone(), after)
                    };
                    for (to, from) in neighbours[to].iter_mut().zip(&level[from]) {
                        *to |= from;
                    }
                    continue;
                }
                let row = &rows[usize::from(turn.comes_in)];
                let first_bits = turn.words.map(|word| WORD * word);
                let bit_after = |place: u16| {
                    let after = row[usize::from(place) % ROOM];
                    first_bits[usize::from(after / GOES_OUT)] + usize::from(after % GOES_OUT)
                };
                if BACKWARDS {
                    for (&place, hit) in places.iter().zip(&mut hits) {
                        let bit = bit_after(place);
                        *hit |= level[bit / WORD] >> (bit % WORD) & 1;
                    }
                } else {
                    for &place in places {
                        let bit = bit_after(place);
                        neighbours[bit / WORD] |= 1 << (bit % WORD);
                    }
                }
            }
            if BACKWARDS {
                for (&place, hit) in places.iter().zip(&mut hits) {
                    let place = usize::from(place);
                    neighbours[block.word + place / WORD] |= std::mem::take(hit) << (place % WORD);
                }
            }
        }
    }
}

/// Calls `visit` with the place of each one in word `i` of a block.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a block has at most 924 places"
)]
#[inline]
fn for_each_one(mut word: u64, i: usize, mut visit: impl FnMut(u16)) {
    while word != 0 {
        visit((WORD * i) as u16 + word.trailing_zeros() as u16);
        word &= word - 1;
    }
}

impl Class {
    #[expect(clippy::cast_possible_truncation, reason = "halves have twelve bits")]
    fn new(cells: u32) -> Self {
        let halves = (0..=LOWER).filter(|half| half.count_ones() == cells);
        let halves: Vec<u16> = halves.map(|half| half as u16).collect();
        let rows = |next| {
            let from_upper = turn_mask(ALL_CELLS & !LOWER, next) & LOWER;
            [0, from_upper].map(|incoming| {
                let mut row = [0; ROOM];
                for (place, &half) in row.iter_mut().zip(&halves) {
                    let turned = turn_mask(half.into(), next);
                    let goes_out = if turned > LOWER { GOES_OUT } else { 0 };
                    let half = turned & LOWER | incoming;
                    *place = lower_rank(half as usize) as u16 | goes_out;
                }
                row
            })
        };
        Self {
            places: Move::ALL.into_iter().map(rows).collect(),
            halves,
        }
    }

    /// How many words of a bitmap one of its blocks takes.
    fn words(&self) -> usize {
        self.halves.len().div_ceil(WORD)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::puzzle::{CENTRE, Pattern, Value};
    use crate::search::PatternDatabase;
    use crate::search::mask_index::{masks, rank};

    /// Breadth-first search as it stands in textbooks.
    fn plain_distances(required: u32, excluded: u32) -> Vec<u8> {
        let is_goal = |mask: &u32| mask & required == required && mask & excluded == 0;
        let mut distances = vec![UNREACHED; MASKS];
        let mut queue: VecDeque<u32> = masks().filter(is_goal).collect();
        for &mask in &queue {
            distances[rank(mask)] = 0;
        }
        while let Some(mask) = queue.pop_front() {
            for next in Move::ALL {
                let after = turn_mask(mask, next);
                if distances[rank(after)] == UNREACHED {
                    distances[rank(after)] = distances[rank(mask)] + 1;
                    queue.push_back(after);
                }
            }
        }
        distances
    }

    fn distances(graph: &MaskGraph, required: u32, excluded: u32) -> Vec<u8> {
        // What was there before makes no difference.
        let mut distances = vec![7; MASKS];
        graph.distances(required, excluded, &mut distances);
        distances
    }

    #[test]
    fn distances_to_the_centre_are_those_of_the_pattern_database() {
        let database = PatternDatabase::build();
        let distances = distances(&MaskGraph::new(), CENTRE, 0);
        for mask in masks() {
            assert_eq!(
                u32::from(distances[rank(mask)]),
                database.mask_distance(mask),
                "{mask:#b}"
            );
        }
    }

    #[test]
    fn distances_to_patterns_are_those_of_a_plain_search() {
        let graph = MaskGraph::new();
        let patterns = [
            "113331232232211122313132",
            "1133.1..2.1322.1312223.3",
            "...1...............3....",
        ];
        for pattern in patterns.map(|pattern| pattern.parse::<Pattern>().unwrap()) {
            for value in Value::ALL {
                let required = pattern.mask(value);
                let excluded = pattern.constrained() & !required;
                let distances = distances(&graph, required, excluded);
                assert!(*distances == *plain_distances(required, excluded));
            }
        }
    }

    #[test]
    fn without_a_goal_nothing_is_reached() {
        let distances = distances(&MaskGraph::new(), 1, 1);
        assert!(distances.iter().all(|&distance| distance == UNREACHED));
    }
}
