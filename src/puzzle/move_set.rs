use super::Move;

/// A set of moves; it iterates in letter order.
///
/// ```
/// use rotation_game::Move;
/// use rotation_game::puzzle::MoveSet;
///
/// let columns: MoveSet = Move::ALL.into_iter().filter(|m| m.is_vertical()).collect();
/// assert!(columns.contains(Move::E) && !columns.contains(Move::C));
/// assert_eq!(columns.into_iter().map(Move::letter).collect::<String>(), "ABEF");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MoveSet(u8);

impl MoveSet {
    /// No move.
    pub const EMPTY: Self = Self(0);

    /// All eight moves.
    pub const ALL: Self = Self(u8::MAX);

    /// The first move in letter order.
    #[must_use]
    #[inline]
    pub fn first(self) -> Option<Move> {
        self.into_iter().next()
    }

    /// The set as a number: move `i` of [`Move::ALL`] at bit `i`.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set of a [number](MoveSet::bits).
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// All 256 sets, each at the place of its [number](MoveSet::bits).
    pub fn all_sets() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }

    /// Whether there is no move in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the move is in the set.
    #[must_use]
    pub const fn contains(self, wanted: Move) -> bool {
        self.0 >> wanted.index() & 1 == 1
    }

    /// The set with `added` in it, or as it was where `condition` is false.
    #[must_use]
    #[inline]
    pub const fn with(self, added: Move, condition: bool) -> Self {
        Self(self.0 | (condition as u8) << added.index())
    }

    /// The set without `removed`, or as it was where `condition` is false.
    #[must_use]
    #[inline]
    pub const fn without(self, removed: Move, condition: bool) -> Self {
        Self(self.0 & !((condition as u8) << removed.index()))
    }

    /// The moves that are in either set.
    #[must_use]
    #[inline]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The moves that are in both sets.
    #[must_use]
    #[inline]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromIterator<Move> for MoveSet {
    fn from_iter<I: IntoIterator<Item = Move>>(moves: I) -> Self {
        moves
            .into_iter()
            .fold(Self::EMPTY, |set, next| set.with(next, true))
    }
}

impl IntoIterator for MoveSet {
    type Item = Move;
    type IntoIter = Moves;

    #[inline]
    fn into_iter(self) -> Moves {
        Moves(self.0)
    }
}

/// The moves of a [`MoveSet`], in letter order.
#[derive(Clone, Debug)]
pub struct Moves(u8);

impl Iterator for Moves {
    type Item = Move;

    #[inline]
    fn next(&mut self) -> Option<Move> {
        let next = *Move::ALL.get(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(next)
    }
}
