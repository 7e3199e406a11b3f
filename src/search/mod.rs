//! The search: iterative-deepening A*, written once, and the heuristics that guide it.
//!
//! A search is a function of a board, a heuristic and [`Limits`]; it allocates nothing, shares
//! nothing, and, with the heuristics of this crate, ends within a millisecond of being told to.

mod explanation;
mod goal_database;
mod heuristic;
mod ida_star;
mod limits;
mod mask_graph;
pub(crate) mod mask_index;
mod misplaced;
mod move_order;
mod outcome;
mod pattern_database;

pub use explanation::{Explanation, explain};
pub use goal_database::GoalDatabase;
pub use heuristic::{Heuristic, HeuristicKind};
pub use ida_star::{Observer, search, search_observed};
pub use limits::Limits;
pub use misplaced::{GoalMisplaced, Misplaced};
pub use outcome::{Iteration, Outcome, Report, Solution};
pub use pattern_database::PatternDatabase;
