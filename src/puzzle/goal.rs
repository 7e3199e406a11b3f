use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{Board, IllegalPattern, Pattern};

/// What counts as solved.
///
/// ```
/// use rotation_game::puzzle::Goal;
///
/// assert_eq!("centre".parse(), Ok(Goal::Centre));
/// let goal: Goal = ".......2........33...13.".parse()?;
/// assert_eq!(goal.to_string(), ".......2........33...13.");
/// # Ok::<(), rotation_game::puzzle::IllegalPattern>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The usual goal: the centre holds one value only, whichever.
    #[default]
    Centre,
    /// The board is as a pattern asks.
    Pattern(Pattern),
}

impl Goal {
    /// The pattern, where there is one.
    #[must_use]
    pub const fn pattern(self) -> Option<Pattern> {
        match self {
            Self::Centre => None,
            Self::Pattern(pattern) => Some(pattern),
        }
    }

    /// Whether a board is solved.
    #[must_use]
    #[inline]
    pub fn is_reached(self, board: Board) -> bool {
        match self {
            Self::Centre => board.centre().is_some(),
            Self::Pattern(pattern) => pattern.matches(board),
        }
    }
}

/// Reads `centre` or a pattern.
impl FromStr for Goal {
    type Err = IllegalPattern;

    fn from_str(text: &str) -> Result<Self, IllegalPattern> {
        match text {
            "centre" => Ok(Self::Centre),
            pattern => pattern.parse().map(Self::Pattern),
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Centre => f.pad("centre"),
            Self::Pattern(pattern) => pattern.fmt(f),
        }
    }
}

/// Serialized as it is written.
impl Serialize for Goal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
