use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

use super::board::is_separator;
use super::legality::FaultList;
use super::{Board, CELLS, CENTRE, Value};

/// What some cells of a board have to hold, or all of them.
///
/// It is written as 24 characters in cell order: `1`, `2` or `3`, or `.` where any value is fine. As
/// in a [`Board`], white space and commas between them mean nothing.
/// No value is asked for on more than eight cells, and so there are boards that match, and every
/// board can be turned into one: the moves generate all even permutations of the 24 cells, and
/// cells with the same value can be exchanged.
///
/// ```
/// use rotation_game::puzzle::Pattern;
///
/// let pattern: Pattern = "......111..11..111......".parse()?;
/// assert!(pattern.matches("222222111221133111333333".parse().unwrap()));
/// # Ok::<(), rotation_game::puzzle::IllegalPattern>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    /// For each value the cells that have to hold it, cell `i` at bit `i`.
    masks: [u32; 3],
}

impl Pattern {
    /// The centre full of a value, and anything around it.
    #[must_use]
    pub const fn centre(value: Value) -> Self {
        let mut masks = [0; 3];
        masks[value.index()] = CENTRE;
        Self { masks }
    }

    /// The cells that have to hold `value`, cell `i` at bit `i`; at most eight of them.
    #[must_use]
    pub const fn mask(self, value: Value) -> u32 {
        self.masks[value.index()]
    }

    /// The cells that have to hold one value or another.
    #[must_use]
    pub const fn constrained(self) -> u32 {
        self.masks[0] | self.masks[1] | self.masks[2]
    }

    /// Whether a board is as the pattern asks.
    #[must_use]
    pub fn matches(self, board: Board) -> bool {
        Value::ALL
            .into_iter()
            .all(|value| self.mask(value) & !board.mask(value) == 0)
    }
}

/// The one board that matches it.
impl From<Board> for Pattern {
    fn from(board: Board) -> Self {
        Self {
            masks: Value::ALL.map(|value| board.mask(value)),
        }
    }
}

impl FromStr for Pattern {
    type Err = IllegalPattern;

    fn from_str(text: &str) -> Result<Self, IllegalPattern> {
        let (mut masks, mut faults, mut length) = ([0_u32; 3], Vec::new(), 0);
        let cells = text.chars().filter(|&sign| !is_separator(sign));
        for (index, found) in cells.enumerate() {
            length += 1;
            if index >= CELLS {
                continue;
            }
            let value = found
                .to_digit(10)
                .and_then(|digit| Value::new(digit.into()));
            match value {
                Some(value) => masks[value.index()] |= 1 << index,
                None if found == '.' => {}
                None => faults.push(PatternFault::Cell { index, found }),
            }
        }
        if length != CELLS {
            faults.insert(0, PatternFault::Length { found: length });
        }
        for value in Value::ALL {
            let found = masks[value.index()].count_ones();
            if found > 8 && length <= CELLS {
                faults.push(PatternFault::Count { value, found });
            }
        }
        if faults.is_empty() {
            Ok(Self { masks })
        } else {
            Err(IllegalPattern { faults })
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = (0..CELLS)
            .map(|cell| {
                let value = Value::ALL
                    .into_iter()
                    .find(|&value| self.mask(value) >> cell & 1 == 1);
                value.map_or('.', |value| char::from(b'0' + value.get()))
            })
            .collect();
        f.pad(&text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({self})")
    }
}

/// Serialized as its 24 characters.
impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One reason why a text is not a [`Pattern`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternFault {
    /// There are too few or too many characters.
    #[error("a goal has {CELLS} characters, here are {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// A character that is neither a value nor a dot.
    #[error("character {index} of the goal is {found:?}, not 1, 2, 3 or .")]
    Cell {
        /// The cell, counted from 0.
        index: usize,
        /// What stands there.
        found: char,
    },
    /// A value is asked for on more cells than a board has of it.
    #[error("the goal asks for value {value} on {found} cells, a board has 8")]
    Count {
        /// The value.
        value: Value,
        /// On how many of the first 24 cells it is asked for.
        found: u32,
    },
}

/// Why a text is not a [`Pattern`]: every reason at once, at least one.
///
/// It prints the first 16 reasons, and how many more there are.
///
/// ```
/// use rotation_game::puzzle::Pattern;
///
/// let error = "......222..2x..222.....".parse::<Pattern>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a goal has 24 characters, here are 23; character 12 of the goal is 'x', not 1, 2, 3 or .",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalPattern {
    faults: Vec<PatternFault>,
}

impl IllegalPattern {
    /// The reasons: the length first, then cells in ascending order, then counts.
    #[must_use]
    pub fn faults(&self) -> &[PatternFault] {
        &self.faults
    }
}

impl fmt::Display for IllegalPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FaultList(self.faults.iter()).fmt(f)
    }
}

impl std::error::Error for IllegalPattern {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pattern_prints_as_the_text_it_was_read_from(text in "[123.]{24}") {
            let legal = ['1', '2', '3'].iter().all(|&digit| text.matches(digit).count() <= 8);
            let pattern = text.parse::<Pattern>();
            prop_assert_eq!(pattern.is_ok(), legal);
            if let Ok(pattern) = pattern {
                prop_assert_eq!(pattern.to_string(), text);
            }
        }
    }

    #[test]
    fn every_reason_is_told_at_once() {
        let error = "1111111112ä3".parse::<Pattern>().unwrap_err();
        let (found, value) = ('ä', Value::One);
        assert_eq!(
            error.faults(),
            [
                PatternFault::Length { found: 12 },
                PatternFault::Cell { index: 10, found },
                PatternFault::Count { value, found: 9 },
            ]
        );
        let error = format!("{}x", "1".repeat(24))
            .parse::<Pattern>()
            .unwrap_err();
        assert_eq!(error.faults(), [PatternFault::Length { found: 25 }]);
    }

    #[test]
    fn a_board_as_a_pattern_matches_itself_alone() {
        let board: Board = "111132323132231222312133".parse().unwrap();
        let pattern = Pattern::from(board);
        assert_eq!(pattern.to_string(), board.to_string());
        assert!(pattern.matches(board));
        assert!(!pattern.matches(board.after(super::super::Move::A)));
    }
}
