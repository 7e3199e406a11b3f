use std::collections::HashMap;

use crate::puzzle::{Board, Move, MoveSequence, Value};
use crate::search::{PatternDatabase, Solution};

/// All shortest solutions of a board, in lexicographic order, of which any one can be had without
/// the ones before it.
///
/// Shortest solutions are paths over the table on which every move leads closer. How many there
/// are from a mask follows from how many there are after each such move, so counting visits each
/// mask on such paths once, however many paths there are: 76,800 at most for a value. The k-th is
/// found move by move, by passing over as many as begin with smaller letters.
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
pub struct Solutions<'a> {
    database: &'a PatternDatabase,
    board: Board,
    /// The values that are as near as can be.
    nearest: Vec<Value>,
    /// How many shortest paths lead from a mask to the centre.
    paths: HashMap<u32, u64>,
}

impl<'a> Solutions<'a> {
    /// Counts the shortest solutions of a board.
    #[must_use]
    pub fn new(database: &'a PatternDatabase, board: Board) -> Self {
        let distance = database.distance(board);
        let nearest = Value::ALL
            .into_iter()
            .filter(|&value| database.distance_to(board, value) == distance)
            .collect();
        let mut solutions = Self {
            database,
            board,
            nearest,
            paths: HashMap::new(),
        };
        for value in solutions.nearest.clone() {
            solutions.count(board, value);
        }
        solutions
    }

    /// The board.
    #[must_use]
    pub fn board(&self) -> Board {
        self.board
    }

    /// How many there are, over all values. No sequence is counted twice: it ends with one value
    /// in the centre.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.paths_of(self.board, &self.nearest)
    }

    /// The one with so many before it, or `None` where there are not so many.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<Solution> {
        if index >= self.total() {
            return None;
        }
        let (mut board, mut open, mut rest) = (self.board, self.nearest.clone(), index);
        let mut moves = MoveSequence::EMPTY;
        for _ in 0..self.database.distance(self.board) {
            let (next, still_open) = Move::ALL.into_iter().find_map(|next| {
                let still_open: Vec<Value> = open
                    .iter()
                    .copied()
                    .filter(|&value| self.is_closer(board, next, value))
                    .collect();
                let paths = self.paths_of(board.after(next), &still_open);
                if rest < paths {
                    return Some((next, still_open));
                }
                rest -= paths;
                None
            })?;
            board = board.after(next);
            open = still_open;
            moves.push(next);
        }
        Some(Solution {
            moves,
            centre: board.centre(),
        })
    }

    fn is_closer(&self, board: Board, next: Move, value: Value) -> bool {
        self.database.distance_to(board.after(next), value)
            < self.database.distance_to(board, value)
    }

    fn paths_of(&self, board: Board, values: &[Value]) -> u64 {
        let paths = |value: &Value| self.paths.get(&board.mask(*value)).copied().unwrap_or(0);
        values.iter().map(paths).sum()
    }

    /// Counts the paths of a value, and remembers those of every mask on them.
    fn count(&mut self, board: Board, value: Value) -> u64 {
        let mask = board.mask(value);
        if let Some(&known) = self.paths.get(&mask) {
            return known;
        }
        let paths = if self.database.distance_to(board, value) == 0 {
            1
        } else {
            let mut paths = 0;
            for next in Move::ALL {
                if self.is_closer(board, next, value) {
                    paths += self.count(board.after(next), value);
                }
            }
            paths
        };
        self.paths.insert(mask, paths);
        paths
    }
}
