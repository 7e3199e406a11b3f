//! Which moves are worth trying after which.
//!
//! Turns of the two columns commute, and so do turns of the two rows. In a run of moves on
//! parallel lines only the net turn of each line matters, so all but one of the orders, and all
//! detours (undoing a move, or four turns one way where three the other way do), can be left out.
//! The one kept has its letters ascending: it is the lexicographically smallest of its equals.
//! Hence a sequence that is left out has an equal which is shorter, or as long and
//! lexicographically smaller, and the smallest of the shortest solutions is never lost.
//!
//! This is the duplicate pruning by a finite automaton of Taylor and Korf ("Pruning duplicate
//! nodes in depth-first search", AAAI 1993), with states kept by hand. It cuts the branching
//! factor from 7 (no move undone) to 5.8.

use crate::puzzle::{Move, MoveSet};

/// What of the moves so far matters for the next: a state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoveOrder(u8);

/// The start, and for each last move how often it came in a row (up to 3 times), and whether the
/// parallel line was turned before it.
const STATES: usize = 1 + 8 * 3 * 2;

static ALLOWED: [MoveSet; STATES] = allowed();
static NEXT: [[u8; 8]; STATES] = next();

impl MoveOrder {
    /// Before the first move.
    pub(crate) const START: Self = Self(0);

    /// The moves that may follow.
    #[inline]
    pub(crate) fn allowed(self) -> MoveSet {
        ALLOWED[usize::from(self.0)]
    }

    /// The state after an allowed move.
    #[inline]
    pub(crate) fn after(self, next: Move) -> Self {
        Self(NEXT[usize::from(self.0)][next.index()])
    }
}

/// A state taken apart.
#[derive(Clone, Copy)]
struct Run {
    last: Move,
    /// How many turns before `last` were the same move.
    repeats: usize,
    /// Whether the run began with turns of the parallel line.
    second_line: bool,
}

impl Run {
    const fn of_state(state: usize) -> Option<Self> {
        if state == 0 {
            return None;
        }
        let state = state - 1;
        Some(Self {
            last: Move::ALL[state / 6],
            repeats: state / 2 % 3,
            second_line: state % 2 == 1,
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are 49 states")]
    const fn state(self) -> u8 {
        (1 + self.last.index() * 6 + self.repeats * 2 + self.second_line as usize) as u8
    }

    /// The run after one more move, or `None` where that move is left out.
    const fn then(self, next: Move) -> Option<Self> {
        let Self {
            last,
            repeats,
            second_line,
        } = self;
        if next.is_vertical() != last.is_vertical() {
            Some(Self::begin(next))
        } else if next.index() == last.index() {
            if repeats == 2 {
                return None;
            }
            Some(Self {
                last,
                repeats: repeats + 1,
                second_line,
            })
        } else if next.index() == last.inverse().index()
            || second_line
            || next.index() < last.index()
        {
            // It undoes the last move; or it returns to the line on which the run began; or the
            // other order of the two is smaller.
            None
        } else {
            Some(Self {
                second_line: true,
                ..Self::begin(next)
            })
        }
    }

    const fn begin(first: Move) -> Self {
        Self {
            last: first,
            repeats: 0,
            second_line: false,
        }
    }
}

const fn transition(state: usize, next: Move) -> Option<u8> {
    let run = match Run::of_state(state) {
        None => Some(Run::begin(next)),
        Some(run) => run.then(next),
    };
    match run {
        None => None,
        Some(run) => Some(run.state()),
    }
}

const fn allowed() -> [MoveSet; STATES] {
    let mut table = [MoveSet::EMPTY; STATES];
    let mut state = 0;
    while state < STATES {
        let mut i = 0;
        while i < 8 {
            let allowed = transition(state, Move::ALL[i]).is_some();
            table[state] = table[state].with(Move::ALL[i], allowed);
            i += 1;
        }
        state += 1;
    }
    table
}

const fn next() -> [[u8; 8]; STATES] {
    let mut table = [[0; 8]; STATES];
    let mut state = 0;
    while state < STATES {
        let mut i = 0;
        while i < 8 {
            if let Some(after) = transition(state, Move::ALL[i]) {
                table[state][i] = after;
            }
            i += 1;
        }
        state += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::puzzle::Board;

    /// Calls `visit` with every sequence of `length` moves that the order allows, ascending.
    fn allowed_sequences(length: usize, visit: &mut impl FnMut(&[Move])) {
        fn extend(
            sequence: &mut Vec<Move>,
            order: MoveOrder,
            length: usize,
            visit: &mut impl FnMut(&[Move]),
        ) {
            if sequence.len() == length {
                return visit(sequence);
            }
            for next in order.allowed() {
                sequence.push(next);
                extend(sequence, order.after(next), length, visit);
                sequence.pop();
            }
        }
        extend(&mut Vec::new(), MoveOrder::START, length, visit);
    }

    /// What a sequence does to 24 distinguishable cells.
    fn permutation(sequence: &[Move]) -> [u32; 5] {
        // Cell i is numbered i in binary: bit b of all numbers makes a mask, turned like any other.
        [0, 1, 2, 3, 4].map(|bit| {
            let mask = (0..24_u32)
                .filter(|cell| cell >> bit & 1 == 1)
                .map(|cell| 1 << cell)
                .sum();
            sequence
                .iter()
                .fold(mask, |mask, &next| crate::puzzle::turn_mask(mask, next))
        })
    }

    #[test]
    fn for_every_permutation_the_smallest_of_the_shortest_sequences_is_allowed() {
        let mut seen = HashSet::new();
        for length in 0..=5 {
            let mut allowed = HashSet::new();
            allowed_sequences(length, &mut |sequence| {
                allowed.insert(sequence.to_vec());
            });
            let mut now = HashSet::new();
            for number in 0..8_usize.pow(u32::try_from(length).unwrap()) {
                let sequence: Vec<Move> = (0..length)
                    .rev()
                    .map(|i| Move::ALL[number >> (3 * i) & 7])
                    .collect();
                let permutation = permutation(&sequence);
                let first = !seen.contains(&permutation) && now.insert(permutation);
                assert!(!first || allowed.contains(&sequence), "{sequence:?}");
            }
            seen.extend(now);
        }
    }

    #[test]
    fn as_many_sequences_are_allowed_as_the_generating_function_counts() {
        // A run of parallel moves turns two lines by -3 to 3 each, not both by none, at the price
        // of the absolute values: P = (1 + 2x + 2x² + 2x³)² - 1. Runs of columns and rows alternate.
        let expected = [1, 8, 48, 280, 1624, 9424];
        for (length, expected) in expected.into_iter().enumerate() {
            let mut count = 0;
            allowed_sequences(length, &mut |_| count += 1);
            assert_eq!(count, expected, "length {length}");
        }
    }

    #[test]
    fn no_allowed_sequence_undoes_its_last_move() {
        let board: Board = "111132323132231222312133".parse().unwrap();
        allowed_sequences(4, &mut |sequence| {
            for length in 0..3 {
                assert_ne!(
                    board.after_all(&sequence[..length]),
                    board.after_all(&sequence[..length + 2])
                );
            }
        });
    }
}
