use std::iter::FusedIterator;

use foldhash::{HashMap, HashMapExt};

use crate::puzzle::{Board, CENTRE, Move, MoveSequence, MoveSet, Moves, Value, turn_mask};
use crate::search::{PatternDatabase, Solution};

/// All shortest solutions of a board, in lexicographic order, each available by its index.
///
/// Shortest solutions are paths over the table on which every move leads closer. The number of
/// paths from a mask is the sum of those after each such move. So counting visits each mask once,
/// however many paths there are: up to 76,800 for a value. The solution at an index is found move
/// by move, by passing over as many as begin with smaller letters.
///
/// ```
/// use rotation_game::PatternDatabase;
/// use rotation_game::analysis::Solutions;
///
/// let database = PatternDatabase::build();
/// let solutions = Solutions::new(&database, "112323233232111211122333".parse()?);
/// assert_eq!(solutions.get(0), Some(database.solve(solutions.board())));
/// assert!(solutions.get(solutions.total()).is_none());
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
pub struct Solutions {
    board: Board,
    /// The number of moves of each solution.
    distance: u32,
    /// The masks on shortest paths, behind [`NOWHERE`] and [`ARRIVED`].
    paths: Vec<Paths>,
    /// For each value its mask, or [`NOWHERE`] if another value is nearer.
    nearest: Masks,
}

/// For each value a mask, as its index in [`Solutions::paths`].
type Masks = [u32; 3];

/// The index of what stands for all masks that are on no shortest path.
const NOWHERE: u32 = 0;
/// The index of the centre.
const ARRIVED: u32 = 1;

/// The shortest paths from a mask to the centre.
#[derive(Clone, Copy)]
struct Paths {
    count: u64,
    /// The moves that lead closer.
    closer: MoveSet,
    /// The mask after each move, or [`NOWHERE`] if it is not closer.
    after: [u32; 8],
}

impl Paths {
    /// No move leads closer.
    const fn end(count: u64) -> Self {
        Self {
            count,
            closer: MoveSet::EMPTY,
            after: [NOWHERE; 8],
        }
    }
}

/// Counts paths, visiting each mask once.
struct Counter<'a> {
    database: &'a PatternDatabase,
    paths: Vec<Paths>,
    index_of: HashMap<u32, u32>,
}

impl Counter<'_> {
    /// Returns the index of a mask, after counting the paths from it.
    fn count(&mut self, mask: u32, distance: u32) -> u32 {
        if let Some(&index) = self.index_of.get(&mask) {
            return index;
        }
        let mut paths = Paths::end(0);
        for next in Move::ALL {
            let turned = turn_mask(mask, next);
            if self.database.mask_distance(turned) < distance {
                let after = self.count(turned, distance - 1);
                paths.count += self.paths[after as usize].count;
                paths.closer = paths.closer.with(next, true);
                paths.after[next.index()] = after;
            }
        }
        let index = u32::try_from(self.paths.len()).expect("there are 735,471 masks");
        self.paths.push(paths);
        self.index_of.insert(mask, index);
        index
    }
}

impl Solutions {
    /// Counts the shortest solutions of a board.
    #[must_use]
    pub fn new(database: &PatternDatabase, board: Board) -> Self {
        let distance = database.distance(board);
        let mut counter = Counter {
            database,
            paths: vec![Paths::end(0), Paths::end(1)],
            index_of: HashMap::new(),
        };
        counter.index_of.insert(CENTRE, ARRIVED);
        let nearest = Value::ALL.map(|value| {
            let mask = board.mask(value);
            if database.mask_distance(mask) == distance {
                counter.count(mask, distance)
            } else {
                NOWHERE
            }
        });
        Self {
            board,
            distance,
            paths: counter.paths,
            nearest,
        }
    }

    /// The board.
    #[must_use]
    pub fn board(&self) -> Board {
        self.board
    }

    /// Returns the number of shortest solutions, over all values. No sequence counts twice: it ends
    /// with one value in the centre.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.count(self.nearest)
    }

    /// Returns the solution at `index`, or `None` if `index` is out of range.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<Solution> {
        self.starting_at(index).next()
    }

    /// Iterates over all solutions.
    #[must_use]
    pub fn iter(&self) -> SolutionsIter<'_> {
        self.starting_at(0)
    }

    /// Iterates over the solutions from `index` on, without going through those before it.
    ///
    /// ```
    /// use rotation_game::PatternDatabase;
    /// use rotation_game::analysis::Solutions;
    ///
    /// let database = PatternDatabase::build();
    /// let solutions = Solutions::new(&database, "111111112222222233333333".parse()?);
    /// let moves: Vec<String> = solutions.starting_at(4).map(|it| it.moves.to_string()).collect();
    /// assert_eq!(moves, ["HDHD", "HHDD"]);
    /// # Ok::<(), rotation_game::IllegalBoard>(())
    /// ```
    #[must_use]
    pub fn starting_at(&self, index: u64) -> SolutionsIter<'_> {
        let left = self.total().saturating_sub(index);
        let mut path = Vec::with_capacity(self.distance as usize + 1);
        if left > 0 {
            path.push(Step::new(self, MoveSequence::EMPTY, self.nearest));
        }
        let mut to_pass = index;
        while let Some(child) = path.last_mut().and_then(|step| step.next(self)) {
            let count = self.count(child.masks);
            if to_pass < count {
                path.push(child);
            } else {
                to_pass -= count;
            }
        }
        SolutionsIter {
            solutions: self,
            path,
            left,
        }
    }

    fn paths(&self, masks: Masks) -> [&Paths; 3] {
        masks.map(|mask| &self.paths[mask as usize])
    }

    fn count(&self, masks: Masks) -> u64 {
        self.paths(masks).iter().map(|paths| paths.count).sum()
    }
}

impl<'a> IntoIterator for &'a Solutions {
    type Item = Solution;
    type IntoIter = SolutionsIter<'a>;

    fn into_iter(self) -> SolutionsIter<'a> {
        self.iter()
    }
}

/// An iterator over shortest solutions in lexicographic order, made by [`Solutions::iter`] and
/// [`Solutions::starting_at`].
pub struct SolutionsIter<'a> {
    solutions: &'a Solutions,
    /// The boards from the first one to the one that is visited.
    path: Vec<Step>,
    /// The number of solutions to come.
    left: u64,
}

/// A board of the depth-first search.
struct Step {
    /// The moves that lead to the board.
    moves: MoveSequence,
    /// For each value its mask, or [`NOWHERE`] if the moves do not lead to it by a shortest path.
    masks: Masks,
    /// The moves that lead closer and have not been made.
    untried: Moves,
}

impl Step {
    fn new(solutions: &Solutions, moves: MoveSequence, masks: Masks) -> Self {
        let closer = solutions.paths(masks).map(|paths| paths.closer);
        Self {
            moves,
            masks,
            untried: closer[0].union(closer[1]).union(closer[2]).into_iter(),
        }
    }

    /// Makes the next move.
    fn next(&mut self, solutions: &Solutions) -> Option<Self> {
        let next = self.untried.next()?;
        let mut moves = self.moves;
        moves.push(next);
        let paths = solutions.paths(self.masks);
        let masks = paths.map(|paths| paths.after[next.index()]);
        Some(Self::new(solutions, moves, masks))
    }

    /// The value that fills the centre.
    fn centre(&self) -> Option<Value> {
        let arrived = self.masks.iter().position(|&mask| mask == ARRIVED)?;
        Some(Value::ALL[arrived])
    }
}

impl Iterator for SolutionsIter<'_> {
    type Item = Solution;

    fn next(&mut self) -> Option<Solution> {
        loop {
            if let Some(child) = self.path.last_mut()?.next(self.solutions) {
                self.path.push(child);
                continue;
            }
            let step = self.path.pop()?;
            if let Some(centre) = step.centre() {
                self.left -= 1;
                return Some(Solution {
                    moves: step.moves,
                    centre: Some(centre),
                });
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl FusedIterator for SolutionsIter<'_> {}
