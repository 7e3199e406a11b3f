use std::cmp::Ordering;
use std::fmt;

use super::mask_index::{MASKS, masks, rank};
use super::{Heuristic, Limits, Outcome, Solution, search};
use crate::puzzle::{Board, CENTRE, Goal, Move, MoveSet, Symmetry, Value, turn_mask};

/// The exact distance of every mask of eight cells to the centre, and so of every board.
///
/// Only the cells of one value matter for filling the centre with that value. There are 735,471
/// sets of eight cells, so one breadth-first search from the centre gives every distance, 0 to
/// 14, and a board's distance is the least of its three. As a heuristic it is perfect: IDA* opens
/// nodes on shortest solutions only. (Culberson and Schaeffer, "Pattern databases", 1998.)
///
/// It takes 735,471 bytes and a few milliseconds to build.
///
/// ```
/// use rotation_game::{Board, PatternDatabase, Value};
///
/// let database = PatternDatabase::build();
/// let board: Board = "111132323132231222312133".parse()?;
/// assert_eq!(database.distance(board), 2);
/// assert_eq!(database.distance_to(board, Value::One), 12);
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
#[derive(Clone)]
pub struct PatternDatabase {
    /// By rank of the mask.
    entries: Box<[Entry]>,
}

/// What is known of a mask, in a byte: its distance to the centre, and which move, first in
/// letter order, leads closer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u8);

impl Entry {
    const UNSEEN: Self = Self(u8::MAX);

    const fn new(distance: u8, first: Move) -> Self {
        Self(distance << 3 | first as u8)
    }

    /// In moves, 0 to 14.
    const fn distance(self) -> u8 {
        self.0 >> 3
    }

    /// Of no meaning at distance 0.
    const fn first(self) -> Move {
        Move::ALL[self.0 as usize % 8]
    }
}

impl fmt::Debug for PatternDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PatternDatabase").finish_non_exhaustive()
    }
}

impl PatternDatabase {
    /// Builds the database, on the calling thread.
    ///
    /// A mask and its images under the eight symmetries of the board are equally far, so the
    /// breadth-first search goes on from one of them only.
    #[must_use]
    pub fn build() -> Self {
        let firsts: Vec<[Move; 8]> = MoveSet::all_sets().map(firsts_of_images).collect();
        let mut entries = vec![Entry::UNSEEN; MASKS].into_boxed_slice();
        entries[rank(CENTRE)] = Entry::new(0, Move::A);
        // One mask of each orbit; an orbit has at most eight masks, and nearly all have.
        let mut queue = Vec::with_capacity(MASKS / 7);
        queue.push(CENTRE);
        let mut read = 0;
        while let Some(&mask) = queue.get(read) {
            read += 1;
            let distance = entries[rank(mask)].distance();
            let mut closer = MoveSet::EMPTY;
            for next in Move::ALL {
                let turned = turn_mask(mask, next);
                let entry = entries[rank(turned)];
                closer = closer.with(next, entry.distance() < distance);
                if entry == Entry::UNSEEN {
                    for image in Symmetry::images(turned) {
                        entries[rank(image)] = Entry::new(distance + 1, Move::A);
                    }
                    queue.push(turned);
                }
            }
            let firsts = firsts[usize::from(closer.bits())];
            let images = Symmetry::images(mask);
            for i in 0..8 {
                entries[rank(images[i])] = Entry::new(distance, firsts[i]);
            }
        }
        Self { entries }
    }

    /// The lexicographically smallest of the shortest solutions of a board.
    #[must_use]
    pub fn solve(&self, board: Board) -> Solution {
        match search(board, self, Limits::NONE) {
            Outcome::Solved(solution) => solution,
            outcome => unreachable!("a legal board is solved by 13 moves, but: {outcome:?}"),
        }
    }

    /// The length of a board's shortest solution, 0 to 13.
    #[must_use]
    #[inline]
    pub fn distance(&self, board: Board) -> u32 {
        self.nearest(board).distance().into()
    }

    /// The length of a board's shortest solution with `value` in the centre, 0 to 14.
    #[must_use]
    pub fn distance_to(&self, board: Board, value: Value) -> u32 {
        self.entry(board.mask(value)).distance().into()
    }

    /// All masks in ascending order, each with its distance.
    pub(crate) fn masks(&self) -> impl Iterator<Item = (u32, u32)> {
        masks().map(|mask| (mask, self.mask_distance(mask)))
    }

    /// The distance of a mask of eight cells.
    pub(crate) fn mask_distance(&self, mask: u32) -> u32 {
        self.entry(mask).distance().into()
    }

    /// The distance of the mask of a [rank](super::mask_index).
    #[inline]
    pub(crate) fn distance_of_rank(&self, rank: usize) -> u8 {
        self.entries[rank].distance()
    }

    #[inline]
    fn entry(&self, mask: u32) -> Entry {
        self.entries[rank(mask)]
    }

    /// Of the three values' entries the least: the nearest value's, and of values equally near
    /// the one whose first move is first.
    #[inline]
    fn nearest(&self, board: Board) -> Entry {
        let [ones, twos, threes] = Value::ALL.map(|value| self.entry(board.mask(value)));
        ones.min(twos).min(threes)
    }

    /// The moves after which a board is at most `budget` moves from being solved.
    #[cold]
    fn within(&self, board: Board, budget: u32) -> MoveSet {
        Move::ALL
            .into_iter()
            .filter(|&next| self.distance(board.after(next)) <= budget)
            .collect()
    }
}

impl Heuristic for PatternDatabase {
    const NAME: &'static str = "pattern-database";

    #[inline]
    fn goal(&self) -> Goal {
        Goal::Centre
    }

    #[inline]
    fn lower_bound(&self, board: Board) -> u32 {
        self.distance(board)
    }

    /// On a board as far as the budget allows, the first move of the smallest shortest solution,
    /// straight from the table, and no other: the search never has to come back for more.
    #[inline]
    fn promising(&self, board: Board, among: MoveSet, budget: u32) -> MoveSet {
        let nearest = self.nearest(board);
        let promising = match u32::from(nearest.distance()).cmp(&(budget + 1)) {
            Ordering::Equal => MoveSet::EMPTY.with(nearest.first(), true),
            Ordering::Greater => MoveSet::EMPTY,
            Ordering::Less => self.within(board, budget),
        };
        promising.intersection(among)
    }
}

/// Of a set of moves the first in letter order after each of the eight symmetries.
fn firsts_of_images(moves: MoveSet) -> [Move; 8] {
    let mut firsts = [Move::H; 8];
    for next in moves {
        for (first, image) in firsts.iter_mut().zip(Symmetry::images_of_move(next)) {
            *first = image.min(*first);
        }
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_masks_at_each_distance_are_as_many_as_independent_programs_counted() {
        let database = PatternDatabase::build();
        let mut masks = [0; 15];
        for entry in &database.entries {
            masks[usize::from(entry.distance())] += 1;
        }
        assert_eq!(
            masks,
            [
                1, 8, 44, 208, 876, 3220, 10_498, 30_236, 73_982, 146_466, 208_170, 178_588,
                72_941, 10_045, 188,
            ]
        );
    }

    #[test]
    fn every_entry_names_the_first_move_that_leads_closer() {
        let database = PatternDatabase::build();
        for mask in (0..1_u32 << 24).filter(|mask| mask.count_ones() == 8 && *mask != CENTRE) {
            let entry = database.entry(mask);
            let closer =
                |&next: &Move| database.entry(turn_mask(mask, next)).distance() < entry.distance();
            assert_eq!(
                Some(entry.first()),
                Move::ALL.into_iter().find(closer),
                "{mask:#b}"
            );
        }
    }
}
