use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::move_order::MoveOrder;
use super::{Heuristic, Iteration, Limits, Outcome, Solution};
use crate::puzzle::{Board, Move, MoveSequence, Value};

/// How many nodes are opened between two looks at the clock: tens of microseconds with the
/// heuristics of this crate.
const NODES_PER_CLOCK_CHECK: u64 = 4096;

/// Finds the lexicographically smallest of the shortest solutions of a board.
///
/// ```
/// use rotation_game::search::{Limits, Misplaced, Outcome, search};
///
/// let board = "111111112222222233333333".parse()?;
/// let Outcome::Solved(solution) = search(board, &Misplaced, Limits::NONE) else {
///     unreachable!("nothing limits the search");
/// };
/// assert_eq!(solution.moves.to_string(), "DDHH");
/// # Ok::<(), rotation_game::IllegalBoard>(())
/// ```
pub fn search<H: Heuristic>(board: Board, heuristic: &H, limits: Limits<'_>) -> Outcome {
    search_observed(board, heuristic, limits, &mut ())
}

/// The same as [`search`], and tells `observer` how it goes.
///
/// Iterative-deepening A* (Korf, "Depth-first iterative-deepening", 1985): depth-first searches
/// with a rising bound, each of which cuts off a board whose moves so far and lower bound exceed
/// the bound. The bound rises by 1 from the board's lower bound, so the first solution met has
/// the least length; moves are tried in letter order, so it is the smallest of that length.
pub fn search_observed<H: Heuristic>(
    board: Board,
    heuristic: &H,
    limits: Limits<'_>,
    observer: &mut (impl Observer + ?Sized),
) -> Outcome {
    let cap = limits.max_depth.min(Limits::NONE.max_depth);
    let mut bound = heuristic.lower_bound(board);
    while bound <= cap {
        let mut round = DepthFirst {
            heuristic,
            limits,
            nodes: 0,
            path: [Move::A; MoveSequence::CAPACITY],
        };
        observer.begins(bound);
        let halt = round.start(board, bound);
        observer.ends(Iteration {
            bound,
            nodes: round.nodes,
        });
        match halt {
            Some(Halt::Solved(centre)) => {
                return Outcome::Solved(Solution {
                    moves: round.path[MoveSequence::CAPACITY - bound as usize..]
                        .iter()
                        .copied()
                        .collect(),
                    centre,
                });
            }
            Some(Halt::TimedOut) => return Outcome::TimedOut { lower_bound: bound },
            Some(Halt::Stopped) => return Outcome::Stopped,
            None => bound += 1,
        }
    }
    Outcome::DepthCapReached { lower_bound: bound }
}

/// Who wants to know how a search goes.
pub trait Observer {
    /// An iteration begins: no solution is shorter than its bound, in moves.
    fn begins(&mut self, bound: u32);

    /// An iteration ends, perhaps by a limit.
    fn ends(&mut self, iteration: Iteration);
}

/// Nobody does.
impl Observer for () {
    fn begins(&mut self, _: u32) {}

    fn ends(&mut self, _: Iteration) {}
}

/// Keeps the iterations.
impl Observer for Vec<Iteration> {
    fn begins(&mut self, _: u32) {}

    fn ends(&mut self, iteration: Iteration) {
        self.push(iteration);
    }
}

/// Why a depth-first search ends before it has opened everything within its bound.
enum Halt {
    Solved(Option<Value>),
    TimedOut,
    Stopped,
}

/// One depth-first search.
struct DepthFirst<'a, H> {
    heuristic: &'a H,
    limits: Limits<'a>,
    nodes: u64,
    /// The solution, written from its last move at the end of the array to its first, as the
    /// recursion returns.
    path: [Move; MoveSequence::CAPACITY],
}

impl<H: Heuristic> DepthFirst<'_, H> {
    fn start(&mut self, board: Board, bound: u32) -> Option<Halt> {
        if self.is_late() {
            return Some(Halt::TimedOut);
        }
        self.open(board, MoveOrder::START, bound).break_value()
    }

    fn open(&mut self, board: Board, order: MoveOrder, budget: u32) -> ControlFlow<Halt> {
        self.nodes += 1;
        if self.limits.stop.load(Relaxed) {
            return ControlFlow::Break(Halt::Stopped);
        }
        if self.nodes.is_multiple_of(NODES_PER_CLOCK_CHECK) && self.is_late() {
            return ControlFlow::Break(Halt::TimedOut);
        }
        if budget == 0 {
            return if self.heuristic.goal().is_reached(board) {
                ControlFlow::Break(Halt::Solved(board.centre()))
            } else {
                ControlFlow::Continue(())
            };
        }
        let promising = self.heuristic.promising(board, order.allowed(), budget - 1);
        for next in promising {
            let halt = self.open(board.after(next), order.after(next), budget - 1);
            if halt.is_break() {
                self.path[MoveSequence::CAPACITY - budget as usize] = next;
                return halt;
            }
        }
        ControlFlow::Continue(())
    }

    fn is_late(&self) -> bool {
        self.limits
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}
