use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use super::Heuristic;
use super::mask_graph::{MaskGraph, UNREACHED};
use super::mask_index::{MASKS, rank};
use crate::puzzle::{Board, Goal, Move, MoveSet, Pattern, Value, turn_mask};

/// What all patterns have in common.
static GRAPH: LazyLock<MaskGraph> = LazyLock::new(MaskGraph::new);

/// Lower bounds on the distance of every board to a [`Pattern`]: for each value the exact distance
/// of its eight cells to where the pattern wants them, and of these the greatest.
///
/// The cells of one value move as if the others were all the same, so no solution is shorter than
/// what one value needs. Where the pattern asks for one value only, the bound is the exact
/// distance; the other values' tables would add nothing and are not built.
///
/// It takes 2.2 MB a value, and some ten milliseconds a value to build.
///
/// ```
/// use rotation_game::search::{GoalDatabase, Heuristic, Limits, Outcome, search};
///
/// let pattern = ".......2........33...13.".parse().unwrap();
/// let database = GoalDatabase::build(pattern);
/// let board = "333113113112222223132321".parse()?;
/// assert_eq!(database.lower_bound(board), 3);
/// let Outcome::Solved(solution) = search(board, &database, Limits::NONE) else {
///     unreachable!("every pattern can be reached");
/// };
/// assert_eq!(solution.moves.to_string(), "ACGB");
/// assert_eq!(solution.centre, None);
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
pub struct GoalDatabase {
    pattern: Pattern,
    tables: Vec<Table>,
}

/// What is known of masks with regard to one value of a pattern, all by rank.
struct Table {
    value: Value,
    /// The distance to the nearest mask that the pattern allows.
    distances: Box<[u8]>,
    /// The moves that lead closer in the low byte, those that do not lead farther in the high one;
    /// 0 until a search asks. A search sees few of the masks, and most of these often.
    steps: Box<[AtomicU16]>,
}

impl GoalDatabase {
    /// Builds the database, on the calling thread.
    #[must_use]
    pub fn build(pattern: Pattern) -> Self {
        let tables = Vec::new();
        Self { pattern, tables }.rebuild(pattern)
    }

    /// Builds the database of another pattern in the memory of this one.
    #[must_use]
    pub fn rebuild(self, pattern: Pattern) -> Self {
        let is_asked = |value: &Value| pattern.mask(*value) != 0;
        let mut values = Value::ALL.to_vec();
        if values.iter().filter(|value| is_asked(value)).count() <= 1 {
            values.retain(is_asked);
        }
        let mut old = self.tables.into_iter();
        let tables = values.into_iter().map(|value| {
            let mut table = old.next().unwrap_or_else(Table::new);
            table.fill(value, pattern);
            table
        });
        Self {
            pattern,
            tables: tables.collect(),
        }
    }

    /// How much memory the tables take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let tables = self.tables.iter();
        tables
            .map(|table| size_of_val(&*table.distances) + size_of_val(&*table.steps))
            .sum()
    }
}

impl Table {
    fn new() -> Self {
        Self {
            value: Value::One,
            distances: vec![UNREACHED; MASKS].into(),
            steps: (0..MASKS).map(|_| AtomicU16::new(0)).collect(),
        }
    }

    fn fill(&mut self, value: Value, pattern: Pattern) {
        let required = pattern.mask(value);
        let excluded = pattern.constrained() & !required;
        self.value = value;
        GRAPH.distances(required, excluded, &mut self.distances);
        for steps in &mut self.steps {
            *steps.get_mut() = 0;
        }
    }

    #[inline]
    fn distance(&self, mask: u32) -> u32 {
        self.distances[rank(mask)].into()
    }

    /// The moves after which a mask is at most `budget` moves away.
    #[inline]
    fn within(&self, mask: u32, budget: u32) -> MoveSet {
        let rank = rank(mask);
        let distance = u32::from(self.distances[rank]);
        if distance < budget {
            return MoveSet::ALL;
        }
        let steps = match self.steps[rank].load(Relaxed) {
            0 => self.find_steps(mask),
            steps => steps,
        };
        let [closer, not_farther] = steps.to_le_bytes();
        MoveSet::from_bits(if distance == budget {
            not_farther
        } else if distance == budget + 1 {
            closer
        } else {
            0
        })
    }

    #[cold]
    fn find_steps(&self, mask: u32) -> u16 {
        let distance = self.distance(mask);
        let (mut closer, mut not_farther) = (MoveSet::EMPTY, MoveSet::EMPTY);
        for next in Move::ALL {
            let after = self.distance(turn_mask(mask, next));
            closer = closer.with(next, after < distance);
            not_farther = not_farther.with(next, after <= distance);
        }
        let steps = u16::from_le_bytes([closer.bits(), not_farther.bits()]);
        // Whoever finds them at the same time finds the same.
        self.steps[rank(mask)].store(steps, Relaxed);
        steps
    }
}

impl Heuristic for GoalDatabase {
    const NAME: &'static str = "pattern-database";

    #[inline]
    fn goal(&self) -> Goal {
        Goal::Pattern(self.pattern)
    }

    fn lower_bound(&self, board: Board) -> u32 {
        let tables = self.tables.iter();
        tables
            .map(|table| table.distance(board.mask(table.value)))
            .max()
            .unwrap_or(0)
    }

    #[inline]
    fn promising(&self, board: Board, among: MoveSet, budget: u32) -> MoveSet {
        self.tables.iter().fold(among, |promising, table| {
            promising.intersection(table.within(board.mask(table.value), budget))
        })
    }
}

impl fmt::Debug for GoalDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalDatabase")
            .field("pattern", &self.pattern)
            .finish_non_exhaustive()
    }
}
