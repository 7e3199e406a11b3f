use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

use super::Move;

/// Up to [`MoveSequence::CAPACITY`] moves, without a heap allocation.
///
/// It reads as letters of either case, prints as capitals, orders lexicographically, and derefs to `[Move]`.
///
/// ```
/// use rotation_game::{Move, MoveSequence};
///
/// let moves: MoveSequence = "DDHH".parse()?;
/// assert_eq!(moves.len(), 4);
/// assert_eq!(moves[0], Move::D);
/// assert!(moves < "HHDD".parse()?);
/// # Ok::<(), rotation_game::InvalidMoves>(())
/// ```
#[derive(Clone, Copy)]
pub struct MoveSequence {
    len: u8,
    moves: [Move; Self::CAPACITY],
}

impl MoveSequence {
    /// The greatest number of moves a sequence holds. No board is more than 13 moves from a
    /// uniform centre, so every shortest solution fits with room to spare.
    pub const CAPACITY: usize = 32;

    /// The empty sequence.
    pub const EMPTY: Self = Self {
        len: 0,
        moves: [Move::A; Self::CAPACITY],
    };

    /// The moves as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[Move] {
        &self.moves[..usize::from(self.len)]
    }

    /// The moves as ASCII letters; those past the last move mean nothing.
    fn letters(&self) -> [u8; Self::CAPACITY] {
        self.moves.map(|next| b'A' + next as u8)
    }

    /// Appends a move.
    ///
    /// # Panics
    /// Where the sequence already holds [`MoveSequence::CAPACITY`] moves.
    pub fn push(&mut self, next: Move) {
        assert!(
            usize::from(self.len) < Self::CAPACITY,
            "a move sequence holds at most {} moves",
            Self::CAPACITY
        );
        self.moves[usize::from(self.len)] = next;
        self.len += 1;
    }
}

/// Collects moves, first to last.
///
/// # Panics
/// Where there are more than [`MoveSequence::CAPACITY`].
impl FromIterator<Move> for MoveSequence {
    fn from_iter<I: IntoIterator<Item = Move>>(moves: I) -> Self {
        let mut sequence = Self::EMPTY;
        for next in moves {
            sequence.push(next);
        }
        sequence
    }
}

impl Deref for MoveSequence {
    type Target = [Move];

    fn deref(&self) -> &[Move] {
        self.as_slice()
    }
}

impl Default for MoveSequence {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for MoveSequence {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for MoveSequence {}

impl PartialOrd for MoveSequence {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MoveSequence {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl Hash for MoveSequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for MoveSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoveSequence({self})")
    }
}

impl fmt::Display for MoveSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = self.letters();
        f.pad(std::str::from_utf8(&letters[..self.len()]).map_err(|_| fmt::Error)?)
    }
}

/// Serialized as its letters.
impl Serialize for MoveSequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Without the formatting machinery: an answer may hold a thousand sequences.
        let letters = self.letters();
        let letters =
            std::str::from_utf8(&letters[..self.len()]).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(letters)
    }
}

impl FromStr for MoveSequence {
    type Err = InvalidMoves;

    fn from_str(letters: &str) -> Result<Self, InvalidMoves> {
        let mut sequence = Self::EMPTY;
        for (index, found) in letters.chars().enumerate() {
            if index == Self::CAPACITY {
                return Err(InvalidMoves::TooLong);
            }
            sequence.push(Move::from_letter(found).ok_or(InvalidMoves::Letter { index, found })?);
        }
        Ok(sequence)
    }
}

/// Reads moves, however many, as letters of either case.
///
/// ```
/// use rotation_game::puzzle::read_moves;
///
/// assert_eq!(read_moves(&"A".repeat(100)).map(|moves| moves.len()), Ok(100));
/// assert_eq!(read_moves("AxBy").unwrap_err().len(), 2);
/// ```
///
/// # Errors
/// Every character that is no move.
pub fn read_moves(letters: &str) -> Result<Vec<Move>, Vec<InvalidMoves>> {
    let (mut moves, mut errors) = (Vec::new(), Vec::new());
    for (index, found) in letters.chars().enumerate() {
        match Move::from_letter(found) {
            Some(next) => moves.push(next),
            None => errors.push(InvalidMoves::Letter { index, found }),
        }
    }
    if errors.is_empty() {
        Ok(moves)
    } else {
        Err(errors)
    }
}

/// Why a text is not a move sequence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidMoves {
    /// A character that is not a move, with its place counted from 0.
    #[error("move {index} is {found:?}, not a letter from A to H")]
    Letter {
        /// The place in the text, counted from 0 in characters.
        index: usize,
        /// What stands there.
        found: char,
    },
    /// More moves than a [`MoveSequence`] holds.
    #[error("more than {} moves", MoveSequence::CAPACITY)]
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sequence_prints_as_the_text_it_was_read_from(letters in "[A-H]{0,32}") {
            let moves: MoveSequence = letters.parse().unwrap();
            prop_assert_eq!(moves.to_string(), letters);
        }

        #[test]
        fn sequences_order_as_their_texts_do(a in "[A-H]{0,6}", b in "[A-H]{0,6}") {
            let read = |text: &str| text.parse::<MoveSequence>().unwrap();
            prop_assert_eq!(read(&a).cmp(&read(&b)), a.cmp(&b));
        }
    }

    #[test]
    fn a_text_that_is_no_sequence_is_refused_with_the_place() {
        let error = "ABx".parse::<MoveSequence>().unwrap_err();
        assert_eq!(error.to_string(), "move 2 is 'x', not a letter from A to H");
        assert_eq!(
            "A".repeat(33).parse::<MoveSequence>(),
            Err(InvalidMoves::TooLong)
        );
    }
}
