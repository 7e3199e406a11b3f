use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::geometry::{self, CELLS, CENTRE};
use super::{Draft, IllegalBoard, Move, Value};

/// A legal board: 24 cells in the shape of a `#`, numbered row by row, each value on eight.
///
/// ```text
///            0     1                    A     B
///            2     3                    |     |
///      4  5  6  7  8  9 10         H ---+-----+--- C
///           11    12                    |     |
///     13 14 15 16 17 18 19         G ---+-----+--- D
///           20    21                    |     |
///           22    23                    F     E
/// ```
///
/// It is eight bytes: two planes of 24 bits tell where the ones and the twos are.
///
/// ```
/// use rotation_game::{Board, Move, Value};
///
/// let board: Board = "111132323132231222312133".parse()?;
/// assert_eq!(board.centre(), None);
/// assert_eq!(board.after(Move::A).after(Move::C).centre(), Some(Value::Two));
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board {
    /// The mask of the ones in the low half, that of the twos in the high half.
    planes: u64,
}

impl Board {
    /// The caller has checked that each value stands on eight cells.
    pub(super) const fn from_masks(ones: u32, twos: u32) -> Self {
        Self {
            planes: ones as u64 | (twos as u64) << 32,
        }
    }

    /// The board of 24 digits, or `None` where they are not one. It tells no reason, but is quick,
    /// and nearly all input is right.
    fn from_digits(digits: &[u8; CELLS]) -> Option<Self> {
        let mut masks = [0_u32; 3];
        for (cell, digit) in digits.iter().enumerate() {
            for (mask, value) in masks.iter_mut().zip(b'1'..) {
                *mask |= u32::from(*digit == value) << cell;
            }
        }
        let is_legal = masks.iter().all(|mask| mask.count_ones() == 8);
        is_legal.then(|| Self::from_masks(masks[0], masks[1]))
    }

    /// Reads a board from numbers in cell order.
    ///
    /// # Errors
    /// Every reason why they are not a legal board.
    ///
    /// ```
    /// use rotation_game::Board;
    ///
    /// let numbers = [1, 1, 1, 1, 3, 2, 3, 2, 3, 1, 3, 2, 2, 3, 1, 2, 2, 2, 3, 1, 2, 1, 3, 3];
    /// assert_eq!(Board::from_numbers(numbers)?.to_string(), "111132323132231222312133");
    /// # Ok::<(), rotation_game::IllegalBoard>(())
    /// ```
    pub fn from_numbers(numbers: impl IntoIterator<Item = i64>) -> Result<Self, IllegalBoard> {
        let mut draft = Draft::default();
        for number in numbers {
            draft.push_number(number);
        }
        draft.finish()
    }

    /// The cells that hold `value`, cell `i` at bit `i`; always eight of them.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "each half is a mask")]
    pub const fn mask(self, value: Value) -> u32 {
        match value {
            Value::One => self.planes as u32,
            Value::Two => (self.planes >> 32) as u32,
            Value::Three => geometry::ALL_CELLS & !(self.planes | self.planes >> 32) as u32,
        }
    }

    /// The value of a cell.
    ///
    /// # Panics
    /// Where `cell` is not below 24.
    #[must_use]
    pub fn cell(self, cell: usize) -> Value {
        assert!(cell < CELLS, "cells are numbered 0 to 23, not {cell}");
        match (self.planes >> cell & 1, self.planes >> (cell + 32) & 1) {
            (1, _) => Value::One,
            (_, 1) => Value::Two,
            _ => Value::Three,
        }
    }

    /// The values of all cells, in cell order.
    #[must_use]
    pub fn cells(self) -> [Value; CELLS] {
        std::array::from_fn(|cell| self.cell(cell))
    }

    /// The cells as ASCII digits, in cell order.
    pub(crate) fn digits(self) -> [u8; CELLS] {
        let (ones, twos) = (self.mask(Value::One), self.mask(Value::Two));
        std::array::from_fn(|cell| {
            let bit = |mask: u32| u8::from(mask >> cell & 1 == 1);
            b'3' - 2 * bit(ones) - bit(twos)
        })
    }

    /// The value that fills the centre (cells 6, 7, 8, 11, 12, 15, 16 and 17), or `None` where
    /// the board is not solved.
    #[must_use]
    pub fn centre(self) -> Option<Value> {
        Value::ALL
            .into_iter()
            .find(|&value| self.mask(value) == CENTRE)
    }

    /// The board after one move.
    #[must_use]
    #[inline]
    pub fn after(self, next: Move) -> Self {
        Self {
            planes: geometry::turn(self.planes, next),
        }
    }

    /// The board after several moves, first to last.
    ///
    /// ```
    /// use rotation_game::{Board, MoveSequence, Value};
    ///
    /// let board: Board = "111111112222222233333333".parse()?;
    /// let moves: MoveSequence = "DDHH".parse()?;
    /// assert_eq!(board.after_all(&moves).centre(), Some(Value::Two));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn after_all(self, moves: &[Move]) -> Self {
        moves.iter().fold(self, |board, &next| board.after(next))
    }
}

/// Reads 24 digits in cell order, with or without white space or commas between them. Every place
/// that reads a board from text reads it so: the command line, the API and the page.
///
/// ```
/// use rotation_game::Board;
///
/// let board: Board = "1 1 1 1, 3 2, 3 2, 3 1 3 2 2 3 1, 2 2 2 3 1, 2 1, 33".parse()?;
/// assert_eq!(board.to_string(), "111132323132231222312133");
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
impl FromStr for Board {
    type Err = IllegalBoard;

    fn from_str(digits: &str) -> Result<Self, IllegalBoard> {
        if let Ok(digits) = digits.as_bytes().try_into()
            && let Some(board) = Self::from_digits(digits)
        {
            return Ok(board);
        }
        let mut draft = Draft::default();
        for digit in digits.chars().filter(|&sign| !is_separator(sign)) {
            match digit.to_digit(10) {
                Some(number) => draft.push_number(number.into()),
                None => draft.push_fault(format!("{digit:?}")),
            }
        }
        draft.finish()
    }
}

/// Returns whether a character may stand between the cells of a board or of a pattern.
pub(super) fn is_separator(sign: char) -> bool {
    sign == ',' || sign.is_whitespace()
}

/// Prints 24 digits in cell order.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.digits()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({self})")
    }
}

/// Serialized as 24 digits.
impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Without the formatting machinery: an answer may hold a thousand boards.
        let digits = self.digits();
        let digits = std::str::from_utf8(&digits).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(digits)
    }
}
