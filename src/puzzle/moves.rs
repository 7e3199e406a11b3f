use std::fmt;

use serde::{Serialize, Serializer};

/// One of the eight moves. A letter turns its line one step towards the letter;
/// the cell that falls off comes back at the other end.
///
/// ```text
///        A     B
///        |     |
///  H ----+-----+---- C
///        |     |
///  G ----+-----+---- D
///        |     |
///        F     E
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Move {
    /// Left column, upwards.
    A,
    /// Right column, upwards.
    B,
    /// Upper row, to the right.
    C,
    /// Lower row, to the right.
    D,
    /// Right column, downwards.
    E,
    /// Left column, downwards.
    F,
    /// Lower row, to the left.
    G,
    /// Upper row, to the left.
    H,
}

impl Move {
    /// The eight moves in letter order, the order in which the search tries them.
    pub const ALL: [Self; 8] = [
        Self::A,
        Self::B,
        Self::C,
        Self::D,
        Self::E,
        Self::F,
        Self::G,
        Self::H,
    ];

    /// Returns the move of this letter, in either case, or `None` if it is not one of `A` to `H`.
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<Self> {
        let letter = letter.to_ascii_uppercase();
        match letter {
            'A'..='H' => Some(Self::ALL[letter as usize - 'A' as usize]),
            _ => None,
        }
    }

    /// The letter, `A` to `H`.
    #[must_use]
    pub const fn letter(self) -> char {
        (b'A' + self as u8) as char
    }

    /// The place of the move in [`Move::ALL`], 0 to 7.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The move that undoes this one: the same line, the other way.
    ///
    /// ```
    /// use rotation_game::{Board, Move};
    ///
    /// let board: Board = "111132323132231222312133".parse()?;
    /// assert_eq!(Move::A.inverse(), Move::F);
    /// assert_eq!(board.after(Move::A).after(Move::F), board);
    /// # Ok::<(), rotation_game::IllegalBoard>(())
    /// ```
    #[must_use]
    pub const fn inverse(self) -> Self {
        // A and F, B and E, C and H, D and G: the numbers of each pair differ by 0b101.
        Self::ALL[self.index() ^ 0b101]
    }

    /// Whether this move's line is a column (A, B, E, F) rather than a row (C, D, G, H).
    #[must_use]
    pub const fn is_vertical(self) -> bool {
        matches!(self, Self::A | Self::B | Self::E | Self::F)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.letter().fmt(f)
    }
}

/// Serialized as the letter.
impl Serialize for Move {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(self.letter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverses_are_those_of_the_statement() {
        let inverses: String = Move::ALL.iter().map(|m| m.inverse().letter()).collect();
        assert_eq!(inverses, "FEHGBADC");
    }

    #[test]
    fn letters_and_moves_correspond() {
        for m in Move::ALL {
            assert_eq!(Move::from_letter(m.letter()), Some(m));
            assert_eq!(Move::from_letter(m.letter().to_ascii_lowercase()), Some(m));
        }
        for letter in ['@', 'I', 'i', '\0', 'Ä'] {
            assert_eq!(Move::from_letter(letter), None);
        }
    }
}
