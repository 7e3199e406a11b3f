use std::fmt;

use thiserror::Error;

use super::{CELLS, Value};

/// One reason why 24 cells are not a board of the game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// There are too few or too many cells.
    #[error("a board has {CELLS} cells, here are {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// A cell holds something other than 1, 2 or 3.
    #[error("cell {index} is {found}, not 1, 2 or 3")]
    Cell {
        /// The cell, counted from 0.
        index: usize,
        /// What stands there, as it is shown to people.
        found: String,
    },
    /// A value does not stand on exactly eight cells.
    #[error("value {value} stands on {found} cells, not on 8")]
    Count {
        /// The value.
        value: Value,
        /// On how many of the first 24 cells it stands.
        found: usize,
    },
}

/// Why something is not a legal board: every reason at once, at least one.
///
/// It prints the first 16 reasons, and how many more there are.
///
/// ```
/// use rotation_game::Board;
///
/// let error = "11113232313223122231213x".parse::<Board>().unwrap_err();
/// assert_eq!(error.to_string(), "cell 23 is 'x', not 1, 2 or 3");
/// let error = "111132323132231222312131".parse::<Board>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "value 1 stands on 9 cells, not on 8; value 3 stands on 7 cells, not on 8",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalBoard {
    faults: Vec<Fault>,
}

impl IllegalBoard {
    pub(super) fn new(faults: Vec<Fault>) -> Self {
        debug_assert!(!faults.is_empty(), "a board without faults is legal");
        Self { faults }
    }

    /// The reasons: the length first, then cells in ascending order, then counts.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl fmt::Display for IllegalBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FaultList(self.faults.iter()).fmt(f)
    }
}

impl std::error::Error for IllegalBoard {}

/// The most faults that an error lists: a caller can make more of them than anybody reads.
pub(crate) const LISTED_FAULTS: usize = 16;

/// A list of faults for people: the first [`LISTED_FAULTS`], and how many more there are.
pub(crate) struct FaultList<I>(pub(crate) I);

impl<I: Iterator<Item: fmt::Display> + Clone> fmt::Display for FaultList<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults = self.0.clone();
        for (index, fault) in faults.by_ref().take(LISTED_FAULTS).enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            fault.fmt(f)?;
        }
        match faults.count() {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
