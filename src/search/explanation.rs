use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Heuristic, Iteration, Limits, Outcome, search_observed};
use crate::puzzle::Board;

/// What a search took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The name of the heuristic.
    pub heuristic: &'static str,
    /// How many boards were opened, over all iterations.
    pub nodes: u64,
    /// How long the search took, in microseconds.
    pub elapsed_us: u64,
    /// The iterations, by rising bound.
    pub iterations: Vec<Iteration>,
}

impl Explanation {
    /// Sums up the iterations of a search.
    #[must_use]
    pub fn new(heuristic: &'static str, iterations: Vec<Iteration>, elapsed: Duration) -> Self {
        Self {
            heuristic,
            nodes: iterations.iter().map(|iteration| iteration.nodes).sum(),
            elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
            iterations,
        }
    }
}

/// Searches as [`search`](super::search) does, and tells what it took.
///
/// ```
/// use rotation_game::search::{Iteration, Limits, PatternDatabase, explain};
///
/// let board = "111132323132231222312133".parse()?;
/// let (_, explanation) = explain(board, &PatternDatabase::build(), Limits::NONE);
/// assert_eq!(explanation.iterations, [Iteration { bound: 2, nodes: 3 }]);
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
pub fn explain<H: Heuristic>(
    board: Board,
    heuristic: &H,
    limits: Limits<'_>,
) -> (Outcome, Explanation) {
    let started = Instant::now();
    let mut iterations = Vec::new();
    let outcome = search_observed(board, heuristic, limits, &mut iterations);
    let explanation = Explanation::new(H::NAME, iterations, started.elapsed());
    (outcome, explanation)
}
